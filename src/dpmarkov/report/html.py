"""Small pieces of HTML. Every text that comes from outside passes through `h`; data passes through `data`."""

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from typing import Any

__all__ = ["data", "facts", "h", "script", "section", "sentence", "table"]

_LINE_BREAKERS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def h(text: object) -> str:
    """`text` as HTML shows it, letter by letter."""
    return escape(str(text), quote=True)


def data(identifier: str, value: Any) -> str:
    """`value` as a JSON block that no content can end early."""
    written = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character, escaped in _LINE_BREAKERS.items():
        written = written.replace(character, escaped)
    return f'<script type="application/json" id="{h(identifier)}">{written}</script>'


def script(code: str) -> tuple[str, str]:
    """A script element of the house's own code, and the source that a content security policy names it by."""
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    return f"<script>{code}</script>", f"'sha256-{digest}'"


def section(identifier: str, title: str, *parts: str) -> str:
    """A section with a heading that the table of contents links to."""
    body = "\n".join(part for part in parts if part)
    name = h(identifier)
    heading = f'<h2 id="{name}-h">{h(title)}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-h">\n{heading}\n{body}\n</section>'


def sentence(text: str) -> str:
    """`text` with a capital letter and a full stop."""
    text = text.strip().rstrip(".")
    return text[:1].upper() + text[1:] + "."


def facts(rows: Sequence[tuple[str, str]]) -> str:
    """Pairs of a name and a text, as a description list; texts are escaped."""
    items = "".join(f"<div><dt>{h(name)}</dt><dd>{h(text)}</dd></div>" for name, text in rows)
    return f'<dl class="facts">{items}</dl>'


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[object]], numbers: int = 1) -> str:
    """A table whose last `numbers` columns are numbers; everything is escaped."""
    first = len(head) - numbers

    def cell(tag: str, k: int, text: object, more: str = "") -> str:
        kind = ' class="number"' if k >= first else ""
        return f"<{tag}{kind}{more}>{h(text)}</{tag}>"

    top = "".join(cell("th", k, name, ' scope="col"') for k, name in enumerate(head))
    body = "".join("<tr>" + "".join(cell("td", k, c) for k, c in enumerate(row)) + "</tr>" for row in rows)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{h(caption)}"><table>'
        f"<caption>{h(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )
