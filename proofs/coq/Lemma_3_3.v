(** Lemma 3.3 / B.3: H' L' independent instances of one layer and one head in one transformer of L' layers of H'
    heads. Slot s = h L' + l of a token holds instance (h, l), which head h of layer l computes.

    As printed it fails. As repaired, with layer MLPs that also see the layer's input, it is exact. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Reconstruction Coverage Transformer Packing.
Import ListNotations.
Open Scope R_scope.

(** ** Tokens cut into slots of w entries *)

Lemma packed_length K w (slot : nat -> Token R) :
  (forall s, (s < K)%nat -> length (slot s) = w) -> length (packed K slot) = (K * w)%nat.
Proof.
  unfold packed. induction K as [|K IH]; intro W; [reflexivity|].
  rewrite seq_S, flat_map_app, app_length, IH by (intros; apply W; lia). cbn. rewrite app_nil_r, W by lia. lia.
Qed.

Lemma entry_packed K w (slot : nat -> Token R) s c :
  (forall s, (s < K)%nat -> length (slot s) = w) -> (s < K)%nat -> (c < w)%nat ->
  entry (packed K slot) (s * w + c) = entry (slot s) c.
Proof.
  induction K as [|K IH]; intros W Hs Hc; [lia|].
  assert (E : packed (S K) slot = packed K slot ++ slot K).
  { unfold packed. rewrite seq_S, flat_map_app. cbn. rewrite app_nil_r. reflexivity. }
  assert (L : length (packed K slot) = (K * w)%nat) by (apply packed_length; intros; apply W; lia).
  rewrite E. unfold entry in *. destruct (Nat.eq_dec s K) as [->|D].
  - rewrite app_nth2, L by (rewrite L; lia). f_equal. lia.
  - rewrite app_nth1 by (rewrite L; nia). apply IH; [intros; apply W; lia | lia | exact Hc].
Qed.

Lemma all_entries (x : Token R) w : length x = w -> map (entry x) (seq 0 w) = x.
Proof.
  intro L. apply (nth_ext _ _ 0 0).
  - rewrite map_length, seq_length. symmetry. exact L.
  - intros c Hc. rewrite map_length, seq_length in Hc.
    rewrite (nth_indep _ 0 (entry x 0%nat)), map_nth, seq_nth by (try rewrite map_length, seq_length; exact Hc).
    reflexivity.
Qed.

Lemma cut_packed K w (slot : nat -> Token R) s :
  (forall s, (s < K)%nat -> length (slot s) = w) -> (s < K)%nat -> cut w s (packed K slot) = slot s.
Proof.
  intros W Hs. rewrite <- (all_entries (slot s) w) by (apply W, Hs). apply map_ext_in.
  intros c I. apply in_seq in I. apply entry_packed; [exact W | exact Hs | lia].
Qed.

Lemma packed_same K (slot slot' : nat -> Token R) :
  (forall s, (s < K)%nat -> slot s = slot' s) -> packed K slot = packed K slot'.
Proof. intro E. apply flat_map_same. intros s I. apply in_seq in I. apply E. lia. Qed.

Lemma project_R (h : Head R) W X p c :
  project h W X p c = sum (wide h) (fun x => entry (X p) (first h + x) * W x c).
Proof. apply gsum_R. Qed.

Lemma head_weight_R (h : Head R) X i j :
  head_weight h X i j = exp (dot (inner h) (project h (W_Q h) X i) (project h (W_K h) X j)).
Proof. unfold head_weight. rewrite gdot_R. reflexivity. Qed.

(** ** The residual packing *)

Section Lemma_3_3.
  Variables n w m H_small L_small : nat.
  Variable mask : nat -> nat -> bool.

  Variable Q K V : nat -> nat -> nat -> R.
  Variable psi : nat -> Token R -> nat -> Token R.
  Variable X : nat -> Sequence R.
  Hypothesis X_width : forall s p, length (X s p) = w.
  Hypothesis psi_width : forall s x p, length (psi s x p) = w.

  Notation instance_head := (instance_head w m Q K V).
  Notation instance_output := (instance_output n w m mask Q K V psi X).
  Notation stacked := (stacked w).
  Notation lane_head := (lane_head w m L_small Q K V).
  Notation packed_layer := (packed_layer w m H_small L_small Q K V psi).
  Notation packed_run := (packed_run n w m H_small L_small mask Q K V psi X).

  (** What slot s holds after k layers. *)
  Definition slot_after (k s p : nat) : Token R := if s mod L_small <? k then instance_output s p else X s p.

  Lemma slot_after_width k s p : length (slot_after k s p) = w.
  Proof. unfold slot_after. destruct (s mod L_small <? k); [apply psi_width | apply X_width]. Qed.

  Lemma slot_exists h l : (h < H_small)%nat -> (l < L_small)%nat -> (h * L_small + l < H_small * L_small)%nat.
  Proof. intros. nia. Qed.

  (** The stacked matrices read their own slot only. *)
  Lemma project_stacked (slot : nat -> Token R) (Y : Sequence R) h l (head : Head R) W p c :
    (forall s, length (slot s) = w) -> Y p = packed (H_small * L_small) slot ->
    (h < H_small)%nat -> (l < L_small)%nat -> (0 < w)%nat ->
    first head = (h * L_small * w)%nat -> wide head = (L_small * w)%nat ->
    project head (stacked l W) Y p c = sum w (fun x => entry (slot (h * L_small + l)%nat) x * W x c).
  Proof.
    intros S E Hh Hl Hw F D. rewrite project_R, F, D, E, <- sum_blocks.
    rewrite (sum_ext L_small _ (fun t => one_if (t =? l) *
      sum w (fun x => entry (slot (h * L_small + t)%nat) x * W x c))).
    - rewrite (sum_one L_small _ true l (fun t => sum w (fun x => entry (slot (h * L_small + t)%nat) x * W x c)))
        by reflexivity.
      cbn [andb]. rewrite (proj2 (Nat.ltb_lt _ _) Hl). simpl. ring.
    - intros t Ht. rewrite <- sum_scal. apply sum_ext. intros x Hx. unfold stacked.
      rewrite <- (Nat.div_unique (t * w + x) w t x), <- (Nat.mod_unique (t * w + x) w t x) by lia.
      replace (h * L_small * w + (t * w + x))%nat with ((h * L_small + t) * w + x)%nat by ring.
      rewrite (entry_packed _ w) by (try apply slot_exists; auto).
      destruct (t =? l); simpl; ring.
  Qed.

  (** Head h of layer l, on a sequence whose slot (h, l) still holds the instance's tokens. *)
  Lemma lane_head_output (slot : nat -> nat -> Token R) (Y : Sequence R) h l p :
    (forall p, (p < n)%nat -> Y p = packed (H_small * L_small) (slot p)) -> (forall p s, length (slot p s) = w) ->
    (forall p, slot p (h * L_small + l)%nat = X (h * L_small + l)%nat p) ->
    (h < H_small)%nat -> (l < L_small)%nat -> (p < n)%nat ->
    head_output (direct n mask) Y p (lane_head l h) =
    head_output (direct n mask) (X (h * L_small + l)%nat) p (instance_head (h * L_small + l)).
  Proof.
    intros E S I Hh Hl Hp. unfold head_output. cbn [outer lane_head instance_head].
    destruct (Nat.eq_dec w 0) as [Z|Z]; [rewrite Z; reflexivity|].
    apply map_ext. intro x.
    assert (P : forall W q c, (q < n)%nat ->
      project (lane_head l h) (stacked l W) Y q c =
      project (instance_head (h * L_small + l)) W (X (h * L_small + l)%nat) q c).
    { intros W q c Hq. rewrite (project_stacked (slot q) Y h l) by (try reflexivity; auto; lia).
      rewrite I, project_R. reflexivity. }
    apply attention_same; intros q Hq.
    - apply head_weight_same; [reflexivity | |]; intro c; apply P; assumption.
    - apply P, Hq.
  Qed.

  (** After k layers, slots of the first k layers hold outputs and all others still hold their tokens. *)
  Theorem residual_packing k :
    (k <= L_small)%nat ->
    agree n (packed_run k) (fun p => packed (H_small * L_small) (fun s => slot_after k s p)).
  Proof.
    induction k as [|k IH]; intros Hk p Hp; [reflexivity|].
    specialize (IH ltac:(lia)).
    unfold packed_run, run in *. rewrite seq_S, map_app, fold_left_app. cbn [map fold_left Nat.add].
    set (Y := fold_left _ _ _) in *. unfold run_layer. cbn [mlp packed_layer heads].
    apply packed_same. intros s Hs.
    pose proof (Nat.div_mod s L_small ltac:(nia)) as D. pose proof (Nat.mod_upper_bound s L_small ltac:(nia)) as U.
    assert (G : (s / L_small < H_small)%nat) by (apply Nat.div_lt_upper_bound; nia).
    destruct (Nat.eqb_spec (s mod L_small) k) as [M|M].
    - unfold slot_after. rewrite (proj2 (Nat.ltb_lt _ _)) by lia.
      unfold instance_output, run, run_layer. cbn [fold_left mlp heads instance_layer flat_map]. rewrite app_nil_r.
      f_equal.
      rewrite flat_map_concat_map, map_map, <- flat_map_concat_map.
      change (flat_map _ (seq 0 H_small)) with
        (packed H_small (fun h => head_output (direct n mask) Y p (lane_head k h))).
      rewrite cut_packed; [| |exact G].
      + replace s with (s / L_small * L_small + k)%nat at 2 3 by lia.
        apply (lane_head_output (fun q s => slot_after k s q)); try assumption.
        * intros. apply slot_after_width.
        * intro q. unfold slot_after.
          rewrite <- (Nat.mod_unique (s / L_small * L_small + k) L_small (s / L_small) k) by lia.
          rewrite Nat.ltb_irrefl. reflexivity.
      + intros h _. unfold head_output. rewrite map_length, seq_length. reflexivity.
    - rewrite (IH p Hp), cut_packed by (try exact Hs; intros; apply slot_after_width).
      unfold slot_after. destruct (Nat.ltb_spec (s mod L_small) k), (Nat.ltb_spec (s mod L_small) (S k));
        try reflexivity; lia.
  Qed.

  (** Lemma 3.3, repaired: the transformer's output is the instances' outputs, side by side. *)
  Theorem lemma_3_3 p s :
    (p < n)%nat -> (s < H_small * L_small)%nat -> cut w s (packed_run L_small p) = instance_output s p.
  Proof.
    intros Hp Hs. rewrite (residual_packing L_small (le_n _) p Hp).
    rewrite cut_packed by (try exact Hs; intros; apply slot_after_width).
    unfold slot_after. rewrite (proj2 (Nat.ltb_lt _ _)); [reflexivity | apply Nat.mod_upper_bound; nia].
  Qed.

  (** Its shape: L' layers of H' heads, which share the embedding dimension H' L' w. *)
  Theorem lemma_3_3_shape k :
    length (map packed_layer (seq 0 L_small)) = L_small /\
    (forall l, length (heads (packed_layer l)) = H_small) /\
    (forall p, (p < n)%nat -> (k <= L_small)%nat -> length (packed_run k p) = (H_small * L_small * w)%nat).
  Proof.
    split; [|split]; intros.
    - rewrite map_length. apply seq_length.
    - cbn. rewrite map_length. apply seq_length.
    - rewrite (residual_packing k) by assumption. apply packed_length. intros. apply slot_after_width.
  Qed.
End Lemma_3_3.

(** ** The printed packing, without residual connection

    H' = 1, L' = 2, w = 1, two tokens. All scores of the instance of layer 1 are 0; its tokens are 0, and the waiting
    instance's tokens are x_0 and x_1. W_V takes both slots, as 3.3.sketch has it. *)

Definition printed_head (W : nat -> nat -> R) : Head R :=
  {| first := 0; wide := 2; inner := 1; outer := 2;
     W_Q := fun _ _ => 0; W_K := fun _ _ => 0; W_V := W |}.

Definition printed_layer (W : nat -> nat -> R) (psi : Token R -> nat -> Token R) : Layer R :=
  {| heads := [printed_head W]; mlp := fun attended p _ => psi attended p |}.

Definition two_tokens (x0 x1 : R) : Sequence R := fun p => [0; if p =? 0 then x0 else x1].

Lemma printed_head_averages W x0 x1 p c :
  direct 2 full (printed_head W) (two_tokens x0 x1) p c = (x0 + x1) / 2 * W 1%nat c.
Proof.
  assert (E : forall i j, head_weight (printed_head W) (two_tokens x0 x1) i j = 1).
  { intros. rewrite head_weight_R, <- exp_0. f_equal. unfold dot. cbn [sum inner printed_head].
    rewrite !project_R. cbn. ring. }
  unfold direct. rewrite attention_R. cbn [sum one_if full]. rewrite !E. unfold head_value. rewrite !project_R.
  unfold entry. cbn. field.
Qed.

(** Layer 2 finds the average of x_0 and x_1 where the waiting instance was. *)
Theorem printed_packing_averages x0 x1 p :
  run_layer (direct 2 full) (two_tokens x0 x1)
    (printed_layer (fun y c => if y =? c then 1 else 0) (fun attended _ => attended)) p = [0; (x0 + x1) / 2].
Proof.
  unfold run_layer, printed_layer, head_output. cbn [mlp heads flat_map outer printed_head seq map app].
  rewrite !printed_head_averages. cbn. f_equal; [ring | f_equal; ring].
Qed.

(** No value weights and no layer MLP, even one that knows the position, hand on what waits. *)
Theorem printed_packing_fails W psi :
  ~ (forall x0 x1 p, (p < 2)%nat ->
       entry (run_layer (direct 2 full) (two_tokens x0 x1) (printed_layer W psi) p) 1 =
       entry (two_tokens x0 x1 p) 1).
Proof.
  intro P. pose proof (P 0 2 0%nat ltac:(lia)) as A. pose proof (P 2 0 0%nat ltac:(lia)) as B.
  unfold run_layer, printed_layer, head_output in A, B.
  cbn [mlp heads flat_map outer printed_head seq map app] in A, B.
  rewrite !printed_head_averages in A, B. replace (2 + 0) with (0 + 2) in B by ring.
  rewrite A in B. cbn in B. lra.
Qed.
