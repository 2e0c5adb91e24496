"""Run the README's example; write the pictures of README, documentation and ARCHITECTURE."""

import re
import shutil
import tempfile
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphviz import Digraph
    from matplotlib.figure import Figure

    from measurement_layouts.validation.criticism.criticise import Criticism

ROOT = Path(__file__).resolve().parent.parent


def example() -> str:
    """Return the README's two examples: each subject alone, then a population."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    return "\n".join(blocks[:2])


def criticism() -> "Criticism":
    """Criticise the published layout of object permanence, for all agents."""
    import measurement_layouts as ml
    from measurement_layouts.scenarios import object_permanence

    evaluation = object_permanence.simulated_cohort().evaluation
    fit = ml.fit(
        object_permanence.published_layout(),
        evaluation,
        draws=300,
        tune=400,
        chains=2,
        reruns=0,
        seed=1,
        progressbar=False,
    )
    return ml.validation.criticise(fit, evaluation, candidates=object_permanence.CANDIDATES)


def incited() -> "Figure":
    """Draw one model's success by the items' bands, under eight system prompts."""
    import measurement_layouts as ml
    from measurement_layouts.scenarios import propensities

    evaluation = propensities.simulated_cohort().evaluation
    table = propensities.obtained()
    chosen = table.query("model == 'Qwen 3-4B-I' and propensity == 'introversion'")
    order = list(chosen.sort_values("incited").index)  # unprompted last
    estimates = ml.estimation.estimate(propensities.published_layout(), evaluation, subjects=order)
    titles = {name: name.split(",")[0].removeprefix("Qwen 3-4B-I ") for name in order}
    axes = ml.plots.characteristic_surface(
        evaluation, subjects=order, estimates=estimates, titles=titles
    )
    figure: Figure = axes.flat[0].figure
    return figure


def known_abilities() -> "Figure":
    """Draw what curves and the layout make of abilities that are known."""
    import matplotlib.pyplot as plt

    import measurement_layouts as ml
    from measurement_layouts.scenarios import adele

    cohort = adele.simulated_cohort(items=3_222)
    truth = cohort.profiles.iloc[::3]
    outcomes = cohort.evaluation.select(subjects=truth.index)
    demands = [f"demand[{code}]" for code in adele.DEMANDS]
    curves = ml.batteries.characteristic_curves(outcomes, demands, resamples=200, seed=1).table
    options = {"draws": 300, "tune": 300, "chains": 2, "reruns": 0, "seed": 1}
    fit = ml.fit(adele.capability_layout(), outcomes, progressbar=False, **options)
    abilities = fit.profiles().query("node == 'ability'")
    tables = {
        "Areas under characteristic curves": curves.rename(columns={"ability": "estimate"}),
        "Abilities by the layout": abilities.rename(columns={"mean": "estimate"}),
    }
    figure, axes = plt.subplots(
        1, 2, figsize=(10.5, 4.8), sharex=True, sharey=True, layout="constrained"
    )
    true = truth.to_numpy().ravel()
    for ax, (title, table) in zip(axes, tables.items(), strict=True):
        reach = abs(table[["low", "high"]].T - table["estimate"])
        ax.errorbar(true, table["estimate"], reach, fmt="o", ms=3.5, lw=0.7, alpha=0.7)
        ax.axline((0, 0), slope=1, color="0.6", lw=1, zorder=0)
        miss = (table["estimate"] - true).mean()
        ax.set(title=f"{title}: {miss:+.2f} levels on average", xlabel="true ability (level)")
    axes[0].set(ylabel="estimated ability (level), 90 % intervals", ylim=(0, 7), xlim=(1.5, 6))
    figure.suptitle("Five simulated subjects, 18 abilities, 3,222 items")
    return figure


def misaligned() -> "Figure":
    """Draw the distances of models' choices from people's."""
    import measurement_layouts as ml
    from measurement_layouts.scenarios import dispositions

    study = dispositions.simulated_study()
    gaps = ml.dispositions.misalignment_by_group(study.judgments, groups=study.truth["size"])
    axes = ml.plots.misalignment_plot(gaps)
    figure: Figure = axes.flat[0].figure
    return figure


def packages() -> "Digraph":
    """Draw the layers of the contract of imports, each on what it may use."""
    from graphviz import Digraph

    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = [layer.split(" : ") for layer in contracts["contracts"][0]["layers"]]
    layers = [layer for layer in layers if layer[0] != "commands"]
    box = {"shape": "box", "style": "rounded,filled", "fillcolor": "#eef2f7", "color": "#7b8794"}
    drawn = Digraph(
        graph_attr={"rankdir": "BT", "ranksep": "0.25", "nodesep": "0.4"},
        node_attr={**box, "fontname": "Helvetica", "fontsize": "12", "height": "0.35"},
        edge_attr={"color": "#7b8794", "arrowsize": "0.6"},
    )
    for above, below in pairwise(layers):
        drawn.edges((low, high) for low in below for high in above)
    return drawn


def agents() -> "Figure":
    """Draw 68 simulated agents by two of their capabilities."""
    import measurement_layouts as ml
    from measurement_layouts.scenarios import animal_ai_olympics

    cohort = animal_ai_olympics.simulated_cohort()
    sampling = {"draws": 500, "tune": 500, "chains": 2, "seed": 1}
    fit = ml.fit(animal_ai_olympics.published_layout(), cohort.evaluation, **sampling)
    figure: Figure = ml.plots.capability_scatter(fit).figure
    return figure


def report_picture(report: Path, picture: Path) -> None:
    """Open a report in the system's Chromium and photograph what it has on the first subject."""
    from playwright.sync_api import sync_playwright

    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        raise LookupError("there is no chromium; install it (apt-get install chromium)")
    with sync_playwright() as driver:
        page = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"]).new_page(
            viewport={"width": 960, "height": 900}, device_scale_factor=1.5
        )
        page.goto(report.resolve().as_uri())
        top = page.locator("#subjects .part").first.evaluate("part => part.offsetTop")
        clip = {"x": 0, "y": top - 10, "width": 960, "height": 720}
        page.screenshot(path=picture, full_page=True, clip=clip)  # type: ignore[arg-type]


def main(images: Path = ROOT / "docs" / "images") -> None:
    """Execute the example, print its numbers and draw its pictures and that of the packages."""
    import measurement_layouts as ml

    names: dict[str, Any] = {}
    exec(example(), names)
    sample = ml.evaluations.mental_addition()
    print(sample.success_rates().round(2).to_string())
    print(names["compared"].summary().round(3).to_string())
    print(names["fit"].profiles()[["subject", "node", "mean", "low", "high"]].round(1).to_string())
    names["layout"].draw(images / "layout.png")
    names["axes"][0].figure.savefig(images / "profiles.png", dpi=110)
    with tempfile.TemporaryDirectory() as folder:
        report = ml.report(names["fit"], Path(folder, "report.html"), evaluation=sample)
        report_picture(report, images / "report.png")
    packages().render(outfile=images / "packages.svg", cleanup=True)


def studies(images: Path = ROOT / "docs" / "images") -> None:
    """Draw the pictures of the page on what the studies find."""
    from measurement_layouts.plots import criticism_map

    agents().savefig(images / "capabilities.png", dpi=130)
    criticism_map(criticism()).figure.savefig(images / "criticism.png", dpi=130)
    incited().savefig(images / "propensities.png", dpi=110)
    known_abilities().savefig(images / "general-scales.png", dpi=110)
    misaligned().savefig(images / "dispositions.png", dpi=110)


if __name__ == "__main__":
    main()
    studies()
