"""The solvers, each a function from SMT-LIB 2 text and limits to an answer.

Both read the same text through their own parser. Effort is bounded in the solver's resource units, with fixed
seeds, so that a busy machine gives the same answer as an idle one; the wall-clock limit is only there to end a
solver that stopped counting, and gives `unknown`. A model is a suggestion: whoever uses it evaluates it exactly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import cvc5
import z3

from proofs.terms import constants_of, graph_of

__all__ = ["ENGINES", "Answer", "Engine", "Limits", "SolverError", "ask"]

Says = Literal["sat", "unsat", "unknown"]


class SolverError(RuntimeError):
    """A solver could not read the text: a defect of this project, never a verdict."""


@dataclass(frozen=True)
class Limits:
    """Bounds on one question, in each solver's own resource units; `seconds` only guards against a hang."""

    z3: int = 5_000_000
    cvc5: int = 1_000_000
    seconds: int = 120
    seed: int = 0

    def scaled(self, factor: Fraction) -> Limits:
        """The same with another amount of resource units."""
        return replace(self, z3=int(self.z3 * factor), cvc5=int(self.cvc5 * factor))


@dataclass(frozen=True)
class Answer:
    """What one solver says of one text."""

    solver: str
    version: str
    says: Says
    reason: str = ""
    """Why it is `unknown`."""
    resources: int = 0
    seconds: float = 0.0
    model: dict[str, str] | None = None
    """After `sat`, a value by constant: an exact rational, or true or false; None if some value is not one."""


@dataclass(frozen=True)
class Engine:
    """A solver: its version, and how it answers."""

    version: Callable[[], str]
    answer: Callable[[str, Limits], Answer]


def ask(solver: str, text: str, limits: Limits) -> Answer:
    """The solver's answer.

    Raises:
        SolverError: the solver is unknown here, or cannot read the text.
    """
    if solver not in ENGINES:
        raise SolverError(f"there is no solver {solver!r}: choose from {', '.join(ENGINES)}.")
    return ENGINES[solver].answer(text, limits)


def _ask_z3(text: str, limits: Limits) -> Answer:
    solver = z3.Solver(ctx=z3.Context())
    solver.set("rlimit", limits.z3)
    solver.set("timeout", 1000 * limits.seconds)
    solver.set("random_seed", limits.seed)
    start = time.perf_counter()
    try:
        solver.from_string(text)
        says = str(solver.check())
    except z3.Z3Exception as error:
        raise SolverError(f"Z3 cannot read or decide the text: {error}") from error
    resources = int(solver.statistics().get_key_value("rlimit count"))
    model = _rational_model(solver) if says == "sat" else None
    reason = _why(solver.reason_unknown()) if says == "unknown" else ""
    seconds = time.perf_counter() - start
    return Answer("z3", z3.get_version_string(), says, reason, resources, seconds, model)  # type: ignore[arg-type]


def _rational_model(solver: Any) -> dict[str, str] | None:
    """A model without algebraic numbers: each is moved to a rational nearby that still has a model, if one does."""
    while True:
        model = solver.model()
        values = {name: model.eval(term, model_completion=True) for name, term in _constants(solver).items()}
        algebraic = [name for name, value in values.items() if z3.is_algebraic_value(value)]
        if not algebraic:
            texts = {name: str(value).lower() for name, value in values.items()}
            return texts if all(_is_exact(text) for text in texts.values()) else None
        term, value = _constants(solver)[algebraic[0]], values[algebraic[0]]
        if not any(_can_equal(solver, term, guess) for guess in _rationals_near(value)):
            return None


def _can_equal(solver: Any, term: Any, guess: Fraction) -> bool:
    """Whether there is a model with this value; if so, it is kept."""
    solver.push()
    solver.add(term == z3.Q(guess.numerator, guess.denominator, solver.ctx))
    if solver.check() == z3.sat:
        return True
    solver.pop()
    return False


def _rationals_near(value: Any) -> Iterator[Fraction]:
    for digits in (2, 6, 20):
        middle = value.approx(digits).as_fraction()
        step = Fraction(1, 10**digits)
        yield from (Fraction(round(middle / step) + k) * step for k in (0, 1, -1))


def _constants(solver: Any) -> dict[str, Any]:
    return {name: node.term for name, node in constants_of(graph_of(solver.assertions())).items()}


def _is_exact(text: str) -> bool:
    if text in ("true", "false"):
        return True
    with suppress(ValueError):
        Fraction(text)
        return True
    return False


def _ask_cvc5(text: str, limits: Limits) -> Answer:
    solver = cvc5.Solver(cvc5.TermManager())
    options = {
        "rlimit": limits.cvc5,
        "tlimit": 1000 * limits.seconds,
        "seed": limits.seed,
        "sat-random-seed": limits.seed,
        "produce-models": "true",
    }
    for option, value in options.items():
        solver.setOption(option, str(value))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "text")
    symbols = parser.getSymbolManager()
    start = time.perf_counter()
    says, reply = "", ""
    try:
        while not (command := parser.nextCommand()).isNull():
            reply = str(command.invoke(solver, symbols)).strip()
            if reply.startswith("(error"):
                raise SolverError(f"cvc5 cannot read or decide the text: {reply}")
            says = reply or says
    except RuntimeError as error:
        raise SolverError(f"cvc5 cannot read or decide the text: {error}") from error
    model = _cvc5_model(solver, symbols) if says == "sat" else None
    return Answer(
        "cvc5", cvc5.__version__, _known(says.partition(" ")[0]), _why(says) if says.startswith("unknown") else "",
        _cvc5_resources(solver), time.perf_counter() - start, model,
    )  # fmt: skip


def _cvc5_model(solver: Any, symbols: Any) -> dict[str, str] | None:
    """The values of declared constants; None if one is an algebraic number."""
    found: dict[str, str] = {}
    for term in symbols.getDeclaredTerms():
        value = solver.getValue(term)
        if value.isBooleanValue():
            found[str(term)] = str(value.getBooleanValue()).lower()
        elif value.isIntegerValue():
            found[str(term)] = str(value.getIntegerValue())
        elif value.isRealValue():
            found[str(term)] = str(Fraction(value.getRealValue()))
        else:
            return None
    return found


def _cvc5_resources(solver: Any) -> int:
    return int(solver.getStatistics().get(True, True)["resource::resourceUnitsUsed"]["value"])


def _known(says: str) -> Says:
    if says not in ("sat", "unsat", "unknown"):
        raise SolverError(f"cvc5 answered {says!r}, which is not an answer to (check-sat).")
    return says  # type: ignore[return-value]


def _why(reason: str) -> str:
    """The reasons of both solvers in the same words."""
    lowered = reason.lower()
    if "resource" in lowered or "canceled" in lowered:
        return "resource limit"
    if "timeout" in lowered:
        return "wall-clock limit"
    return f"incomplete ({reason})" if reason else "no reason given"


ENGINES: dict[str, Engine] = {
    "z3": Engine(z3.get_version_string, _ask_z3),
    "cvc5": Engine(lambda: str(cvc5.__version__), _ask_cvc5),
}
"""The solvers by name, in the order in which they are reported."""
