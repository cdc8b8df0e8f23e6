(** Shapes of block matrices, checked as a machine would: a block row's blocks are equally high, and all block rows
    equally wide. The printed matrices whose blocks do not fit, and the same put right. *)

From Coq Require Import Arith List Bool Lia.
Import ListNotations.

(** Height and width of a block. *)
Definition Shape := (nat * nat)%type.

Definition all_equal (x : nat) (l : list nat) : bool := forallb (Nat.eqb x) l.
Definition width (row : list Shape) : nat := list_sum (map snd row).
Definition height (row : list Shape) : nat := hd 0 (map fst row).

(** The shape of a matrix given by its block rows; None if it is no matrix. *)
Definition block_matrix (rows : list (list Shape)) : option Shape :=
  if forallb (fun row => all_equal (height row) (map fst row)) rows
     && all_equal (width (hd [] rows)) (map width rows)
  then Some (list_sum (map height rows), width (hd [] rows)) else None.

Ltac shapes := unfold block_matrix, all_equal, width, height, list_sum; cbn -[Nat.eqb Nat.mul Nat.sub];
  repeat match goal with |- context [?x =? ?y] => destruct (Nat.eqb_spec x y); try lia end;
  cbn -[Nat.mul Nat.sub]; try reflexivity;
  try (f_equal; f_equal; lia); try lia.

(** Lemma A.1: the last block row of U is [1_{1xb}, 0_{dx(d-b)}]. *)
Definition U_of_A_1 (d b last : nat) : list (list Shape) := [[(d, b); (d, d - b)]; [(1, b); (last, d - b)]].

Theorem A_1_U_is_no_matrix d b : 2 <= d -> block_matrix (U_of_A_1 d b d) = None.
Proof. intro H. unfold U_of_A_1. shapes. Qed.

Theorem A_1_U_put_right d b : b <= d -> block_matrix (U_of_A_1 d b 1) = Some (d + 1, d).
Proof. intro H. unfold U_of_A_1. shapes. Qed.

(** B.1.off: W^Q'' = [0_{dxd}, 0_{dx1}; W^Q, 0_{dx1}; 0_{1xd}, 1_{1xd}]. *)
Definition W_of_B_1_off (d last : nat) : list (list Shape) := [[(d, d); (d, 1)]; [(d, d); (d, 1)]; [(1, d); (1, last)]].

Theorem B_1_off_W_is_no_matrix d : 2 <= d -> block_matrix (W_of_B_1_off d d) = None.
Proof. intro H. unfold W_of_B_1_off. shapes. Qed.

Theorem B_1_off_W_put_right d : block_matrix (W_of_B_1_off d 1) = Some (2 * d + 1, d + 1).
Proof. unfold W_of_B_1_off. shapes. Qed.

(** B.6.construction: W^Q' = [W^Q, 0_{1xd}; 0_{dx1}, 1], the zero blocks exchanged. *)
Theorem B_6_W_is_no_matrix d : 2 <= d -> block_matrix [[(d, d); (1, d)]; [(d, 1); (1, 1)]] = None.
Proof. intro H. shapes. Qed.

Theorem B_6_W_put_right d : block_matrix [[(d, d); (d, 1)]; [(1, d); (1, 1)]] = Some (d + 1, d + 1).
Proof. shapes. Qed.

(** C.1.step1: V' = [1_{Mxd}, 0_{Mx1}; 1_{dx1}, 1]. *)
Theorem C_1_step1_V_is_no_matrix M d : 2 <= d -> block_matrix [[(M, d); (M, 1)]; [(d, 1); (1, 1)]] = None.
Proof. intro H. shapes. Qed.

Theorem C_1_step1_V_put_right M d : block_matrix [[(M, d); (M, 1)]; [(1, d); (1, 1)]] = Some (M + 1, d + 1).
Proof. shapes. Qed.

(** C.2.concat: Q and K with r more columns for the codes and V without them are not 3 (d + r) columns wide. *)
Theorem C_2_concat_is_narrower N d r :
  0 < r -> block_matrix [[(N, d + r); (N, d + r); (N, d)]] <> Some (N, 3 * (d + r)).
Proof. intro H. shapes; intro E; injection E; lia. Qed.

(** B.3.construction: W^V' = [W^V; 0; ...; 0] has the d/H = m columns of one instance, so that layer 1 returns m
    columns for the L' m that it was given. *)
Theorem B_3_one_layer_returns_one_instance m L_small :
  0 < m -> 2 <= L_small -> exists rows, block_matrix [[(m, m)]; [((L_small - 1) * m, m)]] = Some (rows, m) /\
  rows = L_small * m /\ m <> L_small * m.
Proof. intros P L. exists (L_small * m). shapes; repeat split; f_equal; try f_equal; nia. Qed.
