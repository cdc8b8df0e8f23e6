(** Which query meets which key in which call: the schedules of every construction, in plain arithmetic.
    Positions, calls and rows count from 0; each call begins with one synthetic token. *)

From Coq Require Import List Arith Bool.
From TwoHeads Require Import Model.
Import ListNotations.

(** A position of the input, or nothing past its end. *)
Definition place (N x : nat) : option nat := if x <? N then Some x else None.

(** Rows after one synthetic token; after the synthetic token and s sinks, which have keys and no queries. *)
Definition after_one (f : nat -> option nat) (p : nat) : option nat :=
  match p with O => None | S p' => f p' end.
Definition sinks_then (s : nat) (sink : nat -> option nat) (f : nat -> option nat) (p : nat) : option nat :=
  if p <? s then sink p else f (p - s).

Definition ceil_div (N n : nat) : nat := (N + n - 1) / n.

(** Data tokens of a block: one place of the oracle's M is the synthetic token's. *)
Definition block_length (N M : nat) : nat := Nat.min (M - 1) N.

(** A call's tokens without the leading synthetic one. *)
Definition without_first (call : Call) : Call :=
  {| tokens := tokens call - 1; query := fun p => query call (S p); key := fun q => key call (S q);
     minus := minus call |}.

Definition each_twice (calls : list Call) : list (Call * Call) := map (fun k => (k, without_first k)) calls.

(** ** Lemma 3.1 *)

(** Block u of the queries with block t of the keys. *)
Definition PAIRS (N n u t : nat) : Call :=
  {| tokens := S n; minus := false;
     query := after_one (fun p => place N (u * n + p));
     key := after_one (fun q => place N (t * n + q)) |}.

Definition quadratic (N n T : nat) : list Call :=
  flat_map (fun u => map (PAIRS N n u) (seq 0 T)) (seq 0 T).

(** Claim B.6: the synthetic token, then the n tokens in order; row i + 1 holds query i. *)
Definition block (n : nat) : Call := PAIRS n n 0 0.

(** ** Theorem 3.5 *)

(** Both blocks backwards, the queries one row ahead: key q of the block meets query p when p < q. *)
Definition REVERSED (N n u t : nat) : Call :=
  {| tokens := S (n - 1); minus := false;
     query := after_one (fun p => place N (u * n + (n - 2 - p)));
     key := after_one (fun q => place N (t * n + (n - 1 - q))) |}.

Definition reversed (N n u t : nat) : list Call := if 2 <=? n then [REVERSED N n u t] else [].

Definition causal_schedule (N n T : nat) : list Call :=
  map (fun t => PAIRS N n t t) (seq 0 T) ++
  flat_map (fun u => map (PAIRS N n u) (seq 0 u)) (seq 0 T) ++
  flat_map (fun u => flat_map (reversed N n u) (seq 0 u)) (seq 0 T).

(** What B.5.second-values displays: backwards without the shift. *)
Definition UNSHIFTED (N n u t : nat) : Call :=
  {| tokens := S n; minus := false;
     query := after_one (fun p => if 1 <=? p then place N (u * n + (n - 1 - p)) else None);
     key := after_one (fun q => place N (t * n + (n - 1 - q))) |}.

Definition causal_printed (N n T : nat) : list (Call * Call) :=
  each_twice (map (fun t => PAIRS N n t t) (seq 0 T)) ++
  each_twice (flat_map (fun u => map (PAIRS N n u) (seq 0 u)) (seq 0 T)) ++
  flat_map (fun u => flat_map (fun t =>
    map (fun k => (k, without_first (UNSHIFTED N n u t))) (reversed N n u t)) (seq 0 u)) (seq 0 T).

(** ** Theorem 5.1: windows of size r, s sinks *)

Definition SINKS (s : nat) : Call :=
  {| tokens := S s; minus := false; query := after_one (place s); key := after_one (place s) |}.

(** Positions s + c m - r, ... of a call's keys: those from s on. *)
Definition chunk_key (N m r s c q : nat) : option nat :=
  if r <=? c * m + q then place N (s + (c * m + q - r)) else None.

(** A chunk of m queries and its keys, with the r keys before it and the sinks. *)
Definition LEAD (N m r s c : nat) : Call :=
  {| tokens := S (s + (r + m)); minus := false;
     query := after_one (sinks_then s (fun _ => None) (fun p =>
       if r <=? p then place N (s + c * m + (p - r)) else None));
     key := after_one (sinks_then s Some (chunk_key N m r s c)) |}.

(** The same keys, the queries r rows up: what has left the window, to be subtracted. *)
Definition LAG (N m r s c : nat) : Call :=
  {| tokens := S m; minus := true;
     query := after_one (fun p => place N (s + c * m + p));
     key := after_one (chunk_key N m r s c) |}.

Definition sink_calls (s : nat) : list Call := if s =? 0 then [] else [SINKS s].

Definition difference (N m r s : nat) : list Call :=
  sink_calls s ++
  map (LEAD N m r s) (seq 0 (ceil_div (N - s) m)) ++ map (LAG N m r s) (seq 0 (ceil_div (N - s) m)).

(** Groups of r positions: a window is a suffix of one group and a prefix of the next. *)
Definition PREFIX (N r s c : nat) : Call :=
  {| tokens := S (s + r); minus := false;
     query := after_one (sinks_then s (fun _ => None) (fun p => place N (s + c * r + p)));
     key := after_one (sinks_then s Some (fun q => place N (s + c * r + q))) |}.

Definition SUFFIX (N r s c : nat) : Call :=
  {| tokens := S (r - 1); minus := false;
     query := after_one (fun p => place N (s + (c + 1) * r + (r - 2 - p)));
     key := after_one (fun q => place N (s + c * r + (r - 1 - q))) |}.

Definition suffix_calls (N r s : nat) : list Call :=
  if 2 <=? r then map (SUFFIX N r s) (seq 0 (ceil_div (N - s - r) r)) else [].

Definition suffix_prefix (N r s : nat) : list Call :=
  sink_calls s ++ map (PREFIX N r s) (seq 0 (ceil_div (N - s) r)) ++ suffix_calls N r s.
