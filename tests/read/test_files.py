"""Which files an argument names, and what is said of those that cannot be read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from ragtriage.errors import InputError
from ragtriage.read.files import find_files, format_of
from ragtriage.read.sources import sources_for
from ragtriage.request import build_request
from tests.read.support import gathered
from tests.support import Command

LINE = b'{"case_id": "a"}\n'
Tree = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Makes files, each holding one record, below a folder."""

    def make(*names: str | bytes) -> Path:
        root = tmp_path / "root"
        for name in names:
            path = Path(os.fsdecode(os.path.join(os.fsencode(root), os.fsencode(name))))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(LINE)
        root.mkdir(exist_ok=True)
        return root

    return make


def names(*arguments: str | Path) -> list[str]:
    return [file.name for file in find_files(tuple(map(str, arguments)), "records", None)]


def read_cases(argument: str | Path) -> list[tuple[str, int, str]]:
    request = build_request({})
    found = [gathered(s) for s in sources_for((str(argument),), "records", request, None)]
    return [
        row for one in found for row in one.frame.select("source_file", "line", "case_id").rows()
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.jsonl", ("jsonl", None)),
        ("a.NDJSON", ("jsonl", None)),
        ("a.b.json.gz", ("json", ".gz")),
        ("a.csv.zst", ("csv", ".zst")),
        ("a.tsv", ("tsv", None)),
        ("a.parquet", ("parquet", None)),
        *(
            (name, None)
            for name in ("a.parquet.gz", "a.gz", "a", ".jsonl", "a.txt", "a.json.bz2", "")
        ),
    ],
)
def test_the_format_is_told_by_the_name(name: str, expected: object) -> None:
    assert format_of(name) == expected


def test_a_folder_is_searched_in_name_order(tree: Tree) -> None:
    root = tree(
        *("b.jsonl", "a.csv", "fold=007/part.jsonl", "fold=007/x/y.parquet", "fold=10/part.jsonl"),
        *(".hidden.jsonl", ".unfinished/r/z.jsonl", "notes.txt", "x.jsonl.tmp", "z.json.gz"),
    )
    expected = [
        *("a.csv", "b.jsonl", "fold=007/part.jsonl", "fold=007/x/y.parquet", "fold=10/part.jsonl"),
        "z.json.gz",
    ]
    assert names(root) == [str(root / name) for name in expected]
    # The hidden ones are read by those who name them.
    assert names(root / ".hidden.jsonl") == [str(root / ".hidden.jsonl")]
    assert names(f"{root}/fold=*/*.jsonl") == [
        str(root / name) for name in (expected[2], expected[4])
    ]
    assert names(f"{root}/**/part.jsonl") == [
        str(root / name) for name in (expected[2], expected[4])
    ]


def test_folder_names_are_no_columns(tmp_path: Path) -> None:
    folder = tmp_path / "split=test"
    folder.mkdir()
    pl.DataFrame({"case_id": ["a"]}).write_parquet(folder / "p.parquet")
    (source,) = sources_for((str(tmp_path),), "records", build_request({}), None)
    assert gathered(source).rows == [{"case_id": "a"}]


ODD = (
    *("with space.jsonl", "new\nline.jsonl", "[a].jsonl", "wh?t*.jsonl", "é.jsonl", "{x}.jsonl"),
    *("-.jsonl", "%s.jsonl", "a:1.jsonl", "~.jsonl", "$HOME.jsonl"),
)


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_taken_as_they_are(tree: Tree, name: str) -> None:
    path = tree(name, "decoy.jsonl", "a.jsonl") / name
    assert read_cases(path) == [(str(path), 1, "a")]


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_a_name_that_is_not_utf8_shows_its_bytes(tmp_path: Path, suffix: str) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"n\xff[x]." + suffix.encode())
    with open(path, "wb") as stream:
        if suffix == "parquet":
            pl.DataFrame({"case_id": ["a"]}).write_parquet(stream)
        else:
            stream.write(LINE if suffix == "jsonl" else b"case_id\na\n")
    line = 2 if suffix == "csv" else 1
    for argument in (os.fsdecode(path), str(tmp_path)):
        assert read_cases(argument) == [(f"{tmp_path}/n\\xff[x].{suffix}", line, "a")]


def test_glob_characters_in_the_name_of_a_parquet_file(tmp_path: Path) -> None:
    for name, case in (("[a].parquet", "right"), ("a.parquet", "wrong")):
        pl.DataFrame({"case_id": [case]}).write_parquet(tmp_path / name)
    assert read_cases(tmp_path / "[a].parquet") == [(str(tmp_path / "[a].parquet"), 1, "right")]


REFUSED = {
    "gone.jsonl": "no such file; check the path",
    "gone/*.jsonl": "no file matches; check the pattern",
    "empty": "the folder has no file we can read (.jsonl, .ndjson, .json, .csv, .tsv, .parquet)",
    "fifo.jsonl": "not a regular file; give a file, a folder or a glob",
    "loop.jsonl": "no such file; check the path",
    "dangling.jsonl": "no such file; check the path",
    "notes.txt": "cannot tell the format by the name; use one of .jsonl",
    "notes.*": "cannot tell the format by the name; use one of .jsonl",
    "n\0l.jsonl": "no such file; check the path",
    "x" * 5000 + ".jsonl": "no such file; check the path",
    "": "no such file; check the path",
}


@pytest.mark.parametrize("name", REFUSED, ids=lambda name: repr(name[:20]))
def test_what_cannot_be_read_says_why(tree: Tree, cli: Command, name: str) -> None:
    root = tree("notes.txt")
    (root / "empty").mkdir()
    os.mkfifo(root / "fifo.jsonl")
    (root / "loop.jsonl").symlink_to(root / "loop.jsonl")
    (root / "dangling.jsonl").symlink_to(root / "nowhere.jsonl")
    argument = f"{root}/{name}" if name else ""
    with pytest.raises(InputError) as refused:
        names(argument)
    assert REFUSED[name] in str(refused.value)
    cli("validate", argument).refuses(REFUSED[name])


def test_a_folder_with_a_pipe_is_refused_rather_than_waited_for(tree: Tree) -> None:
    root = tree("a.jsonl")
    os.mkfifo(root / "b.jsonl")
    with pytest.raises(InputError, match=r"b\.jsonl: not a regular file"):
        names(root)


def test_folders_that_hold_themselves_come_to_an_end(tree: Tree) -> None:
    root = tree("a.jsonl")
    (root / "again").symlink_to(root)
    assert names(root) == [str(root / "a.jsonl")]


def test_a_folder_that_cannot_be_listed_is_no_empty_folder(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree("a.jsonl", "closed/b.jsonl")
    really = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return really(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(InputError, match="closed: Permission denied; check the folder"):
        names(root)


def test_a_file_that_may_not_be_read(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tree("a.jsonl") / "a.jsonl"
    if os.geteuid() == 0:
        # Root reads everything: the refusal of the kernel is played.
        def denied(*_args: object, **_options: object) -> object:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", denied)
    else:
        path.chmod(0)
    with pytest.raises(InputError, match=r"a\.jsonl: Permission denied; check the file"):
        read_cases(path)


def test_a_file_that_is_named_twice_is_refused_once(tree: Tree, cli: Command) -> None:
    """Else every case would repeat itself; whatever is in it."""
    path = tree("a.jsonl") / "a.jsonl"
    shown = cli("validate", path, path, path)
    shown.refuses(f"{path}: given twice; name the file once")
    assert shown.err.count("name the file once") == 1
    cli("validate", path.parent, path).refuses("given twice")
    (path.parent / "b.jsonl").symlink_to(path)
    cli("validate", path.parent).refuses(f"b.jsonl: the same file as {path}; name the file once")
    broken = tree("a.parquet") / "a.parquet"
    broken.write_bytes(b"PAR1 not really")
    cli("validate", broken, broken).refuses("given twice")
    # In two roles it is read twice for two reasons.
    assert cli("evaluate", "--cases", path, "--trace", path, "--no-write").code in (0, 1)


def test_standard_input_is_kept_beside_the_run(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = cli("evaluate", "-", "--out", "out", "--run-id", "r", stdin=LINE)
    assert shown.code == 0, shown.err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["r"]
    cases = pl.read_parquet(tmp_path / "out" / "r" / "cases" / "*.parquet")
    assert cases.select("source_file", "line").rows() == [("-", 1)]
