(** Theorem 4.1 / C.1: each chunk of queries meets the keys of a random sample, by a permutation tau of the positions.

    Everything here computes; Theorem_4_1.v says over the reals what the estimators are worth. *)

From Coq Require Import Arith List.
From TwoHeads Require Import Scalar Model Schedules.

(** Chunk t of the positions begins here: n at a time, the last chunk being the last n positions. *)
Definition chunk_start (N n t : nat) : nat := Nat.min (t * n) (N - n).

(** Where position i is answered: in chunk i / n, and there in this row. *)
Definition chunk_row (N n i : nat) : nat := i - chunk_start N n (i / n).

(** C.1.step2: [X[S_t, :], X[tau(S_t), :]], no synthetic token. *)
Definition SAMPLED (N n : nat) (tau : nat -> nat) (t : nat) : Call :=
  {| tokens := n; minus := false;
     query := fun p => Some (chunk_start N n t + p);
     key := fun q => Some (tau (chunk_start N n t + q)) |}.

(** C.1.step1: the same after a synthetic token. *)
Definition SAMPLED_WEIGHTS (N n : nat) (tau : nat -> nat) (t : nat) : Call :=
  {| tokens := S n; minus := false;
     query := after_one (query (SAMPLED N n tau t));
     key := after_one (key (SAMPLED N n tau t)) |}.

(** The keys that query i meets. *)
Definition sample (N n : nat) (tau : nat -> nat) (i : nat) : list nat :=
  map tau (seq (chunk_start N n (i / n)) n).

Section Estimators.
  Context {K : Type} `{Scalar K}.
  Variables (a v : nat -> nat -> K) (N n : nat) (tau : nat -> nat).

  (** Of the attention: what the call of step 2 returns. *)
  Definition attention_estimate (i x : nat) : K :=
    output full a one (data v x) (SAMPLED N n tau (i / n)) (chunk_row N n i).

  (** Of the sum of all weights: N/n A, with A recovered from the call of step 1 as in B.1. *)
  Definition weight_estimate (i : nat) : K :=
    mul (div (whole N) (whole n)) (A_row full a one Merged (SAMPLED_WEIGHTS N n tau (i / n)) (S (chunk_row N n i))).
End Estimators.
