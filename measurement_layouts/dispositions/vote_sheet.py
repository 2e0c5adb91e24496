"""The sheet on which a person chooses the preferable actions: a page for a browser."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from ..annotation.inputs import read_named
from ..common import web_page
from ..common.errors import DataError
from ..common.files import write_text
from ..common.messages import some
from ..common.options import whole

ANSWERS = ("agree", "oppose", "neutral", "n/a")
"""Possible votes."""

_TEXTS = ("user_message", "agree_action", "oppose_action")
_TEMPLATES = Path(__file__).parent / "templates"

_CHECKS = pd.DataFrame(
    [
        (
            "check-colour",
            "A friend of mine paints doors blue, green or white. This question is there to see "
            "whether every line is read, so please choose the green door, whatever you like best. "
            "Which door should it be?",
            "Take the green door",
            "Take the blue door",
            "agree",
        ),
        (
            "check-middle",
            "I have been asked whether tea or coffee is better in the morning. This question is "
            "there to see whether every line is read: please answer that the two are about the "
            "same. What should I drink?",
            "Drink tea",
            "Drink coffee",
            "neutral",
        ),
    ],
    columns=["check", *_TEXTS, "expected"],
).set_index("check")


class _Option(NamedTuple):
    """One possible answer."""

    vote: str
    stance: int
    words: str


class _Question(NamedTuple):
    """One scenario or check, as the page shows it."""

    name: str
    message: str
    actions: tuple[str, str]
    first: str
    options: list[_Option]


def attention_checks() -> pd.DataFrame:
    """Return two questions whose text states the expected answer.

    Returns
    -------
    DataFrame
        Indexed by ``check``: ``user_message``, ``agree_action``, ``oppose_action``, and the vote
        that is ``expected``. You may change it, add rows, and give it to `vote_sheet` and
        `collected_votes`.

    Examples
    --------
    >>> attention_checks()["expected"].to_dict()
    {'check-colour': 'agree', 'check-middle': 'neutral'}
    """
    return _CHECKS.copy()


def vote_sheet(
    scenarios: pd.DataFrame,
    path: str | Path,
    *,
    seed: int,
    checks: pd.DataFrame | None = None,
    about: Mapping[str, Sequence[str]] | None = None,
    graded: bool = False,
) -> Path:
    """Write a page on which one person chooses the preferable action in each scenario.

    The file is opened in a browser; it does not load or send anything. Questions are shown one at a
    time, each with both actions, "about the same" and "does not apply", and are answered by mouse,
    touch or keyboard. At the end the person saves a file of JSON lines, which `collected_votes`
    reads. The order of the questions, and which action is called A, are random; the page and the
    lines state both. Give every person a page with a different seed, so that orders differ.

    Parameters
    ----------
    scenarios : DataFrame
        Scenarios, indexed by name: ``user_message``, ``agree_action`` and ``oppose_action``. Other
        columns, such as statement and trait, are not in the page.
    path : str or Path
        Path of the page, which is overwritten.
    seed : int
        Seed of the order.
    checks : DataFrame, optional
        Attention checks (default: those of `attention_checks`); a frame without rows for none. They
        are placed between the scenarios, at even distances. The page does not contain the
        ``expected`` votes.
    about : mapping of str to sequence of str, optional
        Questions about the person, with the possible answers, such as ``{"age": ["18-34",
        "35+"]}``. The person need not answer them.
    graded : bool, default False
        Whether to ask if an action is a little or clearly better. The lines then also have a
        ``stance`` from -2 (clearly against the statement) to 2.

    Returns
    -------
    Path
        Path of the page.

    Raises
    ------
    AnnotationError
        When a table lacks a column or a text, or has two rows with one name.
    DataError
        When a check has the name of a scenario, or an expected vote that is not possible; when a
        question about the person has no answers; or when the file cannot be written.
    FitError
        When the seed is not a whole number.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, appendix C and
    figure 9, which show the questions to raters. Wording, checks and grades are this package's own.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> scenarios = pd.DataFrame(
    ...     {
    ...         "user_message": "My landlord wants an answer today. Do I sign now?",
    ...         "agree_action": "Ask for one more day",
    ...         "oppose_action": "Sign today",
    ...     },
    ...     index=["sleep-01"],
    ... )
    >>> vote_sheet(scenarios, Path(mkdtemp()) / "sheet.html", seed=1).name
    'sheet.html'
    """
    checks = attention_checks() if checks is None else checks
    questions = _questions(scenarios, checks, whole("seed", seed), graded)
    script = (_TEMPLATES / "vote_sheet.js").read_text(encoding="utf-8").strip()
    page = (
        web_page.environment(_TEMPLATES)
        .get_template("vote_sheet.html")
        .render(
            questions=questions,
            about=_about(about),
            graded=graded,
            checked=len(checks) > 0,
            seed=seed,
            script=Markup(script),
            digest=web_page.script_digest(script),
            light=web_page.LIGHT,
            dark=web_page.DARK,
        )
    )
    return write_text(Path(path), page, DataError)


def _questions(
    scenarios: pd.DataFrame, checks: pd.DataFrame, seed: int, graded: bool
) -> list[_Question]:
    """Put scenarios and checks in order, and name the actions A and B."""
    named = read_named(scenarios, "scenario", _TEXTS)
    extra = read_checks(checks)
    if both := [name for name in extra.index if name in named.index]:
        raise DataError(f"{some(both)}: both a check and a scenario; rename the check")
    rng = np.random.default_rng(seed)
    parts = np.array_split(rng.permutation(named.index.to_numpy()), len(extra) + 1)
    names = list(parts[0])
    for check, part in zip(rng.permutation(extra.index.to_numpy()), parts[1:], strict=True):
        names += [check, *part]
    firsts = rng.permutation(np.resize(["agree", "oppose"], len(names)))
    texts = pd.concat([named[list(_TEXTS)], extra[list(_TEXTS)]])
    found = []
    for name, first in zip(names, firsts, strict=True):
        message, *actions = (str(text) for text in texts.loc[name])
        pair = (actions[0], actions[1]) if first == "agree" else (actions[1], actions[0])
        found.append(_Question(str(name), message, pair, str(first), _options(str(first), graded)))
    return found


def read_checks(checks: pd.DataFrame) -> pd.DataFrame:
    """Read attention checks; there may be none.

    Raises
    ------
    AnnotationError
        When a column or a text is missing, or a check occurs twice.
    DataError
        When an expected vote is not possible.
    """
    if isinstance(checks, pd.DataFrame) and checks.empty:
        return attention_checks()[:0]
    named = read_named(checks, "check", (*_TEXTS, "expected"))
    wrong = named.index[~named["expected"].isin(ANSWERS)]
    if len(wrong):
        raise DataError(
            f"the check {wrong[0]!r} expects {named.loc[wrong[0], 'expected']!r}; give one of "
            f"{', '.join(map(repr, ANSWERS))}"
        )
    return named


def _options(first: str, graded: bool) -> list[_Option]:
    """List the answers, from A to B, and the answer that the question does not apply."""
    sides = [("A", first), ("B", "oppose" if first == "agree" else "agree")]
    signs = {"agree": 1, "oppose": -1}
    middle = [_Option("neutral", 0, "About the same")]
    if graded:
        (one, own), (other, others) = sides
        found = [
            _Option(own, 2 * signs[own], f"{one} is clearly better"),
            _Option(own, signs[own], f"{one} is a little better"),
            *middle,
            _Option(others, signs[others], f"{other} is a little better"),
            _Option(others, 2 * signs[others], f"{other} is clearly better"),
        ]
    else:
        better = [_Option(vote, 2 * signs[vote], f"{letter} is better") for letter, vote in sides]
        found = [better[0], *middle, better[1]]
    return [*found, _Option("n/a", 0, "The question does not apply")]


def _about(about: Mapping[str, Sequence[str]] | None) -> dict[str, list[str]]:
    """Read the questions about the person."""
    found = {str(name): list(answers) for name, answers in (about or {}).items()}
    for name, answers in found.items():
        texts = all(isinstance(answer, str) and answer.strip() for answer in answers)
        if not name.strip() or not answers or not texts:
            raise DataError(
                f"about= has {answers!r} for {name!r}; give each question its possible answers, "
                "such as {'age': ['18-34', '35+']}"
            )
    return found
