"""A file written whole or not at all, and never by accident over another one."""

import os
import tempfile
from os import PathLike
from pathlib import Path

from dpmarkov.errors import EngineError, ParameterError

__all__ = ["check_free", "write_whole"]


def check_free(path: str | PathLike[str], *, overwrite: bool) -> Path:
    """`path`, refused where a file would be lost."""
    if not os.fspath(path):
        raise ParameterError("the output is an empty text; name a file")
    target = Path(path)
    if target.is_dir():
        raise ParameterError(f"{target} is a directory; name a file")
    if target.exists() and not overwrite:
        raise ParameterError(
            f"{target} exists; choose another file or replace it (--overwrite; in Python overwrite=True)"
        )
    return target


def write_whole(target: Path, data: bytes) -> None:
    """Write `data` to `target`, in place of what was there; a failure half way changes nothing."""
    staging: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
        staging = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        staging.chmod(0o644)
        staging.replace(target)
    except OSError as error:
        raise EngineError(f"{target} could not be written: {error.strerror or error}") from None
    finally:
        if staging is not None:
            staging.unlink(missing_ok=True)
