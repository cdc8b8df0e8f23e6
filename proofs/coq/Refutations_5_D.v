(** Printed items of §5 and Appendix D that do not hold as they stand, each by a small instance or for all inputs. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Schedules Reconstruction Coverage Claim_B_6 Counts.
Import ListNotations.
Open Scope R_scope.

(** D.1.first sums over all r keys for every i <= r: more than the causal sum, for every query but the last. *)
Theorem D_1_first_as_printed_is_wrong a r i :
  (forall i j, 0 < a i j) -> (S i < r)%nat -> sum (S i) (a i) < sum r (a i).
Proof.
  intros P L. replace r with (S i + (r - S i))%nat by lia. rewrite sum_split.
  assert (0 < sum (r - S i) (fun k => a i (S i + k)%nat)) by (apply sum_pos; [lia | intros; apply P]). lra.
Qed.

(** D.1.chunks: windows of r = M - 1 leave chunks of one query, M + 1 of them for N = 2 M: for no constant c are the
    chunks at most c N/M, unless r is bounded, too; *)
Theorem D_1_chunks_outgrow_N_over_M c :
  exists N M r, (1 <= r <= M - 1)%nat /\ (M <= N)%nat /\ (c * N < ceil_div (N - r) (M - r) * M)%nat.
Proof.
  exists (2 * (2 * c + 2))%nat, (2 * c + 2)%nat, (2 * c + 1)%nat. split; [lia|]. split; [lia|].
  replace (2 * c + 2 - (2 * c + 1))%nat with 1%nat by lia. unfold ceil_div. rewrite Nat.div_1_r. nia.
Qed.

(** for r <= M/2 two do, where M - r divides N - r. *)
Theorem D_1_chunks_put_right N M r K : (2 * r <= M <= N)%nat -> (K * (M - r) = N - r)%nat -> (K * M <= 2 * N)%nat.
Proof. intros [L U] E. assert (M <= 2 * (M - r))%nat by lia. nia. Qed.

(** D.1.calls has the sum up to i and the sum up to i - r from one call, the latter in row i - r. That row is of query
    i - r; query i's own sum is another, here for tokens 1, but 0 at i, of one column, q = k = x. *)
Theorem D_1_calls_row_is_of_another_query variant n i r (x := fun j => if j =? i then 0 else 1) :
  (1 <= r <= i)%nat -> (i < n)%nat ->
  let a := fun i j => exp (x i * x j) in
  A_row causal a 1 variant (block n) (S i) = sum (S i) (a i) /\
  A_row causal a 1 variant (block n) (S (i - r)) <> sum (S (i - r)) (a i).
Proof.
  intros [L U] Hi. cbv zeta.
  split; [apply (claim_B_6 (fun i j => exp (x i * x j))); [intros; apply exp_pos | lra | exact Hi]|].
  rewrite (claim_B_6 (fun i j => exp (x i * x j))) by (intros; solve [apply exp_pos | lra | lia]). subst x. cbv beta.
  rewrite (sum_ext _ _ (fun _ => exp 1)).
  - rewrite Nat.eqb_refl, (sum_ext _ (fun k => exp (0 * _)) (fun _ => 1)) by (intros; rewrite Rmult_0_l; apply exp_0).
    rewrite !sum_const. assert (0 < INR (S (i - r))) by (apply lt_0_INR; lia).
    pose proof (exp_ineq1 1 ltac:(lra)). intro E. apply Rmult_eq_reg_l in E; lra.
  - intros k Hk. rewrite !(proj2 (Nat.eqb_neq _ _)) by lia. f_equal. ring.
Qed.

(** Nor does row i tell it: weights (1, 2) and (2, 1) have the same sum up to 2, and not up to 1. *)
Theorem D_1_calls_row_of_i_does_not_tell_it variant :
  ~ exists f, forall a, (forall i j, 0 < a i j) -> f (A_row causal a 1 variant (block 2) 2) = sum 1 (a 1%nat).
Proof.
  intros [f P].
  pose proof (P (fun _ j => if j =? 0 then 1 else 2) ltac:(intros i j; cbn beta; destruct (j =? 0); lra)) as E.
  pose proof (P (fun _ j => if j =? 0 then 2 else 1) ltac:(intros i j; cbn beta; destruct (j =? 0); lra)) as F.
  rewrite claim_B_6 in E, F by (lia || lra || (intros i j; cbn beta; destruct (j =? 0); lra)). cbn in E, F.
  replace (0 + 2 + 1) with (0 + 1 + 2) in F by ring. lra.
Qed.

(** D.1.calls, D.1.sinks: no single call of M tokens holds all the keys up to i once i >= M. *)
Theorem D_1_no_call_holds_a_long_prefix M i call :
  (tokens call <= M <= i)%nat ->
  exists j, (j <= i)%nat /\ forall q, (q < tokens call)%nat -> key call q <> Some j.
Proof.
  intros [L U].
  assert (D : forall n, (forall j, (j < n)%nat -> exists q, (q < tokens call)%nat /\ key call q = Some j) \/
    exists j, (j < n)%nat /\ forall q, (q < tokens call)%nat -> key call q <> Some j).
  { induction n as [|n [A|(j & Hj & B)]]; [left; intros; lia | | right; exists j; split; [lia | exact B]].
    assert (F : forall m, (exists q, (q < m)%nat /\ key call q = Some n) \/
      forall q, (q < m)%nat -> key call q <> Some n).
    { induction m as [|m [(q & Hq & E)|B]]; [right; intros; lia | left; exists q; split; [lia | exact E] |].
      assert (C : {key call m = Some n} + {key call m <> Some n}) by (repeat decide equality).
      destruct C as [E|E]; [left; exists m; split; [lia | exact E]|].
      right. intros q Hq. destruct (Nat.eq_dec q m) as [->|]; [exact E | apply B; lia]. }
    destruct (F (tokens call)) as [(q & Hq & E)|B]; [|right; exists n; split; [lia | exact B]].
    left. intros j Hj. destruct (Nat.eq_dec j n) as [->|]; [exists q; auto | apply A; lia]. }
  destruct (D (S i)) as [A|(j & Hj & B)]; [exfalso | exists j; split; [lia | exact B]].
  set (s := fun j q => one_if (holds (key call q) j)).
  assert (T : sum (S i) (fun j => sum (tokens call) (s j)) <= INR (tokens call) * 1).
  { rewrite sum_swap, <- sum_const. apply sum_le. intros. apply holds_at_most_one. }
  assert (G : INR (S i) * 1 <= sum (S i) (fun j => sum (tokens call) (s j))).
  { rewrite <- sum_const. apply sum_le. intros j Hj. destruct (A j Hj) as (q & Hq & E).
    replace 1 with (s j q) by (unfold s; rewrite E; simpl; rewrite Nat.eqb_refl; reflexivity).
    apply term_le_sum; [exact Hq | intros; apply one_if_nonneg]. }
  assert (INR (tokens call) < INR (S i)) by (apply lt_INR; lia). lra.
Qed.

(** D.1.sinks added to the window counts a key twice that is both: i = 0, r = s = 1. *)
Theorem D_1_sinks_added_to_the_window_is_wrong :
  sum 1 (fun j => one_if (j <? 1) * 1) + sum 1 (fun j => one_if (window_mask 1 0 j) * 1) <>
  sum 1 (fun j => one_if (sink_mask 1 1 0 j) * 1).
Proof. cbn. lra. Qed.

(** Nor is the sinks' sum the sum up to i less the sum from s on for i < s: it counts the sinks that the mask hides. *)
Theorem D_1_sinks_for_an_early_query_is_wrong a s i :
  (forall i j, 0 < a i j) -> (S i < s)%nat ->
  sum (S i) (a i) - sum (S i - s) (fun k => a i (s + k)%nat) < sum s (a i).
Proof.
  intros P L. pose proof (D_1_first_as_printed_is_wrong a s i P L). replace (S i - s)%nat with 0%nat by lia.
  simpl in *. lra.
Qed.

(** What query i sees of them is that difference all the same. *)
Theorem D_1_sinks_put_right a N r s i :
  (i < N)%nat ->
  sum N (fun j => one_if (sink_mask r s i j && (j <? s)) * a i j) =
  sum (S i) (a i) - sum (S i - s) (fun k => a i (s + k)%nat).
Proof.
  intro Hi. transitivity (sum (Nat.min s (S i)) (a i)).
  - rewrite <- (sum_if_lt N (Nat.min s (S i))) by lia. apply sum_ext. intros j _. unfold sink_mask.
    destruct (Nat.leb_spec j i), (Nat.ltb_spec j s), (Nat.ltb_spec j (Nat.min s (S i))); try lia;
      rewrite ?andb_false_r; cbn [andb orb one_if]; try ring.
  - destruct (Nat.le_gt_cases s (S i)) as [L|L].
    + rewrite Nat.min_l by exact L. replace (sum (S i) (a i)) with (sum (s + (S i - s)) (a i)) by (f_equal; lia).
      rewrite sum_split. ring.
    + rewrite Nat.min_r by lia. replace (S i - s)%nat with 0%nat by lia. simpl. ring.
Qed.
