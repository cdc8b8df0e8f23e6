(** Printed items of §5 and Appendix D that do not hold as they stand, each by a small instance or for all inputs. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Reconstruction Counts.
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

(** D.1.sinks added to the window counts a key twice that is both: i = 0, r = s = 1. *)
Theorem D_1_sinks_added_to_the_window_is_wrong :
  sum 1 (fun j => one_if (j <? 1) * 1) + sum 1 (fun j => one_if (window_mask 1 0 j) * 1) <>
  sum 1 (fun j => one_if (sink_mask 1 1 0 j) * 1).
Proof. cbn. lra. Qed.
