(** Theorem 3.4 / B.4: a whole transformer, layer by layer. If every head is simulated exactly then so is every
    layer, with any number of heads and any token-wise MLP, with residual connections or without; and so is the
    transformer, with any number of layers. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Schedules Reconstruction Coverage Lemma_3_1 Theorem_3_5 Theorem_5_1.
From TwoHeads Require Import Counts Transformer.
Import ListNotations.
Open Scope R_scope.

Section Composition.
  Variable N : nat.
  Variable mask : nat -> nat -> bool.
  Variable simulated : Attend R.
  Hypothesis every_head :
    forall h X p x, (p < N)%nat -> simulated h X p x = direct N mask h X p x.

  (** The simulator works on what it has computed itself, X, the transformer on X'. *)
  Theorem layer_composition X X' layer :
    agree N X X' -> agree N (run_layer simulated X layer) (run_layer (direct N mask) X' layer).
  Proof.
    intros E p Hp. unfold run_layer. rewrite (E p Hp). f_equal. apply flat_map_same. intros h _.
    apply map_ext. intro x. rewrite every_head by exact Hp. apply direct_agree; assumption.
  Qed.

  Theorem layers_composition layers X X' :
    agree N X X' -> agree N (run simulated layers X) (run (direct N mask) layers X').
  Proof.
    revert X X'. induction layers as [|layer layers IH]; intros X X' E; [exact E|].
    apply IH, layer_composition, E.
  Qed.

  Theorem composition input_mlp layers X :
    agree N (transformer simulated input_mlp layers X) (transformer (direct N mask) input_mlp layers X).
  Proof. apply layers_composition. intros p _. reflexivity. Qed.
End Composition.

(** ** The heads, by Lemma 3.1, Theorem 3.5 and Theorem 5.1 *)

Lemma head_weight_positive (h : Head R) X i j : 0 < head_weight h X i j.
Proof. apply exp_pos. Qed.

(** Blocks of n = M - 1 tokens; N need not be a multiple. *)
Theorem theorem_3_4 N n variant input_mlp (layers : list (Layer R)) X :
  (0 < n)%nat ->
  agree N (transformer (by_calls full variant (quadratic N n (ceil_div N n))) input_mlp layers X)
          (transformer (direct N everything) input_mlp layers X).
Proof.
  intro Hn. apply composition. intros h Y p x Hp. apply lemma_3_1; try assumption.
  - apply head_weight_positive.
  - apply Rlt_0_1.
  - apply ceil_div_covers, Hn.
Qed.

Theorem theorem_3_5_transformer N n variant input_mlp (layers : list (Layer R)) X :
  (0 < n)%nat ->
  agree N (transformer (by_calls causal variant (causal_schedule N n (ceil_div N n))) input_mlp layers X)
          (transformer (direct N causal_mask) input_mlp layers X).
Proof.
  intro Hn. apply composition. intros h Y p x Hp. apply theorem_3_5; try assumption.
  - apply head_weight_positive.
  - apply Rlt_0_1.
  - apply ceil_div_covers, Hn.
Qed.

Theorem theorem_5_1_transformer N m r s variant input_mlp (layers : list (Layer R)) X :
  (s <= N)%nat -> (0 < r)%nat -> (0 < m)%nat ->
  agree N (transformer (by_calls causal variant (difference N m r s)) input_mlp layers X)
          (transformer (direct N (sink_mask r s)) input_mlp layers X).
Proof.
  intros Hs Hr Hm. apply composition. intros h Y p x Hp. apply theorem_5_1_difference; try assumption.
  - apply head_weight_positive.
  - apply Rlt_0_1.
Qed.

Theorem theorem_5_1_suffix_prefix_transformer N r s variant input_mlp (layers : list (Layer R)) X :
  (s <= N)%nat -> (0 < r)%nat ->
  agree N (transformer (by_calls causal variant (suffix_prefix N r s)) input_mlp layers X)
          (transformer (direct N (sink_mask r s)) input_mlp layers X).
Proof.
  intros Hs Hr. apply composition. intros h Y p x Hp. apply theorem_5_1_suffix_prefix; try assumption.
  - apply head_weight_positive.
  - apply Rlt_0_1.
Qed.

(** ** The number of packed calls *)

(** A layer's H heads need [calls] instances each, packed K = H' L' into a call (Lemma 3.3), layer after layer. *)
Definition packed_calls (L H calls K : nat) : nat := (L * ceil_div (H * calls) K)%nat.

Open Scope nat_scope.

Theorem packed_calls_suffice H calls K : 0 < K -> H * calls <= ceil_div (H * calls) K * K.
Proof. apply ceil_div_covers. Qed.

(** Rounding up costs less than one call a layer. *)
Theorem packed_calls_bound L H calls K : 0 < K -> packed_calls L H calls K * K <= L * (H * calls + K).
Proof.
  intro HK. unfold packed_calls. rewrite <- Nat.mul_assoc. apply Nat.mul_le_mono_l. unfold ceil_div.
  pose proof (Nat.mul_div_le (H * calls + K - 1) K ltac:(lia)). lia.
Qed.

(** O((N/M)^2 HL/(H'L')): 8 is a constant if a layer fills a packed call, the rounding included. *)
Theorem theorem_3_4_bound N M L H K :
  2 <= M <= N -> 0 < K <= H * (ceil_div N (M - 1) * ceil_div N (M - 1)) ->
  packed_calls L H (ceil_div N (M - 1) * ceil_div N (M - 1)) K * K * (M * M) <= 8 * (L * H) * (N * N).
Proof.
  intros HM [HK F]. pose proof (blocks_bound N M HM) as B.
  set (T := ceil_div N (M - 1)) in *.
  pose proof (packed_calls_bound L H (T * T) K HK) as P.
  assert (T * M * (T * M) <= 2 * N * (2 * N)) as Q by (apply Nat.mul_le_mono; exact B).
  apply Nat.le_trans with (L * (H * (T * T) + K) * (M * M)); [apply Nat.mul_le_mono_r; exact P|].
  apply Nat.le_trans with (L * (2 * (H * (T * T))) * (M * M)).
  - apply Nat.mul_le_mono_r, Nat.mul_le_mono_l. lia.
  - replace (L * (2 * (H * (T * T))) * (M * M)) with (2 * (L * H) * (T * M * (T * M))) by ring.
    replace (8 * (L * H) * (N * N)) with (2 * (L * H) * (2 * N * (2 * N))) by ring.
    apply Nat.mul_le_mono_l, Q.
Qed.
