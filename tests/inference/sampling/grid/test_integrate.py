"""Integrated posteriors, held against closed forms, SciPy's quadrature, a fine grid and NUTS.

The draws are stratified: 4,000 of them miss a posterior mean by about a tenth of what independent
ones would, 1/63 of its standard deviation. Tolerance: 0.01 standard deviations of the mean, 1 % of
the standard deviation.

Posteriors of propensities: modes apart, plateaus, and bands whose sides are as good as steps.
"""

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
from measurement_layouts.inference.sampling.draws import SamplingOptions
from measurement_layouts.inference.sampling.engine import Battery, compile_sampler
from measurement_layouts.inference.sampling.grid import lattice, posterior
from measurement_layouts.inference.sampling.grid.posterior import integrate
from measurement_layouts.inference.sampling.nuts import sample
from measurement_layouts.linking import band, logistic, mixture, product

OPTIONS = SamplingOptions()


def drawn(layout, evaluation, seed=1):
    subject = evaluation.subjects[0]
    battery = Battery.of(layout, evaluation)
    return integrate(battery, SubjectData.of(evaluation, subject), OPTIONS, seed)


def close(draws, mean, sd):
    assert abs(draws.mean() - mean) < 0.01 * sd
    assert abs(draws.std() / sd - 1) < 0.01


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


def test_a_forgotten_prior_is_noticed():
    """Twin that must fail."""
    draws, (means, spreads) = noisy_jumps(prior=False)
    with pytest.raises(AssertionError):
        close(draws.posterior["noise"], means[1], spreads[1])


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
    draws = drawn(layout, evaluation).posterior
    close(draws["spring"], means[0], spreads[0])
    assert abs(draws["spread"].mean() - means[1]) < 0.02 * spreads[1]


def test_labels_count_as_elements():
    skill = ml.Capability("skill", low=0, high=1, labels=("read", "write"))
    layout = ml.Layout("letters", ml.Success("done", product(skill, over="dimension")))
    draws = drawn(layout, small_layouts.counts([3], [9])).posterior["skill"]
    assert draws.shape == (4, 1000, 2)
    np.testing.assert_allclose(draws[..., 0].mean(), draws[..., 1].mean(), atol=0.005)


def test_as_nuts_has_it():
    """Within 4 Monte Carlo standard errors of NUTS; the grid's own error is a tenth of that."""
    evaluation, _right = jumps()
    spring, noise = ml.Capability("spring", low=-2, high=5), ml.Noise("noise")
    layout = ml.Layout(
        "jumps", ml.Success("over", mixture(logistic(spring - HEIGHT), by=noise, toward=0.5))
    )
    grid = drawn(layout, evaluation)
    data = SubjectData.of(evaluation, "Ann")
    nuts = sample(compile_sampler(Battery.of(layout, evaluation)), data, OPTIONS, seed=3)
    for name, draws in nuts.posterior.items():
        error = float(array_stats.mcse(draws))
        assert abs(draws.mean() - grid.posterior[name].mean()) < 4 * error
    assert abs(np.median(nuts.statistics["lp"]) - np.median(grid.statistics["lp"])) < 0.1


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


RISK = ml.Propensity("risk", low=-4, high=4)
ENDS = [ml.MetaFeature(name, low=-4, high=4) for name in ("low", "high")]
BANDS = {
    "two modes": ([-3.0, 2.5], [-2.5, 3.0], [1, 1], [2, 2]),
    "plateaus": ([-3.0, 2.9], [-2.0, 3.0], [0, 0], [5, 5]),
    "a narrow one": ([-3.9, 1.0, 1.02], [3.9, 1.1, 1.07], [30, 2, 1], [40, 2, 1]),
    "contradiction": ([1.0, 1.0], [1.15, 1.15], [1, 0], [1, 1]),
    "zero width": ([-1.0, 0.0], [2.0, 0.0], [1, 2], [1, 3]),
}


def moments(outcome, low, high, right, tried):
    """Mean and standard deviation of the profile elements."""
    battery = Battery(ml.Layout("bands", outcome), {"low": low, "high": high}, len(low))
    found = posterior.ExactPosterior(battery, SubjectData(right, tried, {})).boxes()
    mean, variance = found.moments()
    return mean, np.sqrt(variance)


def fine(low, high, even=40_001, near=6000):
    """Places down to 1e-14 from the end of every band, and the length that each stands for."""
    centre, half = (low + high) / 2, np.maximum(high - low, 0.1) / 2
    beside = np.logspace(-14, 0, near)
    ends = np.append(centre - half, centre + half)[:, None]
    line = np.unique(np.concatenate([np.linspace(-4, 4, even), *(ends - beside), *(ends + beside)]))
    line = line[(line >= -4) & (line <= 4)]
    return line, np.gradient(line)


def weighed(logs, lengths, *lines):
    """Mean and standard deviation along each axis."""
    mass = np.exp(logs - logs.max()) * lengths
    mass /= mass.sum()
    means = [(mass * line).sum() for line in lines]
    spreads = [np.sqrt((mass * (x - m) ** 2).sum()) for x, m in zip(lines, means, strict=True)]
    return np.array(means), np.array(spreads)


@pytest.mark.parametrize("name", BANDS)
def test_every_mode_of_bands_is_found(name):
    """Bands of width 0.1 have sides 1e-9 wide.

    Where outcomes contradict each other, the best places are there: so narrow, and still nearly all
    of the mass.
    """
    low, high, right, tried = map(np.array, BANDS[name])
    mean, sd = moments(ml.Success("ok", band(RISK, *ENDS)), low, high, right, tried)
    line, length = fine(low, high)
    chance = np.clip(band(line[:, None], low, high), 1e-12, 1 - 1e-12)
    logs = stats.binom.logpmf(right, tried, chance).sum(axis=1)
    exact, spread = weighed(logs, length, line)
    # the line's own error: at most its spacing, 2e-4, over the narrowest spread, 0.02, squared
    np.testing.assert_allclose((mean - exact) / spread, 0, atol=3e-4)
    np.testing.assert_allclose(sd / spread, 1, atol=3e-4)


@pytest.mark.parametrize("name", BANDS)
def test_every_mode_of_bands_is_found_beside_noise(name):
    low, high, right, tried = map(np.array, BANDS[name])
    noise = ml.Noise("noise")
    outcome = ml.Success("ok", mixture(band(RISK, *ENDS), by=noise, toward=0.5))
    mean, sd = moments(outcome, low, high, right, tried)
    line, length = fine(low, high, even=4001, near=600)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    beside = (nodes[:, None] + 1) / 2
    chance = band(line[:, None], low, high)[:, None, :] * (1 - beside) + beside / 2
    logs = stats.binom.logpmf(right, tried, np.clip(chance, 1e-12, 1 - 1e-12)).sum(axis=-1)
    exact, spread = weighed(logs, length[:, None] * weights, line[:, None], beside[:, 0])
    # a line ten times coarser
    np.testing.assert_allclose((mean - exact) / spread, 0, atol=3e-3)
    np.testing.assert_allclose(sd / spread, 1, atol=3e-3)


def test_a_start_without_lines_at_the_steps_misses_them(monkeypatch):
    """Twin that must fail: an even lattice does not see the sides of a narrow band."""
    given = ml.Success("ok", band(RISK, *ENDS)), *map(np.array, BANDS["contradiction"])
    _, sd = moments(*given)
    monkeypatch.setattr(posterior, "_shared", type(posterior._shared)(16))
    monkeypatch.setattr(lattice, "_HALVINGS", 0)
    monkeypatch.setattr(lattice, "_CHANGE", np.inf)
    _, even = moments(*given)
    assert sd[0] < 0.1 < even[0]
