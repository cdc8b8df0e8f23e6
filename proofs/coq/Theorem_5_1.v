(** Theorem 5.1 / D.1 for one head: windows of r keys and s sink keys, by calls to a causal oracle.

    Two schedules, both exact for every N, r and s. *Difference*: a chunk of m queries; the sum over the keys from r
    before the chunk to the query, minus the sum to r before the query. *Suffix and prefix*: from position s on,
    groups of r positions; a window is a suffix of one group and a prefix of the next, and nothing is subtracted.
    Sinks stand in the same call as the queries; a key that is a sink and in the window is counted once. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Schedules Reconstruction Coverage.
Import ListNotations.
Open Scope R_scope.

(** Without sinks the mask is Definition 2.4's. *)
Lemma sink_mask_without_sinks r i j : sink_mask r 0 i j = window_mask r i j.
Proof. reflexivity. Qed.

(** ** Rows behind the sinks *)

Lemma sinks_then_key s N g j q :
  (s <= N)%nat -> (q < s)%nat -> (j < N)%nat -> holds (sinks_then s Some g q) j = (q =? j).
Proof. intros L Hq Hj. unfold sinks_then. destruct (Nat.ltb_spec q s); [reflexivity | lia]. Qed.

(** Where a key stands in a chunk's call: a sink in its own place, a later key behind the sinks. *)
Lemma chunk_key_at N m r s c q j :
  (j < N)%nat ->
  holds (chunk_key N m r s c q) j = ((s <=? j) && (c * m <=? j - s + r)) && (q =? j - s + r - c * m).
Proof.
  intro Hj. unfold chunk_key. destruct (Nat.leb_spec r (c * m + q)).
  - rewrite holds_place by exact Hj. apply eq_true_iff_eq. rewrite !andb_true_iff, !Nat.eqb_eq, !Nat.leb_le. lia.
  - symmetry. apply not_true_is_false. rewrite !andb_true_iff, Nat.eqb_eq, !Nat.leb_le. cbn [holds]. lia.
Qed.

Lemma sinks_then_chunk_key N m r s c q j :
  (s <= N)%nat -> (j < N)%nat ->
  holds (sinks_then s Some (chunk_key N m r s c) q) j =
  ((j <? s) || (c * m <=? j - s + r)) && (q =? if j <? s then j else s + (j - s + r - c * m)).
Proof.
  intros L Hj. unfold sinks_then. destruct (Nat.ltb_spec q s).
  - cbn [holds]. apply eq_true_iff_eq.
    rewrite andb_true_iff, orb_true_iff, !Nat.eqb_eq, Nat.ltb_lt, Nat.leb_le.
    destruct (Nat.ltb_spec j s); lia.
  - rewrite chunk_key_at by exact Hj. apply eq_true_iff_eq.
    rewrite !andb_true_iff, orb_true_iff, !Nat.eqb_eq, Nat.ltb_lt, !Nat.leb_le.
    destruct (Nat.ltb_spec j s); lia.
Qed.

(** Position i >= s lies in chunk (i-s) / m. *)
Lemma chunk_place N m s c p i :
  (p < m)%nat -> (i < N)%nat ->
  holds (place N (s + c * m + p)) i = ((s <=? i) && ((i - s) / m =? c)) && (p =? (i - s) mod m).
Proof.
  intros Hp Hi. rewrite holds_place by exact Hi. rewrite <- andb_assoc, <- at_place by exact Hp.
  apply eq_true_iff_eq. rewrite andb_true_iff, !Nat.eqb_eq, Nat.leb_le. lia.
Qed.

Lemma chunk_of m s i : (0 < m)%nat -> (i - s = (i - s) / m * m + (i - s) mod m /\ (i - s) mod m < m)%nat.
Proof.
  intro Hm. pose proof (Nat.div_mod (i - s) m ltac:(lia)). pose proof (Nat.mod_upper_bound (i - s) m ltac:(lia)). lia.
Qed.

(** ** What each family meets *)

Lemma SINKS_meetings s i j :
  meetings_in causal (SINKS s) i j = one_if (i <? s) * one_if (j <=? i).
Proof.
  rewrite (meetings_one causal (SINKS s) s _ _ i j true i true j eq_refl eq_refl eq_refl).
  - change (causal (S i) (S j)) with (j <=? i). cbn [andb].
    destruct (Nat.ltb_spec i s), (Nat.ltb_spec j s), (Nat.leb_spec j i); cbn [one_if]; try ring; lia.
  - intros k Hk. cbn. unfold place. destruct (Nat.ltb_spec k s); [reflexivity | lia].
  - intros k Hk. cbn. unfold place. destruct (Nat.ltb_spec k s); [reflexivity | lia].
Qed.

Section Families.
  Variables N m r s : nat.
  Hypothesis m_positive : (0 < m)%nat.
  Hypothesis sinks_inside : (s <= N)%nat.
  Variables i j : nat.
  Hypothesis Hi : (i < N)%nat.
  Hypothesis Hj : (j < N)%nat.

  Let u := ((i - s) / m)%nat.
  Let p := ((i - s) mod m)%nat.

  Lemma LEAD_meetings c :
    meetings_in causal (LEAD N m r s c) i j =
    one_if ((s <=? i) && (u =? c)) * one_if ((j <=? i) && ((j <? s) || (u * m <=? j - s + r))).
  Proof.
    destruct (chunk_of m s i m_positive) as [E P]. fold u p in E, P.
    rewrite (meetings_one causal (LEAD N m r s c) (s + (r + m)) _ _ i j ((s <=? i) && (u =? c)) (s + (r + p))
      ((j <? s) || (c * m <=? j - s + r)) (if j <? s then j else s + (j - s + r - c * m)) eq_refl eq_refl eq_refl).
    - change (causal (S (s + (r + p))) (S (if j <? s then j else s + (j - s + r - c * m))))
        with ((if j <? s then j else s + (j - s + r - c * m)) <=? s + (r + p)).
      destruct (Nat.leb_spec s i), (Nat.eqb_spec u c) as [<-|]; cbn [andb one_if]; try ring.
      rewrite <- !one_if_and, ?Rmult_1_l. f_equal. apply eq_true_iff_eq.
      rewrite !andb_true_iff, !orb_true_iff, !Nat.ltb_lt, !Nat.leb_le. destruct (Nat.ltb_spec j s); lia.
    - intros k Hk. unfold sinks_then. destruct (Nat.ltb_spec k s).
      + symmetry. apply not_true_is_false. rewrite andb_true_iff, Nat.eqb_eq. lia.
      + destruct (Nat.leb_spec r (k - s)).
        * rewrite chunk_place by (try exact Hi; lia). fold u p. f_equal.
          apply eq_true_iff_eq. rewrite !Nat.eqb_eq. lia.
        * symmetry. apply not_true_is_false. rewrite andb_true_iff, Nat.eqb_eq. lia.
    - intros k _. apply sinks_then_chunk_key; assumption.
  Qed.

  Lemma LAG_meetings c :
    meetings_in causal (LAG N m r s c) i j =
    one_if ((s <=? i) && (u =? c)) * one_if ((s <=? j) && (j + r <=? i) && (u * m <=? j - s + r)).
  Proof.
    destruct (chunk_of m s i m_positive) as [E P]. fold u p in E, P.
    rewrite (meetings_one causal (LAG N m r s c) m _ _ i j ((s <=? i) && (u =? c)) p
      ((s <=? j) && (c * m <=? j - s + r)) (j - s + r - c * m) eq_refl eq_refl eq_refl).
    - change (causal (S p) (S (j - s + r - c * m))) with (j - s + r - c * m <=? p).
      destruct (Nat.leb_spec s i), (Nat.eqb_spec u c) as [<-|]; cbn [andb one_if]; try ring.
      rewrite <- !one_if_and, ?Rmult_1_l. f_equal. apply eq_true_iff_eq.
      rewrite !andb_true_iff, !Nat.ltb_lt, !Nat.leb_le. lia.
    - intros k Hk. apply chunk_place; assumption.
    - intros k _. apply chunk_key_at; assumption.
  Qed.
End Families.

(** A window of r keys is a prefix of the query's group and a suffix of the group before. *)
Lemma window_by_groups r s i j :
  (0 < r)%nat -> (s <= i)%nat -> (s <= j)%nat ->
  (j <=? i) && (i <? j + r) =
  (((j - s) / r =? (i - s) / r) && ((j - s) mod r <=? (i - s) mod r)) ||
  (((j - s) / r + 1 =? (i - s) / r) && ((i - s) mod r <? (j - s) mod r)).
Proof.
  intros Hr Si Sj. destruct (chunk_of r s i Hr) as (E & P). destruct (chunk_of r s j Hr) as (F & Q).
  set (u := ((i - s) / r)%nat) in *. set (p := ((i - s) mod r)%nat) in *.
  set (t := ((j - s) / r)%nat) in *. set (q := ((j - s) mod r)%nat) in *. clearbody u p t q.
  apply eq_true_iff_eq. rewrite orb_true_iff, !andb_true_iff, !Nat.ltb_lt, !Nat.leb_le, !Nat.eqb_eq. split.
  - intros [L W]. assert (t <= u)%nat by nia. assert (u <= t + 1)%nat by nia.
    destruct (Nat.eq_dec t u) as [->|D]; [left; lia|]. right. replace u with (t + 1)%nat in * by lia. lia.
  - intros [[-> L] | [<- L]]; lia.
Qed.

Section Groups.
  Variables N r s : nat.
  Hypothesis r_positive : (0 < r)%nat.
  Hypothesis sinks_inside : (s <= N)%nat.
  Variables i j : nat.
  Hypothesis Hi : (i < N)%nat.
  Hypothesis Hj : (j < N)%nat.

  Let u := ((i - s) / r)%nat.
  Let p := ((i - s) mod r)%nat.
  Let t := ((j - s) / r)%nat.
  Let q := ((j - s) mod r)%nat.

  Lemma PREFIX_meetings c :
    meetings_in causal (PREFIX N r s c) i j =
    one_if ((s <=? i) && (u =? c)) * one_if ((j <? s) || (t =? u) && (q <=? p)).
  Proof.
    destruct (chunk_of r s i r_positive) as (E & P). destruct (chunk_of r s j r_positive) as (F & Q).
    fold u p in E, P. fold t q in F, Q.
    rewrite (meetings_one causal (PREFIX N r s c) (s + r) _ _ i j ((s <=? i) && (u =? c)) (s + p)
      ((j <? s) || (t =? c)) (if j <? s then j else s + q) eq_refl eq_refl eq_refl).
    - change (causal (S (s + p)) (S (if j <? s then j else s + q)))
        with ((if j <? s then j else s + q) <=? s + p).
      destruct (Nat.leb_spec s i), (Nat.eqb_spec u c) as [<-|]; cbn [andb one_if]; try ring.
      rewrite <- !one_if_and, ?Rmult_1_l. f_equal. apply eq_true_iff_eq.
      rewrite !andb_true_iff, !orb_true_iff, !andb_true_iff, !Nat.ltb_lt, !Nat.leb_le, !Nat.eqb_eq.
      destruct (Nat.ltb_spec j s); lia.
    - intros k Hk. unfold sinks_then. destruct (Nat.ltb_spec k s).
      + symmetry. apply not_true_is_false. rewrite andb_true_iff, Nat.eqb_eq. lia.
      + rewrite chunk_place by (try exact Hi; lia). fold u p. f_equal.
        apply eq_true_iff_eq. rewrite !Nat.eqb_eq. lia.
    - intros k Hk. unfold sinks_then. destruct (Nat.ltb_spec k s).
      + cbn [holds]. apply eq_true_iff_eq.
        rewrite andb_true_iff, orb_true_iff, !Nat.eqb_eq, Nat.ltb_lt. destruct (Nat.ltb_spec j s); lia.
      + rewrite chunk_place by (try exact Hj; lia). fold t q. apply eq_true_iff_eq.
        rewrite !andb_true_iff, orb_true_iff, !Nat.eqb_eq, Nat.ltb_lt, Nat.leb_le.
        destruct (Nat.ltb_spec j s); lia.
  Qed.

  Lemma SUFFIX_meetings c :
    meetings_in causal (SUFFIX N r s c) i j =
    one_if ((s <=? i) && (u =? c + 1)) * one_if ((s <=? j) && (t + 1 =? u) && (p <? q)).
  Proof.
    destruct (chunk_of r s i r_positive) as (E & P). destruct (chunk_of r s j r_positive) as (F & Q).
    fold u p in E, P. fold t q in F, Q.
    rewrite (meetings_one causal (SUFFIX N r s c) (r - 1) _ _ i j ((s <=? i) && (u =? c + 1) && (p <? r - 1)) (r - 2 - p)
      ((s <=? j) && (t =? c) && (1 <=? q)) (r - 1 - q) eq_refl eq_refl eq_refl).
    - change (causal (S (r - 2 - p)) (S (r - 1 - q))) with (r - 1 - q <=? r - 2 - p).
      rewrite <- !one_if_and, ?Rmult_1_l. f_equal. apply eq_true_iff_eq.
      rewrite !andb_true_iff, !Nat.ltb_lt, !Nat.leb_le, !Nat.eqb_eq. lia.
    - intros k Hk. rewrite chunk_place by (try exact Hi; lia). fold u p. apply eq_true_iff_eq.
      rewrite !andb_true_iff, !Nat.eqb_eq, Nat.ltb_lt, Nat.leb_le. lia.
    - intros k Hk. rewrite chunk_place by (try exact Hj; lia). fold t q. apply eq_true_iff_eq.
      rewrite !andb_true_iff, !Nat.eqb_eq, !Nat.leb_le. lia.
  Qed.
End Groups.

(** ** The theorem *)

Section Theorem_5_1.
  Variable a : nat -> nat -> R.
  Variable c : R.
  Variable v : nat -> nat -> R.
  Hypothesis a_positive : forall i j, 0 < a i j.
  Hypothesis c_positive : 0 < c.

  Variables N r s : nat.
  Hypothesis sinks_inside : (s <= N)%nat.
  Hypothesis r_positive : (0 < r)%nat.

  Lemma sink_calls_meetings i j :
    (i < N)%nat -> (j < N)%nat ->
    meetings causal (sink_calls s) i j = one_if (i <? s) * one_if (j <=? i).
  Proof.
    intros Hi Hj. unfold sink_calls. destruct (Nat.eqb_spec s 0) as [->|].
    - cbn. ring.
    - unfold meetings. cbn [lsum]. rewrite SINKS_meetings. cbn. ring.
  Qed.

  (** A sum over the calls of a family picks query i's chunk. *)
  Lemma pick_chunk m i g :
    (0 < m)%nat -> (i < N)%nat ->
    sum (ceil_div (N - s) m) (fun k => one_if ((s <=? i) && ((i - s) / m =? k)) * g) = one_if (s <=? i) * g.
  Proof.
    intros Hm Hi. rewrite sum_scal_r, sum_one_if. destruct (Nat.leb_spec s i); cbn [andb].
    - destruct (Nat.ltb_spec ((i - s) / m) (ceil_div (N - s) m)) as [|G]; [reflexivity|].
      pose proof (block_below (N - s) m (i - s) Hm). lia.
    - reflexivity.
  Qed.

  Lemma sinks_then_inside f p j :
    (forall p j, f p = Some j -> (j < N)%nat) -> sinks_then s Some f p = Some j -> (j < N)%nat.
  Proof.
    intros I. unfold sinks_then. destruct (Nat.ltb_spec p s); [|apply I].
    intro E. inversion E. lia.
  Qed.

  Lemma chunk_key_inside m c' q j : chunk_key N m r s c' q = Some j -> (j < N)%nat.
  Proof. unfold chunk_key. destruct (r <=? c' * m + q); [apply place_inside | discriminate]. Qed.

  Lemma sink_calls_fine call :
    In call (sink_calls s) -> begins_synthetic call /\ keys_inside N call.
  Proof.
    unfold sink_calls. destruct (s =? 0); [intros [] | intros [<-|[]]]. split.
    - repeat split. simpl. lia.
    - intros q j _. simpl. apply after_one_inside. intros q' j' P. apply place_inside in P. lia.
  Qed.

  Section Difference.
    Variable m : nat.
    Hypothesis m_positive : (0 < m)%nat.

    Lemma difference_fine call :
      In call (difference N m r s) -> begins_synthetic call /\ keys_inside N call.
    Proof.
      unfold difference. rewrite !in_app_iff, !in_map_iff. intros [I | [(k & <- & _) | (k & <- & _)]].
      - apply sink_calls_fine, I.
      - split; [repeat split; simpl; lia|]. intros q j _. simpl. apply after_one_inside.
        intros q' j'. apply sinks_then_inside, chunk_key_inside.
      - split; [repeat split; simpl; lia|]. intros q j _. simpl. apply after_one_inside.
        apply chunk_key_inside.
    Qed.

    Lemma difference_sound i call : In call (difference N m r s) -> sound causal N i call.
    Proof. intro I. destruct (difference_fine call I). apply sound_if; auto using causal_sees_first. Qed.

    (** Counted with its sign, every pair that the mask allows meets once, and no other pair does. *)
    Lemma difference_covers i : (i < N)%nat -> covers causal N (difference N m r s) (sink_mask r s) i.
    Proof.
      intros Hi j Hj. unfold difference. rewrite !meetings_app, sink_calls_meetings, !meetings_map_seq by assumption.
      rewrite (sum_ext _ _ (fun k => one_if ((s <=? i) && ((i - s) / m =? k)) *
        one_if ((j <=? i) && ((j <? s) || ((i - s) / m * m <=? j - s + r)))))
        by (intros; rewrite LEAD_meetings by assumption; cbn; ring).
      rewrite (sum_ext _ (fun k => sign (LAG N m r s k) * _)
        (fun k => one_if ((s <=? i) && ((i - s) / m =? k)) *
        - one_if ((s <=? j) && (j + r <=? i) && ((i - s) / m * m <=? j - s + r))))
        by (intros; rewrite LAG_meetings by assumption; cbn; ring).
      rewrite !pick_chunk by assumption.
      destruct (chunk_of m s i m_positive) as [E P].
      set (u := ((i - s) / m)%nat) in *. set (p := ((i - s) mod m)%nat) in *. clearbody u p.
      unfold sink_mask.
      destruct (Nat.leb_spec s i), (Nat.ltb_spec i s), (Nat.leb_spec j i), (Nat.ltb_spec j s),
        (Nat.leb_spec (u * m) (j - s + r)), (Nat.leb_spec s j), (Nat.leb_spec (j + r) i), (Nat.ltb_spec i (j + r));
        cbn [andb orb one_if]; try ring; exfalso; lia.
    Qed.

    (** Theorem 5.1 by differences, merged and stable. *)
    Theorem theorem_5_1_difference variant i x :
      (i < N)%nat ->
      simulate causal a c v variant (difference N m r s) i x = attention N (sink_mask r s) a (fun j => v j x) i.
    Proof.
      intro Hi. apply reconstruction; try assumption; [apply difference_sound | apply difference_covers, Hi].
    Qed.

    (** The same with two calls for each, as D.1 prints it. *)
    Theorem theorem_5_1_printed i x :
      (i < N)%nat ->
      simulate_printed causal a c v (each_twice (difference N m r s)) i x =
      attention N (sink_mask r s) a (fun j => v j x) i.
    Proof.
      intro Hi. apply reconstruction_twice; try assumption.
      - intro p. apply Nat.leb_refl.
      - reflexivity.
      - intros call I. apply difference_fine, I.
      - apply difference_sound.
      - apply difference_covers, Hi.
    Qed.

    (** A call of M = m + r + s + 1 tokens answers m queries. *)
    Theorem difference_fits call : In call (difference N m r s) -> (tokens call <= S (s + (r + m)))%nat.
    Proof.
      unfold difference, sink_calls. rewrite !in_app_iff, !in_map_iff.
      intros [I | [(k & <- & _) | (k & <- & _)]]; [destruct (s =? 0); [destruct I | destruct I as [<-|[]]] | |];
        simpl; lia.
    Qed.
  End Difference.

  Lemma suffix_prefix_fine call :
    In call (suffix_prefix N r s) -> begins_synthetic call /\ keys_inside N call.
  Proof.
    unfold suffix_prefix. rewrite !in_app_iff, in_map_iff. intros [I | [(k & <- & _) | I]].
    - apply sink_calls_fine, I.
    - split; [repeat split; simpl; lia|]. intros q j _. simpl. apply after_one_inside.
      intros q' j'. apply sinks_then_inside. intros q'' j''. apply place_inside.
    - unfold suffix_calls in I. destruct (2 <=? r); [|destruct I]. apply in_map_iff in I. destruct I as (k & <- & _).
      split; [repeat split; simpl; lia|]. intros q j _. simpl. apply after_one_inside.
      intros q' j'. apply place_inside.
  Qed.

  Lemma suffix_prefix_sound i call : In call (suffix_prefix N r s) -> sound causal N i call.
  Proof. intro I. destruct (suffix_prefix_fine call I). apply sound_if; auto using causal_sees_first. Qed.

  Lemma suffix_calls_meetings i j :
    (i < N)%nat -> (j < N)%nat ->
    meetings causal (suffix_calls N r s) i j =
    one_if (s <=? i) * one_if ((s <=? j) && ((j - s) / r + 1 =? (i - s) / r) && ((i - s) mod r <? (j - s) mod r)).
  Proof.
    intros Hi Hj. destruct (chunk_of r s i r_positive) as (E & P). destruct (chunk_of r s j r_positive) as (F & Q).
    unfold suffix_calls. destruct (Nat.leb_spec 2 r).
    - rewrite meetings_map_seq.
      set (g := one_if (_ && (_ =? _) && _)).
      set (u := ((i - s) / r)%nat) in *. set (p := ((i - s) mod r)%nat) in *.
      rewrite (sum_ext _ _ (fun k => one_if (((s <=? i) && (1 <=? u)) && (u - 1 =? k)) * g)).
      + rewrite sum_scal_r, sum_one_if. unfold g.
        set (t := ((j - s) / r)%nat) in *. set (q := ((j - s) mod r)%nat) in *.
        destruct (Nat.leb_spec s i); cbn [andb one_if]; [|ring].
        destruct (Nat.eqb_spec (t + 1) u); [|rewrite andb_false_r; cbn [andb one_if]; ring].
        rewrite (proj2 (Nat.leb_le 1 u)) by lia.
        rewrite (proj2 (Nat.ltb_lt (u - 1) _)); [reflexivity|].
        apply ceil_div_spec; [exact r_positive|]. clearbody u p t q. nia.
      + intros k _. rewrite SUFFIX_meetings by assumption. fold u p. fold g. cbn [sign minus SUFFIX].
        rewrite Rmult_1_l. f_equal. f_equal. apply eq_true_iff_eq.
        rewrite !andb_true_iff, !Nat.leb_le, !Nat.eqb_eq. lia.
    - destruct (Nat.ltb_spec ((i - s) mod r) ((j - s) mod r)); [lia|]. rewrite andb_false_r. cbn. ring.
  Qed.

  Lemma suffix_prefix_covers i : (i < N)%nat -> covers causal N (suffix_prefix N r s) (sink_mask r s) i.
  Proof.
    intros Hi j Hj. unfold suffix_prefix.
    rewrite !meetings_app, sink_calls_meetings, suffix_calls_meetings, meetings_map_seq by assumption.
    rewrite (sum_ext _ _ (fun k => one_if ((s <=? i) && ((i - s) / r =? k)) *
      one_if ((j <? s) || ((j - s) / r =? (i - s) / r) && ((j - s) mod r <=? (i - s) mod r))))
      by (intros; rewrite PREFIX_meetings by assumption; cbn; ring).
    rewrite pick_chunk by assumption. unfold sink_mask.
    destruct (Nat.leb_spec s i), (Nat.ltb_spec i s); try lia; cbn [andb orb one_if].
    - destruct (Nat.ltb_spec j s), (Nat.leb_spec s j); try lia; cbn [andb orb one_if].
      + rewrite (proj2 (Nat.leb_le j i)) by lia. cbn. ring.
      + rewrite (window_by_groups r s i j) by assumption.
        destruct (Nat.eqb_spec ((j - s) / r) ((i - s) / r)), (Nat.eqb_spec ((j - s) / r + 1) ((i - s) / r));
          try lia; cbn [andb orb one_if]; rewrite ?orb_false_r; ring.
    - destruct (Nat.leb_spec j i), (Nat.ltb_spec j s); cbn [andb orb one_if]; try ring; exfalso; lia.
  Qed.

  (** Theorem 5.1 by suffixes and prefixes, each group in calls of its own. *)
  Theorem theorem_5_1_suffix_prefix variant i x :
    (i < N)%nat ->
    simulate causal a c v variant (suffix_prefix N r s) i x = attention N (sink_mask r s) a (fun j => v j x) i.
  Proof.
    intro Hi. apply reconstruction; try assumption; [apply suffix_prefix_sound | apply suffix_prefix_covers, Hi].
  Qed.

  Theorem suffix_prefix_fits call : In call (suffix_prefix N r s) -> (tokens call <= S (s + r))%nat.
  Proof.
    unfold suffix_prefix, sink_calls, suffix_calls. rewrite !in_app_iff, in_map_iff.
    intros [I | [(k & <- & _) | I]].
    - destruct (s =? 0); [destruct I | destruct I as [<-|[]]]. simpl. lia.
    - simpl. lia.
    - destruct (2 <=? r); [|destruct I]. apply in_map_iff in I. destruct I as (k & <- & _). simpl. lia.
  Qed.

  (** Nothing is subtracted. *)
  Theorem suffix_prefix_no_subtraction call : In call (suffix_prefix N r s) -> minus call = false.
  Proof.
    unfold suffix_prefix, sink_calls, suffix_calls. rewrite !in_app_iff, in_map_iff.
    intros [I | [(k & <- & _) | I]].
    - destruct (s =? 0); [destruct I | destruct I as [<-|[]]]. reflexivity.
    - reflexivity.
    - destruct (2 <=? r); [|destruct I]. apply in_map_iff in I. destruct I as (k & <- & _). reflexivity.
  Qed.

  (** Every query may attend at least to itself: no denominator is zero. *)
  Theorem theorem_5_1_denominator variant i :
    (i < N)%nat -> 0 < total (fun k => k) (suffix_prefix N r s) (A_row causal a c variant) i.
  Proof.
    intro Hi. rewrite (A_total_is_denominator causal a c a_positive c_positive N _ (sink_mask r s)).
    - apply (denominator_positive a a_positive N (sink_mask r s) i i Hi). unfold sink_mask.
      rewrite Nat.leb_refl, (proj2 (Nat.ltb_lt i (i + r))) by lia. apply orb_true_r.
    - apply suffix_prefix_sound.
    - apply suffix_prefix_covers, Hi.
  Qed.
End Theorem_5_1.
