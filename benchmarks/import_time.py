"""Seconds to import, declare and draw, each in a fresh process, beside `import pymc`.

Run by hand: ``python benchmarks/import_time.py [ROUNDS]``. The tasks take turns within a
round, so that a busy moment of the machine meets all of them; a round beforehand fills the caches
of the disk and is not counted.
"""

import statistics
import subprocess
import sys
import time

from report import report

from measurement_layouts.scenarios.figures import Figure

IMPORT = "import measurement_layouts as ml"
DECLARE = f"""{IMPORT}
from measurement_layouts.linking import logistic, mixture

size = ml.MetaFeature("rewardSize", low=-1.9, high=1.9, unit="sd")
distance = ml.MetaFeature("rewardDistance", low=-2.4, high=2.4, unit="sd")
behind = ml.MetaFeature("rewardBehind", levels=(0, 0.5, 1))
x_pos = ml.MetaFeature("XPos", levels=(-1, 0, 1))
navigation = ml.Capability("navigationAbility", low=0, high=5.3, unit="sd")
visual = ml.Capability("visualAbility", low=0, high=1.9, unit="sd")
effect = ml.Derived("rightLeftEffect", ml.Bias("rightLeftBias") * x_pos)
reach = navigation - distance * (0.5 * behind + 1) + effect
navigate = ml.Derived("navigationPerformance", logistic(reach))
see = ml.Derived("visualPerformance", logistic(visual - size))
success = mixture(navigate * see, by=ml.Noise("noiseLevel"), toward=0.5)
layout = ml.Layout("animal-ai-olympics", ml.Success("taskPerformance", success))
"""
DRAW = f"""{DECLARE}
assert "</svg>" in layout._repr_svg_()
"""
TASKS = {
    "import measurement_layouts": IMPORT,
    "import, declare the Animal-AI layout": DECLARE,
    "import, declare and draw it to SVG": DRAW,
    "import pymc": "import pymc",
}
LIMITS = {
    "import measurement_layouts": 0.5,
    "import, declare the Animal-AI layout": 0.5,
    "import, declare and draw it to SVG": 2.0,
}


def seconds_of(code: str) -> float:
    """Time some code inside a fresh process, whose own start does not count."""
    timed = f"import time; start = time.perf_counter()\n{code}\nprint(time.perf_counter() - start)"
    run = subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True)
    return float(run.stdout)


def main(rounds: int = 7) -> int:
    """Measure and report."""
    start = time.perf_counter()
    found = [{name: seconds_of(code) for name, code in TASKS.items()} for _ in range(rounds + 1)]
    median = {name: statistics.median(turn[name] for turn in found[1:]) for name in TASKS}
    ratio = median["import pymc"] / median["import measurement_layouts"]
    return report(
        "import time",
        time.perf_counter() - start,
        [
            *(
                Figure(f"{name}, seconds", median[name], "<", limit, f"under {limit:g} s")
                for name, limit in LIMITS.items()
            ),
            Figure("import pymc, over import measurement_layouts", ratio, ">", 1),
        ],
    )


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
