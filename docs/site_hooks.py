"""Building the site: the pages stand in `docs/` and also link to files of the project that are no pages."""

import re
from typing import Any

_OUT = re.compile(r"\[([^\]]+)\]\(\.\./([^)#]+)(#[^)]*)?\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """A link out of `docs/` (to `../CONTRIBUTING.md`, say) works in the project; in the site it is a name."""
    return _OUT.sub(r"\1 (`\2`)", markdown)
