(** Transformers (Definition 2.2 and the layers of section 2.1): the large one, and what an oracle runs.

    A token is a list of numbers, a sequence gives the token of every position. MLPs are any token-wise functions.
    Everything here computes, over any scalars with an exponential. *)

From Coq Require Import Arith List.
From TwoHeads Require Import Scalar Model.
Import ListNotations.

Section Transformers.
  Context {K : Type} `{Scalar K} `{Exponential K}.

  Definition Token := list K.
  Definition Sequence := nat -> Token.
  Definition entry (x : Token) (c : nat) : K := nth c x zero.

  (** A head on its own columns first, ..., first + wide - 1 of the layer's input. *)
  Record Head := {
    first : nat;
    wide : nat;
    inner : nat;                  (* columns of W_Q and W_K *)
    outer : nat;                  (* columns of W_V *)
    W_Q : nat -> nat -> K;
    W_K : nat -> nat -> K;
    W_V : nat -> nat -> K
  }.

  (** The layer MLP takes the heads' concatenated outputs, the position, and the layer's own input: a layer without
      residual connection ignores the last. *)
  Record Layer := {
    heads : list Head;
    mlp : Token -> nat -> Token -> Token
  }.

  Definition project (h : Head) (W : nat -> nat -> K) (X : Sequence) (p c : nat) : K :=
    gsum (wide h) (fun x => mul (entry (X p) (first h + x)) (W x c)).

  Definition head_weight (h : Head) (X : Sequence) (i j : nat) : K :=
    expo (gdot (inner h) (project h (W_Q h) X i) (project h (W_K h) X j)).

  Definition head_value (h : Head) (X : Sequence) (j x : nat) : K := project h (W_V h) X j x.

  (** How a head's outputs are computed: entry x of position p. *)
  Definition Attend := Head -> Sequence -> nat -> nat -> K.

  (** Directly, by Definition 2.1 with a mask, over n tokens. *)
  Definition direct (n : nat) (mask : nat -> nat -> bool) : Attend :=
    fun h X p x => attention n mask (head_weight h X) (fun j => head_value h X j x) p.

  (** By calls of an oracle whose mask is [sees]; synthetic tokens have weight exp(0) = 1. *)
  Definition by_calls (sees : nat -> nat -> bool) (variant : Variant) (calls : list Call) : Attend :=
    fun h X p x => simulate sees (head_weight h X) one (head_value h X) variant calls p x.

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

  Lemma project_agree n h W X X' p c : agree n X X' -> (p < n)%nat -> project h W X p c = project h W X' p c.
  Proof. intros E Hp. unfold project. rewrite (E p Hp). reflexivity. Qed.

  Lemma attention_same n mask (w w' : nat -> nat -> K) (u u' : nat -> K) p :
    (forall q, (q < n)%nat -> w p q = w' p q) -> (forall q, (q < n)%nat -> u q = u' q) ->
    attention n mask w u p = attention n mask w' u' p.
  Proof.
    intros W U. unfold attention. f_equal; apply gsum_ext; intros q Hq; rewrite ?W, ?U by exact Hq; reflexivity.
  Qed.

  Lemma head_weight_same h h' X X' i j :
    inner h = inner h' ->
    (forall c, project h (W_Q h) X i c = project h' (W_Q h') X' i c) ->
    (forall c, project h (W_K h) X j c = project h' (W_K h') X' j c) ->
    head_weight h X i j = head_weight h' X' i j.
  Proof.
    intros D Q E. unfold head_weight, gdot. rewrite D. f_equal. apply gsum_ext. intros c _. rewrite Q, E. reflexivity.
  Qed.

  Lemma direct_agree n mask h X X' p x :
    agree n X X' -> (p < n)%nat -> direct n mask h X p x = direct n mask h X' p x.
  Proof.
    intros E Hp. apply attention_same; intros q Hq.
    - apply head_weight_same; [reflexivity | |]; intro c; apply (project_agree n); assumption.
    - apply (project_agree n); assumption.
  Qed.
End Transformers.

Arguments Token : clear implicits.
Arguments Sequence : clear implicits.
Arguments Head : clear implicits.
Arguments Layer : clear implicits.
Arguments Attend : clear implicits.

Lemma flat_map_same {A B} (f g : A -> list B) l : (forall x, In x l -> f x = g x) -> flat_map f l = flat_map g l.
Proof.
  induction l as [|x l IH]; intro E; simpl; [reflexivity|].
  rewrite E by (left; reflexivity). rewrite IH by (intros; apply E; right; assumption). reflexivity.
Qed.
