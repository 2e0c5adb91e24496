"""Checks of priors whose values sum to zero over plates."""

from ..linking import LayoutError
from .plates import SUBJECT, Plate, determines, written
from .priors import Prior


def summed_plates(prior: Prior, plates: tuple[Plate, ...]) -> tuple[Plate, ...]:
    """List the plates over each of which a latent's values sum to zero: the last of its own.

    Examples
    --------
    >>> summed_plates(Prior("ZeroSumNormal", sigma=1), ("subject", "item"))
    ('item',)
    """
    return plates[len(plates) - prior.zero_sum_axes :]


def check_zero_sum(
    owner: str,
    priors: tuple[Prior, ...],
    plates: tuple[Plate, ...],
    labels: tuple[str, ...] | None = None,
) -> None:
    """Refuse values that sum to zero over no plate, over subjects, or with labels.

    Raises
    ------
    LayoutError
        When they do.
    """
    axes = max(prior.zero_sum_axes for prior in priors)
    if not axes:
        return
    if labels is not None:
        raise LayoutError(
            f"{owner}: it has labels, but values with labels cannot sum to zero; declare a node "
            "for each label, or use Prior('Normal', mu=0, sigma=...)"
        )
    have = f"{owner} has one value per {written(plates)}"
    if axes > len(plates):
        raise LayoutError(
            f"{owner}: {priors[0]} sums to zero over {axes} plate{'s' * (axes > 1)}, but {have}; "
            "give per= an 'item' or a Category for each sum, or use Prior('Normal', mu=0, "
            "sigma=...)"
        )
    if SUBJECT in summed_plates(priors[0], plates):
        instead = " after 'subject'" if len(plates) > axes else ""
        raise LayoutError(
            f"{owner}: {priors[0]} sums to zero over its last plate{'s' * (axes > 1)}, but {have}; "
            f"subjects are drawn from a population and have no sum: name 'item' or a Category "
            f"last in per={instead}, or use Prior('Normal', mu=0, sigma=...)"
        )


def check_one_width(
    owner: str, prior: Prior, plates: tuple[Plate, ...], part: str, of_part: tuple[Plate, ...]
) -> None:
    """Refuse a width of values that sum to zero which differs among those that are summed.

    Raises
    ------
    LayoutError
        When a part of its formula has other plates than those that are not summed over.
    """
    summed = summed_plates(prior, plates)
    kept = plates[: len(plates) - len(summed)]
    if summed and not determines(kept, of_part):
        raise LayoutError(
            f"{owner}: it sums to zero over {written(summed)}, but the sigma of its prior depends "
            f"on {part}, which has one value per {written(of_part)}; values of one sum need one "
            f"sigma, so declare {part} per='population', or use Prior('Normal', mu=0, sigma=...)"
        )
