"""Every figure refuses another kind of value by name, and says what it takes and where from."""

import inspect
import re
from functools import reduce

import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import DataError, plots
from measurement_layouts.plots import kinds

DATA = [name for name in plots.__all__ if name != "item_response_curves"]  # which takes numbers


class Other:
    """No result of this library."""


def called(draw, value):
    """Call a figure with a value in the first place, and something in all others."""
    _, *rest = inspect.signature(draw).parameters.values()
    needed = [each.name for each in rest if each.default is each.empty]
    return draw(value, **dict.fromkeys(needed, "x"))


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(
    "value",
    [Other(), None, [1, 2], "Ann", {"Ann": Other()}],
    ids=["other", "None", "list", "str", "mapping"],
)
def test_another_kind_is_refused_by_name(name, value):
    draw = getattr(plots, name)
    first = next(iter(inspect.signature(draw).parameters))
    with pytest.raises(DataError, match=rf"^{name} takes .*, from .*; you gave .* as {first}$"):
        called(draw, value)


@pytest.mark.parametrize("name", ["curve_panels", "comparison_plot", "profile_forest"])
def test_without_the_check_python_complains_of_something_inside(name):
    """The figure itself stumbles: the refusal is the check's."""
    with pytest.raises(AttributeError):
        called(getattr(plots, name).__wrapped__, Other())


def test_numbers_are_refused_by_name():
    with pytest.raises(DataError, match=r"^bands=.*; give a pair of numbers"):
        plots.item_response_curves(Other())


def test_messages():
    """What is taken, where it comes from, and what was given."""
    table = pd.DataFrame()
    for call, said in (
        (
            lambda: plots.curve_panels(table, "Ann"),
            "curve_panels takes CharacteristicCurves, from ml.batteries.characteristic_curves; "
            "you gave a DataFrame as curves",
        ),
        (
            lambda: plots.misalignment_plot({"calm": table}),
            "misalignment_plot takes a mapping of names to GroupCurves, from "
            "ml.dispositions.misalignment_by_group; you gave a dict of a DataFrame as curves",
        ),
        (
            lambda: plots.collapse_plot(table, estimates=table),
            "collapse_plot takes Estimates, from ml.estimation.estimate; you gave a DataFrame "
            "as estimates",
        ),
        (
            lambda: plots.horizon_plot("Ann"),
            "horizon_plot takes a Fit, from ml.fit, or a DataFrame, from "
            "ml.estimation.time_horizons; you gave a str as horizons",
        ),
    ):
        with pytest.raises(DataError, match=f"^{re.escape(said)}$"):
            call()


def test_what_python_refuses_python_says():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'subject'"):
        plots.curve_panels(Other())


@pytest.mark.parametrize("source", sorted({*kinds._MAKERS.values(), *kinds._MAKERS_FOR.values()}))
def test_sources_are_there(source):
    """What a message names exists."""
    owners = {"fit": ml.Fit, "evaluation": ml.Evaluation, "ratings": ml.annotation.Ratings}
    name = source.split(" or ")[0].removeprefix("ml.")
    first, *path = name.split(".")
    assert name == "pandas" or callable(
        reduce(getattr, path, owners.get(first) or getattr(ml, first))
    )


def test_of_a_kind():
    """Types that are no result are not looked at; those that may be missing may be None."""

    @kinds.of_its_kind
    def drawn(fit: ml.Fit | None, *, nodes: str | None = None, sizes: pd.Series | None = None):
        return nodes

    assert drawn(None, nodes=3, sizes=None) == 3
    with pytest.raises(DataError, match=r"^drawn takes a Series, from pandas; you gave a list as"):
        drawn(None, sizes=[1])
