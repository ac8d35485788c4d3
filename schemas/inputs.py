"""What may be read of a case, with its aliases and value rules; the corpus: `corpus.py`.

A rule here is one check whose title is the rule's ID (pandera loses a check's name when a
model is inherited). Everything else that knows the shape of
an input (the line decoder, the polars schema, the starter files) is derived from these models.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pandera.polars as pa
import polars as pl
from pandera.api.polars.types import PolarsData

from ragtriage.schemas.fields import (
    CLAIMS,
    GRADES,
    ID_GROUPS,
    ITEMS_ALONE,
    META,
    Alias,
    FieldInfo,
    any_item,
    field,
    ids_in,
    is_blank,
    is_unclean,
)
from ragtriage.schemas.plain import all_plain
from ragtriage.schemas.rules import message

ID_COLUMNS = (
    "case_id",
    "required_ids",
    "required_groups",
    "grades",
    "allowed_ids",
    "forbidden_ids",
    "required_claims",
    "candidate_ids",
    "filtered_ids",
    "retrieved_ids",
    "context_ids",
    "cited_ids",
    "claims",
)
ITEM_COLUMNS = (*ID_COLUMNS[1:], "tags", "expected_answers")
LABEL_FIELDS = ("required_ids", "required_groups", "grades")


ItemTest = Callable[[pl.Expr], pl.Expr]


def requirement_given() -> pl.Expr:
    """True where a row's labels require some evidence (`LABEL_FIELDS` in their precedence)."""
    listed = pl.col("required_ids").list.len().fill_null(0) > 0
    grouped = pl.col("required_groups").list.len().fill_null(0) > 0
    ungraded = pl.col("required_ids").is_null() & pl.col("required_groups").is_null()
    graded = any_item(pl.col("grades"), pl.element().struct.field("grade") > 0).fill_null(False)
    return listed | grouped | (ungraded & graded)


class Cases(pa.DataFrameModel):
    """One labelled question and what one system did with it; one row a case."""

    case_id: pl.String = field(
        "unique over the whole input",
        "id",
        "qid",
        "query_id",
        "question_id",
        "_id",
        required=True,
    )
    question: pl.String = field(
        "what was asked", "query", "user_input", Alias("input", restricted=True)
    )
    intended_meaning: pl.String = field("the reviewer's reading of the question")
    ambiguity: pl.String = field("what is still ambiguous; the case is not scored until it is not")
    split: pl.String = field("for example development or test")
    group: pl.String = field("paraphrases, versions, one conversation: kept together", "family")
    tags: pl.List = field(
        "slices the case belongs to",
        "slices",
        Alias("category", joins=True),
        Alias("type", joins=True, restricted=True),
        Alias("difficulty", joins=True),
        inner=pl.String,
    )
    weight: pl.Float64 = field("importance in the weighted mean; null counts 1")
    answerable: pl.Boolean = field(
        "does the collection support an answer?", "is_answerable", label=True
    )
    required_ids: pl.List = field(
        "evidence that must be found, each ID a requirement of its own",
        "required",
        "relevant_document_ids",
        "relevant_ids",
        "relevant_doc_ids",
        "reference_context_ids",
        "expected_document_ids",
        "gold_chunk_ids",
        Alias("source", scalar=True, restricted=True),
        evidence=True,
        inner=pl.String,
    )
    required_groups: pl.List = field(
        "all of the outer list, any of each inner list",
        "retrieval_gt",
        evidence=True,
        inner=pl.List(pl.String),
    )
    grades: pl.List = field(
        "graded relevance; above 0 is relevant", evidence=True, inner=GRADES.inner
    )
    allowed_ids: pl.List = field(
        "what this requester may see; null: anything; []: nothing", evidence=True, inner=pl.String
    )
    forbidden_ids: pl.List = field(
        "what this requester may not see; wins over allowed", evidence=True, inner=pl.String
    )
    required_claims: pl.List = field(
        "claim IDs that a complete answer covers",
        "required_aspects",
        evidence=True,
        inner=pl.String,
    )
    expected_answers: pl.List = field(
        "any of these is a right answer",
        Alias("expected_answer", scalar=True),
        Alias("reference", scalar=True),
        Alias("ground_truth", scalar=True),
        Alias("expected_output", scalar=True),
        Alias("answer", scalar=True, role="cases"),
        inner=pl.String,
    )
    candidate_ids: pl.List = field("the pool before reranking", evidence=True, inner=pl.String)
    filtered_ids: pl.List = field("removed by a filter", evidence=True, inner=pl.String)
    retrieved_ids: pl.List = field(
        "what the retriever returned, best first",
        "retrieved",
        "retrieved_document_ids",
        "retrieved_chunk_ids",
        "retrieved_context_ids",
        evidence=True,
        inner=pl.String,
    )
    context_ids: pl.List = field(
        "what was put in front of the model, in its order",
        "packet_ids",
        "selected_ids",
        "context_document_ids",
        Alias("context", restricted=True),
        evidence=True,
        inner=pl.String,
    )
    context_text: pl.String = field("the exact text handed to the model")
    cited_ids: pl.List = field(
        "what the answer cites",
        "cited_document_ids",
        "citations",
        Alias("cited", scalar=True, restricted=True),
        evidence=True,
        inner=pl.String,
    )
    answer: pl.String = field(
        "what the system answered; null is silence", "response", "actual_output", "prediction"
    )
    abstained: pl.Boolean = field("the system declined to answer", label=True)
    answer_correct: pl.Boolean = field(
        "the staff label", Alias("correct", restricted=True), label=True
    )
    claims: pl.List = field("reviewed claims of the answer", evidence=True, inner=CLAIMS.inner)
    error: pl.String = field("the system failed on this case: it was not run")
    corpus_snapshot: pl.String = field("which state of the corpus was searched")
    filters: pl.String = field("filters in force")
    retrieval_config: pl.String = field("the retriever's settings")
    query_rewrite: pl.String = field("the query actually sent")

    class Config:
        """Exactly these columns, in no particular order."""

        strict = True

    @pa.check(*ITEM_COLUMNS, title="null-item", error=message("null-item"))
    def no_null_item(cls, data: PolarsData) -> pl.LazyFrame | bool:
        """No list holds a null, at any depth."""
        dtype = _DTYPES[data.key]
        lists = _id_lists(data.key)
        if dtype in (ID_GROUPS, GRADES, CLAIMS):
            lists.append(pl.col(data.key))
        if dtype == GRADES:
            lists.append(pl.col(data.key).list.eval(pl.element().struct.field("grade")))
        return _no_item(data, lists, pl.Expr.is_null)

    @pa.check(*ID_COLUMNS, title="blank-id", error=message("blank-id"))
    def no_blank_id(cls, data: PolarsData) -> pl.LazyFrame | bool:
        """No ID is empty or white space."""
        return _no_item(data, _id_lists(data.key), is_blank, clear=all_plain)

    @pa.check(*ID_COLUMNS, title="id-whitespace", error=message("id-whitespace"))
    def clean_ids(cls, data: PolarsData) -> pl.LazyFrame | bool:
        """No ID carries what cannot be seen."""
        return _no_item(data, _id_lists(data.key), is_unclean, clear=all_plain)

    @pa.check("weight", title="weight", error=message("weight"))
    def positive_weight(cls, data: PolarsData) -> pl.LazyFrame:
        """0 < weight < infinity."""
        weight = pl.col("weight")
        return data.lazyframe.select(weight.is_finite() & (weight > 0))

    @pa.check(
        "answerable",
        title="unanswerable-with-required",
        error=message("unanswerable-with-required"),
    )
    def unanswerable_requires_nothing(cls, data: PolarsData) -> pl.LazyFrame:
        """A case declared unanswerable requires no evidence."""
        return data.lazyframe.select(pl.col("answerable") | ~requirement_given())

    @pa.check("required_groups", title="group-empty", error=message("group-empty"))
    def filled_groups(cls, data: PolarsData) -> pl.LazyFrame:
        """Each group offers at least one ID."""
        empty = pl.element().list.len() == 0
        return data.lazyframe.select(~any_item(pl.col("required_groups"), empty))

    @pa.check("grades", title="grade-conflict", error=message("grade-conflict"))
    def one_judgement(cls, data: PolarsData) -> pl.LazyFrame | bool:
        """An ID has one grade, and a required one a grade above 0."""
        if _judged_once(data):
            return True
        item = pl.element().struct
        pairs = pl.col("grades").list.unique().list.len()
        graded_ids = ids_in("grades", GRADES).list.n_unique()
        rejected = (
            pl.col("grades").list.filter(item.field("grade") <= 0).list.eval(item.field("id"))
        )
        required = pl.concat_list(
            pl.col("required_ids").fill_null([]),
            ids_in("required_groups", ID_GROUPS).fill_null([]),
        )
        both = required.list.set_intersection(rejected).list.len() > 0
        return data.lazyframe.select(~((pairs > graded_ids) | both))

    @pa.check("claims", title="duplicate-claim-id", error=message("duplicate-claim-id"))
    def unique_claims(cls, data: PolarsData) -> pl.LazyFrame:
        """Claim IDs are unique within their case."""
        claim_ids = ids_in("claims", CLAIMS)
        return data.lazyframe.select(claim_ids.list.n_unique() == claim_ids.list.len())

    @pa.check("claims", title="missing-claim-label", error=message("missing-claim-label"))
    def labelled_claims(cls, data: PolarsData) -> pl.LazyFrame:
        """Each claim carries its label."""
        unlabelled = pl.element().struct.field("supported").is_null()
        return data.lazyframe.select(~any_item(pl.col("claims"), unlabelled))


class CaseRows(Cases):
    """The case record as it travels: with where it stood and what its file supplied.

    `answer_given`, `required_given`: the row's file has the field at all. `none_given`: a
    scalar source and the expected answer were both given as null.
    """

    source_file: pl.String = field("the input file", required=True)
    line: pl.Int64 = field("physical line where the record starts", required=True)
    record: pl.Int64 = field("its place among the file's records, from 1", required=True)
    answer_given: pl.Boolean = field("the file has `answer`", required=True)
    required_given: pl.Boolean = field("the file has a required field", required=True)
    none_given: pl.Boolean = field("source and expected answer given as null", required=True)

    @pa.check("answerable", title="required-empty", error=message("required-empty"))
    def answerable_requires(cls, data: PolarsData) -> pl.LazyFrame:
        """A case declared answerable requires something, where the file has labels at all."""
        return data.lazyframe.select(
            ~pl.col("answerable") | ~pl.col("required_given") | requirement_given()
        )


def _id_lists(column: str) -> list[pl.Expr]:
    """Flat lists that hold every ID of a column between them."""
    lists = [ids_in(column, _DTYPES[column])]
    if column == "claims":
        cited = pl.element().struct.field("cited_ids").list.explode(**ITEMS_ALONE)
        lists.append(pl.col(column).list.eval(cited))
    return lists


def _no_item(
    data: PolarsData,
    lists: list[pl.Expr],
    test: ItemTest,
    clear: Callable[[pl.Series], bool] = lambda _items: False,
) -> pl.LazyFrame | bool:
    """On which rows no item of the lists meets the test; True for all of them.

    All items are looked at together first, which costs less than row by row and mostly
    suffices. `clear`: a cheaper look at them; where it is true, `test` is true of none.
    """
    for lot in lists:
        items = data.lazyframe.select(items=lot.explode(**ITEMS_ALONE)).collect()["items"]
        if not clear(items) and items.to_frame().select(test(pl.col("items")).any()).item():
            break
    else:
        return True
    found = [any_item(items, test(pl.element())) for items in lists]
    return data.lazyframe.select(~pl.any_horizontal(found))


def _judged_once(data: PolarsData) -> bool:
    """Is each ID graded once, and nothing required beside grades? Cheap, and mostly so."""
    graded = ids_in("grades", GRADES)
    alone = pl.col("required_ids").is_null() & pl.col("required_groups").is_null()
    once = (graded.list.n_unique() == graded.list.len()).fill_null(True)
    return bool(data.lazyframe.select((once & alone).all()).collect().item())


def dtypes(model: type[pa.DataFrameModel]) -> dict[str, pl.DataType]:
    """The model's columns and their polars types, in its order."""
    return {name: column.dtype.type for name, column in _columns(model).items()}


def infos(model: type[pa.DataFrameModel]) -> dict[str, FieldInfo]:
    """What the model says of each field."""
    return {name: column.metadata[META] for name, column in _columns(model).items()}


@cache
def _columns(model: type[pa.DataFrameModel]) -> dict[str, pa.Column]:
    """The model's columns; pandera copies them all whenever it is asked."""
    columns: dict[str, pa.Column] = model.to_schema().columns
    return columns


_DTYPES = dtypes(Cases)
CASE_FIELDS = tuple(_DTYPES)
EVIDENCE_FIELDS = tuple(name for name, info in infos(Cases).items() if info.evidence)
