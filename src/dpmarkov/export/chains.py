"""The chain of a release, for whatever needs one."""

from typing import TYPE_CHECKING

from dpmarkov.errors import ChainError
from dpmarkov.releases.describe import why_no_chain

if TYPE_CHECKING:
    from dpmarkov.chain import MarkovChain
    from dpmarkov.releases import Release

__all__ = ["chain_of"]


def chain_of(release: "Release") -> "MarkovChain":
    """The chain, or an error that says what can be had instead."""
    if not release.layout.is_chain:
        raise ChainError(
            f"{why_no_chain(release)}: sequences, graphs and model files need a chain. A table of its "
            "probabilities can be written (write_csv, export --to csv)"
        )
    return release.chain
