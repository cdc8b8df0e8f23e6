(** Norms, by the properties that the error bounds use, and the two that the paper needs: an entry's absolute value,
    and the Euclidean norm in any dimension. *)

From Coq Require Import Reals Lra Lia Arith.
From TwoHeads Require Import Sums.
Open Scope R_scope.

Record is_norm (norm : (nat -> R) -> R) : Prop := {
  norm_same : forall x y, (forall c, x c = y c) -> norm x = norm y;
  norm_triangle : forall x y, norm (fun c => x c + y c) <= norm x + norm y;
  norm_scale : forall k x, norm (fun c => k * x c) = Rabs k * norm x
}.

Section Norm.
  Variable norm : (nat -> R) -> R.
  Hypothesis N : is_norm norm.

  Lemma norm_zero : norm (fun _ => 0) = 0.
  Proof.
    rewrite (norm_same _ N _ (fun _ => 0 * 0)) by (intros; ring).
    rewrite (norm_scale _ N 0 (fun _ => 0)), Rabs_R0. ring.
  Qed.

  Lemma norm_nonneg x : 0 <= norm x.
  Proof.
    pose proof (norm_triangle _ N x (fun c => -1 * x c)) as T. rewrite (norm_scale _ N) in T.
    rewrite (norm_same _ N (fun c => x c + -1 * x c) (fun _ => 0)), norm_zero in T by (intros; ring).
    rewrite (Rabs_left (-1)) in T by lra. lra.
  Qed.

  (** A weighted sum of vectors of norm at most V. *)
  Lemma norm_weighted_sum n w v V :
    (forall j, (j < n)%nat -> 0 <= w j) -> (forall j, (j < n)%nat -> norm (v j) <= V) ->
    norm (fun x => sum n (fun j => w j * v j x)) <= V * sum n w.
  Proof.
    induction n as [|n IH]; intros W B; simpl; [rewrite norm_zero; lra|].
    eapply Rle_trans; [apply (norm_triangle _ N)|]. rewrite (norm_scale _ N), Rabs_right by (apply Rle_ge, W; lia).
    specialize (IH ltac:(intros; apply W; lia) ltac:(intros; apply B; lia)).
    pose proof (W n ltac:(lia)). pose proof (B n ltac:(lia)). nra.
  Qed.
End Norm.

Theorem entry_is_norm x : is_norm (fun u => Rabs (u x)).
Proof.
  split; intros.
  - rewrite H. reflexivity.
  - apply Rabs_triang.
  - apply Rabs_mult.
Qed.

(** ** The Euclidean norm *)

Definition euclidean (d : nat) (u : nat -> R) : R := sqrt (dot d u u).

Lemma dot_expand d x y s t :
  dot d (fun c => s * x c + t * y c) (fun c => s * x c + t * y c) =
  s * s * dot d x x + 2 * s * t * dot d x y + t * t * dot d y y.
Proof. unfold dot. rewrite <- !sum_scal, <- !sum_plus. apply sum_ext. intros. ring. Qed.

Lemma cauchy_schwarz d x y : dot d x y * dot d x y <= dot d x x * dot d y y.
Proof.
  pose proof (dot_self_nonneg d x) as X. pose proof (dot_self_nonneg d y) as Y.
  pose proof (dot_self_nonneg d (fun c => dot d y y * x c + - dot d x y * y c)) as P. rewrite dot_expand in P.
  pose proof (dot_self_nonneg d (fun c => dot d x y * x c + - (dot d x x + 1) / 2 * y c)) as Q. rewrite dot_expand in Q.
  set (a := dot d x x) in *. set (b := dot d y y) in *. set (k := dot d x y) in *. clearbody a b k.
  destruct (Req_dec b 0) as [->|D]; [nra|]. apply Rmult_le_reg_l with b; nra.
Qed.

Theorem euclidean_is_norm d : is_norm (euclidean d).
Proof.
  unfold euclidean. split.
  - intros x y E. f_equal. apply dot_ext; intros; apply E.
  - intros x y.
    rewrite (dot_ext d _ _ (fun c => 1 * x c + 1 * y c) (fun c => 1 * x c + 1 * y c)) by (intros; ring).
    rewrite dot_expand. pose proof (dot_self_nonneg d x) as X. pose proof (dot_self_nonneg d y) as Y.
    pose proof (cauchy_schwarz d x y) as C.
    pose proof (sqrt_sqrt _ X) as SX. pose proof (sqrt_sqrt _ Y) as SY.
    pose proof (sqrt_pos (dot d x x)). pose proof (sqrt_pos (dot d y y)).
    set (a := sqrt (dot d x x)) in *. set (b := sqrt (dot d y y)) in *.
    rewrite <- (sqrt_square (a + b)) by lra. apply sqrt_le_1_alt. rewrite <- SX, <- SY in *.
    assert (dot d x y <= a * b); [|nra].
    destruct (Rle_lt_dec (dot d x y) (a * b)) as [L|G]; [exact L|]. assert (0 <= a * b) by nra. nra.
  - intros k x. rewrite (dot_ext d _ _ (fun c => k * x c + 0 * x c) (fun c => k * x c + 0 * x c)) by (intros; ring).
    rewrite dot_expand. replace (k * k * dot d x x + 2 * k * 0 * dot d x x + 0 * 0 * dot d x x)
      with (Rsqr k * dot d x x) by (unfold Rsqr; ring).
    rewrite sqrt_mult by (try apply Rle_0_sqr; apply dot_self_nonneg). rewrite sqrt_Rsqr_abs. reflexivity.
Qed.
