(** Transformers (Definition 2.2 and the layers of section 2.1): the large one, and what an oracle runs.

    A token is a list of numbers, a sequence gives the token of every position. MLPs are any token-wise functions. *)

From Coq Require Import Reals Lra Lia Arith List.
From TwoHeads Require Import Sums Scalar Model Reconstruction.
Import ListNotations.
Open Scope R_scope.

Definition Token := list R.
Definition Sequence := nat -> Token.
Definition entry (x : Token) (c : nat) : R := nth c x 0.

(** A head on its own columns first, ..., first + wide - 1 of the layer's input. *)
Record Head := {
  first : nat;
  wide : nat;
  inner : nat;                  (* columns of W_Q and W_K *)
  outer : nat;                  (* columns of W_V *)
  W_Q : nat -> nat -> R;
  W_K : nat -> nat -> R;
  W_V : nat -> nat -> R
}.

(** The layer MLP takes the heads' concatenated outputs, the position, and the layer's own input: a layer without
    residual connection ignores the last. *)
Record Layer := {
  heads : list Head;
  mlp : Token -> nat -> Token -> Token
}.

Definition project (h : Head) (W : nat -> nat -> R) (X : Sequence) (p c : nat) : R :=
  sum (wide h) (fun x => entry (X p) (first h + x) * W x c).

Definition head_weight (h : Head) (X : Sequence) (i j : nat) : R :=
  exp (dot (inner h) (project h (W_Q h) X i) (project h (W_K h) X j)).

Definition head_value (h : Head) (X : Sequence) (j x : nat) : R := project h (W_V h) X j x.

(** How a head's outputs are computed: entry x of position p. *)
Definition Attend := Head -> Sequence -> nat -> nat -> R.

(** Directly, by Definition 2.1 with a mask, over n tokens. *)
Definition direct (n : nat) (mask : nat -> nat -> bool) : Attend :=
  fun h X p x => attention n mask (head_weight h X) (fun j => head_value h X j x) p.

Definition head_output (attend : Attend) (X : Sequence) (p : nat) (h : Head) : Token :=
  map (attend h X p) (seq 0 (outer h)).

Definition run_layer (attend : Attend) (X : Sequence) (layer : Layer) : Sequence :=
  fun p => mlp layer (flat_map (head_output attend X p) (heads layer)) p (X p).

Definition run (attend : Attend) (layers : list Layer) (X : Sequence) : Sequence :=
  fold_left (run_layer attend) layers X.

Definition transformer (attend : Attend) (input_mlp : Token -> nat -> Token) (layers : list Layer) (X : Sequence) :
  Sequence := run attend layers (fun p => input_mlp (X p) p).

(** ** Only the n tokens count *)

Definition agree (n : nat) (X X' : Sequence) : Prop := forall p, (p < n)%nat -> X p = X' p.

Lemma head_weight_positive h X i j : 0 < head_weight h X i j.
Proof. apply exp_pos. Qed.

Lemma project_agree n h W X X' p c : agree n X X' -> (p < n)%nat -> project h W X p c = project h W X' p c.
Proof. intros E Hp. unfold project. rewrite (E p Hp). reflexivity. Qed.

Lemma attention_same n mask (w w' : nat -> nat -> R) (u u' : nat -> R) p :
  (forall q, (q < n)%nat -> w p q = w' p q) -> (forall q, (q < n)%nat -> u q = u' q) ->
  attention n mask w u p = attention n mask w' u' p.
Proof.
  intros W U. rewrite !attention_R. f_equal; apply sum_ext; intros q Hq; rewrite ?W, ?U by exact Hq; reflexivity.
Qed.

Lemma direct_agree n mask h X X' p x :
  agree n X X' -> (p < n)%nat -> direct n mask h X p x = direct n mask h X' p x.
Proof.
  intros E Hp. apply attention_same; intros q Hq.
  - unfold head_weight. f_equal. apply dot_ext; intros; apply (project_agree n); assumption.
  - apply (project_agree n); assumption.
Qed.

Lemma flat_map_same {A B} (f g : A -> list B) l : (forall x, In x l -> f x = g x) -> flat_map f l = flat_map g l.
Proof.
  induction l as [|x l IH]; intro E; simpl; [reflexivity|].
  rewrite E by (left; reflexivity). rewrite IH by (intros; apply E; right; assumption). reflexivity.
Qed.
