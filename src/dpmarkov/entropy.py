"""The one place where randomness enters.

A release draws from ChaCha20 under a 256-bit key that the operating system's entropy source gave a moment
ago. A seed is accepted for simulations alone; whatever is drawn from it is *seeded: not private*.

Each purpose takes a stream of its own by a plain name, so that one more draw in one place never shifts what
another place draws: the stream's key is SHA-256 of the root key and the name.
"""

import hashlib
import secrets
from dataclasses import dataclass, field

import numpy as np
from randomgen import ChaCha

from dpmarkov.errors import ParameterError

__all__ = ["Entropy"]


@dataclass(frozen=True, slots=True)
class Entropy:
    """A root key from which named, independent streams are drawn.

    Use `Entropy.from_os` for a release and `Entropy.seeded` for a simulation.
    """

    _key: bytes = field(repr=False)
    seed: int | None = None

    @classmethod
    def from_os(cls) -> "Entropy":
        """A fresh key from the operating system: the only entropy that a private release may use."""
        return cls(secrets.token_bytes(32))

    @classmethod
    def seeded(cls, seed: int) -> "Entropy":
        """A key that anybody can reproduce: for simulations and tests, never for a release."""
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise ParameterError(f"seed must be an integer >= 0; got {seed!r}")
        return cls(hashlib.sha256(b"dpmarkov seed %d" % int(seed)).digest(), int(seed))

    @classmethod
    def choose(cls, seed: int | None) -> "Entropy":
        """`from_os` when `seed` is None, else `seeded(seed)`."""
        return cls.from_os() if seed is None else cls.seeded(seed)

    @property
    def is_private(self) -> bool:
        """Whether the key came from the operating system."""
        return self.seed is None

    def key(self, name: str) -> bytes:
        """32 bytes for the purpose `name`, independent of those for any other name."""
        return hashlib.sha256(self._key + name.encode()).digest()

    def generator(self, name: str) -> np.random.Generator:
        """A numpy generator over ChaCha20 for the purpose `name`; ask once for each purpose."""
        key = int.from_bytes(self.key(name), "little")
        return np.random.Generator(ChaCha(key=key, rounds=20))
