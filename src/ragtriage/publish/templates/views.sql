-- DuckDB views over all runs in reports/, schema version {version}.
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
WHERE manifest->>'$.schema_version' = '{version}'
  AND manifest->>'$.status' = 'complete'
  AND manifest->>'$.kind' IS NULL
  AND manifest->>'$.run_id' = folder;

-- tables --

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
