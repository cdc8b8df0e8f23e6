(** Scalars: the constructions are written once, over any type with these operations. They are proved over the
    reals and computed over the rationals, and it is the same definition both times. *)

From Coq Require Import Reals QArith Qreduction Qround List.
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

(** The exponential of a score. The rationals have none; there it is 2^s for a whole score s, which is what the running
    code takes. Its only use is to compute: no theorem is about it. *)
Class Exponential (K : Type) := expo : K -> K.

#[export] Instance exponential_R : Exponential R := exp.
#[export] Instance exponential_Q : Exponential Q := fun s => (2 ^ Qfloor s)%Q.

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

  (** The product of two vectors of dimension d. *)
  Definition gdot (d : nat) (x y : nat -> K) : K := gsum d (fun c => mul (x c) (y c)).

  (** A whole number as a scalar. *)
  Definition whole (n : nat) : K := gsum n (fun _ => one).

  Lemma gsum_ext n f g : (forall k, (k < n)%nat -> f k = g k) -> gsum n f = gsum n g.
  Proof.
    induction n as [|n IH]; intro E; simpl; [reflexivity|].
    rewrite IH by (intros; apply E; auto with arith). rewrite E by auto with arith. reflexivity.
  Qed.
End Sums.

Lemma gsum_R n f : gsum n f = sum n f.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; reflexivity. Qed.

Lemma glsum_R {A} (l : list A) f : glsum l f = lsum l f.
Proof. induction l as [|x l IH]; simpl; [|rewrite IH]; reflexivity. Qed.

Lemma gdot_R d x y : gdot d x y = dot d x y.
Proof. apply gsum_R. Qed.

Lemma whole_R n : whole n = INR n.
Proof. unfold whole. rewrite gsum_R, sum_const. apply Rmult_1_r. Qed.
