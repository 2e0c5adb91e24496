"""The commands ``next`` and ``record``: an adaptive test, a call per question and per answer."""

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..common.errors import FitError
from ..common.messages import some, visible
from ..common.progress import waiting
from ..common.saying import say
from . import arguments
from .fit_folder import open_fit
from .layout_file import load_layout

if TYPE_CHECKING:
    from ..batteries.adaptive.asking import AdaptiveTest
    from ..batteries.adaptive.stop import Stop
    from ..layouts import Layout

_RULES = {
    "sd": ("SD", "the test is done when the posterior sds of all of these are at most this large"),
    "threshold": ("VALUE", "and all of these are found to be above or below such a value"),
}


def add(commands: arguments.Commands) -> None:
    """Add the commands."""
    ask = arguments.add_command(
        commands,
        "next",
        _next,
        "Print items to ask next, one a line: those without an outcome, and then the most "
        "informative; begin a test with --items.",
        example="next ann.jsonl --layout layout.py:layout --items bank.csv --sd reach=0.5",
        falls_short="there is nothing to ask: the test is done",
        done="items are named",
    )
    _takes_state(ask)
    arguments.takes_numbers(ask, ("--n", 1, 1, "items to have in flight, chosen together"))
    ask.add_argument("--skip", metavar="ITEM", help="give this item up, which has no outcome yet")
    begin = ask.add_argument_group("to begin a test, if STATE does not exist yet")
    arguments.takes_path(
        begin,
        "--items",
        "FILE",
        "the bank: CSV, Parquet or JSON lines, a column `item` and one per property of the layout",
    )
    begin.add_argument("--subject", metavar="NAME", help="name of the subject (subject)")
    begin.add_argument(
        "--target",
        nargs="+",
        metavar="NAME",
        help="latents, or node[label], to learn about (the whole profile)",
    )
    for option, (sign, about) in _RULES.items():
        begin.add_argument(f"--{option}", nargs="+", default=[], metavar=f"NAME={sign}", help=about)
    begin.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        metavar="P",
        help="probability of being above or below a threshold that is required, under the prior "
        "and under equal prior odds of both (0.95)",
    )
    begin.add_argument(
        "--limit", type=arguments.at_least(1), metavar="N", help="stop after N answers"
    )
    begin.add_argument(
        "--costs", metavar="COLUMN", help="column of the items' costs (default: 1 each)"
    )
    begin.add_argument(
        "--random-share",
        type=float,
        default=0.0,
        metavar="P",
        help="probability with which an item is drawn at random (0)",
    )
    about = "draw one of the N most informative items, at most 32, so that subjects are asked "
    arguments.takes_numbers(begin, ("--among", 1, 1, f"{about}different ones"))
    begin.add_argument(
        "--seed", type=arguments.at_least(0), metavar="N", help="seed (default: a random one)"
    )

    record = arguments.add_command(
        commands,
        "record",
        _record,
        "Record the outcome of an item, and print the profile that follows.",
        example="record ann.jsonl arena-17 1",
    )
    _takes_state(record)
    record.add_argument("item", metavar="ITEM", help="its name in the bank")
    record.add_argument(
        "outcome",
        nargs="+",
        metavar="[OUTCOME=]VALUE",
        help="0, 1 or a word such as right; successes, with --trials; a grade or a score; one for "
        "each outcome of the layout",
    )
    arguments.takes_numbers(record, ("--trials", 1, 1, "attempts at the item"))


def _takes_state(parser: argparse.ArgumentParser) -> None:
    """Add arguments for a test that is continued."""
    parser.add_argument("state", type=Path, metavar="STATE", help="file of the test")
    parser.add_argument(
        "--layout",
        metavar="LAYOUT.py:name",
        help="its layout, as for `fit`: to begin, and if it has user-defined linking functions",
    )
    arguments.takes_path(
        parser, "--given", "FIT", "the joint fit of others, if subjects share something"
    )


def _next(chosen: argparse.Namespace) -> int:
    with waiting("choosing the items", show=True), _kept(chosen) as test:
        if chosen.skip is not None:
            test.skip(chosen.skip)
        before, items = test.in_flight, [] if test.done else test.next(chosen.n)
    print(visible("\n".join(items)), end="\n" * bool(items))
    if again := [item for item in items if item in before]:
        say(f"asked again, since no outcome was recorded: {some(again)}", error=True)
    if test.done:
        say(f"done: {test.done}", error=True)
    return 0 if items else 1


def _record(chosen: argparse.Namespace) -> int:
    with waiting("recording the outcome", show=True), _kept(chosen) as test:
        from ..printing import print_test

        test.record(chosen.item, _outcome(test.layout, chosen.outcome), chosen.trials)
    print_test(test)
    return 0


@contextlib.contextmanager
def _kept(chosen: argparse.Namespace) -> Iterator["AdaptiveTest"]:
    """Open or begin the test, while no other call uses it."""
    from ..batteries.adaptive.asking import AdaptiveTest
    from ..batteries.adaptive.state import locked

    if not chosen.state.parent.is_dir():
        raise FitError(f"there is no folder {chosen.state.parent}; make it, or give another STATE")
    begins = getattr(chosen, "items", None)
    if begins is None and not chosen.state.is_file():
        raise FitError(
            f"there is no test {chosen.state}; begin one: next {chosen.state} "
            "--layout LAYOUT.py:name --items bank.csv"
        )
    with locked(chosen.state):
        layout = None if chosen.layout is None else load_layout(chosen.layout)
        given = None
        if chosen.given is not None:
            given = open_fit(chosen.given, [] if chosen.layout is None else [chosen.layout])
        if begins is None:
            yield AdaptiveTest.load(chosen.state, layout, given=given)
        else:
            yield _begun(chosen, layout, given)


def _begun(chosen: argparse.Namespace, layout: "Layout | None", given: Any) -> "AdaptiveTest":
    """Begin a test."""
    from ..batteries.adaptive.asking import AdaptiveTest
    from .tables import read_items

    if chosen.state.exists():
        raise FitError(
            f"{chosen.state} is there already, and has its bank; leave --items out to go on with "
            "it, or give another STATE"
        )
    if layout is None:
        raise FitError("a test is begun with --items and --layout; give both")
    return AdaptiveTest(
        layout,
        read_items(chosen.items),
        subject=chosen.subject or "subject",
        target=chosen.target,
        stop=_stop(chosen),
        costs=chosen.costs,
        given=given,
        random_share=chosen.random_share,
        among=chosen.among,
        seed=chosen.seed,
        path=chosen.state,
    )


def _stop(chosen: argparse.Namespace) -> "Stop | None":
    """Read the stopping rule."""
    from ..batteries.adaptive.stop import Stop

    rules = {
        option: arguments.numbers_by_name(option, getattr(chosen, option), sign, "reach=0.5")
        for option, (sign, _) in _RULES.items()
    }
    if not any(rules.values()) and chosen.limit is None:
        return None
    given = {option: numbers for option, numbers in rules.items() if numbers}
    return Stop(**given, confidence=chosen.confidence, items=chosen.limit)


def _outcome(layout: "Layout", texts: list[str]) -> Any:
    """Read an outcome, or one for each outcome of the layout."""
    from .tables import by_outcome

    found = {
        name: _value(layout, name, text)
        for name, text in by_outcome(layout, texts, "value").items()
    }
    return found if len(found) > 1 else next(iter(found.values()))


def _value(layout: "Layout", name: str, text: str) -> Any:
    """Read the value of one outcome; numbers and known words are read as numbers."""
    from ..evaluations.words import WORDS
    from ..layouts import Graded

    (node,) = [outcome for outcome in layout.outcomes if outcome.name == name]
    if isinstance(node, Graded):
        return text
    try:
        return WORDS[text.lower()] if text.lower() in WORDS else float(text)
    except ValueError:
        return text  # refused where it is recorded, with what may be given
