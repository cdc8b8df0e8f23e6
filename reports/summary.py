"""The plain-language summary of a report, every sentence of it computed from results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reports.average_case import EPSILON
from reports.collect import Report
from reports.real_attention import HeadRow, RunRow
from reports.wording import counted, grouped, joined, paper_order, short

__all__ = ["Said", "summary"]


Record = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """A heading and what is said under it."""

    title: str
    sentences: tuple[str, ...]


_WORDS = {
    "kernel-checked": "checked by a proof kernel for all parameters",
    "proved": "proved for all parameters",
    "proved-bounded": "proved on a stated range",
    "identity-tested": "tested as identities at random points of a finite field",
    "certified": "certified by rigorous enclosures",
    "tested": "tested in floating point",
    "refuted": "refuted",
    "assumed": "assumed",
    "unknown": "not decided",
}
"""What a verdict means, strongest first."""

_BROAD = ("kernel-checked", "proved")
"""Verdicts whose scope is all parameters."""


def summary(report: Report) -> list[Said]:
    """What was proved, by what and on which range; what is tested only; what is assumed; what fails."""
    records, runs = report.proofs.records, report.attention.runs
    said = [
        Said("Claims", tuple(_claims(report.proofs.claims))),
        Said("By whom", tuple(_by_whom(records))),
        Said("On a stated range only", tuple(_ranges(records))),
        Said("Shown to be false", tuple(_refuted(records))),
        Said("Assumed, not checked here", tuple(f"{row['id']}: {row['proves']}" for row in _with(records, "assumed"))),
        Said("Not decided", tuple(f"{row['id']}: {row['reason']}" for row in _with(records, "unknown"))),
        Said("False variants", tuple(_mutants(records))),
        Said("Real attention", tuple(_accuracy(runs))),
        Said("Average case, by sampling", tuple(_average_case(report))),
        Said("Where a variant fails", tuple(_failures(runs, report.attention.heads))),
        Said("Oracle calls", tuple(_counts(runs))),
    ]
    return [entry for entry in said if entry.sentences]


def _with(records: Sequence[Record], *verdicts: str) -> list[Record]:
    return [row for row in records if row["verdict"] in verdicts]


def _claims(claims: Sequence[Record]) -> Iterator[str]:
    """The items by verdict; those that rest on an assumption are named with it, and never among the others."""
    claims = sorted(claims, key=lambda row: paper_order(row["item"]))
    for verdict, words in _WORDS.items():
        own = [row for row in claims if row["verdict"] == verdict]
        free = [row["item"] for row in own if not row["rests_on"]]
        if free:
            yield f"{joined(free)} {'is' if len(free) == 1 else 'are'} {words}."
        for row in own:
            if row["rests_on"]:
                yield f"{row['item']} is {words}, given what is assumed: {joined(row['rests_on'])}."


def _by_whom(records: Sequence[Record]) -> Iterator[str]:
    """Who decided the obligations that are proved, and which only one solver decides."""
    proved = _with(records, "proved", "proved-bounded")
    asked = [row for row in proved if row["solvers"]]
    groups = Counter(tuple(f"{name} {row['solvers'][name]['version']}" for name in row["decided_by"]) for row in asked)
    for names, n in groups.items():
        text = "each from the same text" if n > 1 else "from one text"
        yield f"{counted(n, 'obligation')} proved by {joined(names)}, {text}."
    lone = [row["id"] for row in asked if len(row["decided_by"]) == 1]
    if lone:
        yield f"Decided by one solver only: {joined(lone)}."


def _ranges(records: Sequence[Record]) -> Iterator[str]:
    """Verdicts that are no proof for all parameters, by their scope."""
    for verdict, words in _WORDS.items():
        if verdict in _BROAD or verdict in ("refuted", "assumed", "unknown"):
            continue
        for scope, rows in grouped(_with(records, verdict), lambda row: row["scope"]):
            items = joined(dict.fromkeys(row["item"] for row in rows))
            reasons = {row["reason"] for row in rows}
            reason = f" ({reasons.pop()})" if len(reasons) == 1 and "" not in reasons else ""
            yield f"{counted(len(rows), 'statement')} of {items}, {words}: {scope}{reason}."


def _refuted(records: Sequence[Record]) -> Iterator[str]:
    for row in _with(records, "refuted"):
        expected = "as it should be" if row["passed"] else "which was not expected"
        yield f"{row['id']} is refuted, {expected}: {row['proves']}"


def _mutants(records: Sequence[Record]) -> Iterator[str]:
    tried = [row["mutants"] for row in records if row["mutants"]["total"]]
    if not tried:
        return
    killed, equivalent, total = (sum(entry[key] for entry in tried) for key in ("killed", "equivalent", "total"))
    same = f", {equivalent} proved to be the same statement" if equivalent else ""
    alive = total - killed - equivalent
    yield (
        f"{counted(total, 'false variant')} of {counted(len(tried), 'obligation')}: {killed} refuted by a witness that "
        f"was replayed{same}, {alive} surviving."
    )


def _accuracy(runs: Sequence[RunRow]) -> Iterator[str]:
    claimed = [row for row in runs if row.accurate is not None]
    if not claimed:
        return
    met = [row for row in claimed if row.accurate]
    setting = claimed[0]
    layers = joined(dict.fromkeys(row.layer for row in claimed))
    text = (
        f"The stable variants of {joined(dict.fromkeys(row.construction for row in claimed))} were run in float64 on "
        f"all {setting.heads} heads of {layers} (N = {setting.N}, M = {setting.M}): {len(met)} of "
        f"{counted(len(claimed), 'run')} within tolerance"
    )
    worst = max((row.max_relative_error for row in met), default=None)
    ending = "." if worst is None else f", the worst relative row error being {short(worst)}."
    yield text + ending


def _average_case(report: Report) -> Iterator[str]:
    """Whether Theorem 4.1 says anything of the real heads, and what was seen."""
    rows = report.premises
    if not rows:
        return
    least = min(row.M_log10_shifted for row in rows)
    applies, failing = sum(row.applies for row in rows), sum(row.failures > 0 for row in rows)
    runs = counted(rows[0].trials, "run")
    yield (
        f"With M = {report.attention.setting.M} the premise of Theorem 4.1 is met on {applies} of "
        f"{counted(len(rows), 'head')}; the least M that it asks for on any of them is 10^{least:.1f}, for an "
        f"error of {EPSILON} and by the better of two readings. In {runs} of each head, {failing} of them had a row "
        "that is further off."
    )


def _failures(runs: Sequence[RunRow], heads: Sequence[HeadRow]) -> Iterator[str]:
    """Heads without a finite answer, and formulas that exact arithmetic refutes."""
    lost: dict[tuple[str, int], list[HeadRow]] = {}
    for row in heads:
        if not row.finite and row.construction == "quadratic":
            lost.setdefault((row.layer, row.head), []).append(row)
    for (layer, head), rows in lost.items():
        variants = joined(row.variant for row in rows)
        yield f"Lemma 3.1, {variants}, on {layer}, head {head}: no finite answer in float64. {rows[0].reason}"
    others = dict.fromkeys(
        f"{row.construction} {row.variant}" for row in runs if not row.finite and row.construction != "quadratic"
    )
    if others:
        yield f"No finite answer on some head either: {joined(others)}."
    wrong = dict.fromkeys(f"{row.construction} {row.variant} ({row.item})" for row in runs if row.exact is False)
    if wrong:
        yield f"Not attention even in exact arithmetic: {joined(wrong)}."


def _counts(runs: Sequence[RunRow]) -> Iterator[str]:
    if not runs:
        return
    equal = sum(row.calls == row.closed_form for row in runs)
    bounded = [row for row in runs if row.constant is not None]
    within = sum(row.counted for row in bounded)
    yield (
        f"The ledger's calls equal the closed form in {equal} of {counted(len(runs), 'run')}, and stay within the "
        f"stated constant times the paper's bound in {within} of {len(bounded)}."
    )
