"""What a reader does on a Streamlit page, in the browser's own events."""

from __future__ import annotations

import json
import time

from tests.end_to_end.devtools import Page

_STILL = (
    "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
    " && document.querySelector('[data-stale=true]') === null"
    " && document.querySelector('[data-testid=stSkeleton]') === null"
)
_SHORT = 0.3


def settle(page: Page) -> None:
    """Until the script has run to its end and nothing on the page is from before."""
    for _ in range(2):
        # Between a choice and the server's first word of it the page looks settled.
        page.wait(_STILL)
        time.sleep(_SHORT)
    page.wait(_STILL)


def pick(page: Page, label: str, text: str) -> None:
    """Choose the option of a selectbox that begins with this text."""
    box = _first("input[role=combobox]", f"e.ariaLabel.startsWith({json.dumps(label)})")
    page.wait(f"!!({box})")
    _click(page, box)
    page.wait("document.querySelectorAll('[role=option]').length > 0")
    page.run(f"({box}).select()")
    # Long lists draw only what is in view: type, so that it is.
    page.ask("Input.insertText", text=text)
    option = _first("[role=option]", f"e.textContent.trim().startsWith({json.dumps(text)})")
    page.wait(f"!!({option})")
    page.run(f"({option}).click()")
    page.wait("document.querySelectorAll('[role=option]').length === 0")
    settle(page)


def chosen(page: Page, label: str) -> str:
    """What a selectbox shows."""
    box = _first("input[role=combobox]", f"e.ariaLabel.startsWith({json.dumps(label)})")
    return str(page.run(f"({box}).value"))


def go_to(page: Page, heading: str) -> None:
    """Scroll a heading to the top of the window, and let what comes into view be drawn."""
    found = _first("h1, h2, h3", f"e.textContent.includes({json.dumps(heading)})")
    page.run(f"({found}).scrollIntoView()")
    time.sleep(2 * _SHORT)


def seen(page: Page) -> str:
    """The text of the page."""
    return str(page.run("document.body.innerText"))


def _click(page: Page, element: str) -> None:
    page.run(f"({element}).scrollIntoView({{block: 'center'}})")
    time.sleep(_SHORT)
    x, y = page.run(
        f"(r => [r.x + r.width / 2, r.y + r.height / 2])(({element}).getBoundingClientRect())"
    )
    for kind in ("mousePressed", "mouseReleased"):
        page.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def _first(selector: str, test: str) -> str:
    return f"[...document.querySelectorAll({json.dumps(selector)})].find(e => {test})"
