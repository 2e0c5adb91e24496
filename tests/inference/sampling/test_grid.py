"""Integrated posteriors, held against closed forms, SciPy's quadrature, a fine grid and NUTS.

The draws are stratified: the error of the mean of 4,000 of them is far below that of independent
ones, 1/63 of the standard deviation. Tolerance: 0.01 standard deviations of the mean, 2 % of the
standard deviation.
"""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from arviz_stats.base import array_stats
from helpers import small_layouts
from scipy import integrate as quadrature
from scipy import stats
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.sampling import grid
from measurement_layouts.inference.sampling.draws import SamplingOptions
from measurement_layouts.inference.sampling.engine import Battery
from measurement_layouts.inference.sampling.grid import integrate
from measurement_layouts.inference.sampling.nuts import alone
from measurement_layouts.inference.sampling.unbounded import LogDensity
from measurement_layouts.linking import band, logistic, mixture

OPTIONS = SamplingOptions()


def drawn(layout, evaluation, seed=1):
    subject = evaluation.subjects[0]
    battery = Battery.of(layout, evaluation)
    return integrate(battery, SubjectData.of(evaluation, subject), OPTIONS, seed)


def close(draws, mean, sd):
    assert abs(draws.mean() - mean) < 0.01 * sd
    assert abs(draws.std() / sd - 1) < 0.02


def on_a_grid(log_density, *axes):
    """Means and standard deviations by brute force on a fine regular grid."""
    mesh = np.meshgrid(*axes, indexing="ij")
    log = log_density(*mesh)
    mass = np.exp(log - log.max())
    mass /= mass.sum()
    means = [float((mass * axis).sum()) for axis in mesh]
    spreads = [
        float(np.sqrt((mass * (axis - mean) ** 2).sum()))
        for axis, mean in zip(mesh, means, strict=True)
    ]
    return means, spreads


@pytest.mark.parametrize(("right", "tried"), [(16, 24), (0, 5), (5, 5), (300, 1000)])
def test_a_coin_has_a_beta_posterior(right, tried):
    draws = drawn(small_layouts.coin(), small_layouts.counts([right], [tried])).posterior["p"]
    exact = stats.beta(1 + right, 1 + tried - right)
    close(draws, exact.mean(), exact.std())
    levels = [0.05, 0.5, 0.95]
    np.testing.assert_allclose(np.quantile(draws, levels), exact.ppf(levels), atol=0.003)


def jumps(count=30, seed=4):
    rng = np.random.default_rng(seed)
    items = pd.DataFrame({"height": rng.choice([0.5, 1.0, 2.0, 3.0], count)})
    items.index = [f"jump-{number}" for number in range(count)]
    right = rng.binomial(1, expit(1.2 - items["height"].to_numpy()))
    return small_layouts.counts(right, np.ones(count, dtype=int), items=items), right


HEIGHT = ml.MetaFeature("height", low=0, high=4)


def test_a_normal_prior_on_the_whole_line():
    spring = ml.Capability("spring", prior=ml.Prior("Normal", mu=0, sigma=2))
    layout = ml.Layout("jumps", ml.Success("over", logistic(spring - HEIGHT)))
    evaluation, right = jumps()
    height = evaluation.items["height"].to_numpy()

    def density(x, power=0):
        chance = expit(x - height)
        return x**power * stats.norm.pdf(x, 0, 2) * np.where(right, chance, 1 - chance).prod()

    mass, first, second = (quadrature.quad(density, -12, 12, args=(k,))[0] for k in range(3))
    mean = first / mass
    draws = drawn(layout, evaluation).posterior["spring"]
    close(draws, mean, np.sqrt(second / mass - mean**2))


def noisy_jumps(prior=True):
    """Two elements: ability and noise; without the noise's prior as a wrong twin."""
    noise = ml.Noise("noise", prior=ml.Prior("Beta", alpha=1, beta=9))
    spring = ml.Capability("spring", low=-2, high=5)
    layout = ml.Layout(
        "jumps", ml.Success("over", mixture(logistic(spring - HEIGHT), by=noise, toward=0.5))
    )
    evaluation, right = jumps()
    height = evaluation.items["height"].to_numpy()

    def log_density(spring, noise):
        chance = (1 - noise[..., None]) * expit(spring[..., None] - height) + noise[..., None] / 2
        likelihood = np.log(np.where(right, chance, 1 - chance)).sum(axis=-1)
        return likelihood + prior * stats.beta(1, 9).logpdf(noise)

    cells = [(np.arange(700) + 0.5) / 700 * 7 - 2, (np.arange(700) + 0.5) / 700]
    return drawn(layout, evaluation), on_a_grid(log_density, *cells)


@pytest.mark.slow
def test_two_elements_as_on_a_fine_grid():
    draws, (means, spreads) = noisy_jumps()
    for name, mean, spread in zip(("spring", "noise"), means, spreads, strict=True):
        close(draws.posterior[name], mean, spread)


def test_both_modes_of_bands_far_apart():
    """Half of the items are solved near -3, the other half near 3; a chain would see one mode."""
    risk = ml.Propensity("risk", low=-5, high=5)
    ends = [ml.MetaFeature(f"{end}End", low=-6, high=6) for end in ("low", "high")]
    layout = ml.Layout("risks", ml.Success("ok", band(risk, *ends)))
    low = np.tile([-3.5, 2.5], 4)
    items = pd.DataFrame({"lowEnd": low, "highEnd": low + 1}, index=[f"i{k}" for k in range(8)])
    right = [3, 2, 3, 2, 3, 2, 3, 2]
    evaluation = small_layouts.counts(right, [6] * 8, items=items)

    def log_density(theta):
        chance = np.clip([band(theta, a, a + 1.0) for a in low], 1e-12, 1 - 1e-12)
        k = np.array(right)[:, None]
        return (k * np.log(chance) + (6 - k) * np.log1p(-chance)).sum(axis=0)

    grid = np.linspace(-5, 5, 200_001)
    (mean,), (spread,) = on_a_grid(log_density, grid)
    draws = drawn(layout, evaluation).posterior["risk"]
    close(draws, mean, spread)
    mass = np.exp(log_density(grid) - log_density(grid).max())
    assert abs((draws < 0).mean() - mass[grid < 0].sum() / mass.sum()) < 0.002


@pytest.mark.slow
def test_a_prior_that_depends_on_the_other_latent():
    """A funnel, which the grid leaves to NUTS."""
    spread = ml.Capability("spread", prior=ml.Prior("HalfNormal", sigma=1))
    spring = ml.Capability("spring", prior=ml.Prior("Normal", mu=1, sigma=spread))
    layout = ml.Layout("jumps", ml.Success("over", logistic(spring - HEIGHT)))
    evaluation, right = jumps()
    height = evaluation.items["height"].to_numpy()

    def log_density(spring, spread):
        chance = expit(spring[..., None] - height)
        prior = stats.norm.logpdf(spring, 1, spread) + stats.halfnorm.logpdf(spread)
        return np.log(np.where(right, chance, 1 - chance)).sum(axis=-1) + prior

    cells = [np.linspace(-5, 7, 601), (np.arange(500) + 0.5) / 100]
    means, spreads = on_a_grid(log_density, *cells)
    fit = ml.fit(layout, evaluation, method="grid", seed=1, progressbar=False)
    assert "sampled by NUTS" in fit.diagnostics()["reason"].iloc[0]
    for name, mean, sd in zip(("spring", "spread"), means, spreads, strict=True):
        draws = fit.posterior[name].to_numpy()[..., 0]
        assert abs(draws.mean() - mean) < 4 * sd / np.sqrt(array_stats.ess(draws))


def test_a_narrow_ridge_between_the_axes_is_left_to_nuts():
    """A grid that saw the ridge at its end only would have both near 0."""
    far, near = (ml.Capability(name, low=0, high=1) for name in ("far", "near"))
    layout = ml.Layout("ridge", ml.Success("ok", logistic(1000 * (far - near) + 1)))
    with pytest.raises(grid.Unresolved):
        drawn(layout, small_layouts.counts([5000], [10_000]))


def test_the_same_fit_comes_out(monkeypatch):
    evaluation, _right = jumps()
    spring = ml.Capability("spring", low=-2, high=5)
    layout = ml.Layout("jumps", ml.Success("over", logistic(spring - HEIGHT)))
    fits = [
        ml.fit(layout, evaluation, method="grid", seed=1, n_jobs=jobs, progressbar=False)
        for jobs in (1, 2)
    ]
    assert fits[0].posterior.identical(fits[1].posterior)
    row = fits[0].diagnostics().loc["Ann"]
    assert (row["status"], row["divergences"], row["attempts"]) == ("ok", 0, 1)
    assert fits[0].profiles().loc[0, "rhat"] < 1.005
    forecast = fits[0].forecast(evaluation.items.head(2))
    assert forecast.data["mean"].shape == (1, 2)


def test_three_elements_are_too_many(animal_ai, cohort):
    message = r"4 profile elements.*method=.nuts"
    with pytest.raises(FitError, match=message):
        drawn(animal_ai, cohort)


PRIORS = {
    "Normal": (ml.Prior("Normal", mu=1, sigma=2), stats.norm(1, 2), -20, 1, 20),
    "Beta": (ml.Prior("Beta", alpha=0.5, beta=2), stats.beta(0.5, 2), 0, 1e-4, 0.1, 1),
    "HalfNormal": (ml.Prior("HalfNormal", sigma=2), stats.halfnorm(scale=2), 0, 2, 20),
    "LogNormal": (ml.Prior("LogNormal", mu=0, sigma=1), stats.lognorm(1), 0, 1, 10, 100, 1e4),
    "StudentT": (ml.Prior("StudentT", nu=7, mu=0, sigma=1), stats.t(7), -99, -5, 5, 99),
    "VonMises": (ml.Prior("VonMises", mu=3, kappa=2), stats.vonmises(2, 3), -np.pi, 0, np.pi),
    "TruncatedNormal": (
        ml.Prior("TruncatedNormal", mu=0, sigma=1, lower=0.5, upper=3),
        stats.truncnorm(0.5, 3),
        *(0.5, 3),
    ),
}


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("right", [0, 3])
def test_one_item_with_any_prior(name, right):
    """Three trials of one item."""
    prior, exact, *points = PRIORS[name]
    layout = ml.Layout("one", ml.Success("ok", logistic(ml.Capability("c", prior=prior) - 1.5)))

    def moment(power):
        def density(x):
            return x**power * exact.pdf(x) * expit(x - 1.5) ** right * expit(1.5 - x) ** (3 - right)

        return sum(quadrature.quad(density, *ends, epsabs=0)[0] for ends in pairwise(points))

    mean = moment(1) / moment(0)
    draws = drawn(layout, small_layouts.counts([right], [3])).posterior["c"]
    sd = np.sqrt(moment(2) / moment(0) - mean**2)
    assert abs(draws.mean() - mean) < 0.015 * sd
    assert abs(draws.std() / sd - 1) < 0.08  # of heavy tails


RISK = ml.Propensity("risk", low=-4, high=4)
ENDS = [ml.MetaFeature(name, low=-4, high=4) for name in ("low", "high")]
BANDS = {
    "two modes": ([-3.0, 2.5], [-2.5, 3.0], [1, 1], [2, 2]),
    "plateaus": ([-3.0, 2.9], [-2.0, 3.0], [0, 0], [5, 5]),
    "a narrow one": ([-3.9, 1.0, 1.02], [3.9, 1.1, 1.07], [30, 2, 1], [40, 2, 1]),
    "contradiction": ([1.0, 1.0], [1.15, 1.15], [1, 0], [1, 1]),
    "zero width": ([-1.0, 0.0], [2.0, 0.0], [1, 2], [1, 3]),
}


def fine(low, high, even=40_001, near=6000, far=4):
    """Places down to 1e-14 from the end of every band, and the length that each stands for."""
    centre, half = (low + high) / 2, np.maximum(high - low, 0.1) / 2
    beside = np.logspace(-14, 0, near)
    ends = np.append(centre - half, centre + half)[:, None]
    line = np.unique(
        np.concatenate([np.linspace(-far, far, even), *(ends - beside), *(ends + beside)])
    )
    line = line[abs(line) <= far]
    return line, np.gradient(line)


def weighed(logs, lengths, *lines):
    """Mean and standard deviation along each axis."""
    mass = np.exp(logs - logs.max()) * lengths
    mass /= mass.sum()
    means = [(mass * line).sum() for line in lines]
    spreads = [np.sqrt((mass * (x - m) ** 2).sum()) for x, m in zip(lines, means, strict=True)]
    return np.array(means), np.array(spreads)


@pytest.mark.parametrize("name", BANDS)
def test_every_mode_of_bands_is_seen(name):
    """Bands of width 0.1 have sides 1e-9 wide."""
    low, high, right, tried = map(np.array, BANDS[name])
    layout = ml.Layout("bands", ml.Success("ok", band(RISK, *ENDS)))
    battery = Battery(layout, {"low": low, "high": high}, len(low))
    draws = integrate(battery, SubjectData(right, tried, {}), OPTIONS, 1).posterior["risk"]
    line, length = fine(low, high)
    chance = np.clip(band(line[:, None], low, high), 1e-12, 1 - 1e-12)
    logs = stats.binom.logpmf(right, tried, chance).sum(axis=1)
    exact, spread = weighed(logs, length, line)
    close(draws, exact[0], spread[0])


def split(right=1, tried=1):
    """A subject with two modes, of 5 and 95 % of the mass."""
    place = ml.Propensity("place", low=-6, high=6)
    low, high = (ml.MetaFeature(name, low=-6, high=6) for name in ("low", "high"))
    outcome = ml.Success("ok", 0.9 * band(place, low, high, slope=3) + 0.03)
    items = pd.DataFrame({"low": [-1, -5.5, 1], "high": [1, 5.5, 4]}, list("abc"))
    evaluation = small_layouts.counts([0, 1, right], [3, 1, tried], items=items)
    return ml.Layout("split", outcome), evaluation


def test_by_default_both_modes_of_a_band_are_weighed():
    """By a sum over 6,001 places: mean 2.454, sd 1.595, 95.2 % of the mass above 0."""
    line = np.linspace(-6, 6, 6001)
    layout, evaluation = split()
    logs = np.zeros(len(line))
    for low, high, right, tried in [(-1, 1, 0, 3), (-5.5, 5.5, 1, 1), (1, 4, 1, 1)]:
        chance = 0.9 * band(line, low, high, slope=3) + 0.03
        logs += stats.binom.logpmf(right, tried, chance)
    exact, spread = weighed(logs, 1, line)
    fit = ml.fit(layout, evaluation, seed=1, progressbar=False)
    assert fit.data.attrs["method"] == "grid"
    draws = fit.posterior["place"].to_numpy()
    close(draws, exact[0], spread[0])
    assert abs((draws > 0).mean() - 0.952) < 0.002


@pytest.mark.parametrize("seed", [1, 2])
def test_nuts_that_leaves_a_mode_of_a_band_is_flagged(seed):
    layout, evaluation = split()
    fit = ml.fit(layout, evaluation, method="nuts", seed=seed, progressbar=False)
    assert fit.diagnostics().loc["Ann", "status"] in ("modes not searched", "not converged")


def test_what_the_grid_cannot_resolve_is_sampled_by_nuts(monkeypatch, tmp_path):
    """And said, also from a store; another subject stays on the grid."""
    layout, evaluation = split(12, 12)
    resolve = grid.resolved

    def resolve_others(density, *rest):
        if density.at_all(np.zeros((1, 1)))[0][0] == of_ann:
            raise grid.Unresolved
        return resolve(density, *rest)

    counts = [pd.concat([part, part + 1]) for part in (evaluation.successes, evaluation.trials)]
    names = ["Ann", "Bob"]
    both = ml.Evaluation(evaluation.items, *(part.set_axis(names) for part in counts))
    battery = Battery.of(layout, both)
    of_ann = alone(battery, SubjectData.of(both, "Ann")).compiled()
    of_ann = LogDensity(of_ann)(np.zeros(1))
    monkeypatch.setattr(grid, "resolved", resolve_others)
    fit = ml.fit(layout, both, seed=1, store=tmp_path / "fits", progressbar=False)
    table = fit.diagnostics()
    assert table["status"].tolist() == ["ok", "ok"]
    by_nuts = table["reason"].str.contains("sampled by NUTS: the grid cannot resolve")
    assert by_nuts.tolist() == [True, False]
