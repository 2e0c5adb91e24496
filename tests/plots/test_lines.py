"""Curves and points with intervals: what is drawn is what the tables say, and nothing is cut."""

from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers import one_dominant, small_layouts
from helpers.drawn_fits import bars, named, points
from helpers.made_estimates import legend, nothing_is_cut

import measurement_layouts as ml
from measurement_layouts import DataError, FitError, plots
from measurement_layouts.batteries.characteristic import characteristic_curves
from measurement_layouts.linking import logistic, product
from measurement_layouts.plots.lines import Look, lines

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")


def drawn(ax):
    """Lines that join points, in the order drawn."""
    return [line for line in ax.lines if line.get_linestyle() != "None"]


class TestGrammar:
    def test_series_are_drawn_as_they_look(self):
        table = pd.DataFrame({"x": [0, 1, 2, 0, 1, 2], "y": [0, 1, np.nan, 5, 6, 7]})
        table = table.assign(series=list("aaabbb"), low=table["y"] - 1, high=table["y"] + 1)
        table = table.assign(hollow=[False] * 5 + [True], part=list("xxxyyz"))
        looks = {"a": Look("red", "first", "-"), "b": Look("blue", "second", "--", "o", band=True)}
        (ax,) = lines(table, looks, title="$x", x="across", y="up", xlim=(-1, 3))
        first, *second = drawn(ax)
        assert first.get_xydata()[:2].tolist() == [[0, 0], [1, 1]]
        assert [line.get_xydata().tolist() for line in second] == [[[0, 5], [1, 6]], [[2, 7]]]
        assert bars(ax)[:, :, 1].tolist() == [[-1, 1], [0, 2]]
        marks = points(ax)[-1]
        assert marks.get_offsets().tolist() == [[0, 5], [1, 6], [2, 7]]
        assert marks.get_facecolors()[:, 0].tolist() == [0, 0, 1]  # the last is white
        assert legend(ax) == ["first", "second"]
        assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == (r"\$x", "across", "up")
        assert ax.get_xlim() == (-1, 3)
        nothing_is_cut(ax)

    def test_panels_have_titles_and_given_axes_are_used(self):
        table = pd.DataFrame({"panel": ["one", "two"], "x": 0.0, "y": 1.0})
        figure, grid = plt.subplots(1, 2)
        axes = lines(table, {"": Look(marker="o")}, ax=grid, titles={"two": "second"})
        assert plt.get_fignums() == [figure.number]
        assert [panel.get_title() for panel in axes] == ["one", "second"]
        with pytest.raises(FitError, match="2 axes and there are 1 panels"):
            lines(table[:1], {"": Look(marker="o")}, ax=grid)


@pytest.fixture(scope="module")
def curves():
    """Three subjects; `nil` never succeeds, so that it has no curves."""
    rng = np.random.default_rng(2)
    items = one_dominant.battery(600, rng)
    both, _ = one_dominant.outcomes(items, np.array([[2.0, 3.0, 4.0], [1.2, 3.5, 2.5]]), rng)
    wide = both.successes.T.assign(nil=0).T
    return characteristic_curves(ml.Evaluation.from_wide(wide, items), one_dominant.NAMES)


class TestCurves:
    def test_one_curve(self, curves):
        (ax,) = plots.curve_panels(curves, "s0", "logic")
        bins, row = curves.bins_of("s0", "logic"), curves.row("s0", "logic")
        (marks,) = points(ax)
        assert np.allclose(marks.get_offsets(), bins[["level", "rate"]])
        assert marks.get_sizes().argmax() == bins["items"].to_numpy().argmax()
        assert np.allclose(bars(ax)[:, :, 1], bins[["rate_low", "rate_high"]])
        at, height = drawn(ax)[0].get_data()
        assert (at.min(), at.max()) == (1, 5)
        assert np.allclose(height, curves.curve("s0", "logic", at)["success"])
        assert drawn(ax)[-1].get_xdata().tolist() == row[["low", "high"]].tolist()
        assert ax.get_title().startswith(f"logic: {row['ability']:#.3g} [")
        nothing_is_cut(ax)

    def test_all_panels_and_none_without_a_curve(self, curves):
        axes = plots.curve_panels(curves, "s1")
        assert [ax.get_title().split(":")[0] for ax in axes] == one_dominant.NAMES
        assert len({ax.get_xlim() for ax in axes}) == 1
        assert "curve and its 90% band" in legend(axes)
        nothing_is_cut(axes)
        assert plots.curve_panels(curves, "nil", "logic")[0].get_title() == "logic: no curve"
        with pytest.raises(FitError, match="the dimension taste"):
            plots.curve_panels(curves, "nil", "taste")

    def test_all_subjects_from_the_highest_ability(self, curves):
        ax = plots.curves_by_subject(curves, "memory")
        assert [name.split(":")[0] for name in legend(ax)] == ["s1", "s0", "nil"]
        assert legend(ax)[-1] == "nil: no curve"
        nothing_is_cut(ax)
        bins, table = (frame[frame["subject"] == "nil"] for frame in (curves.bins, curves.table))
        alone = replace(curves, bins=bins, table=table, draws=curves.draws.sel(subject=["nil"]))
        with pytest.raises(FitError, match="no subject has a curve"):
            plots.curves_by_subject(alone, "memory")

    def test_radar(self, curves):
        ax = plots.ability_radar(curves, subjects=["s0", "s1"])
        ring = ax.lines[1].get_ydata()
        assert np.allclose(ring[:-1], curves.abilities.loc["s1"])
        assert ring[-1] == ring[0]
        expected = curves.table[curves.table["subject"] != "nil"][["low", "high"]].astype(float)
        assert np.allclose(bars(ax)[:, :, 1], np.minimum(expected, ax.get_ylim()[1]))
        assert legend(ax) == ["s0", "s1"]
        nothing_is_cut(ax)

    @pytest.mark.parametrize(
        ("subjects", "message"),
        [(["nil"], "no curve in any"), (["s0", "s0"], "2 profiles"), (["Eve"], "subject Eve")],
    )
    def test_radars_that_cannot_be_drawn(self, curves, subjects, message):
        with pytest.raises(FitError, match=message):
            plots.ability_radar(curves, subjects=subjects)
        with pytest.raises(FitError, match="make polar axes"):
            plots.ability_radar(curves, subjects=["s0"], ax=plt.subplots()[1])

    def test_radar_of_a_layout(self):
        """Posterior means of its capabilities; one below 0 lies off the centre."""
        fit, draws = labelled(("sums", "words", "maps"), [-1.5, 2, 4])
        ax = plots.ability_radar(fit, subjects=["large"])
        assert np.allclose(ax.lines[0].get_ydata()[:-1], draws[1].mean((0, 1)))
        assert named(ax.get_xticklabels()) == ["sums", "words", "maps"]
        assert ax.get_ylim()[0] == -2
        assert ax.get_title() == "Posterior means, 90% intervals"
        nothing_is_cut(ax)
        coin = small_layouts.crafted(
            small_layouts.coin(), small_layouts.counts([1], [2]), {"p": draws[:1, :, :, 0]}
        )
        with pytest.raises(FitError, match="capabilities p; three in one unit are needed"):
            plots.ability_radar(coin)


def labelled(names, means):
    """A fit of two subjects with a capability for each name, and its draws."""
    layout = small_layouts.labelled(names)
    items = pd.DataFrame({f"demand[{name}]": [1.0, 2] for name in names}, ["a", "b"])
    wide = pd.DataFrame([[1, 0], [1, 1]], ["small", "large"], items.index)
    draws = np.random.default_rng(1).normal(means, 0.3, (2, 2, 50, len(names)))
    evaluation = ml.Evaluation.from_wide(wide, items)
    return small_layouts.crafted(layout, evaluation, {"ability": draws}), draws


class TestScaling:
    sizes = pd.Series({"s1": 70.0, "s0": 1.0, "nil": 7, "unknown": 3}, name="parameters")

    def test_abilities(self, curves):
        families = pd.Series({"s0": "A", "s1": "A", "nil": "B"})
        chosen = {"dimensions": ["memory", "logic"]}
        axes = plots.scaling_plot(curves.table, self.sizes, families, **chosen)
        first = drawn(axes[0])[0]
        assert first.get_xdata().tolist() == [1, 70]
        assert np.allclose(first.get_ydata(), curves.abilities.loc[["s0", "s1"], "memory"])
        assert [ax.get_title() for ax in axes] == ["memory", "logic"]
        assert (axes[0].get_xscale(), axes[0].get_xlabel()) == ("log", "parameters")
        assert axes[0].get_ylim() == axes[1].get_ylim()
        assert legend(axes) == ["A", "B"]
        nothing_is_cut(axes)

    def test_success_and_profiles(self):
        items = pd.DataFrame({"kind": ["sum", "word"] * 20}, [f"q{n}" for n in range(40)])
        wide = pd.DataFrame(np.arange(80).reshape(2, 40) % 3 > 0, ["small", "large"], items.index)
        rates = ml.Evaluation.from_wide(wide, items).group_rates("kind")
        sizes = pd.Series({"large": 70.0, "small": 1.0})
        (panel,) = plots.scaling_plot(rates, sizes, dimensions=["word"], prob=0.5)
        own = rates[rates["group"] == "word"].set_index("subject").loc[["small", "large"]]
        assert np.allclose(drawn(panel)[0].get_ydata(), own["mean"])
        assert np.allclose(bars(panel)[:, :, 1], own[["low", "high"]])
        assert panel.figure.get_suptitle() == "Values by size, 50% intervals"
        fit, draws = labelled(("sums", "words"), [2, 4])
        axes = plots.scaling_plot(fit.profiles(), sizes)
        assert [panel.get_title() for panel in axes] == ["ability[sums]", "ability[words]"]
        assert np.allclose(drawn(axes[1])[0].get_ydata(), draws[:, :, :, 1].mean((1, 2)))

    @pytest.mark.parametrize(
        ("sizes", "families", "message"),
        [
            (pd.Series({"x": 1.0}), None, "index sizes by subject"),
            (sizes * 0, None, "not positive numbers:"),
            (sizes, pd.Series({"s0": "A", "nil": "A"}), "no family for s1"),
        ],
    )
    def test_errors(self, curves, sizes, families, message):
        with pytest.raises(DataError, match=message):
            plots.scaling_plot(curves.table, sizes, families)
        with pytest.raises(DataError, match="the table has no column low"):
            plots.scaling_plot(curves.table.drop(columns="low"), self.sizes)


@pytest.fixture(scope="module")
def validated():
    rng = np.random.default_rng(1)
    items = pd.DataFrame({"size": rng.normal(size=300)}, [f"q{place}" for place in range(300)])
    middle = np.linspace(-2, 2, 3)[:, None]
    solved = rng.random((3, 300)) < 1 / (1 + np.exp(2 * (items["size"].to_numpy() - middle)))
    names = ["a", "b", "a subject with a very long name indeed"]
    evaluation = ml.Evaluation.from_wide(pd.DataFrame(solved, names, items.index), items)
    methods, split = {"line": "logistic", "mean": "aggregate"}, ml.validation.Items(folds=2)
    return ml.validation.cross_validate(methods, evaluation, split=split, progressbar=False)


class TestCalibrationPanels:
    def test_a_panel_per_subject(self, validated):
        axes = plots.calibration_panels(validated)
        assert axes[0].get_figure().get_suptitle() == "Calibration of line"
        for name, panel in zip(validated.subjects, axes, strict=True):
            curve = validated.calibration("line").loc[name]
            (marks,) = points(panel)
            assert np.allclose(marks.get_offsets(), curve[["forecast", "success"]])
            assert np.array_equal(marks.get_sizes().argsort(), curve["trials"].argsort())
            assert np.allclose(bars(panel)[:, :, 1], curve[["low", "high"]])
            ece = validated.per_subject("ece").loc[name, "line"]
            assert panel.get_title().splitlines()[1] == f"ECE {ece:.2f}"
        assert max(points(panel)[0].get_sizes().max() for panel in axes) == 90
        assert legend(axes)[0] == "calibrated"
        nothing_is_cut(axes)

    def test_several_assessments_are_counted_together(self, validated):
        axes = plots.calibration_panels({"home": validated, "again": validated}, "line")
        curve = validated.calibration("line", pooled=True)
        assert np.allclose(points(axes[1])[0].get_offsets(), curve[["forecast", "success"]])
        ece = validated.by().loc[("", "line"), "ece"]
        assert axes[0].get_title() == f"home\nECE {ece:.2f}"
        assert axes[0].get_figure().get_suptitle() == "Calibration of line, all subjects together"

    def test_a_subject_without_predictions(self, validated):
        failed = validated.predictions.copy()
        failed.loc[failed["subject"] == "b", "probability"] = np.nan
        axes = plots.calibration_panels(type(validated)(failed, validated.success))
        assert axes[1].get_title() == "b\nno prediction"
        assert not points(axes[1])
        assert points(axes[0])

    def test_errors(self, validated):
        with pytest.raises(FitError, match="no predictions of forest; the methods are line, mean"):
            plots.calibration_panels(validated, "forest")
        with pytest.raises(FitError, match="no cross-validation to draw"):
            plots.calibration_panels({})


class TestDesigns:
    @staticmethod
    def layout(name="looking"):
        sight = ml.Capability("sight", low=0, high=10, unit="octave")
        smallness = ml.MetaFeature("smallness", low=0, high=10, unit="octave")
        chance = (1 - ml.Noise("noise")) * logistic(sight - smallness)
        return ml.Layout(name, ml.Success("found", chance))

    bank = pd.DataFrame({"smallness": np.linspace(0, 10, 30)}, [f"arena {n}" for n in range(30)])

    def asked(self, share, layout=None, answers=6):
        test = ml.AdaptiveTest(layout or self.layout(), self.bank, random_share=share, seed=2)
        for _ in range(answers):
            (item,) = test.next()
            test.record(item, self.bank["smallness"][item] < 6)
        return test

    def test_histories_and_the_design_beside_them(self):
        tests = {"adaptive": self.asked(0.5), "random": self.asked(1.0)}
        design = ml.batteries.design(self.layout(), self.bank, n=6)
        panels = plots.adaptive_plot(tests, design=design)
        by_title = {panel.get_title(): panel for panel in panels}
        assert set(by_title) == {"sight", "noise"}
        for element, panel in by_title.items():
            *histories, expected = drawn(panel)
            for line, test in zip(histories, tests.values(), strict=True):
                np.testing.assert_array_equal(line.get_ydata(), test.history[f"sd {element}"])
                assert line.get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
            np.testing.assert_array_equal(expected.get_ydata(), design.curve[element])
            (marked,) = points(panel)
            assert len(marked.get_offsets()) == (tests["adaptive"].history["why"] == "random").sum()
        assert by_title["sight"].get_ylabel() == "posterior sd (oct)"
        assert legend(panels) == ["adaptive", "random", "designed before any answer: expected"]

    def test_tests_without_answers_or_of_several_layouts_are_refused(self):
        with pytest.raises(DataError, match="no answers yet"):
            plots.adaptive_plot(self.asked(0.0, answers=0))
        other = self.asked(0.0, self.layout("seeing"), 1)
        with pytest.raises(DataError, match="several layouts: looking, seeing"):
            plots.adaptive_plot({"one": self.asked(0.0, answers=1), "two": other})

    def test_designs_are_parts_of_the_prior(self):
        labels = ("a", "b", "c")
        demand = ml.MetaFeature("demand", low=0, high=5, labels=labels)
        ability = ml.Capability("ability", low=0, high=6, labels=labels)
        able = product(logistic(ability - demand, 2), over="dimension")
        layout = ml.Layout("needed", ml.Success("ok", able))
        levels = np.random.default_rng(1).integers(0, 6, (200, 3))
        columns = [f"demand[{name}]" for name in labels]
        bank = pd.DataFrame(levels, [*map(str, range(200))], columns)
        design = ml.batteries.design(layout, bank, n=20, target=["ability[a]", "ability[b]"])
        ax = plots.design_plot(design)
        shares = design.curve / design.latents["before"]
        for line, name in zip(drawn(ax), shares.columns, strict=True):
            assert np.allclose(line.get_ydata(), shares[name])
            assert line.get_linestyle() == ("--" if name == "ability[c]" else "-")
        assert ax.get_title() == "needed: what 20 of 200 items tell"
        nothing_is_cut(ax)
