"""Releases that the tests of the report look at."""

import numpy as np

import dpmarkov as dpm

__all__ = ["BUDGET", "HOSTILE", "release_of"]

BUDGET = dpm.Budget(epsilon=1, delta=1e-6)

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 2">',
    '<a href="https://example.org/leak">click</a>',
    "<b>bold</b>",
    "&lt;not a tag&gt;",
    "%{x} %{customdata}",
    "$\\alpha$",
    "]]><!--",
    "' onmouseover='window.hacked = 3",
    "\u202eright to left\u2028line\x00nul",
    "",
    "x" * 300,
    "x" * 301,
    "12",
]


def release_of(
    counts: np.ndarray, states: dpm.StateSpace | None = None, mechanism: str = "dirichlet"
) -> dpm.Release:
    counts = np.asarray(counts)
    space = dpm.StateSpace.range(0, len(counts)) if states is None else states
    made = dpm.TransitionCounts(dpm.Layout.square(space), counts.ravel())
    return dpm.release(made, unit=dpm.Event(), budget=BUDGET, mechanism=mechanism)
