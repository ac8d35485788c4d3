"""What flags and a config file say, as the values of a request. No command is defined here."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Literal

from ragtriage.errors import UsageError

if TYPE_CHECKING:
    from ragtriage.comparison.request import CompareRequest

# Longer rankings than ten digits count exist nowhere; the request has the exact limit.
_CUTOFF = re.compile(r"0*[1-9][0-9]{0,9}")
_TEXTS = (
    "gate",
    "abstain_text",
    "mapping",
    "slice",
    "base",
    "candidate",
    "baseline",
    "system",
    "list_separator",
)
_THRESHOLDS = (
    "min_recall",
    "min_context_precision",
    "min_mrr",
    "min_citation_coverage",
    "min_citation_validity",
)
_COUNTS = ("max_regressions", "seed")
# What `evaluate --baseline` hands on to the comparison.
_FOR_TWO_RUNS = ("allow", "max_regressions", "test", "intervals", "test_metric", "seed")
# What means something of one run, and of two.
_FOR_EITHER = ("intervals", "seed")
FORMATS = ("table", "markdown", "json")
Detail = Literal["quiet", "normal", "verbose"]


def options_from(flags: dict[str, Any]) -> dict[str, Any]:
    """Flags over a config file over defaults; gates of both hold."""
    from ragtriage.request import load_config  # noqa: PLC0415 - polars loads only for real work

    config_file = flags.pop("config")
    options = load_config(config_file) if config_file else {}
    given = {
        name.rstrip("_"): value for name, value in flags.items() if value not in (None, (), False)
    }
    given |= {name: _text(given[name]) for name in _TEXTS if name in given}
    if options.pop("no_write", False):
        options["write"] = False
    if "mapping" in given:
        given["map"] = _mapping(options.get("map", {}), given.pop("mapping"))
    if "k" in given:
        given["k"] = _cutoffs(given["k"])
    if given.pop("no_write", False):
        given["write"] = False
    if "min_validated" in given:
        given["min_validated"] = _whole("min_validated", given["min_validated"])
    given |= {n: _threshold(n, given[n]) for n in _THRESHOLDS if n in given}
    given |= {name: _count(name, given[name]) for name in _COUNTS if name in given}
    given["gate"] = (*options.get("gate", ()), *given.get("gate", ()))
    return options | given


def leakage_options(flags: dict[str, Any]) -> dict[str, Any]:
    """The same for `ragtriage leakage`: flags over a config file over defaults."""
    from ragtriage.request import load_config  # noqa: PLC0415 - polars loads only for real work

    config_file = flags.pop("config")
    options = load_config(config_file) if config_file else {}
    if options.pop("no_write", False):
        options["write"] = False
    # By identity: 0 equals False and is a value all the same.
    given = {
        name.rstrip("_"): _text(value)
        for name, value in flags.items()
        if value is not None and value is not False and value != ()
    }
    if given.pop("no_write", False):
        given["write"] = False
    if "mapping" in given:
        given["map"] = _mapping(options.get("map", {}), given.pop("mapping"))
    if "shares" in given:
        given["shares"] = _shares(given["shares"])
    return options | given


def _shares(text: str) -> dict[str, float]:
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = part.strip().rpartition("=")
        try:
            value = float(share)
        except ValueError:
            value = 0.0
        if not name or name in shares or not 0 < value <= 1:
            raise UsageError(
                f"--shares: {part.strip()!r}: write each split once, for example "
                "development=0.8,test=0.2"
            )
        shares[name] = value
    return shares


def _text(value: Any) -> Any:
    """An argument's text as UTF-8, also where the locale took its bytes for something else."""
    if isinstance(value, tuple):
        return tuple(_text(item) for item in value)
    if not isinstance(value, str) or value.isprintable():
        return value
    raw = value.encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "surrogateescape")


def _mapping(base: Any, items: tuple[str, ...]) -> dict[str, str]:
    """Flags over the config file; two flags for one name must agree."""
    if not isinstance(base, dict):
        raise UsageError("--map: in a config file write a table, [map] theirs = 'ours'")
    given: dict[str, str] = {}
    for theirs, ours in map(_pair, items):
        if given.setdefault(theirs, ours) != ours:
            raise UsageError(
                f"--map: {theirs!r} is mapped to {given[theirs]!r} and to {ours!r}; keep one"
            )
    return base | given


def _pair(item: str) -> tuple[str, str]:
    theirs, equals, ours = item.rpartition("=")
    if not equals or not theirs or not ours:
        raise UsageError(f"--map: {item!r}: write THEIRS=OURS")
    return theirs, ours


def _cutoffs(values: tuple[str, ...]) -> list[int]:
    cutoffs = []
    for part in ",".join(values).split(","):
        text = part.strip()
        if not _CUTOFF.fullmatch(text):
            shown = part if len(part) <= len("a whole number") else part[:12] + "…"
            raise UsageError(f"--k: {shown!r} is not a whole number from 1 to 2147483647")
        cutoffs.append(int(text))
    return cutoffs


def _whole(name: str, text: str) -> int:
    if not _CUTOFF.fullmatch(text):
        option = "--" + name.replace("_", "-")
        raise UsageError(f"{option}: {text!r} is not a whole number above 0")
    return int(text)


def _threshold(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        option = "--" + name.replace("_", "-")
        raise UsageError(f"{option}: {text!r} is not a number from 0 to 1") from None


def _count(name: str, text: str) -> int:
    if not re.fullmatch("[0-9]{1,18}", text):
        raise UsageError(f"--{name.replace('_', '-')}: {text!r} is not a whole number from 0 up")
    return int(text)


def comparison_apart(options: dict[str, Any]) -> tuple[dict[str, Any], CompareRequest | None]:
    """An evaluation's options, and the comparison that `--baseline` asks for, if it does.

    Raises:
        UsageError: an option speaks of two runs and there is one.
    """
    for_two = {name: options.pop(name) for name in _FOR_TWO_RUNS if name in options}
    options |= {name: for_two[name] for name in _FOR_EITHER if name in for_two}
    baseline = options.pop("baseline", None)
    if baseline is None:
        alone = [name for name in for_two if name not in _FOR_EITHER]
        if alone:
            option = "--" + alone[0].replace("_", "-")
            raise UsageError(f"{option}: compares two runs; name the other with --baseline RUN")
        return options, None
    from ragtriage.comparison.gates import is_for_two_runs  # noqa: PLC0415 - only with --baseline
    from ragtriage.comparison.request import build_compare_request  # noqa: PLC0415 - the same

    gates = options.get("gate", ())
    options["gate"] = tuple(text for text in gates if not is_for_two_runs(str(text)))
    for_two["gate"] = tuple(text for text in gates if is_for_two_runs(str(text)))
    shared = {
        n: options[n] for n in ("out", "write", "all_cases", "no_text", "slice") if n in options
    }
    return options, build_compare_request({"base": baseline, "candidate": ""} | shared | for_two)


def format_shown(name: str | None) -> str:
    """What stdout shows: as asked, else a table on a terminal and Markdown elsewhere."""
    if name is None:
        return "table" if sys.stdout.isatty() else "markdown"
    if name not in FORMATS:
        raise UsageError(f"--format: {name!r} is not one of {', '.join(FORMATS)}")
    return name
