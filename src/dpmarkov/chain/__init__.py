"""The analysis of Markov chains: structure, long run, mixing, passage, prediction, simulation.

Pure mathematics of any stochastic matrix; nothing here can see sensitive data.
"""

from dpmarkov.chain.markov import MarkovChain
from dpmarkov.chain.structure import CommunicatingClass

__all__ = ["CommunicatingClass", "MarkovChain"]
