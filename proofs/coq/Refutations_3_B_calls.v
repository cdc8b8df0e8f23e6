(** Printed calls of Appendix B that do not do what is said of them: calls used as MLPs, the blocks and their
    recombination (B.1), tokens without a flag (B.1, B.5, B.6, C.1). *)

From Coq Require Import Reals Lra Lia Arith List Bool.
From TwoHeads Require Import Sums Scalar Model Schedules Reconstruction Coverage Transformer Tokens Refutations_1_2_A.
Import ListNotations.
Open Scope R_scope.

(** ** B.1.wlog: a call as an MLP *)

Lemma mean_of_equals n w u p y :
  (0 < n)%nat -> (forall q, 0 < w p q) -> (forall q, u q = y) -> attention n full w u p = y.
Proof.
  intros Hn P E. rewrite attention_R. unfold full. cbn [one_if].
  rewrite (sum_ext n _ (fun q => w p q * y)), (sum_ext n (fun q => 1 * w p q) (w p)) by (intros; rewrite ?E; ring).
  rewrite sum_scal_r. assert (0 < sum n (w p)) by (apply sum_pos; auto). field. lra.
Qed.

(** Token 1 pulls row 0 away from token 0. *)
Lemma mean_of_two_tokens n w p (a b : R) :
  (2 <= n)%nat -> (forall q, 0 < w p q) -> a <> b ->
  attention n full w (fun q => if q =? 0 then a else b) p <> a.
Proof.
  intros Hn P D. rewrite attention_R. unfold full. cbn [one_if]. destruct n as [|n]; [lia|].
  rewrite !sum_first. cbn [Nat.eqb].
  rewrite (sum_ext n _ (fun q => w p (S q) * b)), (sum_ext n (fun q => 1 * w p (S q)) (fun q => w p (S q)))
    by (intros; ring).
  rewrite sum_scal_r. assert (0 < sum n (fun q => w p (S q))) as S by (apply sum_pos; [lia | auto]).
  set (s := sum n _) in *. pose proof (P 0%nat) as F. intro E. apply D.
  apply (Rmult_eq_reg_l s); [|lra].
  assert ((w p 0%nat + s) * a = w p 0%nat * a + s * b) as G by (rewrite <- E at 1; field; lra). lra.
Qed.

(** No call on two or more tokens of one coordinate is the identity MLP: whatever positive weights it has, even ones
    that depend on the tokens, whatever affine values, and whatever layer MLP after them, even one that knows the
    position. *)
Theorem B_1_wlog_no_call_is_an_mlp n (w : (nat -> R) -> nat -> nat -> R) alpha beta (psi : nat -> R -> R) :
  (2 <= n)%nat -> (forall x p q, 0 < w x p q) ->
  ~ (forall x p, (p < n)%nat -> psi p (attention n full (w x) (fun q => alpha * x q + beta) p) = x p).
Proof.
  intros Hn P I.
  assert (E : forall y, psi 0%nat (alpha * y + beta) = y).
  { intro y. pose proof (I (fun _ => y) 0%nat ltac:(lia)) as F.
    rewrite (mean_of_equals n _ _ _ (alpha * y + beta)) in F by (try apply P; try reflexivity; lia). exact F. }
  assert (alpha <> 0) as A.
  { intros ->. pose proof (E 0) as F. pose proof (E 1) as G. rewrite Rmult_0_l in F, G. lra. }
  set (x := fun q => if q =? 0 then 1 else 0). pose proof (I x 0%nat ltac:(lia)) as F.
  set (y := attention n full (w x) _ 0%nat) in F.
  replace y with (alpha * ((y - beta) / alpha) + beta) in F by (field; exact A). rewrite E in F.
  apply (mean_of_two_tokens n (w x) 0 (alpha + beta) beta Hn (P x 0%nat) ltac:(lra)).
  transitivity y; [|rewrite <- (Rmult_1_r alpha); change 1 with (x 0%nat); rewrite <- F; field; exact A].
  apply attention_same; intros q _; [reflexivity|]. unfold x. destruct (q =? 0); ring.
Qed.

(** One data token 0 and the synthetic token, fed as 0, under phi(x) = x + 1, with W_Q = W_K = 1: composed with the
    padding phi makes the synthetic token 1, too. R is then 1/2, and e/(e + 1) if it stays 0. *)
Definition composed (phi : R -> R) (q : nat) : R := phi 0.
Definition left_alone (phi : R -> R) (q : nat) : R := if q =? 0 then phi 0 else 0.
Definition R_of (x : nat -> R) : R :=
  attention 2 full (fun p q => exp (x p * x q)) (fun q => if q =? 0 then 1 else 0) 0.

Theorem B_1_wlog_phi_changes_the_synthetic_token :
  R_of (composed (fun x => x + 1)) = 1 / 2 /\ R_of (left_alone (fun x => x + 1)) = exp 1 / (exp 1 + 1) /\
  1 / 2 <> exp 1 / (exp 1 + 1).
Proof.
  unfold R_of, composed, left_alone. rewrite !attention_R. cbn.
  pose proof (exp_ineq1 1 ltac:(lra)).
  replace ((0 + 1) * (0 + 1)) with 1 by ring. replace ((0 + 1) * 0) with 0 by ring. rewrite exp_0.
  repeat split; [field; lra | field; lra | intro E].
  assert (exp 1 + 1 = 2 * exp 1); [|lra].
  replace (2 * exp 1) with (exp 1 / (exp 1 + 1) * (2 * (exp 1 + 1))) by (field; lra). rewrite <- E. field.
Qed.

(** ** B.1.goal: the blocks *)

(** §2.3's blocks {(t-1)M+1, tM} are two positions each: for M >= 3 none of them holds position 2. *)
Theorem B_1_goal_two_ends_miss_position_2 M t :
  (3 <= M)%nat -> (1 <= t)%nat -> ~ (2 = (t - 1) * M + 1 \/ 2 = t * M)%nat.
Proof. intros L G. destruct t as [|[|t]]; simpl; [lia | lia | nia]. Qed.

(** N/M blocks {(t-1)M+1, ..., tM}, rounded down, do not hold position N unless M divides N. *)
Theorem B_1_goal_blocks_end_before_N N M t :
  (N mod M <> 0)%nat -> (1 <= t <= N / M)%nat -> ~ ((t - 1) * M + 1 <= N <= t * M)%nat.
Proof.
  intros D L I. destruct M as [|M]; [simpl in L; lia|].
  pose proof (Nat.div_mod N (S M) ltac:(lia)). set (q := (N / S M)%nat) in *. set (r := (N mod S M)%nat) in *.
  assert (t * S M <= q * S M)%nat by (apply Nat.mul_le_mono_r; lia). lia.
Qed.

(** ** B.1.steps: putting the rows together *)

(** For N > M^2 the N/M terms of a row, rounded up, are more than the M tokens of a call. *)
Theorem B_1_steps_terms_do_not_fit N M : (0 < M)%nat -> (M * M < N)%nat -> (M < ceil_div N M)%nat.
Proof. intros P L. apply ceil_div_spec; assumption. Qed.

(** Lemma A.2's call has equal queries: all its rows return the same, so that it serves one query only. *)
Theorem B_1_steps_all_rows_are_equal n (w : nat -> nat -> R) u p p' :
  (forall q, w p q = w p' q) -> attention n full w u p = attention n full w u p'.
Proof. intro E. rewrite !attention_R. f_equal; apply sum_ext; intros; rewrite E; reflexivity. Qed.

(** Calls that serve one query each are more than c (N/M)^2 for N = 2M queries, whatever c is, and N <= M^2. *)
Theorem B_1_steps_rows_take_too_many_calls c :
  exists N M, (N = 2 * M /\ N <= M * M /\
    forall calls : list nat, (forall i, i < N -> In i calls) -> c * (N * N) < length calls * (M * M))%nat.
Proof.
  exists (2 * (2 * c + 2))%nat, (2 * c + 2)%nat. split; [reflexivity|]. split; [nia|]. intros calls A.
  assert (2 * (2 * c + 2) <= length calls)%nat as L; [|nia].
  rewrite <- (seq_length (2 * (2 * c + 2)) 0). apply NoDup_incl_length; [apply seq_NoDup|].
  intros i I. apply in_seq in I. apply A. lia.
Qed.

(** ** The flag: tokens as displayed, the same for a zero token and the synthetic one

    No W_V gives the displayed values then, and no other function of a token either. *)

Definition displayed (d : nat) (x : nat -> R) : Token R := map x (seq 0 d) ++ [1].
Definition displayed_pair (d : nat) (x y : nat -> R) : Token R := map x (seq 0 d) ++ map y (seq 0 d) ++ [1].
Definition zeros (z : nat) : R := 0.

Lemma zero_token d (x : nat -> R) : (forall z, (z < d)%nat -> x z = 0) -> map x (seq 0 d) = map zeros (seq 0 d).
Proof. intro Z. apply map_ext_in. intros z I. apply in_seq in I. apply Z. lia. Qed.

(** B.1.diag: tokens (x_j, 1), and (0, 1) last; values 1 and, last, 0. *)
Theorem B_1_diag_flag_is_missing d M (X : nat -> nat -> R) (f : Token R -> R) p :
  (p < M)%nat -> (forall z, (z < d)%nat -> X p z = 0) ->
  ~ ((forall q, (q < M)%nat -> f (displayed d (X q)) = 1) /\ f (displayed d zeros) = 0).
Proof.
  intros Hp Z [A B]. specialize (A p Hp). unfold displayed in A, B. rewrite zero_token in A by exact Z. lra.
Qed.

(** B.6.construction: (0, 1) first, then (x_j, 1); values 0, then 1. *)
Theorem B_6_construction_flag_is_missing d M (X : nat -> nat -> R) (f : Token R -> R) p :
  (p < M)%nat -> (forall z, (z < d)%nat -> X p z = 0) ->
  ~ (forall q, (q <= M)%nat ->
       f (displayed d (match q with O => zeros | S q' => X q' end)) = match q with O => 0 | S _ => 1 end).
Proof.
  intros Hp Z A. apply (B_1_diag_flag_is_missing d M X f p Hp Z). split.
  - intros q Hq. apply (A (S q)). lia.
  - apply (A 0%nat). lia.
Qed.

(** B.1.off: tokens (x_j, y_j, 1), and (0, 0, 1) last; values as in B.1.diag. *)
Theorem B_1_off_flag_is_missing d M (X Y : nat -> nat -> R) (f : Token R -> R) p :
  (p < M)%nat -> (forall z, (z < d)%nat -> X p z = 0 /\ Y p z = 0) ->
  ~ ((forall q, (q < M)%nat -> f (displayed_pair d (X q) (Y q)) = 1) /\ f (displayed_pair d zeros zeros) = 0).
Proof.
  intros Hp Z [A B]. specialize (A p Hp). unfold displayed_pair in *.
  rewrite (zero_token d (X p)), (zero_token d (Y p)) in A by (intros; apply Z; assumption). lra.
Qed.

(** C.1.step1: the same with the tokens X[tau(S_t)] as the second block. *)
Theorem C_1_step1_flag_is_missing d M (X : nat -> nat -> R) (tau : nat -> nat) (f : Token R -> R) p :
  (p < M)%nat -> (forall z, (z < d)%nat -> X p z = 0 /\ X (tau p) z = 0) ->
  ~ ((forall q, (q < M)%nat -> f (displayed_pair d (X q) (X (tau q))) = 1) /\
     f (displayed_pair d zeros zeros) = 0).
Proof. apply (B_1_off_flag_is_missing d M X (fun q => X (tau q)) f p). Qed.

(** B.5.second: rows (x_M, 0), (x_{M-1}, y_M), ..., (x_1, y_2), (0, y_1), here with x and y counted from 0; values 0,
    then 1. With x_M = x_{M-1} and y_M = 0 the first two rows are equal. *)
Definition second_row (d M : nat) (X Y : nat -> nat -> R) (q : nat) : Token R :=
  map (if q <? M then X (M - 1 - q)%nat else zeros) (seq 0 d) ++
  map (if q =? 0 then zeros else Y (M - q)%nat) (seq 0 d).

Theorem B_5_second_flag_is_missing d M (X Y : nat -> nat -> R) (f : Token R -> R) :
  (2 <= M)%nat -> (forall z, (z < d)%nat -> X (M - 1)%nat z = X (M - 2)%nat z /\ Y (M - 1)%nat z = 0) ->
  ~ (forall q, (q <= M)%nat -> f (second_row d M X Y q) = if q =? 0 then 0 else 1).
Proof.
  intros HM Z A. pose proof (A 0%nat ltac:(lia)) as F. pose proof (A 1%nat ltac:(lia)) as G.
  unfold second_row in F, G. cbn [Nat.eqb] in F, G.
  destruct (Nat.ltb_spec 0 M), (Nat.ltb_spec 1 M); try lia.
  replace (M - 1 - 0)%nat with (M - 1)%nat in F by lia. replace (M - 1 - 1)%nat with (M - 2)%nat in G by lia.
  rewrite (zero_token d (Y (M - 1)%nat)) in G by (intros; apply Z; assumption).
  rewrite (map_ext_in (X (M - 1)%nat) (X (M - 2)%nat)) in F; [lra|].
  intros z I. apply in_seq in I. apply Z. lia.
Qed.
