(** Claim B.6: one call of a causal oracle, the synthetic token first, gives the causal sums of every query of a
    block. The printed ratio has the index i in its denominator where i - 1 belongs; see Refutations_3_B. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Schedules Reconstruction Coverage.
Open Scope R_scope.

Section Claim_B_6.
  Variable a : nat -> nat -> R.
  Variable c : R.
  Variable v : nat -> nat -> R.
  Hypothesis a_positive : forall i j, 0 < a i j.
  Hypothesis c_positive : 0 < c.
  Variable n : nat.

  Notation block := (block n).

  Lemma block_query i : (i < n)%nat -> query block (S i) = Some i.
  Proof. intro Hi. simpl. unfold place. destruct (Nat.ltb_spec i n); [reflexivity | lia]. Qed.

  Lemma block_anchored i : anchored causal block (S i).
  Proof. exists 0%nat. repeat split. simpl. lia. Qed.

  Lemma block_row_sum f i : (i < n)%nat -> row_sum causal a f block i (S i) = sum (S i) (fun j => a i j * f j).
  Proof.
    intro Hi. unfold row_sum, Schedules.block, PAIRS. cbn [tokens key]. rewrite sum_first. simpl after_one.
    rewrite Rmult_0_r, Rplus_0_l. rewrite <- (sum_if_lt n (S i)) by lia. apply sum_ext. intros j Hj.
    unfold place, causal. simpl. destruct (Nat.ltb_spec j n); [|lia].
    change (S j <=? S i) with (j <=? i).
    destruct (Nat.leb_spec j i), (Nat.ltb_spec j (S i)); try lia; simpl; ring.
  Qed.

  (** Row i sees one synthetic token. *)
  Lemma block_blanks i : (i < n)%nat -> blanks causal block (S i) = 1.
  Proof.
    intro Hi. unfold blanks, Schedules.block, PAIRS, blank. cbn [tokens key]. rewrite sum_first, sum_zero.
    - simpl. ring.
    - intros q Hq. simpl. unfold place. destruct (Nat.ltb_spec q n); [simpl; ring | lia].
  Qed.

  (** B.6.ratio, with the indices that the construction gives. *)
  Theorem claim_B_6_ratio i :
    (i < n)%nat ->
    output causal a c flag block (S i) = sum (S i) (a i) / (sum (S i) (a i) + c).
  Proof.
    intro Hi. rewrite (output_flag causal a c block i) by (apply block_query, Hi).
    rewrite block_row_sum, block_blanks by exact Hi.
    rewrite (sum_ext _ (fun j => a i j * 1) (a i)) by (intros; ring). rewrite Rmult_1_r. reflexivity.
  Qed.

  Theorem claim_B_6 variant i :
    (i < n)%nat -> A_row causal a c variant block (S i) = sum (S i) (a i).
  Proof.
    intro Hi. rewrite (A_row_recovers causal a c a_positive c_positive block i).
    - rewrite block_row_sum by exact Hi. apply sum_ext. intros. ring.
    - apply block_query, Hi.
    - apply block_anchored.
  Qed.

  Theorem claim_B_6_values variant i x :
    (i < n)%nat -> B_row causal a c v variant x block (S i) = sum (S i) (fun j => a i j * v j x).
  Proof.
    intro Hi. rewrite (B_row_recovers causal a c v a_positive c_positive block i).
    - apply block_row_sum, Hi.
    - apply block_query, Hi.
    - apply block_anchored.
  Qed.
End Claim_B_6.
