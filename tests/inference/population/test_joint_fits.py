"""Joint fits: one stream for each chain, stores, executors, and what is refused."""

import os
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from helpers import pretend_jointly
from helpers.populations import cohort_data, exam_layout, full_layout

import measurement_layouts as ml
from measurement_layouts.inference.files.chains import ChainStore
from measurement_layouts.inference.population import fitting
from measurement_layouts.inference.sampling import joint_nuts

_SHORT = {"draws": 60, "tune": 120, "chains": 2, "seed": 3, "reruns": 0, "progressbar": False}


@pytest.fixture(scope="module")
def fitted():
    return ml.fit(exam_layout(), cohort_data(), **_SHORT)


def _same(one, other):
    first, second = one.data["posterior"], other.data["posterior"]
    return all(np.array_equal(first[name], second[name]) for name in first.data_vars)


@pytest.mark.slow
@pytest.mark.trust("promises", "a joint fit's draws depend on the seed alone")
def test_the_seed_makes_a_joint_fit_reproducible(fitted):
    assert _same(fitted, ml.fit(exam_layout(), cohort_data(), n_jobs=1, **_SHORT))
    assert not _same(fitted, ml.fit(exam_layout(), cohort_data(), **{**_SHORT, "seed": 4}))


def test_a_chain_is_the_same_however_many_there_are(fitted):
    more = ml.fit(exam_layout(), cohort_data(), **{**_SHORT, "chains": 3})
    assert _same(fitted, type(fitted).of(_first_chains(more, 2)))


def _first_chains(fit, count):
    data = fit.data.copy()
    data["posterior"] = data["posterior"].to_dataset().isel(chain=slice(count))
    return type(fit)(fit.layout, data, fit.failures, fit.attempts)


@pytest.mark.trust("promises", "a store of chains goes on where it stopped")
def test_a_store_goes_on_where_it_stopped(fitted, tmp_path, monkeypatch):
    class Interrupted(BaseException):
        pass

    def stop(self, number, attempt, draws):
        add(self, number, attempt, draws)
        raise Interrupted

    add = ChainStore.add
    monkeypatch.setattr(ChainStore, "add", stop)
    with pytest.raises(Interrupted):
        ml.fit(exam_layout(), cohort_data(), store=tmp_path / "store", n_jobs=1, **_SHORT)
    monkeypatch.setattr(ChainStore, "add", add)
    sampled = []
    once = fitting.sample_chain
    monkeypatch.setattr(fitting, "sample_chain", lambda *a, **k: sampled.append(a) or once(*a, **k))
    again = ml.fit(exam_layout(), cohort_data(), store=tmp_path / "store", n_jobs=1, **_SHORT)
    assert len(sampled) == 1  # the other chain was there
    assert _same(fitted, again)


def test_a_store_of_another_fit_is_refused(tmp_path):
    ml.fit(exam_layout(), cohort_data(), store=tmp_path / "store", **_SHORT)
    with pytest.raises(ml.FitError, match=r"contains another fit .*data"):
        ml.fit(exam_layout(), cohort_data(seed=2), store=tmp_path / "store", **_SHORT)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "note.txt").write_text("mine")
    with pytest.raises(ml.FitError, match="is not a store of a joint fit"):
        ml.fit(exam_layout(), cohort_data(), store=tmp_path / "other", **_SHORT)


def test_a_damaged_chain_is_named(tmp_path):
    ml.fit(exam_layout(), cohort_data(), store=tmp_path / "store", **_SHORT)
    (tmp_path / "store" / "chain-1-1.npz").write_bytes(b"nothing")
    with pytest.raises(ml.FitError, match=r"chain-1-1\.npz cannot be read"):
        ml.fit(exam_layout(), cohort_data(), store=tmp_path / "store", **_SHORT)


def test_a_saved_joint_fit_is_read_back(fitted, tmp_path):
    assert _same(fitted, ml.load(fitted.save(tmp_path / "fit.nc")))


def test_cells_that_nobody_attempted_cost_nothing(fitted):
    evaluation = cohort_data()
    items = evaluation.items.copy()
    items.loc["extra"] = items.iloc[0]
    more = [table.assign(extra=0) for table in (evaluation.successes, evaluation.trials)]
    wider = ml.Evaluation(items, *more, subjects=evaluation.subject_table)
    assert _same(fitted, ml.fit(exam_layout(), wider, **_SHORT))


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
    prior = ml.Prior("Laplace", mu=ml.Bias("mean", per="population"), b=1)
    ability = ml.Capability("ability", prior=prior)
    layout = ml.Layout("plain", ml.Success("solved", ml.linking.logistic(ability)))
    result = ml.fit(layout, cohort_data(), **_SHORT)
    assert result.data["posterior"]["ability"].shape == (12, 2, 60)


def test_a_chain_that_fails_is_named_and_others_are_kept(tmp_path, monkeypatch):
    def broken(cohort, number, *rest):
        if number == 1:
            raise RuntimeError("no start")
        return whole(cohort, number, *rest)

    whole = joint_nuts._chain
    monkeypatch.setattr(joint_nuts, "_chain", broken)
    with pytest.raises(ml.FitError, match=r"1 of 2 chains failed \(chain 2: .*no start"):
        ml.fit(exam_layout(), cohort_data(), store=tmp_path / "store", n_jobs=1, **_SHORT)
    assert [file.name for file in (tmp_path / "store").glob("*.npz")] == ["chain-0-1.npz"]


def test_chains_that_do_not_mix_are_sampled_again(tmp_path, monkeypatch):
    """Chains of the first attempt disagree; a store keeps both attempts, and is read back."""
    sampled = []

    def apart(cohort, chain, number, options, seed, attempt=1):
        sampled.append((number, attempt))
        drawn = pretend_jointly.draw(cohort, chain, number, options, seed, attempt)
        if attempt == 1:
            drawn.draws.posterior["mean"] += 5 * number
        return drawn

    pretend_jointly.install(monkeypatch, apart)
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


_KILLED = """
import measurement_layouts as ml
from helpers import pretend_jointly
from helpers.populations import cohort_data, exam_layout
ml.fit(exam_layout(), cohort_data(), draws=60, tune=120, chains=2, seed=3, progressbar=False,
       n_jobs=1, store={store!r})
"""


@pytest.mark.slow
@pytest.mark.trust("faults", "a joint fit that was killed goes on")
def test_a_fit_that_was_killed_goes_on(fitted, tmp_path):
    store = tmp_path / "store"
    code = _KILLED.format(store=str(store))
    tests = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": tests}
    ) as process:
        deadline = time.monotonic() + 120
        while not list(store.glob("chain-*.npz")) and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        process.kill()
    assert (store / "joint-fit.json").is_file()
    assert _same(fitted, ml.fit(exam_layout(), cohort_data(), store=store, **_SHORT))


@pytest.mark.slow
def test_processes_draw_the_same(fitted):
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert _same(fitted, ml.fit(exam_layout(), cohort_data(), **_SHORT))


@pytest.mark.slow
def test_a_cluster_of_processes_draws_the_same(fitted):
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        assert _same(fitted, ml.fit(exam_layout(), cohort_data(), **_SHORT))


@pytest.mark.slow
def test_every_plate_comes_back_from_simulation():
    result = ml.fit(full_layout(), cohort_data(), **{**_SHORT, "draws": 200, "tune": 300})
    sizes = {name: values.shape for name, values in result.data["posterior"].data_vars.items()}
    assert sizes["pair"] == (12, 2, 200, 3)
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
