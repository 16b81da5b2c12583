"""From a table, wherever it lies, to integer transition counts."""

from dpmarkov.events.counting import count
from dpmarkov.events.files import refuse_sensitive
from dpmarkov.events.inspection import Inspection, check
from dpmarkov.events.question import make_layout
from dpmarkov.events.supports import read_support

__all__ = ["Inspection", "check", "count", "make_layout", "read_support", "refuse_sensitive"]
