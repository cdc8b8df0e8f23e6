(** Printed items of §1.1, §1.2, §2 and Appendix A that do not hold as they stand, each by a small instance or for
    all inputs. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Reconstruction Transformer Norms.
Import ListNotations.
Open Scope R_scope.

(** ** §1.1.d: numbers of p bits *)

Lemma power_of_2_is_no_multiple_of_3 k e : (3 * k <> 2 ^ e)%nat.
Proof.
  revert k. induction e as [|e IH]; intro k; [simpl; lia|]. rewrite Nat.pow_succ_r'. intro E.
  assert (k = 2 * (k / 2))%nat as D.
  { pose proof (Nat.div_mod k 2 ltac:(lia)). pose proof (Nat.mod_upper_bound k 2 ltac:(lia)). lia. }
  apply (IH (k / 2)%nat). lia.
Qed.

Lemma power_positive e : 0 < 2 ^ e.
Proof. apply pow_lt. lra. Qed.

(** 1/3, the attention to the values 1, 0, 0 at equal scores, is not within 2^-N of any number of p < N bits. *)
Theorem a_third_is_far_from_p_bits p e k : (k < 2 ^ p)%nat -> / (3 * 2 ^ (p + 2)) <= Rabs (INR k / 2 ^ e - 1 / 3).
Proof.
  intro Hk. pose proof (power_positive e) as E. pose proof (power_positive (p + 2)) as P.
  assert (T : forall n, 2 ^ n = INR (2 ^ n)) by (intro n; rewrite pow_INR; f_equal; simpl; lra).
  destruct (Nat.le_gt_cases e (p + 2)) as [L|L].
  - assert (1 <= Rabs (3 * INR k - 2 ^ e)) as D.
    { rewrite T. replace 3 with (INR 3) by (simpl; lra). rewrite <- mult_INR.
      pose proof (power_of_2_is_no_multiple_of_3 k e) as N.
      destruct (Nat.lt_total (3 * k) (2 ^ e)) as [G|[G|G]]; [|contradiction|]; apply Nat.le_succ_l, le_INR in G;
        rewrite S_INR in G; [rewrite Rabs_left1 | rewrite Rabs_right]; lra. }
    replace (INR k / 2 ^ e - 1 / 3) with ((3 * INR k - 2 ^ e) * / (3 * 2 ^ e)) by (field; lra).
    rewrite Rabs_mult, (Rabs_right (/ _)) by (left; apply Rinv_0_lt_compat; lra).
    rewrite <- (Rmult_1_l (/ (3 * 2 ^ (p + 2)))). apply Rmult_le_compat; [lra| |exact D|].
    + left. apply Rinv_0_lt_compat. lra.
    + apply Rinv_le_contravar; [lra|]. apply Rmult_le_compat_l; [lra|]. apply Rle_pow; [lra | exact L].
  - assert (INR k / 2 ^ e <= 1 / 4) as U.
    { apply (Rmult_le_reg_r (2 ^ e)); [exact E|]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
      apply lt_INR in Hk. rewrite <- T in Hk. assert (2 ^ (p + 2) <= 2 ^ e) as G by (apply Rle_pow; [lra | lia]).
      rewrite pow_add in G. simpl in G. lra. }
    rewrite Rabs_left1 by lra. apply Rle_trans with (/ 12); [|lra]. apply Rinv_le_contravar; [lra|].
    assert (1 <= 2 ^ p) by (apply pow_R1_Rle; lra). rewrite pow_add. simpl. lra.
Qed.

(** R = A/(A+1) is at least as near to 1 as to the next number of p bits below 1, once A >= 2^(p+1) - 1. *)
Theorem R_is_stored_as_1 p A : 2 ^ (p + 1) - 1 <= A -> 1 - A / (A + 1) <= A / (A + 1) - (1 - / 2 ^ p).
Proof.
  intro L. pose proof (power_positive p) as P. rewrite pow_add in L. simpl in L.
  assert (/ (A + 1) <= / (2 * 2 ^ p)) as I by (apply Rinv_le_contravar; lra).
  replace (A / (A + 1)) with (1 - / (A + 1)) by (field; lra). rewrite Rinv_mult in I by lra. lra.
Qed.

(** ** §1.1.e: relative errors *)

(** Where a row of T(X) is 0, being within ε of it relatively is being equal to it, whatever ε is; *)
Theorem a_zero_row_demands_exactness eps d (y T : nat -> R) :
  (forall x, T x = 0) -> euclidean d (fun x => y x - T x) <= eps * euclidean d T ->
  forall x, (x < d)%nat -> y x = T x.
Proof.
  intros Z L x Hx. rewrite (norm_same _ (euclidean_is_norm d) T (fun _ => 0)) in L by exact Z.
  rewrite (norm_zero _ (euclidean_is_norm d)), Rmult_0_r in L. unfold euclidean in L.
  pose proof (dot_self_nonneg d (fun x => y x - T x)) as P.
  assert (dot d (fun x => y x - T x) (fun x => y x - T x) = 0) as E.
  { apply sqrt_eq_0; [exact P|]. apply Rle_antisym; [exact L | apply sqrt_pos]. }
  assert ((y x - T x) * (y x - T x) <= 0) as S; [|nra]. rewrite <- E.
  apply (term_le_sum d (fun x => (y x - T x) * (y x - T x)) x Hx). intros. apply Rle_0_sqr.
Qed.

(** and attention has such rows: equal weights, values 1 and -1. *)
Theorem attention_has_a_zero_row p : attention 2 full (fun _ _ => 1) (fun j => if j =? 0 then 1 else -1) p = 0.
Proof. rewrite attention_R. cbn. field. Qed.

(** Nor does ε > 0 compose: 1 + ε is within ε of 1, and ψ(x) = x - 1 + ε^2 makes of it a relative error of 1/ε. *)
Theorem relative_errors_do_not_compose eps (psi := fun x => x - 1 + eps * eps) :
  0 < eps -> Rabs (1 + eps - 1) <= eps * Rabs 1 /\ Rabs (psi (1 + eps) - psi 1) = / eps * Rabs (psi 1).
Proof.
  intro P. subst psi. cbn beta. split; [rewrite !Rabs_right; lra|].
  replace (1 + eps - 1 + eps * eps - (1 - 1 + eps * eps)) with eps by ring.
  replace (1 - 1 + eps * eps) with (eps * eps) by ring. rewrite !Rabs_right by nra. field. lra.
Qed.

(** ** §1.1.f: rounds *)

(** What a value after k rounds depends on, if value x of round k reads the values [reads k x] of the round before. *)
Fixpoint depends (reads : nat -> nat -> list nat) (k x : nat) : list nat :=
  match k with
  | O => [x]
  | S k' => flat_map (depends reads k') (reads k x)
  end.

Lemma depends_on_few c reads k x :
  (forall k x, (length (reads k x) <= c)%nat) -> (length (depends reads k x) <= c ^ k)%nat.
Proof.
  intro F. revert x. induction k as [|k IH]; intro x; [simpl; lia|]. rewrite Nat.pow_succ_r'. cbn [depends].
  apply Nat.le_trans with (length (reads (S k) x) * c ^ k)%nat; [|apply Nat.mul_le_mono_r, F].
  induction (reads (S k) x) as [|y l IHl]; simpl; [lia|]. rewrite app_length. specialize (IH y). lia.
Qed.

Lemma something_is_missing (l : list nat) N : (length l < N)%nat -> exists j, (j < N)%nat /\ ~ In j l.
Proof.
  intro L. destruct (existsb (fun j => negb (existsb (Nat.eqb j) l)) (seq 0 N)) eqn:E.
  - apply existsb_exists in E. destruct E as (j & I & B). apply in_seq in I. exists j. split; [lia|]. intro J.
    apply negb_true_iff in B. rewrite <- not_true_iff_false in B. apply B, existsb_exists. exists j.
    split; [exact J | apply Nat.eqb_refl].
  - exfalso. assert (incl (seq 0 N) l) as I.
    { intros j J. rewrite <- not_true_iff_false in E. destruct (in_dec Nat.eq_dec j l) as [Y|Y]; [exact Y|].
      exfalso. apply E, existsb_exists. exists j. split; [exact J|]. apply negb_true_iff, not_true_iff_false. intro B.
      apply existsb_exists in B. destruct B as (j' & J' & Q). apply Nat.eqb_eq in Q. subst. contradiction. }
    pose proof (NoDup_incl_length (seq_NoDup N 0) I) as M. rewrite seq_length in M. lia.
Qed.

(** With fan-in c, k rounds leave an input out as soon as c^k < N; *)
Theorem few_rounds_miss_an_input c reads k x N :
  (forall k x, (length (reads k x) <= c)%nat) -> (c ^ k < N)%nat ->
  exists j, (j < N)%nat /\ ~ In j (depends reads k x).
Proof. intros F L. apply something_is_missing. pose proof (depends_on_few c reads k x F). lia. Qed.

(** and attention depends on every value. *)
Theorem attention_depends_on_every_value N w p j :
  (forall q, 0 < w p q) -> (j < N)%nat ->
  attention N full w (fun q => if q =? j then 1 else 0) p <> attention N full w (fun _ => 0) p.
Proof.
  intros P Hj. rewrite !attention_R. unfold full. cbn [one_if].
  assert (0 < sum N (fun q => 1 * w p q)) as A by (apply sum_pos; [lia | intros; specialize (P k); lra]).
  rewrite (sum_ext N _ (fun q => if q =? j then w p q else 0)) by (intros q _; destruct (q =? j); ring).
  rewrite (sum_zero N (fun q => 1 * (w p q * 0))) by (intros; ring).
  rewrite sum_indicator, (proj2 (Nat.ltb_lt _ _) Hj). intro E.
  apply Rmult_eq_compat_r with (r := sum N (fun q => 1 * w p q)) in E.
  unfold Rdiv in E. rewrite !Rmult_assoc, Rinv_l in E by lra. specialize (P j). lra.
Qed.

(** ** §1.1.h: parameters *)

(** An oracle's square matrices have m L' columns for instances of m: no constant c bounds the blow-up. *)
Theorem parameters_have_no_constant_blow_up c m :
  (0 < m)%nat -> exists L_small, (c * (m * m) < (m * L_small) * (m * L_small))%nat.
Proof. intro H. exists (S c). nia. Qed.

(** ** §1.2.tight *)

(** N = 2^(4^a), M = N / log N, and N^δ = 2^(2^a) for δ = 2^-a: the bound N^(2-δ)/M^2 is at most 1. *)
Theorem tight_bound_is_none a N M :
  (4 <= a)%nat -> (N = 2 ^ 4 ^ a)%nat -> (M * 4 ^ a = N)%nat ->
  ((2 ^ 2 ^ a) ^ 2 ^ a = N)%nat /\ (N * N <= M * M * 2 ^ 2 ^ a)%nat.
Proof.
  intros Ha HN HM. split.
  - rewrite HN, <- Nat.pow_mul_r, <- Nat.pow_add_r. f_equal. replace (a + a)%nat with (2 * a)%nat by lia.
    rewrite Nat.pow_mul_r. reflexivity.
  - rewrite <- HM. replace (M * 4 ^ a * (M * 4 ^ a))%nat with (M * M * (4 ^ a * 4 ^ a))%nat by ring.
    apply Nat.mul_le_mono_l. replace 4%nat with (2 ^ 2)%nat by reflexivity.
    rewrite <- !Nat.pow_mul_r, <- Nat.pow_add_r. apply Nat.pow_le_mono_r; [lia|]. clear - Ha.
    induction Ha as [|a Ha IH]; [simpl; lia|]. rewrite Nat.pow_succ_r'. lia.
Qed.

(** ** §2.1.layer *)

(** W^V where W^K belongs: one column, W^Q = W^V = 1, W^K = 0, tokens 0 and 1. *)
Theorem layer_scores_with_W_V_are_wrong (X := fun j => if j =? 0 then 0 else 1) :
  attention 2 full (fun i j => exp (X i * 1 * (X j * 1))) X 1 <>
  attention 2 full (fun i j => exp (X i * 1 * (X j * 0))) X 1.
Proof.
  rewrite !attention_R. subst X. cbn. repeat rewrite ?Rmult_0_r, ?Rmult_0_l, ?Rmult_1_r, ?Rmult_1_l, ?exp_0.
  pose proof (exp_ineq1 1 ltac:(lra)) as E. intro D.
  apply Rmult_eq_compat_r with (r := 2 * (0 + 1 + exp 1)) in D. field_simplify in D; lra.
Qed.

(** The columns D_h = {(h-1) d/H + 1, ..., h d/H}, d/H rounded down, leave the last one out unless H divides d. *)
Theorem layer_columns_leave_one_out d H h :
  (d mod H <> 0)%nat -> (h < H)%nat -> ~ (h * (d / H) <= d - 1 < (h + 1) * (d / H))%nat.
Proof.
  intros D Hh [_ U]. pose proof (Nat.div_mod d H ltac:(lia)) as E.
  assert ((h + 1) * (d / H) <= H * (d / H))%nat by (apply Nat.mul_le_mono_r; lia). lia.
Qed.

(** ** Definition 2.2 *)

(** f of §2.1.layer ends in ψ, and Definition 2.2 applies ψ to it again: one token, one column, ψ(y) = 2y; X = 1
    becomes 2 in one layer, and 4 as printed. *)
Definition doubled (y : list R) : list R := map (Rmult 2) y.
Definition identity_head : Head R :=
  {| first := 0; wide := 1; inner := 0; outer := 1;
     W_Q := fun _ _ => 0; W_K := fun _ _ => 0; W_V := fun _ _ => 1 |}.
Definition doubling : Layer R := {| heads := [identity_head]; mlp := fun y _ _ => doubled y |}.

Theorem Definition_2_2_applies_psi_twice :
  let f := run_layer (direct 1 full) (fun _ => [1]) doubling in f 0%nat = [2] /\ doubled (f 0%nat) = [4].
Proof.
  cbv zeta. assert (E : run_layer (direct 1 full) (fun _ => [1]) doubling 0%nat = [2]).
  { unfold run_layer, head_output, direct. cbn -[attention]. rewrite attention_R. cbn. f_equal.
    unfold head_weight, head_value. cbn. change (@expo R exponential_R) with exp. rewrite exp_0. field. }
  rewrite E. split; [reflexivity|]. unfold doubled. cbn [map]. f_equal; lra.
Qed.

(** ** Lemma A.2 *)

(** k_i is to be 1 in all entries and N X[i, :] too; for X = 0 it cannot be both, *)
Theorem A_2_k_has_two_values N : ~ (forall x : R, INR N * x = 1).
Proof. intro P. specialize (P 0). lra. Qed.

(** nor does any W^Q make ones of the token 0. *)
Theorem A_2_no_W_makes_ones_of_0 d (W : nat -> nat -> R) y : sum d (fun z => 0 * W z y) <> 1.
Proof. rewrite sum_zero by (intros; ring). lra. Qed.

(** Put right, v_i = N X[i, :] and equal keys, it holds. *)
Theorem A_2_put_right N c (X : nat -> R) i :
  (0 < N)%nat -> 0 < c -> attention N full (fun _ _ => c) (fun j => INR N * X j) i = sum N X.
Proof.
  intros HN Hc. rewrite attention_R. unfold full. cbn [one_if].
  rewrite (sum_ext N _ (fun j => c * INR N * X j)) by (intros; ring).
  rewrite sum_scal, sum_const. assert (0 < INR N) by (apply lt_0_INR, HN). field. lra.
Qed.

(** Under a causal mask that is what the last token gets, and the others N/(i+1) times the sum up to theirs: *)
Theorem A_2_under_a_causal_mask N c (X : nat -> R) i :
  (i < N)%nat -> 0 < c ->
  attention N causal (fun _ _ => c) (fun j => INR N * X j) i = INR N * sum (S i) X / INR (S i).
Proof.
  intros Hi Hc. rewrite attention_R. unfold causal.
  assert (E : forall g, sum N (fun q => one_if (q <=? i) * g q) = sum (S i) g).
  { intro g. rewrite <- (sum_if_lt N (S i)) by lia. apply sum_ext. intros q _.
    change (q <? S i) with (q <=? i). destruct (q <=? i); cbn [one_if]; ring. }
  rewrite !E, (sum_ext (S i) _ (fun j => c * INR N * X j)) by (intros; ring).
  rewrite sum_scal, sum_const. assert (0 < INR (S i)) by (apply lt_0_INR; lia). field. lra.
Qed.

(** the tokens 1, 2, 4 have the sum 7, and become 3, 9/2, 7. *)
Theorem A_2_causal_sums_are_wrong (X := fun j => INR (2 ^ j)) :
  sum 3 X = 7 /\ map (attention 3 causal (fun _ _ => 1) (fun j => INR 3 * X j)) (seq 0 3) = [3; 9 / 2; 7].
Proof.
  subst X. split; [simpl; lra|]. cbn [seq map].
  rewrite !(A_2_under_a_causal_mask 3 1 (fun j => INR (2 ^ j))) by (lia || lra).
  repeat f_equal; simpl; field.
Qed.
