(** All permutations of a list, and sums over them: every place meets every element equally often. *)

From Coq Require Import Reals Lra Lia Arith List Permutation.
From TwoHeads Require Import Sums.
Import ListNotations.
Open Scope R_scope.

(** The lists that have x at one place more than s. *)
Fixpoint insertions {A : Type} (x : A) (s : list A) : list (list A) :=
  match s with
  | [] => [[x]]
  | y :: s' => (x :: s) :: map (cons y) (insertions x s')
  end.

Fixpoint permutations {A : Type} (l : list A) : list (list A) :=
  match l with
  | [] => [[]]
  | x :: l' => flat_map (insertions x) (permutations l')
  end.

Lemma in_insertions {A} (x : A) s s' : In s' (insertions x s) <-> exists s1 s2, s = s1 ++ s2 /\ s' = s1 ++ x :: s2.
Proof.
  revert s'. induction s as [|y s IH]; intro s'; simpl.
  - split; [intros [<-|[]]; exists [], []; auto|].
    intros (s1 & s2 & E & ->). symmetry in E. apply app_eq_nil in E. destruct E as [-> ->]. left. reflexivity.
  - rewrite in_map_iff. split.
    + intros [<-|(s'' & <- & I)]; [exists [], (y :: s); auto|].
      apply IH in I. destruct I as (s1 & s2 & -> & ->). exists (y :: s1), s2. auto.
    + intros ([|z s1] & s2 & E & ->); simpl in *; [left; subst; reflexivity|]. injection E as <- E.
      right. eexists. split; [reflexivity|]. apply IH. exists s1, s2. auto.
Qed.

(** Nothing but permutations, and all of them. *)
Theorem permutations_are_all {A} (l s : list A) : In s (permutations l) <-> Permutation l s.
Proof.
  revert s. induction l as [|x l IH]; intro s; simpl.
  - split; [intros [<-|[]]; constructor | intro P; left; apply Permutation_nil in P; auto].
  - rewrite in_flat_map. split.
    + intros (s' & I & J). apply IH in I. apply in_insertions in J. destruct J as (s1 & s2 & -> & ->).
      apply Permutation_cons_app, I.
    + intro P. destruct (in_split x s) as (s1 & s2 & ->); [apply (Permutation_in x P); left; reflexivity|].
      exists (s1 ++ s2). split; [apply IH, (Permutation_cons_app_inv s1 s2 P)|].
      apply in_insertions. exists s1, s2. auto.
Qed.

Lemma permutations_have_length {A} (l s : list A) : In s (permutations l) -> length s = length l.
Proof. intro I. symmetry. apply Permutation_length, permutations_are_all, I. Qed.

Lemma insertions_length {A} (x : A) s : length (insertions x s) = S (length s).
Proof. induction s as [|y s IH]; simpl; [reflexivity|]. rewrite map_length, IH. reflexivity. Qed.

(** As many as there are, so that distinct keys give every permutation once. *)
Theorem permutations_length {A} (l : list A) : length (permutations l) = fact (length l).
Proof.
  induction l as [|x l IH]; [reflexivity|]. simpl permutations.
  assert (E : forall L, (forall s, In s L -> length s = length l) ->
    length (flat_map (insertions x) L) = (S (length l) * length L)%nat).
  { induction L as [|s L IHL]; intro B; simpl flat_map; [simpl; lia|].
    rewrite app_length, insertions_length, IHL by (intros; apply B; right; assumption).
    rewrite (B s) by (left; reflexivity). simpl length. lia. }
  rewrite E by (apply permutations_have_length). rewrite IH. reflexivity.
Qed.

(** A sum with a weight for every place. *)
Fixpoint placed {A} (g : nat -> R) (f : A -> R) (s : list A) : R :=
  match s with
  | [] => 0
  | x :: s' => g 0%nat * f x + placed (fun p => g (S p)) f s'
  end.

Lemma placed_plus {A} g g' (f : A -> R) s : placed g f s + placed g' f s = placed (fun p => g p + g' p) f s.
Proof. revert g g'. induction s as [|x s IH]; intros; simpl; [ring|]. rewrite <- IH. ring. Qed.

Lemma placed_ext {A} g g' (f : A -> R) s : (forall p, g p = g' p) -> placed g f s = placed g' f s.
Proof.
  revert g g'. induction s as [|x s IH]; intros g g' E; simpl; [reflexivity|]. rewrite E. f_equal. apply IH.
  intro. apply E.
Qed.

(** Of the n + 1 insertions, p + 1 move place p up by one. *)
Definition shifted (n : nat) (g : nat -> R) (p : nat) : R := (INR n - INR p) * g p + INR (S p) * g (S p).

Lemma sum_over_insertions {A} g (f : A -> R) x s :
  lsum (insertions x s) (placed g f) = sum (S (length s)) g * f x + placed (shifted (length s) g) f s.
Proof.
  revert g. induction s as [|y s IH]; intro g; [simpl; ring|].
  cbn [insertions lsum placed]. rewrite lsum_map. cbn [placed]. rewrite lsum_plus, lsum_const, insertions_length, IH.
  cbn [length]. rewrite (sum_first (S (length s))).
  rewrite (placed_ext (fun p => shifted (S (length s)) g (S p))
    (fun p => g (S (S p)) + shifted (length s) (fun p => g (S p)) p)), <- placed_plus.
  - unfold shifted. rewrite !S_INR. simpl (INR 0). ring.
  - intro p. unfold shifted. rewrite !S_INR. ring.
Qed.

Lemma sum_shifted n g : sum n (shifted n g) = INR n * sum (S n) g.
Proof.
  assert (E : forall k, sum k (shifted n g) = INR n * sum k g + INR k * g k).
  { induction k as [|k IH]; [simpl; ring|]. simpl sum. rewrite IH. unfold shifted. rewrite !S_INR. ring. }
  rewrite E. simpl sum. ring.
Qed.

(** With n elements, every place meets each of them (n-1)! times. *)
Lemma sum_over_permutations {A} (f : A -> R) l x g :
  lsum (permutations (x :: l)) (placed g f) = INR (fact (length l)) * sum (S (length l)) g * lsum (x :: l) f.
Proof.
  revert x g. induction l as [|y l IH]; intros x g; [simpl; ring|].
  change (permutations (x :: y :: l)) with (flat_map (insertions x) (permutations (y :: l))).
  rewrite lsum_flat_map.
  rewrite (lsum_ext _ _ (fun s => sum (S (S (length l))) g * f x + placed (shifted (S (length l)) g) f s)).
  - rewrite lsum_plus, lsum_const, permutations_length, IH, sum_shifted. cbn [length lsum].
    rewrite fact_simpl, mult_INR. ring.
  - intros s I. rewrite sum_over_insertions, (permutations_have_length _ _ I). reflexivity.
Qed.

Lemma placed_at {A} (f : A -> R) s p d :
  (p < length s)%nat -> placed (fun q => if q =? p then 1 else 0) f s = f (nth p s d).
Proof.
  assert (Z : forall s : list A, placed (fun _ => 0) f s = 0).
  { induction s0 as [|z s0 IHz]; simpl; [reflexivity|]. rewrite IHz. ring. }
  revert p. induction s as [|x s IH]; intros p L; [simpl in L; lia|]. destruct p as [|p]; simpl.
  - rewrite Z. ring.
  - simpl in L. rewrite IH by lia. ring.
Qed.
