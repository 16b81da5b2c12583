"""The exact law of the noise."""

import math

import numpy as np
import pytest

from dpmarkov.errors import ParameterError
from dpmarkov.postprocess import NoiseLaw


@pytest.mark.parametrize(
    ("kind", "scale"), [("laplace", 0.4), ("laplace", 7.0), ("gaussian", 0.6), ("gaussian", 9.0)]
)
def test_pmf_and_std_against_direct_sums(kind, scale):
    law = NoiseLaw(kind=kind, scale=scale)
    z = np.arange(-2000, 2001)
    logs = -np.abs(z) / scale if kind == "laplace" else -(z**2) / (2 * scale**2)
    direct = np.exp(logs)
    direct /= direct.sum()
    inside = np.abs(z) <= law.radius
    assert np.allclose(law.pmf(), direct[inside], rtol=1e-12, atol=1e-300)
    assert direct[~inside].sum() < 1e-14
    assert law.std == pytest.approx(math.sqrt(direct @ z.astype(float) ** 2), rel=1e-9)


def test_round_trip_and_bad_laws():
    law = NoiseLaw(kind="gaussian", scale=3.25)
    assert NoiseLaw.from_dict(law.to_dict()) == law
    with pytest.raises(ParameterError, match="laplace or gaussian"):
        NoiseLaw(kind="cauchy", scale=1.0)
    with pytest.raises(ParameterError, match="finite number > 0"):
        NoiseLaw(kind="laplace", scale=0.0)
