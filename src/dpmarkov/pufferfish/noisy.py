"""A number or a vector with Laplace noise, its guarantee and its provenance."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.guarantee import Guarantee
from dpmarkov.whole import write_whole

__all__ = ["NoisyStatistic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyStatistic:
    """A statistic with Laplace noise, its guarantee and its provenance. Everything in it is public.

    Parameters
    ----------
    values
        The noisy numbers.
    guarantee
        What is protected, how strongly, on what evidence.
    mechanism
        The noise: its scale and the other public parameters.
    created, version
        When and by which version of dpmarkov.
    seed
        Set for a simulation: such a release is *not private*.
    """

    values: tuple[float, ...]
    guarantee: Guarantee
    mechanism: Mapping[str, Any]
    created: str
    version: str
    seed: int | None = None

    @property
    def value(self) -> float:
        """The number, of a statistic that is a single one."""
        if len(self.values) != 1:
            raise ParameterError(f"this statistic has {len(self.values)} numbers; use .values")
        return self.values[0]

    def to_dict(self) -> dict[str, Any]:
        """The release as plain values."""
        return {
            "format": "dpmarkov statistic",
            "values": list(self.values),
            "guarantee": self.guarantee.to_dict(),
            "mechanism": dict(self.mechanism),
            "made": {
                "software": "dpmarkov",
                "version": self.version,
                "time": self.created,
                "seed": self.seed,
                "private": self.seed is None,
            },
        }

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the release to a JSON file that does not exist yet."""
        target = Path(path)
        if target.exists():
            raise ParameterError(f"{target} exists; choose another file")
        write_whole(target, (json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n").encode())
        return target

    @classmethod
    def made(
        cls,
        values: npt.NDArray[np.generic],
        guarantee: Guarantee,
        mechanism: Mapping[str, Any],
        seed: int | None,
    ) -> "NoisyStatistic":
        """The statistic, made now by this version."""
        return cls(
            values=tuple(values.tolist()),
            guarantee=guarantee,
            mechanism=mechanism,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            version=version("dpmarkov"),
            seed=seed,
        )
