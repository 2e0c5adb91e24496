"""Heatmaps: cells have the colours and numbers of the tables, and can be read."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from helpers import drawn_fits, two_demands
from helpers.drawn_fits import LONG, named
from helpers.made_estimates import is_whole
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.text import Annotation

import measurement_layouts as ml
from measurement_layouts import DataError, FitError, plots
from measurement_layouts.batteries.demands import demand_correlations
from measurement_layouts.batteries.grids import characteristic_grid
from measurement_layouts.dispositions.directional import directional_alignment
from measurement_layouts.plots.cells import Scale, _luminance, cells
from measurement_layouts.scenarios.dispositions import simulated_study
from measurement_layouts.validation.criticism.criticise import criticise

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")
HIGHS = {"navigationAbility": 5.3, "visualAbility": 1.9, "noiseLevel": 1.0}


def colours(ax):
    """Colour of each cell, by its place (across, down)."""
    squares = next(one for one in ax.collections if isinstance(one, PolyCollection))
    corners = [tuple(path.vertices[0].round(3)) for path in squares.get_paths()]
    return dict(zip(corners, squares.get_facecolors(), strict=True))


def texts(ax):
    return [text.get_text() for text in ax.texts if not isinstance(text, Annotation)]


def numbers(ax):
    return [float(text.strip("‡ *").replace("\u2212", "-")) for text in texts(ax)]


class TestGrammar:
    def table(self, rows, columns, **more):
        down, across = np.divmod(np.arange(rows * columns), columns)
        names = {"row": [f"row {k}" for k in down], "column": [f"c {k}" for k in across]}
        return pd.DataFrame({**names, "value": np.linspace(0, 1, rows * columns), **more})

    def test_cells_are_coloured_by_their_scale(self):
        table = self.table(2, 2, scale=["a", "a", "b", "b"], text=list("wxyz"))
        table = table.assign(row_block=["", "", "below", "below"], hatched=[False, True] * 2)
        scales = {"a": Scale("first", "Blues"), "b": Scale("second", "PuOr", -1, 1)}
        ax = cells(table, scales, title="$x", notes=["one", "two"])
        assert list(colours(ax)) == [(0, 0), (1, 0), (0, 1.2), (1, 1.2)]
        assert np.allclose(colours(ax)[0, 0], mpl.colormaps["Blues"](0.0))
        assert np.allclose(colours(ax)[0, 1.2], mpl.colormaps["PuOr"]((2 / 3 + 1) / 2))
        assert np.allclose(colours(ax)[1, 0], 1)
        assert texts(ax) == list("wxyz")
        assert ax.get_xlabel() == "one; two"
        assert [one.get_xlabel() for one in ax.figure.axes[1:]] == ["first", "second"]
        assert "below" in named(ax.texts)

    @pytest.mark.parametrize("shape", [(1, 1), (30, 20), (3, 3000), (3000, 2)])
    def test_no_figure_grows_without_bound(self, shape):
        ax = cells(self.table(*shape, text="0.5"), Scale("value", "Blues"))
        assert ax.figure.get_figheight() < 28
        assert ax.figure.get_figwidth() < 30
        assert len(colours(ax)) == shape[0] * shape[1]
        assert max(len(ax.get_xticks()), len(ax.get_yticks())) <= 100
        assert len(texts(ax)) == (0 if max(shape) > 100 else shape[0] * shape[1])
        assert is_whole(ax)


@pytest.fixture(scope="module")
def wide(fitted):
    """A statistic of the profiles, (element, subject), both in the order of the fit."""
    table = fitted.profiles()
    order = list(dict.fromkeys(table["node"]))

    def of(statistic):
        pivoted = table.pivot(index="node", columns="subject", values=statistic)
        return pivoted.loc[order, fitted.subjects]

    return of


class TestProfileHeatmap:
    @pytest.mark.parametrize("statistic", ["mean", "sd"])
    def test_numbers_are_those_of_the_table(self, fitted, wide, statistic):
        ax = plots.profile_heatmap(fitted, statistic=statistic)
        rates = fitted.diagnostics()["success"][fitted.subjects]
        last = rates if statistic == "mean" else np.sqrt(rates * (1 - rates))
        exact = np.vstack([wide(statistic), last])
        shown = np.reshape(numbers(ax), exact.shape)
        assert (np.abs(shown - exact) <= np.maximum(0.005, 0.05 * np.abs(exact)) + 1e-12).all()
        names = [name.split(" (")[0] for name in named(ax.get_yticklabels())]
        assert names[:-1] == list(wide("mean").index)
        heads = [name.removesuffix(" †") for name in named(ax.get_xticklabels())]
        assert heads == fitted.subjects
        assert is_whole(ax)

    def test_colours_are_places_in_the_range_or_distances_from_0(self, fitted, wide):
        shown = colours(plots.profile_heatmap(fitted))
        vague = wide("prior_dominated")
        signed = mpl.colormaps["PuOr"]
        for row, name in enumerate(vague.index):
            for column, subject in enumerate(fitted.subjects):
                mean, colour = wide("mean").loc[name, subject], shown[column, row]
                if vague.loc[name, subject]:
                    assert np.allclose(colour, 1)
                elif name in HIGHS:
                    expected = plots.style.amount_map()(mean / HIGHS[name])
                    assert np.allclose(colour, expected)
                else:
                    assert np.allclose(colour, signed((mean / 2.58 + 1) / 2), atol=0.2)

    def test_more_is_lighter_also_in_grey(self):
        light = _luminance(plots.style.amount_map()(np.linspace(0, 1, 101)))
        assert (np.diff(light) > 0).all()

    @pytest.mark.parametrize("statistic", ["mean", "sd"])
    def test_numbers_can_be_read_on_their_cells(self, fitted, statistic):
        """WCAG's contrast of text and ground; its level AA for large text is 3."""
        ax = plots.profile_heatmap(fitted, statistic=statistic)
        ground = _luminance(np.array(list(colours(ax).values())))
        ink = _luminance(np.array([to_rgba(text.get_color()) for text in ax.texts]))
        both = np.sort([ground, ink], axis=0)
        assert ((both[1] + 0.05) / (both[0] + 0.05)).min() > 4

    def test_failures_and_doubts(self):
        ax = plots.profile_heatmap(drawn_fits.labelled())
        assert ax.get_xlabel().endswith("† not converged; 1 failed, not shown")
        assert named(ax.get_yticklabels())[0] == "skill[read] (level)"
        assert is_whole(ax)
        few = plots.profile_heatmap(drawn_fits.labelled(), subjects=[LONG], nodes="skill[count]")
        assert "failed" not in few.get_xlabel()
        assert len(texts(few)) == 2

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"statistic": "median"}, "statistic='median'; give"),
            ({"nodes": "hearing"}, "no profile element hearing;"),
            ({"subjects": ["Zoe"]}, "not in this fit:"),
            ({"subjects": []}, "there is no subject to draw"),
        ],
    )
    def test_errors(self, fitted, arguments, message):
        with pytest.raises(FitError, match=message):
            plots.profile_heatmap(fitted, **arguments)


def test_alignment_is_the_measure():
    groups = {"sim-01": "large", "sim-20": "small", "sim-04": "small"}
    study = simulated_study(per_statement=2, models=list(groups)).judgments
    study = study.select(traits=["Empathy", "Impulsiveness"])
    table = directional_alignment(study)
    ax = plots.alignment_heatmap(table, groups)
    names = named(ax.get_yticklabels())
    assert [groups[name] for name in names] == ["large", "small", "small"]
    buckets = ("1", "[0.9, 1)", "[0.8, 0.9)")
    columns = [*((t, b) for t in study.traits for b in buckets), ("all", "all")]
    shares = [table["aligned"][(name, *column)] for name in names for column in columns]
    assert numbers(ax) == [round(100 * share) for share in shares]
    assert {"Empathy", "Impulsiveness", "all", "large", "small"} <= set(named(ax.texts))
    assert is_whole(ax)


@pytest.fixture(scope="module")
def criticism():
    items = two_demands.items(200, seed=3).assign(always="yes")
    profiles = pd.DataFrame(
        {"strength": 3.5, "memory": 4.0, "noise": 0.1, "litBias": [-3.0, 0.0]}, index=["Ann", LONG]
    )
    evaluation = ml.simulate(two_demands.layout("lit"), items, profiles, seed=4)
    return criticise(ml.fit(two_demands.layout(), evaluation, **two_demands.SAMPLING), evaluation)


class TestCriticism:
    def test_the_map_is_the_table(self, criticism):
        ax = plots.criticism_map(criticism)
        subjects, names = criticism.fit.subjects, named(ax.get_xticklabels())
        table = criticism.candidates.set_index(["subject", "property"])
        flagged = table.index[table["flagged"].astype(bool)]
        frames = [one for one in ax.collections if isinstance(one, PolyCollection)][-1]
        corners = {tuple(path.vertices[0]) for path in frames.get_paths()}
        assert corners == {(names.index(name), subjects.index(who)) for who, name in flagged}
        assert f"{table.loc[flagged[0], 'gain']:.0f} *" in texts(ax)
        assert texts(ax).count("\u2013") == table["gain"].isna().sum() == 2
        assert is_whole(ax)
        quiet = criticise(criticism.fit, criticism.evaluation, candidates=["colour"])
        assert "*" not in "".join(texts(plots.criticism_map(quiet)))

    @pytest.mark.parametrize("by", [None, "lit"])
    def test_residuals_are_the_table(self, criticism, by):
        names = ["colour"] if by is None else ["colour", by]
        ax = plots.residual_plot(criticism, "Ann", *names)
        table = criticism.residuals("Ann", *names).reset_index()
        levels = [name.split(" (")[0] for name in named(ax.get_yticklabels())]
        assert levels == list(dict.fromkeys(table["colour"]))
        shown = np.concatenate([one.get_offsets()[:, 0] for one in drawn_fits.points(ax)])
        assert np.allclose(np.sort(shown), np.sort(table["observed"]))
        ends = drawn_fits.bars(ax)[:, :, 0]
        assert np.allclose(np.sort(ends[:, 0]), np.sort(table["low"]))
        assert is_whole(ax)


class TestDemandCorrelations:
    def test_each_pair_once_and_success_below(self):
        rng = np.random.default_rng(5)
        items = pd.DataFrame({"QLl": rng.integers(0, 5, 120), "MS": 1})
        items["KNf"] = (items["QLl"] + rng.integers(0, 3, 120)).clip(0, 5)
        outcomes = pd.DataFrame(rng.integers(0, 2, (2, 120)), ["Ann", "_Bob_$"], items.index)
        evaluation = ml.Evaluation.from_wide(outcomes, items)
        correlations = demand_correlations(evaluation, list(items))
        ax = plots.demand_correlation_plot(correlations)
        labels = ["MS", "KNf", "success, all subjects", "Ann", r"_Bob_\$"]
        assert named(ax.get_yticklabels()) == labels
        values = correlations.between.to_numpy()
        values = [values[1, 0], *values[2, :2], *correlations.overall]
        values = np.array([*values, *correlations.success.to_numpy().ravel()])
        dashes = ["–" if np.isnan(v) else f"{round(100 * v)}".replace("-", "−") for v in values]
        assert texts(ax) == dashes
        assert is_whole(ax)
        alone = plots.demand_correlation_plot(demand_correlations(items, list(items)))
        assert alone.get_title() == "Rank correlations of 3 demands"
        assert len(texts(alone)) == 3


class TestAgentCharacteristicGrid:
    def test_cells_have_counts_and_rates(self):
        evaluation = drawn_fits.evaluation()
        options = {"bins": 4, "layout": drawn_fits.layout(), "colour_bar": False}
        ax = plots.agent_characteristic_grid(evaluation, "Ann", "distance", "side", **options)
        successes, trials = characteristic_grid(evaluation, "Ann", "distance", "side", bins=4)
        rates = (successes / trials).to_numpy()[::-1]
        for row, column in np.ndindex(rates.shape):
            expected = mpl.colormaps["RdYlBu"](rates[row, column])
            expected = (1, 1, 1, 1) if np.isnan(rates[row, column]) else expected
            assert np.allclose(colours(ax)[column, row], expected)
        counts = trials.to_numpy()[::-1].ravel()
        assert texts(ax) == [str(count) for count in counts if count]
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("distance (m)", "side")
        assert named(ax.get_yticklabels()) == ["1", "0", "\u22121"]
        assert len(ax.figure.axes) == 1
        assert is_whole(ax)

    def test_names_are_literal_and_known(self):
        name = drawn_fits.SUBJECTS[1]
        ax = plots.agent_characteristic_grid(drawn_fits.evaluation(), name, "distance", "side")
        assert r"costs \$5 or \$6" in ax.get_title()
        with pytest.raises(DataError, match=r"unknown subject\(s\): Bob"):
            plots.agent_characteristic_grid(drawn_fits.evaluation(), "Bob", "distance", "side")
