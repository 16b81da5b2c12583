"""From noisy counts to a stochastic matrix: pure, deterministic, free of privacy cost.

Everything here is a function of noisy counts and public quantities. Nothing here can see the data: the room
imports the support, the layout and the errors, and nothing else of ours.
"""

from dpmarkov.postprocess.bayes import Estimate, posterior_mean
from dpmarkov.postprocess.doubly import SinkhornResult, sinkhorn
from dpmarkov.postprocess.methods import METHODS, check_method, estimate_probabilities
from dpmarkov.postprocess.noise import NoiseLaw
from dpmarkov.postprocess.prior import remove_prior
from dpmarkov.postprocess.simplex import clip, project

__all__ = [
    "METHODS",
    "Estimate",
    "NoiseLaw",
    "SinkhornResult",
    "check_method",
    "clip",
    "estimate_probabilities",
    "posterior_mean",
    "project",
    "remove_prior",
    "sinkhorn",
]
