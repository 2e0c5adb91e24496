"""Descriptions, reports and tables of a joint fit; what takes one subject at a time refuses it."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits, shared_layouts, small_populations

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.inference.population.standing import standing
from measurement_layouts.linking import logistic, mixture
from measurement_layouts.reports import export_tables

LAYOUT = shared_layouts.explanatory()


def test_a_description_states_the_weight_of_the_population(shared_fit):
    described = ml.describe(shared_fit)
    found = described.findings.query("what == 'leaning'").set_index("subject")
    expected = standing(shared_fit).set_index("subject")
    pd.testing.assert_series_equal(
        found["size"], expected["population_weight"], check_names=False, check_index_type=False
    )
    for subject, text in described.texts.items():
        row = expected.loc[subject]
        assert f"Weight of the population: {row['population_weight']:.0%} of ability" in text
        assert ("own outcomes alone give" in text) is bool(np.isfinite(row["alone"]))
    assert "the share of the population's variance that these outcomes leave" in str(described)


def test_values_on_other_plates_beside_the_subject_are_no_elements():
    """What a subject has for each task is no element of the profile, and is not described."""
    layout, evaluation = small_populations.schools(), small_populations.cohort()
    draws = joint_fits.random_draws(layout, evaluation, 100, seed=1)
    described = ml.describe(joint_fits.crafted(layout, evaluation, draws))
    judged = set(described.findings["where"])
    assert "ability" in judged
    assert "liking" not in judged


def test_a_description_of_subjects_alone_says_nothing_of_it():
    skill = ml.Capability("skill", low=-4, high=4)
    length = ml.MetaFeature("length", low=-3, high=3)
    layout = ml.Layout("alone", ml.Success("solved", logistic(skill - length)))
    profiles = pd.DataFrame({"skill": [0.0]}, index=["Ann"])
    evaluation = ml.simulate(layout, shared_layouts.items(8), profiles, seed=1)
    alone = ml.fit(layout, evaluation, method="grid", draws=100, chains=2, progressbar=False)
    assert "eans on" not in str(ml.describe(alone))


def test_the_page_has_what_is_shared(shared_fit, shared_data, tmp_path):
    page = ml.report(shared_fit, tmp_path / "page.html", evaluation=shared_data).read_text("utf-8")
    assert '<section id="population"' in page
    for name in ("weight", "taskSpread", "item 3"):
        assert f'<th scope="row">{name}</th>' in page or f"<td>{name}</td>" in page
    text = ml.report(shared_fit, tmp_path / "page.md").read_text("utf-8")
    share = ml.validation.explained(shared_fit).loc["these items", "share"]
    words = f"The declared demands explain {share:.0%} of the variance of these items' difficulty"
    assert words in text
    assert words.replace("'", "&#39;") in page
    assert text.index("fitted together") < text.index("## ")
    assert "| easeSpread |" in text
    assert "| ofTask | b |" in text


def test_tables_of_what_is_shared_are_written(shared_fit, tmp_path):
    names = [path.name for path in export_tables(shared_fit, tmp_path / "tables")]
    assert names[-3:] == ["population.csv", "item_effects.csv", "standing.csv"]
    effects = pd.read_csv(tmp_path / "tables" / "item_effects.csv")
    assert len(effects) == 8 + 3
    read = pd.read_csv(tmp_path / "tables" / "standing.csv")["population_weight"]
    np.testing.assert_allclose(read, standing(shared_fit)["population_weight"])


def test_estimates_of_subjects_that_share_latents_are_refused(shared_data):
    with pytest.raises(
        FitError, match=r"the latents .*, which subjects share; .*take the posterior"
    ):
        ml.estimation.estimate(LAYOUT, shared_data)


@pytest.fixture(scope="module")
def abilities():
    """Joint fits without sampling: of abilities with a population and with a fixed prior."""
    items = pd.DataFrame({"size": np.linspace(-1, 1, 6)}).rename("i{}".format)
    outcomes = np.resize([1, 0, 0, 1, 1], (5, 6))
    evaluation = ml.Evaluation.from_wide(pd.DataFrame(outcomes, list("abcde"), items.index), items)
    size = ml.MetaFeature("size", low=-1, high=1)
    mean, weight = (ml.Bias(name, per="population") for name in ("mean", "weight"))
    slips, found = ml.Noise("slips", prior=ml.Prior("Beta", alpha=1, beta=9)), {}
    for name, centre in (("populated", mean), ("fixed", 0)):
        ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=centre, sigma=1))
        chance = mixture(logistic(ability - weight * size), by=slips, toward=0)
        layout = ml.Layout(name, ml.Success("solved", chance))
        draws = joint_fits.random_draws(layout, evaluation, 100, seed=1)
        draws["slips"] = 0.1 / (1 + draws["slips"])
        found[name] = joint_fits.crafted(layout, evaluation, draws)
    return found


@pytest.mark.parametrize(("name", "weighed"), [("populated", {"ability"}), ("fixed", set())])
def test_only_elements_whose_prior_has_shared_values_have_a_population(
    abilities, name, weighed, tmp_path
):
    """The noise has a fixed prior in both layouts, the ability in one of them."""
    fit = abilities[name]
    described = ml.describe(fit)
    assert set(described.findings.query("what == 'leaning'")["where"]) == weighed
    assert ("Weight of the population" in str(described)) is bool(weighed)
    page = ml.report(fit, tmp_path / "page.html").read_text("utf-8")
    assert ("beside what their population predicts" in page) is bool(weighed)
    written = {path.stem for path in export_tables(fit, tmp_path / "tables")}
    assert ("standing" in written) is bool(weighed)
    if not weighed:
        with pytest.raises(FitError, match="priors are fixed"):
            standing(fit)


def test_a_report_says_by_whose_outcomes_subjects_are_measured(abilities, tmp_path):
    items = pd.DataFrame({"size": np.linspace(-1, 1, 6)}).rename("i{}".format)
    skill, size = ml.Capability("skill", low=-3, high=3), ml.MetaFeature("size", low=-1, high=1)
    layout = ml.Layout("alone", ml.Success("solved", logistic(skill - size)))
    outcomes = pd.DataFrame(np.resize([1, 0, 0, 1, 1], (2, 6)), list("ab"), items.index)
    options = {"method": "grid", "draws": 100, "chains": 2, "progressbar": False}
    alone = ml.fit(layout, ml.Evaluation.from_wide(outcomes, items), **options)
    for ending in ("html", "md"):
        said = [
            ml.report(fit, tmp_path / f"{number}.{ending}").read_text("utf-8")
            for number, fit in enumerate([abilities["populated"], abilities["fixed"], alone])
        ]
        assert ["each measured by its own outcomes alone" in text for text in said] == [0, 0, 1]
        assert ["fitted together" in text for text in said] == [1, 1, 0]
