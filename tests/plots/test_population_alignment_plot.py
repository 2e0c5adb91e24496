"""Models beside several populations: what is drawn is what the table says."""

import dataclasses

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from measurement_layouts import plots
from measurement_layouts.common.errors import DataError, FitError
from measurement_layouts.dispositions import alignment_by_population
from measurement_layouts.scenarios.dispositions import simulated_study

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


@pytest.fixture(scope="module")
def alignment():
    study = simulated_study(per_statement=2, models=["sim-01", "sim-04", "sim-20"])
    return alignment_by_population(study.judgments, "nationality", resamples=20)


@pytest.mark.parametrize("trait", ["all", "Empathy"])
def test_points_and_lines_are_the_table_s(alignment, trait):
    axes = plots.population_alignment_plot(alignment, trait=trait)
    table = 100 * alignment.table.xs(trait, level="trait")
    for panel, column in zip(axes, ("distance", "disposition"), strict=True):
        points = np.concatenate(
            [np.asarray(part.get_offsets()) for part in panel.collections[1::2]]
        )
        lines = np.concatenate([part.get_segments() for part in panel.collections[::2]])
        order = np.argsort(points[:, 1])
        assert points[order, 0] == pytest.approx(table[column])
        ends = table[[f"{column}_low", f"{column}_high"]].to_numpy()
        assert lines[order, :, 0] == pytest.approx(ends)
    names = [tick.get_text() for tick in axes[0].get_yticklabels()]
    assert names == ["sim-01", "sim-04", "sim-20"]
    said = axes[0].figure.get_suptitle()
    assert said.endswith("all traits" if trait == "all" else "Empathy")


def test_given_axes_are_drawn_in(alignment):
    _, given = plt.subplots(1, 2)
    assert list(plots.population_alignment_plot(alignment, ax=given)) == list(given)
    with pytest.raises(FitError, match="ax= has 1 axes and there are 2 panels"):
        plots.population_alignment_plot(alignment, ax=given[0])


def test_what_does_not_fit_is_refused(alignment):
    with pytest.raises(DataError, match=r"trait='calm' is not in the table; it has Empathy"):
        plots.population_alignment_plot(alignment, trait="calm")
    one = alignment.table.loc[["sim-01"]].droplevel("model")
    many = pd.concat({f"m-{number}": one for number in range(61)}, names=["model"])
    with pytest.raises(DataError, match=r"61 models and 3 populations; a figure can show 60"):
        plots.population_alignment_plot(dataclasses.replace(alignment, table=many))
