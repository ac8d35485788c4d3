"""`ragtriage compare` and `evaluate --baseline`: exit codes, streams, formats, folders."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

import ragtriage
from tests.comparison.kit import HIT, MISS, case
from tests.support import CONTRACTS, HANDBOOK, Command, Writer, snapshot

TABLES = ["cases.parquet", "deltas.parquet", "transitions.parquet"]
REPORTS = ["manifest.json", "report.html", "report.json", "report.md"]


@pytest.fixture(scope="module")
def evaluated_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the handbook's two runs."""
    out = tmp_path_factory.mktemp("runs")
    for name in ("a", "b"):
        ragtriage.evaluate(
            None,
            cases=HANDBOOK / "cases.jsonl",
            trace=HANDBOOK / f"run-{name}.jsonl",
            corpus=HANDBOOK / "corpus.jsonl",
            about=HANDBOOK / f"about-{name}.toml",
            k=5,
            out=out,
            run_id=name,
        )
    return out


@pytest.fixture
def runs(evaluated_once: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Copies of them in this test's folder."""
    shutil.copytree(evaluated_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "a", tmp_path / "b"


def test_an_input_before_a_run_is_the_base_of_the_message(
    cli: Command, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    one = CONTRACTS / "citation.jsonl"
    cli("compare", one, runs[1], "--out", tmp_path).refuses("cutoffs: base 10, candidate 5")
    cli("compare", runs[1], one, "--out", tmp_path).refuses("cutoffs: base 5, candidate 10")


def test_the_family_of_one_step_may_have_tags_too(
    runs: tuple[Path, Path], tmp_path: Path, cli: Command
) -> None:
    """`evaluate --baseline` takes every slice that `compare` takes, and tests the same family."""
    options = ("--test", "--slice", "tag", "--slice", "split")
    two = cli("compare", *runs, "--out", tmp_path / "two", *options)
    parts = ("--cases", HANDBOOK / "cases.jsonl", "--trace", HANDBOOK / "run-b.jsonl")
    corpus = ("--corpus", HANDBOOK / "corpus.jsonl", "--k", "5", "--run-id", "b")
    out = ("--out", tmp_path / "one", "--baseline", runs[0])
    one = cli("evaluate", *parts, *corpus, *out, *options)
    assert (one.code, two.code) == (0, 0)
    tests = [
        pl.read_parquet(tmp_path / n / "compare-a-b" / "tests.parquet") for n in ("one", "two")
    ]
    assert tests[0].equals(tests[1])
    assert set(tests[0]["slice"]) == {"all", "tag", "split"}


def test_two_others_of_the_same_name_are_not_replaced(
    cli: Command, written: Writer, tmp_path: Path
) -> None:
    source = written([case("q", HIT)])
    for name in ("a", "b-c", "a-b", "c"):
        assert cli("evaluate", source, "--out", tmp_path, "--run-id", name).code == 0
    first, second = (("a", "b-c"), ("a-b", "c"))
    for _ in range(2):
        assert cli("compare", *(tmp_path / n for n in first), "--out", tmp_path).code == 0
    before = snapshot(tmp_path)
    refused = cli("compare", *(tmp_path / n for n in second), "--out", tmp_path)
    refused.refuses("compare-a-b-c compares a and b-c; choose another")
    assert snapshot(tmp_path) == before


def test_the_handbooks_two_runs(cli: Command, runs: tuple[Path, Path], tmp_path: Path) -> None:
    """What its README says by hand: three fixed, three broken, one leak further."""
    before = snapshot(*runs)
    done = cli("compare", *runs, "--out", tmp_path, "--format", "json")
    assert done.code == 0
    report = done.report()
    assert {case["case_id"]: case["change"] for case in report["cases"]} == {
        "item-limit": "regressed",
        "passport-photos": "regressed",
        "saturday-hours": "regressed",
        "alarm-code": "stage",
        "lost-item-waiver": "better",
        "lost-property": "better",
        "club-room": "fixed",
        "overdue-price": "fixed",
        "renew-with-hold": "fixed",
    }
    ways = {
        case["case_id"]: (case["base"]["break_point"], case["candidate"]["break_point"])
        for case in report["cases"]
    }
    assert ways["alarm-code"] == ("leak-retrieved", "leak-context")
    assert ways["renew-with-hold"] == ("context", None)
    assert ways["passport-photos"] == (None, "answered-unsupported")
    assert [row["key"] for row in report["about"]] == ["context_budget", "change"]
    assert report["combined_change"] is False
    folder = tmp_path / "compare-a-b"
    assert sorted(path.name for path in folder.iterdir()) == sorted([*TABLES, *REPORTS])
    assert json.loads((folder / "report.json").read_text("utf-8")) == report
    assert snapshot(*runs) == before
    assert done.err == f"report: {folder / 'report.html'}\n"


def test_gates_decide_the_exit_code_and_name_the_regressed(
    cli: Command, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    gates = ("--max-regressions", "2", "--gate", "delta.context_recall >= 0")
    done = cli("compare", *runs, *gates, "--out", tmp_path)
    assert done.code == 1
    names = "item-limit, passport-photos, saturday-hours"
    assert done.err.splitlines()[1:] == [
        f"gate failed: --max-regressions 2: 3 cases went from pass to anything else: {names}",
        f"regressed: {names}",
    ]
    assert done.out.startswith("# ragtriage: 3 of 50 cases regressed")
    manifest = json.loads((tmp_path / "compare-a-b" / "manifest.json").read_text("utf-8"))
    assert (manifest["passed"], manifest["kind"]) == (False, "comparison")
    # the same name again, as a repeated job has it: the older comparison makes way
    again = cli("compare", *runs, "--max-regressions", "3", "--out", tmp_path)
    assert again.code == 0
    manifest = json.loads((tmp_path / "compare-a-b" / "manifest.json").read_text("utf-8"))
    assert manifest["passed"] is True
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "compare-a-b"]


def test_regressed_cases_open_every_format(
    cli: Command, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    table = cli("compare", *runs, "--out", tmp_path, "--format", "table").out
    folder = tmp_path / "compare-a-b"
    pages = [table, *((folder / f"report.{name}").read_text("utf-8") for name in ("md", "html"))]
    for page in pages:
        assert "3 of 50 cases regressed" in page
        first, means = page.index("saturday-hours"), page.rindex("abstention_recall")
        assert first < means
        assert "hours-2" in page


def test_tests_and_intervals_are_asked_for(
    cli: Command, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    plain = cli("compare", *runs, "--out", tmp_path, "--format", "json").report()
    assert (plain["tests"], plain["intervals"], plain["resolution"]) == (None, None, None)
    asked = ("--test", "--intervals", "--seed", "7", "--test-metric", "context_recall")
    done = cli("compare", *runs, *asked, "--out", tmp_path, "--format", "json")
    (test,), (interval,) = done.report()["tests"], done.report()["intervals"]
    # three of 32 groups and single cases differ, all better: 2 of 8 patterns
    assert (test["n_units"], test["n_differing"], test["p"]) == (32, 3, 0.25)
    assert interval["seed"] == 7
    assert interval["low"] <= interval["delta"] <= interval["high"]
    folder = tmp_path / "compare-a-b"
    assert pl.read_parquet(folder / "tests.parquet")["p_adjusted"].to_list() == [0.25]
    table = pl.read_parquet(folder / "delta-intervals.parquet")
    assert table["low"].to_list() == [interval["low"]]
    for name, words in (("md", "## Tests"), ("html", '<h2 id="h-tests">'), ("html", "Intervals")):
        assert words in (folder / f"report.{name}").read_text("utf-8")
    shown = cli("compare", *runs, *asked, "--out", tmp_path, "--format", "table").out
    assert "cannot resolve" in " ".join(shown.split())


def test_inputs_are_evaluated_first(cli: Command, tmp_path: Path) -> None:
    done = cli(
        "compare", HANDBOOK / "run-a.jsonl", HANDBOOK / "run-b.jsonl", "--cases",
        HANDBOOK / "cases.jsonl", "--k", "5", "--out", tmp_path, "--format", "json",
    )  # fmt: skip
    assert done.code == 0
    entry = done.report()["comparison"]
    one, other = (entry[side]["run_id"] for side in ("base", "candidate"))
    names = sorted([one, other, f"compare-{one}-{other}"])
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert entry["cutoffs"] == [5]
    unwritten = tmp_path / "none"
    again = cli(
        "compare", HANDBOOK / "run-a.jsonl", HANDBOOK / "run-b.jsonl", "--cases",
        HANDBOOK / "cases.jsonl", "--k", "5", "--out", unwritten, "--no-write",
    )  # fmt: skip
    assert again.code == 0
    assert "3 of 50 cases regressed" in again.out
    assert not unwritten.exists()


def test_a_run_against_an_input(cli: Command, written: Writer, tmp_path: Path) -> None:
    base = written([case("q", HIT)], "base.jsonl")
    assert cli("evaluate", base, "--out", tmp_path / "o", "--run-id", "r", "--k", "5").code == 0
    candidate = written([case("q", MISS)], "candidate.jsonl")
    refused = cli("compare", tmp_path / "o" / "r", candidate, "--out", tmp_path / "o")
    refused.refuses("cutoffs: base 5, candidate 10")
    assert [path.name for path in (tmp_path / "o").iterdir()] == ["r"]  # before a row was scored
    options = ("--out", tmp_path / "o", "--k", "5", "--max-regressions", "0")
    done = cli("compare", tmp_path / "o" / "r", candidate, *options)
    assert done.code == 1
    assert "regressed: q" in done.err


def test_an_input_against_itself_under_a_pinned_clock(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    source = CONTRACTS / "answer.jsonl"
    done = cli("compare", source, source, "--contract", "answer", "--out", tmp_path)
    assert done.code == 0
    assert "No difference" in done.out
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("{a}",), "CANDIDATE"),
        (("{a}", "nowhere"), "nowhere"),
        (("-", "-"), "standard input can be read once"),
        (("{a}", "{b}", "--k", "5"), "--k: both are finished runs"),
        (("{a}", "{b}", "--cases", "x"), "--cases: both are finished runs"),
        (("{a}", "{b}", "--allow", "label"), "did you mean `labels`"),
        (("{a}", "{b}", "--max-regressions", "-1"), "--max-regressions: '-1'"),
        (("{a}", "{b}", "--max-regressions", "x"), "--max-regressions: 'x'"),
        (("{a}", "{b}", "--seed", "1.5"), "--seed: '1.5'"),
        (("{a}", "{b}", "--gate", "recall@5 >= 0"), "a comparison holds delta.METRIC"),
        (("{a}", "{b}", "--gate", "delta.recal@5 >= 0"), "did you mean `recall`"),
        (("{a}", "{b}", "--gate", "delta.recall@9 >= 0"), "cutoff 9"),
        (("{a}", "{b}", "--test", "--test-metric", "x"), "not among the metrics compared"),
        (("{a}", "{b}", "--test-metric", "recall"), "give --test or --intervals too"),
        (("{a}", "{b}", "--allow", "cases, labels"), "give the option once for each"),
        (("{a}", "{b}", "--slice", "splitt"), "did you mean `split`"),
        (("{a}", "{b}", "--format", "xml"), "--format"),
        (("{a}", "{b}", "--config", "none.toml"), "none.toml"),
    ],
)
def test_mistakes_are_one_message_and_exit_2(
    cli: Command, runs: tuple[Path, Path], tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    named = {"{a}": runs[0], "{b}": runs[1]}
    before = snapshot(tmp_path)
    done = cli("compare", *(named.get(a, a) for a in arguments), "--out", tmp_path)
    done.refuses(says)
    assert snapshot(tmp_path) == before


def test_a_comparison_is_no_run(cli: Command, runs: tuple[Path, Path], tmp_path: Path) -> None:
    assert cli("compare", *runs, "--out", tmp_path).code == 0
    cli("compare", runs[0], tmp_path / "compare-a-b").refuses("a comparison of two runs, not a run")


def test_a_folder_of_someone_elses_is_not_replaced(
    cli: Command, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "compare-a-b").mkdir()
    (tmp_path / "compare-a-b" / "notes.txt").write_text("mine", "utf-8")
    cli("compare", *runs, "--out", tmp_path).refuses("none of ours")
    assert (tmp_path / "compare-a-b" / "notes.txt").read_text("utf-8") == "mine"


@pytest.mark.parametrize("place", ["", "deeper/still"])
def test_a_runs_folder_takes_no_comparison(
    cli: Command, runs: tuple[Path, Path], place: str
) -> None:
    before = snapshot(*runs)
    for run in runs:
        done = cli("compare", *runs, "--out", run / place)
        assert (done.code, snapshot(*runs)) == (2, before)
        assert "lies within" in done.err
    source = CONTRACTS / "answer.jsonl"
    done = cli("evaluate", source, "--k", 5, "--baseline", runs[0], "--out", runs[0] / place)
    assert (done.code, snapshot(*runs)) == (2, before)
    assert "lies within" in done.err


def test_names_too_long_for_a_folder_are_cut_apart(
    cli: Command, written: Writer, tmp_path: Path
) -> None:
    names = ["b" * 190 + "1", "b" * 190 + "2"]
    source = written([case("q", HIT)])
    for name in names:
        assert cli("evaluate", source, "--out", tmp_path / "o", "--run-id", name).code == 0
    folders = [tmp_path / "o" / name for name in names]
    assert cli("compare", *folders, "--out", tmp_path / "o").code == 0
    assert cli("compare", *reversed(folders), "--out", tmp_path / "o").code == 0
    made = [path.name for path in (tmp_path / "o").iterdir() if path.name.startswith("compare-")]
    assert len(made) == 2
    table = pl.read_parquet(tmp_path / "o" / made[0] / "transitions.parquet")
    assert table["run_id"].to_list() == [made[0]]


def test_options_in_a_file(cli: Command, runs: tuple[Path, Path], tmp_path: Path) -> None:
    config = tmp_path / "ci.toml"
    config.write_text(
        'max-regressions = 3\ngate = "new.authorization == 0"\ntest = true\nseed = 4\n', "utf-8"
    )
    more = ("--gate", "delta.answer_match >= 0", "--format", "json", "--out", tmp_path)
    done = cli("compare", *runs, "--config", config, *more)
    assert done.code == 1
    report = done.report()
    assert [gate["passed"] for gate in report["gates"]] == [True, True, False]
    assert report["tests"]


class TestBaseline:
    """`evaluate --baseline RUN`: both in one step, the worse exit code of both."""

    def arguments(self, runs: tuple[Path, Path], *more: object) -> tuple[object, ...]:
        return (
            "evaluate", "--cases", HANDBOOK / "cases.jsonl", "--trace", HANDBOOK / "run-b.jsonl",
            "--corpus", HANDBOOK / "corpus.jsonl", "--k", "5", "--out", runs[0].parent,
            "--baseline", runs[0], *more,
        )  # fmt: skip

    def test_one_step(self, cli: Command, runs: tuple[Path, Path]) -> None:
        gates = ("--gate", "recall@5 >= 0.7", "--gate", "delta.recall@5 >= 0")
        done = cli(*self.arguments(runs, *gates, "--run-id", "c", "--format", "json"))
        assert done.code == 0
        report = done.report()
        assert [gate["gate"] for gate in report["gates"]] == ["recall@5 >= 0.7"]
        assert [gate["gate"] for gate in report["baseline"]["gates"]] == ["delta.recall@5 >= 0"]
        assert (runs[0].parent / "compare-a-c" / "report.html").is_file()

    @pytest.mark.parametrize(
        ("gates", "says"),
        [
            (("--gate", "recall@5 >= 0.9"), "gate failed: recall@5"),
            (("--max-regressions", "0"), "gate failed: --max-regressions 0"),
        ],
    )
    def test_either_verdict_fails_it(
        self, cli: Command, runs: tuple[Path, Path], gates: tuple[str, ...], says: str
    ) -> None:
        done = cli(*self.arguments(runs, *gates, "--no-write"))
        assert done.code == 1
        assert says in done.err
        assert done.out.index("cases regressed") < done.out.index("did not pass")

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (("--baseline", "missing.parquet"), "missing.parquet: no such run"),
            (("--k", "7"), "cutoffs: base 5, candidate 5, 7"),
            (("--gate", "delta.recal@5 >= 0"), "did you mean `recall`"),
            (("--allow", "all"), "'all' is not one of"),
        ],
    )
    def test_what_is_wrong_is_said_before_anything_is_scored(
        self, cli: Command, runs: tuple[Path, Path], change: tuple[str, ...], says: str
    ) -> None:
        before = snapshot(runs[0].parent)
        cli(*self.arguments(runs, *change)).refuses(says)
        assert snapshot(runs[0].parent) == before

    @pytest.mark.parametrize(
        "option", [("--test",), ("--max-regressions", "1"), ("--allow", "cases")]
    )
    def test_without_it_there_is_one_run(self, cli: Command, option: tuple[str, ...]) -> None:
        source = CONTRACTS / "answer.jsonl"
        cli("evaluate", source, "--no-write", *option).refuses(option[0], "--baseline RUN")

    def test_gates_of_two_runs_need_it(self, cli: Command) -> None:
        gate = ("--gate", "new.retrieval == 0")
        done = cli("evaluate", CONTRACTS / "answer.jsonl", "--no-write", *gate)
        done.refuses("compares two runs")
