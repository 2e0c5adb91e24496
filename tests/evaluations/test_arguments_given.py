"""Arguments in the wrong order or of another kind are refused with a remedy."""

import inspect
import operator
import re

import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.common.given import kind_of
from measurement_layouts.linking import logistic

SIZE, SIGHT = ml.MetaFeature("size", low=0, high=2), ml.Capability("sight", low=0, high=2)
LAYOUT = ml.Layout("looking", ml.Success("found", logistic(SIGHT - SIZE, slope=5)))
TABLE = pd.DataFrame({"subject": "Ann", "item": ["a", "b"], "outcome": [1, 0], "size": [0.5, 1.5]})
READ = ml.evaluations.read_table(TABLE)
EVALUATION = READ.evaluation()
TAKE = [ml.fit, ml.check, ml.to_pymc]


@pytest.mark.parametrize("take", TAKE)
@pytest.mark.parametrize("given", [TABLE, "answers.csv", None])
def test_what_is_no_evaluation(take, given):
    kind = "None" if given is None else f"a {type(given).__name__}"
    with pytest.raises(ml.DataError, match=f"this is {kind}, not an Evaluation; read a table as"):
        take(LAYOUT, given)


@pytest.mark.parametrize("take", TAKE)
@pytest.mark.parametrize("given", [READ, READ.evaluation()])
def test_the_layout_comes_first(take, given):
    kind = type(given).__name__
    with pytest.raises(ml.LayoutError, match=f"layout: this is an {kind}, not a Layout; the lay"):
        take(given, LAYOUT)
    with pytest.raises(ml.LayoutError, match=r"a Success, not a Layout; make one as Layout\("):
        take(LAYOUT.outcome, given)


@pytest.fixture(scope="module")
def fitted():
    return ml.fit(LAYOUT, EVALUATION, method="grid", progressbar=False)


def test_scores_cross_validation_and_criticism(fitted):
    assert len(fitted.subjects) == 1  # the twin: an evaluation is accepted
    message = "this is an Imported, not an Evaluation"
    with pytest.raises(ml.DataError, match=message):
        ml.score_forecast(fitted.forecast(EVALUATION.items), READ)
    with pytest.raises(ml.DataError, match=message):
        ml.validation.criticise(fitted, READ)
    with pytest.raises(ml.DataError, match=message):
        ml.validation.cross_validate([LAYOUT], READ)
    with pytest.raises(ml.DataError, match=message):
        ml.validation.permutation_importance(["logistic"], READ)


OTHERS = [EVALUATION, TABLE, "x.html", None, 3]
CALLS = {
    "load": (ml.load, "path: this is {}, not a path; give the file that"),
    "describe": (ml.describe, "fit: this is {}, not a Fit; the first argument is"),
    "report": (lambda one: ml.report(one, "x.html"), "fit: this is {}, not a Fit; the first"),
    "score": (lambda one: ml.score_forecast(one, EVALUATION), "this is {}, not a Forecast; give"),
    "simulate": (lambda one: ml.simulate(one, TABLE, TABLE, seed=1), "this is {}, not a Layout; "),
    "adaptive": (lambda one: ml.AdaptiveTest(one, TABLE), "layout: this is {}, not a Layout; "),
}


@pytest.mark.parametrize("given", OTHERS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("call", CALLS)
def test_every_verb_refuses_what_it_does_not_take(call, given):
    take, message = CALLS[call]
    if call == "load" and isinstance(given, str):
        message = "there is no file or store x.html"
    errors = ml.DataError, ml.FitError, ml.LayoutError
    with pytest.raises(errors, match=re.escape(message.format(kind_of(given)))):
        take(given)


def test_a_fit_is_no_layout_and_no_path(fitted):
    with pytest.raises(ml.LayoutError, match="a Fit, not a Layout; give its attribute layout"):
        ml.check(fitted, EVALUATION)
    for call in (fitted.save, lambda path: ml.report(fitted, path)):
        with pytest.raises(ml.FitError, match="path: this is a Fit, not a path; name a file"):
            call(fitted)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"evaluation": READ}, "evaluation:"),
        ({"forecast": EVALUATION}, "forecast:"),
        ({"criticism": EVALUATION}, "criticism:"),
        ({"explain": EVALUATION}, "explain:"),
        ({"explain": [EVALUATION]}, "explain= contains an"),
    ],
)
def test_a_report_refuses_other_results(fitted, tmp_path, option, message):
    with pytest.raises(ml.DataError, match=re.escape(message)):
        ml.report(fitted, tmp_path / "x.html", **option)
    assert not list(tmp_path.iterdir())
    assert ml.report(fitted, tmp_path / "x.md", evaluation=EVALUATION).exists()  # the twin


def test_fits_are_compared_by_name(fitted):
    with pytest.raises(ml.DataError, match="fits: this is a list, not a mapping; give the fits by"):
        ml.validation.compare_layouts([fitted, fitted])
    assert len(ml.validation.compare_layouts({"one": fitted, "other": fitted})) == 2


VERBS = {
    "an Evaluation": "validation.masked batteries.characteristic_curves",
    "a Layout": "validation.draw_truth validation.sbc estimation.estimate batteries.design",
    "a Fit": "validation.criticise validation.explained validation.loo "
    "reports.export_tables reports.inferred_diagram estimation.time_horizons "
    "batteries.next_items",
    "a Forecast": "decisions.accept decisions.risk_coverage decisions.route",
    "a list": "validation.cross_validate",
    "a mapping": "validation.compare_layouts",
    "a DataFrame": "estimation.horizon_trend",
    "SituationalJudgments": "dispositions.choices dispositions.compare_choices "
    "dispositions.confidence_by_group "
    "dispositions.consensus dispositions.directional_alignment dispositions.divided "
    "dispositions.misalignment dispositions.misalignment_by_group "
    "dispositions.divided_rates "
    "dispositions.self_report_correlations dispositions.self_reports "
    "dispositions.support_by",
    "a path": "evaluations.read_inspect evaluations.read_lm_eval "
    "dispositions.SituationalJudgments.from_json_lines",
    "a name or path": "annotation.load_rubric annotation.load_demand_rubric "
    "dispositions.generate_items",
    "a text": "annotation.read_interval annotation.read_level",
}


@pytest.mark.parametrize(
    ("verb", "needed"), [(verb, kind) for kind, verbs in VERBS.items() for verb in verbs.split()]
)
def test_the_verbs_of_packages_refuse_what_they_do_not_take(verb, needed):
    call = operator.attrgetter(verb)(ml)
    _, *others = inspect.signature(call).parameters.values()
    known = {"evaluation": EVALUATION, "learnt": 0.5, "seed": 1}
    options = {
        each.name: known.get(each.name)
        for each in others
        if each.default is inspect.Parameter.empty
    }
    errors = ml.DataError, ml.FitError, ml.LayoutError, ml.annotation.AnnotationError
    with pytest.raises(errors, match=f": this is a Success, not {needed}; "):
        call(LAYOUT.outcome, **options)


SWAPPED = [
    (ml.dispositions.support_by, "age", "judgments: this is a str, not SituationalJudgments; the"),
    (ml.annotation.inciting_prompt, TABLE, "no inciting prompts for"),
]


@pytest.mark.parametrize(("call", "first", "message"), SWAPPED)
def test_a_second_argument_of_another_kind(call, first, message):
    with pytest.raises((ml.DataError, ml.annotation.AnnotationError), match=re.escape(message)):
        call(first, None)
