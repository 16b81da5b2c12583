"""Objects of other Markov chain libraries, where these are installed."""

from typing import TYPE_CHECKING, Any

from dpmarkov.export.chains import chain_of
from dpmarkov.export.files import package

if TYPE_CHECKING:
    from dpmarkov.releases import Release

__all__ = ["to_pydtmc", "to_quantecon"]


def to_quantecon(release: "Release") -> Any:
    """A `quantecon.MarkovChain` with the states as its state values."""
    quantecon = package("quantecon")
    chain = chain_of(release)
    return quantecon.MarkovChain(chain.dense().copy(), state_values=list(chain.states.states))


def to_pydtmc(release: "Release") -> Any:
    """A `pydtmc.MarkovChain`; its state names are texts, so integer states become their digits."""
    pydtmc = package("pydtmc")
    chain = chain_of(release)
    return pydtmc.MarkovChain(chain.dense().copy(), [str(state) for state in chain.states])
