(** The constructions on given rational weights and values, to be held against the running code on the same
    numbers: a i j = weights[i][j], v j x = values[j][x], the sizes as the command line takes them.

    Example: Eval vm_compute in quadratic_outputs (OneCall Stable) weights values 5 3 2 1. *)

From Coq Require Import QArith List Arith.
From TwoHeads Require Import Scalar Model Schedules.
Import ListNotations.

Inductive Choice := Printed | Repaired | OneCall (variant : Variant).

Definition entry (rows : list (list Q)) (i j : nat) : Q := nth j (nth i rows []) 0%Q.

Definition table (N d_v : nat) (f : nat -> nat -> Q) : list (list Q) :=
  map (fun i => map (f i) (seq 0 d_v)) (seq 0 N).

Section Outputs.
  Variable choice : Choice.
  Variables weights values : list (list Q).
  Variables N M d_v : nat.
  Variable c : Q.

  Let a := entry weights.
  Let v := entry values.
  Let n := block_length N M.
  Let T := ceil_div N n.

  Definition outputs (sees : nat -> nat -> bool) (calls : list Call) (printed : list (Call * Call)) : list (list Q) :=
    table N d_v (match choice with
      | Printed => simulate_printed sees a 1%Q v printed
      | Repaired => simulate_printed sees a 1%Q v (each_twice calls)
      | OneCall variant => simulate sees a c v variant calls
      end).

  Definition quadratic_outputs : list (list Q) :=
    outputs full (quadratic N n T) (each_twice (quadratic N n T)).

  Definition causal_outputs : list (list Q) :=
    outputs causal (causal_schedule N n T) (causal_printed N n T).

  (** Window and sinks are cut to N; a chunk's queries fill what the sinks and r further keys leave of M - 1. *)
  Definition difference_outputs (r s : nat) : list (list Q) :=
    let r := Nat.min r N in
    let s := Nat.min s N in
    let calls := difference N (Nat.min (M - 1 - s - r) (N - s)) r s in
    outputs causal calls (each_twice calls).

  Definition suffix_prefix_outputs (r s : nat) : list (list Q) :=
    let calls := suffix_prefix N (Nat.min r N) (Nat.min s N) in
    outputs causal calls (each_twice calls).
End Outputs.

(** Attention itself, under any mask. *)
Definition direct (allowed : nat -> nat -> bool) (weights values : list (list Q)) (N d_v : nat) : list (list Q) :=
  table N d_v (fun i x => attention N allowed (entry weights) (fun j => entry values j x) i).
