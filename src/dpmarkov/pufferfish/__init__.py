"""Pufferfish: privacy for every single time point of a person whose time points give each other away.

Declare what is plausible about the person (a class of chains), then release a histogram, any Lipschitz
statistic or a Markov chain of that person. After Wang, Song and Chaudhuri, *Privacy-preserving Analysis of
Correlated Data*; docs/correlated.md is the guide.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpmarkov.privacy.unit import TimePoint as TimePoint
    from dpmarkov.pufferfish.classes import ChainClass as ChainClass
    from dpmarkov.pufferfish.classes import FiniteChains as FiniteChains
    from dpmarkov.pufferfish.classes import GapChains as GapChains
    from dpmarkov.pufferfish.classes import IntervalChains as IntervalChains
    from dpmarkov.pufferfish.classes import load_theta as load_theta
    from dpmarkov.pufferfish.classes import theta_from_dict as theta_from_dict
    from dpmarkov.pufferfish.estimate import estimate_theta as estimate_theta
    from dpmarkov.pufferfish.facts import release_by_wasserstein as release_by_wasserstein
    from dpmarkov.pufferfish.facts import release_over_network as release_over_network
    from dpmarkov.pufferfish.framework import HISTOGRAM as HISTOGRAM
    from dpmarkov.pufferfish.framework import TRANSITIONS as TRANSITIONS
    from dpmarkov.pufferfish.framework import Secrets as Secrets
    from dpmarkov.pufferfish.framework import Statistic as Statistic
    from dpmarkov.pufferfish.model import Model as Model
    from dpmarkov.pufferfish.model import semi_markov as semi_markov
    from dpmarkov.pufferfish.network import BayesianNetwork as BayesianNetwork
    from dpmarkov.pufferfish.networkquilt import NetworkNoise as NetworkNoise
    from dpmarkov.pufferfish.networkquilt import max_influence as max_influence
    from dpmarkov.pufferfish.networkquilt import plan_network_noise as plan_network_noise
    from dpmarkov.pufferfish.networkquilt import quilts_of as quilts_of
    from dpmarkov.pufferfish.noise import Noise as Noise
    from dpmarkov.pufferfish.noise import joint_epsilon as joint_epsilon
    from dpmarkov.pufferfish.noise import plan_noise as plan_noise
    from dpmarkov.pufferfish.noisy import NoisyStatistic as NoisyStatistic
    from dpmarkov.pufferfish.quilt import Quilt as Quilt
    from dpmarkov.pufferfish.quilt import basic as basic
    from dpmarkov.pufferfish.quilt import closed_form as closed_form
    from dpmarkov.pufferfish.quilt import fast as fast
    from dpmarkov.pufferfish.quilt import influence_of as influence_of
    from dpmarkov.pufferfish.releasing import release_chain as release_chain
    from dpmarkov.pufferfish.releasing import release_histogram as release_histogram
    from dpmarkov.pufferfish.releasing import release_statistic as release_statistic
    from dpmarkov.pufferfish.sequence import StateSequence as StateSequence
    from dpmarkov.pufferfish.table import read_sequences as read_sequences
    from dpmarkov.pufferfish.wasserstein import FiniteFramework as FiniteFramework
    from dpmarkov.pufferfish.wasserstein import chain_sums as chain_sums
    from dpmarkov.pufferfish.wasserstein import network_sums as network_sums
    from dpmarkov.pufferfish.wasserstein import wasserstein_distance as wasserstein_distance

_PUBLIC = {
    "BayesianNetwork": "dpmarkov.pufferfish.network",
    "ChainClass": "dpmarkov.pufferfish.classes",
    "FiniteChains": "dpmarkov.pufferfish.classes",
    "FiniteFramework": "dpmarkov.pufferfish.wasserstein",
    "GapChains": "dpmarkov.pufferfish.classes",
    "HISTOGRAM": "dpmarkov.pufferfish.framework",
    "IntervalChains": "dpmarkov.pufferfish.classes",
    "Model": "dpmarkov.pufferfish.model",
    "NetworkNoise": "dpmarkov.pufferfish.networkquilt",
    "Noise": "dpmarkov.pufferfish.noise",
    "NoisyStatistic": "dpmarkov.pufferfish.noisy",
    "Quilt": "dpmarkov.pufferfish.quilt",
    "Secrets": "dpmarkov.pufferfish.framework",
    "StateSequence": "dpmarkov.pufferfish.sequence",
    "Statistic": "dpmarkov.pufferfish.framework",
    "TRANSITIONS": "dpmarkov.pufferfish.framework",
    "TimePoint": "dpmarkov.privacy.unit",
    "basic": "dpmarkov.pufferfish.quilt",
    "chain_sums": "dpmarkov.pufferfish.wasserstein",
    "closed_form": "dpmarkov.pufferfish.quilt",
    "estimate_theta": "dpmarkov.pufferfish.estimate",
    "fast": "dpmarkov.pufferfish.quilt",
    "influence_of": "dpmarkov.pufferfish.quilt",
    "joint_epsilon": "dpmarkov.pufferfish.noise",
    "load_theta": "dpmarkov.pufferfish.classes",
    "max_influence": "dpmarkov.pufferfish.networkquilt",
    "network_sums": "dpmarkov.pufferfish.wasserstein",
    "plan_network_noise": "dpmarkov.pufferfish.networkquilt",
    "plan_noise": "dpmarkov.pufferfish.noise",
    "quilts_of": "dpmarkov.pufferfish.networkquilt",
    "read_sequences": "dpmarkov.pufferfish.table",
    "release_by_wasserstein": "dpmarkov.pufferfish.facts",
    "release_chain": "dpmarkov.pufferfish.releasing",
    "release_histogram": "dpmarkov.pufferfish.releasing",
    "release_over_network": "dpmarkov.pufferfish.facts",
    "release_statistic": "dpmarkov.pufferfish.releasing",
    "semi_markov": "dpmarkov.pufferfish.model",
    "theta_from_dict": "dpmarkov.pufferfish.classes",
    "wasserstein_distance": "dpmarkov.pufferfish.wasserstein",
}


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'dpmarkov.pufferfish' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_PUBLIC)
