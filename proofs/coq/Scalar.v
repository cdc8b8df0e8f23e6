(** Scalars: the constructions are written once, over any type with these operations. They are proved over the
    reals and computed over the rationals, and it is the same definition both times. *)

From Coq Require Import Reals QArith Qreduction List.
From TwoHeads Require Import Sums.
Import ListNotations.

Class Scalar (K : Type) := {
  zero : K;
  one : K;
  add : K -> K -> K;
  mul : K -> K -> K;
  sub : K -> K -> K;
  div : K -> K -> K
}.

#[export] Instance scalar_R : Scalar R :=
  {| zero := 0%R; one := 1%R; add := Rplus; mul := Rmult; sub := Rminus; div := Rdiv |}.

(** Rationals in lowest terms, so that computing stays cheap. *)
#[export] Instance scalar_Q : Scalar Q :=
  {| zero := 0%Q; one := 1%Q;
     add x y := Qred (x + y); mul x y := Qred (x * y); sub x y := Qred (x - y); div x y := Qred (x / y) |}.

Section Sums.
  Context {K : Type} `{Scalar K}.

  (** f 0 + ... + f (n-1). *)
  Fixpoint gsum (n : nat) (f : nat -> K) : K :=
    match n with
    | O => zero
    | S n' => add (gsum n' f) (f n')
    end.

  (** The sum of f over a list. *)
  Fixpoint glsum {A : Type} (l : list A) (f : A -> K) : K :=
    match l with
    | [] => zero
    | x :: l' => add (f x) (glsum l' f)
    end.
End Sums.

Lemma gsum_R n f : gsum n f = sum n f.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; reflexivity. Qed.

Lemma glsum_R {A} (l : list A) f : glsum l f = lsum l f.
Proof. induction l as [|x l IH]; simpl; [|rewrite IH]; reflexivity. Qed.
