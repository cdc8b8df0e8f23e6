(** The constructions on given rationals, to be held against the running code on the same numbers. For one head these
    are weights and values, a i j = weights[i][j], v j x = values[j][x]; for transformers and instances with matrices
    of their own, tokens and matrices. Sizes are as the command line takes them.

    Example: Eval vm_compute in quadratic_outputs (OneCall Stable) weights values 5 3 2 1. *)

From Coq Require Import QArith Qround List Arith Bool FunctionalExtensionality.
From TwoHeads Require Import Scalar Model Schedules Sampling Transformer Packing Subsets Codes.
Import ListNotations.

Inductive Choice := Printed | Repaired | OneCall (variant : Variant).

Definition cell (rows : list (list Q)) (i j : nat) : Q := nth j (nth i rows []) 0%Q.

Definition table (N d_v : nat) (f : nat -> nat -> Q) : list (list Q) :=
  map (fun i => map (f i) (seq 0 d_v)) (seq 0 N).

Section Outputs.
  Variable choice : Choice.
  Variables weights values : list (list Q).
  Variables N M d_v : nat.
  Variable c : Q.

  Let a := cell weights.
  Let v := cell values.
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

(** Claim B.6: what the one call returns, row by row and the synthetic token's first, and what it recovers. *)
Section Claim_B_6.
  Variables weights values : list (list Q).
  Variables n d_v : nat.
  Variable c : Q.

  Let a := cell weights.
  Let v := cell values.

  Definition claim_B_6_outputs : list (list Q) :=
    map (fun p => map (fun x => output causal a c (data v x) (block n) p) (seq 0 d_v) ++
                  [output causal a c flag (block n) p; output causal a c synthetic (block n) p]) (seq 0 (S n)).

  (** A and B of every query. *)
  Definition claim_B_6_sums (variant : Variant) : list (list Q) :=
    map (fun i => A_row causal a c variant (block n) (S i) ::
                  map (fun x => B_row causal a c v variant x (block n) (S i)) (seq 0 d_v)) (seq 0 n).
End Claim_B_6.

(** Theorem 4.1: both estimates of every query, the sum of the weights first. *)
Definition estimates (weights values : list (list Q)) (tau : list nat) (n d_v : nat) : list (list Q) :=
  let a := cell weights in
  let N := length tau in
  map (fun i => weight_estimate a N n (fun p => nth p tau 0%nat) i ::
                map (attention_estimate a (cell values) N n (fun p => nth p tau 0%nat) i) (seq 0 d_v)) (seq 0 N).

(** ** Computing once

    Sequences are functions, and a function of a function of ... would be computed anew at every place. Here its
    values are kept in a table, which changes no value. *)

Definition once {A : Type} (n : nat) (f : nat -> list A) : nat -> list A :=
  let rows := map f (seq 0 n) in fun p => if p <? n then nth p rows [] else f p.

Definition twice_once (n m : nat) (f : nat -> nat -> Q) : nat -> nat -> Q :=
  let rows := map (fun i => map (f i) (seq 0 m)) (seq 0 n) in
  fun i j => if (i <? n) && (j <? m) then nth j (nth i rows []) 0%Q else f i j.

Lemma kept {A} (f : nat -> A) n p d : (p < n)%nat -> nth p (map f (seq 0 n)) d = f p.
Proof.
  intro Hp. rewrite (nth_indep _ d (f 0%nat)) by (rewrite map_length, seq_length; exact Hp).
  rewrite map_nth, seq_nth by exact Hp. reflexivity.
Qed.

Lemma once_same {A} n (f : nat -> list A) : once n f = f.
Proof.
  apply functional_extensionality. intro p. unfold once.
  destruct (Nat.ltb_spec p n); [apply kept; assumption | reflexivity].
Qed.

Lemma twice_once_same n m f : twice_once n m f = f.
Proof.
  apply functional_extensionality. intro i. apply functional_extensionality. intro j. unfold twice_once.
  destruct (Nat.ltb_spec i n), (Nat.ltb_spec j m); cbn [andb]; try reflexivity.
  rewrite !kept by assumption. reflexivity.
Qed.

Definition run_once (n : nat) (attend : Attend Q) (layers : list (Layer Q)) (X : Sequence Q) : Sequence Q :=
  fold_left (fun Y layer => once n (run_layer attend Y layer)) layers (once n X).

Theorem run_once_is_run n attend layers X : run_once n attend layers X = run attend layers X.
Proof.
  unfold run_once, run. rewrite once_same. revert X.
  induction layers as [|layer layers IH]; intro X; [reflexivity|]. cbn [fold_left]. rewrite once_same. apply IH.
Qed.

(** ** Theorem 3.4: whole transformers *)

Definition by_calls_once (N : nat) (sees : nat -> nat -> bool) (variant : Variant) (calls : list Call) : Attend Q :=
  fun h X =>
    let a := twice_once N N (head_weight h X) in
    let v := twice_once N (outer h) (head_value h X) in
    fun p x => simulate sees a 1%Q v variant calls p x.

Theorem by_calls_once_is_by_calls N sees variant calls :
  by_calls_once N sees variant calls = by_calls sees variant calls.
Proof.
  apply functional_extensionality. intro h. apply functional_extensionality. intro X.
  unfold by_calls_once. rewrite !twice_once_same. reflexivity.
Qed.

(** MLPs to compare with. What the next layer reads are small whole numbers, as the rationals' exponential needs; the
    last layer keeps all digits. *)
Definition position_mlp (x : Token Q) (p : nat) : Token Q := map (fun e => add e (inject_Z (Z.of_nat (p mod 3)))) x.

Definition with_input (residual : bool) (attended : Token Q) (p : nat) (input : Token Q) (c : nat) : Q :=
  add (add (entry attended c) (inject_Z (Z.of_nat p))) (if residual then entry input c else 0%Q).

Definition rounding (residual : bool) (attended : Token Q) (p : nat) (input : Token Q) : Token Q :=
  map (fun c => inject_Z (Qfloor (8 * with_input residual attended p input c) mod 5 - 2)) (seq 0 (length attended)).

Definition keeping (residual : bool) (attended : Token Q) (p : nat) (input : Token Q) : Token Q :=
  map (with_input residual attended p input) (seq 0 (length attended)).

Definition columns (first inner : nat) (W_Q W_K W_V : list (list Q)) : Head Q :=
  {| first := first; wide := length W_V; inner := inner; outer := length (hd [] W_V);
     W_Q := cell W_Q; W_K := cell W_K; W_V := cell W_V |}.

Section Transformer.
  Variable variant : Variant.
  Variable layers : list (Layer Q).
  Variable X : list (list Q).
  Variable M : nat.

  Let N := length X.
  Let n := block_length N M.
  Let T := ceil_div N n.

  Definition transformer_outputs (sees : nat -> nat -> bool) (calls : list Call) : list (list Q) :=
    map (run_once N (by_calls_once N sees variant calls) layers (fun p => position_mlp (nth p X []) p)) (seq 0 N).

  Theorem transformer_outputs_are sees calls :
    transformer_outputs sees calls =
    map (transformer (by_calls sees variant calls) position_mlp layers (fun p => nth p X [])) (seq 0 N).
  Proof. unfold transformer_outputs, transformer. rewrite run_once_is_run, by_calls_once_is_by_calls. reflexivity. Qed.

  Definition quadratic_transformer : list (list Q) := transformer_outputs full (quadratic N n T).
  Definition causal_transformer : list (list Q) := transformer_outputs causal (causal_schedule N n T).

  Definition difference_transformer (r s : nat) : list (list Q) :=
    let r := Nat.min r N in
    let s := Nat.min s N in
    transformer_outputs causal (difference N (Nat.min (M - 1 - s - r) (N - s)) r s).

  (** The large transformer itself, under any mask. *)
  Definition direct_transformer (mask : nat -> nat -> bool) : list (list Q) :=
    map (run_once N (direct N mask) layers (fun p => position_mlp (nth p X []) p)) (seq 0 N).

  Definition suffix_prefix_transformer (r s : nat) : list (list Q) :=
    transformer_outputs causal (suffix_prefix N (Nat.min r N) (Nat.min s N)).
End Transformer.

(** ** Lemma 3.3: what the packed transformer holds after k layers *)

Section Packed.
  Variables w m H_small L_small : nat.
  Variable sees : nat -> nat -> bool.
  Variables Q_of K_of V_of : list (list (list Q)).    (* matrices by slot *)
  Variable tokens_of : list (list (list Q)).          (* tokens by slot *)

  Let n := length (hd [] tokens_of).
  Let matrix (all : list (list (list Q))) (s : nat) := cell (nth s all []).
  Let psi (s : nat) (attended : Token Q) (p : nat) := attended.
  Let X (s p : nat) := nth p (nth s tokens_of []) [].

  Definition packed_rows (k : nat) : list (list Q) :=
    map (run_once n (direct n sees)
           (map (packed_layer w m H_small L_small (matrix Q_of) (matrix K_of) (matrix V_of) psi) (seq 0 k))
           (packed_input H_small L_small X)) (seq 0 n).

  Theorem packed_rows_are k :
    packed_rows k =
    map (packed_run n w m H_small L_small sees (matrix Q_of) (matrix K_of) (matrix V_of) psi X k) (seq 0 n).
  Proof. unfold packed_rows, packed_run. rewrite run_once_is_run. reflexivity. Qed.

  Definition instance_rows (s : nat) : list (list Q) :=
    map (instance_output n w m sees (matrix Q_of) (matrix K_of) (matrix V_of) psi X s) (seq 0 n).
End Packed.

(** ** Theorem 4.2: the one call *)

(** u_t and v_t of T instances. *)
Definition code_table (T : nat) (B : Q) : list (list Q) :=
  let b := half_length T in
  map (fun t => map (code B (combination_code b t)) (seq 0 (b * 2)) ++
                map (partner B (combination_code b t)) (seq 0 (b * 2))) (seq 0 T).

Section One_call.
  Variables M m d_v : nat.
  Variable B : Q.
  Variable heads : list (Head Q).            (* of every instance *)
  Variable tokens : list (list Q).           (* of all instances, one after the other *)

  Let N := length tokens.
  Let b := half_length (N / M).
  Let own (i : nat) : Head Q := nth (i / M) heads (columns 0 0 [] [] []).
  Let X (i : nat) : Token Q := nth i tokens [].
  Let q (i : nat) := project (own i) (W_Q (own i)) X i.
  Let k (j : nat) := project (own j) (W_K (own j)) X j.
  Let v (j : nat) := project (own j) (W_V (own j)) X j.

  Definition one_call_outputs : list (list Q) :=
    let w := twice_once N N (packed_weight M m (b * 2) B q k (combination_code b)) in
    table N d_v (fun i x => attention N full w (fun j => v j x) i).

  Definition instances_alone : list (list Q) := table N d_v (alone M m q k v).
End One_call.
