"""Joint fits: one stream for each chain, stores, executors, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from helpers import pretend
from helpers.populations import cohort_data, exam_layout, full_layout

import measurement_layouts as ml
from measurement_layouts.inference import loop

_SHORT = {"draws": 60, "tune": 120, "chains": 2, "seed": 3, "reruns": 0, "progressbar": False}


@pytest.fixture(scope="module")
def fitted():
    return ml.fit(exam_layout(), cohort_data(), **_SHORT)


def _same(one, other):
    first, second = one.data["posterior"], other.data["posterior"]
    return all(np.array_equal(first[name], second[name]) for name in first.data_vars)


def test_a_chain_is_the_same_however_many_there_are(fitted):
    more = ml.fit(exam_layout(), cohort_data(), **{**_SHORT, "chains": 3})
    assert _same(fitted, type(fitted).of(_first_chains(more, 2)))


def _first_chains(fit, count):
    data = fit.data.copy()
    data["posterior"] = data["posterior"].to_dataset().isel(chain=slice(count))
    return type(fit)(fit.layout, data, fit.failures, fit.attempts)


@pytest.mark.parametrize(("option", "value"), [("method", "grid")])
def test_what_a_joint_fit_cannot_do_is_refused(option, value):
    with pytest.raises(ml.FitError, match="fitted to all subjects together"):
        ml.fit(exam_layout(), cohort_data(), **{option: value}, **_SHORT)


def test_a_level_that_belongs_to_two_is_refused():
    evaluation = cohort_data()
    topic = ml.Category("topic", per=ml.Category("task"))
    items = evaluation.items.assign(topic=["x", "y", "x", "x", "z", "z", "z"])
    other = ml.Evaluation(
        items, evaluation.successes, evaluation.trials, subjects=evaluation.subject_table
    )
    of_topic = ml.Bias("ofTopic", per=topic)
    task = ml.Bias("ease", per=topic.per, prior=ml.Prior("Normal", mu=of_topic, sigma=1))
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=0, sigma=1))
    layout = ml.Layout("tasks", ml.Success("solved", ml.linking.logistic(ability + task)))
    with pytest.raises(ml.DataError, match="topic is declared as one per task"):
        ml.fit(layout, other, **_SHORT)


def test_an_operation_without_machine_code_is_compiled_by_nutpie():
    prior = ml.Prior("SkewNormal", mu=ml.Bias("mean", per="population"), sigma=1, alpha=0)
    ability = ml.Capability("ability", prior=prior)
    layout = ml.Layout("plain", ml.Success("solved", ml.linking.logistic(ability)))
    result = ml.fit(layout, cohort_data(), **_SHORT)
    assert result.data["posterior"]["ability"].shape == (2, 60, 12)


def test_a_chain_that_fails_is_named_and_others_are_kept(fitted, tmp_path, monkeypatch):
    sampled, real = [], loop.Jointly.sample

    def broken(model, name, data, unit, seed):
        sampled.append(unit.block)
        if unit.block == 1 and len(sampled) < 3:
            raise RuntimeError("no start")
        return real(model, name, data, unit, seed)

    monkeypatch.setattr(loop.Jointly, "sample", broken)
    options = {**_SHORT, "store": tmp_path / "store", "n_jobs": 1}
    with pytest.raises(ml.FitError, match=r"sampling failed; first reason: chain 2: .*no start"):
        ml.fit(exam_layout(), cohort_data(), **options)
    assert _same(fitted, ml.fit(exam_layout(), cohort_data(), **options))
    assert sampled == [0, 1, 1]


def test_chains_that_do_not_mix_are_sampled_again(tmp_path, monkeypatch):
    """Chains of the first attempt disagree; a store has both attempts, and is read back."""
    sampled = []

    def apart(model, name, data, unit, seed):
        sampled.append((unit.block, unit.attempt))
        draws = pretend.draw_chain(model, name, data, unit, seed)
        if unit.attempt == 1:
            draws.posterior["mean"] += 5 * unit.block
        return draws

    pretend.install_jointly(monkeypatch, apart)
    sampling = {**_SHORT, "draws": 400, "n_jobs": 1, "reruns": 1, "store": tmp_path / "store"}
    fit = ml.fit(exam_layout(), cohort_data(), **sampling)
    assert sampled == [(0, 1), (1, 1), (0, 2), (1, 2)]
    told = fit.diagnostics()
    assert set(told["attempts"]) == {2}
    assert set(told["status"]) == {"ok"}
    assert _same(fit, ml.fit(exam_layout(), cohort_data(), **sampling))
    assert len(sampled) == 4
    once = ml.fit(exam_layout(), cohort_data(), **{**sampling, "store": None, "reruns": 0})
    assert set(once.diagnostics()["status"]) == {"not converged"}


@pytest.mark.slow
def test_every_plate_comes_back_from_simulation():
    result = ml.fit(full_layout(), cohort_data(), **{**_SHORT, "draws": 200, "tune": 300})
    sizes = {name: values.shape for name, values in result.data["posterior"].data_vars.items()}
    assert sizes["pair"] == (2, 200, 12, 3)
    assert sizes["favour"] == (2, 200, 3, 3)
    favour = result.data["posterior"]["favour"]
    assert np.abs(favour.sum("school")).max() < 1e-12
    assert np.abs(favour.sum("task")).max() < 1e-12


def test_each_label_may_have_a_spread_of_its_own():
    """A prior per label, each with its own spread, is the model of one node for each label."""
    rng = np.random.default_rng(0)
    labels, logistic = ("a", "b"), ml.linking.logistic
    needs = rng.integers(0, 2, (30, 2)).astype(float)
    effects = rng.normal(size=(40, 2)) * [2, 0.5]
    outcomes = rng.logistic(size=(40, 30)) < effects @ needs.T

    def spread(label):
        return ml.Prior("Normal", mu=0, sigma=ml.Spread(f"spread_{label}"))

    table = ml.MetaFeature("needs", low=0, high=1, labels=labels)
    effect = ml.Bias("effect", labels=labels, prior={label: spread(label) for label in labels})
    labelled = ml.linking.total(effect * table, over="dimension")
    separate = sum(
        ml.Bias(f"effect_{label}", prior=spread(label)) * ml.MetaFeature(label, low=0, high=1)
        for label in labels
    )
    found = []
    for margin, columns in ((labelled, table.columns), (separate, labels)):
        layout = ml.Layout("exam", ml.Success("solved", logistic(margin)))
        items = pd.DataFrame(needs, columns=columns)
        evaluation = ml.Evaluation.from_wide(pd.DataFrame(outcomes.astype(int)), items)
        ml.check(layout, evaluation)
        fit = ml.fit(layout, evaluation, **{**_SHORT, "draws": 500, "tune": 500})
        found.append(fit.population().set_index("node")["mean"])
    assert found[0].to_numpy() == pytest.approx(found[1].to_numpy(), abs=0.15)
    assert found[0]["spread_a"] > 2 * found[0]["spread_b"]
