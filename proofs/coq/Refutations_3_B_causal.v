(** Printed causal calls of Appendix B that do not return what is said of them: B.5.first with B.1's call, and Claim
    B.6's scores and last denominator. *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Schedules Reconstruction.
Import ListNotations.
Open Scope R_scope.

(** ** B.5.first *)

(** B.1.off's call, the synthetic token last. *)
Definition SYNTHETIC_LAST (N n u t : nat) : Call :=
  {| tokens := S n; minus := false;
     query := fun p => if p <? n then place N (u * n + p) else None;
     key := fun q => if q <? n then place N (t * n + q) else None |}.

Lemma last_is_synthetic N n u t p :
  ((u + 1) * n <= N)%nat -> ((t + 1) * n <= N)%nat -> (p < n)%nat ->
  query (SYNTHETIC_LAST N n u t) p = Some (u * n + p)%nat /\ key (SYNTHETIC_LAST N n u t) p = Some (t * n + p)%nat.
Proof.
  intros U T Hp. unfold SYNTHETIC_LAST, place. cbn [query key].
  destruct (Nat.ltb_spec p n), (Nat.ltb_spec (u * n + p) N), (Nat.ltb_spec (t * n + p) N); split; reflexivity || lia.
Qed.

(** Under a causal mask no data row sees it: R is 1 whatever the weights, and R/(1 - R) is x/0. *)
Theorem B_5_first_R_is_1 a c N n u t p :
  (forall i j, 0 < a i j) -> ((u + 1) * n <= N)%nat -> ((t + 1) * n <= N)%nat -> (p < n)%nat ->
  output causal a c flag (SYNTHETIC_LAST N n u t) p = 1 /\
  share causal a c Merged (SYNTHETIC_LAST N n u t) p = 0.
Proof.
  intros P U T Hp. pose proof (fun q L => proj2 (last_is_synthetic N n u t q U T L)) as Y.
  set (call := SYNTHETIC_LAST N n u t) in *.
  assert (E : output causal a c flag call p = 1); [|split; [exact E | unfold share; rewrite E; cbn; ring]].
  rewrite (output_flag causal a c call (u * n + p)) by (apply last_is_synthetic; assumption).
  assert (B : blanks causal call p = 0).
  { apply sum_zero. intros q _. unfold blank, causal. destruct (Nat.leb_spec q p) as [L|L]; [|simpl; ring].
    rewrite Y by lia. simpl. ring. }
  assert (A : 0 < row_sum causal a (fun _ => 1) call (u * n + p) p); [|rewrite B; field; lra].
  apply (sum_pos_at _ _ p); [unfold call; cbn [tokens SYNTHETIC_LAST]; lia | |].
  - rewrite Y by exact Hp. unfold causal. rewrite Nat.leb_refl. cbn [one_if].
    pose proof (P (u * n + p)%nat (t * n + p)%nat). lra.
  - intros q _. apply Rmult_le_pos; [apply one_if_nonneg|].
    destruct (key call q) as [j|]; [pose proof (P (u * n + p)%nat j)|]; lra.
Qed.

(** ** Claim B.6 *)

(** B.6.scores: with a 1 at the end of both, the product of a query and a key is larger by 1 than printed. *)
Definition with_one (d : nat) (x : nat -> R) (z : nat) : R := if z <? d then x z else 1.

Theorem B_6_scores_are_larger_by_1 d q k :
  dot (d + 1) (with_one d q) (with_one d k) = dot d q k + 1 /\
  dot (d + 1) (with_one d q) (with_one d k) <> dot d q k.
Proof.
  assert (E : dot (d + 1) (with_one d q) (with_one d k) = dot d q k + 1); [|split; lra].
  rewrite dot_split. f_equal.
  - apply dot_ext; intros z Hz; unfold with_one; destruct (Nat.ltb_spec z d); reflexivity || lia.
  - unfold dot, with_one. cbn [sum]. destruct (Nat.ltb_spec (d + 0) d); [lia | ring].
Qed.

(** The printed scores, first row and column 1 and s_ij elsewhere, would give A/(A + e) and not A/(A + exp(0)). *)
Definition printed_score (s : nat -> nat -> R) (p q : nat) : R :=
  match p, q with S i, S j => s i j | _, _ => 1 end.

Theorem B_6_scores_as_printed_give_another_ratio s n i :
  (i < n)%nat ->
  let A := sum (S i) (fun j => exp (s i j)) in
  let row := attention (S n) causal (fun p q => exp (printed_score s p q)) (fun q => if q =? 0 then 0 else 1) (S i) in
  row = A / (A + exp 1) /\ row <> A / (A + exp 0).
Proof.
  intros Hi A row. assert (0 < A) as P by (apply sum_pos; [lia | intros; apply exp_pos]).
  assert (E : row = A / (A + exp 1)).
  { unfold row. rewrite attention_R, !sum_first. cbn [Nat.eqb printed_score].
    assert (F : forall f, sum n (fun q => one_if (causal (S i) (S q)) * f q) = sum (S i) f).
    { intro f. rewrite <- (sum_if_lt n (S i)) by lia. apply sum_ext. intros q _. unfold causal.
      change (S q <=? S i) with (q <=? i).
      destruct (Nat.leb_spec q i), (Nat.ltb_spec q (S i)); try lia; cbn [one_if]; ring. }
    rewrite (F (fun q => exp (s i q) * 1)), (F (fun q => exp (s i q))).
    rewrite (sum_ext _ (fun q => exp (s i q) * 1) (fun q => exp (s i q))) by (intros; ring). fold A.
    change (causal (S i) 0) with true. cbn [one_if]. f_equal; ring. }
  split; [exact E|]. rewrite E, exp_0. pose proof (exp_ineq1 1 ltac:(lra)). intro G.
  assert (A * (A + 1) = A * (A + exp 1)); [|nra].
  replace (A * (A + 1)) with (A / (A + exp 1) * ((A + exp 1) * (A + 1))) by (field; lra). rewrite G. field. lra.
Qed.

(** B.6.ratio for i = M + 1 has a_{M,M+1} in its last denominator: no token of the call holds that key. *)
Theorem B_6_ratio_last_key_is_in_no_token n q : key (block n) q <> Some n.
Proof.
  cbn. destruct q as [|q]; cbn; [discriminate|]. unfold place.
  destruct (Nat.ltb_spec q n); [intro E; injection E; lia | discriminate].
Qed.
