"""The figure of an explanation shows its numbers, and nothing that is not there."""

from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from helpers.two_needs import fitted

import measurement_layouts as ml
from measurement_layouts.plots import explanation_plot

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


def explained(**options):
    fit, _ = fitted()
    return fit.explain({"item": "pin", "small": 4.0, "far": 4.5}, "Ann", **options)


def test_points_are_shares_and_what_success_would_be():
    found = explained(changes={"sight": 2.0})
    left, right = explanation_plot(found)
    shares = [line.get_xdata()[0] for line in left.get_lines()]
    assert shares == [*found.parts["share"], *found.demands["share"]]
    *otherwise, now = (line.get_xdata()[0] for line in right.get_lines())
    wanted = [found.parts["without"], found.demands["success"], found.changes["success"]]
    assert otherwise == [value for column in wanted for value in column]
    assert now == found.success.mean
    ends = [tuple(line.get_segments()[0][:, 0]) for line in left.collections]
    assert ends[0] == tuple(found.parts[["share_low", "share_high"]].iloc[0])
    names = [label.get_text() for label in left.get_yticklabels()]
    assert names == [
        "parts, if they could not fail",
        *("sees", "reach", "noise"),
        "demands, at their easiest",
        *("small 4 → 0.5", "far 4.5 → 1"),
        *("what if", "sight 2 more"),
    ]
    assert "Ann on pin: success" in left.figure.get_suptitle()


def test_given_axes_are_drawn_on():
    _, given = plt.subplots(1, 2)
    drawn = explanation_plot(explained(), ax=given)
    assert all(one is other for one, other in zip(drawn, given, strict=True))


def test_what_has_nothing_to_show_is_refused():
    found = explained()
    empty = {name: getattr(found, name).iloc[:0] for name in ("parts", "demands", "changes")}
    with pytest.raises(ml.DataError, match="nothing can fail on pin"):
        explanation_plot(replace(found, **empty))
