"""NumPyro samples joint layouts: the same posterior, with every verb of a fit."""

import importlib.util

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.linking import logistic

pytest.importorskip("numpyro")
OPTIONS = {"draws": 300, "tune": 300, "chains": 2, "seed": 1, "reruns": 0, "progressbar": False}


def layout():
    """Abilities and eases by label, and an interest of each subject in each topic."""
    skills, topic = ("read", "count"), ml.Category("topic")
    about = ml.Prior("Normal", mu=ml.Effect("mean"), sigma=1)
    ability = ml.Capability("ability", labels=skills, dim="skill", prior=about)
    demand = ml.MetaFeature("demand", low=0, high=1, labels=skills, dim="skill")
    spread = ml.Spread("spread", prior=ml.Prior("HalfNormal", sigma=1))
    interest = ml.Effect(
        "interest", per=("subject", topic), prior=ml.Prior("Normal", mu=0, sigma=spread)
    )
    ease = ml.Effect("ease", per="item", prior=ml.Prior("ZeroSumNormal", sigma=1))
    able = ml.linking.total(ability * demand, over="skill")
    return ml.Layout("topics", ml.Success("solved", logistic(able + interest + ease)))


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(1)
    items = pd.DataFrame({"demand[read]": [1.0, 0.0] * 6, "demand[count]": [0.0, 1.0] * 6})
    items["topic"] = ["birds"] * 5 + ["ants"] * 7
    items.index = [f"item {number}" for number in range(12)]
    chance = 1 / (1 + np.exp(-np.linspace(-2, 2, 10)[:, None] - np.linspace(1, -1, 12)))
    won = pd.DataFrame((rng.random((10, 12)) < chance).astype(float), columns=items.index)
    won.iloc[2:4, 3:9] = np.nan
    return ml.Evaluation.from_wide(won.rename("subject {}".format), items)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("numpyro") / "fit"


@pytest.fixture(scope="module")
def fit(evaluation, store):
    return ml.fit(layout(), evaluation, sampler="numpyro", store=store, **OPTIONS)


def test_the_posterior_is_that_of_the_other_sampler(fit, evaluation):
    ours = ml.fit(layout(), evaluation, **OPTIONS | {"draws": 2000})
    for name, (one, other) in {
        name: (fit.posterior[name], ours.posterior[name]) for name in ours.posterior
    }.items():
        assert one.dims == other.dims
        both = [
            (draws.mean(("chain", "draw")), draws.std(("chain", "draw"))) for draws in (one, other)
        ]
        (mean, sd), (other_mean, other_sd) = both
        # at least 60 effective draws: an error of a mean is at most .13 sd, and 4.5 of them .58 sd
        assert float(abs((mean - other_mean) / other_sd).max()) < 0.58, name
        assert float(abs(np.log(sd / other_sd)).max()) < 0.5, name
    density = [float(one.data["sample_stats"]["lp"].mean()) for one in (fit, ours)]
    assert density[0] < 0
    assert set(fit.data["sample_stats"]) == set(ours.data["sample_stats"])


def test_every_verb_works(fit, evaluation, tmp_path):
    assert len(fit.profiles()) == 10 * (2 + 2)
    assert fit.diagnostics()["attempts"].tolist() == [1]
    assert fit.forecast(evaluation.items).to_frame()["mean"].between(0, 1).all()
    ml.validation.criticise(fit, evaluation, progressbar=False)
    fit.save(tmp_path / "fit.nc")
    again = ml.load(tmp_path / "fit.nc")
    assert again.posterior.equals(fit.posterior)
    assert again.diagnostics().equals(fit.diagnostics())


def test_a_chain_that_is_missing_from_the_store_is_drawn_again(fit, evaluation, store):
    (store / "unit-0-1-1.npz").unlink()
    again = ml.fit(layout(), evaluation, sampler="numpyro", store=store, **OPTIONS)
    assert again.posterior.equals(fit.posterior)
    with pytest.raises(ml.FitError, match="another fit"):
        ml.fit(layout(), evaluation, store=store, **OPTIONS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampler": "blackjax"}, "sampler='blackjax'; give"),
        ({"n_jobs": 2, "method": "nuts"}, "takes no method,"),
    ],
)
def test_options_that_do_not_apply(evaluation, options, message):
    with pytest.raises(ml.FitError, match=message):
        ml.fit(layout(), evaluation, **{"sampler": "numpyro"} | options)


def test_without_numpyro_the_extra_is_named(evaluation, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "numpyro" else find(name)
    )
    with pytest.raises(
        ml.FitError, match=r"needs numpyro.*pip install 'measurement-layouts\[gpu\]'"
    ):
        ml.fit(layout(), evaluation, sampler="numpyro", progressbar=False)
