(** Printed items of §4 and Appendix C that do not hold as they stand, each by a small instance or for all inputs. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Reconstruction Subsets Theorem_4_1.
Import ListNotations.
Open Scope R_scope.

(** ** C.1.wlog *)

(** N = 20 keys, M = 2, scores 0, values 0 at two keys and 1 at all others, so that the mean is 9/10. A query that meets
    keys 2c and 2c+1 is off by more than half of it only if both values are 0. *)
Definition both_zeros (zeros : list nat) (c : nat) : bool :=
  existsb (Nat.eqb (2 * c)) zeros && existsb (Nat.eqb (2 * c + 1)) zeros.
Definition some_row_fails (zeros : list nat) : bool := existsb (both_zeros zeros) (seq 0 10).

Theorem C_1_wlog_off_by_a_half (m n : bool) :
  9 / 10 / 2 < Rabs ((one_if m + one_if n) / 2 - 9 / 10) <-> m = false /\ n = false.
Proof.
  destruct m, n; cbn [one_if];
    (split; [intro H; try (split; reflexivity); exfalso; revert H | intros [E E']; try discriminate]);
    unfold Rabs; destruct (Rcase_abs _); lra.
Qed.

(** One head fails in 10 of 190 equally probable cases, less than 1/10; two independent ones in more. *)
Theorem C_1_wlog_heads_fail_more_often :
  let all := subsets 2 (seq 0 20) in
  let fails := INR (length (filter some_row_fails all)) / INR (length all) in
  fails <= 1 / 10 /\ 1 / 10 < 1 - (1 - fails) * (1 - fails).
Proof.
  cbv zeta. replace (length (filter some_row_fails (subsets 2 (seq 0 20)))) with 10%nat by (vm_compute; reflexivity).
  replace (length (subsets 2 (seq 0 20))) with 190%nat by (vm_compute; reflexivity).
  replace (INR 10) with 10 by (simpl; lra). replace (INR 190) with 190 by (rewrite INR_IZR_INZ; reflexivity). lra.
Qed.

(** Layer 1 estimates the mean 2 of the values 1 and 3 by 1; its MLP y - 2 + δ makes that a relative error of 1/δ. *)
Theorem C_1_wlog_errors_grow_without_bound c :
  0 < c -> exists delta, 0 < delta /\ Rabs (1 - 2) / 2 = 1 / 2 /\
    c < Rabs ((1 - 2 + delta) - (2 - 2 + delta)) / (2 - 2 + delta).
Proof.
  intro C. exists (/ (c + 1)). assert (0 < / (c + 1)) as P by (apply Rinv_0_lt_compat; lra).
  split; [exact P|]. split; [rewrite Rabs_left; lra|].
  replace (1 - 2 + / (c + 1) - (2 - 2 + / (c + 1))) with (-1) by ring. rewrite Rabs_left by lra.
  replace (- -1 / (2 - 2 + / (c + 1))) with (c + 1) by (field; lra). lra.
Qed.

(** Nor does it take a second layer's attention: whatever the estimate y of the attention z, if not z itself, the layer
    MLP K (x - z) + 1 makes of the deviation a relative error above c; *)
Theorem C_1_wlog_psi_amplifies c y z :
  y <> z -> exists K, let psi := fun x => K * (x - z) + 1 in c * Rabs (psi z) < Rabs (psi y - psi z).
Proof.
  intro D. exists ((Rabs c + 1) / (y - z)). cbv beta zeta.
  replace ((Rabs c + 1) / (y - z) * (z - z) + 1) with 1 by (field; lra).
  replace ((Rabs c + 1) / (y - z) * (y - z) + 1 - 1) with (Rabs c + 1) by (field; lra).
  pose proof (Rabs_pos c). pose proof (Rle_abs c). rewrite Rabs_R1, (Rabs_right (Rabs c + 1)) by lra. lra.
Qed.

(** and estimates do deviate: N = 2, M = 1, scores 0, values 1 and 3, either key alone is off by 1/2, relatively. *)
Theorem C_1_wlog_estimates_are_off k :
  let z := attention 2 full (fun _ _ => exp 0) (fun j => 1 + 2 * INR j) 0 in
  let y := attention 1 full (fun _ _ => exp 0) (fun _ => 1 + 2 * INR k) 0 in
  (k < 2)%nat -> Rabs (y - z) = 1 / 2 * Rabs z /\ y <> z.
Proof.
  cbv zeta. rewrite !attention_R, exp_0. intro Hk. destruct k as [|[|k]]; [| |lia]; cbn;
    match goal with |- Rabs (?y - ?z) = _ /\ _ =>
      replace z with 2 by field; first [replace y with 1 by field | replace y with 3 by field] end;
    (split; [|lra]); rewrite (Rabs_right 2) by lra; [rewrite Rabs_left1 | rewrite Rabs_right]; lra.
Qed.

(** ** C.1.permute *)

(** A call on the chunk of tokens 0 and 1 does not return token 2, which tau(S_1) may hold. *)
Theorem C_1_permute_across_chunks (f : R -> R -> R) : ~ (forall x : nat -> R, f (x 0%nat) (x 1%nat) = x 2%nat).
Proof.
  intro P. pose proof (P (fun _ => 0)) as E. pose proof (P (fun j => if j =? 2 then 1 else 0)) as F. simpl in *. lra.
Qed.

(** ** C.1.step1 *)

(** With a 1 in the synthetic token's row as in all others, R is 1 whatever the weights, and R/(1 - R) is x/0. *)
Theorem C_1_step1_R_is_1 n w p :
  (0 < n)%nat -> (forall q, 0 < w p q) -> 1 - attention n full w (fun _ => 1) p = 0.
Proof.
  intros Hn P. rewrite attention_R. unfold full. cbn [one_if].
  assert (0 < sum n (fun q => 1 * w p q)) as A by (apply sum_pos; [exact Hn | intros; specialize (P k); lra]).
  rewrite (sum_ext n (fun q => 1 * (w p q * 1)) (fun q => 1 * w p q)) by (intros; ring). field. lra.
Qed.

(** ** C.1.hoeffding *)

(** C = 1 is allowed, and its range is 0. *)
Theorem C_1_hoeffding_divides_by_0 : 1 - / 1 = 0.
Proof. lra. Qed.

Lemma ln_le x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. intros P L. destruct L as [L| ->]; [left; apply ln_increasing; assumption | right; reflexivity]. Qed.

Lemma ln_3 : 1 <= ln 3.
Proof. rewrite <- (ln_exp 1). apply ln_le; [apply exp_pos | exact exp_le_3]. Qed.

Lemma ln_2 : 1 / 2 <= ln 2.
Proof.
  pose proof ln_3 as L. assert (ln 3 <= ln (2 * 2)) as U by (apply ln_le; lra). rewrite ln_mult in U by lra. lra.
Qed.

(** M = log2 N = k, as §1.1.a admits, is below 8 C^4 log(40 N)/ε^2 for every N = 2^k, with C = ε = 1. *)
Theorem C_1_hoeffding_needs_more k : INR k < 8 * ln (40 * 2 ^ k).
Proof.
  rewrite ln_mult, ln_pow by (try apply pow_lt; lra). pose proof ln_2. pose proof ln_3. pose proof (pos_INR k).
  assert (ln 3 <= ln 40) by (apply ln_le; lra). nra.
Qed.

(** ** C.1.vector *)

(** All values 0: each estimate is off by at least ε/4 of nothing, with probability 1 and not 2 exp(-2), for ε = 16,
    D = 1, M = 1. *)
Theorem C_1_vector_at_0 : Rabs (0 - 0) >= 16 / 4 * Rabs 0 /\ 2 * exp (- (16 * 16 * 1 * 1) / 128) < 1.
Proof.
  split; [rewrite Rminus_0_r, Rabs_R0; lra|]. replace (- (16 * 16 * 1 * 1) / 128) with (- (2)) by lra.
  rewrite exp_Ropp. pose proof (exp_ineq1 2 ltac:(lra)). assert (/ exp 2 < / 2) by (apply Rinv_lt_contravar; nra). lra.
Qed.

(** ** C.1.combine: N = 2 keys, M = 1 of them *)

Definition close (eps x y : R) : Prop := Rabs (2 * x - (x + y)) <= eps / 4 * (x + y).
Definition delta (a0 a1 : R) : R := (a0 + a1) / (2 * a0).
Definition off (a0 a1 v0 v1 : R) : R :=
  Rabs (a0 * v0 + a1 * v1 - a0 * v0 * ((a0 + a1) / a0)) / (a0 * v0 + a1 * v1).

Ltac absolute := unfold Rabs; destruct (Rcase_abs _); lra.

(** 1 - δ for |1 - δ|: ε = 1, a = (3/4, 5/4), v = (3/2, 5/6). *)
Theorem C_1_combine_needs_an_absolute_value :
  exists a0 a1 v0 v1, close 1 a0 a1 /\ close 1 (a0 * v0) (a1 * v1) /\
    1 / 4 + (1 - delta a0 a1) * (1 + 1 / 4) < off a0 a1 v0 v1.
Proof.
  exists (3 / 4), (5 / 4), (3 / 2), (5 / 6). unfold close, delta, off. split; [absolute|]. split; [absolute|].
  replace (3 / 4 * (3 / 2) + 5 / 4 * (5 / 6) - 3 / 4 * (3 / 2) * ((3 / 4 + 5 / 4) / (3 / 4))) with (- (5 / 6)) by field.
  rewrite Rabs_left; lra.
Qed.

(** ε/(4+ε) for ε/(4-ε): ε = 1, a = (3/4, 5/4), v = (5/3, 3/5). *)
Theorem C_1_combine_bound_is_too_small :
  exists a0 a1 v0 v1, close 1 a0 a1 /\ close 1 (a0 * v0) (a1 * v1) /\
    1 / 4 + 1 / (4 + 1) * (1 + 1 / 4) < off a0 a1 v0 v1.
Proof.
  exists (3 / 4), (5 / 4), (5 / 3), (3 / 5). unfold close, off. split; [absolute|]. split; [absolute|].
  replace (3 / 4 * (5 / 3) + 5 / 4 * (3 / 5) - 3 / 4 * (5 / 3) * ((3 / 4 + 5 / 4) / (3 / 4))) with (- (4 / 3)) by field.
  rewrite Rabs_left; lra.
Qed.

(** The error passes ε itself: ε = 3, a = (1/4, 7/4), v = (7/3, 1/5). *)
Theorem C_1_combine_passes_epsilon :
  exists a0 a1 v0 v1, close 3 a0 a1 /\ close 3 (a0 * v0) (a1 * v1) /\ 3 < off a0 a1 v0 v1.
Proof.
  exists (1 / 4), (7 / 4), (7 / 3), (1 / 5). unfold close, off. split; [absolute|]. split; [absolute|].
  replace (1 / 4 * (7 / 3) + 7 / 4 * (1 / 5) - 1 / 4 * (7 / 3) * ((1 / 4 + 7 / 4) / (1 / 4)))
    with (- (56 / 15)) by field.
  rewrite Rabs_left; lra.
Qed.

(** ** Theorem 4.2 / C.2 *)

Fixpoint all_bits (r : nat) : list (list bool) :=
  match r with
  | O => [[]]
  | S r' => map (cons true) (all_bits r') ++ map (cons false) (all_bits r')
  end.

Lemma NoDup_map_in {A B} (f : A -> B) l :
  NoDup l -> (forall x y, In x l -> In y l -> f x = f y -> x = y) -> NoDup (map f l).
Proof.
  induction 1 as [|x l N D IH]; intro I; simpl; constructor.
  - intro J. apply in_map_iff in J. destruct J as (y & E & Hy). apply N.
    rewrite (I x y); [exact Hy | left | right |]; auto.
  - apply IH. intros y z Hy Hz. apply I; right; assumption.
Qed.

(** n distinct codes of r bits need r >= log2 n, whatever d is: no constant times d bounds the width. *)
Theorem C_2_codes_outgrow_d (c d : nat) :
  exists n, forall (code : nat -> list bool) (r : nat),
    (forall i, (i < n)%nat -> length (code i) = r) ->
    (forall i j, (i < n)%nat -> (j < n)%nat -> code i = code j -> i = j) -> (c * d < d + r)%nat.
Proof.
  exists (2 ^ (c * d) + 1)%nat. intros code r L I.
  assert (E : forall b (l : list bool), length l = b -> In l (all_bits b)).
  { induction b as [|b IH]; intros [|x l] Hl; try discriminate; [left; reflexivity|]. simpl.
    apply in_app_iff. injection Hl as Hl. destruct x; [left | right]; apply in_map, IH, Hl. }
  assert (F : forall b, length (all_bits b) = (2 ^ b)%nat).
  { induction b as [|b IH]; [reflexivity|]. cbn [all_bits]. rewrite app_length, !map_length, IH, Nat.pow_succ_r'. lia. }
  assert (N : NoDup (map code (seq 0 (2 ^ (c * d) + 1)))).
  { apply NoDup_map_in; [apply seq_NoDup|]. intros i j Hi Hj. apply in_seq in Hi, Hj. apply I; lia. }
  pose proof (NoDup_incl_length N (l' := all_bits r)) as B. rewrite map_length, seq_length, F in B.
  assert (2 ^ (c * d) < 2 ^ r)%nat as G.
  { enough (2 ^ (c * d) + 1 <= 2 ^ r)%nat by lia. apply B. intros x Hx. apply in_map_iff in Hx.
    destruct Hx as (i & <- & Hi). apply in_seq in Hi. apply E, L. lia. }
  apply Nat.pow_lt_mono_r_iff in G; lia.
Qed.

(** The row of an instance whose values 1 and -1 cancel is 0; with the other instance's weight x > 0 on two values 1
    it is not, so that no relative bound holds. *)
Theorem C_2_no_relative_error x :
  0 < x -> attention 2 full (fun _ _ => 1) (fun j => if j =? 0 then 1 else -1) 0 = 0 /\
  attention 4 full (fun _ j => if j <? 2 then 1 else x) (fun j => if j =? 1 then -1 else 1) 0 <> 0.
Proof.
  intro P. rewrite !attention_R. cbn. split; [field|].
  replace ((0 + 1 * (1 * 1) + 1 * (1 * -1) + 1 * (x * 1) + 1 * (x * 1)) / (0 + 1 * 1 + 1 * 1 + 1 * x + 1 * x))
    with (x / (1 + x)) by (field; lra).
  intro E. apply Rmult_eq_compat_r with (r := 1 + x) in E. unfold Rdiv in E. rewrite Rmult_assoc, Rinv_l in E; lra.
Qed.

(** |1/A - 1/(A + E)| <= N exp(2C^2 - B^2)/M^2 fails at N = 2, M = 1, C = 2, B = 3: A = exp(-4), E = exp(4 - 9). *)
Theorem C_2_error_bound_is_too_small :
  2 * exp (2 * (2 * 2) - 3 * 3) / (1 * 1) < / exp (- (2 * 2)) - / (exp (- (2 * 2)) + exp (2 * 2 - 3 * 3)).
Proof.
  replace (2 * (2 * 2) - 3 * 3) with (- (1)) by lra. replace (- (2 * 2)) with (- (1) + - (1) + - (1) + - (1)) by lra.
  replace (2 * 2 - 3 * 3) with (- (1) + - (1) + - (1) + - (1) + - (1)) by lra.
  rewrite !exp_plus, !exp_Ropp. pose proof (exp_ineq1 1 ltac:(lra)) as E. set (e := exp 1) in *.
  replace (2 * / e / (1 * 1)) with (2 * (e + 1) * / (e * (e + 1))) by (field; lra).
  replace (/ (/ e * / e * / e * / e) - / (/ e * / e * / e * / e + / e * / e * / e * / e * / e))
    with (e * e * e * e * e * / (e * (e + 1))) by (field; repeat split; lra).
  apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat; nra|].
  assert (4 < e * e) by nra. assert (16 < e * e * (e * e)) by nra. nra.
Qed.
