"""Progress on standard error, for counts that last longer than a second."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(wanted: bool, percentage: Callable[[], float]) -> Iterator[Callable[[], None]]:
    """A function to call now and then; after one second it shows how far the query is.

    Parameters
    ----------
    wanted
        Whether to show anything.
    percentage
        How far the query is, from 0 to 100; negative when nobody knows.
    """
    if not wanted:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("Counting"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("count", total=100)
    began = time.monotonic()
    running = False

    def tick() -> None:
        nonlocal running
        if time.monotonic() - began < 1:
            return
        if not running:
            bar.start()
            running = True
        known = percentage()
        bar.update(task, completed=max(known, 0))

    try:
        yield tick
    finally:
        if running:
            bar.stop()
