"""What is settled about a case: answerable? abstained? does the answer match? is it right?

Declared labels first, what follows from the record second, null where neither says.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

# White space other than single blanks, which stay as they are.
_SPACE = r"[\s\x1c-\x1f&&[^ ]][\s\x1c-\x1f]*| [\s\x1c-\x1f]+"
_PUNCTUATION = "[[:punct:]]"


def _single_spaced(text: pl.Expr) -> pl.Expr:
    return text.str.replace_all(_SPACE, " ").str.strip_chars(" ")


def _lower_whitespace(text: pl.Expr) -> pl.Expr:
    return _single_spaced(text.str.to_lowercase())


def _exact(text: pl.Expr) -> pl.Expr:
    return text


def _casefold(text: pl.Expr) -> pl.Expr:
    folded = text.map_batches(
        lambda values: pl.Series(
            [v if v is None else v.casefold() for v in values], dtype=pl.String
        ),
        return_dtype=pl.String,
    )
    return _single_spaced(folded)


def _squad(text: pl.Expr) -> pl.Expr:
    bare = text.str.to_lowercase().str.replace_all(_PUNCTUATION, "")
    bare = _single_spaced(bare.str.replace_all(r"\b(a|an|the)\b", " "))
    # "The" or "A!" must not become nothing, or it would equal every other nothing.
    return pl.when(bare == "").then(_lower_whitespace(text)).otherwise(bare)


NORMALIZERS: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "lower-whitespace": _lower_whitespace,
    "exact": _exact,
    "casefold": _casefold,
    "squad": _squad,
}


def with_labels(
    cases: pl.DataFrame, *, contract: str, normalizer: str, abstain_texts: tuple[str, ...]
) -> pl.DataFrame:
    """The cases with what is settled about each.

    Added: `scored` (neither failed nor ambiguous), `is_answerable`, `answer_abstains` (by the
    answer alone), `did_abstain`, `matches`, `label_in_dispute` (of the answer, or of a claim it
    makes), `answer_label`, `label_source`.
    """
    normal = NORMALIZERS[normalizer]
    settled = cases.with_columns(
        scored=pl.col("error").is_null() & pl.col("ambiguity").is_null(),
        is_answerable=_answerable(),
        answer_abstains=_answer_abstains(normal, abstain_texts),
        normal_answer=normal(pl.col("answer")),
    )
    settled = settled.with_columns(did_abstain=pl.coalesce("abstained", "answer_abstains"))
    settled = settled.with_columns(
        matches=_matches(normal),
        label_in_dispute=pl.col("review_disputed")
        | (pl.col("disputed_claims").list.len() > 0).fill_null(False),
    ).drop("normal_answer")
    return settled.with_columns(*_answer_label(contract))


def _answerable() -> pl.Expr:
    return (
        pl.when(pl.col("answerable").is_not_null())
        .then("answerable")
        .when(pl.col("n_requirements") > 0)
        .then(pl.lit(True))
        .when("none_given")
        .then(pl.lit(False))
    )


def _answer_abstains(
    normal: Callable[[pl.Expr], pl.Expr], abstain_texts: tuple[str, ...]
) -> pl.Expr:
    answer = pl.col("answer")
    silent = answer.is_null() | ~answer.str.contains(r"[^\s\x1c-\x1f]")
    if abstain_texts:
        texts = pl.select(normal(pl.lit(pl.Series(abstain_texts)))).to_series()
        silent |= normal(answer).is_in(texts.implode())
    return pl.when("answer_given").then(silent)


def _matches(normal: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
    expected = pl.col("expected_answers")
    comparable = pl.col("answer_given") & (expected.list.len() > 0).fill_null(False)
    equal = expected.list.eval(normal(pl.element())).list.contains(pl.col("normal_answer"))
    by_text = pl.when(pl.col("answer").is_null()).then(pl.lit(False)).otherwise(equal)
    return (
        pl.when(~pl.col("is_answerable"))
        .then("did_abstain")
        .otherwise(pl.when(comparable).then(by_text))
    )


def _answer_label(contract: str) -> list[pl.Expr]:
    """The first label there is, and where it is from; under `diagnosis` the staff label alone.

    What people dispute is not known: no weaker label is put in its place.
    """
    sources = {"staff": pl.col("answer_correct")}
    if contract != "diagnosis":
        open_to_others = ~pl.col("review_disputed")
        sources["review"] = pl.col("review_label")
        claims = pl.when(open_to_others).then("claims_label")
        sources["judge"] = pl.when("claims_judged").then(claims)
        sources["claims"] = claims
        sources["match"] = pl.when(open_to_others).then("matches")
    source = pl.lit(None, pl.String)
    for name, label in reversed(sources.items()):
        source = pl.when(label.is_not_null()).then(pl.lit(name)).otherwise(source)
    return [
        pl.when("scored").then(pl.coalesce(*sources.values())).alias("answer_label"),
        pl.when("scored").then(source).alias("label_source"),
    ]
