(** The sets of m places, in lexicographic order, and their number. *)

From Coq Require Import Lia Arith List Bool.
Import ListNotations.

(** The sets of m places among those of a list. *)
Fixpoint subsets {A : Type} (m : nat) (l : list A) : list (list A) :=
  match m, l with
  | O, _ => [[]]
  | S _, [] => []
  | S m', x :: l' => map (cons x) (subsets m' l') ++ subsets m l'
  end.

(** Their number, Pascal's triangle. *)
Fixpoint choose (n m : nat) : nat :=
  match n, m with
  | _, O => 1
  | O, S _ => 0
  | S n', S m' => choose n' m' + choose n' m
  end.

Theorem subsets_length {A} m (l : list A) : length (subsets m l) = choose (length l) m.
Proof.
  revert m. induction l as [|x l IH]; intros [|m]; try reflexivity.
  simpl subsets. rewrite app_length, map_length, !IH. reflexivity.
Qed.

Theorem subsets_have_m {A} m (l s : list A) : In s (subsets m l) -> length s = m.
Proof.
  revert m s. induction l as [|x l IH]; intros [|m] s; simpl; try (intros [<-|[]]; reflexivity); [intros []|].
  rewrite in_app_iff, in_map_iff. intros [(s' & <- & I)|I]; [simpl; f_equal; auto | apply (IH (S m)), I].
Qed.

Lemma choose_none n : choose n 0 = 1%nat.
Proof. destruct n; reflexivity. Qed.

(** m C(n, m) = n C(n-1, m-1). *)
Lemma choose_absorb n m : (S m * choose (S n) (S m) = S n * choose n m)%nat.
Proof.
  revert m. induction n as [|n IH]; intro m.
  - destruct m as [|m]; [reflexivity|]. simpl. destruct m; simpl; lia.
  - destruct m as [|m].
    + pose proof (IH 0%nat) as E. change (choose (S (S n)) 1) with (choose (S n) 0 + choose (S n) 1)%nat.
      rewrite choose_none in *. lia.
    + pose proof (IH m) as E. pose proof (IH (S m)) as F.
      change (choose (S (S n)) (S (S m))) with (choose (S n) (S m) + choose (S n) (S (S m)))%nat.
      change (choose (S n) (S m)) with (choose n m + choose n (S m))%nat in *. nia.
Qed.

Lemma choose_positive n m : (m <= n)%nat -> (0 < choose n m)%nat.
Proof.
  revert m. induction n as [|n IH]; intros [|m] L; simpl; try lia. specialize (IH m ltac:(lia)). lia.
Qed.

(** ** No set twice *)

Definition member (x : nat) (s : list nat) : bool := existsb (Nat.eqb x) s.

Lemma subsets_inside {A} m (l s : list A) x : In s (subsets m l) -> In x s -> In x l.
Proof.
  revert m s. induction l as [|y l IH]; intros [|m] s; simpl; try (intros [<-|[]] []); [intros []|].
  rewrite in_app_iff, in_map_iff. intros [(s' & <- & I)|I] X.
  - destruct X as [->|X]; [left; reflexivity | right; apply (IH m s'); assumption].
  - right. apply (IH (S m) s); assumption.
Qed.

Lemma member_true x s : member x s = true <-> In x s.
Proof.
  unfold member. rewrite existsb_exists. split.
  - intros (y & I & E). apply Nat.eqb_eq in E. subst. exact I.
  - intro I. exists x. split; [exact I | apply Nat.eqb_refl].
Qed.

Lemma member_false x s : ~ In x s -> member x s = false.
Proof. intro N. destruct (member x s) eqn:E; [|reflexivity]. exfalso. apply N, member_true, E. Qed.

(** Two sets of a list without repetition differ at a place of it. *)
Theorem subsets_differ m (l : list nat) t t' :
  NoDup l -> t < t' < length (subsets m l) ->
  exists x, In x l /\ member x (nth t (subsets m l) []) <> member x (nth t' (subsets m l) []).
Proof.
  revert m t t'. induction l as [|x l IH]; intros [|m] t t' D L; simpl in L; try lia.
  apply NoDup_cons_iff in D. destruct D as [X D].
  cbn [subsets]. set (A := subsets m l) in *. set (B := subsets (S m) l) in *.
  assert (E : length (map (cons x) A) = length A) by apply map_length.
  assert (F : forall k, k < length A -> nth k (map (cons x) A ++ B) [] = x :: nth k A []).
  { intros k Hk. rewrite app_nth1 by lia. rewrite (nth_indep _ [] (x :: [])) by lia. apply map_nth. }
  assert (G : forall k, length A <= k -> nth k (map (cons x) A ++ B) [] = nth (k - length A) B []).
  { intros k Hk. rewrite app_nth2 by lia. rewrite E. reflexivity. }
  rewrite app_length, E in L.
  destruct (Nat.lt_ge_cases t (length A)) as [T|T], (Nat.lt_ge_cases t' (length A)) as [T'|T']; try lia.
  - destruct (IH m t t' D ltac:(subst A; lia)) as (y & I & N). exists y. split; [right; exact I|].
    rewrite !F by assumption. cbn [member existsb].
    destruct (Nat.eqb_spec y x) as [->|_]; [contradiction | exact N].
  - exists x. split; [left; reflexivity|]. rewrite F, G by assumption. cbn [member existsb].
    rewrite Nat.eqb_refl. cbn [orb]. rewrite member_false; [discriminate|].
    intro I. apply X, (subsets_inside (S m) l (nth (t' - length A) B [])); [|exact I].
    apply nth_In. subst B. lia.
  - destruct (IH (S m) (t - length A) (t' - length A) D ltac:(subst B; lia)) as (y & I & N).
    exists y. split; [right; exact I|]. rewrite !G by assumption. exact N.
Qed.
