"""Maximum likelihood over the whole line, against brute force and closed forms."""

import numpy as np
import pandas as pd
import pytest
from helpers.one_band import (
    band_layout,
    bands_of,
    chance,
    endless_layout,
    evaluation,
    fine,
    log_likelihood,
    skill_layout,
)
from scipy.optimize import brentq, minimize_scalar
from scipy.signal import find_peaks
from scipy.special import expit, log_expit
from scipy.stats import chi2, norm

import measurement_layouts as ml
from measurement_layouts.estimation.estimate import estimate
from measurement_layouts.linking import band, mean_failure, mixture

CUT = chi2.ppf(0.9, 1) / 2


def random_case(seed):
    """Random bands, two of them as narrow as can be, and counts of a random subject."""
    rng = np.random.default_rng(seed)
    ends = bands_of(rng, 12)
    ends[:2, 1] = ends[:2, 0]
    trials = rng.integers(1, 4, len(ends))
    successes = rng.binomial(trials, chance(rng.uniform(-5, 5, 1), *ends.T)[0])
    if not 0 < successes.sum() < trials.sum():
        successes[0], trials[0] = 1, 2
    return ends, successes, trials


def likelihood(ends, successes, trials, layout=None, **options):
    columns = {"lower": ends[:, 0], "upper": ends[:, 1]}
    return estimate(layout or band_layout(), evaluation(columns, successes, trials), **options)


@pytest.fixture(scope="module")
def by_both():
    """Ours and brute force, of random cases."""
    cases = []
    for seed in range(12):
        case = random_case(seed)
        line = fine(case[0], -9, 9)
        cases.append((case, likelihood(*case), line, log_likelihood(line, *case)))
    return cases


def test_no_place_of_a_fine_line_has_a_higher_likelihood(by_both):
    for _, ours, _, logs in by_both:
        # places 6e-4 apart, and 1e-12 from edges: what lies between them is 0.01 nats at most
        assert -1e-9 < ours.modes["log_likelihood"].max() - logs.max() < 0.01


def test_every_maximum_is_listed_and_nothing_else(by_both):
    for case, ours, line, logs in by_both:
        modes = ours.modes
        by_hand = log_likelihood(modes["at"], *case)
        np.testing.assert_allclose(by_hand, modes["log_likelihood"], rtol=1e-9, atol=1e-6)
        assert modes["below"].is_monotonic_increasing
        at, tall = modes["at"].to_numpy(), modes["log_likelihood"].to_numpy()
        # the line does not tell the last 0.01 nats: maxima that are hardly any may be in one only
        clear, all_tops = (tops(logs, least) for least in (0.02, 0.005))
        assert matched(line[clear], logs[clear], at, tall).all()
        high = tall > logs.max() - 15
        assert matched(at[high], tall[high], line[all_tops], logs[all_tops]).all()


def tops(logs, least):
    """Find the maxima of a line, ends included, of those that count."""
    padded = np.pad(logs, 1, constant_values=logs.min() - 1)
    peaks = find_peaks(padded, prominence=least)[0] - 1
    return peaks[logs[peaks] > logs.max() - (15 if least > 0.01 else 16)]


def matched(at, logs, others_at, heights):
    """Whether each maximum is among others; the line's places are 6e-4 apart."""
    close = np.abs(np.subtract.outer(at, others_at)) < 2e-3
    return (close & (np.abs(np.subtract.outer(logs, heights)) < 0.01)).any(axis=1)


def test_the_compatible_set_is_where_the_likelihood_is_high(by_both):
    for _, ours, line, logs in by_both:
        (pieces,) = ours.ranges.values()
        inside = np.any([(line >= low) & (line <= high) for low, high in pieces], axis=0)
        margin = logs - (ours.modes["log_likelihood"].max() - CUT)
        sure = np.abs(margin) > 1e-6
        assert (inside == (margin > 0))[sure].all()


def test_a_band_without_an_upper_end_is_a_logistic_regression():
    """Its derivatives have closed forms: information n p (1 - p), summed."""
    rng = np.random.default_rng(4)
    low = rng.normal(size=60)
    successes = rng.binomial(3, expit(0.7 - low))
    estimates = likelihood(np.stack([low, np.full(60, np.inf)], 1), successes, 3, endless_layout())

    def minus(theta):
        margin = theta - low
        return -(successes @ log_expit(margin) + (3 - successes) @ log_expit(-margin))

    best = minimize_scalar(minus, bounds=(-5, 5), method="bounded", options={"xatol": 1e-9})
    row = estimates.table.iloc[0]
    p = expit(best.x - low)
    se = (3 * p * (1 - p)).sum() ** -0.5
    assert row["estimate"] == pytest.approx(best.x, abs=1e-5 * se)
    assert row["se"] == pytest.approx(se, rel=1e-5)
    assert row["log_likelihood"] == pytest.approx(-best.fun, abs=1e-9)
    ends = [
        brentq(lambda theta: minus(theta) - best.fun - CUT, *sorted((best.x, best.x + side)))
        for side in (-2, 2)
    ]
    np.testing.assert_allclose(row[["low", "high"]].astype(float), ends, atol=1e-6 * se)
    assert row["modes"] == 1
    assert row["identified"]
    assert row["reason"] == ""


def test_the_information_of_a_band_is_that_of_its_formula():
    rng = np.random.default_rng(5)
    ends = bands_of(rng, 40, least=4.0)
    successes = rng.binomial(5, chance(np.array([1.0]), *ends.T)[0])
    row = likelihood(ends, successes, 5).table.iloc[0]
    slope = np.exp(2 / np.ptp(ends, axis=1))
    up, down = (
        expit(slope * side) for side in (row["estimate"] - ends[:, 0], ends[:, 1] - row["estimate"])
    )
    rise = slope * (down - up)  # of log P, and its derivative:
    turn = -(slope**2) * (up * (1 - up) + down * (1 - down))
    p = chance(np.array([row["estimate"]]), *ends.T)[0]
    wrong = p / (1 - p) * (rise**2 + turn) + (p / (1 - p) * rise) ** 2
    information = -(successes * turn) + (5 - successes) * wrong
    assert row["se"] == pytest.approx(information.sum() ** -0.5, rel=1e-5)


def test_a_maximum_on_a_cliff_has_no_standard_error():
    """Two items in [0, 0] contradict each other: only where both are 50 % do both fit."""
    ends = np.array([[0, 0], [0, 0], [-5, 5]], dtype=float)
    row = likelihood(ends, np.array([1, 0, 5]), np.array([1, 1, 5])).table.iloc[0]
    assert not row["identified"]
    assert "2 places fit equally well: -0.05 and 0.05" in row["reason"]
    tilted = np.array([[0, 0], [0, 0], [-2, 5]], dtype=float)
    row = likelihood(tilted, np.array([1, 0, 50]), np.array([1, 1, 60])).table.iloc[0]
    assert row["identified"]
    assert abs(row["estimate"]) == pytest.approx(0.05, abs=1e-6)
    assert np.isnan(row["se"])
    assert "no standard error" in row["reason"]


def test_what_noise_pulls_towards_is_the_subjects_own():
    """The published pull is a constant of the subject: one minus its mean success."""
    rng = np.random.default_rng(7)
    ends = bands_of(rng, 20, least=1.0)
    outcomes = rng.binomial(1, chance(np.array([-1.0, 2.0]), *ends.T))
    layout = band_layout(link=lambda *g: mixture(band(*g), by=0.2, toward=mean_failure))
    table = likelihood(ends, outcomes, 1, layout).table
    for row, outcome in zip(table.itertuples(), outcomes, strict=True):
        toward = 1 - outcome.mean()
        fixed = band_layout(link=lambda *g, to=toward: mixture(band(*g), by=0.2, toward=to))
        alone = likelihood(ends, outcome, 1, fixed).table.iloc[0]
        assert row.estimate == pytest.approx(alone["estimate"], abs=1e-6)
        assert row.log_likelihood == pytest.approx(alone["log_likelihood"], abs=1e-9)


def test_what_is_unseen_is_averaged_over():
    """Two items of ten trials, against quadrature over each item."""
    tilt = ml.Capability("tilt", low=-8, high=8)
    hard = ml.Unseen("hard", ml.MetaFeature("measured", low=-3, high=3), 0.7)
    layout = ml.Layout("unsure", ml.Success("right", ml.linking.logistic(tilt - hard)))
    (curve,) = estimate(layout, evaluation({"measured": [-1.0, 1.0]}, [7, 2], 10)).curves.values()
    tilts, error = np.array([-0.5, 0.3]), np.linspace(-9, 9, 3001)
    expected = 0.0
    for at, count in ((-1.0, 7), (1.0, 2)):
        margin = tilts[:, None] - at - 0.7 * error
        chances = np.exp(count * log_expit(margin) + (10 - count) * log_expit(-margin))
        expected = expected + np.log((chances * norm.pdf(error)).sum(axis=1) * 0.006)
    np.testing.assert_allclose(curve(tilts), expected, atol=1e-4)


def test_wrong_options_say_what_is_needed():
    items = pd.DataFrame({"demand": [1.0, 2.0]}, index=["a", "b"])
    outcomes = ml.Evaluation.from_wide(pd.DataFrame([[1, 0]], ["Ann"], items.index), items)
    layout = skill_layout()
    with pytest.raises(ml.FitError, match="prob=2"):
        estimate(layout, outcomes, prob=2)
    with pytest.raises(ml.DataError, match="unknown subject"):
        estimate(layout, outcomes, subjects=["Bob"])
    noisy = ml.Success(
        "right", mixture(layout.outcome.expression, by=ml.Noise("noise"), toward=mean_failure)
    )
    with pytest.raises(ml.FitError, match=r"the latents skill, noise; give .* or take the"):
        estimate(ml.Layout("noisy", noisy), outcomes)
