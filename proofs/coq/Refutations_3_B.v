(** Printed items of §3 and Appendix B that do not hold as they stand, each by a small instance or for all inputs. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Schedules Reconstruction Coverage Lemma_3_1 Claim_B_6 Theorem_3_5 Counts.
Import ListNotations.
Open Scope R_scope.

(** ** B.1 *)

(** B.1's blocks {(t-1)M, ..., tM} share their ends: T of them count T (M+1) keys, not T M. *)
Theorem B_1_blocks_overlap T M :
  (0 < T)%nat -> sum T (fun t => sum (M + 1) (fun q => 1)) <> sum (T * M) (fun _ => 1).
Proof.
  intro HT. rewrite !sum_const, plus_INR, mult_INR. simpl. assert (0 < INR T) by (apply lt_0_INR; exact HT). nra.
Qed.

(** A block of M data tokens does not fit an oracle that takes M. *)
Theorem B_1_block_does_not_fit N M u t : ~ (tokens (PAIRS N M u t) <= M)%nat.
Proof. simpl. lia. Qed.

(** B.1.step2 states N/M calls in total; no schedule covers all pairs with so few when N > M. *)
Theorem B_1_step2_total_is_too_small sees N M calls :
  (0 < M < N)%nat -> (length calls * M = N)%nat ->
  (forall call, In call calls -> (tokens call <= M)%nat) ->
  ~ (forall i, (i < N)%nat -> covers sees N calls everything i).
Proof.
  intros [P L] E F C. pose proof (pair_covering_lower_bound sees N M calls F C) as B.
  rewrite <- !mult_INR in B. apply INR_le in B. nia.
Qed.

(** ** B.6 and B.5 *)

(** B.6.ratio prints the sum up to one key more in the denominator; the call never returns that. *)
Theorem B_6_ratio_as_printed_is_wrong a n i :
  (forall i j, 0 < a i j) -> (i < n)%nat ->
  output causal a 1 flag (block n) (S i) <> sum (S i) (a i) / (sum (S (S i)) (a i) + 1).
Proof.
  intros P Hi. rewrite claim_B_6_ratio by (try assumption; lra).
  assert (0 < sum (S i) (a i)) as A by (apply sum_pos; [lia | intros; apply P]).
  change (sum (S (S i)) (a i)) with (sum (S i) (a i) + a i (S i)). pose proof (P i (S i)) as Q.
  set (A' := sum (S i) (a i)) in *. set (b := a i (S i)) in *. intro E.
  assert (A' * (A' + b + 1) = A' * (A' + 1)); [|nra].
  replace (A' * (A' + b + 1)) with (A' / (A' + 1) * (A' + 1) * (A' + b + 1)) by (field; lra).
  rewrite E. field. lra.
Qed.

(** B.5.split by absolute positions: for a block before the query's the second half is empty. *)
Definition A_2_as_printed (a : nat -> nat -> R) (n i t : nat) : R :=
  sum n (fun q => one_if (negb (t * n + q <=? i)) * a i (t * n + q)%nat).

Theorem B_5_split_second_half_is_empty a n i t :
  (0 < n)%nat -> (t < i / n)%nat -> A_2_as_printed a n i t = 0.
Proof.
  intros Hn Ht. apply sum_zero. intros q Hq. pose proof (Nat.mul_div_le i n ltac:(lia)).
  assert (n * t + n <= n * (i / n))%nat by nia. rewrite (proj2 (Nat.leb_le (t * n + q) i)) by nia. simpl. ring.
Qed.

(** Put right, by places within the blocks, it is empty for a block's last query and no other: B^(2)/A^(2) is still 0/0
    there, *)
Definition A_2_by_places (a : nat -> nat -> R) (n i t : nat) : R :=
  sum n (fun q => one_if (i mod n <? q) * a i (t * n + q)%nat).

Theorem B_5_split_last_query_has_no_second_half a n i t :
  (0 < n)%nat -> (forall i j, 0 < a i j) -> A_2_by_places a n i t = 0 <-> (i mod n = n - 1)%nat.
Proof.
  intros Hn P. pose proof (Nat.mod_upper_bound i n ltac:(lia)) as U. unfold A_2_by_places. split.
  - intro E. destruct (Nat.eq_dec (i mod n) (n - 1)) as [L|D]; [exact L|]. exfalso.
    assert (0 < sum n (fun q => one_if (i mod n <? q) * a i (t * n + q)%nat)); [|lra].
    apply (sum_pos_at _ _ (n - 1)); [lia | | intros k _].
    + rewrite (proj2 (Nat.ltb_lt _ _)) by lia. cbn [one_if]. rewrite Rmult_1_l. apply P.
    + apply Rmult_le_pos; [apply one_if_nonneg | left; apply P].
  - intro L. apply sum_zero. intros q Hq. rewrite (proj2 (Nat.ltb_ge _ _)) by lia. cbn [one_if]. ring.
Qed.

(** and B^(2)/(A^(2) + 1) is a number for every query, from which B^(2) follows. *)
Theorem B_5_split_put_right a n i t B :
  (forall i j, 0 < a i j) ->
  0 < A_2_by_places a n i t + 1 /\ B / (A_2_by_places a n i t + 1) * (A_2_by_places a n i t + 1) = B.
Proof.
  intro P. assert (0 < A_2_by_places a n i t + 1).
  { enough (0 <= A_2_by_places a n i t) by lra. apply sum_nonneg. intros q _.
    apply Rmult_le_pos; [apply one_if_nonneg | left; apply P]. }
  split; [assumption | field; lra].
Qed.

(** The reversed call of B.5.second recovers something else: here 1, not 0. *)
Theorem B_5_second_does_not_return_the_printed_half :
  A_row causal (fun _ _ => 1) 1 Stable (REVERSED 4 2 1 0) 1 <> A_2_as_printed (fun _ _ => 1) 2 2 0.
Proof.
  replace (A_row causal (fun _ _ => 1) 1 Stable (REVERSED 4 2 1 0) 1) with 1 by (cbn; field).
  rewrite B_5_split_second_half_is_empty by (cbn; lia). lra.
Qed.

(** B.5.goal's denominator repeats the index t where t' belongs: N = 2, blocks of one position, query 1. *)
Theorem B_5_goal_denominator_as_printed_is_wrong :
  exists a : nat -> nat -> R, (forall i j, 0 < a i j) /\
    sum 1 (fun t' => a 1%nat 1%nat) + a 1%nat 1%nat <> sum 2 (a 1%nat).
Proof.
  exists (fun i j => if j =? 0 then 1 else 2). split; [intros i j; destruct (j =? 0); lra | simpl; lra].
Qed.

(** B.5.second-values, as displayed without the shift, counts a key twice: all weights 1, N = 4, blocks of 2, the
    value 1 at key 0 and 0 elsewhere. Query 2 gets 1/2, and its attention is 1/3. *)
Definition ones (i j : nat) : R := 1.
Definition first_only (j x : nat) : R := if j =? 0 then 1 else 0.

Theorem B_5_second_values_as_printed_is_wrong :
  simulate_printed causal ones 1 first_only (causal_printed 4 2 2) 2 0 = 1 / 2 /\
  attention 4 causal_mask ones (fun j => first_only j 0) 2 = 1 / 3.
Proof. split; cbv [ones first_only]; cbn; field. Qed.

(** ** B.3: packing *)

(** Layer 1 mixes the waiting instances' coordinates with its own attention matrix: whatever its value columns u
    and the token-wise MLP after it, two tokens with equal attention rows leave it equal. *)
Theorem B_3_waiting_coordinates_are_lost n d (w : nat -> nat -> R) (u : nat -> nat -> R) (psi : list R -> R) y :
  (forall q, w 0%nat q = w 1%nat q) -> y 0%nat <> y 1%nat ->
  ~ (forall p, (p < 2)%nat -> psi (map (fun x => attention n full w (u x) p) (seq 0 d)) = y p).
Proof.
  intros E D P. apply D. rewrite <- (P 0%nat), <- (P 1%nat) by lia. f_equal. apply map_ext. intro x.
  rewrite !attention_R. f_equal; apply sum_ext; intros; rewrite E; reflexivity.
Qed.

(** Two tokens, all scores 0, and the waiting coordinate passed by the identity: (0, 2) leaves the layer as (1, 1). *)
Theorem B_3_packing_as_printed_is_wrong :
  forall p, attention 2 full (fun _ _ => exp 0) (fun q => if q =? 0 then 0 else 2) p = 1.
Proof. intro p. rewrite attention_R, exp_0. cbn. field. Qed.
