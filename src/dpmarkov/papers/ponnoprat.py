r"""Ponnoprat: differential privacy of Dirichlet posterior sampling.

Counts x are released as one draw of Dirichlet(r x + alpha) under a public prior alpha. Nothing is assumed
about the data; the draw is biased towards the prior. Sensitivities: Delta_2^2 >= sum (x_i - x'_i)^2 and
Delta_inf >= max |x_i - x'_i|; replace-one has (2, 1), add/remove (1, 1). With gamma in (0, alpha_m),
alpha_m = min alpha, Theorem 1 gives truncated concentrated differential privacy,

    rho = Delta_2^2 psi'(alpha_m - gamma)/2,      omega = gamma/Delta_inf + 1.

It is right. (Its proof says that psi' increases; it decreases, and the proof uses that it does.) Exact for
the same mechanism: Theorems A and B of `docs/mathematics.md` with floor alpha_m and weight r. Accuracy and
sample sizes are in `dpmarkov.papers.ponnoprat_utility`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import optimize, special

from dpmarkov.errors import ParameterError
from dpmarkov.papers.results import Assumption, Claim

__all__ = [
    "Concentrated",
    "compose",
    "equation6",
    "gaussian_rho",
    "lemma1",
    "prior_for_rho",
    "theorem1",
    "theorem1_groups",
    "theorem1_with_threshold",
    "theorem2",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Concentrated:
    """(rho, omega)-truncated concentrated differential privacy; omega = infinity is rho-zCDP.

    The Renyi divergence of every order lambda in (1, omega) is at most lambda rho.
    """

    theorem: str
    rho: float
    omega: float
    assumptions: tuple[Assumption, ...] = ()


def theorem1(
    *, alpha_m: float, gamma: float, delta2_squared: float, delta_inf: float = 1.0, r: float = 1.0
) -> Concentrated:
    """Theorem 1, with the scaling by r that follows it.

    Parameters
    ----------
    alpha_m
        The smallest prior parameter.
    gamma
        A choice of the analysis, 0 < gamma < alpha_m: more gives a larger omega and a larger rho.
    delta2_squared, delta_inf
        The squared L2 and the L-infinity sensitivity of the counts.
    r
        The factor on the counts: both sensitivities scale with it.
    """
    if not (0 < gamma < alpha_m and r > 0 and delta2_squared > 0 and delta_inf > 0):
        raise ParameterError(f"need 0 < gamma < alpha_m; got gamma = {gamma!r}, alpha_m = {alpha_m!r}")
    rho = 0.5 * r**2 * delta2_squared * float(special.polygamma(1, alpha_m - gamma))
    return Concentrated(theorem="Ponnoprat, Theorem 1", rho=rho, omega=gamma / (r * delta_inf) + 1)


def theorem1_with_threshold(
    *,
    alpha_m: float,
    threshold: float,
    gamma: float,
    delta2_squared: float,
    delta_inf: float = 1.0,
    r: float = 1.0,
) -> Concentrated:
    """Theorem 1 when every data set that matters has all counts >= a public threshold tau (after Theorem 1).

    The threshold joins the prior: alpha_m + r tau. The guarantee is conditional on that public knowledge.
    """
    found = theorem1(
        alpha_m=alpha_m + r * threshold, gamma=gamma, delta2_squared=delta2_squared, delta_inf=delta_inf, r=r
    )
    known = Assumption(f"every count of every data set that matters is >= {threshold:g}, publicly", None)
    return Concentrated(
        theorem="Ponnoprat, Theorem 1 with a threshold",
        rho=found.rho,
        omega=found.omega,
        assumptions=(known,),
    )


def theorem1_groups(
    priors: Sequence[Sequence[float]], *, gamma: float, delta2_squared: float, delta_inf: float = 1.0
) -> Concentrated:
    """Theorem 1 for groups with priors of their own, one record in one group: the worst group's."""
    return theorem1(
        alpha_m=min(min(prior) for prior in priors),
        gamma=gamma,
        delta2_squared=delta2_squared,
        delta_inf=delta_inf,
    )


def lemma1(concentrated: Concentrated, delta: float) -> Claim:
    """Lemma 1 (Bun et al.): the epsilon at `delta` of a (rho, omega)-tCDP mechanism."""
    if not 0 < delta < 1:
        raise ParameterError(f"delta must lie in (0, 1); got {delta!r}")
    rho, omega, log = concentrated.rho, concentrated.omega, -math.log(delta)
    if math.isinf(omega) or log <= (omega - 1) ** 2 * rho:
        epsilon = rho + 2 * math.sqrt(rho * log)
    else:
        epsilon = rho * omega + log / (omega - 1)
    return Claim(
        theorem="Ponnoprat, Lemma 1", epsilon=epsilon, delta=delta, assumptions=concentrated.assumptions
    )


def equation6(
    *,
    alpha_m: float,
    gamma: float,
    delta: float,
    delta2_squared: float,
    delta_inf: float = 1.0,
    r: float = 1.0,
) -> Claim:
    """(6): Theorem 1 and Lemma 1 together for a chosen gamma."""
    found = theorem1(alpha_m=alpha_m, gamma=gamma, delta2_squared=delta2_squared, delta_inf=delta_inf, r=r)
    return lemma1(found, delta)


def theorem2(
    *, alpha_m: float, delta: float, delta2_squared: float, delta_inf: float = 1.0, r: float = 1.0
) -> Claim:
    """Theorem 2: the least epsilon at `delta` over gamma.

    f(gamma) = rho(gamma) omega(gamma) + ln(1/delta)/(omega - 1) is convex on (0, gamma_M], where gamma_M
    solves ln(1/delta) = (omega - 1)^2 rho; its minimiser there is the best gamma.
    """
    log = -math.log(delta)
    step = r * delta_inf
    scale = 0.5 * r**2 * delta2_squared

    def rho(gamma: float) -> float:
        return scale * float(special.polygamma(1, alpha_m - gamma))

    def surplus(gamma: float) -> float:
        return (gamma / step) ** 2 * rho(gamma) - log

    low, high = alpha_m * 1e-12, alpha_m * (1 - 1e-12)
    gamma_max = high if surplus(high) <= 0 else float(optimize.brentq(surplus, low, high, rtol=1e-13))

    def f(gamma: float) -> float:
        return rho(gamma) * (gamma / step + 1) + log * step / gamma

    best = optimize.minimize_scalar(f, bounds=(low, gamma_max), method="bounded", options={"xatol": 1e-12})
    value = min(float(best.fun), f(gamma_max))
    return Claim(theorem="Ponnoprat, Theorem 2", epsilon=value, delta=delta, assumptions=())


def compose(parts: Sequence[Concentrated]) -> Concentrated:
    """Composition: the rhos add, the least omega stays (zCDP: omega = infinity)."""
    if not parts:
        raise ParameterError("compose needs at least one part")
    return Concentrated(
        theorem="composition of tCDP",
        rho=math.fsum(p.rho for p in parts),
        omega=min(p.omega for p in parts),
        assumptions=tuple(dict.fromkeys(a for p in parts for a in p.assumptions)),
    )


def gaussian_rho(*, sigma: float, delta2_squared: float) -> Concentrated:
    """The Gaussian mechanism's rho-zCDP, Delta_2^2/(2 sigma^2) (section 4.2, Appendix C)."""
    if not sigma > 0:
        raise ParameterError(f"sigma must be > 0; got {sigma!r}")
    return Concentrated(theorem="Gaussian mechanism", rho=delta2_squared / (2 * sigma**2), omega=math.inf)


def prior_for_rho(rho: float, *, gamma: float, delta2_squared: float, r: float = 1.0) -> float:
    """Appendix D: the alpha_m at which Theorem 1 gives `rho` for a factor r on the counts.

    For alpha_m - gamma >= 1 it grows like r^2: twice the factor on the counts costs four times the prior,
    less variance against more bias.
    """
    if not rho > 0:
        raise ParameterError(f"rho must be > 0; got {rho!r}")
    target = 2 * rho / (r**2 * delta2_squared)

    def gap(log_x: float) -> float:
        return float(special.polygamma(1, math.exp(log_x))) - target

    return gamma + math.exp(float(optimize.brentq(gap, -300.0, 300.0, xtol=1e-14, rtol=1e-14)))
