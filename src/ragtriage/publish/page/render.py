"""The page as a whole: its head, its sections in order, its style and its one script."""

from __future__ import annotations

import base64
from hashlib import sha256

from ragtriage.publish import wording
from ragtriage.publish.document import Report
from ragtriage.publish.page import browse, first, flow, head, numbers, rest
from ragtriage.publish.page.markup import NOTHING, Html, join, tag, void
from ragtriage.publish.page.texts import line
from ragtriage.publish.template_files import template

_STYLES = ("report.css", "page.css")
_SCRIPT = "page.js"


def render(report: Report) -> str:
    """The page: opens offline, refers to nothing outside itself; its script is a convenience."""
    run = report["run"]
    stages = first.stages(report)
    script = template(_SCRIPT)
    main = tag(
        "main",
        tag("div", head.look_first(stages, report["cases"]), flow.funnel(report), class_="pair"),
        flow.stage_mix(report, stages),
        browse.cases(report, stages),
        numbers.metrics(report),
        numbers.slices(report),
        rest.reviews(report["reviews"]),
        rest.findings(report),
        rest.limits(report),
        rest.run(report),
    )
    foot = join(
        [
            "ragtriage ",
            line(run["version"], 200),
            ", run ",
            line(run["run_id"], 200),
            ", started ",
            line(run["started"], 200),
            ". It arranges what people and systems recorded; it calls no model.",
        ]
    )
    body = tag(
        "body",
        tag("a", "Skip to the cases", class_="skip", href="#cases"),
        head.header(report),
        _navigation(report),
        main,
        tag("footer", tag("p", foot)),
        tag("script", Html(script)),
    )
    return f"<!doctype html>\n{tag('html', _head(report, script), body, lang='en')}\n"


def _head(report: Report, script: str) -> Html:
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return tag(
        "head",
        void("meta", charset="utf-8"),
        # Html: the quotes of a policy stand as they are.
        Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="color-scheme", content="light dark"),
        tag("title", wording.verdict(report), " | ragtriage"),
        tag("style", *(Html(template(name)) for name in _STYLES)),
    )


def _navigation(report: Report) -> Html:
    sections = [
        ("stages", "Stages"),
        ("cases", "Cases"),
        ("metrics", "Metrics"),
        ("slices", "Slices"),
        ("reviews", "Reviews" if report["reviews"] else ""),
        ("findings", "Findings"),
        ("limits", "Limits"),
        ("run", "Run"),
    ]
    links = [tag("a", name, href=f"#{anchor}") if name else NOTHING for anchor, name in sections]
    return tag("nav", join([link for link in links if link], " "), aria_label="Sections")
