"""Make a release: calibrate, certify, draw."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version

from dpmarkov.counts import TransitionCounts
from dpmarkov.entropy import Entropy
from dpmarkov.errors import ParameterError
from dpmarkov.layout import Layout
from dpmarkov.mechanisms.base import Mechanism
from dpmarkov.mechanisms.dirichlet import Form
from dpmarkov.planning import choose
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.charge import Charge, remaining, total_delta
from dpmarkov.privacy.guarantee import SEEDED, Evidence, Guarantee, readable_up
from dpmarkov.privacy.pairs import ApproximatePair
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.unit import Unit
from dpmarkov.releases.release import Release, seed_warning

__all__ = ["guarantee_for", "release"]


def release(
    counts: TransitionCounts,
    *,
    unit: Unit,
    budget: Budget,
    mechanism: Mechanism | str = "auto",
    form: Form | None = None,
    floor: float | None = None,
    expected_events: float | None = None,
    totals_share: float | None = None,
    postprocess: str | None = None,
    charges: Sequence[Charge] = (),
    seed: int | None = None,
) -> Release:
    """Release counts as a private stochastic matrix.

    Parameters
    ----------
    counts
        What `dpmarkov.count` gave.
    unit
        What is protected: `Event()`, `Destination()`, `User(max_events=...)` or `Visit()`.
    budget
        The (epsilon, delta) that may be spent.
    mechanism
        `"auto"` takes the one with the least predicted error, from public quantities alone; or a name
        (`"laplace"`, `"gaussian"`, `"dirichlet"`), calibrated to the budget; or a mechanism of your own.
    form, floor
        The Dirichlet form and its least parameter; giving one asks for the Dirichlet mechanism.
    expected_events
        A public guess of the number of events, for that prediction alone. Rounded to one significant digit.
    totals_share
        The share of epsilon, such as 0.1, that buys noisy totals of the rows, for the Dirichlet mechanism:
        narrower error bars, flows, and a *prior* form without its prior. The others reveal them anyway.
    postprocess
        How rows follow from noisy counts: `"posterior"` (the default), `"project"` or `"clip"`.
    charges
        What was spent on the same data before, to learn bounds or states: it comes out of the budget, and the
        guarantee covers it too.
    seed
        For simulations only: the release is stamped *not private*.

    Returns
    -------
    Release
        The private matrix with its guarantee.

    Guarantee
    ---------
    The release is (epsilon, delta)-differentially private for `unit`, for every data set; the claimed delta
    is certified in ball arithmetic at the very parameters that were used.
    """
    if not isinstance(counts, TransitionCounts):
        raise ParameterError(
            f"release takes what dpmarkov.count gave; got {type(counts).__name__}. Count a table first: "
            "dpmarkov.release(dpmarkov.count(table, ...), ...)"
        )
    if not isinstance(unit, Unit):
        raise ParameterError(f"unit must be a unit such as dpmarkov.Event(); got {unit!r}")
    if not isinstance(budget, Budget):
        raise ParameterError(f"budget must be a dpmarkov.Budget(epsilon=..., delta=...); got {budget!r}")
    for charge in charges:
        charge.check(unit)
    rest = remaining(budget, charges)
    reason = None
    if isinstance(mechanism, str):
        choice = choose(
            counts.layout,
            unit=unit,
            budget=rest,
            mechanism=mechanism,
            form=form,
            floor=floor,
            expected_events=expected_events,
            totals_share=totals_share,
            postprocess=postprocess,
        )
        mechanism, reason = choice.mechanism, choice.reason
        if charges:
            reason += " What was learnt before, at a price that the guarantee covers, counts as public."
    elif any(given is not None for given in (form, floor, expected_events, totals_share, postprocess)):
        raise ParameterError(
            "form, floor, expected_events, totals_share and postprocess choose a mechanism; leave them out "
            "when you give one"
        )
    elif not hasattr(mechanism, "profile"):
        raise ParameterError(
            f"mechanism must be auto, laplace, gaussian, dirichlet or a mechanism object; got {mechanism!r}"
        )
    counts.contributions.check(unit)
    entropy = Entropy.choose(seed)
    guarantee = guarantee_for(mechanism, unit=unit, budget=rest, layout=counts.layout, seed=seed)
    guarantee = covering(guarantee, budget, rest, charges)
    draw = mechanism.draw(counts, entropy)
    return Release(
        layout=counts.layout,
        probabilities=draw.probabilities,
        guarantee=guarantee,
        mechanism=mechanism.to_dict() | ({} if reason is None else {"reason": reason}),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        version=version("dpmarkov"),
        seed=seed,
        noisy_counts=draw.noisy_counts,
        row_totals=draw.row_totals,
        counting=counts.contributions.to_dict(),
    )


def covering(guarantee: Guarantee, budget: Budget, rest: Budget, charges: Sequence[Charge]) -> Guarantee:
    """The guarantee of a release and of the private looks before it, taken together.

    Prices add up at most (basic composition). The looks decided which mechanism was calibrated, and another
    outcome would have led to another one, with another curve: what all of them have in common is the rest of
    the budget. So the curve composes the looks with the worst mechanism for that rest, not with this one.
    """
    if not charges:
        return guarantee
    evidence = guarantee.evidence
    profile = Profile(((ApproximatePair(epsilon=rest.epsilon, delta=rest.delta),),))
    for charge in charges:
        profile = profile.compose(charge.profile)
    spent = "; ".join(charge.in_words() for charge in charges)
    private = all(charge.result.get("private", True) for charge in charges)
    warning = () if private else (f"{SEEDED} A charge was drawn from a seed",)
    return replace(
        guarantee,
        epsilon=budget.epsilon,
        delta=total_delta(rest.delta, charges),
        assumptions=(*warning, *guarantee.assumptions),
        evidence=Evidence(
            theorem=f"{evidence.theorem}, composed with what was spent before ({spent})",
            kind="theorem",
            profile=profile,
            parameters=evidence.parameters,
        ),
    )


def guarantee_for(
    mechanism: Mechanism, *, unit: Unit, budget: Budget, layout: Layout, seed: int | None = None
) -> Guarantee:
    """The certified guarantee of a mechanism under `unit`, refused if it exceeds the budget."""
    profile = mechanism.profile(unit, layout)
    delta = profile.certified_delta(budget.epsilon)
    if not delta <= budget.delta:
        raise ParameterError(
            f"this mechanism needs delta = {readable_up(delta)} at epsilon = {budget.epsilon:g}; the budget "
            f"has {budget.delta:.6g}. Raise the budget or lower the mechanism's weight; nothing was drawn"
        )
    theorem, kind = mechanism.evidence
    if not profile.is_exact:
        kind = "theorem"
    assumptions = mechanism.assumptions
    if seed is not None:
        assumptions = (seed_warning(seed), *assumptions)
    parameters = {
        name: value for name, value in mechanism.to_dict().items() if isinstance(value, int | float | str)
    }
    return Guarantee(
        epsilon=budget.epsilon,
        delta=delta,
        unit=unit,
        assumptions=assumptions,
        evidence=Evidence(theorem=theorem, kind=kind, profile=profile, parameters=parameters),
    )
