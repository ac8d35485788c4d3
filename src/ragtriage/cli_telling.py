"""How evaluate and compare tell what they came to: on stdout, in a JUnit file, to GitHub.

Prints and calls what renders; no command is defined here and nothing is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from ragtriage.cli_output import (
    is_github,
    print_report,
    rendered,
    rendered_comparison,
    say,
    say_command,
    say_mapping,
    say_where,
)
from ragtriage.errors import RagtriageError, UsageError, is_panic, no_room
from ragtriage.options import Detail, format_shown

_DETAILS: tuple[Detail, ...] = ("quiet", "verbose")
TOLD = ("format", "junit", "quiet", "verbose")


class Telling:
    """What one command was asked to show, and the way there.

    `junit`: the file to write, if any.
    """

    def __init__(self, junit: str | None) -> None:
        self._junit = junit
        self._told = False
        self._wrong: RagtriageError | None = None
        self._shown = "table"
        self._detail: Detail = "normal"

    def settle(self, options: dict[str, Any]) -> None:
        """Take what is shown out of a command's options.

        Raises:
            UsageError: options that do not go together, or a file that cannot be ours.
        """
        told = {name: options.pop(name, None) for name in TOLD}
        self._junit = told["junit"]
        details: list[Detail] = [name for name in _DETAILS if told[name]]
        if len(details) > 1:
            raise UsageError("--quiet, --verbose: give one of them")
        if details and told["format"] not in (None, "table"):
            raise UsageError(f"--{details[0]}: is of the table; drop --format {told['format']}")
        self._detail = details[0] if details else "normal"
        self._shown = format_shown("table" if details else told["format"])
        self._check()

    def run(self, report: Any, path: Any, timings: dict[str, float]) -> int:
        """One evaluation; its exit code."""
        self._machines([report], [])
        print_report(rendered(report, self._shown, self._detail, timings))
        self._where(report, path)
        return self._code(report)

    def several(self, runs: dict[str, tuple[Any, Any, dict[str, float]]]) -> int:
        """An evaluation of each system, under its name; the worst of their exit codes."""
        self._machines([report for report, _, _ in runs.values()], [], list(runs))
        if self._shown == "json":
            reports = {name: report for name, (report, _, _) in runs.items()}
            print_report(rendered({"systems": reports}, self._shown))
        else:
            from ragtriage.publish.fitting import utf16

            def one(name: str, room: int) -> str:
                report, _, timings = runs[name]
                room -= utf16(_headed(name, "", self._shown))
                text = rendered(report, self._shown, self._detail, timings, limit=room)
                return _headed(name, text, self._shown)

            self._print([partial(one, name) for name in runs])
        from ragtriage.publish.escape import terminal

        codes = []
        for name, (report, path, _) in runs.items():
            self._where(report, path)
            codes.append(self._code(report, f"{terminal(name)}: "))
        return max(codes)

    def comparison(self, report: Any, path: Any) -> int:
        """One comparison; its exit code."""
        self._machines([], [report])
        print_report(rendered_comparison(report, self._shown, self._detail))
        self._where(None, path)
        return self._code(report)

    def both(self, report: Any, path: Any, comparison: Any, where: Any) -> int:
        """An evaluation and its comparison; the worse of both exit codes."""
        self._machines([report], [comparison])
        if self._shown == "json":
            print_report(rendered({**report, "baseline": comparison}, self._shown))
        else:
            apart = "" if self._detail == "quiet" else "\n"
            shown, detail = self._shown, self._detail
            self._print(
                [
                    lambda n: rendered_comparison(comparison, shown, detail, limit=n - 1) + apart,
                    lambda n: rendered(report, shown, detail, limit=n),
                ]
            )
        self._where(report, path)
        code = self._code(report)
        self._where(None, where)
        return max(code, self._code(comparison))

    def refused(self, error: BaseException) -> None:
        """Nothing was evaluated: say so to machines; the message itself is printed elsewhere."""
        if self._told:
            return
        reason = str(error) or type(error).__name__
        if is_github():
            from ragtriage.publish import github
            from ragtriage.publish.escape import prose

            for line in github.of_refusal(reason):
                say_command(line)
            lines = "\n".join(f"- {prose(line, 1_000)}" for line in reason.split("\n"))
            self._summary([f"# ragtriage: nothing was evaluated\n\n{lines}\n"])
        if self._junit is not None and self._is_free():
            from ragtriage.publish import junit
            from ragtriage.publish.identity import moment

            kind = type(error).__name__
            self._write(junit.of_refusal(reason, kind, moment()))

    def _machines(
        self, runs: list[Any], comparisons: list[Any], systems: list[str] | None = None
    ) -> None:
        """The JUnit file before stdout, which may break; annotations and the summary, too.

        `systems`: whose each run is, where there are several.
        """
        names: list[str | None] = [*systems] if systems else [None for _ in runs]
        whose = list(zip(names, runs, strict=True))
        if self._junit is not None:
            from ragtriage.publish import junit

            suites = [suite for name, report in whose for suite in junit.of_run(report, name)]
            suites += [suite for report in comparisons for suite in junit.of_comparison(report)]
            self._write(suites)
        self._told = True
        if is_github():
            from ragtriage.publish import github, markdown
            from ragtriage.publish.comparison import markdown as compared

            for line in [line for report in comparisons for line in github.of_comparison(report)]:
                say_command(line)
            for line in [line for name, report in whose for line in github.of_run(report, name)]:
                say_command(line)
            texts = [compared.render(report) for report in comparisons]
            for name, report in whose:
                text = markdown.render(report)
                texts.append(text if name is None else _headed(name, text, "markdown"))
            self._summary(texts)

    def _print(self, texts: list[Callable[[int], str]]) -> None:
        """Texts below each other on stdout; Markdown is one comment, however many there are."""
        from ragtriage.publish.fitting import shared

        made = shared(texts) if self._shown == "markdown" else [text(0) for text in texts]
        print_report("".join(made))

    def _summary(self, texts: list[str]) -> None:
        from ragtriage.publish import github

        if (wrong := github.add_summary(texts)) is not None:
            say(wrong)

    def _where(self, report: Any, path: Any) -> None:
        if self._detail == "quiet":
            return
        if report is not None:
            say_mapping(report["run"])
        say_where(path)

    def _code(self, report: Any, whose: str = "") -> int:
        """The exit code of a report, and why on stderr where it is not 0.

        `whose`: what stands before each reason.

        Raises:
            InputError: the JUnit file could not be written; all else was told.
        """
        from ragtriage.decision import Decision

        for line in report["failures"]:
            say(f"{whose}{line}")
        if self._wrong is not None:
            raise self._wrong
        return Decision(tuple(report["failures"])).exit_code

    def _is_free(self) -> bool:
        try:
            self._check()
        except UsageError:
            return False
        return True

    def _check(self) -> None:
        """Refuse early what could not be written late.

        Raises:
            UsageError: no folder to write to, or another file of that name.
        """
        if self._junit is None:
            return
        from ragtriage.publish.junit import MARK
        from ragtriage.publish.single_file import refuse_foreign
        from ragtriage.read.runs import looks_like_run

        target = Path(self._junit)
        if not target.parent.is_dir():
            raise UsageError(f"--junit: {target}: no folder {target.parent}; make it first")
        if target.is_dir():
            raise UsageError(f"--junit: {target}: is a folder; name a file in it")
        if looks_like_run(str(target.parent)):
            raise UsageError(f"--junit: {target}: lies within a run, which is never written to")
        if not (target.is_file() and target.stat().st_size == 0):
            refuse_foreign(target, MARK)

    def _write(self, suites: Any) -> None:
        from ragtriage.publish import junit
        from ragtriage.publish.single_file import replace_file

        try:
            replace_file(Path(str(self._junit)), junit.document(suites))
        except RagtriageError as error:
            self._wrong = error


def _headed(system: str, text: str, shown: str) -> str:
    """A report under the name of its system."""
    from ragtriage.publish.escape import prose, terminal

    if shown == "markdown":
        return f"**System:** {prose(system)}\n\n{text}\n"
    return f"== system: {terminal(system)}\n{text}\n\n"


@contextmanager
def telling(flags: dict[str, Any]) -> Iterator[Telling]:
    """Around a command: what refuses it reaches machines, too, and is raised again."""
    told = Telling(flags.get("junit"))
    try:
        yield told
    except BaseException as error:
        if isinstance(error, Exception) or is_panic(error):
            told.refused(no_room(error) or error)
        raise
