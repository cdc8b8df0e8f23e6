(** Theorem 3.5 / B.5 for one head: causal attention by calls to a causal oracle.

    A block meets itself in order (Claim B.6). A later block meets an earlier one in order, which gives the keys
    whose place in the block is at most the query's, and reversed, which gives the others. The halves are told
    apart by the place within the block; the printed split, by absolute positions, is refuted in Refutations_3_B. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Schedules Reconstruction Coverage.
Import ListNotations.
Open Scope R_scope.

(** Definition 2.3 on the large input. *)
Definition causal_mask (i j : nat) : bool := j <=? i.

(** Reversed blocks: query i meets key j just if its place is the smaller. *)
Lemma REVERSED_meetings N n u t i j :
  (0 < n)%nat -> (i < N)%nat -> (j < N)%nat ->
  meetings_in causal (REVERSED N n u t) i j =
  one_if (i / n =? u) * one_if (j / n =? t) * one_if (i mod n <? j mod n).
Proof.
  intros Hn Hi Hj.
  pose proof (Nat.mod_upper_bound i n ltac:(lia)) as Pi. pose proof (Nat.mod_upper_bound j n ltac:(lia)) as Pj.
  set (p := (i mod n)%nat) in *. set (q := (j mod n)%nat) in *.
  rewrite (meetings_one causal _ (n - 1) (fun p => place N (u * n + (n - 2 - p)))
             (fun q => place N (t * n + (n - 1 - q))) i j
             ((i / n =? u) && (p <? n - 1)) (n - 2 - p) ((j / n =? t) && (1 <=? q)) (n - 1 - q));
    try reflexivity.
  - change (causal (S (n - 2 - p)) (S (n - 1 - q))) with (n - 1 - q <=? n - 2 - p).
    destruct (i / n =? u), (j / n =? t); cbn [andb one_if]; try ring.
    destruct (Nat.ltb_spec p (n - 1)), (Nat.ltb_spec (n - 2 - p) (n - 1)), (Nat.leb_spec 1 q),
      (Nat.ltb_spec (n - 1 - q) (n - 1)), (Nat.leb_spec (n - 1 - q) (n - 2 - p)), (Nat.ltb_spec p q);
      cbn [andb one_if]; try ring; lia.
  - intros k Hk. rewrite holds_place by exact Hi. rewrite at_place by lia. fold p.
    destruct (i / n =? u); cbn [andb]; [|reflexivity].
    destruct (Nat.eqb_spec (n - 2 - k) p), (Nat.ltb_spec p (n - 1)), (Nat.eqb_spec k (n - 2 - p)); try reflexivity; lia.
  - intros k Hk. rewrite holds_place by exact Hj. rewrite at_place by lia. fold q.
    destruct (j / n =? t); cbn [andb]; [|reflexivity].
    destruct (Nat.eqb_spec (n - 1 - k) q), (Nat.leb_spec 1 q), (Nat.eqb_spec k (n - 1 - q)); try reflexivity; lia.
Qed.

(** A block with one position has no second half, and no call is made for it. *)
Lemma reversed_meetings N n u t i j :
  (0 < n)%nat -> (i < N)%nat -> (j < N)%nat ->
  meetings causal (reversed N n u t) i j =
  one_if (i / n =? u) * one_if (j / n =? t) * one_if (i mod n <? j mod n).
Proof.
  intros Hn Hi Hj. unfold reversed. destruct (Nat.leb_spec 2 n).
  - unfold meetings. cbn [lsum]. rewrite REVERSED_meetings by assumption. cbn. ring.
  - pose proof (Nat.mod_upper_bound j n ltac:(lia)).
    destruct (Nat.ltb_spec (i mod n) (j mod n)); [lia|]. cbn. ring.
Qed.

(** j <= i in terms of blocks and places. *)
Lemma at_most_by_blocks n i j :
  (0 < n)%nat ->
  (j <=? i) = ((j / n =? i / n) && (j mod n <=? i mod n)) || (j / n <? i / n).
Proof.
  intro Hn. pose proof (Nat.div_mod i n ltac:(lia)). pose proof (Nat.div_mod j n ltac:(lia)).
  pose proof (Nat.mod_upper_bound i n ltac:(lia)). pose proof (Nat.mod_upper_bound j n ltac:(lia)).
  set (p := (i mod n)%nat) in *. set (q := (j mod n)%nat) in *.
  set (u := (i / n)%nat) in *. set (t := (j / n)%nat) in *. clearbody p q u t.
  destruct (Nat.eqb_spec t u) as [E|D], (Nat.ltb_spec t u); cbn [andb orb]; try lia.
  - subst t. rewrite orb_false_r. destruct (Nat.leb_spec q p), (Nat.leb_spec j i); try lia; reflexivity.
  - apply Nat.leb_le. nia.
  - apply Nat.leb_gt. nia.
Qed.

Section Theorem_3_5.
  Variable a : nat -> nat -> R.
  Variable c : R.
  Variable v : nat -> nat -> R.
  Hypothesis a_positive : forall i j, 0 < a i j.
  Hypothesis c_positive : 0 < c.

  Variables N n T : nat.
  Hypothesis n_positive : (0 < n)%nat.
  Hypothesis enough : (N <= T * n)%nat.

  Lemma in_causal_schedule call :
    In call (causal_schedule N n T) -> exists u t, call = PAIRS N n u t \/ call = REVERSED N n u t.
  Proof.
    unfold causal_schedule. rewrite !in_app_iff, !in_flat_map, in_map_iff.
    intros [(t & <- & _) | [(u & _ & I) | (u & _ & I)]].
    - exists t, t. left. reflexivity.
    - apply in_map_iff in I. destruct I as (t & <- & _). exists u, t. left. reflexivity.
    - apply in_flat_map in I. destruct I as (t & _ & I). unfold reversed in I.
      destruct (2 <=? n); [destruct I as [<-|[]] | destruct I]. exists u, t. right. reflexivity.
  Qed.

  Lemma causal_begins call : In call (causal_schedule N n T) -> begins_synthetic call.
  Proof.
    intro I. destruct (in_causal_schedule call I) as (u & t & [-> | ->]); repeat split; simpl; lia.
  Qed.

  Lemma causal_sound i call : In call (causal_schedule N n T) -> sound causal N i call.
  Proof.
    intro I. apply sound_if; [apply causal_sees_first | apply causal_begins, I |].
    destruct (in_causal_schedule call I) as (u & t & [-> | ->]); [apply PAIRS_inside|].
    intros q j _. simpl. apply after_one_inside. intros q' j'. apply place_inside.
  Qed.

  Lemma query_block_in_range i : (i < N)%nat -> (i / n < T)%nat.
  Proof. intro Hi. apply Nat.div_lt_upper_bound; lia. Qed.

  (** Block u with block t: the keys at places up to the query's; over all t before u, and u itself. *)
  Lemma diagonal_meetings i j :
    (i < N)%nat -> (j < N)%nat ->
    meetings causal (map (fun t => PAIRS N n t t) (seq 0 T)) i j =
    one_if (j / n =? i / n) * one_if (j mod n <=? i mod n).
  Proof.
    intros Hi Hj. rewrite meetings_map_seq.
    transitivity (sum T (fun t => one_if (true && (i / n =? t)) *
      (one_if (j / n =? i / n) * one_if (j mod n <=? i mod n)))).
    - apply sum_ext. intros t _. rewrite PAIRS_meetings by assumption. cbn.
      destruct (Nat.eqb_spec (i / n) t) as [<-|_]; cbn; ring.
    - rewrite sum_scal_r, sum_one_if. destruct (Nat.ltb_spec (i / n) T); [cbn; ring|].
      pose proof (query_block_in_range i Hi). lia.
  Qed.

  Lemma earlier_blocks i j (calls : nat -> nat -> list Call) g :
    (i < N)%nat -> (j < N)%nat ->
    (forall u t, meetings causal (calls u t) i j = one_if (i / n =? u) * one_if (j / n =? t) * g) ->
    meetings causal (flat_map (fun u => flat_map (calls u) (seq 0 u)) (seq 0 T)) i j =
    one_if (j / n <? i / n) * g.
  Proof.
    intros Hi Hj M. rewrite meetings_flat_map_seq.
    transitivity (sum T (fun u => one_if (true && (i / n =? u)) * (one_if (j / n <? i / n) * g))).
    - apply sum_ext. intros u _. rewrite meetings_flat_map_seq.
      rewrite (sum_ext u _ (fun t => one_if (true && (j / n =? t)) * (one_if (i / n =? u) * g)))
        by (intros; rewrite M; cbn; ring).
      rewrite sum_scal_r, sum_one_if. cbn. destruct (Nat.eqb_spec (i / n) u) as [<-|_]; cbn; ring.
    - rewrite sum_scal_r, sum_one_if. destruct (Nat.ltb_spec (i / n) T); [cbn; ring|].
      pose proof (query_block_in_range i Hi). lia.
  Qed.

  Lemma forward_meetings i j :
    (i < N)%nat -> (j < N)%nat ->
    meetings causal (flat_map (fun u => map (PAIRS N n u) (seq 0 u)) (seq 0 T)) i j =
    one_if (j / n <? i / n) * one_if (j mod n <=? i mod n).
  Proof.
    intros Hi Hj.
    rewrite <- (earlier_blocks i j (fun u t => [PAIRS N n u t]) _ Hi Hj).
    - unfold meetings. rewrite !lsum_flat_map. apply lsum_ext. intros u _.
      rewrite lsum_map, lsum_flat_map. apply lsum_ext. intros. cbn [lsum]. ring.
    - intros u t. unfold meetings. cbn [lsum]. rewrite PAIRS_meetings by assumption. cbn. ring.
  Qed.

  Lemma backward_meetings i j :
    (i < N)%nat -> (j < N)%nat ->
    meetings causal (flat_map (fun u => flat_map (reversed N n u) (seq 0 u)) (seq 0 T)) i j =
    one_if (j / n <? i / n) * one_if (i mod n <? j mod n).
  Proof. intros Hi Hj. apply earlier_blocks; auto. intros. apply reversed_meetings; assumption. Qed.

  (** Every pair with j <= i meets in exactly one call, and no other pair does. *)
  Lemma causal_covers i : (i < N)%nat -> covers causal N (causal_schedule N n T) causal_mask i.
  Proof.
    intros Hi j Hj. unfold causal_schedule.
    rewrite !meetings_app, diagonal_meetings, forward_meetings, backward_meetings by assumption.
    unfold causal_mask. rewrite (at_most_by_blocks n i j n_positive).
    destruct (Nat.eqb_spec (j / n) (i / n)), (Nat.ltb_spec (j / n) (i / n)),
      (Nat.leb_spec (j mod n) (i mod n)), (Nat.ltb_spec (i mod n) (j mod n)); cbn [andb orb one_if]; try ring; lia.
  Qed.

  (** Theorem 3.5 for one head, merged and stable. *)
  Theorem theorem_3_5 variant i x :
    (i < N)%nat ->
    simulate causal a c v variant (causal_schedule N n T) i x = attention N causal_mask a (fun j => v j x) i.
  Proof.
    intro Hi. apply reconstruction; try assumption; [apply causal_sound | apply causal_covers, Hi].
  Qed.

  (** The same with two calls per half, as B.5 prints it, its second halves shifted for the values too. *)
  Theorem theorem_3_5_repaired i x :
    (i < N)%nat ->
    simulate_printed causal a c v (each_twice (causal_schedule N n T)) i x =
    attention N causal_mask a (fun j => v j x) i.
  Proof.
    intro Hi. apply reconstruction_twice; try assumption.
    - intro p. apply Nat.leb_refl.
    - reflexivity.
    - apply causal_begins.
    - apply causal_sound.
    - apply causal_covers, Hi.
  Qed.

  Theorem theorem_3_5_denominator variant i :
    (i < N)%nat -> 0 < total (fun k => k) (causal_schedule N n T) (A_row causal a c variant) i.
  Proof.
    intro Hi. rewrite (A_total_is_denominator causal a c a_positive c_positive N _ causal_mask).
    - apply (denominator_positive a a_positive N causal_mask i i Hi). apply Nat.leb_refl.
    - apply causal_sound.
    - apply causal_covers, Hi.
  Qed.

  Theorem theorem_3_5_fits call : In call (causal_schedule N n T) -> (tokens call <= S n)%nat.
  Proof. intro I. destruct (in_causal_schedule call I) as (u & t & [-> | ->]); simpl; lia. Qed.
End Theorem_3_5.

(** The sum that the theorem's right side stands for. *)
Lemma causal_attention_is N a u i :
  (i < N)%nat ->
  attention N causal_mask a u i = sum (S i) (fun j => a i j * u j) / sum (S i) (a i).
Proof.
  intro Hi. rewrite attention_R. unfold causal_mask.
  assert (E : forall f, sum N (fun q => one_if (q <=? i) * f q) = sum (S i) f).
  { intro f. rewrite <- (sum_if_lt N (S i)) by lia. apply sum_ext. intros q _.
    change (q <? S i) with (q <=? i). destruct (q <=? i); simpl; ring. }
  rewrite !E. reflexivity.
Qed.
