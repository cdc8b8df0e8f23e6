"""The report's folder: whole files, ours only."""

from __future__ import annotations

import json

import pytest

from reports.folder import checked_report, write_report
from twoheads.errors import InputError


def listing(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_all_files_are_written_and_nothing_else_stays(tmp_path):
    folder = tmp_path / "new" / "report"
    write_report(
        folder, "<p>page</p>", {"x": float("nan"), "formulas": ["smt2/lemma/a.smt2"]}, {"lemma/a.smt2": "(check-sat)\n"}
    )
    assert listing(folder) == ["index.html", "report.json", "smt2/lemma/a.smt2"]
    assert json.loads((folder / "report.json").read_text(), parse_constant=pytest.fail)["x"] is None
    assert (folder / "index.html").read_text() == "<p>page</p>"


def test_foreign_files_stay_and_former_formulas_go(tmp_path):
    for name in ("notes.txt", "smt2/mine.smt2"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("keep")
    write_report(
        tmp_path, "1", {"formulas": ["smt2/lemma/a.smt2", "smt2/b.smt2"]}, {"lemma/a.smt2": "a", "b.smt2": "b"}
    )
    write_report(tmp_path, "2", {"formulas": ["smt2/b.smt2"]}, {"b.smt2": "b2"})
    assert listing(tmp_path) == ["index.html", "notes.txt", "report.json", "smt2/b.smt2", "smt2/mine.smt2"]
    assert (tmp_path / "smt2/b.smt2").read_text() == "b2"


@pytest.mark.parametrize(
    "listed", [["../outside.smt2"], ["smt2/../../outside.smt2"], ["/outside.smt2"], ["smt2/../other.smt2"], 3, None]
)
def test_a_report_json_that_is_not_ours_removes_nothing(tmp_path, listed):
    folder = tmp_path / "report"
    (folder / "smt2").mkdir(parents=True)
    for path in (tmp_path / "outside.smt2", folder / "other.smt2"):
        path.write_text("keep")
    (folder / "report.json").write_text(json.dumps({"formulas": listed}))
    write_report(folder, "", {"formulas": []}, {})
    assert (tmp_path / "outside.smt2").read_text() == "keep"
    assert (folder / "other.smt2").read_text() == "keep"


def test_an_interrupted_write_leaves_the_former_file(tmp_path, monkeypatch):
    write_report(tmp_path, "old", {"formulas": []}, {})

    def broken(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", broken)
    with pytest.raises(InputError, match="No space left on device"):
        write_report(tmp_path, "new", {"formulas": []}, {})
    assert (tmp_path / "index.html").read_text() == "old"
    assert listing(tmp_path) == ["index.html", "report.json"]


@pytest.mark.parametrize("blocked", ["report", "report/smt2", "report/index.html/x", "report/report.json/x"])
def test_a_folder_that_cannot_be_used_is_refused_before_anything_is_made(tmp_path, blocked):
    path = tmp_path / blocked
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("in the way")
    before = listing(tmp_path)
    with pytest.raises(InputError, match="cannot write the report"):
        checked_report(tmp_path / "report")
    assert listing(tmp_path) == before


def test_a_folder_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="not a writable folder"):
        checked_report(tmp_path / "file" / "report")
    assert checked_report(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert not (tmp_path / "a").exists()
