"""docs/papers.md: every test that it names exists, and its code runs."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_every_claim_is_backed_by_a_test_that_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", TEXT))
    written = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) > 25
    assert {name for name in named if f"def {name}(" not in written} == set()


def test_the_code_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/papers.md", "exec"), {})
