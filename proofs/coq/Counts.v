(** The numbers of oracle calls, with their constants, over the naturals: a bound c N^2 / M^2 reads
    calls * M^2 <= c * N^2. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Schedules Reconstruction Coverage Lemma_3_1 Theorem_3_5.
Import ListNotations.
Open Scope nat_scope.

(** ** T = N / (M-1), rounded up *)

(** The synthetic token costs at most a factor of 2 in T. *)
Theorem blocks_bound N M : 2 <= M <= N -> ceil_div N (M - 1) * M <= 2 * N.
Proof.
  intros [L U]. set (T := ceil_div N (M - 1)).
  assert (E : T - 1 < T -> (T - 1) * (M - 1) < N) by (apply ceil_div_spec; lia).
  assert (1 < T) by (apply ceil_div_spec; lia). specialize (E ltac:(lia)).
  destruct T as [|[|T]]; [lia | lia |]. replace (S (S T) - 1) with (S T) in E by lia.
  destruct M as [|[|M]]; [lia | lia |]. replace (S (S M) - 1) with (S M) in E by lia. nia.
Qed.

(** Lemma 3.1: at most 4 (N/M)^2 calls, 8 (N/M)^2 as printed. *)
Theorem lemma_3_1_bound N M :
  2 <= M <= N -> let n := M - 1 in length (quadratic N n (ceil_div N n)) * (M * M) <= 4 * (N * N).
Proof. intros H n. rewrite lemma_3_1_calls. pose proof (blocks_bound N M H). subst n. nia. Qed.

Theorem lemma_3_1_printed_bound N M :
  2 <= M <= N ->
  let n := M - 1 in 2 * length (each_twice (quadratic N n (ceil_div N n))) * (M * M) <= 8 * (N * N).
Proof.
  intros H n. unfold each_twice. rewrite map_length. pose proof (lemma_3_1_bound N M H) as B. cbv zeta in B.
  subst n. lia.
Qed.

(** 4 is the best constant: N = M for every M, and M = 2 for every N, need it. *)
Theorem constant_4_is_attained_at_N_equal_M M :
  2 < M -> ceil_div M (M - 1) * ceil_div M (M - 1) * (M * M) = 4 * (M * M).
Proof.
  intro L. replace (ceil_div M (M - 1)) with 2; [lia|].
  assert (1 < ceil_div M (M - 1)) by (apply ceil_div_spec; lia).
  assert (~ 2 < ceil_div M (M - 1)) by (rewrite ceil_div_spec; lia). lia.
Qed.

Theorem constant_4_is_attained_at_M_equal_2 N : ceil_div N (2 - 1) * ceil_div N (2 - 1) * (2 * 2) = 4 * (N * N).
Proof. unfold ceil_div. simpl (2 - 1). rewrite Nat.div_1_r. replace (N + 1 - 1) with N by lia. lia. Qed.

(** ** Theorem 3.5 *)

Lemma triangle_length {A} (f : nat -> nat -> list A) T k :
  (forall u t, length (f u t) = k) ->
  2 * length (flat_map (fun u => flat_map (f u) (seq 0 u)) (seq 0 T)) = k * (T * (T - 1)).
Proof.
  intro E. induction T as [|T IH]; [simpl; lia|].
  rewrite seq_S, flat_map_app, app_length. cbn [flat_map]. rewrite app_nil_r.
  rewrite (length_flat_map_seq (f (0 + T)) (0 + T) k) by (intros; apply E).
  cbn [Nat.add]. rewrite Nat.mul_add_distr_l, IH. destruct T; simpl; nia.
Qed.

(** T calls on the diagonal, T(T-1)/2 forward and as many reversed; none is reversed for n = 1. *)
Theorem theorem_3_5_calls N n T : 2 <= n -> length (causal_schedule N n T) = T * T.
Proof.
  intro Hn. unfold causal_schedule. rewrite !app_length, map_length, seq_length.
  assert (F : 2 * length (flat_map (fun u => map (PAIRS N n u) (seq 0 u)) (seq 0 T)) = T * (T - 1)).
  { rewrite <- (Nat.mul_1_l (T * (T - 1))), <- (triangle_length (fun u t => [PAIRS N n u t])) by reflexivity.
    reflexivity. }
  assert (B : 2 * length (flat_map (fun u => flat_map (reversed N n u) (seq 0 u)) (seq 0 T)) = T * (T - 1)).
  { rewrite (triangle_length (reversed N n) T 1); [lia|].
    intros. unfold reversed. destruct (Nat.leb_spec 2 n); [reflexivity | lia]. }
  destruct T; simpl in *; lia.
Qed.

Theorem theorem_3_5_calls_M_2 N T : 2 * length (causal_schedule N 1 T) = T * (T + 1).
Proof.
  unfold causal_schedule. rewrite !app_length, map_length, seq_length.
  assert (F : 2 * length (flat_map (fun u => map (PAIRS N 1 u) (seq 0 u)) (seq 0 T)) = T * (T - 1)).
  { rewrite <- (Nat.mul_1_l (T * (T - 1))), <- (triangle_length (fun u t => [PAIRS N 1 u t])) by reflexivity.
    reflexivity. }
  assert (B : 2 * length (flat_map (fun u => flat_map (reversed N 1 u) (seq 0 u)) (seq 0 T)) = 0 * (T * (T - 1))).
  { apply triangle_length. reflexivity. }
  destruct T; simpl in *; lia.
Qed.

Theorem theorem_3_5_bound N M :
  2 <= M <= N -> let n := M - 1 in length (causal_schedule N n (ceil_div N n)) * (M * M) <= 4 * (N * N).
Proof.
  intros H n. pose proof (blocks_bound N M H) as B. fold n in B. set (T := ceil_div N n) in *.
  destruct (Nat.eq_dec n 1) as [->|D].
  - pose proof (theorem_3_5_calls_M_2 N T). assert (length (causal_schedule N 1 T) <= T * T) by nia. nia.
  - rewrite theorem_3_5_calls by lia. nia.
Qed.

(** ** Theorem 5.1 *)

Lemma sink_calls_length s : length (sink_calls s) <= 1.
Proof. unfold sink_calls. destruct (s =? 0); simpl; lia. Qed.

Theorem difference_calls N m r s :
  length (difference N m r s) = length (sink_calls s) + 2 * ceil_div (N - s) m.
Proof. unfold difference. rewrite !app_length, !map_length, !seq_length. lia. Qed.

(** O(N/M) calls for windows and sinks of constant size: the constant is 2 (r + s) + 7. *)
Theorem difference_bound N M r s :
  1 <= r -> r + s + 2 <= M -> M <= N ->
  length (difference N (M - 1 - r - s) r s) * M <= (2 * (r + s) + 7) * N.
Proof.
  intros Hr L U. rewrite difference_calls. pose proof (sink_calls_length s).
  set (m := M - 1 - r - s). assert (E : M = m + 1 + r + s) by lia.
  set (K := ceil_div (N - s) m). assert (0 < K) by (apply ceil_div_spec; lia).
  assert ((K - 1) * m < N - s) by (apply ceil_div_spec; lia).
  assert (K * m <= 2 * N) by nia. assert (K <= N) by nia.
  set (S := length (sink_calls s)) in *.
  assert (S * M <= 1 * M) by (apply Nat.mul_le_mono_r; assumption).
  assert (K * (1 + r + s) <= N * (1 + r + s)) by (apply Nat.mul_le_mono_r; assumption).
  replace ((S + 2 * K) * M) with (S * M + 2 * (K * m) + 2 * (K * (1 + r + s))) by (rewrite E; ring).
  replace ((2 * (r + s) + 7) * N) with (5 * N + 2 * (N * (1 + r + s))) by ring. lia.
Qed.

(** With every group in calls of its own: about 2 N / r calls, whatever M is. *)
Theorem suffix_prefix_calls N r s :
  2 <= r ->
  length (suffix_prefix N r s) = length (sink_calls s) + ceil_div (N - s) r + ceil_div (N - s - r) r.
Proof.
  intro Hr. unfold suffix_prefix, suffix_calls. rewrite !app_length, map_length, seq_length.
  destruct (Nat.leb_spec 2 r); [|lia]. rewrite map_length, seq_length. lia.
Qed.

(** ** The pair-covering lower bound *)

Open Scope R_scope.

Lemma holds_at_most_one N o : sum N (fun i => one_if (holds o i)) <= 1.
Proof.
  destruct o as [k|]; simpl; [|rewrite sum_zero by reflexivity; lra].
  rewrite (sum_ext _ _ (fun i => one_if (true && (k =? i)))) by reflexivity. rewrite sum_one_if.
  destruct (true && (k <? N)); simpl; lra.
Qed.

Lemma one_call_meets_M_squared sees N M call :
  (tokens call <= M)%nat ->
  sum N (fun i => sum N (fun j => sign call * meetings_in sees call i j)) <= INR M * INR M.
Proof.
  intro L. set (k := tokens call).
  apply Rle_trans with (sum k (fun p => sum k (fun q =>
    sum N (fun i => one_if (holds (query call p) i)) * sum N (fun j => one_if (holds (key call q) j))))).
  - rewrite (sum_ext k _ (fun p => sum N (fun i => sum k (fun q => sum N (fun j =>
      one_if (holds (query call p) i) * one_if (holds (key call q) j)))))).
    2:{ intros p _. rewrite sum_swap. apply sum_ext. intros q _. apply sum_mult. }
    rewrite (sum_swap k N). apply sum_le. intros i _. unfold meetings_in.
    rewrite (sum_ext k _ (fun p => sum N (fun j => sum k (fun q =>
      one_if (holds (query call p) i) * one_if (holds (key call q) j))))) by (intros; apply sum_swap).
    rewrite (sum_swap k N). apply sum_le. intros j _.
    assert (P : 0 <= sum k (fun p => sum k (fun q =>
      one_if (holds (query call p) i) * one_if (meets sees call p q j)))).
    { apply sum_nonneg. intros. apply sum_nonneg. intros. apply Rmult_le_pos; apply one_if_nonneg. }
    fold k. apply Rle_trans with (sum k (fun p => sum k (fun q =>
      one_if (holds (query call p) i) * one_if (meets sees call p q j)))).
    + unfold sign. destruct (minus call); lra.
    + apply sum_le. intros p _. apply sum_le. intros q _. apply Rmult_le_compat_l; [apply one_if_nonneg|].
      unfold meets. rewrite one_if_and. pose proof (one_if_nonneg (holds (key call q) j)).
      destruct (sees p q); simpl; lra.
  - apply Rle_trans with (sum k (fun _ => sum k (fun _ => 1))).
    + apply sum_le. intros p _. apply sum_le. intros q _.
      pose proof (holds_at_most_one N (query call p)). pose proof (holds_at_most_one N (key call q)).
      rewrite <- (Rmult_1_r 1). apply Rmult_le_compat; try assumption;
        apply sum_nonneg; intros; apply one_if_nonneg.
    + rewrite !sum_const. assert (INR k <= INR M) by (apply le_INR; exact L). pose proof (pos_INR k). nra.
Qed.

(** However the calls are arranged, to cover all pairs takes N^2 / M^2 of them: T^2 with T = N / (M-1) is the best
    up to the synthetic token. In particular N / M calls (B.1.step2) do not suffice when N > M. *)
Theorem pair_covering_lower_bound sees N M calls :
  (forall call, In call calls -> (tokens call <= M)%nat) ->
  (forall i, (i < N)%nat -> covers sees N calls everything i) ->
  INR N * INR N <= INR (length calls) * (INR M * INR M).
Proof.
  intros L C.
  apply Rle_trans with (sum N (fun i => sum N (fun j => meetings sees calls i j))).
  - rewrite (sum_ext N _ (fun _ => INR N * 1)); [rewrite sum_const; lra|].
    intros i Hi. rewrite <- sum_const. apply sum_ext. intros j Hj. apply (C i Hi j Hj).
  - rewrite <- lsum_const.
    rewrite (sum_ext N _ (fun i => lsum calls (fun k => sum N (fun j => sign k * meetings_in sees k i j))))
      by (intros; symmetry; apply lsum_sum).
    rewrite <- lsum_sum. apply lsum_le. intros call Hc. apply one_call_meets_M_squared, L, Hc.
Qed.
