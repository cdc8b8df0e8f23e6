(** The model: attention, oracle calls, and how a simulator recovers attention from their outputs.

    A call is a list of tokens; a token holds a query (of some position of the large input), a key, or neither.
    A token without a key is synthetic: it has the known weight c. The oracle is attention over the call's tokens;
    the simulator reads its outputs and nothing else. Everything here computes. *)

From Coq Require Import List Arith Bool.
From TwoHeads Require Import Scalar.

Record Call := {
  tokens : nat;                 (* how many tokens the oracle reads *)
  query : nat -> option nat;    (* the position whose query a token holds *)
  key : nat -> option nat;      (* the position whose key a token holds; None: synthetic *)
  minus : bool                  (* whether its sums are subtracted *)
}.

(** What an oracle's row p sees: everything, or the rows up to its own (Definition 2.3). *)
Definition full (p q : nat) : bool := true.
Definition causal (p q : nat) : bool := q <=? p.

(** What position i attends to in the large transformer (Definitions 2.1, 2.3, 2.4, 2.5), counting from 0. *)
Definition window_mask (r i j : nat) : bool := (j <=? i) && (i <? j + r).
Definition sink_mask (r s i j : nat) : bool := (j <=? i) && ((j <? s) || (i <? j + r)).

Section Model.
  Context {K : Type} `{Scalar K}.

  Definition only (condition : bool) (x : K) : K := if condition then x else zero.

  (** Definition 2.1 with a mask: row p of softmax attention over n tokens, weights w, one column u of values.
      It is both what the oracle computes on a call and what is to be simulated on the whole input. *)
  Definition attention (n : nat) (sees : nat -> nat -> bool) (w : nat -> nat -> K) (u : nat -> K) (p : nat) : K :=
    div (gsum n (fun q => only (sees p q) (mul (w p q) (u q)))) (gsum n (fun q => only (sees p q) (w p q))).

  Variable sees : nat -> nat -> bool.    (* the oracle's mask *)
  Variable a : nat -> nat -> K.          (* a i j, the weight of query i on key j *)
  Variable c : K.                        (* the weight of a synthetic token *)
  Variable v : nat -> nat -> K.          (* v j x, entry x of value j *)

  Definition weight (call : Call) (p q : nat) : K :=
    match key call q with
    | None => c
    | Some j => match query call p with Some i => a i j | None => one end
    end.

  (** The value columns: entry x of the data, the data tokens' flag, the synthetic tokens' flag. *)
  Definition data (x : nat) (call : Call) (q : nat) : K := match key call q with Some j => v j x | None => zero end.
  Definition flag (call : Call) (q : nat) : K := match key call q with Some _ => one | None => zero end.
  Definition synthetic (call : Call) (q : nat) : K := match key call q with Some _ => zero | None => one end.

  (** One oracle output: row p of a call, one value column. *)
  Definition output (column : Call -> nat -> K) (call : Call) (p : nat) : K :=
    attention (tokens call) sees (weight call) (column call) p.

  (** The weight of the synthetic tokens that row p sees, which the simulator knows. *)
  Definition known (call : Call) (p : nat) : K :=
    mul c (gsum (tokens call) (fun q => only (sees p q) (synthetic call q))).

  (** ** What one row's outputs say about its sums A and B *)

  Inductive Variant := Merged | Stable.

  Definition share (variant : Variant) (call : Call) (p : nat) : K :=
    match variant with
    | Merged => sub one (output flag call p)
    | Stable => output synthetic call p
    end.

  Definition A_row (variant : Variant) (call : Call) (p : nat) : K :=
    div (mul (known call p) (output flag call p)) (share variant call p).

  Definition B_row (variant : Variant) (x : nat) (call : Call) (p : nat) : K :=
    div (mul (known call p) (output (data x) call p)) (share variant call p).

  (** As printed: B/A comes from a call of its own. Its rows end with the first call's; where it still holds
      synthetic tokens, of value 0, its output is B over A plus their weight. *)
  Definition aligned (calls : Call * Call) (p : nat) : nat := p + tokens (snd calls) - tokens (fst calls).

  Definition A_printed (calls : Call * Call) (p : nat) : K := A_row Merged (fst calls) p.

  Definition B_printed (x : nat) (calls : Call * Call) (p : nat) : K :=
    let p' := aligned calls p in
    mul (output (data x) (snd calls) p') (add (A_printed calls p) (known (snd calls) p')).

  (** ** Recombination *)

  Definition holds (o : option nat) (i : nat) : bool := match o with Some i' => i' =? i | None => false end.

  Definition signed (negative : bool) (x : K) : K := if negative then sub zero x else x.

  (** The sum of f over the rows, of all calls, that hold query i. *)
  Definition total {C : Type} (call_of : C -> Call) (calls : list C) (f : C -> nat -> K) (i : nat) : K :=
    glsum calls (fun k => signed (minus (call_of k))
      (gsum (tokens (call_of k)) (fun p => only (holds (query (call_of k) p) i) (f k p)))).

  (** Entry x of the simulated output at position i. *)
  Definition simulate (variant : Variant) (calls : list Call) (i x : nat) : K :=
    div (total (fun k => k) calls (B_row variant x) i) (total (fun k => k) calls (A_row variant) i).

  Definition simulate_printed (calls : list (Call * Call)) (i x : nat) : K :=
    div (total fst calls (B_printed x) i) (total fst calls A_printed i).
End Model.
