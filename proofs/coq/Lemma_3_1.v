(** Lemma 3.1 / B.1: attention on N tokens by T^2 calls of an oracle that reads M tokens, T = N / (M-1) rounded up.

    N need not be a multiple of the block length n: the rows past the end are further synthetic tokens. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Schedules Reconstruction Coverage.
Import ListNotations.
Open Scope R_scope.

Definition everything (i j : nat) : bool := true.

Section Lemma_3_1.
  Variable a : nat -> nat -> R.
  Variable c : R.
  Variable v : nat -> nat -> R.
  Hypothesis a_positive : forall i j, 0 < a i j.
  Hypothesis c_positive : 0 < c.

  Variables N n T : nat.
  Hypothesis n_positive : (0 < n)%nat.
  Hypothesis enough : (N <= T * n)%nat.

  Lemma in_quadratic call : In call (quadratic N n T) -> exists u t, call = PAIRS N n u t.
  Proof.
    unfold quadratic. rewrite in_flat_map. intros (u & _ & I). apply in_map_iff in I.
    destruct I as (t & <- & _). exists u, t. reflexivity.
  Qed.

  Lemma quadratic_sound i call : In call (quadratic N n T) -> sound full N i call.
  Proof.
    intro I. destruct (in_quadratic call I) as (u & t & ->).
    apply sound_if; [apply full_sees_first | apply PAIRS_begins | apply PAIRS_inside].
  Qed.

  Lemma block_in_range i : (i < N)%nat -> (i / n <? T) = true.
  Proof. intro Hi. apply Nat.ltb_lt, Nat.div_lt_upper_bound; lia. Qed.

  (** Every pair meets in exactly one call. *)
  Lemma quadratic_covers i : (i < N)%nat -> covers full N (quadratic N n T) everything i.
  Proof.
    intros Hi j Hj. unfold quadratic. rewrite meetings_flat_map_seq.
    transitivity (sum T (fun u => one_if (true && (i / n =? u)))).
    - apply sum_ext. intros u _. rewrite meetings_map_seq.
      transitivity (sum T (fun t => one_if ((i / n =? u) && (j / n =? t)))).
      + apply sum_ext. intros t _. rewrite PAIRS_meetings by assumption. rewrite one_if_and. cbn. ring.
      + rewrite sum_one_if, block_in_range by exact Hj. destruct (i / n =? u); reflexivity.
    - rewrite sum_one_if, block_in_range by exact Hi. reflexivity.
  Qed.

  (** Lemma 3.1, merged and stable: one call per pair of blocks. *)
  Theorem lemma_3_1 variant i x :
    (i < N)%nat ->
    simulate full a c v variant (quadratic N n T) i x = attention N everything a (fun j => v j x) i.
  Proof.
    intro Hi. apply reconstruction; try assumption.
    - apply quadratic_sound.
    - apply quadratic_covers, Hi.
  Qed.

  (** Lemma 3.1 as printed: a second call per pair, without the leading synthetic token, for B/A. *)
  Theorem lemma_3_1_printed i x :
    (i < N)%nat ->
    simulate_printed full a c v (each_twice (quadratic N n T)) i x = attention N everything a (fun j => v j x) i.
  Proof.
    intro Hi. apply reconstruction_twice; try reflexivity; try assumption.
    - intros call I. destruct (in_quadratic call I) as (u & t & ->). apply PAIRS_begins.
    - apply quadratic_sound.
    - apply quadratic_covers, Hi.
  Qed.

  (** No denominator of the result is zero. *)
  Theorem lemma_3_1_denominator variant i :
    (i < N)%nat -> 0 < total (fun k => k) (quadratic N n T) (A_row full a c variant) i.
  Proof.
    intro Hi. rewrite (A_total_is_denominator full a c a_positive c_positive N _ everything).
    - apply (denominator_positive a a_positive N everything i i Hi). reflexivity.
    - apply quadratic_sound.
    - apply quadratic_covers, Hi.
  Qed.

  Theorem lemma_3_1_calls : length (quadratic N n T) = (T * T)%nat.
  Proof. apply length_flat_map_seq. intros. rewrite map_length. apply seq_length. Qed.

  (** Every call fits the oracle: n data tokens and one synthetic token are M = n + 1. *)
  Theorem lemma_3_1_fits call : In call (quadratic N n T) -> tokens call = S n.
  Proof. intro I. destruct (in_quadratic call I) as (u & t & ->). reflexivity. Qed.
End Lemma_3_1.
