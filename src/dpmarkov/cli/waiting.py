"""A sign of life on standard error, for work that may take longer than a moment."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["waiting"]


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Show what is being done, and for how long; on a terminal alone, and gone when it is over."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn(words), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(words, total=None)
        yield
