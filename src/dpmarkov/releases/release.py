"""The release as an object: frozen, public, and complete in itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dpmarkov.chain import MarkovChain
from dpmarkov.errors import ChainError, ReleaseFormatError
from dpmarkov.layout import Block, BlockKind, Layout
from dpmarkov.privacy.guarantee import SEEDED, Guarantee
from dpmarkov.states import State, StateSpace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dpmarkov.utility.uncertainty import Uncertain

__all__ = ["Release", "seed_warning"]


def seed_warning(seed: int) -> str:
    """What stands in a release drawn from a seed, and in every print-out of it."""
    return f"{SEEDED} Drawn from seed {seed}: whoever knows it can undo the noise"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """A private stochastic matrix with its guarantee. Everything in it is public.

    Parameters
    ----------
    layout
        States and support.
    probabilities
        One probability for each cell of `layout.cells`; each row sums to one.
    guarantee
        What is protected, how strongly, on what evidence.
    mechanism
        The mechanism's name and public parameters.
    created, version
        When and by which version of dpmarkov.
    seed
        Set for a simulation: such a release is *not private*.
    noisy_counts
        The counts with noise, from mechanisms that reveal them.
    row_totals
        The total of each row of `layout.cells` with noise, where a share of the budget bought it.
    counting
        The public rules that the events were counted by.
    """

    layout: Layout
    probabilities: npt.NDArray[np.float64]
    guarantee: Guarantee
    mechanism: Mapping[str, Any]
    created: str
    version: str
    seed: int | None = None
    noisy_counts: npt.NDArray[np.int64] | None = None
    row_totals: npt.NDArray[np.int64] | None = None
    counting: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_cells = self.layout.cells.n_cells
        p = np.array(self.probabilities, dtype=np.float64)
        if p.shape != (n_cells,):
            raise ReleaseFormatError(
                f"there must be one probability for each of {n_cells} cells; got {p.shape}"
            )
        sums = self.layout.cells.row_sums(p)
        if not (np.all(np.isfinite(p)) and np.all(p >= 0) and np.allclose(sums, 1, rtol=0, atol=1e-9)):
            raise ReleaseFormatError("the probabilities are not rows of a stochastic matrix")
        if self.row_totals is not None and self.row_totals.shape != (self.layout.cells.n_rows,):
            raise ReleaseFormatError(
                f"there must be one total for each of {self.layout.cells.n_rows} rows; "
                f"got {self.row_totals.shape}"
            )
        p.flags.writeable = False
        object.__setattr__(self, "probabilities", p)

    @property
    def is_private(self) -> bool:
        """Whether all of its noise was random: neither it nor a charge that it covers came from a seed."""
        return self.seed is None and not self.guarantee.warnings

    @property
    def groups(self) -> StateSpace | None:
        """The groups, each with a matrix of its own (`of`); None where there are none."""
        return self.layout.groups

    def of(self, group: State) -> "Release":
        """The part of one group, under the same guarantee (which covers all groups together)."""
        kinds = dict.fromkeys(block.kind for block in self.layout.blocks)
        blocks = [self.layout.block(kind, group) for kind in kinds]
        parts = [block.at for block in blocks]
        noisy, totals = self.noisy_counts, self.row_totals
        return replace(
            self,
            layout=self.layout.of_group(group),
            probabilities=np.concatenate([self.probabilities[at] for at in parts]),
            noisy_counts=None if noisy is None else np.concatenate([noisy[at] for at in parts]),
            row_totals=None if totals is None else np.concatenate([totals[block.rows] for block in blocks]),
        )

    @property
    def transition_matrix(self) -> npt.NDArray[np.float64]:
        """The stochastic matrix, dense: from-states are rows, to-states are columns."""
        block = self._block("transitions")
        return np.asarray(block.cells.dense(self.probabilities[block.at]), dtype=np.float64)

    @property
    def sparse_matrix(self) -> sparse.csr_array:
        """The stochastic matrix on its support."""
        block = self._block("transitions")
        return block.cells.sparse(self.probabilities[block.at])

    @property
    def start_distribution(self) -> npt.NDArray[np.float64]:
        """Where sequences start: one share for each state."""
        return self.probabilities[self._block("starts").at]

    @property
    def length_distribution(self) -> npt.NDArray[np.float64]:
        """How long sequences are: one share for each length from 1; the last stands for longer ones too."""
        return self.probabilities[self._block("lengths").at]

    def _block(self, kind: BlockKind) -> Block:
        if self.layout.groups is not None:
            raise ChainError(
                f"this release holds {len(self.layout.groups)} groups: take one with "
                f"release.of({self.layout.groups.states[0]!r})"
            )
        return self.layout.block(kind)

    @property
    def chain(self) -> MarkovChain:
        """The Markov chain, ready for analysis."""
        if not self.layout.is_chain:
            raise ChainError(
                f"this release is a stochastic matrix of {self.layout}, not a Markov chain: "
                "a chain needs the same from-states and to-states"
            )
        matrix = self.transition_matrix if self.layout.allowed.is_full else self.sparse_matrix
        return MarkovChain(matrix, self.layout.target)

    @property
    def stationary_distribution(self) -> npt.NDArray[np.float64]:
        """The long-run share of each state."""
        return np.asarray(self.chain.stationary_distribution, dtype=np.float64)

    def uncertainty(
        self,
        quantity: "str | Callable[[Any], object]",
        *,
        level: float = 0.95,
        draws: int = 1000,
        sampling: bool = False,
        seed: int = 0,
    ) -> "Uncertain":
        """A quantity of the chain with an interval, from the release alone; see `dpmarkov.utility`.

        Parameters
        ----------
        quantity
            A name such as `"stationary_distribution"` or `"kemeny_constant"`, or a function of the chain
            (of the matrix, as an array, where this is no chain).
        level
            The share of intervals that should cover.
        draws
            Plausible chains to draw.
        sampling
            Add the data's own sampling error; without it, privacy's noise alone.
        seed
            The same release and seed give the same interval.
        """
        from dpmarkov.utility.uncertainty import uncertainty

        return uncertainty(self, quantity, level=level, draws=draws, sampling=sampling, seed=seed)

    def save(self, path: "str | PathLike[str]", *, overwrite: bool = False) -> "Path":
        """Write the release to a directory, whole or not at all.

        Parameters
        ----------
        path
            A directory that does not exist yet, or is empty.
        overwrite
            Replace a release that is there already.
        """
        from dpmarkov.releases.files import save

        return save(self, path, overwrite=overwrite)

    def headline(self) -> str:
        """What this is and what it guarantees, in two lines."""
        from dpmarkov.releases.describe import headline

        return headline(self)

    @property
    def citation(self) -> str:
        """The text to cite this release by."""
        from dpmarkov.releases.describe import citation

        return citation(self)

    def describe(self) -> str:
        """The guarantee, the size, where the chain settles, and whether it can."""
        from dpmarkov.releases.describe import describe

        return describe(self)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"<{self.headline()}>"
