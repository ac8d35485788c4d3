"""What may be read and what is written, in words and as JSON, from the models alone."""

from __future__ import annotations

import json
from typing import Any

import pandera.polars as pa
import polars as pl

from ragtriage.errors import UsageError, nearest
from ragtriage.metrics import REGISTRY
from ragtriage.publish.folder import to_json
from ragtriage.schemas import agreement, comparison, leakage, results
from ragtriage.schemas.contracts import CONTRACTS
from ragtriage.schemas.corpus import Corpus
from ragtriage.schemas.fields import Alias, FieldInfo
from ragtriage.schemas.inputs import Cases, dtypes, infos
from ragtriage.schemas.reviews import Reviews
from ragtriage.schemas.rules import RULES

_INPUTS: dict[str, type[pa.DataFrameModel]] = {
    "cases": Cases,
    "corpus": Corpus,
    "reviews": Reviews,
}
TABLES: dict[str, type[pa.DataFrameModel]] = {
    "cases": results.CaseResults,
    "evidence": results.Evidence,
    "claims": results.Claims,
    "rejects": results.Rejects,
    "summary": results.Summary,
    "stages": results.Stages,
    "findings": results.Findings,
    "gates": results.Gates,
    "intervals": results.Intervals,
    "agreement/pairs": agreement.Pairs,
    "agreement/judges": agreement.Judges,
    "agreement/disagreements": agreement.Disagreements,
    "agreement/judge-disagreements": agreement.JudgeDisagreements,
    "comparison/transitions": comparison.Transitions,
    "comparison/deltas": comparison.Deltas,
    "comparison/cases": comparison.ChangedCases,
    "comparison/tests": comparison.Tests,
    "comparison/delta-intervals": comparison.Intervals,
    "leakage/leaks": leakage.Findings,
    "leakage/assignment": leakage.Assignment,
    "leakage/sizes": leakage.Sizes,
}
FORMATS = ("text", "json", "markdown", "sql", "formats")
# One value a field, so that a starter file is a case that passes.
_VALUES: dict[str, Any] = {
    "case_id": "case-1",
    "question": "How long may I keep a book?",
    "split": "development",
    "expected_answers": ["three weeks"],
    "required_ids": ["loans-1"],
    "retrieved_ids": ["loans-1", "fees-2"],
    "context_ids": ["loans-1"],
    "cited_ids": ["loans-1"],
    "answer": "Three weeks",
    "answer_correct": True,
    "required_claims": ["three-weeks"],
    "claims": [{"claim_id": "three-weeks", "supported": True, "cited_ids": ["loans-1"]}],
}
_ALWAYS = ("question", "answer_correct")


def example(name: str) -> str:
    """A starter file for a contract: two cases in JSON lines, the second unanswerable.

    Raises:
        UsageError: there is no such contract.
    """
    contract = CONTRACTS.get(name)
    if contract is None:
        known = list(CONTRACTS)
        raise UsageError(f"--example: no contract {name!r}{nearest(name, known)}; one of {known}")
    fields = set(_VALUES) if name == "auto" else {*contract.requires, *contract.any_of, *_ALWAYS}
    fields -= {"required_groups", "grades"}
    if name == "claims":
        fields |= {"required_ids", "context_ids", "answer"}
    if name == "ranking":
        fields -= {"answer_correct"}
    first = {field: value for field, value in _VALUES.items() if field in fields}
    second = first | {"case_id": "case-2"}
    for field, value in first.items():
        if isinstance(value, list):
            second[field] = []
    if "question" in second:
        second["question"] = "Which country stores my data?"
    if "answer" in second:
        second["answer"] = None
    if "answer_correct" in second:
        del second["answer_correct"]
    second["answerable"] = False
    return "".join(json.dumps(record) + "\n" for record in (first, second))


def printed(name: str) -> str:
    """The contract in one of `FORMATS`."""
    if name in ("text", "json"):
        return as_json() if name == "json" else as_text()
    from ragtriage.publish import (  # noqa: PLC0415 - they build on this one
        contract_page,
        formats_page,
        views,
    )

    pages = {"sql": views.script, "markdown": contract_page.page, "formats": formats_page.page}
    return pages[name]()


def as_json() -> str:
    """Everything, for programs."""
    return to_json(
        {
            "schema_version": results.SCHEMA_VERSION,
            "inputs": {name: _fields(model, aliases=True) for name, model in _INPUTS.items()},
            "contracts": {
                contract.name: {
                    "about": contract.about,
                    "requires": list(contract.requires),
                    "may_be_null": list(contract.may_be_null),
                    "any_of": list(contract.any_of),
                    "aliases": list(contract.aliases),
                }
                for contract in CONTRACTS.values()
            },
            "rules": {rule.id: rule.message for rule in RULES.values()},
            "tables": {name: _fields(model, aliases=False) for name, model in TABLES.items()},
            "metrics": {
                metric.name: {
                    "family": metric.family,
                    "kind": metric.kind,
                    "cutoff": metric.cutoff,
                    "about": metric.about,
                    "needs": [" or ".join(group) for group in (*metric.needs, *metric.file_needs)],
                    "range": list(metric.bounds),
                    "better": metric.better,
                    "source": metric.source,
                    "trec_eval": [name for name in metric.trec_eval if name is not None],
                }
                for metric in REGISTRY.values()
            },
        }
    )


def as_text() -> str:
    """Everything, for people."""
    lines: list[str] = []
    for name, model in _INPUTS.items():
        lines += [f"INPUT {name}", *_described(model, aliases=True), ""]
    lines.append("CONTRACTS")
    for contract in CONTRACTS.values():
        either = f", one of {'|'.join(contract.any_of)}" if contract.any_of else ""
        lines.append(f"  {contract.name}: {contract.about}")
        lines.append(f"      requires {', '.join(contract.requires)}{either}")
    lines += ["", "RULES", *(f"  {rule.id}: {rule.message}" for rule in RULES.values()), ""]
    for name, model in TABLES.items():
        lines += [f"TABLE {name}", *_described(model, aliases=False), ""]
    lines.append("METRICS (columns of the case table, rows of the summary)")
    lines += [f"  {m.name} ({m.family}, {m.kind}): {m.about}" for m in REGISTRY.values()]
    return "\n".join(lines) + "\n"


def _fields(model: type[pa.DataFrameModel], *, aliases: bool) -> dict[str, Any]:
    types, about = dtypes(model), infos(model)
    nullable = {name: column.nullable for name, column in model.to_schema().columns.items()}
    fields: dict[str, Any] = {}
    for name, dtype in types.items():
        fields[name] = {
            "type": type_name(dtype),
            "null": nullable[name],
            "about": about[name].about,
        }
        if not aliases:
            fields[name]["null_means"] = null_meaning(about[name], nullable=nullable[name])
        if aliases:
            fields[name]["aliases"] = [
                {"name": alias.name, "only": _only(alias)} for alias in about[name].aliases
            ]
    return fields


def null_meaning(info: FieldInfo, *, nullable: bool) -> str | None:
    """What null means in a written column, where its meaning does not say so; None: never null."""
    if not nullable:
        return None
    if info.null:
        return info.null
    return "see the meaning" if "null" in info.about else "not given, or not applicable"


def _only(alias: Alias) -> list[str]:
    """Where an alias counts; everywhere if empty."""
    if alias.role is not None:
        return [f"--{alias.role} file"]
    if not alias.restricted:
        return []
    contracts = [f"--contract {c.name}" for c in CONTRACTS.values() if alias.name in c.aliases]
    return [*contracts, f"--map {alias.name}=…"]


def _alias(alias: dict[str, Any]) -> str:
    return str(alias["name"]) + (f" (only {' or '.join(alias['only'])})" if alias["only"] else "")


def _described(model: type[pa.DataFrameModel], *, aliases: bool) -> list[str]:
    lines = []
    for name, field in _fields(model, aliases=aliases).items():
        optional = "?" if field["null"] else ""
        lines.append(f"  {name}: {field['type']}{optional}  {field['about']}")
        if field.get("aliases"):
            lines.append(f"      also: {', '.join(map(_alias, field['aliases']))}")
    return lines


def type_name(dtype: Any) -> str:
    """A polars type as the documents write it."""
    if isinstance(dtype, pl.List):
        return f"List[{type_name(dtype.inner)}]"
    if isinstance(dtype, pl.Struct):
        return "{" + ", ".join(f"{m.name}: {type_name(m.dtype)}" for m in dtype.fields) + "}"
    return str(dtype)
