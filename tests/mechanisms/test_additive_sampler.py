"""The discrete samplers: right law, and a wrong one is caught.

The exact samplers ask the operating system for entropy, so these tests cannot be seeded: each rejects the
true law once in 10^6 runs, and a law that is wrong by 15 % passes less than once in 10^6.
"""

import numpy as np
import pytest
from scipy import stats

from dpmarkov.entropy import Entropy
from dpmarkov.errors import ParameterError
from dpmarkov.mechanisms.additive import add_noise, draw_noise
from dpmarkov.postprocess import NoiseLaw

FALSE_ALARM = 1e-6
SIZE = 60_000

LAWS = [
    NoiseLaw(kind="laplace", scale=0.5),
    NoiseLaw(kind="laplace", scale=2.0),
    NoiseLaw(kind="laplace", scale=31.25),
    NoiseLaw(kind="gaussian", scale=0.7),
    NoiseLaw(kind="gaussian", scale=6.4),
]


def p_value(sample, law):
    """Chi-square test of a sample against a law, with cells of at least 20 expected draws."""
    pmf = law.pmf()
    expected = pmf * sample.size
    groups, running, label = np.zeros(pmf.size, dtype=int), 0.0, 0
    for k, value in enumerate(expected):
        groups[k] = label
        running += value
        if running >= 20:
            label, running = label + 1, 0.0
    groups = np.minimum(groups, label - 1) if running < 20 else groups
    inside = np.clip(sample + law.radius, 0, pmf.size - 1)
    seen = np.bincount(groups[inside], minlength=groups.max() + 1)
    wanted = np.bincount(groups, expected)
    return stats.chisquare(seen, wanted * seen.sum() / wanted.sum()).pvalue


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("seed", [None, 7])
def test_noise_has_its_law(law, seed):
    sample = draw_noise(law, SIZE, Entropy.choose(seed))
    assert sample.dtype == np.int64
    assert p_value(sample, law) > FALSE_ALARM


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("error", [0.85, 1.15])
def test_power_a_scale_wrong_by_fifteen_percent_is_caught(law, error):
    wrong = NoiseLaw(kind=law.kind, scale=law.scale * error)
    sample = draw_noise(wrong, SIZE, Entropy.seeded(11))
    assert p_value(sample, law) < FALSE_ALARM


def test_power_the_other_law_of_the_same_variance_is_caught():
    laplace = NoiseLaw(kind="laplace", scale=4.0)
    sample = draw_noise(NoiseLaw(kind="gaussian", scale=laplace.std), SIZE, Entropy.seeded(12))
    assert p_value(sample, laplace) < FALSE_ALARM


def test_neighbouring_cells_are_independent():
    # Correlation of 60,000 pairs: beyond 5 / sqrt(n) once in 10^6.
    sample = draw_noise(NoiseLaw(kind="laplace", scale=3.0), SIZE, Entropy.from_os()).astype(float)
    assert abs(np.corrcoef(sample[:-1], sample[1:])[0, 1]) < 5 / np.sqrt(SIZE)


def test_two_private_draws_differ_and_two_seeded_ones_do_not():
    law = NoiseLaw(kind="laplace", scale=5.0)
    private = [draw_noise(law, 100, Entropy.from_os()) for _ in range(2)]
    assert not np.array_equal(*private)
    assert np.array_equal(draw_noise(law, 100, Entropy.seeded(3)), draw_noise(law, 100, Entropy.seeded(3)))


def test_noise_at_the_ends_of_the_integers_does_not_give_the_counts_away(monkeypatch):
    """The samplers stop at +-2^63; a plain sum with such noise would be that number plus the exact count."""
    ends = np.array([2**63 - 1, -(2**63), 2**62, -(2**62), 0])
    monkeypatch.setattr("dpmarkov.mechanisms.additive.draw_noise", lambda law, size, entropy: ends)
    law = NoiseLaw(kind="laplace", scale=2.0**50)
    few, many = (add_noise(np.full(5, n), law, Entropy.from_os()) for n in (3, 700))
    assert few[[0, 1, 2]].tolist() == many[[0, 1, 2]].tolist() == [2**62, -(2**62), 2**62]
    assert few[3:].tolist() == [3 - 2**62, 3]


def test_noise_that_would_drown_every_integer_is_refused():
    with pytest.raises(ParameterError, match="raise the budget"):
        NoiseLaw(kind="laplace", scale=1e18)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_simulated_noise_too_wide_for_a_table_of_its_law_has_its_law(kind):
    law = NoiseLaw(kind=kind, scale=1e9)
    sample = draw_noise(law, SIZE, Entropy.seeded(3)) / law.scale
    known = stats.laplace if kind == "laplace" else stats.norm
    assert stats.kstest(sample, known.cdf).pvalue > FALSE_ALARM
    assert stats.kstest(1.15 * sample, known.cdf).pvalue < FALSE_ALARM
