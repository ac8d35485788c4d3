"""Lines that are good records, almost good, or nothing of the kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.read import strict

# All of Unicode but surrogates, with what trips readers made likely.
TEXTS = st.one_of(
    st.sampled_from(
        ("a", "b", "", " ", '":', '{"case_id": "x"}', "\\", '"', "\x00", "\u2028", "\ufeff", "é")
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**70), 2**70),
    st.sampled_from((-0.0, 5e-324, 1.7976931348623157e308, 2**53 + 1, 10**22, 10**40, 10**308)),
)
GRADES = st.integers(-(2**63), 2**63 - 1) | st.sampled_from((-(2**63), 2**63 - 1, 0))
LISTS = st.lists(TEXTS, max_size=3)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXTS,
    "number": NUMBERS,
    "label": st.booleans(),
    "ids": LISTS,
    "groups": st.lists(LISTS, max_size=3),
    "grades": st.lists(st.fixed_dictionaries({"id": TEXTS, "grade": GRADES}), max_size=3),
    "claims": st.lists(
        st.fixed_dictionaries(
            {"claim_id": TEXTS},
            optional={
                "supported": st.none() | st.booleans(),
                "cited_ids": st.none() | LISTS,
                "text": st.none() | TEXTS,
            },
        ),
        max_size=3,
    ),
}
ODD_JSON = (
    *("NaN", "-Infinity", "1e400", "-1e999", str(2**63), str(-(2**63) - 1), "9" * 400, "1" * 5000),
    *("-0", "-0.0", "5e-324", "0e99999999999999999999999", "01", "1.", "tru", "nul", "''"),
    *('"1"', '"1.5"', '"true"', '"null"', "1", "1.0", "0"),
    *("true", "null", "[]", "{}", "[null]", "[[]]", '[{"a": 1, "a": 2}]', '[{"id": "x"}]', '"x"'),
    *('"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '["\\udfff"]', '"\\u0000"', '"\\q"'),
    *("[" * 40 + "]" * 40, "[" * 3000 + "]" * 3000, '{"a":' * 600 + "1" + "}" * 600, '"\t"'),
    *(json.dumps("x" * 5000), '[{"id": "x", "grade": 1.0}]', '[{"claim_id": "c", "x": 1}]'),
)
SPACES = ("", " ", "  ", "\t", " \t", "\r")
NOT_SPACES = ("\x0b", "\x0c", "\u2028", "\xa0", "\ufeff", "\x00")
# Fields that a record may lack although others of its file have them.
FREE = sorted(set(strict.TYPE_OF) - strict.EVIDENCE)
FIELDS = sorted(strict.FIELD_OF | strict.RESTRICTED)


@st.composite
def records(draw: st.DrawFn, fields: tuple[str, ...] = ()) -> dict[str, Any]:
    """A record of these fields, under any of their names, in any order, a few more besides."""
    more = draw(st.lists(st.sampled_from(FREE), max_size=3))
    if draw(st.integers(0, 9)) == 0:
        more.append(draw(st.sampled_from(sorted(strict.EVIDENCE))))
    record: dict[str, Any] = {}
    for field in draw(st.permutations(sorted({"case_id", *fields, *more}))):
        names = (field, field, field, *strict.ALIASES.get(field, ()))
        name = draw(st.sampled_from(names))
        value = draw(VALUES[strict.TYPE_OF[field]])
        if name in strict.SCALAR and draw(st.booleans()):
            value = draw(TEXTS | st.none())
        elif field != "case_id" and draw(st.integers(0, 6)) == 0:
            value = None
        record[name] = value
    for name in strict.JOINING:
        if draw(st.integers(0, 5)) == 0:
            record[name] = draw(TEXTS | st.none() | LISTS | st.integers() | st.booleans())
    return record


@st.composite
def spelt(draw: st.DrawFn, record: dict[str, Any]) -> str:
    """The record as JSON in one of many spellings."""
    space = draw(st.sampled_from(SPACES))
    text = json.dumps(
        record,
        ensure_ascii=draw(st.booleans()),
        separators=(f"{space},{space}", f"{space}:{space}"),
    )
    if draw(st.integers(0, 5)) == 0:
        key = draw(st.sampled_from(sorted(record)))
        text = text.replace(json.dumps(key), escaped(draw, key), 1)
    return draw(st.sampled_from(SPACES)) + text + draw(st.sampled_from(SPACES))


def escaped(draw: st.DrawFn, key: str) -> str:
    r"""A key with one of its letters written as \uXXXX."""
    at = draw(st.integers(0, len(key) - 1))
    return f'"{key[:at]}\\u{ord(key[at]):04x}{key[at + 1 :]}"'


def flip(draw: st.DrawFn, line: bytes) -> bytes:
    """Another byte somewhere."""
    at = draw(st.integers(0, len(line) - 1))
    return line[:at] + bytes([draw(st.integers(0, 255))]) + line[at + 1 :]


def cut(draw: st.DrawFn, line: bytes) -> bytes:
    """A piece missing."""
    ends = sorted((draw(st.integers(0, len(line))), draw(st.integers(0, len(line)))))
    return line[: ends[0]] + line[ends[1] :]


def member(draw: st.DrawFn, line: bytes) -> bytes:
    """One more member: a repeat, another name of what is there, unknown, or of an odd value."""
    key = draw(
        st.sampled_from((*FIELDS, "case_id", "case_id", "x", "", '":', '"', "\\", "retreived_ids"))
    )
    name = escaped(draw, key) if key and draw(st.booleans()) else json.dumps(key)
    value = draw(st.sampled_from(ODD_JSON))
    space = draw(st.sampled_from((*SPACES, *NOT_SPACES[:1])))
    new = f"{name}{space}:{space}{value}"
    text = line.decode("utf-8", "surrogateescape")
    if draw(st.booleans()):
        text = text.replace("{", "{" + new + ",", 1)
    else:
        text = text.rstrip().removesuffix("}") + "," + new + "}"
    return text.encode("utf-8", "surrogateescape")


def again(draw: st.DrawFn, line: bytes) -> bytes:
    """A key that is there already, at any depth, or one that is not, with a sound value."""
    text = line.decode("utf-8", "surrogateescape")
    keys = ("case_id", "id", "grade", "claim_id", "supported", "text", "x", "tags", "weight")
    key = draw(st.sampled_from([key for key in keys if f'"{key}"' in text] or keys))
    name = escaped(draw, key) if draw(st.booleans()) else f'"{key}"'
    space = draw(st.sampled_from(SPACES))
    new = f"{name}{space}:{draw(st.sampled_from(('null', '1', '[]', json.dumps('b'))))}"
    at = text.find(f'"{key}"')
    text = f"{text[:at]}{new},{text[at:]}" if at >= 0 else text.replace("{", "{" + new + ",", 1)
    return text.encode("utf-8", "surrogateescape")


def value(draw: st.DrawFn, line: bytes) -> bytes:
    """An odd value in the place of some string, number or word."""
    odd = draw(st.sampled_from(ODD_JSON)).encode()
    for token in draw(st.permutations((b'""', b'"a"', b'"b"', b"true", b"null", b"[]", b": "))):
        if token in line:
            return line.replace(token, odd, 1)
    return odd


def frame(draw: st.DrawFn, line: bytes) -> bytes:
    """Something before, behind, or in the middle."""
    extra = draw(
        st.sampled_from(
            (
                *(line, b"{}", b",", b"]", b"}", b"//", b"#", b"\x00", b"\xff", b"\xed\xa0\x80"),
                *(space.encode() for space in NOT_SPACES),
            )
        )
    )
    at = draw(st.sampled_from((0, len(line) // 2, len(line))))
    return line[:at] + extra + line[at:]


def split(draw: st.DrawFn, line: bytes) -> bytes:
    """One record over two lines."""
    at = draw(st.integers(0, len(line)))
    return line[:at] + b"\n" + line[at:]


def whole(draw: st.DrawFn, _line: bytes) -> bytes:
    """No record at all."""
    return draw(st.sampled_from(ODD_JSON)).encode()


MUTATIONS: tuple[Callable[[st.DrawFn, bytes], bytes], ...] = (
    *(flip, cut, again, again, again, member, member, value, value, value, frame, split, whole),
)


@st.composite
def lines(draw: st.DrawFn, fields: tuple[str, ...] = (), odds: int = 3) -> bytes:
    """A line that is sound as often as not, or was changed once or twice."""
    line = draw(spelt(draw(records(fields)))).encode("utf-8", "surrogatepass")
    while draw(st.integers(0, odds)) == 0 and line:
        line = draw(st.sampled_from(MUTATIONS))(draw, line)
    return line


@st.composite
def files(draw: st.DrawFn, max_lines: int = 6) -> bytes:
    """Lines with blank ones between, and every way to end them."""
    shared = tuple(draw(st.lists(st.sampled_from(sorted(strict.TYPE_OF)), max_size=3)))
    found = draw(st.lists(lines(shared), min_size=1, max_size=max_lines))
    for _ in range(draw(st.integers(0, 2))):
        found.insert(draw(st.integers(0, len(found))), draw(st.sampled_from((b"", b" \t", b"\r"))))
    end = draw(st.sampled_from((b"\n", b"\r\n")))
    content = end.join(found) + draw(st.sampled_from((b"", end)))
    return draw(st.sampled_from((b"", b"\xef\xbb\xbf"))) + content
