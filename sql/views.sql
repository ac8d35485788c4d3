-- DuckDB views over all runs in reports/, schema version 1.
--
--     duckdb -init sql/views.sql        (or: duckdb.sql(open("sql/views.sql").read()))
--
-- Made by `ragtriage schema --format sql`; a test holds this file equal to it. Runs in another
-- folder: replace 'reports/ throughout. A view reads what is there when it is asked, so new runs
-- need nothing. It shows finished runs of this schema version only; folders of comparisons and
-- agreement or leakage reports, refused runs and runs of other versions may stand beside them.

CREATE OR REPLACE VIEW runs AS
WITH texts AS (
  SELECT TRY(decode(content)) AS text, parse_filename(parse_dirpath(filename)) AS folder
  FROM read_blob('reports/*/manifest.json')
), manifests AS (
  SELECT folder, CASE WHEN json_valid(text) THEN text::JSON END AS manifest FROM texts
)
SELECT
  manifest->>'$.run_id' AS run_id,
  TRY_CAST(manifest->>'$.started' AS TIMESTAMPTZ) AS started,
  TRY_CAST(manifest->>'$.passed' AS BOOLEAN) AS passed,
  manifest->>'$.contract' AS contract,
  manifest->>'$.normalizer' AS normalizer,
  TRY_CAST(manifest->'$.cutoffs' AS BIGINT[]) AS cutoffs,
  TRY_CAST(manifest->>'$.rows.cases' AS BIGINT) AS n_cases,
  TRY_CAST(manifest->>'$.rows.not_run' AS BIGINT) AS n_not_run,
  manifest->>'$.version' AS version,
  manifest->>'$.schema_version' AS schema_version,
  manifest->'$.about' AS about
FROM manifests
WHERE manifest->>'$.schema_version' = '1'
  AND manifest->>'$.status' = 'complete'
  AND manifest->>'$.kind' IS NULL
  AND manifest->>'$.run_id' = folder;

CREATE OR REPLACE VIEW summary AS
WITH stored AS (
  SELECT
    NULL::VARCHAR AS "run_id",
    NULL::VARCHAR AS "slice",
    NULL::VARCHAR AS "slice_value",
    NULL::VARCHAR AS "metric",
    NULL::BIGINT AS "k",
    NULL::DOUBLE AS "mean",
    NULL::DOUBLE AS "weighted_mean",
    NULL::DOUBLE AS "pooled",
    NULL::DOUBLE AS "sum",
    NULL::BIGINT AS "numerator",
    NULL::BIGINT AS "denominator",
    NULL::BIGINT AS "n_scored",
    NULL::BIGINT AS "n_undefined",
    NULL::BIGINT AS "n_not_run",
    NULL::BIGINT AS "n_cases"
  WHERE false
  UNION ALL BY NAME
  SELECT * FROM read_parquet(
    'reports/*/summary.parquet',
    union_by_name = true, hive_partitioning = false, filename = 'stored_in'
  )
)
SELECT
  TRY_CAST("run_id" AS VARCHAR) AS "run_id",
  TRY_CAST("slice" AS VARCHAR) AS "slice",
  TRY_CAST("slice_value" AS VARCHAR) AS "slice_value",
  TRY_CAST("metric" AS VARCHAR) AS "metric",
  TRY_CAST("k" AS BIGINT) AS "k",
  TRY_CAST("mean" AS DOUBLE) AS "mean",
  TRY_CAST("weighted_mean" AS DOUBLE) AS "weighted_mean",
  TRY_CAST("pooled" AS DOUBLE) AS "pooled",
  TRY_CAST("sum" AS DOUBLE) AS "sum",
  TRY_CAST("numerator" AS BIGINT) AS "numerator",
  TRY_CAST("denominator" AS BIGINT) AS "denominator",
  TRY_CAST("n_scored" AS BIGINT) AS "n_scored",
  TRY_CAST("n_undefined" AS BIGINT) AS "n_undefined",
  TRY_CAST("n_not_run" AS BIGINT) AS "n_not_run",
  TRY_CAST("n_cases" AS BIGINT) AS "n_cases"
FROM stored
WHERE run_id IN (SELECT run_id FROM runs)
  AND contains(stored_in, '/' || run_id || '/summary.parquet');

CREATE OR REPLACE VIEW stages AS
WITH stored AS (
  SELECT
    NULL::VARCHAR AS "run_id",
    NULL::VARCHAR AS "slice",
    NULL::VARCHAR AS "slice_value",
    NULL::VARCHAR AS "stage",
    NULL::VARCHAR AS "break_point",
    NULL::BIGINT AS "n",
    NULL::DOUBLE AS "share"
  WHERE false
  UNION ALL BY NAME
  SELECT * FROM read_parquet(
    'reports/*/stages.parquet',
    union_by_name = true, hive_partitioning = false, filename = 'stored_in'
  )
)
SELECT
  TRY_CAST("run_id" AS VARCHAR) AS "run_id",
  TRY_CAST("slice" AS VARCHAR) AS "slice",
  TRY_CAST("slice_value" AS VARCHAR) AS "slice_value",
  TRY_CAST("stage" AS VARCHAR) AS "stage",
  TRY_CAST("break_point" AS VARCHAR) AS "break_point",
  TRY_CAST("n" AS BIGINT) AS "n",
  TRY_CAST("share" AS DOUBLE) AS "share"
FROM stored
WHERE run_id IN (SELECT run_id FROM runs)
  AND contains(stored_in, '/' || run_id || '/stages.parquet');

CREATE OR REPLACE VIEW findings AS
WITH stored AS (
  SELECT
    NULL::VARCHAR AS "run_id",
    NULL::VARCHAR AS "finding",
    NULL::BIGINT AS "n",
    NULL::VARCHAR[] AS "example_case_ids"
  WHERE false
  UNION ALL BY NAME
  SELECT * FROM read_parquet(
    'reports/*/findings.parquet',
    union_by_name = true, hive_partitioning = false, filename = 'stored_in'
  )
)
SELECT
  TRY_CAST("run_id" AS VARCHAR) AS "run_id",
  TRY_CAST("finding" AS VARCHAR) AS "finding",
  TRY_CAST("n" AS BIGINT) AS "n",
  TRY_CAST("example_case_ids" AS VARCHAR[]) AS "example_case_ids"
FROM stored
WHERE run_id IN (SELECT run_id FROM runs)
  AND contains(stored_in, '/' || run_id || '/findings.parquet');

CREATE OR REPLACE VIEW gates AS
WITH stored AS (
  SELECT
    NULL::VARCHAR AS "run_id",
    NULL::VARCHAR AS "gate",
    NULL::DOUBLE AS "value",
    NULL::DOUBLE AS "threshold",
    NULL::BOOLEAN AS "passed",
    NULL::VARCHAR AS "reason"
  WHERE false
  UNION ALL BY NAME
  SELECT * FROM read_parquet(
    'reports/*/gates.parquet',
    union_by_name = true, hive_partitioning = false, filename = 'stored_in'
  )
)
SELECT
  TRY_CAST("run_id" AS VARCHAR) AS "run_id",
  TRY_CAST("gate" AS VARCHAR) AS "gate",
  TRY_CAST("value" AS DOUBLE) AS "value",
  TRY_CAST("threshold" AS DOUBLE) AS "threshold",
  TRY_CAST("passed" AS BOOLEAN) AS "passed",
  TRY_CAST("reason" AS VARCHAR) AS "reason"
FROM stored
WHERE run_id IN (SELECT run_id FROM runs)
  AND contains(stored_in, '/' || run_id || '/gates.parquet');

CREATE OR REPLACE VIEW cases AS
WITH stored AS (
  SELECT
    NULL::VARCHAR AS "case_id",
    NULL::VARCHAR AS "question",
    NULL::VARCHAR AS "intended_meaning",
    NULL::VARCHAR AS "ambiguity",
    NULL::VARCHAR AS "split",
    NULL::VARCHAR AS "group",
    NULL::VARCHAR[] AS "tags",
    NULL::DOUBLE AS "weight",
    NULL::BOOLEAN AS "answerable",
    NULL::VARCHAR[] AS "required_ids",
    NULL::VARCHAR[][] AS "required_groups",
    NULL::STRUCT("id" VARCHAR, "grade" BIGINT)[] AS "grades",
    NULL::VARCHAR[] AS "allowed_ids",
    NULL::VARCHAR[] AS "forbidden_ids",
    NULL::VARCHAR[] AS "required_claims",
    NULL::VARCHAR[] AS "expected_answers",
    NULL::VARCHAR[] AS "candidate_ids",
    NULL::VARCHAR[] AS "filtered_ids",
    NULL::VARCHAR[] AS "retrieved_ids",
    NULL::VARCHAR[] AS "context_ids",
    NULL::VARCHAR AS "context_text",
    NULL::VARCHAR[] AS "cited_ids",
    NULL::VARCHAR AS "answer",
    NULL::BOOLEAN AS "abstained",
    NULL::BOOLEAN AS "answer_correct",
    NULL::STRUCT("claim_id" VARCHAR, "supported" BOOLEAN, "cited_ids" VARCHAR[], "text" VARCHAR)[] AS "claims",
    NULL::VARCHAR AS "error",
    NULL::VARCHAR AS "corpus_snapshot",
    NULL::VARCHAR AS "filters",
    NULL::VARCHAR AS "retrieval_config",
    NULL::VARCHAR AS "query_rewrite",
    NULL::VARCHAR AS "run_id",
    NULL::VARCHAR AS "source_file",
    NULL::BIGINT AS "line",
    NULL::VARCHAR AS "stage",
    NULL::VARCHAR AS "break_point",
    NULL::VARCHAR[] AS "missing",
    NULL::BOOLEAN AS "lucky",
    NULL::BOOLEAN AS "answer_label",
    NULL::VARCHAR AS "label_source",
    NULL::VARCHAR[] AS "unsupported_claims",
    NULL::VARCHAR[] AS "omitted_claims",
    NULL::VARCHAR[] AS "disputed_claims",
    NULL::BOOLEAN AS "answer_disputed",
    NULL::BOOLEAN AS "context_observed",
    NULL::VARCHAR[] AS "findings",
    NULL::STRUCT("required" VARCHAR, "retrieved" VARCHAR)[] AS "near_misses",
    NULL::VARCHAR AS "next_check"
  WHERE false
  UNION ALL BY NAME
  SELECT * FROM read_parquet(
    'reports/*/cases/part-*.parquet',
    union_by_name = true, hive_partitioning = false, filename = 'stored_in'
  )
)
SELECT
  * EXCLUDE (stored_in) REPLACE (
    TRY_CAST("case_id" AS VARCHAR) AS "case_id",
    TRY_CAST("question" AS VARCHAR) AS "question",
    TRY_CAST("intended_meaning" AS VARCHAR) AS "intended_meaning",
    TRY_CAST("ambiguity" AS VARCHAR) AS "ambiguity",
    TRY_CAST("split" AS VARCHAR) AS "split",
    TRY_CAST("group" AS VARCHAR) AS "group",
    TRY_CAST("tags" AS VARCHAR[]) AS "tags",
    TRY_CAST("weight" AS DOUBLE) AS "weight",
    TRY_CAST("answerable" AS BOOLEAN) AS "answerable",
    TRY_CAST("required_ids" AS VARCHAR[]) AS "required_ids",
    TRY_CAST("required_groups" AS VARCHAR[][]) AS "required_groups",
    TRY_CAST("grades" AS STRUCT("id" VARCHAR, "grade" BIGINT)[]) AS "grades",
    TRY_CAST("allowed_ids" AS VARCHAR[]) AS "allowed_ids",
    TRY_CAST("forbidden_ids" AS VARCHAR[]) AS "forbidden_ids",
    TRY_CAST("required_claims" AS VARCHAR[]) AS "required_claims",
    TRY_CAST("expected_answers" AS VARCHAR[]) AS "expected_answers",
    TRY_CAST("candidate_ids" AS VARCHAR[]) AS "candidate_ids",
    TRY_CAST("filtered_ids" AS VARCHAR[]) AS "filtered_ids",
    TRY_CAST("retrieved_ids" AS VARCHAR[]) AS "retrieved_ids",
    TRY_CAST("context_ids" AS VARCHAR[]) AS "context_ids",
    TRY_CAST("context_text" AS VARCHAR) AS "context_text",
    TRY_CAST("cited_ids" AS VARCHAR[]) AS "cited_ids",
    TRY_CAST("answer" AS VARCHAR) AS "answer",
    TRY_CAST("abstained" AS BOOLEAN) AS "abstained",
    TRY_CAST("answer_correct" AS BOOLEAN) AS "answer_correct",
    TRY_CAST("claims" AS STRUCT("claim_id" VARCHAR, "supported" BOOLEAN, "cited_ids" VARCHAR[], "text" VARCHAR)[]) AS "claims",
    TRY_CAST("error" AS VARCHAR) AS "error",
    TRY_CAST("corpus_snapshot" AS VARCHAR) AS "corpus_snapshot",
    TRY_CAST("filters" AS VARCHAR) AS "filters",
    TRY_CAST("retrieval_config" AS VARCHAR) AS "retrieval_config",
    TRY_CAST("query_rewrite" AS VARCHAR) AS "query_rewrite",
    TRY_CAST("run_id" AS VARCHAR) AS "run_id",
    TRY_CAST("source_file" AS VARCHAR) AS "source_file",
    TRY_CAST("line" AS BIGINT) AS "line",
    TRY_CAST("stage" AS VARCHAR) AS "stage",
    TRY_CAST("break_point" AS VARCHAR) AS "break_point",
    TRY_CAST("missing" AS VARCHAR[]) AS "missing",
    TRY_CAST("lucky" AS BOOLEAN) AS "lucky",
    TRY_CAST("answer_label" AS BOOLEAN) AS "answer_label",
    TRY_CAST("label_source" AS VARCHAR) AS "label_source",
    TRY_CAST("unsupported_claims" AS VARCHAR[]) AS "unsupported_claims",
    TRY_CAST("omitted_claims" AS VARCHAR[]) AS "omitted_claims",
    TRY_CAST("disputed_claims" AS VARCHAR[]) AS "disputed_claims",
    TRY_CAST("answer_disputed" AS BOOLEAN) AS "answer_disputed",
    TRY_CAST("context_observed" AS BOOLEAN) AS "context_observed",
    TRY_CAST("findings" AS VARCHAR[]) AS "findings",
    TRY_CAST("near_misses" AS STRUCT("required" VARCHAR, "retrieved" VARCHAR)[]) AS "near_misses",
    TRY_CAST("next_check" AS VARCHAR) AS "next_check"
  )
FROM stored
WHERE run_id IN (SELECT run_id FROM runs)
  AND contains(stored_in, '/' || run_id || '/cases/part-');

CREATE OR REPLACE VIEW evidence AS
WITH stored AS (
  SELECT
    NULL::VARCHAR AS "run_id",
    NULL::VARCHAR AS "case_id",
    NULL::BIGINT AS "requirement",
    NULL::VARCHAR[] AS "ids",
    NULL::BOOLEAN AS "in_source",
    NULL::BOOLEAN AS "in_index",
    NULL::BOOLEAN AS "in_chunks",
    NULL::BOOLEAN AS "in_candidates",
    NULL::BOOLEAN AS "filtered",
    NULL::BIGINT AS "retrieved_rank",
    NULL::VARCHAR AS "retrieved_id",
    NULL::BOOLEAN AS "in_top_k",
    NULL::BOOLEAN AS "in_context",
    NULL::BIGINT AS "context_rank",
    NULL::BIGINT AS "context_size",
    NULL::BOOLEAN AS "cited",
    NULL::BOOLEAN AS "delivered",
    NULL::VARCHAR AS "lost_at"
  WHERE false
  UNION ALL BY NAME
  SELECT * FROM read_parquet(
    'reports/*/evidence/part-*.parquet',
    union_by_name = true, hive_partitioning = false, filename = 'stored_in'
  )
)
SELECT
  TRY_CAST("run_id" AS VARCHAR) AS "run_id",
  TRY_CAST("case_id" AS VARCHAR) AS "case_id",
  TRY_CAST("requirement" AS BIGINT) AS "requirement",
  TRY_CAST("ids" AS VARCHAR[]) AS "ids",
  TRY_CAST("in_source" AS BOOLEAN) AS "in_source",
  TRY_CAST("in_index" AS BOOLEAN) AS "in_index",
  TRY_CAST("in_chunks" AS BOOLEAN) AS "in_chunks",
  TRY_CAST("in_candidates" AS BOOLEAN) AS "in_candidates",
  TRY_CAST("filtered" AS BOOLEAN) AS "filtered",
  TRY_CAST("retrieved_rank" AS BIGINT) AS "retrieved_rank",
  TRY_CAST("retrieved_id" AS VARCHAR) AS "retrieved_id",
  TRY_CAST("in_top_k" AS BOOLEAN) AS "in_top_k",
  TRY_CAST("in_context" AS BOOLEAN) AS "in_context",
  TRY_CAST("context_rank" AS BIGINT) AS "context_rank",
  TRY_CAST("context_size" AS BIGINT) AS "context_size",
  TRY_CAST("cited" AS BOOLEAN) AS "cited",
  TRY_CAST("delivered" AS BOOLEAN) AS "delivered",
  TRY_CAST("lost_at" AS VARCHAR) AS "lost_at"
FROM stored
WHERE run_id IN (SELECT run_id FROM runs)
  AND contains(stored_in, '/' || run_id || '/evidence/part-');

CREATE OR REPLACE VIEW claims AS
WITH stored AS (
  SELECT
    NULL::VARCHAR AS "run_id",
    NULL::VARCHAR AS "case_id",
    NULL::VARCHAR AS "claim_id",
    NULL::BOOLEAN AS "proposed",
    NULL::BOOLEAN AS "required",
    NULL::BOOLEAN AS "supported",
    NULL::VARCHAR AS "label_source",
    NULL::BOOLEAN AS "disputed",
    NULL::BOOLEAN AS "conflict",
    NULL::VARCHAR[] AS "cited_ids",
    NULL::BOOLEAN AS "citation_valid",
    NULL::VARCHAR AS "hallucination",
    NULL::VARCHAR AS "text"
  WHERE false
  UNION ALL BY NAME
  SELECT * FROM read_parquet(
    'reports/*/c*s/part-*.parquet',
    union_by_name = true, hive_partitioning = false, filename = 'stored_in'
  )
)
SELECT
  TRY_CAST("run_id" AS VARCHAR) AS "run_id",
  TRY_CAST("case_id" AS VARCHAR) AS "case_id",
  TRY_CAST("claim_id" AS VARCHAR) AS "claim_id",
  TRY_CAST("proposed" AS BOOLEAN) AS "proposed",
  TRY_CAST("required" AS BOOLEAN) AS "required",
  TRY_CAST("supported" AS BOOLEAN) AS "supported",
  TRY_CAST("label_source" AS VARCHAR) AS "label_source",
  TRY_CAST("disputed" AS BOOLEAN) AS "disputed",
  TRY_CAST("conflict" AS BOOLEAN) AS "conflict",
  TRY_CAST("cited_ids" AS VARCHAR[]) AS "cited_ids",
  TRY_CAST("citation_valid" AS BOOLEAN) AS "citation_valid",
  TRY_CAST("hallucination" AS VARCHAR) AS "hallucination",
  TRY_CAST("text" AS VARCHAR) AS "text"
FROM stored
WHERE run_id IN (SELECT run_id FROM runs)
  AND contains(stored_in, '/' || run_id || '/claims/part-');

-- Every case that did not pass, with what to look at first; the newest run first.
CREATE OR REPLACE VIEW failing_cases AS
SELECT
  runs.started, cases.run_id, cases.case_id, cases.question, cases.stage, cases.break_point,
  cases.missing, cases.lucky, cases.next_check, cases.split, cases.tags, cases.answer,
  cases.expected_answers, cases.required_ids, cases.retrieved_ids, cases.context_ids,
  cases.cited_ids, cases.source_file, cases.line
FROM cases JOIN runs USING (run_id)
WHERE cases.stage <> 'pass'
ORDER BY runs.started DESC, cases.run_id DESC, cases.stage, cases.case_id;

-- Each metric over time, its cases scored beside it; undefined is null, not 0.
CREATE OR REPLACE VIEW metric_history AS
SELECT
  runs.started, summary.run_id, summary.slice, summary.slice_value,
  summary.metric || coalesce('@' || summary.k, '') AS label,
  summary.metric, summary.k, summary.mean, summary.n_scored, summary.n_undefined,
  summary.n_not_run, summary.n_cases, runs.passed
FROM summary JOIN runs USING (run_id)
ORDER BY runs.started, summary.run_id, summary.slice, summary.slice_value, label;

-- Where cases broke over time: one row per stage, its share of all cases of the slice.
CREATE OR REPLACE VIEW stage_mix AS
WITH counted AS (
  SELECT run_id, slice, slice_value, stage, sum(n)::BIGINT AS n FROM stages GROUP BY ALL
), beside AS (
  SELECT *, (sum(n) OVER (PARTITION BY run_id, slice, slice_value))::BIGINT AS n_cases FROM counted
)
SELECT runs.started, beside.*, n / beside.n_cases AS share_of_all
FROM beside JOIN runs USING (run_id)
ORDER BY runs.started, beside.run_id, beside.slice, beside.slice_value, beside.stage;

-- Every verdict over time.
CREATE OR REPLACE VIEW gate_history AS
SELECT runs.started, gates.*
FROM gates JOIN runs USING (run_id)
ORDER BY runs.started, gates.run_id, gates.gate;
