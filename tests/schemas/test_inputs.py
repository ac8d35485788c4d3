"""The models, the line decoder and the polars schema say the same of every field."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import msgspec
import polars as pl
import pytest

from ragtriage.read.aliases import KeyResolver
from ragtriage.read.types import annotation
from ragtriage.schemas.contracts import CONTRACTS
from ragtriage.schemas.corpus import Corpus
from ragtriage.schemas.fields import CLAIMS, GRADES, ID_GROUPS, ID_LIST
from ragtriage.schemas.inputs import (
    CASE_FIELDS,
    EVIDENCE_FIELDS,
    ID_COLUMNS,
    ITEM_COLUMNS,
    Cases,
    dtypes,
    infos,
)
from tests.read import strict
from tests.read.support import read

# By hand: for each type a value, and values of any other type.
SAMPLES: dict[Any, tuple[list[Any], list[Any]]] = {
    pl.String: (["x", ""], [1, True, [], {}, 1.5]),
    pl.Boolean: ([True, False], [0, 1, "true", [], 1.0]),
    pl.Float64: ([1.5, 2, -0.0], ["1", True, [], {}]),
    pl.Int64: ([1, -(2**63)], [1.0, "1", True, 2**63]),
    ID_LIST: ([[], ["x", "x"]], ["x", [1], [None], [["x"]], {}]),
    ID_GROUPS: ([[], [[]], [["x"], ["y", "z"]]], [["x"], "x", [None], [[None]], [[1]]]),
    GRADES: (
        [[], [{"id": "x", "grade": 1}]],
        [
            [{"id": "x"}],
            [{"grade": 1}],
            [{"id": 1, "grade": 1}],
            [{"id": "x", "grade": 1.5}],
            ["x"],
        ],
    ),
    CLAIMS: (
        [[], [{"claim_id": "x"}], [{"claim_id": "x", "supported": None, "cited_ids": ["y"]}]],
        [[{}], [{"claim_id": 1}], [{"claim_id": "x", "supported": 1}], [{"claim_id": "x", "z": 1}]],
    ),
}
MODELS = {"records": Cases, "corpus": Corpus}
EVERY = [(role, field) for role, model in MODELS.items() for field in dtypes(model)]


@pytest.mark.thorough
@pytest.mark.parametrize(("role", "field"), EVERY)
def test_model_decoder_and_frame_agree_on_a_field(role: str, field: str) -> None:
    model = MODELS[role]
    dtype = dtypes(model)[field]
    column = model.to_schema().columns[field]
    assert column.dtype.type == dtype
    id_field = next(iter(dtypes(model)))
    assert column.nullable == (field != id_field)
    good, bad = SAMPLES[dtype]
    decode = msgspec.json.Decoder(annotation(dtype), strict=True).decode
    empty = pl.DataFrame(schema=dtypes(model))
    for value in good:
        decode(json.dumps(value).encode())
        line = json.dumps({id_field: "i", field: value}).encode()
        found = read(line + b"\n", role=role)
        assert not found.faults, value
        assert found.frame[field].dtype == dtype
        # No value rule is asked here: only names, types and nulls.
        bare = found.frame.select(list(dtypes(model)))
        assert bare.schema == empty.schema
    for value in bad:
        with pytest.raises(msgspec.DecodeError):
            decode(json.dumps(value).encode())
        line = json.dumps({id_field: "i", field: value}).encode()
        # Alone it is examined; behind a good record of its kind it meets the gate first.
        for before in ((), (json.dumps({id_field: "i", field: good[0]}).encode(),)):
            found = read(b"\n".join([*before, line]), role=role)
            assert found.frame.height == len(before), value
            assert {(f.line, f.field) for f in found.faults} == {(len(before) + 1, field)}
    assert decode(b"null") is None


def test_every_type_has_samples() -> None:
    used = {dtype for model in MODELS.values() for dtype in dtypes(model).values()}
    assert used | {pl.Int64} == set(SAMPLES)


def test_types_as_the_contract_has_them() -> None:
    kinds = {
        "text": pl.String,
        "number": pl.Float64,
        "label": pl.Boolean,
        "ids": ID_LIST,
        "groups": ID_GROUPS,
        "grades": GRADES,
        "claims": CLAIMS,
    }
    assert dtypes(Cases) == {name: kinds[strict.TYPE_OF[name]] for name in CASE_FIELDS}
    assert set(CASE_FIELDS) == set(strict.TYPE_OF)
    assert set(EVIDENCE_FIELDS) == strict.EVIDENCE


@pytest.mark.parametrize("role", MODELS)
def test_aliases_are_unique_and_no_field_is_one(role: str) -> None:
    model = MODELS[role]
    names = [alias.name for info in infos(model).values() for alias in info.aliases]
    # `answer` is a field, and in a cases file another name for `expected_answers`.
    counts = Counter([*names, *dtypes(model)])
    assert {name for name, n in counts.items() if n > 1} == (
        {"answer"} if role == "records" else set()
    )


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("role", ["records", "cases", "trace"])
def test_names_as_the_contract_has_them(contract: str, role: str) -> None:
    resolver = KeyResolver(Cases, CONTRACTS[contract], {}, role)
    known = dict(strict.FIELD_OF)
    if role == "cases":
        known["answer"] = "expected_answers"
    restricted = {"source": "required_ids", "context": "context_ids", "cited": "cited_ids"}
    restricted |= {"correct": "answer_correct", "input": "question", "type": "tags"}
    admitted = {
        "auto": (),
        "diagnosis": ("context", "correct", "source"),
        "citation": ("cited",),
        "ranking": (),
        "answer": ("source", "cited", "correct"),
        "claims": (),
    }[contract]
    for name in admitted:
        known[name] = restricted[name]
    for name in {*known, *restricted, "zzz", "Case_ID", ""}:
        key = resolver.resolve(name)
        assert (key.field if key else None) == known.get(name), name
        if key:
            scalar = name in strict.SCALAR or (role == "cases" and name == "answer")
            assert (key.scalar, key.null_is_none) == (scalar, scalar)
            assert key.joins == (name in (*strict.JOINING, "type"))
        else:
            assert "; " in resolver.why_unknown(name) or ", " in resolver.why_unknown(name)


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.name)
def test_contracts_name_only_what_there_is(contract: Any) -> None:
    assert {*contract.requires, *contract.any_of} <= set(CASE_FIELDS)
    assert set(contract.may_be_null) <= set(contract.requires)
    restricted = {a.name for info in infos(Cases).values() for a in info.aliases if a.restricted}
    assert set(contract.aliases) <= restricted
    assert contract.about


def test_columns_of_ids_and_items_are_all_there_are() -> None:
    lists = {name for name, dtype in dtypes(Cases).items() if isinstance(dtype, pl.List)}
    assert set(ITEM_COLUMNS) == lists
    assert set(ID_COLUMNS) == {"case_id", *lists} - {"tags", "expected_answers"}
