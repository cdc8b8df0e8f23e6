(** Printed items of §5 and Appendix D that do not hold as they stand, each by a small instance or for all inputs. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Schedules Reconstruction Counts Claim_B_6.
Import ListNotations.
Open Scope R_scope.

(** D.1.first sums over all r keys for every i <= r: more than the causal sum, for every query but the last. *)
Theorem D_1_first_as_printed_is_wrong a r i :
  (forall i j, 0 < a i j) -> (S i < r)%nat -> sum (S i) (a i) < sum r (a i).
Proof.
  intros P L. replace r with (S i + (r - S i))%nat by lia. rewrite sum_split.
  assert (0 < sum (r - S i) (fun k => a i (S i + k)%nat)) by (apply sum_pos; [lia | intros; apply P]). lra.
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

(** D.1.calls: row i-r of the call that gives query i its sum is of query i-r. Tokens 1 and 0 as queries and as keys,
    i = 2 and r = 1: the row returns exp(1 * 1), and the sum up to i-r is exp(0 * 1). *)
Theorem D_1_calls_row_is_of_another_query :
  let x := fun j => if j =? 0 then 1 else 0 in
  let a := fun i j => exp (x i * x j) in
  A_row causal a 1 Merged (block 2) 1 = exp 1 /\ A_row causal a 1 Merged (block 2) 1 <> sum 1 (a 1%nat).
Proof.
  intros x a. assert (E : A_row causal a 1 Merged (block 2) 1 = exp 1).
  { rewrite claim_B_6 by (intros; apply exp_pos || lra || lia). unfold a, x. cbn. rewrite Rplus_0_l. f_equal. ring. }
  split; [exact E|]. rewrite E. unfold a, x. cbn. rewrite Rplus_0_l.
  replace (0 * 1) with 0 by ring. rewrite exp_0. pose proof (exp_ineq1 1 ltac:(lra)). lra.
Qed.

(** D.1.sinks: for i < s, the sinks' sum up to s is more than what the mask shows of them. *)
Theorem D_1_sinks_sum_holds_hidden_ones a r s i :
  (forall j, 0 < a i j) -> (S i < s)%nat -> sum s (fun j => one_if (sink_mask r s i j) * a i j) < sum s (a i).
Proof.
  intros P L. assert (D : forall f, sum s f = sum (S i) f + sum (s - S i) (fun k => f (S i + k)%nat)).
  { intro f. rewrite <- sum_split. f_equal. lia. }
  rewrite !D, (sum_zero (s - S i)).
  - assert (0 < sum (s - S i) (fun k => a i (S i + k)%nat)) by (apply sum_pos; [lia | intros; apply P]).
    assert (sum (S i) (fun j => one_if (sink_mask r s i j) * a i j) <= sum (S i) (a i)); [|lra].
    apply sum_le. intros j _. pose proof (P j). destruct (sink_mask r s i j); cbn [one_if]; lra.
  - intros k _. unfold sink_mask. destruct (Nat.leb_spec (S i + k) i); [lia|]. cbn. ring.
Qed.

(** D.1.sinks added to the window counts a key twice that is both: i = 0, r = s = 1. *)
Theorem D_1_sinks_added_to_the_window_is_wrong :
  sum 1 (fun j => one_if (j <? 1) * 1) + sum 1 (fun j => one_if (window_mask 1 0 j) * 1) <>
  sum 1 (fun j => one_if (sink_mask 1 1 0 j) * 1).
Proof. cbn. lra. Qed.
