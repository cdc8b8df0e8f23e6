"""§1.1: the model of computation, and the remarks that are made of it."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import sympy

from proofs.audit.displays import DIAG_PHI, OFF_PHI, PACKED_X, PREFIX_PHI, STEP2_Q
from proofs.audit.entry import Entry, bounded_check
from proofs.audit.lemma_3_1 import SUMMED_BY_CALLS
from proofs.audit.literal import EXACT
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.evidence import ExactCases
from twoheads.schedules import ceil_div

__all__ = ["ENTRIES", "nearest"]


def nearest(value: Fraction, p: int) -> Fraction:
    """The nearest number with a significand of p bits, whatever its exponent."""
    if value == 0:
        return value
    exponent = p - (value.numerator.bit_length() - value.denominator.bit_length())
    scaled = value * Fraction(2) ** exponent
    while scaled >= 2**p:
        exponent, scaled = exponent - 1, scaled / 2
    while scaled < 2 ** (p - 1):
        exponent, scaled = exponent + 1, scaled * 2
    return Fraction(round(scaled)) / Fraction(2) ** exponent


def _relative(found: Fraction, due: Fraction) -> Fraction:
    return abs(found - due) / abs(due)


def _recovered(A: int, p: int, with_share: bool) -> Fraction:
    """A from p-bit answers: R/(1 - R), or R/w with the share w = 1/(A+1) of the synthetic token."""
    R, w = nearest(Fraction(A, A + 1), p), nearest(Fraction(1, A + 1), p)
    return nearest(R / w if with_share else R / nearest(1 - R, p), p)


def _shares_keep_digits() -> ExactCases:
    cases = grid(p=[4, 6, 10, 16], A=[1, 2, 3, 7, 63, 1000, 2**20 - 1, 3**30])
    failures = [
        str(c)
        for c in cases
        if _relative(_recovered(**c, with_share=True), Fraction(c["A"])) > 4 * Fraction(1, 2 ** c["p"])
    ]
    return ExactCases("p <= 16 bits, A <= 3^30", "exact rationals", len(cases), tuple(failures))


def _least_rounds(log_N: int, log_fan_in: int) -> int:
    """The least k with F^k >= N: a number of k rounds depends on at most F^k inputs."""
    return ceil_div(log_N, log_fan_in)


def _rounds_at(k: int) -> int:
    """For L = 1, N = 2^(2^k), M = d = log2 N and d^3 parameters: fan-in at most M d + d^3 < 2^(3k+1)."""
    return _least_rounds(2**k, 3 * k + 1)


def _mean_depends_on_all(N: int) -> bool:
    """Whether uniform attention, the mean, changes with every one of its N tokens."""
    zeros = EXACT.full(N, 1, 0)
    means = {tuple(EXACT.call(zeros, zeros, EXACT.array([[int(i == j)] for i in range(N)]))[0]) for j in range(N)}
    return means == {(Fraction(1, N),)}


def _blow_up(d: int, H: int, L_small: int) -> Fraction:
    """Attention parameters of all oracle parameter sets over the large transformer's; L = L', H = H'."""
    m = Fraction(d * L_small, H)  # columns of an oracle's head
    large = L_small * H * 3 * Fraction(d, H) ** 2
    return L_small * H * 3 * m**2 / large


def _nonzero_parameters() -> ExactCases:
    cases = grid(m=[1, 2, 3], Ls=[1, 2, 3, 4])
    failures = []
    for case in cases:
        W = PACKED_X.build(EXACT, case, W=EXACT.full(case["m"], case["m"], 1))
        failures += [str(case)] if (W != 0).sum() != case["m"] ** 2 else []
    return ExactCases("m <= 3, L' <= 4", "counted", len(cases), tuple(failures))


def _offset_pairs(N: int, M: int) -> int:
    """Different (offset of the query block, offset of the key block) of the calls."""
    offsets = range(0, N, M)
    return len({(u, t) for u in offsets for t in offsets})


def _chebyshev_slope(n: int) -> Fraction:
    """T_n'(1), T_n being at most 1 in absolute value on [-1, 1]."""
    z = sympy.Symbol("z")
    return Fraction(int(sympy.diff(sympy.chebyshevt(n, z), z).subs(z, 1)))


ENTRIES = [
    Entry(
        id="§1.1.a",
        restatement="L, H much less than N; d = O(log N); M at least of order log N and o(N), about sqrt N.",
        readings=[
            Reading(
                "the regime is not empty: log2 N <= M < N for M = ceil(sqrt N)",
                grid(N=range(16, 2000)),
                lambda x, N: (2 ** (M := isqrt(N - 1) + 1) >= N) and M < N,
                lambda x, N: True,
            )
        ],
        remarks=[
            Reading(
                "it contains N = 100, M = 11, d = 7, H = 2, where M does not divide N (blocks S_t) and H not d "
                "(columns D_i)",
                grid(N=[100], M=[11], d=[7], H=[2]),
                lambda x, N, M, d, H: 0 in (N % M, d % H),
                lambda x, N, M, d, H: False,
            )
        ],
        note="Not among its conditions: M | N and H | d, which a last, shorter block and padded columns make "
        "unnecessary; M >= 2. It allows M = N^(1-o(1)) and M = polylog N, which §1.2.tight and §1.1.f do not "
        "survive.",
        depends=["B.1.goal", "§2.1.layer"],
    ),
    Entry(
        id="§1.1.b",
        restatement="T(X) is to be computed, from T's parameters, by an oracle that takes at most M tokens and "
        "parameters.",
        not_checkable="the definition of the task",
        remarks=[
            Reading(
                "B.1.diag, B.1.off and B.6.construction feed more than M tokens",
                grid(M=[1, 2, 3, 8], d=[1, 2]),
                lambda x, M, d: min(phi.shape({"M": M, "d": d})[0] for phi in (DIAG_PHI, OFF_PHI, PREFIX_PHI)),
                lambda x, M, d: M,
                ">",
            )
        ],
        note="So does B.5.second, and Lemma A.2's call in B.1.steps for N > M^2. B.1.step2 and B.5.second-values "
        "keep to M.",
        depends=["B.1.diag", "B.1.off", "B.6.construction", "B.5.second", "B.1.steps"],
    ),
    Entry(
        id="§1.1.c",
        restatement="Outside the oracle: feed it what is in memory, pad at most O(d^2) fixed numbers, arrange.",
        not_checkable="the definition of what is allowed",
        remarks=[
            Reading(
                "a column of ones, padded by Processing, is M numbers: more than d^2 at N = 2^20, M = 2^10, d = 20",
                grid(k=[10]),
                lambda x, k: DIAG_PHI.shape({"M": 2**k, "d": 2 * k})[0] - 1,
                lambda x, k: (2 * k) ** 2,
                ">",
            ),
            Reading(
                "the zeros of one of B.3's stacked matrices, (L'-1)(d/H)^2, are more than 4 d^2 for H = 1 and L' = 6",
                grid(d=[1, 2, 3]),
                lambda x, d: int((PACKED_X.build(x, {"m": d, "Ls": 6}, W=x.full(d, d, 1)) == 0).sum()),
                lambda x, d: 4 * d * d,
                ">",
            ),
            Reading(
                "B.5.second's zeros and the synthetic tokens stay within d^2 + d + 1 for each call",
                grid(d=range(1, 40)),
                lambda x, d: max(2 * d + 1, STEP2_Q.shape({"d": d})[0]),
                lambda x, d: d * d + d + 1,
                "<=",
            ),
        ],
        note="Ones, flags and positions therefore have to come from φ, which may use the position (Definition 2.2). "
        "Not named as allowed: leaving rows out, and the sums, products and divisions of B.1.steps' trivial way.",
        depends=["Definition 2.2", "B.1.steps"],
    ),
    Entry(
        id="§1.1.d",
        restatement="All numbers have O(log N) bits.",
        readings=[
            Reading(
                "a number of p = log2 N bits is within the relative error 2^-N (§1.1.e) of T(X) = 1/3",
                [{"N": N, "p": N.bit_length() - 1} for N in (16, 64, 256, 1024)],
                lambda x, N, p: _relative(nearest(Fraction(1, 3), p), Fraction(1, 3)),
                lambda x, N, p: Fraction(1, 2**N),
                "<=",
                Slip(
                    "Together with ε = Θ(2^-N): three equal scores with the values 1, 0, 0 give 1/3, and no p-bit "
                    "number is closer to it than 2^-(p+2), since 3k differs from 2^e.",
                    Affects.STATEMENT,
                    theorem="a_third_is_far_from_p_bits",
                ),
            ),
            Reading(
                "with p = 4 bits R/(1 - R) gives A back up to the relative error 1/4",
                grid(A=[1, 2, 3, 7, 15, 31, 63]),
                lambda x, A: _relative(_recovered(A, 4, with_share=False), Fraction(A)),
                lambda x, A: Fraction(1, 4),
                "<=",
                Slip(
                    "R = A/(A+1) is stored as 1 once A reaches 2^(p+1) - 1, which scores of O(log N) do; 1 - R is "
                    "then 0.",
                    Affects.PROOF,
                    theorem="R_is_stored_as_1",
                ),
            ),
        ],
        repair="Real numbers (ε = 0), or Ω(N) bits inside, or ε = N^-c; and the synthetic token's share w beside R, "
        "with A = R/w, which p bits determine up to 4 2^-p.",
        evidence=[
            bounded_check(
                "§1.1.d",
                "shares-keep-digits",
                "p <= 16 bits, A <= 3^30",
                "A = R/w from p-bit R and w is off by at most 4 2^-p, relatively",
                _shares_keep_digits,
            ),
            "Lemma 3.1/recovery-stable",
        ],
        survives="With one of these changes.",
        depends=["§1.1.e", "B.1.recover"],
    ),
    Entry(
        id="§1.1.e",
        restatement="Simulation: every row within a relative error ε = Θ(2^-N) in the 2-norm; Theorem 1.1 exactly.",
        not_checkable="a definition",
        remarks=[
            Reading(
                "for ε > 0 it does not compose: an output 1 + ε for 1, then ψ(x) = x - 1 + ε^2, is off by 1/ε",
                [{"eps": Fraction(1, 2**N)} for N in (4, 8, 16)],
                lambda x, eps: _relative((1 + eps) - 1 + eps**2, 1 - 1 + eps**2),
                lambda x, eps: 1 / eps,
            ),
            Reading(
                "where a row of T(X) is 0 (values 1 and -1, equal weights) it asks for 0",
                grid(values=[(1, -1)]),
                lambda x, values: sum(x.number(v) / 2 for v in values),
                lambda x, values: x.number(0),
            ),
        ],
        note="For approximate results a Lipschitz bound on the MLPs and a lower bound on the rows, or absolute "
        "errors, are needed; ε = 0 composes.",
        depends=["Definition 2.2", "Theorem 4.1 / C.1"],
    ),
    Entry(
        id="§1.1.f",
        restatement="The oracle calls run in O(L) rounds.",
        readings=[
            Reading(
                "the rounds that are needed for L = 1 are at most 10 (N = 2^(2^k), M = d = log2 N, at most d^3 "
                "parameters)",
                grid(k=range(4, 13)),
                lambda x, k: _rounds_at(k),
                lambda x, k: 10,
                "<=",
                Slip(
                    "Under §1.1.c, read strictly, a number of k rounds depends on at most (M d + parameters)^k "
                    "inputs, but a row of T(X) depends on all N: at least log N / log(M d + parameters) rounds, "
                    "unbounded for M = polylog N.",
                    Affects.STATEMENT,
                    theorem="few_rounds_miss_an_input",
                ),
            )
        ],
        remarks=[
            Reading(
                "nor is any other constant enough: at least 2^(k/2) rounds are needed from k = 12 on",
                grid(k=range(12, 41, 2)),
                lambda x, k: _rounds_at(k),
                lambda x, k: 2 ** (k // 2),
                ">=",
            ),
            Reading(
                "every token counts: the mean over N tokens changes with each of them",
                grid(N=range(1, 7)),
                lambda x, N: _mean_depends_on_all(N),
                lambda x, N: True,
            ),
        ],
        note="If sums over blocks are formed outside the oracle, L rounds do (Theorem 3.4).",
        repair="O(L log N / log M) rounds, which is O(L) for M >= N^c; or sums outside the oracle.",
        evidence=[SUMMED_BY_CALLS, "Theorem 3.4/layers-step"],
        survives="For M >= N^c, or with sums outside the oracle.",
        depends=["§1.1.c", "B.1.steps", "Lemma A.2"],
    ),
    Entry(
        id="§1.1.g",
        restatement="The large model's gradients follow from the oracles', the algorithm being a composition.",
        evidence=[
            "§1.1.g/gradient-quadratic",
            "§1.1.g/gradient-causal",
            "§1.1.g/gradient-window",
            "§1.1.g/gradient-sink",
        ],
        remarks=[
            Reading(
                "for ε > 0 nothing follows: x (1 + ε T_n(x)) is within ε on [-1, 1], and its slope at 1 is off by "
                "(1 + n^2) ε",
                grid(n=[1, 4, 16, 40]),
                lambda x, n: 1 + _chebyshev_slope(n),
                lambda x, n: 1 + n**2,
            )
        ],
        note="The steps outside the oracle (B.1.steps) belong to the composition, too. Exact simulation is needed, and "
        "the oracles' gradients with respect to their tokens, not only to their parameters: a later layer reads what "
        "calls returned.",
        depends=["B.1.recover", "B.1.steps", "§1.1.e"],
    ),
    Entry(
        id="§1.1.h",
        restatement="Calls share parameters; their number does not depend on N and is at most a constant times the "
        "large transformer's.",
        readings=[
            Reading(
                "the attention parameters, matrices being square and dense (§2.1.layer), are at most 8 times T's",
                grid(lambda d, H, L_small: d % H == 0, d=[1, 2, 4], H=[1, 2], L_small=range(1, 6)),
                lambda x, d, H, L_small: _blow_up(d, H, L_small),
                lambda x, d, H, L_small: 8,
                "<=",
                Slip(
                    "An oracle of embedding dimension dH'L'/H has square matrices of dL'/H columns: L'^2 times T's "
                    "parameters in all, so no constant does for all L'.",
                    Affects.STATEMENT,
                    theorem="parameters_have_no_constant_blow_up",
                ),
            )
        ],
        remarks=[
            Reading(
                "if φ depends on the position in the large sequence, calls differ in their blocks' offsets: (N/M)^2 "
                "pairs",
                grid(N=[8, 12, 24], M=[4]),
                lambda x, N, M: _offset_pairs(N, M),
                lambda x, N, M: (N // M) ** 2,
            )
        ],
        repair="Count entries that are not 0 (the stacked matrices keep (d/H)^2), or take L' = O(1); pass a call "
        "its two offsets as numbers.",
        evidence=[
            bounded_check(
                "§1.1.h",
                "nonzero-parameters",
                "m <= 3, L' <= 4",
                "the stacked matrices have as many entries that are not 0 as the instance's own",
                _nonzero_parameters,
            )
        ],
        survives="With that way of counting.",
        depends=["Theorem 3.4 / B.4", "B.3.construction", "§2.1.layer"],
    ),
    Entry(
        id="§1.1.i",
        restatement="If the oracle takes time O(M), the whole takes O(N^2/M).",
        readings=[
            Reading(
                "(N/M)^2 calls of M steps are N^2/M steps",
                grid(lambda N, M: M <= N, N=range(1, 30), M=range(1, 30)),
                lambda x, N, M: Fraction(N, M) ** 2 * M,
                lambda x, N, M: Fraction(N * N, M),
            )
        ],
        note="For fixed H, L, d, H', L' and one processor. In general it is N^2/M HL/(H'L') times what the oracle's "
        "embedding dimension costs.",
        evidence=["Lemma 3.1/count-bound"],
        depends=["Theorem 3.4 / B.4", "B.1.steps"],
    ),
]
