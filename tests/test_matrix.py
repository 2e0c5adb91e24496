"""The matrix: every kind of layout and of data with every call.

Each crossing works, or is refused by a rule of ``docs/reference/what-works-together.md``. The test
walks rows in which any two levels occur together; ``MATRIX=all`` walks all rows.
"""

import functools
import os
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.crossings import DRAWS, FACTORS, SAMPLING, SUBJECTS, covering, every_row

import measurement_layouts as ml

PAGE = Path(__file__).parents[1] / "docs/reference/what-works-together.md"
MOST_RULES = 10
EVERY_ROW = os.environ.get("MATRIX") == "all"


@functools.lru_cache(maxsize=4)
def fitted(row):
    return ml.fit(row.layout, row.evaluation, **SAMPLING)


def declare(row, _):
    assert len(row.evaluation.subjects) == len(row.fitted)
    assert row.layout.joint == row.layout_is_joint
    assert ml.Layout.from_dict(row.layout.to_dict()).fingerprint == row.layout.fingerprint


def check(row, _):
    result = ml.check(row.layout, row.evaluation)
    assert "skill" in set(result.latents["node"])
    assert list(result.subjects.index) == row.fitted
    assert str(result)


def fit(row, _):
    posterior = fitted(row).data["posterior"].to_dataset()
    assert list(posterior["subject"].to_numpy()) == row.fitted
    assert posterior["skill"].size == len(row.fitted) * 2 * DRAWS * len(row.elements)
    assert all(np.isfinite(values).all() for values in posterior.values())


def profiles(row, _):
    table = fitted(row).profiles()
    expected = [(who, element) for who in row.fitted for element in row.elements]
    assert list(zip(table["subject"], element_names(table), strict=True)) == expected
    numbers = table[["mean", "sd", "low", "high", "ess_bulk", "rhat", "shrinkage"]]
    assert np.isfinite(numbers.to_numpy()).all()
    assert (table["low"] < table["mean"]).all()
    assert (table["mean"] < table["high"]).all()
    draws = fitted(row).data["posterior"]["skill"].transpose("subject", ...).to_numpy()
    means = draws.reshape(len(row.fitted), 2 * DRAWS, -1).mean(axis=1)
    np.testing.assert_allclose(table["mean"], means.ravel())


def element_names(table):
    labels = table["label"].map(lambda label: f"[{label}]" if label else "")
    return table["node"] + labels


def diagnostics(row, _):
    table = fitted(row).diagnostics()
    assert list(table.index) == (["all subjects"] if row.layout_is_joint else row.fitted)
    if row.layout_is_joint:
        assert table["subjects"].item() == ", ".join(row.fitted)
    assert table["status"].isin(["ok", "few draws", "few divergences", "not converged"]).all()
    assert np.isfinite(table[["success", "divergences", "rhat", "ess"]].to_numpy()).all()
    assert table["success"].between(0, 1).all()


def items(row, _):
    table = fitted(row).items()
    has_slopes = row.latent == "slope per item" and row.subjects == "joint"
    assert list(table["item"] if has_slopes else []) == (items_of(row) if has_slopes else [])
    assert np.isfinite(table[["mean", "sd", "low", "high"]].to_numpy(float)).all()


def population(row, _):
    table = fitted(row).population()
    shared = ["mean", "spread"] if row.subjects == "joint" else []
    assert list(table["node"]) == shared
    assert np.isfinite(table[["mean", "sd", "low", "high"]].to_numpy(float)).all()


def forecast_known(row, _):
    forecast = fitted(row).forecast(row.items)
    assert_probabilities(forecast, row.fitted, row.items)


def forecast_new_item(row, _):
    assert_probabilities(fitted(row).forecast(row.new_items), row.fitted, row.new_items)


def forecast_new_subject(row, _):
    eve = pd.DataFrame(index=["Eve"])
    assert_probabilities(fitted(row).forecast(row.items, subjects=eve), ["Eve"], row.items)


def forecast_both_new(row, _):
    eve = pd.DataFrame(index=["Eve"])
    forecast = fitted(row).forecast(row.new_items, subjects=eve)
    assert_probabilities(forecast, ["Eve"], row.new_items)


def assert_probabilities(forecast, subjects, items):
    table = forecast.to_frame()
    cells = table[["subject", "item"]].drop_duplicates()
    expected = [(who, item) for who in subjects for item in items.index]
    assert list(cells.itertuples(index=False, name=None)) == expected
    assert table[["low", "mean", "high"]].stack().between(0, 1).all()
    assert (table["low"] <= table["high"]).all()  # of few skewed draws, the mean may be above both


def explain(row, _):
    who, item = row.fitted[0], row.items.index[-2]
    result = fitted(row).explain(item, who)
    table = fitted(row).forecast(row.items).to_frame().set_index(["subject", "item"])
    assert result.success.mean == pytest.approx(table.loc[(who, item), "mean"])
    assert result.success.low <= result.success.mean <= result.success.high
    assert item not in result.nearest.index
    assert (result.nearest["trials"] > 0).all()
    for category in {"category": ["kind"], "two categories": ["kind", "size"]}.get(row.latent, []):
        same = row.items.loc[list(result.nearest.index), category]
        assert (same == row.items.loc[item, category]).all()
    assert "success" in str(result)


def derive(row, _):
    (outcome, *_) = row.layout.outcomes
    values = fitted(row).derive(outcome.name, row.items)
    assert values.sizes["subject"] == len(row.fitted)
    assert np.isfinite(values.to_numpy()).all()
    skill = fitted(row).derive(2 * row.layout.nodes["skill"])
    ours = fitted(row).data["posterior"]["skill"]
    np.testing.assert_array_equal(skill, 2 * ours.transpose(*skill.dims))


def functions(row, _):
    forecast = fitted(row).forecast(row.items)
    means = forecast.data["mean"].to_numpy()
    expected = np.stack([means[:, :4].mean(axis=1), means[:, 4:].mean(axis=1)], axis=1)
    np.testing.assert_allclose(forecast.summary(by="kind")["mean"], expected.ravel())


def leave_out(unit):
    def leave_one_out(row, _):
        elpd = ml.validation.loo(fitted(row), unit=unit).elpd_i
        assert np.isfinite(elpd).all()
        assert (elpd <= 0).all()
        names = elpd["item" if unit == "item" else "subject"].to_numpy()
        assert list(dict.fromkeys(names)) == (items_of(row) if unit == "item" else row.fitted)

    return leave_one_out


def items_of(row):
    """Names of the items with outcomes."""
    return list(row.items.index[: 7 if row.cells == "empty subject and item" else 8])


def compare_layouts(row, _):
    fits, elpd = {"one": fitted(row), "two": fitted(row)}, ml.validation.loo(fitted(row))
    if (elpd.pareto_k > elpd.good_k).mean() > 0.9:  # so few draws explain no cell
        with pytest.raises(ml.FitError, match="Pareto k is above"):
            ml.validation.compare_layouts(fits)
        return
    compared = ml.validation.compare_layouts(fits)
    np.testing.assert_allclose(compared["elpd_diff"], 0, atol=1e-9)


def criticise(row, _):
    result = ml.validation.criticise(fitted(row), row.evaluation)
    table = result.subjects
    assert list(table["subject"]) == row.fitted
    assert table["p"].dropna().between(0, 1).all()
    assert str(result)


def compare(row, _):
    by_success = ml.compare(fitted(row))
    readings = {"these items", "outcomes"} | ({"more items"} if len(row.items) >= 5 else set())
    assert set(by_success.readings) == readings
    assert by_success.table["difference"].between(-1, 1).all()
    profiles = fitted(row).profiles().assign(element=element_names).set_index("subject")
    for element in row.elements:
        comparison = ml.compare(fitted(row), by=element)
        table = comparison.table
        assert len(table) == len(row.fitted) * (len(row.fitted) - 1) // 2
        assert table["ahead"].between(0, 1).all()
        means = profiles.loc[profiles["element"] == element, "mean"]
        gaps = means[table["subject"]].to_numpy() - means[table["reference"]].to_numpy()
        np.testing.assert_allclose(table["difference"], gaps, atol=1e-9)
        assert set(comparison.tied) <= set(row.fitted)
    assert sorted(comparison.ranking["subject"]) == sorted(row.fitted)


def describe(row, _):
    result = ml.describe(fitted(row))
    assert list(result.texts.index) == row.fitted
    assert result.texts.str.len().min() > 0
    assert all(name in " ".join(result.findings["text"]) for name in row.elements)


def report(ending):
    def page(row, folder):
        path = ml.report(fitted(row), folder / f"page.{ending}", evaluation=row.evaluation)
        text = re.sub(r"<[^>]+>", " ", path.read_text()).replace("\\", "")
        assert "nan" not in re.findall(r"[a-z]+", text)
        for name in [*row.fitted, *row.elements]:
            assert name in text

    return page


def export(row, folder):
    paths = ml.reports.export_tables(fitted(row), folder / "tables", evaluation=row.evaluation)
    tables = {path.stem: pd.read_csv(path, keep_default_na=False) for path in paths}
    table = tables["profiles"]
    assert len(table) == len(row.fitted) * len(row.elements)
    assert list(dict.fromkeys(element_names(table))) == row.elements


def forest(row, _):
    axes = np.ravel(ml.plots.profile_forest(fitted(row)))
    assert [ax.get_xlabel() for ax in axes if ax.get_xlabel()] == row.elements
    plt.close("all")


def heatmap(row, _):
    ax = np.ravel(ml.plots.profile_heatmap(fitted(row)))[0]
    texts = {label.get_text() for label in [*ax.get_xticklabels(), *ax.get_yticklabels()]}
    assert set(row.elements) <= texts
    plt.close("all")


def densities(row, _):
    axes = np.ravel(ml.plots.prior_posterior(fitted(row), subject=row.fitted[0]))
    assert len([ax for ax in axes if ax.lines]) == len(row.elements)
    plt.close("all")


def diagram(row, folder):
    path = ml.reports.inferred_diagram(fitted(row), row.fitted[0]).draw(folder / "layout.svg")
    assert "skill" in path.read_text()


def simulate(row, _):
    people = pd.DataFrame(index=SUBJECTS)
    if row.layout.joint:
        truth = ml.validation.draw_truth(row.layout, row.items, people, seed=1)
    else:
        truth = pd.DataFrame(2.0, SUBJECTS, row.elements)
    made = ml.simulate(row.layout, row.items, truth, seed=1)
    assert made.subjects == SUBJECTS
    assert (made.successes.to_numpy() <= made.trials.to_numpy()).all()
    again = ml.simulate(row.layout, row.items, truth, seed=1)
    pd.testing.assert_frame_equal(made.successes, again.successes)


def sbc(row, _):
    people = pd.DataFrame(index=SUBJECTS) if row.layout.joint else None
    options = {"simulations": 20, "draws": 10, "tune": 20, "reruns": 0, "progressbar": False}
    result = ml.validation.sbc(row.layout, row.items, subjects=people, **options)
    assert result.simulations == 20
    assert any(str(name).startswith("skill") for name in result.quantities)


def save_and_load(row, folder):
    loaded = ml.load(fitted(row).save(folder / "fit.nc"), layout=row.layout)
    pd.testing.assert_frame_equal(loaded.profiles(), fitted(row).profiles())
    pd.testing.assert_frame_equal(
        loaded.forecast(row.new_items).to_frame(), fitted(row).forecast(row.new_items).to_frame()
    )


def store_and_resume(row, folder):
    stored = ml.fit(row.layout, row.evaluation, store=folder / "store", **SAMPLING)
    again = ml.fit(row.layout, row.evaluation, store=folder / "store", **SAMPLING)
    for one in (stored, again, ml.load(folder / "store", layout=row.layout)):
        pd.testing.assert_frame_equal(one.profiles(), fitted(row).profiles())


def newcomer(row, _):
    result = fitted(row).newcomer(row.stranger)
    assert result.subjects == ["Eve"]
    assert list(element_names(result.profiles())) == row.elements
    assert_probabilities(result.forecast(row.items), ["Eve"], row.items)


def adaptive_test(row, _):
    given = fitted(row) if row.layout.joint else None
    test = ml.AdaptiveTest(row.layout, row.items, given=given, subject="Eve", seed=1)
    (item,) = test.next()
    outcome = {"solved": 1, "grade": "P", "credit": 0.5}
    names = [node.name for node in row.layout.outcomes]
    test.record(item, {name: outcome[name] for name in names})
    assert list(element_names(test.profile())) == row.elements
    assert test.next() != [item]


def to_pymc(row, _):
    one = None if row.layout.joint else row.fitted[0]
    model = ml.to_pymc(row.layout, row.evaluation, one)
    assert "skill" in model.named_vars
    assert np.isfinite(model.compile_logp()(model.initial_point()))


def draw(row, folder):
    assert "skill" in row.layout.draw(folder / "layout.svg").read_text()


VERBS = {
    "declare": declare,
    "check": check,
    "fit": fit,
    "fit.profiles": profiles,
    "fit.diagnostics": diagnostics,
    "fit.items": items,
    "fit.population": population,
    "fit.forecast of known items": forecast_known,
    "fit.forecast of new items": forecast_new_item,
    "fit.forecast of new subjects": forecast_new_subject,
    "fit.forecast of new subjects on new items": forecast_both_new,
    "fit.explain": explain,
    "fit.derive": derive,
    "forecast.summary": functions,
    "loo by cell": leave_out("cell"),
    "loo by item": leave_out("item"),
    "loo by subject": leave_out("subject"),
    "compare_layouts": compare_layouts,
    "criticise": criticise,
    "compare": compare,
    "describe": describe,
    "report in HTML": report("html"),
    "report in Markdown": report("md"),
    "export_tables": export,
    "profile_forest": forest,
    "profile_heatmap": heatmap,
    "prior_posterior": densities,
    "inferred_diagram": diagram,
    "simulate": simulate,
    "sbc": sbc,
    "save and load": save_and_load,
    "store and resume": store_and_resume,
    "fit.newcomer": newcomer,
    "AdaptiveTest": adaptive_test,
    "to_pymc": to_pymc,
    "layout.draw": draw,
}


def read_rules():
    """Read the rules of the page: the calls, the kinds of rows, and the error with its text."""
    rules = []
    for line in PAGE.read_text().splitlines():
        if re.match(r"\| \d+ \|", line):
            calls, kinds, error, text = [cell.strip() for cell in line.split("|")][2:6]
            rules.append((kinds, calls.replace("`", ""), (getattr(ml, error.strip("`")), text)))
    return rules


RULES = read_rules()


def applying(row, verb):
    """Return the refusals that the rules state for a crossing."""
    return [
        refusal
        for kinds, calls, refusal in RULES
        if verb in calls.split("; ")
        and any(set(kind.split(", ")) <= set(row.levels) for kind in kinds.split("; "))
    ]


def crossings():
    for row in every_row() if EVERY_ROW else covering():
        for verb in VERBS:
            if verb == "sbc" and row.layout_is_joint and not EVERY_ROW:
                continue  # 20 joint fits, half a second each
            yield pytest.param(row, verb, id=f"{row}: {verb}")


@pytest.mark.parametrize(("row", "verb"), list(crossings()))
def test_crossing_works_or_is_refused_by_a_rule(row, verb, tmp_path):
    refusals = applying(row, verb)
    if not refusals:
        VERBS[verb](row, tmp_path)
        return
    error, text = refusals[0]
    with pytest.raises(error, match=re.escape(text)):
        VERBS[verb](row, tmp_path)


def test_rules_are_few_and_about_the_matrix():
    levels = set().union(*FACTORS.values())
    assert 0 < len(RULES) <= MOST_RULES
    for kinds, calls, _ in RULES:
        assert set(calls.split("; ")) <= set(VERBS)
        assert set(re.split("[;,] ", kinds)) <= levels
