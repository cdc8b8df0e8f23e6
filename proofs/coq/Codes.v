(** Theorem 4.2 / C.2: one call on N tokens for N/M instances of M tokens, kept apart by codes.

    Instance t's queries end with the code u_t, its keys with v_t = B + u_t. A code's coordinates are 0 or -B; where
    they are 0 is given by a function [zero_at : nat -> bool]. Everything here computes; Theorem_4_2.v bounds the error
    over the reals. *)

From Coq Require Import Arith List Bool.
From TwoHeads Require Import Scalar Model Subsets.
Import ListNotations.

Section Codes.
  Context {F : Type} `{Scalar F} `{Exponential F}.

  Definition code (B : F) (zero_at : nat -> bool) (p : nat) : F := if zero_at p then zero else sub zero B.
  Definition partner (B : F) (zero_at : nat -> bool) (p : nat) : F := add B (code B zero_at p).

  Variables M d r : nat.
  Variable B : F.
  Variables q k v : nat -> nat -> F.         (* queries, keys, values of all T M tokens, instance by instance *)
  Variable zero_at : nat -> nat -> bool.     (* the code of instance t *)

  Definition append (a b : nat -> F) (c : nat) : F := if c <? d then a c else b (c - d)%nat.

  (** The weights of the single call, and of an instance alone. *)
  Definition packed_weight (i j : nat) : F :=
    expo (gdot (d + r) (append (q i) (code B (zero_at (i / M)))) (append (k j) (partner B (zero_at (j / M))))).
  Definition own_weight (i j : nat) : F := expo (gdot d (q i) (k j)).

  (** The instance alone: attention on its M tokens, of which the query is number i mod M. *)
  Definition alone (i x : nat) : F :=
    let at_place p := (i / M * M + p)%nat in
    attention M full (fun p p' => own_weight (at_place p) (at_place p')) (fun p => v (at_place p) x) (i mod M).
End Codes.

(** ** Codes that exist *)

(** C.2.codes: r = 2 b, the -B at the b places of the t-th set, in lexicographic order. *)
Definition combination_code (b t p : nat) : bool := negb (member p (nth t (subsets b (seq 0 (b * 2))) [])).

(** The least b with C(2 b, b) >= T. *)
Fixpoint least_from (b tries T : nat) : nat :=
  match tries with
  | O => b
  | S tries' => if T <=? choose (b * 2) b then b else least_from (S b) tries' T
  end.

Definition half_length (T : nat) : nat := least_from 0 T T.

(** Bit p of t written twice, once as it is and once negated: longer, r = 2 log T, and without a table. *)
Definition bit_code (t p : nat) : bool := xorb (Nat.testbit t (p / 2)) (p mod 2 =? 1).
