(** Tools for coverage: how often one call lets query i meet key j. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Schedules Reconstruction.
Import ListNotations.
Open Scope R_scope.

(** At most one index k satisfies the condition, and it does so if P. *)
Lemma sum_one m (b : nat -> bool) P k (g : nat -> R) :
  (forall q, (q < m)%nat -> b q = P && (q =? k)) ->
  sum m (fun q => one_if (b q) * g q) = one_if (P && (k <? m)) * g k.
Proof.
  intro B. transitivity (sum m (fun q => if q =? k then one_if P * g q else 0)).
  - apply sum_ext. intros q Hq. rewrite B by exact Hq. destruct P, (q =? k); simpl; ring.
  - rewrite sum_indicator. destruct P, (k <? m); simpl; ring.
Qed.

Lemma sum_one_if m P k : sum m (fun t => one_if (P && (k =? t))) = one_if (P && (k <? m)).
Proof.
  rewrite (sum_ext _ _ (fun t => one_if (P && (t =? k)) * 1)).
  - rewrite (sum_one m _ P k (fun _ => 1)) by reflexivity. ring.
  - intros. rewrite Nat.eqb_sym. ring.
Qed.

(** ** Positions *)

Lemma holds_place N x i : (i < N)%nat -> holds (place N x) i = (x =? i).
Proof.
  intro Hi. unfold place. destruct (Nat.ltb_spec x N); simpl; [reflexivity|].
  symmetry. apply Nat.eqb_neq. lia.
Qed.

Lemma place_inside N x j : place N x = Some j -> (j < N)%nat.
Proof. unfold place. destruct (Nat.ltb_spec x N); intro E; inversion E; subst; assumption. Qed.

(** Place p of block u is position i just if u = i / n and p = i mod n. *)
Lemma at_place u n p i :
  (p < n)%nat -> (u * n + p =? i) = (i / n =? u) && (p =? i mod n).
Proof.
  intro Hp. pose proof (Nat.div_mod i n ltac:(lia)). pose proof (Nat.mod_upper_bound i n ltac:(lia)).
  apply eq_true_iff_eq. rewrite andb_true_iff, !Nat.eqb_eq. split.
  - intros <-. split; [symmetry; apply (Nat.div_unique _ n u p) | apply (Nat.mod_unique _ n u p)]; lia.
  - intros [<- ->]. lia.
Qed.

Lemma ceil_div_spec N n c : (0 < n)%nat -> (c < ceil_div N n <-> c * n < N)%nat.
Proof.
  intro Hn. unfold ceil_div. pose proof (Nat.div_mod (N + n - 1) n ltac:(lia)) as D.
  pose proof (Nat.mod_upper_bound (N + n - 1) n ltac:(lia)). set (k := ((N + n - 1) / n)%nat) in *.
  split; intro L; nia.
Qed.

Lemma block_below N n i : (0 < n)%nat -> (i < N)%nat -> (i / n < ceil_div N n)%nat.
Proof. intros Hn Hi. apply ceil_div_spec; [exact Hn|]. pose proof (Nat.mul_div_le i n ltac:(lia)). lia. Qed.

Lemma ceil_div_covers N n : (0 < n)%nat -> (N <= ceil_div N n * n)%nat.
Proof.
  intro Hn. destruct (Nat.le_gt_cases N (ceil_div N n * n)) as [L|G]; [exact L|].
  apply ceil_div_spec in G; lia.
Qed.

(** ** Calls that begin with a synthetic token *)

(** Every mask here lets a row see the call's first token. *)
Definition sees_first (sees : nat -> nat -> bool) : Prop := forall p, sees p 0%nat = true.

Lemma full_sees_first : sees_first full.
Proof. intro. reflexivity. Qed.

Lemma causal_sees_first : sees_first causal.
Proof. intro. reflexivity. Qed.

Definition begins_synthetic (call : Call) : Prop :=
  (0 < tokens call)%nat /\ key call 0%nat = None /\ query call 0%nat = None.

Lemma sound_if sees N i call :
  sees_first sees -> begins_synthetic call -> keys_inside N call -> sound sees N i call.
Proof.
  intros F (L & B & _) I. split; [exact I|]. intros p _ _. exists 0%nat. auto.
Qed.

Lemma meetings_after_one sees call L f g i j :
  tokens call = S L -> query call = after_one f -> key call = after_one g ->
  meetings_in sees call i j =
  sum L (fun p => one_if (holds (f p) i) *
    sum L (fun q => one_if (sees (S p) (S q)) * one_if (holds (g q) j))).
Proof.
  intros E Q Y. unfold meetings_in, meets. rewrite E, Q, Y, sum_first.
  rewrite (sum_zero (S L)) by (intros; simpl; ring). rewrite Rplus_0_l.
  apply sum_ext. intros p _. rewrite sum_scal. simpl after_one. f_equal.
  rewrite sum_first. simpl after_one. simpl holds. rewrite andb_false_r. simpl. rewrite Rplus_0_l.
  apply sum_ext. intros q _. apply one_if_and.
Qed.

(** When the query sits in one row k if P, and the key in one row l if P'. *)
Lemma meetings_one sees call L f g i j P k P' l :
  tokens call = S L -> query call = after_one f -> key call = after_one g ->
  (forall p, (p < L)%nat -> holds (f p) i = P && (p =? k)) ->
  (forall q, (q < L)%nat -> holds (g q) j = P' && (q =? l)) ->
  meetings_in sees call i j =
  one_if (P && (k <? L)) * one_if (P' && (l <? L)) * one_if (sees (S k) (S l)).
Proof.
  intros E Q Y F G. rewrite (meetings_after_one sees call L f g) by assumption.
  rewrite (sum_one L _ P k) by exact F. rewrite Rmult_assoc. f_equal.
  rewrite <- (sum_one L _ P' l (fun q => one_if (sees (S k) (S q))) G).
  apply sum_ext. intros. ring.
Qed.

(** ** The families that several results share *)

Lemma PAIRS_begins N n u t : begins_synthetic (PAIRS N n u t).
Proof. repeat split. simpl. lia. Qed.

Lemma after_one_inside N f q j :
  (forall q j, f q = Some j -> (j < N)%nat) -> after_one f q = Some j -> (j < N)%nat.
Proof. intro I. destruct q; simpl; [discriminate | apply I]. Qed.

Lemma PAIRS_inside N n u t : keys_inside N (PAIRS N n u t).
Proof. intros q j _. simpl. apply after_one_inside. intros q' j'. apply place_inside. Qed.

(** Block u meets block t: query i is there just if i / n = u, key j just if j / n = t. *)
Lemma PAIRS_meetings sees N n u t i j :
  (0 < n)%nat -> (i < N)%nat -> (j < N)%nat ->
  meetings_in sees (PAIRS N n u t) i j =
  one_if (i / n =? u) * one_if (j / n =? t) * one_if (sees (S (i mod n)) (S (j mod n))).
Proof.
  intros Hn Hi Hj.
  rewrite (meetings_one sees _ n (fun p => place N (u * n + p)) (fun q => place N (t * n + q)) i j
             (i / n =? u) (i mod n) (j / n =? t) (j mod n)); try reflexivity.
  - pose proof (Nat.mod_upper_bound i n ltac:(lia)). pose proof (Nat.mod_upper_bound j n ltac:(lia)).
    destruct (Nat.ltb_spec (i mod n) n), (Nat.ltb_spec (j mod n) n); try lia. rewrite !andb_true_r. reflexivity.
  - intros p Hp. rewrite holds_place by exact Hi. apply at_place, Hp.
  - intros q Hq. rewrite holds_place by exact Hj. apply at_place, Hq.
Qed.

(** ** As printed: the same tokens a second time, without the first *)

Section Each_twice.
  Variable sees : nat -> nat -> bool.
  Variable a : nat -> nat -> R.
  Variable c : R.
  Variable v : nat -> nat -> R.
  Hypothesis a_positive : forall i j, 0 < a i j.
  Hypothesis c_positive : 0 < c.
  Hypothesis sees_itself : forall p, sees p p = true.
  Hypothesis shift : forall p q, sees (S p) (S q) = sees p q.

  Lemma row_sum_without_first call f i p :
    begins_synthetic call ->
    row_sum sees a f (without_first call) i p = row_sum sees a f call i (S p).
  Proof.
    intros (L & B & _). unfold row_sum, without_first. simpl. destruct (tokens call) as [|m]; [lia|].
    rewrite sum_first, B. replace (S m - 1)%nat with m by lia. rewrite Rmult_0_r, Rplus_0_l.
    apply sum_ext. intros q _. rewrite shift. reflexivity.
  Qed.

  (** A row always sees its own token, which is a key or a synthetic token. *)
  Lemma row_sees_something call i p :
    (p < tokens call)%nat -> 0 < row_sum sees a (fun _ => 1) call i p + c * blanks sees call p.
  Proof.
    intro Hp. unfold row_sum, blanks. rewrite <- sum_scal, <- sum_plus.
    assert (P : forall q, 0 < match key call q with Some j => a i j * 1 | None => 0 end + c * one_if (blank call q)).
    { intro q. unfold blank. destruct (key call q) as [j|]; simpl; [specialize (a_positive i j); lra | lra]. }
    apply (sum_pos_at _ _ p Hp).
    - rewrite sees_itself. specialize (P p). cbn [one_if]. lra.
    - intros q _. specialize (P q). destruct (sees p q); cbn [one_if]; lra.
  Qed.

  Theorem reconstruction_twice N calls allowed i x :
    (forall call, In call calls -> begins_synthetic call) ->
    (forall call, In call calls -> sound sees N i call) ->
    covers sees N calls allowed i ->
    simulate_printed sees a c v (each_twice calls) i x = attention N allowed a (fun j => v j x) i.
  Proof.
    intros B Snd C. apply (reconstruction_printed sees a c v a_positive c_positive N calls allowed i Snd C).
    - unfold each_twice. rewrite map_map. apply map_id.
    - intros k p Hk Hp Q. apply in_map_iff in Hk. destruct Hk as (call & <- & Hk).
      cbn [fst snd] in *.
      specialize (B call Hk). pose proof B as (L & _ & Q0).
      destruct p as [|p]; [congruence|].
      replace (aligned (call, without_first call) (S p)) with p
        by (unfold aligned; cbn [fst snd tokens without_first]; lia).
      repeat split.
      + exact Q.
      + intro f. apply row_sum_without_first, B.
      + rewrite <- (row_sum_without_first call _ i p B). apply row_sees_something. simpl. lia.
  Qed.
End Each_twice.

(** ** Schedules *)

Lemma meetings_app sees l l' i j : meetings sees (l ++ l') i j = meetings sees l i j + meetings sees l' i j.
Proof. apply lsum_app. Qed.

Lemma meetings_map_seq sees (family : nat -> Call) T i j :
  meetings sees (map family (seq 0 T)) i j =
  sum T (fun t => sign (family t) * meetings_in sees (family t) i j).
Proof. unfold meetings. rewrite lsum_map, lsum_seq. reflexivity. Qed.

Lemma meetings_flat_map_seq sees (family : nat -> list Call) T i j :
  meetings sees (flat_map family (seq 0 T)) i j = sum T (fun t => meetings sees (family t) i j).
Proof. unfold meetings. rewrite lsum_flat_map, lsum_seq. reflexivity. Qed.

Lemma length_flat_map_seq {A} (family : nat -> list A) T n :
  (forall t, (t < T)%nat -> length (family t) = n) -> length (flat_map family (seq 0 T)) = (T * n)%nat.
Proof.
  assert (G : forall start, (forall t, (start <= t < start + T)%nat -> length (family t) = n) ->
    length (flat_map family (seq start T)) = (T * n)%nat).
  { induction T as [|T IH]; intros start E; [reflexivity|]. simpl. rewrite app_length, E by lia.
    rewrite IH; [reflexivity|]. intros. apply E. lia. }
  intro E. apply G. intros. apply E. lia.
Qed.
