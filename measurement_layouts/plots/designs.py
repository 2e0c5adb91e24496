"""Batteries that are designed or asked one by one: standard deviations by the number of items."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from ..batteries.adaptive.adaptive_test import AdaptiveTest
from ..batteries.design.result import Design
from ..common.errors import DataError
from ..linking import units
from . import style
from .lines import Look, lines

_SD = "sd "


def adaptive_plot(
    tests: AdaptiveTest | Mapping[str, AdaptiveTest],
    *,
    design: Design | None = None,
    ax: Axes | np.ndarray | None = None,
) -> np.ndarray:
    """Draw the posterior standard deviation of every profile element against the number of answers.

    If some items of a test were chosen at random and others were not, points mark the random ones.

    Parameters
    ----------
    tests : AdaptiveTest or mapping of str to AdaptiveTest
        One test, or several tests of one layout by name, such as an adaptive one and one with
        ``random_share=1``.
    design : Design, optional
        A battery designed for the same layout, whose expected standard deviations are drawn as
        dashed lines.
    ax : Axes or ndarray of Axes, optional
        Axes to draw on, one for each element (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes for each profile element.

    Raises
    ------
    DataError
        When there is no answer, or layouts differ.
    FitError
        When the number of axes is wrong.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import Capability, Layout, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=10, unit="octave")
    >>> smallness = MetaFeature("smallness", low=0, high=10, unit="octave")
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> bank = pd.DataFrame({"smallness": np.linspace(0, 10, 41)}, [f"{n}" for n in range(41)])
    >>> test = AdaptiveTest(layout, bank, seed=1)
    >>> for _ in range(5):
    ...     (item,) = test.next()
    ...     test.record(item, bank.smallness[item] < 6)
    >>> (panel,) = adaptive_plot(test)
    >>> panel.get_title(), panel.get_ylabel()
    ('sight', 'posterior sd (oct)')
    """
    tests = tests if isinstance(tests, Mapping) else {"items chosen by information": tests}
    histories = {name: test.history for name, test in tests.items()}
    empty = [name for name, history in histories.items() if history.empty]
    if empty or not histories:
        raise DataError(
            f"{'there is no test' if not histories else 'no answers yet'}; give tests in which "
            "outcomes were recorded"
        )
    layouts = {test.layout.name: test.layout for test in tests.values()}
    (layout, *different) = layouts.values()
    if different or any(test.layout != layout for test in tests.values()):
        raise DataError(f"tests under several layouts: {', '.join(layouts)}; draw them one by one")
    columns = [str(name) for name in next(iter(histories.values())).columns]
    elements = [name.removeprefix(_SD) for name in columns if name.startswith(_SD)]
    expected = "designed before any answer: expected"
    looks, frames = {}, []
    for name, (colour, marker) in style.method_styles([*tests, expected]).items():
        looks[name] = Look(colour, name, "--" if name == expected else "-", width=1.4)
        looks[f"{name}: random"] = Look(colour, marker=marker, area=9)
    for element in elements:
        for name, history in histories.items():
            columns_of = {"x": np.arange(1, len(history) + 1), "y": history[_SD + element]}
            points = pd.DataFrame(columns_of).assign(panel=element, series=name)
            random = (history["why"] == "random").to_numpy()
            chosen = points[random & ~random.all()]
            frames += [points, chosen.assign(series=f"{name}: random")]
        if design is not None and element in design.curve:
            curve = design.curve[element].rename_axis("x").rename("y").reset_index()
            frames.append(curve.assign(panel=element, series=expected))
    axes = lines(
        pd.concat(frames),
        looks,
        ax=ax,
        columns=3,
        size=(3.0, 2.2),
        title=f"Posterior sd after each answer: {style.words(layout.name, 40)}",
        x="answers",
    )
    for element, panel in zip(elements, axes, strict=True):
        unit = units.name(layout.nodes[element.partition("[")[0]].unit)
        panel.set_ylabel(f"posterior sd ({unit})" if unit else "posterior sd", fontsize=9)
        panel.set_ylim(bottom=0)
    return axes


def design_plot(design: Design, *, ax: Axes | None = None) -> Axes:
    """Draw expected standard deviations of the latents against the number of items.

    Each standard deviation is divided by the one before any item, so that latents with different
    units share an axis. Lines of latents outside the target are grey and dashed; the legend has the
    standard deviation in the end.

    Parameters
    ----------
    design : Design
        Result of `batteries.design`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Axes with one line for each profile element.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.linking import logistic
    >>> sight = ml.Capability("sight", low=0, high=10)
    >>> smallness = ml.MetaFeature("smallness", low=0, high=10)
    >>> layout = ml.Layout("looking", ml.Success("found", logistic(sight - smallness)))
    >>> bank = pd.DataFrame({"smallness": np.linspace(0, 10, 41)}, index=range(41))
    >>> design_plot(ml.batteries.design(layout, bank, n=8)).get_ylabel()
    'expected sd, part of the one before any item'
    """
    latents = design.latents
    shares = design.curve / latents["before"]
    table = shares.rename_axis("x").reset_index().melt("x", var_name="series", value_name="y")
    colours = map(to_hex, style.amount_map()(np.linspace(0, 1, shares.shape[1])))
    looks = {}
    for name, colour in zip(shares.columns, colours, strict=True):
        latent = latents.loc[[name]].iloc[0].astype(object)
        wanted = float(latent["weight"]) > 0
        label = f"{style.words(name, 34)}: {float(latent['after']):.2g} in the end"
        looks[name] = Look(colour if wanted else style.PRIOR, label, "-" if wanted else "--")
    count = shares.index[-1]
    (panel,) = lines(
        table,
        looks,
        ax=ax,
        size=(6.2, 3.6),
        title=f"{style.words(design.layout, 40)}: what {count} of {len(design.bank)} items tell",
        x="number of items",
        y="expected sd, part of the one before any item",
        xlim=(0, count),
    )
    panel.set_ylim(0, max(1.0, float(shares.to_numpy().max())) + 0.02)
    return panel  # type: ignore[no-any-return]
