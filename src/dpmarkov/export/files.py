"""Packages that may not be installed."""

import importlib
from typing import Any

from dpmarkov.errors import ParameterError

__all__ = ["package"]


def package(name: str) -> Any:
    """The package `name`, or an error that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ParameterError(f"this needs {name}, which is not installed: pip install {name}") from None
