"""Arguments in the wrong order, and tables instead of evaluations, are refused with a remedy."""

import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.linking import logistic

SIZE, SIGHT = ml.MetaFeature("size", low=0, high=2), ml.Capability("sight", low=0, high=2)
LAYOUT = ml.Layout("looking", ml.Success("found", logistic(SIGHT - SIZE, slope=5)))
TABLE = pd.DataFrame({"subject": "Ann", "item": ["a", "b"], "outcome": [1, 0], "size": [0.5, 1.5]})
READ = ml.evaluations.read_table(TABLE)
TAKE = [ml.fit, ml.check]


@pytest.mark.parametrize("take", TAKE)
@pytest.mark.parametrize("given", [TABLE, "answers.csv", None])
def test_what_is_no_evaluation(take, given):
    kind = type(given).__name__
    with pytest.raises(ml.DataError, match=f"this is a {kind}, not an Evaluation; read a table as"):
        take(LAYOUT, given)


@pytest.mark.parametrize("take", TAKE)
def test_an_import_has_an_evaluation(take):
    with pytest.raises(ml.DataError, match=r"this is an Imported, .*; call its evaluation\(\)"):
        take(LAYOUT, READ)


@pytest.mark.parametrize("take", TAKE)
@pytest.mark.parametrize("given", [READ, READ.evaluation()])
def test_the_layout_comes_first(take, given):
    kind = type(given).__name__
    with pytest.raises(ml.LayoutError, match=f"layout: this is an {kind}, not a Layout; the lay"):
        take(given, LAYOUT)
    with pytest.raises(ml.LayoutError, match=r"a Success, not a Layout; make one as Layout\("):
        take(LAYOUT.outcome, given)


def test_scores_cross_validation_and_criticism():
    evaluation = READ.evaluation()
    fitted = ml.fit(LAYOUT, evaluation, method="grid", progressbar=False)
    assert len(fitted.subjects) == 1  # the twin: an evaluation is accepted
    message = "this is an Imported, not an Evaluation"
    with pytest.raises(ml.DataError, match=message):
        ml.score_forecast(fitted.forecast(evaluation.items), READ)
    with pytest.raises(ml.DataError, match=message):
        ml.validation.criticise(fitted, READ)
    with pytest.raises(ml.DataError, match=message):
        ml.validation.cross_validate([LAYOUT], READ)


def test_fits_are_compared_by_name():
    fitted = ml.fit(LAYOUT, READ.evaluation(), method="grid", progressbar=False)
    with pytest.raises(ml.DataError, match="fits is a list; give the fits by name"):
        ml.validation.compare_layouts([fitted, fitted])
    assert len(ml.validation.compare_layouts({"one": fitted, "other": fitted}).total) == 2
