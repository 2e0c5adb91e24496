"""Declare, draw, compile, fit, forecast and report with measurement layouts.

Names are imported when they are first used: what declares and draws a layout needs neither PyMC nor
pandas. ``__init__.pyi`` says where each name comes from.
"""

import importlib.metadata
import importlib.util
from typing import Any

import lazy_loader

_load, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return _load(name)
    if name == "__version__":
        return importlib.metadata.version("measurement-layouts")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_hint(name)}")


_GONE = {
    "update": "more outcomes are fitted with those before: ml.fit(layout, old + more)",
    "power_mean": "ml.linking.generalised_mean takes a node as its power",
    "Quota": "ml.batteries.design(layout, bank, quotas={column: most}) limits items by a column",
    "joint_trend": "give a latent's Prior a mean that is a line over dates, and use fit.profiles()",
    "firmness": "fit scenarios.propensities.firmness_layout() and read fit.profiles()",
    "Forest": "ml.validation.Estimator('forest', columns), or any classifier of scikit-learn",
    "Regression": "ml.validation.Estimator('logistic', columns)",
    "TextClassifier": "ml.validation.Estimator(pipeline, column) with a TfidfVectorizer",
    "PopulationCriticism": "criticise returns a Criticism for every fit, alone or joint",
    "suspicion": "ml.validation.criticise(fit, evaluation) finds what the layout does not fit",
    "suitability": "fit.forecast(items) has the chance of success on each item",
    "claim": "ml.decisions.accept says which forecasts of fit.forecast(items) are sure enough",
    "reliable_region": "ml.decisions.accept says which forecasts are sure enough",
    "leave_future_out": "ml.validation.cross_validate(..., split=ml.validation.Groups(column))",
    "find_kink": "a layout with ml.linking.walk has a level that changes at knots",
    "read_openai_evals": "pandas reads JSON lines: ml.Evaluation.from_long(pandas.read_json(...))",
    "group_means": "fit.forecast(items).summary(by=groups) has means over groups of items",
    "derived": "ml.summarise(fit.derive(node, items)) has means and intervals of derived nodes",
    "compare_profiles": "ml.compare(fit, by='skill') compares subjects by an element",
    "read_scores": "ml.evaluations.read_table reads a table of any form",
}
"""What replaces names that are gone."""


def _hint(name: str) -> str:
    """Say which package has a public name that was looked for here, or what replaces it."""
    if name in _GONE:
        return f"; {_GONE[name]}"
    if name.startswith("_") or importlib.util.find_spec(f".{name}", __name__):
        return ""
    packages = (each for each in __all__ if each.islower() and hasattr(_load(each), "__all__"))
    return "".join(f"; it is ml.{each}.{name}" for each in packages if name in _load(each).__all__)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
