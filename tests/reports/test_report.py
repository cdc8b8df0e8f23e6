"""The report: what the page says, that it stands alone, and that its data are JSON."""

from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from proofs.kernel import kernel_theorems
from reports import collect as main_job
from reports.auditing import audited
from reports.average_case import average_case
from reports.collect import Proofs, Report, document
from reports.environment import environment
from reports.growth import calls_growth
from reports.output import finite_or_none
from reports.packed import packed
from reports.page import page
from reports.progress import Progress
from reports.proving import prove
from reports.real_attention import Setting, real_attention
from reports.summary import summary
from reports.wording import anchor
from symbolic.catalogue import derivations

ITEM = "Lemma 3.1/unique-division"
VOID = {"meta", "br", "link", "img", "hr", "input"}


AUDITED = ("B.1.goal", "B.5.split", "§1.1.c")
"""One item that holds in part, one that is refuted, one that cannot be checked."""


@pytest.fixture(scope="module")
def report():
    """Layer 0 with long oracle calls, which are few, and one obligation by both solvers."""
    with Progress() as progress:
        run = prove([ITEM], progress, None, jobs=1, fresh=True)
    return Report(
        proofs=Proofs(run.records(), run.claim_records(), {"lemma_3_1/unique-division.proof.smt2": "(check-sat)\n"}),
        derivations=[
            {
                "item": "Lemma 3.1",
                "title": "a <title>",
                "error": None,
                "hypotheses": ["A is positive"],
                "steps": [
                    {
                        "name": "R",
                        "item": "B.1.ratio",
                        "reason": "by <definition>",
                        "check": "as given",
                        "latex": r"\frac{A}{A+1}",
                        "text": "A/(A+1)",
                    }
                ],
            }
        ],
        attention=real_attention(Setting(M=257), ("layer0",), ("quadratic", "causal", "sink", "average-case")),
        premises=average_case(Setting(M=257), ("layer0",), trials=2),
        packed=packed(Setting(M=257), ("layer0",)),
        audit=audited(AUDITED, jobs=1),
        kernel=kernel_theorems(Path("no such record")),
        growth=calls_growth((16, 32)),
        environment=environment(),
        started="2026-01-01 00:00 UTC",
        seconds=1.0,
    )


class Page(HTMLParser):
    """The page's tags, checked to be balanced."""

    def __init__(self, text):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def text(report):
    return page(report)


@pytest.fixture(scope="module")
def html(text):
    return Page(text)


def test_the_page_loads_nothing_and_runs_nothing(html, text):
    assert not [tag for tag, _ in html.tags if tag in {"script", "link", "iframe", "object", "embed", "base", "form"}]
    for tag, attributes in html.tags:
        for name in ("src", "srcset", "data", "poster", "background", "action", "xlink:href"):
            assert not re.match(r"\s*(\w+:)?//", attributes.get(name) or ""), (tag, attributes)
        assert not [name for name in attributes if name.startswith("on")]
        if tag != "a":
            assert "://" not in (attributes.get("href") or "")
    styles = re.findall(r"<style.*?</style>", text, flags=re.DOTALL)
    assert styles
    assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//", "".join(styles))


def test_ids_are_unique_and_links_inside_the_page_lead_somewhere(html):
    ids = [attributes["id"] for _, attributes in html.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {attributes["href"][1:] for attributes in html.all("a") if attributes["href"].startswith("#")}
    assert targets
    assert targets <= set(ids)
    for _, attributes in html.tags:
        for name in ("aria-labelledby", "aria-describedby"):
            assert set((attributes.get(name) or "").split()) <= set(ids)


def test_every_table_has_a_caption_and_headers(html):
    tables = len(html.all("table"))
    assert tables >= 4
    assert len(html.all("caption")) == tables
    headers = html.all("th")
    assert headers
    assert all(header.get("scope") in {"col", "row", "rowgroup"} for header in headers)


def test_document_basics(html, text):
    assert text.startswith("<!DOCTYPE html>")
    assert html.all("html")[0]["lang"] == "en"
    assert len(html.all("h1")) == 1
    assert [attributes["role"] for attributes in html.all("svg")] == ["img", "img"]
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_the_page_says_that_and_why_the_printed_variant_fails(html, report):
    said = " ".join("".join(html.text).replace("\xa0", " ").split())
    lost = next(
        row
        for row in report.attention.heads
        if row.construction == "quadratic" and row.variant == "printed" and not row.finite
    )
    assert (lost.layer, lost.head) == ("layer0", 2)
    assert lost.sums is not None
    assert lost.sums.largest > 53
    assert "layer0, head 2, printed." in said
    assert f"rounds to 1 for {lost.sums.rounded} of {lost.sums.rows} sums" in said
    assert "divides by zero" in said
    assert "not finite" in said


def test_formulas_and_reasons_are_shown_and_escaped(html, text):
    assert html.all("math")
    assert "by &lt;definition&gt;" in text
    assert "a &lt;title&gt;" in text


def test_the_average_case_is_told_beside_what_the_theorem_asks_for(html, report):
    said = " ".join("".join(html.text).replace("\xa0", " ").split())
    assert len(report.premises) == 12
    for row in report.premises:
        assert row.M_log10_shifted <= row.M_log10
        assert row.applies == (10**row.M_log10_shifted <= 257)
    assert f"is met on {sum(row.applies for row in report.premises)} of 12 heads" in said


def test_all_heads_are_in_the_table(html, report):
    assert len({(row.layer, row.head) for row in report.attention.heads}) == 12
    assert len([row for row in report.attention.heads if row.construction == "quadratic"]) == 36


def test_the_data_are_json_and_hold_the_same(report):
    text = json.dumps(finite_or_none(document(report)), allow_nan=False)
    data = json.loads(text)
    assert data["failed"] == []
    assert data["formulas"] == ["smt2/lemma_3_1/unique-division.proof.smt2"]
    printed = [r for r in data["attention"]["runs"] if (r["construction"], r["variant"]) == ("quadratic", "printed")]
    assert printed[0]["finite"] is False
    assert printed[0]["max_relative_error"] is None
    assert printed[0]["calls"] == printed[0]["closed_form"]
    assert data["environment"]["libraries"]["numpy"]


def test_every_row_names_the_command_that_repeats_it(report, twoheads):
    row = next(r for r in report.attention.runs if (r.construction, r.variant) == ("sink", "stable"))
    program, *arguments = row.command.split()
    assert program == "twoheads"
    again = twoheads(*arguments, "--json")
    assert again.code == 0
    assert again.json["calls"] == row.calls
    assert again.json["max_relative_error"] < row.tolerance


def test_a_failed_check_is_told_at_the_top(report):
    rows = list(report.attention.runs)
    broken = dataclasses.replace(rows[0], calls=rows[0].calls + 1)
    failing = dataclasses.replace(report, attention=dataclasses.replace(report.attention, runs=(broken, *rows[1:])))
    assert [check.name for check in failing.failed] == [f"calls of {broken.construction} {broken.variant} on layer0"]
    assert f"1 of {len(failing.checks)} checks failed." in page(failing)
    assert f"All {len(report.checks)} checks passed." in page(report)


@pytest.mark.parametrize("error", [1e-9, float("nan")])
def test_an_error_above_the_tolerance_is_a_failed_check(report, error):
    rows = list(report.attention.runs)
    k = next(k for k, row in enumerate(rows) if row.tolerance is not None)
    rows[k] = dataclasses.replace(rows[k], max_relative_error=error)
    failing = dataclasses.replace(report, attention=dataclasses.replace(report.attention, runs=tuple(rows)))
    assert [check.name for check in failing.failed] == [f"error of {rows[k].construction} stable on layer0"]
    assert "above" in page(failing)


def test_an_obligation_that_is_not_as_it_should_be_is_a_failed_check(report):
    record = {**report.proofs.records[0], "passed": False, "verdict": "unknown", "reason": "cvc5: not asked"}
    failing = dataclasses.replace(report, proofs=dataclasses.replace(report.proofs, records=[record]))
    assert [(check.name, check.detail) for check in failing.failed] == [(ITEM, "unknown; cvc5: not asked")]
    said = {entry.title: entry.sentences for entry in summary(failing)}
    assert said["Not decided"] == (f"{ITEM}: cvc5: not asked",)
    assert "By whom" not in said


def test_a_derivation_that_does_not_follow_is_a_failed_check(report):
    broken = {"item": "Lemma 3.1", "title": "", "hypotheses": [], "steps": [], "error": "step 2 does not follow"}
    failing = dataclasses.replace(report, derivations=[broken])
    assert [check.name for check in failing.failed] == ["derivation of Lemma 3.1"]
    assert "step 2 does not follow" in page(failing)


def test_what_rests_on_an_assumption_is_never_called_proved_without_it(report):
    def claim(item, *rests_on):
        return {"item": item, "verdict": "proved", "weakest": [], "rests_on": list(rests_on), "failed": []}

    claims = [claim("Lemma A.2"), claim("Theorem 4.1", "Theorem 4.1/hoeffding"), claim("Lemma 3.1")]
    told = dataclasses.replace(report, proofs=dataclasses.replace(report.proofs, claims=claims))
    assert summary(told)[0].sentences == (
        "Lemma 3.1 and Lemma A.2 are proved for all parameters.",
        "Theorem 4.1 is proved for all parameters, given what is assumed: Theorem 4.1/hoeffding.",
    )


def test_the_summary_is_computed(report):
    said = {entry.title: " ".join(entry.sentences) for entry in summary(report)}
    assert "1 obligation proved by" in said["By whom"]
    assert "N = 512, M = 257" in said["Real attention"]
    assert "causal printed (Theorem 3.5)" in said["Where a variant fails"]
    fewer = dataclasses.replace(
        report, attention=dataclasses.replace(report.attention, runs=report.attention.runs[:3], heads=())
    )
    assert "Where a variant fails" in {entry.title for entry in summary(report)}
    assert "3 of 3 runs" in {e.title: " ".join(e.sentences) for e in summary(fewer)}["Oracle calls"]


class TestTheCommand:
    @pytest.fixture(autouse=True)
    def _main_job_replaced(self, tmp_path, monkeypatch, report):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("reports.commands.report.collect", lambda *_: report)

    def test_writes_the_folder_and_prints_the_data(self, twoheads, tmp_path):
        ran = twoheads("report", "--out", "out/report", "--json")
        assert ran.code == 0
        folder = tmp_path / "out" / "report"
        assert sorted(path.name for path in folder.iterdir()) == ["index.html", "report.json", "smt2"]
        assert json.loads((folder / "report.json").read_text(encoding="utf-8")) == ran.json
        assert (folder / "smt2/lemma_3_1/unique-division.proof.smt2").exists()

    def test_says_where_the_report_is(self, twoheads):
        ran = twoheads("report", "--out", "here")
        assert ran.code == 0
        assert "here/index.html" in ran.out
        assert "checks passed" in ran.out

    def test_a_failed_check_is_exit_1_and_the_report_is_written(self, twoheads, tmp_path, monkeypatch, report):
        record = {**report.proofs.records[0], "passed": False, "verdict": "unknown", "reason": "no"}
        failing = dataclasses.replace(report, proofs=dataclasses.replace(report.proofs, records=[record]))
        monkeypatch.setattr("reports.commands.report.collect", lambda *_: failing)
        ran = twoheads("report", "--out", "out")
        assert ran.code == 1
        assert f"failed: {ITEM}" in ran.out
        assert "checks failed" in (tmp_path / "out/index.html").read_text(encoding="utf-8")

    def test_an_unusable_folder_is_refused_before_the_job_begins(self, twoheads, tmp_path, monkeypatch):
        def begun(*_):
            raise AssertionError("the job began")

        monkeypatch.setattr("reports.commands.report.collect", begun)
        (tmp_path / "file").write_text("", encoding="utf-8")
        assert "cannot write the report" in twoheads("report", "--out", "file").refusal
        assert "cannot write" in twoheads("report", "--out", "file/below").refusal


def test_the_main_job_asks_everything_and_keeps_the_texts(monkeypatch, tmp_path):
    """`collect` itself, with the long parts cut to one obligation and one layer."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(main_job, "prove", lambda items, *rest, **options: prove(items or [ITEM], *rest, **options))
    monkeypatch.setattr(
        main_job,
        "real_attention",
        lambda setting, progress: real_attention(Setting(M=257), ("layer5",), ("quadratic",)),
    )
    monkeypatch.setattr(main_job, "audited", lambda progress, jobs, fresh: audited(AUDITED, jobs=jobs))
    monkeypatch.setattr(main_job, "average_case", lambda setting, progress: average_case(setting, ("layer5",), 1))
    with Progress() as progress:
        report = main_job.collect(progress, fresh=True, jobs=1)
    (record,) = report.proofs.records
    assert record["smtlib"] == "smt2/lemma_3_1/unique-division.proof.smt2"
    assert "(check-sat)" in report.proofs.formulas["lemma_3_1/unique-division.proof.smt2"]
    assert {row.layer for row in report.attention.runs} == {"layer5"}
    assert [one["item"] for one in report.derivations] == list(derivations())
    assert report.failed == []


def test_packed_heads_are_checked_and_shown(report, text):
    rows = report.packed.runs
    assert {row.packing for row in rows} == {"residual", "one_layer"}
    assert all(row.passed and row.rounds == 1 for row in rows)
    assert {f"heads of layer0 packed, {row.packing}" for row in rows} <= {check.name for check in report.checks}
    off = dataclasses.replace(rows[0], error=1.0)
    assert not off.passed
    failing = dataclasses.replace(report, packed=dataclasses.replace(report.packed, runs=[off]))
    assert "heads of layer0 packed, residual" in {check.name for check in failing.failed}
    assert 'id="packed-runs"' in text
    for row in report.packed.converse:
        assert row.error <= row.bound + 1e-9


def test_the_audit_is_shown_and_its_flaws_are_failures(report, text):
    statuses = {row["id"]: row["printed"] for row in report.audit}
    assert statuses["B.5.split"] == "refuted"
    assert statuses["§1.1.c"] == "not-checkable"
    for row in report.audit:
        assert f'id="item-{anchor(row["id"])}"' in text
    assert {f"audit of {name}" for name in statuses} <= {check.name for check in report.checks}
    flawed = [{**report.audit[0], "flaws": ["it says otherwise"]}, *report.audit[1:]]
    failing = dataclasses.replace(report, audit=flawed)
    assert [check.name for check in failing.failed] == [f"audit of {report.audit[0]['id']}"]


def test_kernel_theorems_are_shown_as_checked_only_where_they_were(report, text):
    assert "not re-checked here" in text
    assert "kernel-checked<" not in text
    new = {"coq": "8.16.1", "accepted": True, "statement": "forall N, N = N"}
    checked = [dataclasses.replace(row, **new) for row in report.kernel]
    audit = [{**row, "readings": [{**one, "kernel_checked": True} for one in row["readings"]]} for row in report.audit]
    shown = page(dataclasses.replace(report, kernel=checked, audit=audit))
    assert shown.count("kernel-checked<") == len(checked)
    assert shown.count(", kernel-checked.") == sum(bool(one["theorem"]) for row in audit for one in row["readings"]) > 0
    assert "forall N, N = N" in shown
    assert "not re-checked here" not in shown
