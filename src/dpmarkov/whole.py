"""A file written whole or not at all."""

import os
import tempfile
from pathlib import Path

from dpmarkov.errors import EngineError

__all__ = ["write_whole"]


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
