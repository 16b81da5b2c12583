"""Figures of a release, by plotly: each a function from a release to a figure that a notebook shows.

Whatever a colour says, a place, a shape or a dash says too: black and white is enough. State
names are shown as text, never read as markup.
"""

from dpmarkov.report.figures.curves import accuracy, privacy
from dpmarkov.report.figures.long_run import eigenvalues, mixing, stationary
from dpmarkov.report.figures.matrix import flows, transitions
from dpmarkov.report.figures.place import place_map

__all__ = ["accuracy", "eigenvalues", "flows", "mixing", "place_map", "privacy", "stationary", "transitions"]
