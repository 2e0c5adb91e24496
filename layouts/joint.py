"""Layouts whose subjects are fitted together: what they cannot hold."""

from ..linking import LayoutError
from .graph import Graph
from .outcomes.unseen import Unseen
from .plates import written


def check_joint(layout: Graph) -> None:
    """Refuse what is computed for each subject on its own where subjects are fitted together.

    Raises
    ------
    LayoutError
        When such a layout has something unseen, noise that pulls towards the mean failure, or other
        outcomes than a single `Success`.
    """
    if not layout.joint:
        return
    together = f"subjects are fitted together, since {_reason(layout)}"
    if layout.steps is not None:
        names = " and ".join(outcome.name for outcome in layout.outcomes)
        raise LayoutError(
            f"{names}: outcomes that are several, graded or scores are fitted for each subject "
            f"alone, and {together}; declare one Success, or let every latent be per='subject'"
        )
    for node in layout.nodes.values():
        if isinstance(node, Unseen):
            raise LayoutError(
                f"{layout.outcome.name}: it uses {node.name}, which is unseen and integrated "
                f"out for each subject alone, and {together}; give items a part of their own that "
                "all subjects meet, as in Bias('ease', per='item', prior=Prior('ZeroSumNormal', "
                "sigma=Spread('easeSpread'))), or each subject one on each item, as in "
                "Bias('part', per=('subject', 'item'), prior=Prior('Normal', mu=0, "
                "sigma=Spread('partSpread')))"
            )
    for node in layout.measured:
        raise LayoutError(
            f"{layout.outcome.name}: it uses {node.name}, which is measured and averaged over for "
            f"each subject alone, and {together}: all of them would meet one true level of an "
            f"item; give {node.name} as a MetaFeature, or let every latent be per='subject'"
        )
    for constant in layout.constants:
        raise LayoutError(
            f"{layout.outcome.name}: its noise pulls towards {constant.about}, which is known only "
            f"after the outcomes, and {together}; give mixture a number, as in mixture(p, "
            "by=noise, toward=0.5)"
        )


def _reason(layout: Graph) -> str:
    """Say what makes a layout joint."""
    for latent in layout.latents:
        if not latent.is_profile:
            return f"{latent.name} has one value per {written(latent.plates)}"
    return f"{layout.covariates[0].name} is a property of subjects"
