"""What an epsilon means, against direct computation and simulation."""

import math
import re

import numpy as np
import pytest

from dpmarkov.errors import ParameterError
from dpmarkov.odds import LARGE_EPSILON, odds
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.pairs import ApproximatePair, BetaPair, GammaPair, PurePair
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.readable import budget_warning, odds_factor, readable_up
from dpmarkov.privacy.unit import Event


def test_pure_privacy_by_hand():
    # Randomised response with odds e: the best guess from even odds is right e / (1 + e) of the time.
    table = odds(Profile(((PurePair(epsilon=1.0),),)), epsilon=1.0, priors=(0.5, 0.1))
    even, rare = table.rows
    assert even.guess_after == pytest.approx(math.e / (1 + math.e), rel=1e-6)
    assert even.guess_before == 0.5
    assert even.posterior == pytest.approx(math.e / (1 + math.e), rel=1e-3)
    # Odds of 1 to 9 times e: still below even, so nothing beats saying "not in".
    assert rare.guess_after == pytest.approx(0.9, abs=1e-12)
    assert rare.posterior == pytest.approx(math.e / (math.e + 9), rel=1e-3)


@pytest.mark.parametrize("prior", [0.05, 0.3, 0.5, 0.7, 0.97])
def test_best_guess_against_a_brute_force_over_tests(prior):
    # Every threshold test of the pair itself: none does better than the table says, and the best does as
    # well.
    from scipy import special

    alpha, weight = 1.5, 0.9
    cut = np.linspace(1e-4, 1 - 1e-4, 4001)
    p = 1 - special.betainc(alpha + weight, alpha, cut)
    q = 1 - special.betainc(alpha, alpha + weight, cut)
    best = np.max(prior * p + (1 - prior) * (1 - q))
    best = max(best, prior, 1 - prior)
    table = odds(Profile(((BetaPair(alpha=alpha, weight=weight),),)), epsilon=1.0, priors=(prior,))
    assert table.rows[0].guess_after == pytest.approx(best, rel=1e-5)


def test_the_belief_after_an_alarm_is_an_upper_bound_and_close():
    from scipy import special

    alpha, weight, prior = 3.0, 0.7, 0.2
    cut = np.linspace(1e-5, 1 - 1e-5, 20001)
    power = 1 - special.betainc(alpha + weight, alpha, cut)
    alarm = 1 - special.betainc(alpha, alpha + weight, cut)
    a = np.interp(-0.05, -power, alarm)
    truth = prior * 0.05 / (prior * 0.05 + (1 - prior) * a)
    pair = BetaPair(alpha=alpha, weight=weight)
    found = odds(Profile(((pair,),)), epsilon=2.0, priors=(prior,)).rows[0].posterior
    assert truth - 1e-9 <= found <= truth * 1.01


def test_e_to_the_epsilon_alone_would_be_wrong():
    # At delta = .2 a fifth of the outputs prove the case: far more than e^0.1 allows.
    table = odds(Profile(((ApproximatePair(epsilon=0.1, delta=0.2),),)), epsilon=0.1, priors=(0.5,))
    assert table.rows[0].guess_after > 0.6 > math.exp(0.1) / (1 + math.exp(0.1))
    # And with a gamma pair at its own budget, e^epsilon overstates what can be done.
    gamma = Profile(((GammaPair(alpha=11.0, weight=1.0),),))
    epsilon = gamma.epsilon(1e-6)
    found = odds(gamma, epsilon=epsilon, priors=(0.5,)).rows[0].guess_after
    assert found < math.exp(epsilon) / (1 + math.exp(epsilon)) - 0.1


def test_warning_above_five_and_none_below():
    profile = Profile(((PurePair(epsilon=6.0),),))
    assert "large" in odds(profile, epsilon=6.0).warning
    common = Profile(((PurePair(epsilon=LARGE_EPSILON),),))
    assert odds(common, epsilon=LARGE_EPSILON).warning == ""
    assert "Warning" in odds(profile, epsilon=6.0).describe()
    assert "Warning" not in odds(Profile(((PurePair(epsilon=1.0),),)), epsilon=1.0).describe()


def test_a_large_delta_is_warned_of_in_the_same_place():
    table = odds(Profile(((ApproximatePair(epsilon=1.0, delta=0.75),),)), epsilon=1.0)
    assert re.match(r"delta = 0.751? is large: delta is the chance that the promise fails", table.warning)
    assert budget_warning(1.0, 1e-3) == ""
    assert "2,981-fold" in budget_warning(8.0, 0.5)
    assert budget_warning(8.0, 0.5).endswith("number of units")


@pytest.mark.parametrize("delta", [0.99999, 1 - 1e-12, math.nextafter(1, 0), 0.9996, 1e-320, 5e-324])
def test_a_delta_is_never_rounded_to_one_or_to_zero(delta):
    assert delta <= float(readable_up(delta)) < 1
    assert 0 < float(str(Budget(epsilon=1.0, delta=delta)).split()[-1]) < 1


def test_upper_bounds_are_rounded_up():
    values = [0.1, 0.123, 0.12301, 1e-6, 9.99991e-7, 1.0, 1.001, 123.4, 0.0]
    shown = ["0.1", "0.123", "0.124", "1e-06", "1e-06", "1", "1.01", "124", "0"]
    assert [readable_up(value) for value in values] == shown


def test_an_enormous_epsilon_is_a_power_of_ten_rounded_up():
    assert odds_factor(20.0, ",.0f") == f"{math.ceil(math.exp(20)):,}"
    assert odds_factor(21.0, ",.0f") == "10^10"
    assert 9 < 21 / math.log(10) < 10
    assert odds_factor(1e6, ".4g") == "10^434,295"
    assert odds_factor(1e300, ".4g") == "10^(4.35e+299)"
    assert "in practice no protection" in budget_warning(1e6, 0.0)
    assert "in practice no protection" not in budget_warning(8.0, 0.0)


def test_text_and_bad_priors():
    table = odds(Profile(((PurePair(epsilon=1.0),),)), epsilon=1.0)
    assert "73.11%" in table.in_words
    assert "whether one unit is in the data" in table.in_words
    moved = odds(Profile(((PurePair(epsilon=1.0),),)), epsilon=1.0, unit=Event(relation="replace"))
    assert "which of two possible values one event has" in moved.in_words
    assert table.to_dict()["rows"][2]["prior"] == 0.5
    with pytest.raises(ParameterError, match="strictly between"):
        odds(Profile(((PurePair(epsilon=1.0),),)), epsilon=1.0, priors=(0.0,))
    for epsilon in (math.nan, 0.0, -1.0, math.inf, "1"):
        with pytest.raises(ParameterError, match="epsilon must be a finite number > 0"):
            odds(Profile(((PurePair(epsilon=1.0),),)), epsilon=epsilon)
    with pytest.raises(
        ParameterError, match=r"odds need a whole curve, such as guarantee\.evidence\.profile"
    ):
        odds(ApproximatePair(epsilon=1.0, delta=0.1), epsilon=1.0)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 0.03, 0.7, 2.1, 9.0, 40.0])
def test_what_is_printed_is_never_below_what_was_computed(epsilon):
    table = odds(Profile(((PurePair(epsilon=epsilon),),)), epsilon=epsilon, priors=(1e-7, 0.0123, 0.5, 0.987))
    printed = [line.split()[-2:] for line in table.describe().splitlines()[4:8]]
    for row, shown in zip(table.rows, printed, strict=True):
        for value, text in zip((row.guess_after, row.posterior), shown, strict=True):
            percent = 100.0 if text == "<100%" else float(text.removesuffix("%"))
            assert 100 * value - 1e-6 <= percent <= 100 * value + 0.01 or (text == "0.01%" and value > 0)
