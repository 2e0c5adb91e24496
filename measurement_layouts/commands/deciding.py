"""The command ``decide``: accept and route items, make claims, and judge suitability."""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

from ..common.digits import chance
from ..common.errors import FitError
from ..common.files import write_text
from ..common.messages import many, some
from ..common.progress import waiting
from ..common.saying import say
from . import arguments
from .fit_folder import open_fit
from .forecasting import forecast_of, takes_forecast

if TYPE_CHECKING:
    import pandas as pd

    from ..inference.forecasts.forecasting import Forecast

_CARDS = 5  # claims that are printed as cards


class _Decision(NamedTuple):
    """All rows of a decision, a table with a row for each subject, and sentences."""

    rows: "pd.DataFrame"
    subjects: "pd.DataFrame"
    sentences: list[str]
    falls_short: bool = False


def add(commands: arguments.Commands) -> None:
    """Add the command, and a command below it for each kind of decision."""
    parser = arguments.add_command(
        commands,
        "decide",
        _run,
        "Decide with a fit: which items to accept, who does them, what to claim, who suits a job.",
        example="decide accept fitted --items new.csv --success 0.8",
        falls_short="a claim does not hold, or no subject is accepted for an item that is routed",
    )
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    _add_kind(
        kinds,
        "accept",
        _accept,
        "Accept the items on which each subject succeeds as often as required.",
        confidence=0.95,
    )
    route = _add_kind(
        kinds,
        "route",
        _route,
        "Give each item to the cheapest subject that is accepted for it.",
        falls_short="no subject is accepted for an item",
        confidence=0.95,
        example=" --costs costs.csv",
    )
    arguments.takes_path(
        route,
        "--costs",
        "FILE",
        "costs of an item: a column `subject`, and one of costs or one for each item",
        required=True,
    )
    _add_kind(
        kinds,
        "claim",
        _claim,
        "Give the probability that a subject succeeds so often on items of this kind.",
        falls_short="a claim does not hold",
    )
    suit = _add_kind(
        kinds, "suitability", _suitability, "Rank the subjects by their success on a job."
    )
    suit.add_argument(
        "--weights", metavar="COLUMN", help="column of the items' weights (default: equal)"
    )
    suit.add_argument(
        "--whole", action="store_true", help="the items are the whole job (default: a sample of it)"
    )


def _add_kind(
    kinds: arguments.Commands,
    name: str,
    decide: Callable[[argparse.Namespace], _Decision],
    about: str,
    *,
    confidence: float = 0.9,
    falls_short: str = "",
    example: str = "",
) -> argparse.ArgumentParser:
    typed = f"decide {name} fitted --items new.csv{example}"
    parser = arguments.add_command(kinds, name, _run, about, example=typed, falls_short=falls_short)
    parser.set_defaults(decide=decide)
    takes_forecast(parser, newcomers=name in ("accept", "route"))
    if name != "suitability":
        arguments.takes_share(parser, "--success", 0.9, "success that is required")
    arguments.takes_share(parser, "--confidence", confidence, "probability that is required")
    arguments.takes_path(
        parser, "--out", "FILE.csv", "file for all rows (default: none is written)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments.takes_overwrite(parser)
    return parser


def _run(chosen: argparse.Namespace) -> int:
    arguments.refuse_existing([chosen.out], chosen.overwrite)
    with waiting("deciding", show=True):
        from ..printing import print_decision

        found = chosen.decide(chosen)
    if chosen.json:
        rows = json.loads(found.rows.to_json(orient="records", double_precision=15))
        print(json.dumps({"rows": rows, "sentences": found.sentences}, allow_nan=False))
    else:
        print_decision(found.subjects)
        say("\n".join(found.sentences))
    if chosen.out is not None:
        write_text(chosen.out, found.rows.to_csv(index=False))
    return int(found.falls_short)


def _forecast(chosen: argparse.Namespace) -> "Forecast":
    """Forecast with intervals whose lower ends have the required confidence."""
    if chosen.confidence <= 0.5:
        raise FitError(f"--confidence {chosen.confidence:g}; give more than 0.5, such as 0.95")
    return forecast_of(chosen, prob=2 * chosen.confidence - 1)


def _accept(chosen: argparse.Namespace) -> _Decision:
    from ..decisions.accept import accept

    found = accept(_forecast(chosen), chosen.success)
    own = found.table[found.table["accepted"]]
    told = [f"{subject}: {some(each)}" for subject, each in own.groupby("subject")["item"]]
    share = f"{len(own)} of {many(len(found.table), 'item')} accepted, over all subjects"
    needed = f"success of {chosen.success:g} with a confidence of {chosen.confidence:g}"
    return _Decision(found.table, found.subjects.reset_index(), [*told, f"{share}: a {needed}"])


def _route(chosen: argparse.Namespace) -> _Decision:
    from ..decisions.route import route
    from .tables import read_people

    costs = read_people(chosen.costs)
    forecast = _forecast(chosen)
    single = costs.shape[1] == 1 and costs.columns[0] not in forecast.data["item"]
    found = route(forecast, costs.iloc[:, 0] if single else costs, success=chosen.success)
    done = f"{len(found.table) - len(found.unrouted)} of {many(len(found.table), 'item')} routed"
    told = [f"{done} at a cost of {found.cost:g}, {found.expected:.3g} successes expected"]
    if found.unrouted:
        told.append(f"no subject is accepted for {some(found.unrouted)}")
    rows = found.table.reset_index()
    return _Decision(rows, found.subjects.reset_index(), told, bool(found.unrouted))


def _claim(chosen: argparse.Namespace) -> _Decision:
    import pandas as pd

    from ..decisions.claim import claim
    from .tables import read_items

    fit, items = open_fit(chosen.fit, chosen.layout), read_items(chosen.items)
    who = fit.named(chosen.subjects or fit.subjects)
    needed = {"success": chosen.success, "confidence": chosen.confidence}
    cards = [claim(fit, subject, items, **needed) for subject in who]
    rows = pd.DataFrame([asdict(card) | {"holds": card.holds} for card in cards])
    probable = [chance(card.probability, card.error) for card in cards]
    shown = rows[["subject", "holds", "expected", "low", "high", "rests_on"]]
    shown = shown.assign(holds=rows["holds"].map({True: "yes", False: "no"}), probability=probable)
    total = f"{rows['holds'].sum()} of {many(len(cards), 'claim')} hold"
    told = f"{total}: a success of {chosen.success:g} with a probability of {chosen.confidence:g}"
    return _Decision(rows, shown, [*map(str, cards[:_CARDS]), told], not rows["holds"].all())


def _suitability(chosen: argparse.Namespace) -> _Decision:
    from ..decisions.suitability import suitability
    from ..validation.comparison import APART
    from .tables import read_items

    found = suitability(
        open_fit(chosen.fit, chosen.layout),
        read_items(chosen.items),
        weights=chosen.weights,
        sampled=not chosen.whole,
        subjects=chosen.subjects,
        confidence=chosen.confidence,
    )
    most = found.limits.groupby("subject", sort=False).first()[["demand", "gain"]]
    ranking = found.ranking.join(most.set_axis(["limited_by", "gain"], axis=1)).reset_index()
    tied = "; ".join(some(each) for each in found.tied)
    told = f"{found.in_words()}, the best first: {tied}"
    return _Decision(ranking, ranking, [told, *([] if found.joint else [f"subjects were {APART}"])])
