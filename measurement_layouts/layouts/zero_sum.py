"""Checks of priors whose values sum to zero over plates."""

from ..linking.errors import check
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
    independent = "use Prior('Normal', mu=0, sigma=...)"
    problem = "it has labels, but values with labels cannot sum to zero"
    check(owner, labels is None, problem, f"declare a node for each label, or {independent}")
    over = f"plate{'s' * (axes > 1)}, but {owner} has one value per {written(plates)}"
    advice = f"give per= an 'item' or a Category for each sum, or {independent}"
    check(owner, axes <= len(plates), f"{priors[0]} sums to zero over {axes} {over}", advice)
    last = f"name 'item' or a Category last in per={' after' * (len(plates) > axes)}"
    last += " 'subject'" * (len(plates) > axes)
    problem = f"{priors[0]} sums to zero over its last {over}, and subjects have no sum"
    of_items = SUBJECT not in summed_plates(priors[0], plates)
    check(owner, of_items, problem, f"{last}, or {independent}")


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
    unsummed = plates[: len(plates) - len(summed)]
    problem = f"it sums to zero over {written(summed)}, but its sigma depends on {part}, which has "
    advice = f"declare {part} per='population', or use Prior('Normal', mu=0, sigma=...)"
    one_width = not summed or determines(unsummed, of_part)
    check(owner, one_width, f"{problem}one value per {written(of_part)}", advice)
