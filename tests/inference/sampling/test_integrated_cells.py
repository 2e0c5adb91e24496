"""Parts of subjects on items that are integrated out: against SciPy, and their draws."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_points
from helpers.function_cases import AS_WRITTEN
from helpers.populations import P, normal, zero_sum
from scipy.integrate import quad
from scipy.special import expit, logsumexp
from scipy.stats import binom, kstest, norm

import measurement_layouts as ml
from measurement_layouts.inference.model.cell_parts import Scores, cell_part
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.model.joint_model import joint_model
from measurement_layouts.inference.sampling import joint_nuts
from measurement_layouts.inference.sampling.inner_cells import InnerCells, find_scores, first_scores
from measurement_layouts.inference.sampling.joint import JointKernel
from measurement_layouts.inference.sampling.modes import LogDensity
from measurement_layouts.linking import guessing, logistic, product

CELL = ("subject", "item")
FINE = np.linspace(-12, 12, 6001)


def _part(name="part", mean=0, spread=None, **options):
    spread = ml.Spread(f"{name}Spread") if spread is None else spread
    return ml.Bias(name, per=CELL, prior=normal(mean, spread), **options)


def _ability():
    return ml.Capability("ability", prior=normal(ml.Bias("mean", per=P), ml.Spread("spread")))


def plain_layout():
    """Ability, ease and part, on the log-odds."""
    ease = ml.Bias("ease", per="item", prior=zero_sum(ml.Spread("easeSpread")))
    return ml.Layout("plain", ml.Success("solved", logistic(_ability() + ease + _part())))


def bent_layout():
    """A part within a product over labels, with a mean and a spread that differ among subjects."""
    load = ml.MetaFeature("load", low=0, high=2, labels=("near", "far"), dim="place")
    shift, width = ml.Bias("shift", per="item"), ml.Slope("width", per="subject")
    skill = ml.Capability("skill", prior=normal(1, 1), labels=("near", "far"), dim="place")
    part = _part(mean=shift, spread=width)
    chance = product(logistic(skill - load + part), over="place")
    noise = ml.Noise("noise", per=P)
    return ml.Layout("bent", ml.Success("solved", guessing(chance, noise)))


def _evaluation(most=10, subjects=4, items=3):
    rng = np.random.default_rng(5)
    who, what = [f"s{at}" for at in range(subjects)], [f"i{at}" for at in range(items)]
    columns = ("size", "load[near]", "load[far]")
    table = pd.DataFrame({name: rng.uniform(0, 2, items) for name in columns}, what)
    trials = pd.DataFrame(rng.integers(1, most + 1, (subjects, items)), who, what)
    trials.iloc[0, 0] = 0
    successes = pd.DataFrame(rng.binomial(trials, 0.6), who, what)
    return ml.Evaluation(table, successes, trials)


def _cohort(layout, **size):
    return Cohort.of_evaluation(layout, _evaluation(**size))


def _scores(count=61, reach=8.0):
    return Scores("part", np.linspace(-reach, reach, count))


def _by_scipy(cohort, coordinates):
    """Integrate the plain model's density over each cell's part; the rest is as it is."""
    model = joint_model(cohort)
    shape = cohort.size(cohort.layout.nodes["part"].plates)
    point, idle = joint_points.plain_point(model, coordinates | {"part": np.zeros(shape)})
    density = model.compile_logp(mode=AS_WRITTEN)
    base, logs = float(density(point)), 0.0
    for at in np.ndindex(shape):

        def one(value, at=at):
            point["part"] = np.zeros(shape)
            point["part"][at] = value
            return np.exp(float(density(point)) - base)

        logs += np.log(quad(one, -25, 25, points=[-3, 0, 3], epsabs=1e-12, epsrel=1e-9)[0])
    return base + logs + idle


@pytest.mark.trust("oracles", "SciPy: parts of subjects on items integrated out")
@pytest.mark.parametrize("make", [plain_layout, pytest.param(bent_layout, marks=pytest.mark.slow)])
def test_the_density_is_the_plain_models_integrated_by_scipy(make):
    cohort = _cohort(make(), subjects=3, items=2)
    kernel = JointKernel(cohort, scores=_scores())
    density = LogDensity(kernel.compiled())
    at = np.random.default_rng(2).normal(size=density.size) * 0.5
    expected = _by_scipy(cohort, joint_points.levels(kernel, at))
    assert density(at) == pytest.approx(expected, abs=1e-6)
    few = LogDensity(JointKernel(cohort, scores=_scores(7)).compiled())
    assert abs(few(at) - expected) > 1e-3  # the twin: scores too far apart


@pytest.mark.parametrize("make", [plain_layout, bent_layout])
def test_its_gradient_is_that_of_differences(make):
    cohort = _cohort(make())
    centring = {"ability": np.linspace(0, 1, 4)} if make is plain_layout else {}
    density = LogDensity(JointKernel(cohort, centring, scores=_scores()).compiled())
    at = np.random.default_rng(4).normal(size=density.size) * 0.5
    _, gradient = density.with_gradient(at)
    steps = 1e-5 * np.eye(density.size)
    slopes = [(density(at + step) - density(at - step)) / 2e-5 for step in steps]
    assert np.abs(gradient - slopes).max() < 1e-6
    assert np.abs(gradient).max() > 0.1


def test_cells_that_nobody_attempted_cost_nothing():
    cohort = _cohort(plain_layout())
    kernel = JointKernel(cohort, scores=_scores())
    assert kernel.domains.rows.size == len(cohort.trials) == 4 * 3 - 1
    assert "part" not in [part.latent.name for part in kernel.parts]


def test_cells_alike_but_for_their_outcomes_each_have_a_part():
    """Items without any property: a part makes rows of what would be one."""
    layout = ml.Layout("alike", ml.Success("solved", logistic(_ability() + _part(spread=1.5))))
    kernel = JointKernel(_cohort(layout), scores=_scores())
    cohort, point = kernel.cohort, np.random.default_rng(1).normal(size=len(kernel.start))
    values = joint_points.levels(kernel, point)
    odds = values["ability"][cohort.subject, None] + 1.5 * FINE
    each = binom.logpmf(cohort.successes[:, None], cohort.trials[:, None], expit(odds))
    logs = logsumexp(each + norm.logpdf(FINE) + np.log(FINE[1] - FINE[0]), axis=1)
    spread = np.exp(values["spread"])
    prior = norm.logpdf(values["ability"], values["mean"], spread).sum()
    prior += norm.logpdf(values["mean"]) + np.log(2) + norm.logpdf(spread) + values["spread"]
    assert LogDensity(kernel.compiled())(point) == pytest.approx(logs.sum() + prior, abs=1e-6)


@pytest.mark.parametrize(("trials", "spread"), [(10, 0.5), (10, 1.0), (10, 3.0), (2, 1.0)])
def test_the_scores_that_are_chosen_are_enough(trials, spread):
    """Of 10 trials and up to 3 log-odds, within 1e-4 nats a cell of 201 scores."""
    layout = ml.Layout("x", ml.Success("solved", logistic(_ability() + _part(spread=spread))))
    rng = np.random.default_rng(3)
    who, what = [f"s{at}" for at in range(60)], [f"i{at}" for at in range(20)]
    able = rng.normal(0, 1, 60)
    chance = expit(able[:, None] + spread * rng.normal(size=(60, 20)))
    counts = pd.DataFrame(rng.binomial(trials, chance), who, what)
    cohort = Cohort.of_evaluation(
        layout, ml.Evaluation(pd.DataFrame(index=what), counts, counts * 0 + trials)
    )
    pilot = {"mean": np.zeros((1, 5)), "spread": np.ones((1, 5))}
    pilot["ability"] = np.broadcast_to(able, (1, 5, 60))
    scores = find_scores(cohort, layout.nodes["part"], pilot)
    assert len(scores.at) <= 64
    odds, successes = able[cohort.subject, None], cohort.successes[:, None]

    def logs(at):
        each = binom.logpmf(successes, trials, expit(odds + spread * at))
        weights = norm.logpdf(at)
        return logsumexp(each + weights, axis=1) - logsumexp(weights)

    fine = logs(np.linspace(-9, 9, 201))
    error = np.abs(logs(scores.at) - fine).max()
    assert error < 1e-4
    fewer = np.linspace(-5, 5, len(scores.at) // 3)
    assert np.abs(logs(fewer) - fine).max() > 1e-4  # the twin


def test_too_many_scores_are_not_taken():
    """A thousand trials say so exactly what a part is that sampling it is the quicker way."""
    layout = ml.Layout("x", ml.Success("solved", logistic(_ability() + _part(spread=3.0))))
    counts = pd.DataFrame(np.full((3, 4), 500), list("abc"), list("wxyz"))
    evaluation = ml.Evaluation(pd.DataFrame(index=counts.columns), counts, counts * 2)
    cohort = Cohort.of_evaluation(layout, evaluation)
    pilot = {"mean": np.zeros((1, 2)), "spread": np.ones((1, 2)), "ability": np.zeros((1, 2, 3))}
    assert find_scores(cohort, layout.nodes["part"], pilot) is None


@pytest.mark.trust("oracles", "closed forms: draws of parts given what is shared")
def test_draws_have_the_distribution_given_all_else():
    cohort = _cohort(plain_layout())
    values = {"mean": 0.2, "spread": 0.8, "easeSpread": 1.0, "partSpread": 1.3}
    values |= {"ability": np.linspace(-1, 1, 4), "ease": np.array([0.5, 0, -0.5])}
    shared = {name: np.broadcast_to(one, (1, 4000, *np.shape(one))) for name, one in values.items()}
    latent = cell_part(cohort.layout)
    drawn = InnerCells(cohort, latent, _scores()).draw(shared, seed=1)[0]
    assert drawn.shape == (4000, 4, 3)
    for cell in (0, 4, 10):
        s, i = cohort.subject[cell], cohort.item[cell]
        odds = values["ability"][s] + values["ease"][i] + FINE
        density = binom.pmf(cohort.successes[cell], cohort.trials[cell], expit(odds))
        below = np.cumsum(density * norm.pdf(FINE, 0, 1.3))
        below /= below[-1]
        law = _law(below)
        assert kstest(drawn[:, s, i], law).pvalue > 1e-3
        assert kstest(drawn[:, s, i] + 0.15, law).pvalue < 1e-3  # the twin
    assert kstest(drawn[:, 0, 0], norm(0, 1.3).cdf).pvalue > 1e-3  # not attempted: its prior


def _law(below):
    return lambda x: np.interp(x, FINE, below)


def test_what_is_integrated_is_the_first_normal_part_that_nothing_rests_on():
    ability = _ability()

    def found(*parts):
        margin = ability
        for part in parts:
            margin = margin + part
        latent = cell_part(ml.Layout("x", ml.Success("solved", logistic(margin))))
        return None if latent is None else latent.name

    assert found(_part()) == "part"
    assert found(_part(), _part("other")) == "part"  # the second is sampled
    assert found() is None
    assert found(ml.Bias("part", per=("item", "subject"), prior=normal(0, 1))) == "part"
    laplace = ml.Prior("Laplace", mu=0, b=1)
    assert found(ml.Bias("part", per=CELL, prior=laplace)) is None
    assert found(ml.Bias("part", per=("subject", ml.Category("task")), prior=normal(0, 1))) is None
    below = ml.Bias("below", per=CELL, prior=ml.Prior("Laplace", mu=_part(), b=1))
    assert found(below) is None


def test_a_short_run_chooses_the_form(monkeypatch):
    cohort = _cohort(plain_layout())
    form = joint_nuts.joint_form(cohort)
    assert isinstance(form.inner, InnerCells)
    assert "part" not in [part.latent.name for part in form.kernel.parts]
    monkeypatch.setattr(joint_nuts, "find_scores", lambda *_: None)
    monkeypatch.setattr(joint_nuts, "_forms", type(joint_nuts._forms)(1))
    sampled = joint_nuts.joint_form(cohort)
    assert sampled.inner is None
    assert "part" in [part.latent.name for part in sampled.kernel.parts]
    assert len(first_scores(cell_part(cohort.layout)).at) % 2 == 1
