(** Finite sums over the reals: what every other file builds on.

    [sum n f] is f 0 + ... + f (n-1); [lsum l f] sums f over a list. A vector of dimension d is a function
    [nat -> R] of which the first d entries count, so that statements about one entry cover any dimension. *)

From Coq Require Import Reals Lra Lia Arith List Permutation.
Import ListNotations.
Open Scope R_scope.

Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 0
  | S n' => sum n' f + f n'
  end.

Fixpoint lsum {A : Type} (l : list A) (f : A -> R) : R :=
  match l with
  | [] => 0
  | x :: l' => f x + lsum l' f
  end.

(** ** Rewriting under a sum *)

Lemma sum_ext n f g : (forall k, (k < n)%nat -> f k = g k) -> sum n f = sum n g.
Proof.
  induction n as [|n IH]; intro E; simpl; [reflexivity|].
  rewrite IH by (intros; apply E; lia). rewrite E by lia. reflexivity.
Qed.

Lemma sum_zero n f : (forall k, (k < n)%nat -> f k = 0) -> sum n f = 0.
Proof. induction n as [|n IH]; intro E; simpl; [reflexivity|]. rewrite IH, E by (auto; lia). ring. Qed.

Lemma sum_const n c : sum n (fun _ => c) = INR n * c.
Proof. induction n as [|n IH]; [simpl; ring|]. rewrite S_INR. simpl sum. rewrite IH. ring. Qed.

Lemma sum_plus n f g : sum n (fun k => f k + g k) = sum n f + sum n g.
Proof. induction n as [|n IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma sum_minus n f g : sum n (fun k => f k - g k) = sum n f - sum n g.
Proof. induction n as [|n IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma sum_opp n f : sum n (fun k => - f k) = - sum n f.
Proof. induction n as [|n IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma sum_scal n c f : sum n (fun k => c * f k) = c * sum n f.
Proof. induction n as [|n IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma sum_scal_r n c f : sum n (fun k => f k * c) = sum n f * c.
Proof. induction n as [|n IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma sum_div n c f : sum n (fun k => f k / c) = sum n f / c.
Proof. apply sum_scal_r. Qed.

(** ** Cutting, joining, reordering *)

Lemma sum_split a b f : sum (a + b) f = sum a f + sum b (fun k => f (a + k)%nat).
Proof.
  induction b as [|b IH]; simpl; [rewrite Nat.add_0_r; ring|].
  rewrite Nat.add_succ_r. simpl. rewrite IH. ring.
Qed.

Lemma sum_first n f : sum (S n) f = f O + sum n (fun k => f (S k)).
Proof. rewrite (sum_split 1 n f : sum (S n) f = _). simpl. ring. Qed.

(** T blocks of length n, one after the other. *)
Lemma sum_blocks T n f : sum T (fun t => sum n (fun p => f (t * n + p)%nat)) = sum (T * n) f.
Proof.
  induction T as [|T IH]; simpl; [reflexivity|].
  rewrite IH, (Nat.add_comm n), sum_split. reflexivity.
Qed.

Lemma sum_rev n f : sum n (fun k => f (n - 1 - k)%nat) = sum n f.
Proof.
  induction n as [|n IH]; [reflexivity|].
  rewrite sum_first. simpl sum. rewrite <- IH, Rplus_comm. f_equal.
  - apply sum_ext. intros k Hk. f_equal. lia.
  - f_equal. lia.
Qed.

Lemma sum_swap n m (f : nat -> nat -> R) :
  sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n as [|n IH]; simpl.
  - symmetry. apply sum_zero. reflexivity.
  - rewrite IH, <- sum_plus. reflexivity.
Qed.

Lemma sum_mult n m f g : sum n f * sum m g = sum n (fun i => sum m (fun j => f i * g j)).
Proof. rewrite <- sum_scal_r. apply sum_ext. intros. symmetry. apply sum_scal. Qed.

(** ** Order *)

Lemma sum_le n f g : (forall k, (k < n)%nat -> f k <= g k) -> sum n f <= sum n g.
Proof.
  induction n as [|n IH]; intro L; simpl; [lra|].
  apply Rplus_le_compat; [apply IH; intros; apply L; lia | apply L; lia].
Qed.

Lemma sum_nonneg n f : (forall k, (k < n)%nat -> 0 <= f k) -> 0 <= sum n f.
Proof. intro P. rewrite <- (sum_zero n (fun _ => 0)) by reflexivity. apply sum_le. exact P. Qed.

(** One positive term among non-negative ones is enough. *)
Lemma sum_pos_at n f k :
  (k < n)%nat -> 0 < f k -> (forall k, (k < n)%nat -> 0 <= f k) -> 0 < sum n f.
Proof.
  induction n as [|n IH]; intros Hk P NN; simpl; [lia|].
  destruct (Nat.eq_dec k n) as [->|D].
  - assert (0 <= sum n f) by (apply sum_nonneg; intros; apply NN; lia). lra.
  - assert (0 < sum n f) by (apply IH; [lia | exact P | intros; apply NN; lia]).
    assert (0 <= f n) by (apply NN; lia). lra.
Qed.

Lemma sum_pos n f : (0 < n)%nat -> (forall k, (k < n)%nat -> 0 < f k) -> 0 < sum n f.
Proof. intros Hn P. apply (sum_pos_at n f 0); auto. intros. left. auto. Qed.

Lemma sum_le_longer n m f :
  (n <= m)%nat -> (forall k, (n <= k < m)%nat -> 0 <= f k) -> sum n f <= sum m f.
Proof.
  intros L P. replace m with (n + (m - n))%nat by lia. rewrite sum_split.
  assert (0 <= sum (m - n) (fun k => f (n + k)%nat)) by (apply sum_nonneg; intros; apply P; lia). lra.
Qed.

Lemma term_le_sum n f k : (k < n)%nat -> (forall k, (k < n)%nat -> 0 <= f k) -> f k <= sum n f.
Proof.
  induction n as [|n IH]; intros Hk P; simpl; [lia|].
  assert (0 <= f n) by (apply P; lia).
  assert (0 <= sum n f) by (apply sum_nonneg; intros; apply P; lia).
  destruct (Nat.eq_dec k n) as [->|D]; [lra|].
  assert (f k <= sum n f) by (apply IH; [lia | intros; apply P; lia]). lra.
Qed.

Lemma sum_Rabs n f : Rabs (sum n f) <= sum n (fun k => Rabs (f k)).
Proof.
  induction n as [|n IH]; simpl; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply Rabs_triang | apply Rplus_le_compat_r, IH].
Qed.

(** ** Indicators *)

Lemma sum_indicator n i f :
  sum n (fun k => if k =? i then f k else 0) = if i <? n then f i else 0.
Proof.
  induction n as [|n IH]; [reflexivity|]. simpl sum. rewrite IH.
  destruct (Nat.eqb_spec n i), (Nat.ltb_spec i n), (Nat.ltb_spec i (S n)); subst; try lia; ring.
Qed.

Lemma sum_if_lt n m f : (m <= n)%nat -> sum n (fun k => if k <? m then f k else 0) = sum m f.
Proof.
  intro L. replace n with (m + (n - m))%nat by lia. rewrite sum_split, (sum_zero (n - m)).
  - rewrite Rplus_0_r. apply sum_ext. intros k Hk. destruct (Nat.ltb_spec k m); [reflexivity | lia].
  - intros k _. destruct (Nat.ltb_spec (m + k) m); [lia | reflexivity].
Qed.

(** Position i = u n + p, in block u = i / n at place p = i mod n, is met once. *)
Lemma sum_pick_place T n i (f : nat -> nat -> R) :
  (0 < n)%nat ->
  sum T (fun u => sum n (fun p => if u * n + p =? i then f u p else 0)) =
  if i <? T * n then f (i / n)%nat (i mod n) else 0.
Proof.
  intro Hn. rewrite <- (sum_indicator (T * n) i (fun x => f (x / n)%nat (x mod n))), <- sum_blocks.
  apply sum_ext. intros u _. apply sum_ext. intros p Hp.
  replace ((u * n + p) / n)%nat with u by (apply (Nat.div_unique _ n u p); lia).
  replace ((u * n + p) mod n) with p by (apply (Nat.mod_unique _ n u p); lia). reflexivity.
Qed.

(** ** Sums over a list *)

Lemma lsum_ext {A} (l : list A) f g : (forall x, In x l -> f x = g x) -> lsum l f = lsum l g.
Proof.
  induction l as [|x l IH]; intro E; simpl; [reflexivity|].
  rewrite (E x) by (left; reflexivity). rewrite IH by (intros; apply E; right; assumption). reflexivity.
Qed.

Lemma lsum_app {A} (l l' : list A) f : lsum (l ++ l') f = lsum l f + lsum l' f.
Proof. induction l as [|x l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma lsum_map {A B} (g : A -> B) (l : list A) f : lsum (map g l) f = lsum l (fun x => f (g x)).
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Lemma lsum_flat_map {A B} (g : A -> list B) (l : list A) f :
  lsum (flat_map g l) f = lsum l (fun x => lsum (g x) f).
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite lsum_app, IH. reflexivity. Qed.

Lemma lsum_seq start n f : lsum (seq start n) f = sum n (fun k => f (start + k)%nat).
Proof.
  revert start. induction n as [|n IH]; intro start; [reflexivity|]. simpl lsum.
  rewrite IH, sum_first, Nat.add_0_r. f_equal. apply sum_ext. intros k _. f_equal. lia.
Qed.

Lemma lsum_zero {A} (l : list A) f : (forall x, In x l -> f x = 0) -> lsum l f = 0.
Proof.
  induction l as [|x l IH]; intro E; simpl; [reflexivity|].
  rewrite (E x), IH; [ring | intros; apply E; right; assumption | left; reflexivity].
Qed.

Lemma lsum_plus {A} (l : list A) f g : lsum l (fun x => f x + g x) = lsum l f + lsum l g.
Proof. induction l as [|x l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma lsum_scal {A} (l : list A) c f : lsum l (fun x => c * f x) = c * lsum l f.
Proof. induction l as [|x l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma lsum_scal_r {A} (l : list A) c f : lsum l (fun x => f x * c) = lsum l f * c.
Proof. induction l as [|x l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma lsum_const {A} (l : list A) c : lsum l (fun _ => c) = INR (length l) * c.
Proof. induction l as [|x l IH]; [simpl; ring|]. simpl length. rewrite S_INR. simpl lsum. rewrite IH. ring. Qed.

Lemma lsum_sum {A} (l : list A) n (f : A -> nat -> R) :
  lsum l (fun x => sum n (f x)) = sum n (fun k => lsum l (fun x => f x k)).
Proof.
  induction l as [|x l IH]; simpl.
  - symmetry. apply sum_zero. reflexivity.
  - rewrite IH, <- sum_plus. reflexivity.
Qed.

Lemma lsum_le {A} (l : list A) f g : (forall x, In x l -> f x <= g x) -> lsum l f <= lsum l g.
Proof.
  induction l as [|x l IH]; intro L; simpl; [lra|].
  apply Rplus_le_compat; [apply L; left; reflexivity | apply IH; intros; apply L; right; assumption].
Qed.

Lemma lsum_nonneg {A} (l : list A) f : (forall x, In x l -> 0 <= f x) -> 0 <= lsum l f.
Proof. intro P. rewrite <- (lsum_zero l (fun _ => 0)) by reflexivity. apply lsum_le. exact P. Qed.

Lemma lsum_perm {A} (l l' : list A) f : Permutation l l' -> lsum l f = lsum l' f.
Proof. induction 1; simpl; lra. Qed.

(** ** Vectors *)

Definition dot (d : nat) (x y : nat -> R) : R := sum d (fun c => x c * y c).

Lemma dot_comm d x y : dot d x y = dot d y x.
Proof. apply sum_ext. intros. ring. Qed.

Lemma dot_split a b x y :
  dot (a + b) x y = dot a x y + dot b (fun c => x (a + c)%nat) (fun c => y (a + c)%nat).
Proof. apply sum_split. Qed.

Lemma dot_ext d x y x' y' :
  (forall c, (c < d)%nat -> x c = x' c) -> (forall c, (c < d)%nat -> y c = y' c) -> dot d x y = dot d x' y'.
Proof. intros X Y. apply sum_ext. intros c Hc. rewrite X, Y by exact Hc. reflexivity. Qed.

Lemma dot_self_nonneg d x : 0 <= dot d x x.
Proof. apply sum_nonneg. intros. apply Rle_0_sqr. Qed.
