(** From token vectors to weights: the oracle's own matrices, padded, give exactly the weights and values that the
    model of a call assumes.

    A token is [key token, query token, data flag, synthetic flag], 2d + 2 numbers (B.1.off, with one more flag). The
    padded W_Q reads the query token and both flags' sum, so a query becomes (q_i, 1); the padded W_K reads the key
    token and log c times the synthetic flag, so keys become (k_j, 0) and (0, log c). *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Schedules Reconstruction Coverage Lemma_3_1 Theorem_3_5 Theorem_5_1.
Open Scope R_scope.

(** Row vector times matrix, and the softmax weights of a head (Definition 2.1). *)
Definition times (d : nat) (x : nat -> R) (W : nat -> nat -> R) (y : nat) : R := sum d (fun z => x z * W z y).

Definition head_weight (d m : nat) (X W_Q W_K : nat -> nat -> R) (i j : nat) : R :=
  exp (dot m (times d (X i) W_Q) (times d (X j) W_K)).

Lemma head_weight_positive d m X W_Q W_K i j : 0 < head_weight d m X W_Q W_K i j.
Proof. apply exp_pos. Qed.

Section Tokens.
  Variables d m : nat.
  Variable X : nat -> nat -> R.
  Variables W_Q W_K W_V : nat -> nat -> R.
  Variable log_c : R.
  Variable call : Call.

  (** The tokens that the simulator feeds. *)
  Definition token (p z : nat) : R :=
    if z <? d then match key call p with Some j => X j z | None => 0 end
    else if z <? d + d then match query call p with Some i => X i (z - d)%nat | None => 0 end
    else if z =? d + d then match key call p with Some _ => 1 | None => 0 end
    else match key call p with Some _ => 0 | None => 1 end.

  Definition width : nat := d + d + 2.

  (** The head's matrices, padded by fixed numbers. *)
  Definition padded_Q (z y : nat) : R :=
    if y <? m then (if (d <=? z) && (z <? d + d) then W_Q (z - d)%nat y else 0)
    else if d + d <=? z then 1 else 0.

  Definition padded_K (z y : nat) : R :=
    if y <? m then (if z <? d then W_K z y else 0) else if z =? d + d + 1 then log_c else 0.

  (** Values: W_V's columns, then the two flags. *)
  Definition padded_V (d_v z y : nat) : R :=
    if y <? d_v then (if z <? d then W_V z y else 0) else if z =? d + d + (y - d_v) then 1 else 0.

  Lemma times_width x W y :
    times width x W y =
    sum d (fun z => x z * W z y) + sum d (fun z => x (d + z)%nat * W (d + z)%nat y) +
    x (d + d)%nat * W (d + d)%nat y + x (d + d + 1)%nat * W (d + d + 1)%nat y.
  Proof.
    unfold times, width. rewrite !sum_split. cbn [sum]. rewrite Nat.add_0_r. ring.
  Qed.

  Lemma token_key p z : (z < d)%nat -> token p z = match key call p with Some j => X j z | None => 0 end.
  Proof. intro Hz. unfold token. destruct (Nat.ltb_spec z d); [reflexivity | lia]. Qed.

  Lemma token_query p z :
    (z < d)%nat -> token p (d + z)%nat = match query call p with Some i => X i z | None => 0 end.
  Proof.
    intro Hz. unfold token. destruct (Nat.ltb_spec (d + z) d), (Nat.ltb_spec (d + z) (d + d)); try lia.
    replace (d + z - d)%nat with z by lia. reflexivity.
  Qed.

  Lemma token_data p : token p (d + d)%nat = match key call p with Some _ => 1 | None => 0 end.
  Proof.
    unfold token. destruct (Nat.ltb_spec (d + d) d), (Nat.ltb_spec (d + d) (d + d)); try lia.
    rewrite Nat.eqb_refl. reflexivity.
  Qed.

  Lemma token_synthetic p : token p (d + d + 1)%nat = match key call p with Some _ => 0 | None => 1 end.
  Proof.
    unfold token. destruct (Nat.ltb_spec (d + d + 1) d), (Nat.ltb_spec (d + d + 1) (d + d)),
      (Nat.eqb_spec (d + d + 1) (d + d)); try lia. reflexivity.
  Qed.

  (** A row's query is (q_i, 1). *)
  Lemma padded_query p y :
    (y < m)%nat ->
    times width (token p) padded_Q y =
    match query call p with Some i => times d (X i) W_Q y | None => 0 end.
  Proof.
    intro Hy. rewrite times_width, (sum_zero d).
    - rewrite (sum_ext d _ (fun z => match query call p with Some i => X i z * W_Q z y | None => 0 end)).
      + unfold padded_Q. destruct (Nat.ltb_spec y m); [|lia].
        destruct (Nat.leb_spec d (d + d)), (Nat.ltb_spec (d + d) (d + d)), (Nat.leb_spec d (d + d + 1)),
          (Nat.ltb_spec (d + d + 1) (d + d)); try lia. cbn [andb]. unfold times.
        destruct (query call p); [|rewrite sum_zero by reflexivity]; ring.
      + intros z Hz. rewrite token_query by exact Hz. unfold padded_Q. destruct (Nat.ltb_spec y m); [|lia].
        destruct (Nat.leb_spec d (d + z)), (Nat.ltb_spec (d + z) (d + d)); try lia. cbn [andb].
        replace (d + z - d)%nat with z by lia. destruct (query call p); ring.
    - intros z Hz. unfold padded_Q. destruct (Nat.ltb_spec y m), (Nat.leb_spec d z); try lia. cbn [andb]. ring.
  Qed.

  Lemma padded_query_flag p : times width (token p) padded_Q m = 1.
  Proof.
    rewrite times_width, !(sum_zero d).
    - rewrite token_data, token_synthetic. unfold padded_Q. destruct (Nat.ltb_spec m m); [lia|].
      destruct (Nat.leb_spec (d + d) (d + d)), (Nat.leb_spec (d + d) (d + d + 1)); try lia.
      destruct (key call p); ring.
    - intros z Hz. unfold padded_Q. destruct (Nat.ltb_spec m m), (Nat.leb_spec (d + d) (d + z)); try lia. ring.
    - intros z Hz. unfold padded_Q. destruct (Nat.ltb_spec m m), (Nat.leb_spec (d + d) z); try lia. ring.
  Qed.

  (** A row's key is (k_j, 0) or (0, log c). *)
  Lemma padded_key p y :
    (y < m)%nat ->
    times width (token p) padded_K y =
    match key call p with Some j => times d (X j) W_K y | None => 0 end.
  Proof.
    intro Hy. rewrite times_width.
    rewrite (sum_ext d (fun z => token p z * _)
      (fun z => match key call p with Some j => X j z * W_K z y | None => 0 end)).
    - rewrite (sum_zero d (fun z => token p (d + z)%nat * _)).
      + unfold padded_K. destruct (Nat.ltb_spec y m); [|lia].
        destruct (Nat.ltb_spec (d + d) d), (Nat.ltb_spec (d + d + 1) d); try lia. unfold times.
        destruct (key call p); [|rewrite sum_zero by reflexivity]; ring.
      + intros z Hz. unfold padded_K. destruct (Nat.ltb_spec y m), (Nat.ltb_spec (d + z) d); try lia. ring.
    - intros z Hz. rewrite token_key by exact Hz. unfold padded_K.
      destruct (Nat.ltb_spec y m), (Nat.ltb_spec z d); try lia. destruct (key call p); ring.
  Qed.

  Lemma padded_key_flag p :
    times width (token p) padded_K m = match key call p with Some _ => 0 | None => log_c end.
  Proof.
    rewrite times_width, !(sum_zero d).
    - rewrite token_data, token_synthetic. unfold padded_K. destruct (Nat.ltb_spec m m); [lia|].
      rewrite Nat.eqb_refl. destruct (Nat.eqb_spec (d + d) (d + d + 1)); [lia|]. destruct (key call p); ring.
    - intros z Hz. unfold padded_K. destruct (Nat.ltb_spec m m), (Nat.eqb_spec (d + z) (d + d + 1)); try lia. ring.
    - intros z Hz. unfold padded_K. destruct (Nat.ltb_spec m m), (Nat.eqb_spec z (d + d + 1)); try lia. ring.
  Qed.

  (** The oracle's softmax weights on these tokens, inner dimension m + 1, are the model's weights: a_ij on data,
      c on synthetic tokens. *)
  Theorem tokens_give_weights p q :
    exp (dot (m + 1) (times width (token p) padded_Q) (times width (token q) padded_K)) =
    weight (head_weight d m X W_Q W_K) (exp log_c) call p q.
  Proof.
    unfold weight, head_weight. rewrite dot_split. unfold dot at 2. cbn [sum]. rewrite Nat.add_0_r.
    rewrite padded_query_flag, padded_key_flag.
    rewrite (dot_ext m _ _ (fun y => match query call p with Some i => times d (X i) W_Q y | None => 0 end)
      (fun y => match key call q with Some j => times d (X j) W_K y | None => 0 end))
      by (intros; first [apply padded_query | apply padded_key]; assumption).
    destruct (key call q) as [j|].
    - rewrite Rmult_0_r, !Rplus_0_r. destruct (query call p) as [i|]; [reflexivity|].
      unfold dot. rewrite sum_zero by (intros; ring). apply exp_0.
    - unfold dot. rewrite sum_zero by (intros; ring). f_equal. ring.
  Qed.

  (** The oracle's values are the model's: v_j, and the two flags. *)
  Theorem tokens_give_data d_v p x :
    (x < d_v)%nat -> times width (token p) (padded_V d_v) x = data (fun j => times d (X j) W_V) x call p.
  Proof.
    intro Hx. rewrite times_width. unfold data.
    rewrite (sum_ext d (fun z => token p z * _)
      (fun z => match key call p with Some j => X j z * W_V z x | None => 0 end)).
    - rewrite (sum_zero d (fun z => token p (d + z)%nat * _)).
      + unfold padded_V. destruct (Nat.ltb_spec x d_v); [|lia].
        destruct (Nat.ltb_spec (d + d) d), (Nat.ltb_spec (d + d + 1) d); try lia. unfold times.
        destruct (key call p); [|rewrite sum_zero by reflexivity]; cbn; ring.
      + intros z Hz. unfold padded_V. destruct (Nat.ltb_spec x d_v), (Nat.ltb_spec (d + z) d); try lia. ring.
    - intros z Hz. rewrite token_key by exact Hz. unfold padded_V.
      destruct (Nat.ltb_spec x d_v), (Nat.ltb_spec z d); try lia. destruct (key call p); ring.
  Qed.

  Lemma padded_V_flag d_v p k :
    (k < 2)%nat -> times width (token p) (padded_V d_v) (d_v + k) = token p (d + d + k)%nat.
  Proof.
    intro Hk. assert (E : forall z, padded_V d_v z (d_v + k) = if z =? d + d + k then 1 else 0).
    { intro z. unfold padded_V. destruct (Nat.ltb_spec (d_v + k) d_v); [lia|].
      replace (d_v + k - d_v)%nat with k by lia. reflexivity. }
    rewrite times_width, !(sum_zero d); [rewrite !E | intros z Hz; rewrite E | intros z Hz; rewrite E].
    - destruct k as [|[|k]]; [| |lia].
      + rewrite Nat.add_0_r, Nat.eqb_refl. destruct (Nat.eqb_spec (d + d + 1) (d + d)); [lia|]. ring.
      + rewrite Nat.eqb_refl. destruct (Nat.eqb_spec (d + d) (d + d + 1)); [lia|]. ring.
    - destruct (Nat.eqb_spec (d + z) (d + d + k)); [lia | ring].
    - destruct (Nat.eqb_spec z (d + d + k)); [lia | ring].
  Qed.

  Theorem tokens_give_flags d_v p :
    times width (token p) (padded_V d_v) d_v = flag call p /\
    times width (token p) (padded_V d_v) (d_v + 1) = synthetic call p.
  Proof.
    split; [rewrite <- (Nat.add_0_r d_v) at 2|]; rewrite padded_V_flag by lia.
    - rewrite Nat.add_0_r. apply token_data.
    - apply token_synthetic.
  Qed.
End Tokens.

(** B.1.ratio: with a 1 appended to queries and keys alike, as printed, all scores grow by 1 and nothing changes. *)
Theorem printed_scores_cancel n (score : nat -> R) :
  let A := sum n (fun j => exp (score j)) in
  sum n (fun j => exp (score j + 1)) / (sum n (fun j => exp (score j + 1)) + exp 1) = A / (A + exp 0).
Proof.
  intro A. rewrite exp_0.
  assert (0 <= A) by (apply sum_nonneg; intros; left; apply exp_pos). pose proof (exp_pos 1).
  rewrite (sum_ext n _ (fun j => exp (score j) * exp 1)) by (intros; apply exp_plus).
  rewrite sum_scal_r. fold A. field. split; nra.
Qed.

(** The three results for a head: X (N, d), W_Q, W_K (d, m), W_V (d, d_v) of any dimensions. *)
Section Heads.
  Variables (d m : nat) (X W_Q W_K W_V : nat -> nat -> R) (log_c : R) (N : nat).
  Let a := head_weight d m X W_Q W_K.
  Let v (j : nat) := times d (X j) W_V.
  Let c := exp log_c.

  Theorem lemma_3_1_for_a_head n T variant i x :
    (0 < n)%nat -> (N <= T * n)%nat -> (i < N)%nat ->
    simulate full a c v variant (quadratic N n T) i x = attention N everything a (fun j => v j x) i.
  Proof. intros. apply lemma_3_1; auto; intros; apply exp_pos. Qed.

  Theorem theorem_3_5_for_a_head n T variant i x :
    (0 < n)%nat -> (N <= T * n)%nat -> (i < N)%nat ->
    simulate causal a c v variant (causal_schedule N n T) i x = attention N causal_mask a (fun j => v j x) i.
  Proof. intros. apply theorem_3_5; auto; intros; apply exp_pos. Qed.

  Theorem theorem_5_1_difference_for_a_head n r s variant i x :
    (0 < n)%nat -> (0 < r)%nat -> (s <= N)%nat -> (i < N)%nat ->
    simulate causal a c v variant (difference N n r s) i x = attention N (sink_mask r s) a (fun j => v j x) i.
  Proof. intros. apply theorem_5_1_difference; auto; intros; apply exp_pos. Qed.

  Theorem theorem_5_1_suffix_prefix_for_a_head r s variant i x :
    (0 < r)%nat -> (s <= N)%nat -> (i < N)%nat ->
    simulate causal a c v variant (suffix_prefix N r s) i x = attention N (sink_mask r s) a (fun j => v j x) i.
  Proof. intros. apply theorem_5_1_suffix_prefix; auto; intros; apply exp_pos. Qed.
End Heads.
