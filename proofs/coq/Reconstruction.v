(** The block softmax reconstruction, over the reals: a simulator whose calls cover every allowed pair of a query
    and a key exactly once computes attention, whatever the calls are. The results of the paper follow from it by
    showing that their schedules cover. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model.
Import ListNotations.
Open Scope R_scope.

Definition one_if (b : bool) : R := if b then 1 else 0.

Lemma one_if_and a b : one_if (a && b) = one_if a * one_if b.
Proof. destruct a, b; simpl; ring. Qed.

Lemma one_if_nonneg b : 0 <= one_if b.
Proof. destruct b; simpl; lra. Qed.

Definition sign (call : Call) : R := if minus call then -1 else 1.

Lemma signed_R b x : signed b x = (if b then -1 else 1) * x.
Proof. destruct b; cbn; ring. Qed.

Lemma only_R b (x : R) : only b x = one_if b * x.
Proof. destruct b; cbn; ring. Qed.

Lemma attention_R n sees w u p :
  attention n sees w u p =
  sum n (fun q => one_if (sees p q) * (w p q * u q)) / sum n (fun q => one_if (sees p q) * w p q).
Proof.
  unfold attention. rewrite !gsum_R. change (@div R scalar_R) with Rdiv.
  f_equal; [|f_equal]; apply sum_ext; intros; rewrite only_R; reflexivity.
Qed.

Lemma total_R {C} call_of (calls : list C) f i :
  total call_of calls f i =
  lsum calls (fun k => sign (call_of k) *
    sum (tokens (call_of k)) (fun p => one_if (holds (query (call_of k) p) i) * f k p)).
Proof.
  unfold total. rewrite glsum_R. apply lsum_ext. intros k _.
  rewrite signed_R, gsum_R. f_equal. apply sum_ext. intros. apply only_R.
Qed.

Section Reconstruction.
  Variable sees : nat -> nat -> bool.
  Variable a : nat -> nat -> R.
  Variable c : R.
  Variable v : nat -> nat -> R.
  Hypothesis a_positive : forall i j, 0 < a i j.
  Hypothesis c_positive : 0 < c.

  (** ** One row *)

  (** Whether row p of a call sees the key of position j in row q; whether it sees a synthetic token there. *)
  Definition meets (call : Call) (p q j : nat) : bool := sees p q && holds (key call q) j.
  Definition blank (call : Call) (q : nat) : bool := match key call q with Some _ => false | None => true end.

  (** The sum of a_ij f(j) over the keys j that row p sees. *)
  Definition row_sum (f : nat -> R) (call : Call) (i p : nat) : R :=
    sum (tokens call) (fun q =>
      one_if (sees p q) * match key call q with Some j => a i j * f j | None => 0 end).

  Definition blanks (call : Call) (p : nat) : R :=
    sum (tokens call) (fun q => one_if (sees p q) * one_if (blank call q)).

  (** A row that sees a synthetic token. *)
  Definition anchored (call : Call) (p : nat) : Prop :=
    exists q, (q < tokens call)%nat /\ sees p q = true /\ key call q = None.

  Lemma blanks_nonneg call p : 0 <= blanks call p.
  Proof. apply sum_nonneg. intros. apply Rmult_le_pos; apply one_if_nonneg. Qed.

  Lemma blanks_positive call p : anchored call p -> 0 < blanks call p.
  Proof.
    intros (q & Hq & S & B). apply (sum_pos_at _ _ q); [exact Hq| |].
    - unfold blank. rewrite S, B. simpl. lra.
    - intros. apply Rmult_le_pos; apply one_if_nonneg.
  Qed.

  Lemma known_R call p : known sees c call p = c * blanks call p.
  Proof.
    unfold known. rewrite gsum_R. change (@mul R scalar_R) with Rmult. f_equal. apply sum_ext. intros q _.
    rewrite only_R. f_equal. unfold synthetic, blank. destruct (key call q); reflexivity.
  Qed.

  Lemma row_sum_nonneg call i p : 0 <= row_sum (fun _ => 1) call i p.
  Proof.
    apply sum_nonneg. intros q _. apply Rmult_le_pos; [apply one_if_nonneg|].
    destruct (key call q) as [j|]; [specialize (a_positive i j); lra | lra].
  Qed.

  Lemma denominator call i p :
    query call p = Some i ->
    sum (tokens call) (fun q => one_if (sees p q) * weight a c call p q) =
    row_sum (fun _ => 1) call i p + c * blanks call p.
  Proof.
    intro Q. unfold row_sum, blanks. rewrite <- sum_scal, <- sum_plus. apply sum_ext. intros q _.
    unfold weight, blank. rewrite Q. destruct (key call q); simpl; ring.
  Qed.

  (** What the oracle returns on a row of query i: O, R and w. *)
  Lemma output_data call i p x :
    query call p = Some i ->
    output sees a c (data v x) call p =
    row_sum (fun j => v j x) call i p / (row_sum (fun _ => 1) call i p + c * blanks call p).
  Proof.
    intro Q. unfold output. rewrite attention_R, (denominator _ i) by exact Q. f_equal.
    apply sum_ext. intros q _. f_equal. unfold weight, data. rewrite Q.
    destruct (key call q); [reflexivity | cbn; ring].
  Qed.

  Lemma output_flag call i p :
    query call p = Some i ->
    output sees a c flag call p =
    row_sum (fun _ => 1) call i p / (row_sum (fun _ => 1) call i p + c * blanks call p).
  Proof.
    intro Q. unfold output. rewrite attention_R, (denominator _ i) by exact Q. f_equal.
    apply sum_ext. intros q _. f_equal. unfold weight, flag. rewrite Q.
    destruct (key call q); [reflexivity | cbn; ring].
  Qed.

  Lemma output_synthetic call i p :
    query call p = Some i ->
    output sees a c synthetic call p = c * blanks call p / (row_sum (fun _ => 1) call i p + c * blanks call p).
  Proof.
    intro Q. unfold output. rewrite attention_R, (denominator _ i) by exact Q. f_equal.
    unfold blanks. rewrite <- sum_scal. apply sum_ext. intros q _. unfold weight, synthetic, blank.
    destruct (key call q); cbn; ring.
  Qed.

  Section Row.
    Variables (call : Call) (i p : nat).
    Hypothesis Q : query call p = Some i.
    Hypothesis anchor : anchored call p.

    Lemma known_positive : 0 < c * blanks call p.
    Proof. apply Rmult_lt_0_compat; [exact c_positive | apply blanks_positive; exact anchor]. Qed.

    (** No denominator of the recovery is zero. *)
    Lemma share_positive variant : 0 < share sees a c variant call p.
    Proof.
      pose proof known_positive. pose proof (row_sum_nonneg call i p). destruct variant; unfold share.
      - change (@sub R scalar_R one) with (Rminus 1). rewrite (output_flag _ i) by exact Q.
        replace (1 - _) with (c * blanks call p / (row_sum (fun _ => 1) call i p + c * blanks call p))
          by (field; lra).
        apply Rdiv_lt_0_compat; lra.
      - rewrite (output_synthetic _ i) by exact Q. apply Rdiv_lt_0_compat; lra.
    Qed.

    (** A = s c R / w, merged and stable. *)
    Lemma A_row_recovers variant : A_row sees a c variant call p = row_sum (fun _ => 1) call i p.
    Proof.
      pose proof (blanks_positive call p anchor). pose proof known_positive. pose proof (row_sum_nonneg call i p).
      unfold A_row. change (@div R scalar_R) with Rdiv. change (@mul R scalar_R) with Rmult.
      rewrite known_R, (output_flag _ i) by exact Q. destruct variant; unfold share.
      - change (@sub R scalar_R one) with (Rminus 1). rewrite (output_flag _ i) by exact Q. field. repeat split; lra.
      - rewrite (output_synthetic _ i) by exact Q. field. repeat split; lra.
    Qed.

    (** B = s c O / w, merged and stable. *)
    Lemma B_row_recovers variant x :
      B_row sees a c v variant x call p = row_sum (fun j => v j x) call i p.
    Proof.
      pose proof (blanks_positive call p anchor). pose proof known_positive. pose proof (row_sum_nonneg call i p).
      unfold B_row. change (@div R scalar_R) with Rdiv. change (@mul R scalar_R) with Rmult.
      rewrite known_R, (output_data _ i) by exact Q. destruct variant; unfold share.
      - change (@sub R scalar_R one) with (Rminus 1). rewrite (output_flag _ i) by exact Q. field. repeat split; lra.
      - rewrite (output_synthetic _ i) by exact Q. field. repeat split; lra.
    Qed.
  End Row.

  (** As printed: the second call, on the same keys and with its own synthetic tokens if any, gives B. *)
  Lemma B_printed_recovers (calls : Call * Call) i p x :
    query (fst calls) p = Some i -> anchored (fst calls) p ->
    query (snd calls) (aligned calls p) = Some i ->
    (forall f, row_sum f (snd calls) i (aligned calls p) = row_sum f (fst calls) i p) ->
    0 < row_sum (fun _ => 1) (fst calls) i p + c * blanks (snd calls) (aligned calls p) ->
    B_printed sees a c v x calls p = row_sum (fun j => v j x) (fst calls) i p.
  Proof.
    intros Q anchor Q' same positive. unfold B_printed, A_printed.
    change (@mul R scalar_R) with Rmult. change (@add R scalar_R) with Rplus.
    rewrite (A_row_recovers _ i) by assumption. rewrite known_R, (output_data _ i) by exact Q'.
    rewrite !same. field. lra.
  Qed.

  (** ** All rows *)

  Variable N : nat.

  Definition keys_inside (call : Call) : Prop :=
    forall q j, (q < tokens call)%nat -> key call q = Some j -> (j < N)%nat.

  Definition sound (i : nat) (call : Call) : Prop :=
    keys_inside call /\ forall p, (p < tokens call)%nat -> query call p = Some i -> anchored call p.

  (** How often query i meets key j, over all calls, with their signs. *)
  Definition meetings_in (call : Call) (i j : nat) : R :=
    sum (tokens call) (fun p => sum (tokens call) (fun q =>
      one_if (holds (query call p) i) * one_if (meets call p q j))).

  Definition meetings (calls : list Call) (i j : nat) : R :=
    lsum calls (fun call => sign call * meetings_in call i j).

  Definition covers (calls : list Call) (allowed : nat -> nat -> bool) (i : nat) : Prop :=
    forall j, (j < N)%nat -> meetings calls i j = one_if (allowed i j).

  Lemma row_sum_by_key f call i p :
    keys_inside call ->
    row_sum f call i p = sum N (fun j => sum (tokens call) (fun q => one_if (meets call p q j)) * (a i j * f j)).
  Proof.
    intro I. transitivity (sum N (fun j => sum (tokens call) (fun q => one_if (meets call p q j) * (a i j * f j)))).
    - rewrite sum_swap. apply sum_ext. intros q Hq. unfold meets.
      destruct (key call q) as [k|] eqn:E; simpl.
      + transitivity (sum N (fun j => if j =? k then one_if (sees p q) * (a i j * f j) else 0)).
        * rewrite sum_indicator. destruct (Nat.ltb_spec k N); [reflexivity|].
          specialize (I q k Hq E). lia.
        * apply sum_ext. intros j _. rewrite one_if_and, Nat.eqb_sym.
          destruct (k =? j); simpl; ring.
      + rewrite sum_zero; [ring|]. intros. rewrite andb_false_r. simpl. ring.
    - apply sum_ext. intros. apply sum_scal_r.
  Qed.

  Lemma total_by_key calls f i :
    (forall call, In call calls -> keys_inside call) ->
    lsum calls (fun k => sign k * sum (tokens k) (fun p => one_if (holds (query k p) i) * row_sum f k i p)) =
    sum N (fun j => meetings calls i j * (a i j * f j)).
  Proof.
    intro I. unfold meetings.
    transitivity (lsum calls (fun k => sum N (fun j => sign k * meetings_in k i j * (a i j * f j)))).
    - apply lsum_ext. intros k Hk.
      transitivity (sign k * sum N (fun j => meetings_in k i j * (a i j * f j))).
      + f_equal. unfold meetings_in.
        transitivity (sum (tokens k) (fun p => sum N (fun j =>
          sum (tokens k) (fun q => one_if (holds (query k p) i) * one_if (meets k p q j)) * (a i j * f j)))).
        * apply sum_ext. intros p _. rewrite row_sum_by_key by (apply I; exact Hk). rewrite <- sum_scal.
          apply sum_ext. intros j _. rewrite sum_scal. ring.
        * rewrite sum_swap. apply sum_ext. intros j _. apply sum_scal_r.
      + rewrite <- sum_scal. apply sum_ext. intros. ring.
    - rewrite lsum_sum. apply sum_ext. intros j _. apply lsum_scal_r.
  Qed.

  Variables (calls : list Call) (allowed : nat -> nat -> bool) (i : nat).
  Hypothesis calls_sound : forall call, In call calls -> sound i call.
  Hypothesis calls_cover : covers calls allowed i.

  Lemma total_recovers {C} (call_of : C -> Call) (rows : list C) f g :
    map call_of rows = calls ->
    (forall k p, In k rows -> (p < tokens (call_of k))%nat -> query (call_of k) p = Some i ->
      g k p = row_sum f (call_of k) i p) ->
    total call_of rows g i = sum N (fun j => one_if (allowed i j) * (a i j * f j)).
  Proof.
    intros M G. rewrite total_R.
    transitivity (lsum calls (fun k =>
      sign k * sum (tokens k) (fun p => one_if (holds (query k p) i) * row_sum f k i p))).
    - rewrite <- M, lsum_map. apply lsum_ext. intros k Hk. f_equal. apply sum_ext. intros p Hp.
      destruct (query (call_of k) p) as [i'|] eqn:Q; simpl; [|ring].
      destruct (Nat.eqb_spec i' i) as [->|_]; simpl; [|ring]. rewrite (G k p Hk Hp Q). reflexivity.
    - rewrite total_by_key by (intros; apply calls_sound; assumption).
      apply sum_ext. intros j Hj. rewrite calls_cover by exact Hj. reflexivity.
  Qed.

  (** The recovered sums are the sums of the large attention's numerator and denominator. *)
  Theorem A_total_is_denominator variant :
    total (fun k => k) calls (A_row sees a c variant) i = sum N (fun j => one_if (allowed i j) * a i j).
  Proof.
    rewrite (total_recovers _ _ (fun _ => 1)).
    - apply sum_ext. intros. ring.
    - apply map_id.
    - intros k p Hk Hp Q. apply A_row_recovers; [exact Q | apply calls_sound; assumption].
  Qed.

  Theorem B_total_is_numerator variant x :
    total (fun k => k) calls (B_row sees a c v variant x) i =
    sum N (fun j => one_if (allowed i j) * (a i j * v j x)).
  Proof.
    apply (total_recovers (fun k => k) calls (fun j => v j x)); [apply map_id|].
    intros k p Hk Hp Q. apply B_row_recovers; [exact Q | apply calls_sound; assumption].
  Qed.

  (** The denominator of the result is positive as soon as i may attend to some key. *)
  Lemma denominator_positive j :
    (j < N)%nat -> allowed i j = true -> 0 < sum N (fun j => one_if (allowed i j) * a i j).
  Proof.
    intros Hj Aj. apply (sum_pos_at N _ j Hj); [rewrite Aj; simpl; specialize (a_positive i j); lra|].
    intros k _. apply Rmult_le_pos; [apply one_if_nonneg | left; apply a_positive].
  Qed.

  Theorem reconstruction variant x :
    simulate sees a c v variant calls i x = attention N allowed a (fun j => v j x) i.
  Proof.
    unfold simulate. change (@div R scalar_R) with Rdiv. rewrite A_total_is_denominator, B_total_is_numerator.
    rewrite attention_R. reflexivity.
  Qed.

  (** As printed, for a second call that meets the same keys. *)
  Theorem reconstruction_printed (twice : list (Call * Call)) x :
    map fst twice = calls ->
    (forall k p, In k twice -> (p < tokens (fst k))%nat -> query (fst k) p = Some i ->
      query (snd k) (aligned k p) = Some i /\
      (forall f, row_sum f (snd k) i (aligned k p) = row_sum f (fst k) i p) /\
      0 < row_sum (fun _ => 1) (fst k) i p + c * blanks (snd k) (aligned k p)) ->
    simulate_printed sees a c v twice i x = attention N allowed a (fun j => v j x) i.
  Proof.
    intros F S.
    assert (anchors : forall k p, In k twice -> (p < tokens (fst k))%nat -> query (fst k) p = Some i ->
      anchored (fst k) p).
    { intros k p Hk Hp Q. apply (calls_sound (fst k)); [rewrite <- F; apply in_map; exact Hk | exact Hp | exact Q]. }
    unfold simulate_printed. change (@div R scalar_R) with Rdiv.
    rewrite (total_recovers fst twice (fun j => v j x) (B_printed sees a c v x)); [|exact F|].
    - rewrite (total_recovers fst twice (fun _ => 1) (A_printed sees a c)); [|exact F|].
      + rewrite attention_R. f_equal. apply sum_ext. intros. ring.
      + intros k p Hk Hp Q. apply A_row_recovers; auto.
    - intros k p Hk Hp Q. destruct (S k p Hk Hp Q) as (Q' & same & positive). apply B_printed_recovers; auto.
  Qed.
End Reconstruction.
