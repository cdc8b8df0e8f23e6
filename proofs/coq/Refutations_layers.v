(** Printed items about many layers and heads that do not hold as they stand: the packed call of B.3, the embedding
    dimensions of Corollary 3.2 and Theorems 3.4 and 5.1, and the call counts of Theorems 3.4, 4.1 and 5.1. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Transformer Packing Refutations_1_2_A.
Import ListNotations.
Open Scope R_scope.

(** ** B.3.construction *)

(** Matrices [W; 0; ...; 0] read a lane's first w columns only. *)
Lemma stacked_first_reads_slot_0 (h : Head R) w L_small W (X X' : Sequence R) p c :
  wide h = (L_small * w)%nat ->
  (forall x, (x < w)%nat -> entry (X p) (first h + x) = entry (X' p) (first h + x)) ->
  project h (stacked w 0 W) X p c = project h (stacked w 0 W) X' p c.
Proof.
  intros D E. unfold project. rewrite D. apply gsum_ext. intros x Hx. unfold stacked.
  assert (0 < w)%nat as P by (destruct w; lia).
  destruct (Nat.eqb_spec (x / w) 0) as [Z|Z]; [|cbn; ring].
  rewrite E; [reflexivity|]. apply Nat.div_small_iff; lia.
Qed.

(** Layer 1 of the printed call: the heads' stacked matrices and a layer MLP without residual connection. *)
Definition first_layer (w m H_small L_small : nat) Q K V (psi : Token R -> nat -> Token R) : Layer R :=
  {| heads := map (lane_head w m L_small Q K V 0) (seq 0 H_small); mlp := fun attended p _ => psi attended p |}.

(** It returns the same whatever the waiting instances are: X and X' need to agree on slot 0 of every lane only. *)
Theorem B_3_layer_1_ignores_what_waits n mask w m H_small L_small Q K V psi (X X' : Sequence R) p :
  (forall q h x, (q < n)%nat -> (h < H_small)%nat -> (x < w)%nat ->
     entry (X q) (h * L_small * w + x) = entry (X' q) (h * L_small * w + x)) -> (p < n)%nat ->
  run_layer (direct n mask) X (first_layer w m H_small L_small Q K V psi) p =
  run_layer (direct n mask) X' (first_layer w m H_small L_small Q K V psi) p.
Proof.
  intros E Hp. unfold run_layer, first_layer. cbn [mlp heads]. f_equal. apply flat_map_same. intros head I.
  apply in_map_iff in I. destruct I as (h & <- & I). apply in_seq in I.
  assert (P : forall W q c, (q < n)%nat ->
    project (lane_head w m L_small Q K V 0 h) (stacked w 0 W) X q c =
    project (lane_head w m L_small Q K V 0 h) (stacked w 0 W) X' q c).
  { intros W q c Hq. apply (stacked_first_reads_slot_0 _ w L_small); [reflexivity|]. intros x Hx.
    apply E; lia. }
  apply map_ext. intro x. apply attention_same; intros q Hq.
  - apply head_weight_same; [reflexivity | |]; intro c; apply P; assumption.
  - apply P, Hq.
Qed.

(** ** Embedding dimensions *)

(** One ReLU that needs all its d arguments. *)
Definition all_on (d : nat) (x : nat -> R) : R := Rmax 0 (sum d x - (INR d - 1)).

Lemma all_on_reads_all d seen :
  (length seen < d)%nat -> exists x y, (forall k, In k seen -> x k = y k) /\ all_on d x = 1 /\ all_on d y = 0.
Proof.
  intro L. destruct (something_is_missing seen d L) as (j & Hj & N).
  exists (fun _ => 1), (fun k => 1 - (if k =? j then 1 else 0)). split; [|split].
  - intros k I. destruct (Nat.eqb_spec k j) as [->|]; [contradiction | ring].
  - unfold all_on. rewrite sum_const, Rmax_right; lra.
  - unfold all_on. rewrite sum_minus, sum_const, (sum_indicator d j (fun _ => 1)).
    destruct (Nat.ltb_spec j d); [|lia]. rewrite Rmax_left; lra.
Qed.

(** For some d and H tokens of the given embedding dimension hold fewer than the d numbers that a layer MLP reads: any
    choice of so many of them leaves it undetermined. *)
Definition too_narrow (dimension : nat -> nat -> nat) : Prop :=
  exists d H, (0 < H)%nat /\ (d mod H = 0)%nat /\ (dimension d H < d)%nat /\
    forall seen, (length seen <= dimension d H)%nat ->
      exists x y, (forall k, In k seen -> x k = y k) /\ all_on d x <> all_on d y.

Lemma narrow_tokens c K : too_narrow (fun d H => c * (d / H * K))%nat.
Proof.
  exists (S (c * K)), (S (c * K)). split; [lia|]. split; [apply Nat.mod_same; lia|].
  rewrite Nat.div_same, Nat.mul_1_l by lia. split; [lia|]. intros seen L.
  destruct (all_on_reads_all (S (c * K)) seen) as (x & y & A & X & Y); [lia|].
  exists x, y. split; [exact A | lra].
Qed.

(** Corollary 3.2 / B.2: O(d/H), whatever the constant c is; H = c + 1 heads of one column are too many. *)
Theorem B_2_token_is_too_narrow c : too_narrow (fun d H => c * (d / H))%nat.
Proof.
  destruct (narrow_tokens c 1) as (d & H & P). rewrite Nat.mul_1_r in P. exists d, H. exact P.
Qed.

(** Theorem 3.4 / B.4: O(d H'L'/H) with K = H'L', whatever K and the constant are. *)
Theorem B_4_token_is_too_narrow c K : too_narrow (fun d H => c * (d / H * K))%nat.
Proof. apply narrow_tokens. Qed.

(** Theorem 5.1 / D.1: the same embedding dimension. *)
Theorem D_1_token_is_too_narrow c K : too_narrow (fun d H => c * (d / H * K))%nat.
Proof. apply narrow_tokens. Qed.

(** ** Call counts *)

(** Layers are computed one after the other, each by a call of its own or more. For some K = H'L' that is more than
    c (N/M)^e HL/K calls; c stands for the constant of the O. *)
Definition layers_exceed (e c : nat) : Prop :=
  forall N M H L, (0 < M)%nat -> (0 < L)%nat -> exists K, (0 < K)%nat /\
    forall calls : list nat, (forall l, l < L -> In l calls)%nat ->
      (c * (N ^ e * (H * L)) < length calls * (M ^ e * K))%nat.

Lemma layers_need_calls e c : layers_exceed e c.
Proof.
  intros N M H L PM PL. exists (S (c * N ^ e * H)). split; [lia|]. intros calls A.
  assert (L <= length calls)%nat as B.
  { rewrite <- (seq_length L 0). apply NoDup_incl_length; [apply seq_NoDup|].
    intros l I. apply in_seq in I. apply A. lia. }
  assert (0 < M ^ e)%nat as Y by (apply Nat.neq_0_lt_0, Nat.pow_nonzero; lia).
  set (x := (N ^ e)%nat) in *. set (y := (M ^ e)%nat) in *.
  apply Nat.lt_le_trans with (L * S (c * x * H))%nat; [nia|].
  apply Nat.mul_le_mono; [exact B|]. nia.
Qed.

(** Theorem 3.4 / B.4: (N/M)^2 HL/(H'L'). *)
Theorem B_4_fewer_calls_than_layers c : layers_exceed 2 c.
Proof. apply layers_need_calls. Qed.

(** Theorem 4.1 / C.1: N/M HL/(H'L'). *)
Theorem C_1_fewer_calls_than_layers c : layers_exceed 1 c.
Proof. apply layers_need_calls. Qed.

(** Theorem 5.1 / D.1: N/M HL/(H'L'). *)
Theorem D_1_fewer_calls_than_layers c : layers_exceed 1 c.
Proof. apply layers_need_calls. Qed.
