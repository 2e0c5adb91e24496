"""Layouts of object permanence: the published one, corrected and as printed, and our own."""

from collections.abc import Iterable
from typing import NamedTuple

from ...common.messages import some
from ...layouts import Bias, Capability, Derived, Layout, MetaFeature, Noise, Prior, Slope, Success
from ...linking import LayoutError, logistic, mean_failure, mixture, presence, product
from ...linking.expression import Expr
from .battery import COLOURS, HIDING

_OBSTACLES = ("ramp", "lava", "platform")
_LONGEST = 4  # demand of one place on object permanence, in seconds
DEPARTURES = {
    "demand": "a position demands 4 s of object permanence, instead of the time under occlusion",
    "occluder": "memory also counts if nothing is hidden",
    "ranges": "abilities end at the largest demand plus a tenth, instead of a fifth",
    "walking": "flatNavAbility is N(0, 1) on its range, instead of uniform",
}
"""Parts of Table 5 from which `published_layout` departs, by name."""


class _Arena(NamedTuple):
    """Meta-features that both layouts use."""

    obstacles: tuple[MetaFeature, ...]
    occluder: MetaFeature
    distance: MetaFeature
    size: MetaFeature
    side: MetaFeature
    time: MetaFeature
    places: MetaFeature


def published_layout() -> Layout:
    """Return the layout of the paper.

    Table 5 and the text differ in four points:

    - The demand on object permanence is the time under occlusion times the number of positions
      (section 5.2 and the unit in appendix D.3); the table has 4 s instead of the time.
    - Object permanence performance, including memory, is 1 if nothing is hidden (section 5.2); the
      table's formula includes memory: a subject that remembers for 3 s has 0.73 if 2 s are
      recorded.
    - Upper ends are 1.2 times the largest demand, 52.8, 4.8 and 6, as Figure 13's means of 50 and
      4.8 require; the table has 48.4, 4.4 and 6.
    - ``flatNavAbility`` is uniform on [0, 56]: a mean of 56 (Figure 13) cannot come from the
      table's N(0, 1).

    `printed_layout` is the table itself.

    References
    ----------
    Burden et al. (2023), Figure 5 and Table 5.

    Examples
    --------
    >>> [latent.name for latent in published_layout().latents][:3]
    ['memoryAbility', 'OPAbility', 'rampAbility']
    """
    return printed_layout(DEPARTURES)


def printed_layout(mended: Iterable[str] = ()) -> Layout:
    r"""Return the layout that Table 5 prints, or one with some of its four departures corrected.

    As printed, object permanence performance is

    .. math:: \sigma(m - t) \; \sigma(48.4 - (48.4 - (\theta - 4 n)) \, o)

    with memory m, time t, object permanence :math:`\theta`, n positions, and o = 1 if something is
    hidden; otherwise it is :math:`\sigma(m - t)`.

    Parameters
    ----------
    mended : iterable of str
        Names in `DEPARTURES` to correct; with all of them the layout is `published_layout`.

    Returns
    -------
    Layout
        The layout. If "occluder" is not corrected, it needs a time and a number of positions for
        every arena, also if nothing is hidden; the paper does not state them.

    Raises
    ------
    LayoutError
        When a name is not in `DEPARTURES`.

    Notes
    -----
    In the table flatNavAbility has the range [0, 56] and the prior N(0, 1), which is a normal
    distribution truncated at 0 and 56. OPAbility has no prior in the table; all ranges without a
    prior are assumed to be uniform.

    References
    ----------
    Burden et al. (2023), Table 5.

    Examples
    --------
    >>> from measurement_layouts.linking import evaluate
    >>> arena = {"memoryAbility": 3, "timeUnderOcc": 2, "OPAbility": 40, "numberOfPositions": 1,
    ...          "occluderPresence": 0}
    >>> [round(float(evaluate(layout.nodes["OPPerformance"], arena)), 2)
    ...  for layout in (printed_layout(), published_layout())]
    [0.73, 1.0]
    """
    chosen = set(mended)
    if unknown := sorted(chosen - set(DEPARTURES)):
        raise LayoutError(
            f"there is no departure {some(unknown)} from Table 5; give some of {some(DEPARTURES)}"
        )
    wide, timed = "ranges" in chosen, "demand" in chosen
    arena = _arena(missing="occluder" in chosen)
    memory = Capability("memoryAbility", low=0, high=4.8 if wide else 4.4, unit="s")
    most = 52.8 if wide else 48.4
    counted = "s * position" if timed else "position"
    permanence = Capability("OPAbility", low=0, high=most, unit=counted)
    visual = Capability("visualAbility", low=0, high=6, unit="goal_unit")
    walking = (
        {"low": 0, "high": 56}
        if "walking" in chosen
        else {"prior": Prior("TruncatedNormal", mu=0, sigma=1, lower=0, upper=56)}
    )
    flat = Capability("flatNavAbility", unit="arena_unit", **walking)
    abilities = [Capability(f"{what}Ability", low=0, high=1) for what in _OBSTACLES]
    bias, noise = Bias("rightLeftBias"), Noise("noiseLevel")

    remember = Derived("memoryPerformance", logistic(memory - arena.time))
    margin = permanence - (arena.time if timed else _LONGEST) * arena.places
    if "occluder" in chosen:
        performance: Expr = presence(remember * logistic(margin), arena.occluder)
    else:
        performance = remember * logistic(most - (most - margin) * arena.occluder)
    know = Derived("OPPerformance", performance)
    effect = Derived("rightLeftEffect", bias * arena.side)
    walk = Derived("flatNavPerformance", logistic(flat - arena.distance + effect))
    navigate = Derived("navigationPerformance", product(*_pass(abilities, arena), walk))
    see = Derived("visualAcuityPerformance", logistic(visual - (5 - arena.size)))
    outcome = Success(
        "taskPerformance", mixture(know * navigate * see, by=noise, toward=mean_failure)
    )
    printed = [] if chosen == set(DEPARTURES) else ["printed", *sorted(chosen)]
    return Layout("-".join(["object-permanence", *printed]), outcome)


def recommended_layout() -> Layout:
    """Return our layout, which adds causes that the published one lacks.

    - Time under occlusion is the demand on memory, and the number of places that on object
      permanence; a place counts as 4 s, so that the scale is that of Table 5.
    - A subject may look for a hidden reward where it was last seen, with the probability
      ``lastSeenStrategy``. This fails if the reward was deflected; then object permanence is
      needed.
    - Each paradigm, a strong colour of an occluder, and places that look alike may each cause
      failures: ``paradigmAbility`` and ``similarAbility`` are probabilities of success, and
      ``rednessTolerance`` and the like are the strength up to which a colour does not matter.
    - A preference for a side acts on a separate choice; ``straightAhead`` is the log-odds of a
      right choice in the middle.
    - Priors of abilities have more mass at the lower end, so that high abilities need evidence.
      Upper ends are 1.2 times the demand of the hardest arena.
    - Noise is an inferred weight of guessing, with a success rate of one half.

    Examples
    --------
    >>> len(recommended_layout().latents)
    18
    """
    arena = _arena()
    memory = Capability("memoryAbility", unit="s", prior=_to_be_shown(4.8))
    permanence = Capability("OPAbility", unit="position", prior=_to_be_shown(52.8))
    permanence_slope = Slope("OPSlope", prior=Prior("LogNormal", mu=-1, sigma=1.2))
    visual = Capability("visualAbility", unit="goal_unit", prior=_to_be_shown(6))
    visual_slope = Slope("visualSlope", prior=Prior("LogNormal", mu=1, sigma=0.5))
    flat = Capability("flatNavAbility", unit="arena_unit", prior=_to_be_shown(67.2))
    shown = Prior("Beta", alpha=1, beta=2)
    abilities = [Capability(f"{what}Ability", prior=shown) for what in _OBSTACLES]
    strategy = Bias(
        "lastSeenStrategy",
        prior=shown,
        about="how often it goes to where it last saw the reward",
    )
    cope = Capability("paradigmAbility", low=0, high=1, labels=HIDING, dim="hiding")
    distinguish = Capability("similarAbility", low=0, high=1)
    straight = Bias("straightAhead", prior=Prior("Normal", mu=4, sigma=2))
    bias, noise = Bias("rightLeftBias"), Noise("noiseLevel", prior=Prior("Beta", alpha=1, beta=9))
    paradigm = MetaFeature("paradigm", levels=(0, 1), labels=HIDING, dim="hiding")
    similar = MetaFeature("similarPositions", levels=(0, 1))
    deflected = MetaFeature("rewardDeflected", levels=(0, 1))

    remember = Derived("memoryPerformance", logistic(memory - arena.time, 6))
    keep = logistic(permanence - _LONGEST * arena.places, permanence_slope)
    find = Derived("findPerformance", mixture(keep, by=strategy, toward=1 - deflected))
    ignore = product(*(_ignore(colour, arena) for colour in COLOURS))
    know = Derived("OPPerformance", presence(remember * find * ignore, arena.occluder))
    choose = Derived("choicePerformance", logistic(straight + bias * arena.side))
    walk = Derived("flatNavPerformance", logistic(flat - arena.distance))
    navigate = Derived("navigationPerformance", product(*_pass(abilities, arena), walk, choose))
    see = Derived("visualAcuityPerformance", logistic(visual - (5 - arena.size), visual_slope))
    context = Derived(
        "contextPerformance",
        product(presence(cope, paradigm), over="hiding") * presence(distinguish, similar),
    )
    able = product(know, navigate, see, context)
    outcome = Success("taskPerformance", mixture(able, by=noise, toward=0.5))
    return Layout("object-permanence-recommended", outcome)


LAYOUTS = {"published layout": published_layout, "recommended layout": recommended_layout}
PUBLISHED, RECOMMENDED = LAYOUTS


def _arena(missing: bool = True) -> _Arena:
    """Declare the meta-features; time and positions may be missing if nothing is hidden."""
    occluder = MetaFeature("occluderPresence", levels=(0, 1))
    given = occluder if missing else None
    return _Arena(
        obstacles=tuple(MetaFeature(f"{what}Presence", levels=(0, 1)) for what in _OBSTACLES),
        occluder=occluder,
        distance=MetaFeature("goalDistance", low=0, high=56, unit="arena_unit"),
        size=MetaFeature("goalSize", low=0.4, high=5, unit="goal_unit"),
        side=MetaFeature("rightLeftPosition", levels=(-1, 0, 1), about="1 right"),
        time=MetaFeature("timeUnderOcc", low=0, high=4, unit="s", given=given),
        places=MetaFeature(
            "numberOfPositions",
            low=1,
            high=11,
            unit="position",
            given=given,
            about="other places where the reward could be",
        ),
    )


def _pass(abilities: list[Capability], arena: _Arena) -> list[Derived]:
    """Return ramp, lava and platform performance."""
    return [
        Derived(ability.name.replace("Ability", "Performance"), presence(ability, obstacle))
        for ability, obstacle in zip(abilities, arena.obstacles, strict=True)
    ]


def _ignore(colour: str, arena: _Arena) -> Derived:
    strength = MetaFeature(f"occluder{colour}", low=0, high=255, given=arena.occluder)
    tolerance = Capability(f"{colour.lower()}Tolerance", low=0, high=306)
    return Derived(f"{colour.lower()}Performance", logistic(tolerance - strength, 0.15))


def _to_be_shown(high: float) -> Prior:
    """Return a prior on [0, high] with more mass near 0."""
    return Prior("TruncatedNormal", mu=0, sigma=high / 2.5, lower=0, upper=high)
