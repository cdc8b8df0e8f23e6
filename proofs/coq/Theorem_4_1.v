(** Theorem 4.1 / C.1: the estimators are unbiased, and good estimates give a good quotient.

    The expectation is a mean over all permutations, and likewise over all sets of M keys. Hoeffding's inequality, by
    which the estimates are good with probability 0.9, is not part of this. *)

From Coq Require Import Reals Lra Lia Arith List.
From TwoHeads Require Import Sums Scalar Model Schedules Reconstruction Norms Permutations Subsets Sampling.
Import ListNotations.
Open Scope R_scope.

(** ** Unbiasedness *)

(** Every key is in equally many sets. *)
Lemma sum_over_subsets {A} (f : A -> R) m x l :
  lsum (subsets (S m) (x :: l)) (fun s => lsum s f) = INR (choose (length l) m) * lsum (x :: l) f.
Proof.
  revert m x. induction l as [|y l IH]; intros m x.
  - destruct m; simpl; ring.
  - change (subsets (S m) (x :: y :: l)) with (map (cons x) (subsets m (y :: l)) ++ subsets (S m) (y :: l)).
    rewrite lsum_app, lsum_map, IH. cbn [lsum]. rewrite lsum_plus, lsum_const, subsets_length. cbn [length].
    destruct m as [|m].
    + rewrite choose_none. simpl. rewrite choose_none. simpl. ring.
    + rewrite IH. cbn [choose lsum]. rewrite plus_INR. ring.
Qed.

Definition mean {A} (l : list A) (f : A -> R) : R := lsum l f / INR (length l).

(** C.1.unbiased: E of the sum over S_t is M/N of the sum over all keys. *)
Theorem unbiased {A} (f : A -> R) M (keys : list A) :
  (M <= length keys)%nat -> (0 < length keys)%nat ->
  mean (subsets M keys) (fun s => lsum s f) = INR M / INR (length keys) * lsum keys f.
Proof.
  unfold mean. rewrite subsets_length. intros L P.
  destruct keys as [|x l]; [simpl in P; lia|]. destruct M as [|m]; [simpl; unfold Rdiv; ring|].
  rewrite sum_over_subsets. simpl length. pose proof (choose_absorb (length l) m) as E.
  apply (f_equal INR) in E. rewrite !mult_INR in E.
  pose proof (lt_INR _ _ (choose_positive (S (length l)) (S m) L)) as C. change (INR 0) with 0 in C.
  pose proof (lt_INR 0 (S (length l)) ltac:(lia)) as Q. change (INR 0) with 0 in Q.
  replace (INR (choose (length l) m)) with (INR (S m) * INR (choose (S (length l)) (S m)) / INR (S (length l))).
  - field. lra.
  - rewrite E. field. lra.
Qed.

(** The estimator N/M times the sum over S_t, for weights and for each entry of the values alike. *)
Theorem estimator_unbiased f M N :
  (0 < M <= N)%nat ->
  mean (subsets M (seq 0 N)) (fun s => INR N / INR M * lsum s f) = sum N f.
Proof.
  intros [P L]. unfold mean. rewrite lsum_scal.
  transitivity (INR N / INR M * mean (subsets M (seq 0 N)) (fun s => lsum s f)); [unfold mean, Rdiv; ring|].
  rewrite unbiased by (rewrite seq_length; lia). rewrite seq_length, lsum_seq.
  rewrite (sum_ext N (fun k => f (0 + k)%nat) f) by reflexivity. field.
  split; apply not_0_INR; lia.
Qed.

(** The same over all permutations, as C.1.permute draws them: the keys at places u, ..., u + M - 1. *)
Theorem unbiased_permutation {A} (f : A -> R) u M (keys : list A) d :
  (u + M <= length keys)%nat -> (0 < length keys)%nat ->
  mean (permutations keys) (fun s => sum M (fun q => f (nth (u + q) s d))) = INR M / INR (length keys) * lsum keys f.
Proof.
  intros L P. destruct keys as [|x l]; [simpl in P; lia|]. unfold mean. rewrite lsum_sum, permutations_length.
  rewrite (sum_ext M _ (fun _ => INR (fact (length l)) * lsum (x :: l) f)).
  - rewrite sum_const. cbn [length]. rewrite fact_simpl, mult_INR. field.
    split; apply not_0_INR; [lia | apply fact_neq_0].
  - intros q Hq.
    rewrite (lsum_ext _ _ (placed (fun p => if p =? u + q then 1 else 0) f)).
    + rewrite sum_over_permutations, (sum_indicator _ _ (fun _ => 1)), (proj2 (Nat.ltb_lt _ _)); [ring|].
      simpl in L. lia.
    + intros s I. symmetry. apply placed_at. rewrite (permutations_have_length _ _ I). lia.
Qed.

(** ** C.1.combine *)

Section Combine.
  Variable norm : (nat -> R) -> R.
  Hypothesis N : is_norm norm.
  Variables A S eps : R.         (* the sum of the weights, and its estimate *)
  Variables b b' : nat -> R.     (* the sum of the weighted values, and its estimate *)
  Hypothesis A_positive : 0 < A.
  Hypothesis eps_range : 0 < eps <= 2.
  Hypothesis weights_close : Rabs (S - A) <= eps / 4 * A.
  Hypothesis values_close : norm (fun x => b' x - b x) <= eps / 4 * norm b.

  Theorem estimate_positive : A / 2 <= S.
  Proof. pose proof (Rle_abs (- (S - A))) as L. rewrite Rabs_Ropp in L. nra. Qed.

  (** Both estimates within eps/4: the quotient is within eps. *)
  Theorem theorem_4_1_combine : norm (fun x => b' x / S - b x / A) <= eps * norm (fun x => b x / A).
  Proof.
    pose proof estimate_positive as H. pose proof (norm_nonneg norm N b) as P.
    rewrite (norm_same _ N _ (fun x => / S * (b' x - b x) + (A - S) / (S * A) * b x)) by (intros; field; lra).
    rewrite (norm_same _ N (fun x => b x / A) (fun x => / A * b x)) by (intros; field; lra).
    eapply Rle_trans; [apply (norm_triangle _ N)|]. rewrite !(norm_scale _ N).
    assert (I : 0 < / S) by (apply Rinv_0_lt_compat; lra). assert (J : 0 < / A) by (apply Rinv_0_lt_compat; lra).
    assert (K : 0 < / (S * A)) by (apply Rinv_0_lt_compat; nra).
    unfold Rdiv. rewrite Rabs_mult, !(Rabs_right (/ _)), (Rabs_minus_sym A S) by lra.
    apply Rle_trans with (/ S * (eps / 4 * norm b) + eps / 4 * A * / (S * A) * norm b).
    - apply Rplus_le_compat; [apply Rmult_le_compat_l; lra|].
      apply Rmult_le_compat_r; [exact P|]. apply Rmult_le_compat_r; lra.
    - replace (/ S * (eps / 4 * norm b) + eps / 4 * A * / (S * A) * norm b) with (eps * norm b * / (2 * S))
        by (field; lra).
      replace (eps * (/ A * norm b)) with (eps * norm b * / A) by ring.
      apply Rmult_le_compat_l; [nra | apply Rinv_le_contravar; lra].
  Qed.
End Combine.

(** The attention of query i over the keys of a sample, against its attention over all N. *)
Theorem theorem_4_1_sample norm (a : nat -> nat -> R) (v : nat -> nat -> R) N M i sample eps :
  is_norm norm -> (0 < M)%nat -> (0 < N)%nat -> (forall j, (j < N)%nat -> 0 < a i j) -> 0 < eps <= 2 ->
  Rabs (INR N / INR M * lsum sample (a i) - sum N (a i)) <= eps / 4 * sum N (a i) ->
  norm (fun x => INR N / INR M * lsum sample (fun j => a i j * v j x) - sum N (fun j => a i j * v j x)) <=
    eps / 4 * norm (fun x => sum N (fun j => a i j * v j x)) ->
  norm (fun x => lsum sample (fun j => a i j * v j x) / lsum sample (a i) -
                 attention N full a (fun j => v j x) i) <=
    eps * norm (fun x => attention N full a (fun j => v j x) i).
Proof.
  intros Hn HM HN P E W B.
  assert (A : 0 < sum N (a i)) by (apply sum_pos; assumption).
  pose proof (theorem_4_1_combine norm Hn _ _ eps _ _ A E W B) as H. cbv beta in H.
  pose proof (estimate_positive _ _ eps A E W) as S.
  assert (K : 0 < INR N / INR M) by (apply Rdiv_lt_0_compat; apply lt_0_INR; assumption).
  assert (F : forall x, attention N full a (fun j => v j x) i = sum N (fun j => a i j * v j x) / sum N (a i)).
  { intro x. rewrite attention_R. f_equal; apply sum_ext; intros; cbn; ring. }
  rewrite (norm_same _ Hn (fun x => attention _ _ _ _ _) (fun x => sum N (fun j => a i j * v j x) / sum N (a i)))
    by exact F.
  eapply Rle_trans; [right; apply (norm_same _ Hn); intro x; rewrite F; reflexivity|].
  eapply Rle_trans; [right; apply (norm_same _ Hn) | exact H]. intro x. cbv beta. f_equal.
  assert (lsum sample (a i) <> 0) by (intro Z; rewrite Z in S; lra).
  assert (INR M <> 0) by (apply not_0_INR; lia). assert (INR N <> 0) by (apply not_0_INR; lia).
  field. auto.
Qed.

(** ** The simulator's own estimators: each chunk's call, whose keys are tau of the chunk *)

Section Estimators.
  Variables (a v : nat -> nat -> R) (N n : nat) (tau : nat -> nat) (i : nat).
  Hypothesis n_range : (0 < n <= N)%nat.
  Hypothesis Hi : (i < N)%nat.
  Hypothesis a_positive : forall i j, 0 < a i j.

  (** Row i - start of the chunk's call holds query i. *)
  Lemma chunk_holds : (chunk_start N n (i / n) + chunk_row N n i = i)%nat.
  Proof.
    unfold chunk_row, chunk_start. pose proof (Nat.mul_div_le i n ltac:(lia)). lia.
  Qed.

  Lemma chunk_row_fits : (chunk_row N n i < n)%nat.
  Proof.
    unfold chunk_row, chunk_start. pose proof (Nat.mod_upper_bound i n ltac:(lia)).
    pose proof (Nat.div_mod i n ltac:(lia)). lia.
  Qed.

  Lemma sum_over_sample f : lsum (sample N n tau i) f = sum n (fun q => f (tau (chunk_start N n (i / n) + q)%nat)).
  Proof. unfold sample. rewrite lsum_map, lsum_seq. reflexivity. Qed.

  Theorem attention_estimate_is x :
    attention_estimate a v N n tau i x =
    lsum (sample N n tau i) (fun j => a i j * v j x) / lsum (sample N n tau i) (a i).
  Proof.
    unfold attention_estimate. set (call := SAMPLED N n tau (i / n)).
    rewrite (output_data full a one v call i).
    - rewrite !sum_over_sample. unfold row_sum, blanks, blank. cbn [tokens key call SAMPLED full one_if].
      rewrite (sum_zero n (fun _ => 1 * 0)), Rmult_0_r, Rplus_0_r by (intros; ring).
      f_equal; apply sum_ext; intros; ring.
    - unfold call. cbn [query SAMPLED]. f_equal. apply chunk_holds.
  Qed.

  Theorem weight_estimate_is :
    weight_estimate a N n tau i = INR N / INR n * lsum (sample N n tau i) (a i).
  Proof.
    unfold weight_estimate. set (call := SAMPLED_WEIGHTS N n tau (i / n)).
    change (@mul R scalar_R) with Rmult. change (@div R scalar_R) with Rdiv. rewrite !whole_R. f_equal.
    rewrite (A_row_recovers full a 1 a_positive Rlt_0_1 call i).
    - rewrite sum_over_sample. unfold row_sum. cbn [tokens key call SAMPLED_WEIGHTS full one_if]. rewrite sum_first.
      cbn [after_one key SAMPLED]. rewrite Rmult_0_r, Rplus_0_l. apply sum_ext. intros. ring.
    - unfold call. cbn [query SAMPLED_WEIGHTS after_one SAMPLED]. f_equal. apply chunk_holds.
    - exists 0%nat. repeat split. cbn. lia.
  Qed.

  (** Both estimates within eps/4, as in C.1: what the simulator returns is within eps. *)
  Theorem theorem_4_1_estimator norm eps :
    is_norm norm -> 0 < eps <= 2 ->
    Rabs (weight_estimate a N n tau i - sum N (a i)) <= eps / 4 * sum N (a i) ->
    norm (fun x => INR N / INR n * lsum (sample N n tau i) (fun j => a i j * v j x) -
                   sum N (fun j => a i j * v j x)) <=
      eps / 4 * norm (fun x => sum N (fun j => a i j * v j x)) ->
    norm (fun x => attention_estimate a v N n tau i x - attention N full a (fun j => v j x) i) <=
      eps * norm (fun x => attention N full a (fun j => v j x) i).
  Proof.
    intros Hn E W B. rewrite weight_estimate_is in W.
    eapply Rle_trans; [right; apply (norm_same _ Hn); intro x; rewrite attention_estimate_is; reflexivity|].
    apply (theorem_4_1_sample norm a v N n i (sample N n tau i) eps); auto; lia.
  Qed.
End Estimators.

(** Over all permutations, every query's estimate of its sum of weights is right on average. *)
Theorem weight_estimate_unbiased a N n i :
  (0 < n <= N)%nat -> (i < N)%nat -> (forall i j, 0 < a i j) ->
  mean (permutations (seq 0 N)) (fun s => weight_estimate a N n (fun p => nth p s 0%nat) i) = sum N (a i).
Proof.
  intros Hn Hi P. unfold mean.
  rewrite (lsum_ext _ _ (fun s => INR N / INR n * sum n (fun q => a i (nth (chunk_start N n (i / n) + q) s 0%nat)))).
  - rewrite lsum_scal.
    transitivity (INR N / INR n * mean (permutations (seq 0 N))
      (fun s => sum n (fun q => a i (nth (chunk_start N n (i / n) + q) s 0%nat)))); [unfold mean, Rdiv; ring|].
    rewrite unbiased_permutation by (rewrite seq_length; unfold chunk_start; lia).
    rewrite seq_length, lsum_seq. rewrite (sum_ext N (fun k => a i (0 + k)%nat) (a i)) by reflexivity. field.
    split; apply not_0_INR; lia.
  - intros s _. rewrite weight_estimate_is by assumption. f_equal. apply sum_over_sample.
Qed.
