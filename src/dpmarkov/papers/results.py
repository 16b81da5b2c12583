"""What a paper's theorem returns: the number, and the assumptions under which the paper claims it."""

from dataclasses import dataclass

__all__ = ["Assumption", "Bound", "Claim"]


@dataclass(frozen=True, slots=True)
class Assumption:
    """One assumption of a theorem, and whether the given parameters meet it.

    `holds` is None for an assumption about the sensitive data, which parameters cannot show.
    """

    statement: str
    holds: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A paper's claim of (epsilon, delta)-differential privacy.

    It is what the theorem says, not what dpmarkov guarantees: compare the exact curve of
    `dpmarkov.privacy.profile`.

    Parameters
    ----------
    theorem
        The paper and the theorem's number.
    epsilon, delta
        What is claimed.
    assumptions
        The theorem's assumptions, each checked against the parameters where that can be done.
    """

    theorem: str
    epsilon: float
    delta: float
    assumptions: tuple[Assumption, ...]

    @property
    def violated(self) -> tuple[str, ...]:
        """The assumptions that the parameters do not meet: with any, the theorem claims nothing."""
        return tuple(a.statement for a in self.assumptions if a.holds is False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A number that a theorem gives: an expectation, or a bound of one."""

    theorem: str
    value: float
    assumptions: tuple[Assumption, ...] = ()

    @property
    def violated(self) -> tuple[str, ...]:
        """The assumptions that the parameters do not meet: with any, the theorem claims nothing."""
        return tuple(a.statement for a in self.assumptions if a.holds is False)

    def __float__(self) -> float:
        return self.value
