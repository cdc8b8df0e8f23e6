(** Theorem 4.2 / C.2: one call on N tokens answers N/M instances of M tokens, up to an explicit error. *)

From Coq Require Import Reals Lra Lia Arith Bool List.
From TwoHeads Require Import Sums Scalar Model Reconstruction Coverage Norms Subsets Codes.
Import ListNotations.
Open Scope R_scope.

Section Codes.
  Variable B : R.
  Variable r : nat.

  Definition zeros (zero_at : nat -> bool) : R := sum r (fun p => one_if (zero_at p)).

  (** Only a coordinate that is 0 in u_j and not in u_i counts. *)
  Lemma code_product e f :
    dot r (code B e) (partner B f) = - (B * B) * sum r (fun p => one_if (f p && negb (e p))).
  Proof.
    unfold dot. rewrite <- sum_scal. apply sum_ext. intros p _. unfold partner, code.
    destruct (e p), (f p); cbn; ring.
  Qed.

  Theorem own_code_product e : dot r (code B e) (partner B e) = 0.
  Proof. rewrite code_product, sum_zero; [ring|]. intros p _. destruct (e p); reflexivity. Qed.

  Lemma one_sided e f : sum r (fun p => one_if (f p && negb (e p))) - sum r (fun p => one_if (e p && negb (f p))) =
    zeros f - zeros e.
  Proof.
    unfold zeros. rewrite <- !sum_minus. apply sum_ext. intros p _. destruct (e p), (f p); simpl; ring.
  Qed.

  Theorem cross_code_product e f :
    zeros e = zeros f -> (exists p, (p < r)%nat /\ e p <> f p) -> dot r (code B e) (partner B f) <= - (B * B).
  Proof.
    intros Z (p & Hp & D). rewrite code_product. pose proof (one_sided e f) as O.
    assert (P : forall g, (forall q, (q < r)%nat -> 0 <= one_if (g q))) by (intros; apply one_if_nonneg).
    assert (1 <= sum r (fun p => one_if (f p && negb (e p)))); [|nra].
    pose proof (term_le_sum r (fun p => one_if (f p && negb (e p))) p Hp (P _)) as F.
    pose proof (term_le_sum r (fun p => one_if (e p && negb (f p))) p Hp (P _)) as E. cbv beta in E, F.
    destruct (e p), (f p); simpl in E, F; try congruence; lra.
  Qed.
End Codes.

(** ** Codes that exist: r = 2 b coordinates for up to 2^b instances

    Half of the coordinates are 0. *)

Lemma bit_code_at t p s : (s < 2)%nat -> bit_code t (p * 2 + s) = xorb (Nat.testbit t p) (s =? 1).
Proof.
  intro Hs. unfold bit_code. rewrite <- (Nat.div_unique (p * 2 + s) 2 p s), <- (Nat.mod_unique (p * 2 + s) 2 p s) by lia.
  reflexivity.
Qed.

Theorem bit_code_half_zeros b t : zeros (b * 2) (bit_code t) = INR b.
Proof.
  unfold zeros. rewrite <- sum_blocks, <- (Rmult_1_r (INR b)), <- sum_const. apply sum_ext. intros p _.
  cbn [sum]. rewrite !bit_code_at by lia. destruct (Nat.testbit t p); simpl; ring.
Qed.

Lemma differing_bit b : forall t t',
  (t < 2 ^ b)%nat -> (t' < 2 ^ b)%nat -> t <> t' -> exists p, (p < b)%nat /\ Nat.testbit t p <> Nat.testbit t' p.
Proof.
  induction b as [|b IH]; intros t t' L L' D; [simpl in *; lia|].
  pose proof (Nat.div2_odd t) as E. pose proof (Nat.div2_odd t') as E'.
  destruct (Bool.bool_dec (Nat.odd t) (Nat.odd t')) as [O|O].
  - rewrite Nat.pow_succ_r' in L, L'. destruct (IH (Nat.div2 t) (Nat.div2 t')) as (p & Hp & B).
    + destruct (Nat.odd t); simpl Nat.b2n in E; lia.
    + destruct (Nat.odd t'); simpl Nat.b2n in E'; lia.
    + intro F. apply D. rewrite E, E', O, F. reflexivity.
    + exists (S p). split; [lia | exact B].
  - exists 0%nat. split; [lia | exact O].
Qed.

Theorem bit_code_distinct b t t' :
  (t < 2 ^ b)%nat -> (t' < 2 ^ b)%nat -> t <> t' -> exists p, (p < b * 2)%nat /\ bit_code t p <> bit_code t' p.
Proof.
  intros L L' D. destruct (differing_bit b t t' L L' D) as (p & Hp & B). exists (p * 2 + 0)%nat. split; [lia|].
  rewrite !bit_code_at by lia. simpl. rewrite !xorb_false_r. exact B.
Qed.

(** ** Codes that exist: as many as there are sets of b of 2 b places *)

Lemma members_count m (l s : list nat) :
  NoDup l -> In s (subsets m l) -> lsum l (fun p => one_if (member p s)) = INR m.
Proof.
  revert m s. induction l as [|x l IH]; intros [|m] s D; simpl subsets; try (intros [<-|[]]).
  - reflexivity.
  - intros [].
  - apply lsum_zero. reflexivity.
  - apply NoDup_cons_iff in D. destruct D as [X D]. rewrite in_app_iff, in_map_iff. cbn [lsum].
    intros [(s' & <- & I)|I].
    + cbn [member existsb]. rewrite Nat.eqb_refl. rewrite (lsum_ext l _ (fun p => one_if (member p s'))).
      * rewrite (IH m s' D I), S_INR. simpl. ring.
      * intros p P. cbn [existsb]. destruct (Nat.eqb_spec p x) as [->|_]; [contradiction | reflexivity].
    + rewrite (member_false x s), (IH (S m) s D I); [simpl; ring|]. intro J. apply X, (subsets_inside _ _ _ _ I J).
Qed.

Theorem combination_code_half_zeros b t :
  (t < choose (b * 2) b)%nat -> zeros (b * 2) (combination_code b t) = INR b.
Proof.
  intro L. set (l := seq 0 (b * 2)). set (s := nth t (subsets b l) []).
  assert (E : lsum l (fun p => one_if (member p s)) = INR b).
  { apply members_count; [apply seq_NoDup|]. apply nth_In. rewrite subsets_length.
    unfold l. rewrite seq_length. exact L. }
  unfold l in E. rewrite lsum_seq in E. unfold zeros.
  rewrite (sum_ext _ _ (fun p => 1 - one_if (member (0 + p) s))).
  - rewrite sum_minus, sum_const, E, mult_INR. simpl (INR 2). ring.
  - intros p _. unfold combination_code. fold l s. simpl. destruct (member p s); simpl; ring.
Qed.

Theorem combination_code_distinct b t t' :
  (t < choose (b * 2) b)%nat -> (t' < choose (b * 2) b)%nat -> t <> t' ->
  exists p, (p < b * 2)%nat /\ combination_code b t p <> combination_code b t' p.
Proof.
  assert (S : forall t t', (t < t' < choose (b * 2) b)%nat ->
    exists p, (p < b * 2)%nat /\ combination_code b t p <> combination_code b t' p).
  { intros u u' L. destruct (subsets_differ b (seq 0 (b * 2)) u u') as (p & I & D).
    - apply seq_NoDup.
    - rewrite subsets_length, seq_length. exact L.
    - exists p. apply in_seq in I. split; [lia|]. unfold combination_code. intro E. apply D.
      destruct (member p _), (member p _); simpl in E; congruence. }
  intros L L' N. destruct (Nat.lt_trichotomy t t') as [O|[O|O]]; [apply S; lia | contradiction |].
  destruct (S t' t ltac:(lia)) as (p & I & D). exists p. auto.
Qed.

(** ** The error that the cross terms leave *)

Section Error.
  Variable norm : (nat -> R) -> R.
  Hypothesis N : is_norm norm.
  Variables A E V : R.
  Variables S X : nat -> R.
  Hypothesis own_weight : 0 < A.
  Hypothesis cross_weight : 0 <= E.
  Hypothesis own_values : norm S <= V * A.
  Hypothesis cross_values : norm X <= V * E.

  Theorem cross_terms_error : norm (fun x => (S x + X x) / (A + E) - S x / A) <= 2 * V * E / (A + E).
  Proof.
    rewrite (norm_same _ N _ (fun x => / (A + E) * X x + - (E / (A * (A + E))) * S x)) by (intros; field; lra).
    eapply Rle_trans; [apply (norm_triangle _ N)|]. rewrite !(norm_scale _ N), Rabs_Ropp.
    assert (I : 0 < / (A + E)) by (apply Rinv_0_lt_compat; lra).
    assert (J : 0 <= E / (A * (A + E))).
    { apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. nra. }
    rewrite !Rabs_right by lra.
    replace (2 * V * E / (A + E)) with (/ (A + E) * (V * E) + E / (A * (A + E)) * (V * A)) by (field; lra).
    apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
  Qed.

  Theorem cross_terms_error_simple : norm (fun x => (S x + X x) / (A + E) - S x / A) <= 2 * V * E / A.
  Proof.
    eapply Rle_trans; [apply cross_terms_error|]. pose proof (norm_nonneg norm N S).
    assert (0 <= V) by nra. apply Rmult_le_compat_l; [nra|]. apply Rinv_le_contravar; lra.
  Qed.
End Error.

(** ** The whole call *)

Section Theorem_4_2.
  Variable norm : (nat -> R) -> R.
  Hypothesis is_norm_norm : is_norm norm.
  Variables T M d r : nat.
  Variables B C V : R.
  Variable q k v : nat -> nat -> R.          (* queries, keys, values of all T M tokens, instance by instance *)
  Variable zero_at : nat -> nat -> bool.     (* the code of instance t *)
  Hypothesis M_positive : (0 < M)%nat.
  Hypothesis scores : forall i j, (i < T * M)%nat -> (j < T * M)%nat -> - (C * C) <= dot d (q i) (k j) <= C * C.
  Hypothesis values : forall j, (j < T * M)%nat -> norm (v j) <= V.
  Hypothesis equally_many_zeros :
    forall t t', (t < T)%nat -> (t' < T)%nat -> zeros r (zero_at t) = zeros r (zero_at t').
  Hypothesis distinct :
    forall t t', (t < T)%nat -> (t' < T)%nat -> t <> t' -> exists p, (p < r)%nat /\ zero_at t p <> zero_at t' p.

  Notation append := (append d).
  Notation packed_weight := (packed_weight M d r B q k zero_at).
  Notation own_weight := (own_weight d q k).
  Notation alone := (alone M d q k v).

  Lemma dot_append a b a' b' : dot (d + r) (append a b) (append a' b') = dot d a a' + dot r b b'.
  Proof.
    rewrite dot_split. unfold append. f_equal; apply sum_ext; intros c Hc.
    - destruct (Nat.ltb_spec c d); [reflexivity | lia].
    - destruct (Nat.ltb_spec (d + c) d); [lia|]. replace (d + c - d)%nat with c by lia. reflexivity.
  Qed.

  Lemma packed_weight_R i j : packed_weight i j =
    exp (dot (d + r) (append (q i) (code B (zero_at (i / M)))) (append (k j) (partner B (zero_at (j / M))))).
  Proof. unfold packed_weight. rewrite gdot_R. reflexivity. Qed.

  Lemma own_weight_R i j : own_weight i j = exp (dot d (q i) (k j)).
  Proof. unfold own_weight. rewrite gdot_R. reflexivity. Qed.

  Definition instance (i j : nat) : bool := i / M =? j / M.

  Lemma packed_own i j : instance i j = true -> packed_weight i j = own_weight i j.
  Proof.
    unfold instance. intro E. apply Nat.eqb_eq in E. rewrite packed_weight_R, own_weight_R, dot_append.
    rewrite E, own_code_product, Rplus_0_r. reflexivity.
  Qed.

  Lemma exp_le x y : x <= y -> exp x <= exp y.
  Proof. intros [L | ->]; [left; apply exp_increasing, L | right; reflexivity]. Qed.

  Lemma instance_exists i : (i < T * M)%nat -> (i / M < T)%nat.
  Proof. intro Hi. apply Nat.div_lt_upper_bound; lia. Qed.

  Lemma packed_cross i j :
    (i < T * M)%nat -> (j < T * M)%nat -> instance i j = false -> packed_weight i j <= exp (C * C - B * B).
  Proof.
    unfold instance. intros Hi Hj E. apply Nat.eqb_neq in E. rewrite packed_weight_R, dot_append. apply exp_le.
    pose proof (instance_exists i Hi) as I. pose proof (instance_exists j Hj) as J.
    pose proof (cross_code_product B r _ _ (equally_many_zeros _ _ I J) (distinct _ _ I J E)).
    pose proof (scores i j Hi Hj). lra.
  Qed.

  Variable i : nat.
  Hypothesis Hi : (i < T * M)%nat.

  Let own (j : nat) : R := one_if (instance i j) * own_weight i j.
  Let cross (j : nat) : R := one_if (negb (instance i j)) * packed_weight i j.

  Lemma packed_split j : packed_weight i j = own j + cross j.
  Proof.
    unfold own, cross. destruct (instance i j) eqn:E; simpl; [rewrite packed_own by exact E|]; ring.
  Qed.

  Lemma own_nonneg j : 0 <= own j.
  Proof. apply Rmult_le_pos; [apply one_if_nonneg | left; apply exp_pos]. Qed.

  Lemma cross_nonneg j : 0 <= cross j.
  Proof. apply Rmult_le_pos; [apply one_if_nonneg | left; apply exp_pos]. Qed.

  (** The tokens of the query's own instance. *)
  Lemma own_tokens_sum f :
    sum (T * M) (fun j => one_if (instance i j) * f j) = sum M (fun p => f (i / M * M + p)%nat).
  Proof.
    rewrite <- sum_blocks.
    rewrite (sum_ext T _ (fun t => one_if (t =? i / M) * sum M (fun p => f (t * M + p)%nat))).
    - rewrite (sum_one T _ true (i / M) (fun t => sum M (fun p => f (t * M + p)%nat))) by reflexivity.
      cbn [andb]. rewrite (proj2 (Nat.ltb_lt _ _)) by (apply instance_exists, Hi). simpl. ring.
    - intros t _. rewrite <- sum_scal. apply sum_ext. intros p Hp. unfold instance.
      rewrite <- (Nat.div_unique (t * M + p) M t p) by lia. rewrite Nat.eqb_sym. reflexivity.
  Qed.

  Lemma own_tokens : sum (T * M) (fun j => one_if (instance i j)) = INR M.
  Proof.
    rewrite (sum_ext _ _ (fun j => one_if (instance i j) * 1)) by (intros; ring).
    rewrite own_tokens_sum, sum_const. ring.
  Qed.

  Lemma own_sum_bound : INR M * exp (- (C * C)) <= sum (T * M) own.
  Proof.
    rewrite <- own_tokens, <- sum_scal_r. apply sum_le. intros j Hj.
    apply Rmult_le_compat_l; [apply one_if_nonneg|]. rewrite own_weight_R. apply exp_le, scores; assumption.
  Qed.

  Lemma cross_sum_bound : sum (T * M) cross <= (INR (T * M) - INR M) * exp (C * C - B * B).
  Proof.
    rewrite <- own_tokens at 1. rewrite <- (Rmult_1_r (INR (T * M))), <- sum_const, <- sum_minus, <- sum_scal_r.
    apply sum_le. intros j Hj. unfold cross. destruct (instance i j) eqn:E; simpl; [lra|].
    rewrite Rminus_0_r, !Rmult_1_l. apply packed_cross; assumption.
  Qed.

  Lemma alone_is_masked x : alone i x = attention (T * M) instance own_weight (fun j => v j x) i.
  Proof.
    unfold alone. rewrite !attention_R, !own_tokens_sum. rewrite (Nat.mul_comm (i / M)), <- Nat.div_mod by lia.
    f_equal; apply sum_ext; intros; simpl; ring.
  Qed.

  (** One call on N = T M tokens, against the query's own instance of M tokens. *)
  Theorem theorem_4_2 :
    norm (fun x => attention (T * M) full packed_weight (fun j => v j x) i - alone i x)
    <= 2 * V * ((INR (T * M) - INR M) / INR M) * exp (2 * (C * C) - B * B).
  Proof.
    assert (MP : 0 < INR M) by (apply lt_0_INR; lia).
    pose proof own_sum_bound as L. pose proof cross_sum_bound as U.
    assert (Apos : 0 < sum (T * M) own) by (pose proof (exp_pos (- (C * C))); nra).
    assert (Epos : 0 <= sum (T * M) cross) by (apply sum_nonneg; intros; apply cross_nonneg).
    assert (VP : 0 <= V) by (eapply Rle_trans; [apply (norm_nonneg norm is_norm_norm (v i)) | apply values, Hi]).
    eapply Rle_trans with (2 * V * sum (T * M) cross / sum (T * M) own).
    - rewrite (norm_same _ is_norm_norm _ (fun x =>
        (sum (T * M) (fun j => own j * v j x) + sum (T * M) (fun j => cross j * v j x)) /
        (sum (T * M) own + sum (T * M) cross) - sum (T * M) (fun j => own j * v j x) / sum (T * M) own)).
      + apply cross_terms_error_simple; try assumption;
          apply norm_weighted_sum; auto using own_nonneg, cross_nonneg.
      + intro x. rewrite alone_is_masked, !attention_R. f_equal; [|f_equal].
        * rewrite <- !sum_plus. f_equal; apply sum_ext; intros j _; rewrite packed_split; simpl; ring.
        * apply sum_ext. intros j _. unfold own. ring.
    - replace (2 * V * ((INR (T * M) - INR M) / INR M) * exp (2 * (C * C) - B * B))
        with (2 * V * ((INR (T * M) - INR M) * exp (C * C - B * B) / (INR M * exp (- (C * C))))).
      + unfold Rdiv at 1. rewrite Rmult_assoc. apply Rmult_le_compat_l; [nra|].
        apply Rmult_le_compat; [exact Epos | left; apply Rinv_0_lt_compat, Apos | exact U |].
        apply Rinv_le_contravar; [|exact L]. pose proof (exp_pos (- (C * C))). nra.
      + replace (2 * (C * C) - B * B) with (C * C - B * B + C * C) by ring.
        rewrite exp_plus, exp_Ropp. field. pose proof (exp_pos (C * C)). lra.
  Qed.
End Theorem_4_2.

(** The same with the codes of C.2.codes, r = 2 b, C(2 b, b) >= N/M: nothing is assumed of them. *)
Theorem theorem_4_2_combination_codes norm T M d b B C V q k v i :
  is_norm norm -> (0 < M)%nat -> (T <= choose (b * 2) b)%nat ->
  (forall i j, (i < T * M)%nat -> (j < T * M)%nat -> - (C * C) <= dot d (q i) (k j) <= C * C) ->
  (forall j, (j < T * M)%nat -> norm (v j) <= V) -> (i < T * M)%nat ->
  norm (fun x => attention (T * M) full (packed_weight M d (b * 2) B q k (combination_code b)) (fun j => v j x) i -
                 alone M d q k v i x)
  <= 2 * V * ((INR (T * M) - INR M) / INR M) * exp (2 * (C * C) - B * B).
Proof.
  intros Hn HM HT Hs Hv Hi. apply theorem_4_2; try assumption.
  - intros. rewrite !combination_code_half_zeros by lia. reflexivity.
  - intros t t' Ht Ht'. apply combination_code_distinct; lia.
Qed.

(** The b that [half_length] finds is enough, and none below it is. *)
Theorem half_length_suffices T : (T <= choose (half_length T * 2) (half_length T))%nat.
Proof.
  assert (G : forall tries b, (T <= choose ((b + tries) * 2) (b + tries) ->
    T <= choose (least_from b tries T * 2) (least_from b tries T))%nat).
  { induction tries as [|tries IH]; intros b L; cbn [least_from].
    - rewrite Nat.add_0_r in L. exact L.
    - destruct (Nat.leb_spec T (choose (b * 2) b)); [assumption|]. apply IH.
      replace (S b + tries)%nat with (b + S tries)%nat by lia. exact L. }
  apply G. rewrite Nat.add_0_l. clear G. induction T as [|T IH]; [lia|].
  change (S T * 2)%nat with (S (S (T * 2))).
  change (choose (S (S (T * 2))) (S T)) with (choose (S (T * 2)) T + (choose (T * 2) T + choose (T * 2) (S T)))%nat.
  pose proof (choose_positive (S (T * 2)) T ltac:(lia)). lia.
Qed.

Theorem half_length_is_least T b : (b < half_length T)%nat -> (choose (b * 2) b < T)%nat.
Proof.
  assert (G : forall tries b', (b' <= b < least_from b' tries T -> choose (b * 2) b < T)%nat).
  { induction tries as [|tries IH]; intros b' L; cbn [least_from] in L; [lia|].
    destruct (Nat.leb_spec T (choose (b' * 2) b')); [lia|].
    destruct (Nat.eq_dec b b') as [->|D]; [assumption|]. apply (IH (S b')). lia. }
  intro L. apply (G T 0%nat). split; [lia | exact L].
Qed.

(** And with bit codes, r = 2 b, 2^b >= N/M: nothing is assumed of the codes. *)
Theorem theorem_4_2_bit_codes norm T M d b B C V q k v i :
  is_norm norm -> (0 < M)%nat -> (T <= 2 ^ b)%nat ->
  (forall i j, (i < T * M)%nat -> (j < T * M)%nat -> - (C * C) <= dot d (q i) (k j) <= C * C) ->
  (forall j, (j < T * M)%nat -> norm (v j) <= V) -> (i < T * M)%nat ->
  norm (fun x => attention (T * M) full (packed_weight M d (b * 2) B q k bit_code) (fun j => v j x) i -
                 alone M d q k v i x)
  <= 2 * V * ((INR (T * M) - INR M) / INR M) * exp (2 * (C * C) - B * B).
Proof.
  intros Hn HM HT Hs Hv Hi. apply theorem_4_2; try assumption.
  - intros. rewrite !bit_code_half_zeros. reflexivity.
  - intros t t' Ht Ht'. apply bit_code_distinct; lia.
Qed.
