"""Check of layouts whose subjects are fitted together, which cannot use all kinds of nodes."""

from ..linking import LayoutError
from .graph import Graph
from .outcomes.unseen import Unseen
from .plates import written


def check_joint(layout: Graph) -> None:
    """Refuse parts that can only be computed for each subject alone in a joint layout.

    Raises
    ------
    LayoutError
        When a joint layout has an unseen property, a measured demand, noise that pulls towards the
        mean failure, or other outcomes than a single `Success`.
    """
    if not layout.joint:
        return
    together = f"subjects are fitted together, since {_reason(layout)}"
    if layout.steps is not None:
        names = " and ".join(outcome.name for outcome in layout.outcomes)
        raise LayoutError(
            f"{names}: several outcomes, graded outcomes and scores are fitted for each subject "
            f"alone, but {together}; declare one Success, or declare every latent per='subject'"
        )
    for node in layout.nodes.values():
        if isinstance(node, Unseen):
            raise LayoutError(
                f"{layout.outcome.name}: it uses {node.name}, which is unseen and integrated "
                f"out for each subject alone, but {together}; declare instead a bias of each item "
                "that all subjects share, as in Bias('ease', per='item', "
                "prior=Prior('ZeroSumNormal', sigma=Spread('easeSpread'))), or one of each subject "
                "on each item, as in Bias('effect', per=('subject', 'item'), prior=Prior('Normal', "
                "mu=0, sigma=Spread('effectSpread')))"
            )
    for node in layout.measured:
        raise LayoutError(
            f"{layout.outcome.name}: it uses {node.name}, which is measured and averaged over for "
            f"each subject alone, but {together}, and the true level of an item is the same for "
            f"all; declare {node.name} as a MetaFeature, or declare every latent per='subject'"
        )
    for constant in layout.constants:
        raise LayoutError(
            f"{layout.outcome.name}: its noise pulls towards {constant.about}, which is computed "
            f"from the outcomes of each subject, but {together}; give mixture a number, as in "
            "mixture(p, by=noise, toward=0.5)"
        )


def _reason(layout: Graph) -> str:
    """Say what makes a layout joint."""
    for latent in layout.latents:
        if not latent.is_profile:
            return f"{latent.name} has one value per {written(latent.plates)}"
    return f"{layout.covariates[0].name} is a property of subjects"
