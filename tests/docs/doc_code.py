"""The code in README.md and docs/: every Python block and every dpmarkov command, in order."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Block", "commands", "pages", "python_blocks"]

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: where it starts, and what it holds."""

    line: int
    language: str
    text: str


def pages() -> list[Path]:
    """README and the pages of the site."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(text.count("\n", 0, match.start(2)) + 1, match[1], match[2]) for match in _FENCE.finditer(text)
    ]


def python_blocks(page: Path) -> list[Block]:
    """The Python of a page; `pycon` would be printed sessions, which this project does not write."""
    return [block for block in blocks(page) if block.language in ("python", "py")]


def commands(page: Path) -> list[tuple[int, list[str]]]:
    """The dpmarkov commands of a page: after `$` in console blocks, and in indented code."""
    found = []
    for block in blocks(page):
        if block.language in ("console", "bash", "shell", "sh"):
            found += _commands(block.text, block.line)
    outside = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), page.read_text(encoding="utf-8"))
    indented = "\n".join(line[4:] if line.startswith("    ") else "" for line in outside.split("\n"))
    return sorted(found + _commands(indented, 1))


def _commands(text: str, first: int) -> list[tuple[int, list[str]]]:
    found = []
    joined = re.sub(r"\\\n\s*", lambda match: " " + "\x00" * match[0].count("\n"), text)
    line = first
    for row in joined.split("\n"):
        command = row.replace("\x00", "").strip().removeprefix("$ ")
        if command.startswith("dpmarkov "):
            found.append((line, shlex.split(command, comments=True)[1:]))
        line += 1 + row.count("\x00")
    return found
