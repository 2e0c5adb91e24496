"""Modes known by symmetry are found, chains start beside each, and nothing depends on threads."""

import arviz_stats
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.sampling import modes as finding
from measurement_layouts.inference.sampling.draws import SamplingOptions
from measurement_layouts.inference.sampling.engine import Battery, compile_sampler
from measurement_layouts.inference.sampling.modes import find_modes, sample_modes, starting_beside
from measurement_layouts.inference.sampling.nuts import sample
from measurement_layouts.linking import band, logistic, product

OPTIONS = SamplingOptions(draws=500, tune=500, chains=4)
QUIET = {"draws": 500, "tune": 500, "reruns": 0, "seed": 1, "progressbar": False}
WIDE = 5.9  # a band that everybody lies in


def propensity(name):
    """Declare a propensity between -6 and 6, and its band."""
    ends = [ml.MetaFeature(f"{name}_{end}", low=-6, high=6) for end in ("low", "high")]
    return band(ml.Propensity(name, low=-6, high=6), *ends)


def evaluated(items, trials, **subjects):
    """Make an evaluation of counts on items."""
    items = pd.DataFrame(items, index=[f"item-{place}" for place in range(len(items))])
    counts = pd.DataFrame.from_dict(subjects, orient="index", columns=items.index)
    return ml.Evaluation(items, counts, counts * 0 + trials)


def mood(half_width=2.0, trials=20):
    """One band and half of the trials passed: modes at either end of the band.

    The mirror image of a profile about the band's centre has the same density.
    """
    place = ml.Propensity("mood", low=-6, high=6)
    layout = ml.Layout("mood", ml.Success("calm", band(place, -half_width, half_width)))
    return layout, evaluated([{}], trials, Ann=[trials // 2])


def lopsided(passed, trials):
    """The same band, and another on its upper half."""
    layout = ml.Layout("mood", ml.Success("calm", propensity("mood")))
    rows = [{"mood_low": -2.0, "mood_high": 2.0}, {"mood_low": 0.0, "mood_high": 5.0}]
    return layout, evaluated(rows, trials, Ann=passed)


def two_moods(capabilities=0):
    """Measure two propensities, each by items of its own, and some capabilities beside."""
    factors = [propensity(name) for name in ("left", "right")]
    row = {f"{name}_{end}": sign * WIDE for name in ("left", "right")
           for end, sign in (("low", -1), ("high", 1))}  # fmt: skip
    for place in range(capabilities):
        demand = ml.MetaFeature(f"demand{place}", low=-9, high=6)
        factors.append(logistic(ml.Capability(f"skill{place}", low=0, high=6) - demand))
        row[f"demand{place}"] = -9.0
    rows = [row | {f"{name}_low": -2.0, f"{name}_high": 2.0} for name in ("left", "right")]
    rows += [row | {f"demand{place}": 3.0} for place in range(capabilities)]
    layout = ml.Layout("moods", ml.Success("calm", product(*factors)))
    return layout, evaluated(rows, 20, Ann=[10] * len(rows))


def found(layout, evaluation, most=8, seed=1):
    data = SubjectData.of(evaluation, "Ann")
    return find_modes(Battery.of(layout, evaluation), data, most, seed)


def profile(mode):
    """Modes of propensities in their own unit."""
    return 12 * expit(mode.at) - 6


def close(draws, exact, sigmas=5):
    """Whether a mean is right, in Monte Carlo errors."""
    return abs(draws.mean() - exact) < sigmas * draws.std() / np.sqrt(arviz_stats.ess(draws))


# --- modes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("few", [0, 2])
def test_mirror_images_are_both_found(monkeypatch, few):
    """On the lattice, and by climbing from the prior."""
    monkeypatch.setattr(finding, "_FEW", few)
    modes = found(*mood())
    places = np.sort([profile(mode)[0] for mode in modes])
    assert len(modes) == 2
    assert places[1] == pytest.approx(-places[0], abs=0.01)
    assert abs(places).min() > 1.5
    assert modes[0].height == pytest.approx(modes[1].height, abs=1e-3)
    assert modes[0].mass == pytest.approx(modes[1].mass, abs=0.05)  # widths to 2 %


@pytest.mark.parametrize("few", [0, 2])
def test_two_propensities_have_four_modes(monkeypatch, few):
    monkeypatch.setattr(finding, "_FEW", few)
    modes = found(*two_moods())
    places = np.array([profile(mode) for mode in modes])
    assert sorted(map(tuple, np.sign(places))) == [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    assert np.ptp(abs(places)) < 0.02
    assert [len(found(*two_moods(), most=most)) for most in (1, 3)] == [1, 3]


def test_four_elements_have_the_modes_of_two():
    """The capabilities have one place each, whatever the moods."""
    layout, evaluation = two_moods(capabilities=2)
    modes = found(layout, evaluation)
    names = [latent.name for latent in layout.latents]
    places = np.array([mode.at for mode in modes])
    moods = places[:, [names.index(name) for name in ("left", "right")]]
    skills = places[:, [names.index(name) for name in ("skill0", "skill1")]]
    assert sorted(map(tuple, np.sign(moods))) == [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    assert np.ptp(skills) < 0.02


def test_a_mode_of_next_to_no_mass_is_left_out(monkeypatch):
    asked = lopsided([10, 6], [20, 6])
    assert len(found(*asked)) == 1
    monkeypatch.setattr(finding, "_LIGHTEST", -np.inf)
    heavy, lighter = found(*asked)
    assert lighter.mass - heavy.mass < np.log(1e-4)


def test_masses_are_those_of_the_grid():
    """One trial speaks for the upper end."""
    layout, evaluation = lopsided([10, 1], [20, 1])
    grid = ml.fit(layout, evaluation, method="grid", **QUIET | {"draws": 5000})
    share = float((grid.posterior["mood"] > 0).mean())
    mass = {np.sign(mode.at[0]): np.exp(mode.mass) for mode in found(layout, evaluation)}
    assert 0.7 < share < 0.99
    assert mass[1] / sum(mass.values()) == pytest.approx(share, abs=0.03)  # normal to a few percent


def test_one_mode_is_one():
    skill, demand = ml.Capability("skill", low=0, high=6), ml.MetaFeature("demand", low=0, high=6)
    layout = ml.Layout("skill", ml.Success("done", logistic(skill - demand)))
    rows = [{"demand": place} for place in (1.0, 3.0, 5.0)]
    evaluation = evaluated(rows, 20, Ann=[18, 12, 4])
    assert len(found(layout, evaluation)) == 1
    grid = ml.fit(layout, evaluation, method="grid", **QUIET)
    sampled = ml.fit(layout, evaluation, starts="modes", **QUIET)
    assert sampled.diagnostics().loc["Ann", "status"] == "ok"
    draws = sampled.posterior["skill"].to_numpy()[0]
    exact = float(grid.posterior["skill"].mean())
    assert close(draws, exact)
    assert not close(draws + 0.1, exact)


# --- chains --------------------------------------------------------------------------------------


def test_chains_stay_where_they_start_and_are_flagged():
    """Each mode's draws are those of the grid on its side."""
    layout, evaluation = mood()
    fit = ml.fit(layout, evaluation, starts="modes", **QUIET | {"seed": 2})
    draws = fit.posterior["mood"].to_numpy()[0]
    sides = np.sign(draws)
    assert (sides == sides[:, :1]).all()
    assert sides[0, 0] == sides[2, 0] == -sides[1, 0] == -sides[3, 0]
    grid = ml.fit(layout, evaluation, method="grid", **QUIET).posterior["mood"].to_numpy()
    for side in (-1, 1):
        exact = grid[np.sign(grid) == side].mean()
        assert close(draws[sides[:, 0] == side], exact)
        assert not close(draws[sides[:, 0] == side] + 0.1, exact)
    row = fit.diagnostics().loc["Ann"]
    assert row["status"] == "not converged"
    assert "the chains stay in separate modes of mood" in row["reason"]


def test_hardly_a_chain_leaves_its_mode_while_it_tunes():
    """About one in fifty does, by a long step; both modes are visited all the same."""
    layout, evaluation = mood()
    battery, data = Battery.of(layout, evaluation), SubjectData.of(evaluation, "Ann")
    short = SamplingOptions(draws=4, tune=200, chains=4)
    drawn = [sample_modes(battery, data, short, seed).posterior["mood"] for seed in range(20)]
    sides = np.sign([draws[:, -1] for draws in drawn])
    assert (abs(sides.sum(axis=1)) < 4).all()
    assert (np.sort(sides, axis=1) == [-1, -1, 1, 1]).all(axis=1).mean() > 0.7  # 0.92 expected


def test_chains_in_one_mode_miss_the_other():
    """The twin of the test above: nothing is flagged, and half of the posterior is missing."""
    layout, evaluation = mood()
    sampler = compile_sampler(Battery.of(layout, evaluation))
    data = SubjectData.of(evaluation, "Ann")
    first = starting_beside(sampler.on(data), found(layout, evaluation)[0])
    draws = sample(sampler, data, OPTIONS, seed=2, starts=[first]).posterior["mood"]
    assert len(np.unique(np.sign(draws))) == 1  # of most seeds
    assert float(arviz_stats.rhat(draws)) < 1.01


def test_near_modes_mix():
    layout, evaluation = mood(half_width=2.0, trials=2)
    assert len(found(layout, evaluation)) == 2
    fit = ml.fit(layout, evaluation, starts="modes", **QUIET | {"draws": 2000})
    assert "chains stay" not in fit.diagnostics().loc["Ann", "reason"]
    assert close(fit.posterior["mood"].to_numpy()[0], 0.0)


def test_draws_depend_on_the_seed_alone():
    layout, evaluation = two_moods()
    battery, data = Battery.of(layout, evaluation), SubjectData.of(evaluation, "Ann")
    short = SamplingOptions(draws=50, tune=50, chains=5)
    one, four = (sample_modes(battery, data, short, seed=3, cores=cores) for cores in (1, 4))
    other = sample_modes(battery, data, short, seed=4)
    for name, values in one.posterior.items():
        assert np.array_equal(values, four.posterior[name])
        assert not np.array_equal(values, other.posterior[name])
        assert len(np.unique(values[:, -1])) == 5  # no two chains have a random stream in common


@pytest.mark.slow
def test_fits_depend_on_the_seed_alone(tmp_path):
    layout, evaluation = two_moods(capabilities=2)
    rows = dict.fromkeys(("Ann", "Bob", "Cyd", "Dot"), evaluation.successes.loc["Ann"])
    successes = pd.DataFrame.from_dict(rows, orient="index")
    everybody = ml.Evaluation(evaluation.items, successes, successes * 0 + 20)
    short = QUIET | {"draws": 50, "tune": 100, "reruns": 1, "starts": "modes"}
    fits = [ml.fit(layout, everybody, n_jobs=jobs, **short) for jobs in (1, 4)]
    stored = ml.fit(layout, everybody, store=tmp_path / "store", **short)
    for name, values in fits[0].posterior.items():
        assert np.array_equal(values, fits[1].posterior[name])
        assert np.array_equal(values, stored.posterior[name])


@ml.linking.linking_function(range=(0, 1))
def arching(x):
    """Has no machine code: nutpie compiles it from PyTensor's sine."""
    return 0.5 + 0.5 * np.sin(x) if isinstance(x, np.ndarray) else 0.5 + 0.5 * x.sin()


@pytest.mark.slow
def test_a_layout_without_machine_code_has_modes_too():
    """A sine over three periods, at whose tops everything is passed."""
    angle = ml.Propensity("angle", low=-3 * np.pi, high=3 * np.pi)
    layout = ml.Layout("wave", ml.Success("up", arching(angle)))
    evaluation = evaluated([{}], 40, Ann=[40])
    places = [6 * np.pi * expit(mode.at[0]) - 3 * np.pi for mode in found(layout, evaluation)]
    assert np.sort(places) == pytest.approx(np.array([-1.5, 0.5, 2.5]) * np.pi, abs=0.1)
    fit = ml.fit(layout, evaluation, starts="modes", **QUIET | {"chains": 3})
    middles = fit.posterior["angle"].mean(["subject", "draw"]).to_numpy()
    assert np.sort(middles) == pytest.approx(np.array([-1.5, 0.5, 2.5]) * np.pi, abs=0.2)
