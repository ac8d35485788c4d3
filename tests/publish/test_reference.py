"""The committed reference pages are what the program prints, and leave nothing out."""

from __future__ import annotations

import pytest

from ragtriage.evidence import LOST_AT
from ragtriage.metrics import REGISTRY
from ragtriage.publish.reference import PAGES
from ragtriage.stages import NEXT_CHECKS, precedence
from tests.support import ROOT, Command


@pytest.mark.parametrize("name", PAGES)
def test_the_committed_page_is_what_is_printed(cli: Command, name: str) -> None:
    printed = cli("reference", name)
    assert printed.code == 0
    assert printed.out == (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def test_every_metric_has_its_formula_range_and_empty_case() -> None:
    sections = PAGES["metrics"]().split("\n### `")[1:]
    assert len(sections) == len(REGISTRY)
    for section in sections:
        name = section.split("`", 1)[0].split("@")[0]
        declared = REGISTRY[name]
        assert "\n- range: " in section
        assert ("\n- over nothing: " in section) == (declared.kind == "ratio")
        assert ("trec_eval: none" in section) == (declared.trec_eval == (None, None))


def test_every_stage_break_point_and_loss_is_told() -> None:
    page = PAGES["stages"]()
    rows = precedence("auto")
    for row in rows:
        assert f"| {row.number} | " in page
    points = {name for row in rows for name, _ in row.break_points if name is not None}
    assert points == set(NEXT_CHECKS)
    for name in (*points, *(name for name, _ in LOST_AT)):
        assert f"| `{name}` | " in page


def test_another_page_is_refused(cli: Command) -> None:
    cli("reference", "metric").refuses("metrics", "stages")
