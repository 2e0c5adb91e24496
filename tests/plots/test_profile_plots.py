"""Tables and groups of profiles: what is drawn is what the tables say, and nothing is cut."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers import small_layouts
from helpers.made_estimates import is_whole
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colors import to_rgba

import measurement_layouts as ml
from measurement_layouts import FitError, plots
from measurement_layouts.linking import logistic, product
from measurement_layouts.plots.cells import _luminance

mpl.use("Agg")
pytestmark = pytest.mark.usefixtures("tidy_figures")
LONG = "a-model-with-a-name-of-more-than-sixty-letters-as-they-do-occur-in-practice-v2"
HIGHS = {"navigationAbility": 5.3, "visualAbility": 1.9, "noiseLevel": 1.0}


@pytest.fixture(scope="module")
def crowd():
    """Thirty subjects, one of them with a long name, and twenty elements; draws made up."""
    names = tuple(f"demand {k}" for k in range(16))
    skill = ml.Capability("skill", low=0, high=5, unit="level", labels=names)
    demand = ml.MetaFeature("demand", low=0, high=5, unit="level", labels=names)
    able = product(logistic(skill - demand), over="dimension")
    for place in range(2):
        bias = ml.Bias(f"an_inclination_that_has_a_long_name_{place}")
        able = able * logistic(bias * ml.MetaFeature(f"side {place}", levels=(-1, 1)))
    for latent in (
        ml.Capability("effort", prior=ml.Prior("Exponential", scale=100.0)),
        ml.Capability("tiny", low=0, high=0.01),
    ):
        able = able * logistic(latent)
    layout = ml.Layout("crowd", ml.Success("done", able))
    rng = np.random.default_rng(5)
    items = pd.DataFrame(rng.uniform(0, 5, (6, 16)), columns=[f"demand[{n}]" for n in names])
    items[["side 0", "side 1"]] = rng.choice([-1, 1], (6, 2))
    items.index = [f"i{k}" for k in range(6)]
    who = [*(f"Agent{k}" for k in range(29)), LONG]
    outcomes = pd.DataFrame(rng.integers(0, 2, (30, 6)), index=who, columns=items.index)
    outcomes.loc["Agent1"] = 0
    posterior = {}
    for latent in layout.latents:
        shape = (2, 50, *map(len, latent.dims.values()))
        shares = np.array([rng.beta(*rng.uniform(0.5, 9, 2), shape) for _ in who])
        low, high = latent.range.low, latent.range.high
        low, high = (low, high) if latent.range.is_finite else (max(low, -9), 900)
        posterior[latent.name] = low + (high - low) * shares
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    return small_layouts.crafted(layout, evaluation, posterior, failures={"Agent3": "it stopped"})


def meshes(ax):
    return [drawn for drawn in ax.collections if isinstance(drawn, QuadMesh)]


def cells(ax):
    """Numbers written in the cells, row by row."""
    rows, columns = len(ax.get_yticks()), len(ax.get_xticks())
    written = [text.get_text().replace("\u2212", "-") for text in ax.texts]
    return np.array(written, dtype=float).reshape(rows, columns)


def bars(ax):
    """Colour bars' labels."""
    others = [one for one in ax.get_figure().axes if one is not ax]
    return [one.get_xlabel() for one in others]


def wide(fit, statistic):
    """A statistic of the profiles, (element, subject), both in the order of the fit."""
    table = fit.profiles()
    labels = [f"[{label}]" if label else "" for label in table["label"]]
    table = table.assign(element=table["node"] + labels)
    order = list(dict.fromkeys(table["element"]))
    return table.pivot(index="element", columns="subject", values=statistic).loc[
        order, fit.subjects
    ]


class TestProfileHeatmap:
    @pytest.mark.parametrize("statistic", ["mean", "sd"])
    def test_numbers_are_those_of_the_table(self, fitted, statistic):
        ax = plots.profile_heatmap(fitted, statistic=statistic)
        expected = wide(fitted, statistic)
        rates = fitted.diagnostics()["success"]
        found = cells(ax)
        assert found.shape == (5, 6)
        last = rates if statistic == "mean" else np.sqrt(rates * (1 - rates))
        exact = np.vstack([expected, last[fitted.subjects]])
        assert (np.abs(found - exact) <= np.maximum(0.005, 0.05 * np.abs(exact)) + 1e-12).all()
        names = [label.get_text() for label in ax.get_yticklabels()]
        assert [name.split(" (")[0] for name in names[:-1]] == list(expected.index)
        assert names[-1] == ("success rate" if statistic == "mean" else "sd of an outcome")
        heads = [label.get_text().removesuffix(" †") for label in ax.get_xticklabels()]
        assert heads == fitted.subjects
        assert is_whole(ax)

    def test_colour_of_a_mean_is_its_place_in_the_range(self, fitted):
        plain, signed = (mesh.get_array() for mesh in meshes(plots.profile_heatmap(fitted)))
        means = wide(fitted, "mean")
        for row, name in enumerate(means.index):
            if name in HIGHS:
                assert np.allclose(plain[row], means.loc[name] / HIGHS[name], rtol=1e-12)
                assert signed.mask[row].all()
            else:
                assert np.array_equal(signed[row], means.loc[name])
                assert plain.mask[row].all()
        assert np.allclose(plain[-1], fitted.diagnostics()["success"][fitted.subjects])

    def test_bias_is_centred_at_0(self, fitted, crowd):
        """The scale ends at the largest mean, but not within the prior's central 99 %, 2.58."""
        ends = []
        for fit in (fitted, crowd):
            ax = plots.profile_heatmap(fit)
            low, high = meshes(ax)[1].get_clim()
            assert low == -high
            assert bars(ax)[1].startswith("posterior mean of ")
            ends.append((high, np.abs(meshes(ax)[1].get_array()).max()))
        assert ends[0] == (pytest.approx(2.58, abs=0.4), pytest.approx(0.5, abs=0.5))
        assert ends[1][0] == ends[1][1]

    def test_colour_of_an_sd_is_its_share_of_the_priors(self, fitted):
        ax = plots.profile_heatmap(fitted, statistic="sd")
        (mesh,) = meshes(ax)
        prior = np.array([fitted.prior[name].std(ddof=1) for name in wide(fitted, "sd").index])
        shares = wide(fitted, "sd").to_numpy() / prior[:, None]
        assert np.allclose(mesh.get_array()[:-1], shares, rtol=1e-9)
        assert mesh.get_array().mask[-1].all()
        assert mesh.get_clim() == (0, 1)
        assert bars(ax) == ["posterior sd as a share of the prior's"]

    def test_more_is_lighter_also_in_grey(self, fitted):
        plain, signed = meshes(plots.profile_heatmap(fitted))
        light = _luminance(plain.to_rgba(np.linspace(0, 1, 101)))
        assert (np.diff(light) > 0).all()
        high = signed.get_clim()[1]
        for side in (-1, 1):
            assert (np.diff(_luminance(signed.to_rgba(side * np.linspace(0, high, 51)))) < 0).all()

    def test_numbers_can_be_read_on_their_cells(self, crowd):
        """WCAG's contrast of text and ground; its level AA for large text is 3."""
        for statistic in ("mean", "sd"):
            ax = plots.profile_heatmap(crowd, statistic=statistic)
            ground = np.ones((len(ax.texts), 4))
            for mesh in meshes(ax):
                values = mesh.get_array()
                ground[~values.mask.ravel()] = mesh.to_rgba(values.compressed())
            for patch in ax.patches:
                ground[int(patch.get_y() * len(crowd.subjects) + patch.get_x())] = 1
            ink = np.array([to_rgba(text.get_color()) for text in ax.texts])
            both = np.sort([_luminance(ground), _luminance(ink)], axis=0)
            assert ((both[1] + 0.05) / (both[0] + 0.05)).min() > 4

    @pytest.mark.slow
    @pytest.mark.parametrize("statistic", ["mean", "sd"])
    def test_many_rows_and_columns(self, crowd, statistic):
        ax = plots.profile_heatmap(crowd, statistic=statistic)
        assert cells(ax).shape == (21, 29)
        flagged = crowd.profiles()["prior_dominated"].any()
        hatched = "hatched: prior-dominated; " if flagged else ""
        assert ax.get_xlabel() == f"{hatched}† not converged; 1 failed, not shown"
        names = [label.get_text() for label in ax.get_yticklabels()]
        assert names[0] == "skill[demand 0] (level)"
        assert is_whole(ax)
        size = ax.get_window_extent()
        width, height = size.width / 29, size.height / 21
        boxes = [text.get_window_extent() for text in ax.texts]
        assert max(box.width for box in boxes) < width
        assert max(box.height for box in boxes) < height
        heads = [label.get_window_extent() for label in ax.get_xticklabels()]
        assert max(box.width for box in heads) < width

    def test_chosen_subjects_and_nodes(self, crowd):
        chosen = {"subjects": [LONG, "Agent7"], "nodes": ["tiny", "skill[demand 3]"]}
        ax = plots.profile_heatmap(crowd, **chosen)
        expected = wide(crowd, "mean").loc[["tiny", "skill[demand 3]"], [LONG, "Agent7"]]
        assert np.allclose(cells(ax)[:2], expected, rtol=0.05, atol=1e-12)
        assert "failed" not in ax.get_xlabel()
        assert is_whole(ax)
        assert is_whole(plots.profile_heatmap(crowd, subjects="Agent7", nodes="tiny"))

    def test_range_without_an_upper_end_is_widened(self, crowd):
        ax = plots.profile_heatmap(crowd, nodes="effort")
        (mesh,) = meshes(ax)
        assert mesh.get_array()[0].max() == 1
        assert np.array_equal(
            np.argsort(mesh.get_array()[0]), np.argsort(wide(crowd, "mean").loc["effort"])
        )

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"statistic": "median"}, "statistic='median'; give one of 'mean', 'sd'"),
            ({"nodes": "hearing"}, "no profile element hearing; there are navigationAbility"),
            ({"subjects": ["Zoe"]}, "not in this fit: Zoe; it has Ann"),
            ({"subjects": []}, "there is no subject to draw"),
        ],
    )
    def test_errors(self, fitted, arguments, message):
        with pytest.raises(FitError, match=message):
            plots.profile_heatmap(fitted, **arguments)


def dots(ax, *, known=False):
    """Means of each subject, or the known values: those are open."""
    drawn = [item for item in ax.collections if isinstance(item, PathCollection)]
    return [item for item in drawn if (len(item.get_facecolors()) == 0) == known]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_figures_leave_fit_and_truth_alone(fitted):
    before, truth = fitted.data.copy(deep=True), small_layouts.profiles()
    plots.profile_heatmap(fitted)
    assert fitted.data.identical(before)
    pd.testing.assert_frame_equal(truth, small_layouts.profiles())


def test_given_axes_are_returned_and_no_figure_is_made(fitted):
    figure, left = plt.subplots()
    assert plots.profile_heatmap(fitted, ax=left) is left
    assert plt.get_fignums() == [figure.number]
