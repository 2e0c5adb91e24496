"""Posterior standard deviations after each answer of an adaptive test."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from ..batteries.adaptive.adaptive_test import AdaptiveTest
from ..batteries.design.result import Design
from ..common.errors import DataError
from ..linking import units
from . import style

_COLUMNS = 3
_PANEL = 3.1, 2.3  # inches
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
    named = tests if isinstance(tests, Mapping) else {"": tests}
    histories = {name: test.history for name, test in named.items()}
    empty = [name for name, history in histories.items() if history.empty]
    if empty or not histories:
        raise DataError(
            f"{'there is no test' if not histories else 'no answers yet'}; give tests in which "
            "outcomes were recorded"
        )
    layouts = {test.layout.name: test.layout for test in named.values()}
    (layout, *others) = layouts.values()
    if others or any(test.layout != layout for test in named.values()):
        raise DataError(f"tests under several layouts: {', '.join(layouts)}; draw them one by one")
    columns = map(str, next(iter(histories.values())).columns)
    elements = [name.removeprefix(_SD) for name in columns if name.startswith(_SD)]
    looks = style.method_styles([*named, "designed"])
    axes, figure, _ = style.grid(ax, len(elements), _COLUMNS, _PANEL, (0, 0.9))
    for element, panel in zip(elements, axes, strict=True):
        for name, history in histories.items():
            colour, marker = looks[name]
            answers, sds = np.arange(1, len(history) + 1), history[_SD + element].to_numpy()
            label = style.legend_words(name) if name else "items chosen by information"
            panel.plot(answers, sds, color=colour, linewidth=1.4, label=label)
            drawn = (history["why"] == "random").to_numpy()
            drawn = drawn & ~drawn.all()
            panel.scatter(answers[drawn], sds[drawn], s=9, color=colour, marker=marker)
        if design is not None and element in design.curve:
            curve = design.curve[element]
            look = {"color": looks["designed"][0], "linestyle": "--", "linewidth": 1.2}
            panel.plot(curve.index, curve, label="designed before any answer: expected", **look)
        node = layout.nodes[element.partition("[")[0]]
        unit = units.name(node.unit)
        panel.set(ylabel=f"posterior sd ({unit})" if unit else "posterior sd", xlabel="answers")
        panel.set_ylim(bottom=0)
        style.rules(panel)
        style.quiet_frame(panel, "left", "bottom")
        style.title(panel, style.words(element, 30))
    style.heading(figure, f"Posterior sd after each answer: {style.words(layout.name, 40)}")
    if figure is not None and (len(named) > 1 or design is not None):
        style.legend(axes, figure, 3)
    return axes
