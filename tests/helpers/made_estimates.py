"""A layout of one propensity, estimates that nobody computed, and what a figure shows of them."""

import numpy as np
import pandas as pd
from matplotlib.collections import PathCollection

import measurement_layouts as ml
from measurement_layouts.estimation.estimate import Estimates
from measurement_layouts.linking import band

NODE = "risk"


def layout():
    low, high = (ml.MetaFeature(end, low=-3, high=3, unit="level") for end in ("lower", "upper"))
    risk = ml.Propensity(NODE, unit="level", prior=ml.Prior("Normal", mu=0, sigma=3))
    return ml.Layout("risk", ml.Success("right", band(risk, low, high)))


def two_hills(values):
    """Maxima of 0 at -1 and of -3 at 2, and a cliff of a thousand nats at 2.5."""
    values = np.asarray(values, dtype=float)
    hills = np.logaddexp(-8 * (values + 1) ** 2, -3 - 8 * (values - 2) ** 2)
    return np.where(values > 2.5, -1000.0, hills) - 50


def nowhere(values):
    """The best values are those far away."""
    return -np.exp(5 - np.abs(np.asarray(values, dtype=float)))


def made(**changes):
    """Ann stands at -1; Bob stands nowhere."""
    columns = ["subject", "node", "estimate", "se", "low", "high", "log_likelihood", "identified"]
    rows = [("Ann", NODE, -1.0, 0.25, -1.41, -0.59, -50.0, True)]
    rows += [("Bob", NODE, *[np.nan] * 4, 0.0, False)]
    modes = [("Ann", NODE, -1.0, -50.0, 0.0), ("Ann", NODE, 2.0, -53.0, 3.0)]
    modes += [("Ann", NODE, 7.0, -1050.0, 1000.0), ("Bob", NODE, np.inf, 0.0, 0.0)]
    fields = {
        "layout": layout(),
        "prob": 0.9,
        "table": pd.DataFrame(rows, columns=columns),
        "modes": pd.DataFrame(modes, columns=["subject", "node", "at", "log_likelihood", "below"]),
        "ranges": {"Ann": [(-1.41, -0.59)], "Bob": [(-np.inf, -4.7), (4.7, np.inf)]},
        "curves": {"Ann": two_hills, "Bob": nowhere},
    }
    return Estimates(**fields | changes)


def scattered(ax):
    points = [item for item in ax.collections if isinstance(item, PathCollection)]
    return [item for item in points if len(item.get_offsets())]


def legend(ax):
    figure = np.ravel(ax)[0].get_figure()
    legends = [*figure.legends, *(one.get_legend() for one in figure.axes if one.get_legend())]
    return [text.get_text() for one in legends for text in one.get_texts()]


def is_whole(drawing):
    """Draw a figure, given by itself or its axes, and see whether all that shows lies inside it."""
    figure = np.ravel(drawing)[0].figure
    figure.canvas.draw()
    drawn, sheet = figure.get_tightbbox(), figure.bbox_inches.padded(0.02)
    across = sheet.x0 <= drawn.x0 <= drawn.x1 <= sheet.x1
    return bool(across and sheet.y0 <= drawn.y0 <= drawn.y1 <= sheet.y1)


def nothing_is_cut(drawing):
    assert is_whole(drawing)
