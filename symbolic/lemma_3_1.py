"""Lemma 3.1 / B.1, derived: from the oracle's softmax row to A = a s R / w, the block sums and the quotient.

The number of blocks T, their length n and the length of the last one are symbols. The three variants of
`twoheads.lemma_3_1` are derived side by side, and each is run on symbols.
"""

from __future__ import annotations

from sympy import E, Expr, Piecewise, exp

from symbolic.checks import define, follow
from symbolic.derivation import Derivation, Step
from symbolic.on_symbols import Run, simulation_steps, with_symbolic_mass
from symbolic.oracle_row import Row, outputs, recovery
from symbolic.symbols import N, T, a, block, c, ell, i, indexed, j, m, mass, n, real, size, t, total, v

__all__ = ["build"]

M, tail, gap, score = size("M"), size("n'"), size("g", zero=True), real("lambda")
q, k, q_padded, k_padded, k_synthetic = (indexed(name) for name in ("q", "k", "q'", "k'", "k''"))

Y_i = indexed("Y")[i]
A, B, out, R, w = (indexed(name)[i, t] for name in "ABORw")
n_t, s_t = (indexed(name, integer=True, positive=True)[t] for name in "ns")
ROW = Row(indexed("e")[i, t, ell], s_t, n_t, (t - 1) * n + ell - s_t, A, B, out, R, w, "B.1.ratio")
"""Row i of the call on block t."""


def build() -> Derivation:
    """The derivation.

    Raises:
        StepError: a step does not follow.
    """
    return Derivation(
        "Lemma 3.1",
        "attention on N tokens from an oracle that reads M",
        (
            "One head, identity MLPs (B.1.wlog), numbers of unlimited precision.",
            "N >= 1 tokens; the oracle reads M >= 2 tokens and has no causal mask.",
            "Queries and keys have m coordinates; v_j is one coordinate of the value of key j, all being alike.",
            "T blocks of n = M - 1 keys; the last has n' keys and lacks g, so N need not be a multiple of n.",
        ),
        (*_goal(), *_tokens(), *_outputs(), *recovery(ROW, "A", "weights"), *_quotients(), *_printed(), *_runs()),
    )


def _goal() -> tuple[Step, ...]:
    goal, product = "B.1.goal", a[i, j] * v[j]
    blocks = ("A", "B", "data of a block", "positions", "length")
    return (
        define("length", n, tail + gap, goal, "A block holds n keys, the last one n' of them."),
        define("positions", N, (T - 1) * n + tail, goal, "T - 1 full blocks and the last one."),
        define(
            "weights",
            a[i, j],
            exp(total(q[i, c] * k[j, c], 1, m, c)),
            "Definition 2.1",
            "The weight of key j for query i is the exponential of their score.",
        ),
        define(
            "attention",
            Y_i,
            total(product, 1, N) / total(a[i, j], 1, N),
            "Definition 2.1",
            "This is what is to be computed, for every query i.",
        ),
        define("data of a block", n_t, Piecewise((n, t < T), (tail, True)), goal, "How many keys block t holds."),
        define("A", A, block(a[i, j], t, n_t), goal, "The weights of block t, added up."),
        define("B", B, block(product, t, n_t), goal, "The weights times the values, added up."),
        follow(
            "sum of all A",
            total(A, 1, T, t),
            total(a[i, j], 1, N),
            goal,
            "Each block starts where the one before ends, and the last ends at N: the sums telescope.",
            *blocks,
        ),
        follow("sum of all B", total(B, 1, T, t), total(product, 1, N), goal, "The same with the values.", *blocks),
    )


_PRODUCT = "The product of the padded vectors."


def _padded(vector: Expr, number: Expr | int) -> Piecewise:
    """The m coordinates of a vector, and one more."""
    return Piecewise((vector, c <= m), (number, True))


def _tokens() -> tuple[Step, ...]:
    item = "B.1.off"
    data_score, synthetic_score = indexed("z")[i, j], indexed("z'")[i]
    return (
        define("oracle length", M, n + 1, item, "A full block leaves room for one synthetic token."),
        define(
            "synthetic tokens",
            s_t,
            Piecewise((1, t < T), (1 + gap, True)),
            item,
            "One in a full block; g more of them fill up the last one.",
        ),
        follow(
            "tokens of a call",
            s_t + n_t,
            M,
            item,
            "So every call has exactly as many tokens as the oracle reads.",
            "oracle length",
            "synthetic tokens",
            "data of a block",
            "length",
        ),
        define("padded query", q_padded[i, c], _padded(q[i, c], 1), item, "Queries are padded with a 1."),
        define("padded key", k_padded[j, c], _padded(k[j, c], 0), item, "Keys are padded with a 0."),
        define(
            "synthetic key",
            k_synthetic[c],
            _padded(0, score),
            item,
            "A synthetic key is 0, padded with a number λ that is chosen before the input is seen.",
        ),
        define("score of data", data_score, total(q_padded[i, c] * k_padded[j, c], 1, m + 1, c), item, _PRODUCT),
        define(
            "score of a synthetic token",
            synthetic_score,
            total(q_padded[i, c] * k_synthetic[c], 1, m + 1, c),
            item,
            _PRODUCT,
        ),
        follow(
            "data keep their scores",
            data_score,
            total(q[i, c] * k[j, c], 1, m, c),
            item,
            "The padding adds 1 times 0.",
            "score of data",
            "padded query",
            "padded key",
        ),
        follow(
            "synthetic tokens have a known score",
            synthetic_score,
            score,
            item,
            "It is the same for every query.",
            "score of a synthetic token",
            "padded query",
            "synthetic key",
        ),
        define("mass", mass, exp(score), "B.1.ratio", "The weight a of a synthetic token, 1 for λ = 0."),
        define(
            "weights of a call",
            ROW.e,
            Piecewise((exp(synthetic_score), ell <= s_t), (exp(data_score.xreplace({j: ROW.position})), True)),
            item,
            "Row i of the call on block t: the s_t synthetic tokens come first, the keys of the block follow.",
        ),
    )


def _outputs() -> tuple[Step, ...]:
    return outputs(
        ROW,
        "weights of a call",
        "data keep their scores",
        "synthetic tokens have a known score",
        "mass",
        "A",
        "B",
        "weights",
    )


_TO_SUMS = ("A", "B", "data of a block", "positions", "length")


def _quotients() -> tuple[Step, ...]:
    to_sums = ("attention", "O", "R", "w", *_TO_SUMS)
    return (
        follow(
            "attention, stable",
            Y_i,
            total(s_t * out / w, 1, T, t) / total(s_t * R / w, 1, T, t),
            "B.1.steps",
            "Both sums run over the T calls of one query; the factor a is common to all and cancels.",
            *to_sums,
        ),
        follow(
            "attention, merged",
            Y_i,
            total(s_t * out / (1 - R), 1, T, t) / total(s_t * R / (1 - R), 1, T, t),
            "B.1.steps",
            "The same with 1 - R in place of w. In floating point 1 - R loses its digits once A is large.",
            *to_sums,
        ),
    )


def _printed() -> tuple[Step, ...]:
    def data(position: Expr) -> Expr:
        return a[i, position] * E

    R, ratio, z_t = indexed("R'")[i, t], indexed("Q'")[i, t], s_t - 1
    A_again = s_t * R / (1 - R)
    later = a[i, (t - 1) * n + ell - z_t]
    rest = Piecewise((1, ell <= z_t), (later, True))
    values = Piecewise((0, ell <= z_t), (later * v[(t - 1) * n + ell - z_t], True))
    return (
        define(
            "printed, first call",
            R,
            ROW.over_tokens(ROW.choice(0, data)) / ROW.over_tokens(ROW.choice(E, data)),
            "B.1.diag",
            "As printed: synthetic keys are padded with 1 like the others, so that scores are <q,k> + 1, and 1 for "
            "a synthetic token. The values are 1 and 0.",
        ),
        follow(
            "printed R",
            R,
            A / (A + s_t),
            "B.1.ratio",
            "The factor exp(1) is common and cancels. With s_t = 1 this is the paper's A/(A+1).",
            "printed, first call",
            "A",
        ),
        follow("printed A", A, A_again, "B.1.recover", "Solved for A.", "printed R"),
        define(
            "printed, second call",
            ratio,
            total(values, 1, z_t + n_t, ell) / total(rest, 1, z_t + n_t, ell),
            "B.1.step2",
            "The same tokens without the leading synthetic one; the scores and values of the head itself. The s_t - 1 "
            "tokens that fill up the last block have score 0 and value 0.",
        ),
        follow(
            "printed B/A",
            ratio,
            B / (A + z_t),
            "B.1.step2",
            "In a full block this is the paper's B/A.",
            "printed, second call",
            "A",
            "B",
        ),
        follow(
            "attention, printed",
            Y_i,
            total(ratio * (A_again + z_t), 1, T, t) / total(A_again, 1, T, t),
            "B.1.steps",
            "B is the second output times A + s_t - 1, and A comes from the first.",
            "attention",
            "printed R",
            "printed B/A",
            *_TO_SUMS,
        ),
    )


def _runs() -> tuple[Step, ...]:
    small = [Run("quadratic", variant, 3, 3) for variant in ("printed", "merged", "stable")]
    scored = Run("quadratic", "stable", 3, 3, "tokens", with_symbolic_mass())
    return simulation_steps(*small, scored, item="Lemma 3.1")
