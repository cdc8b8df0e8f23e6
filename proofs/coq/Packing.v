(** Lemma 3.3 / B.3, the residual packing: H' L' independent instances of one layer and one head in one transformer of
    L' layers of H' heads. Slot s = h L' + l of a token holds instance (h, l), which head h of layer l computes.

    Everything here computes; Lemma_3_3.v proves it right over the reals. *)

From Coq Require Import Arith List.
From TwoHeads Require Import Scalar Model Transformer.
Import ListNotations.

Section Packing.
  Context {F : Type} `{Scalar F} `{Exponential F}.

  (** Tokens of slots with w entries each. *)
  Definition packed (slots : nat) (slot : nat -> Token F) : Token F := flat_map slot (seq 0 slots).
  Definition cut (w s : nat) (x : Token F) : Token F := map (fun c => entry x (s * w + c)) (seq 0 w).

  Variables n w m H_small L_small : nat.
  Variable mask : nat -> nat -> bool.

  (** Instance s: matrices, layer MLP, and the w-dimensional tokens that it is given. *)
  Variable Q K V : nat -> nat -> nat -> F.
  Variable psi : nat -> Token F -> nat -> Token F.
  Variable X : nat -> Sequence F.

  Definition instance_head (s : nat) : Head F :=
    {| first := 0; wide := w; inner := m; outer := w; W_Q := Q s; W_K := K s; W_V := V s |}.

  (** The instance by itself: one layer, one head. *)
  Definition instance_layer (s : nat) : Layer F :=
    {| heads := [instance_head s]; mlp := fun attended p _ => psi s attended p |}.
  Definition instance_output (s : nat) : Sequence F := run (direct n mask) [instance_layer s] (X s).

  (** B.3.construction: [0; ...; W; ...; 0], with W in the rows of slot l of the head's lane. *)
  Definition stacked (l : nat) (W : nat -> nat -> F) (y c : nat) : F := if y / w =? l then W (y mod w) c else zero.

  Definition lane_head (l h : nat) : Head F :=
    let s := (h * L_small + l)%nat in
    {| first := h * L_small * w; wide := L_small * w; inner := m; outer := w;
       W_Q := stacked l (Q s); W_K := stacked l (K s); W_V := stacked l (V s) |}.

  (** The layer MLP takes slot l of every lane from its head, and all others from the layer's input. *)
  Definition packed_layer (l : nat) : Layer F :=
    {| heads := map (lane_head l) (seq 0 H_small);
       mlp := fun attended p input => packed (H_small * L_small) (fun s =>
         if s mod L_small =? l then psi s (cut w (s / L_small) attended) p else cut w s input) |}.

  Definition packed_input : Sequence F := fun p => packed (H_small * L_small) (fun s => X s p).
  Definition packed_run (k : nat) : Sequence F := run (direct n mask) (map packed_layer (seq 0 k)) packed_input.
End Packing.
