"""The question about one item, by whichever rubric."""

from ..inference.errors import AnnotationError
from .band_prompt import band_scheme
from .demand_prompt import demand_scheme
from .demand_rubric import DemandRubric
from .rubric import Rubric
from .scheme import Scheme


def prompt(rubric: Rubric | DemandRubric, item: str) -> str:
    """Write the question for one item.

    Parameters
    ----------
    rubric : Rubric or DemandRubric
        The propensity, or the demand.
    item : str
        The item as subjects see it, with its options.

    Returns
    -------
    str
        The rubric, the steps and the item. Rubric and steps come first, so that providers that keep
        the beginnings of prompts can keep them.

    Raises
    ------
    AnnotationError
        When the rubric is none.

    References
    ----------
    Propensities paper, Appendix E, Listing 1, and general scales paper, Table 6: the structures.
    The words are this package's own.

    Examples
    --------
    >>> from measurement_layouts.annotation import load_demand_rubric, load_rubric
    >>> text = prompt(load_rubric("risk_aversion"), "A: 50 for certain. B: 1 chance in 4 of 100.")
    >>> text.splitlines()[-4:]
    ['A: 50 for certain. B: 1 chance in 4 of 100.', '</item>', '', 'Now go through the four ...']
    >>> text = prompt(load_demand_rubric("quantitative_reasoning"), "What is 3 + 4?")
    >>> text.splitlines()[-1]
    'Now go through the four steps. The last line is `Level: N`.'
    """
    return scheme_of(rubric).prompt(item)


def fingerprint(rubric: Rubric | DemandRubric) -> str:
    """Hash everything an annotator is told except the item.

    Parameters
    ----------
    rubric : Rubric or DemandRubric
        The propensity, or the demand.

    Returns
    -------
    str
        16 digits, other ones when a word of the rubric or of the prompts changes.
    """
    return scheme_of(rubric).fingerprint


def scheme_of(rubric: Rubric | DemandRubric) -> Scheme:
    """Say how items are annotated by a rubric.

    Parameters
    ----------
    rubric : Rubric or DemandRubric
        The propensity, or the demand.

    Returns
    -------
    Scheme
        For bands or for levels.

    Raises
    ------
    AnnotationError
        When the rubric is none.
    """
    if isinstance(rubric, Rubric):
        return band_scheme(rubric)
    if isinstance(rubric, DemandRubric):
        return demand_scheme(rubric)
    raise AnnotationError(
        f"rubric={rubric!r}; give a Rubric, such as load_rubric({rubric!r}), for bands, or a "
        f"DemandRubric, such as load_demand_rubric({rubric!r}), for levels of a demand"
    )
