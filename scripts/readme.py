"""Write the README's pictures: its example, what criticism finds, an incited model."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from measurement_layouts.inference.criticism.criticism import Criticism

ROOT = Path(__file__).resolve().parent.parent


def example() -> str:
    """Return the first Python block of the README."""
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    if found is None:
        raise LookupError("README.md has no Python block")
    return found.group(1)


def criticism() -> "Criticism":
    """Criticise the published layout of object permanence, for all agents."""
    import measurement_layouts as ml
    from measurement_layouts.scenarios import object_permanence

    evaluation = object_permanence.simulated_cohort().evaluation
    fit = ml.fit(
        object_permanence.published_layout(),
        evaluation,
        draws=500,
        tune=500,
        chains=2,
        reruns=0,
        seed=1,
        progressbar=False,
    )
    return ml.criticise(fit, evaluation, candidates=object_permanence.CANDIDATES)


def incited() -> "Figure":
    """Draw one model's success by the items' bands, under eight system prompts."""
    import measurement_layouts as ml
    from measurement_layouts.scenarios import propensities

    evaluation = propensities.simulated_cohort().evaluation
    table = propensities.obtained()
    chosen = table.query("model == 'Qwen 3-4B-I' and propensity == 'introversion'")
    order = list(chosen.sort_values("incited").index)  # unprompted last
    estimates = ml.estimate(propensities.published_layout(), evaluation, subjects=order)
    titles = {name: name.split(",")[0].removeprefix("Qwen 3-4B-I ") for name in order}
    axes = ml.plots.characteristic_surface(evaluation, order, estimates=estimates, titles=titles)
    figure: Figure = axes.flat[0].figure
    return figure


def main(images: Path = ROOT / "images") -> None:
    """Execute the example; draw its layout and its figure, then the pictures of the studies."""
    from measurement_layouts.inference.plots import criticism_map

    names: dict[str, object] = {}
    exec(example(), names)
    names["layout"].draw(images / "layout.png")  # type: ignore[attr-defined]
    names["axes"].figure.savefig(images / "capabilities.png", dpi=130)  # type: ignore[attr-defined]
    criticism_map(criticism()).figure.savefig(images / "criticism.png", dpi=130)
    incited().savefig(images / "propensities.png", dpi=110)


if __name__ == "__main__":
    main()
