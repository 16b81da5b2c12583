"""Files written whole or not at all, and packages that may not be installed."""

import importlib
import os
import tempfile
from os import PathLike
from pathlib import Path
from typing import Any

from dpmarkov.errors import EngineError, ParameterError

__all__ = ["check_free", "package", "write_whole"]


def package(name: str) -> Any:
    """The package `name`, or an error that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ParameterError(f"this needs {name}, which is not installed: pip install {name}") from None


def check_free(path: str | PathLike[str], *, overwrite: bool) -> Path:
    """`path`, refused where a file would be lost."""
    target = Path(path)
    if target.is_dir():
        raise ParameterError(f"{target} is a directory; name a file")
    if target.exists() and not overwrite:
        raise ParameterError(f"{target} exists; choose another file or allow overwriting")
    return target


def write_whole(path: str | PathLike[str], data: bytes, *, overwrite: bool) -> Path:
    """Write `data` to `path` whole or not at all."""
    target = check_free(path, overwrite=overwrite)
    staging: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
        staging = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        staging.chmod(0o644)
        staging.replace(target)
    except OSError as error:
        raise EngineError(f"{target} could not be written: {error.strerror or error}") from None
    finally:
        if staging is not None:
            staging.unlink(missing_ok=True)
    return target
