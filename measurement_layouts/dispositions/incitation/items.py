"""Items with options and bands, about which incited models are asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from string import ascii_uppercase

import pandas as pd

from ...annotation.inputs import read_columns, read_named
from ...common.errors import AnnotationError

_BAND = ["low", "high"]


@dataclass(frozen=True)
class Choice:
    """One item: its question, its options by letter, and the letter of the right option."""

    question: str
    options: Mapping[str, str]
    right: str

    @property
    def text(self) -> str:
        """Question and options, as subjects see them."""
        lines = [f"{letter}: {option}" for letter, option in self.options.items()]
        return f"{self.question}\n\n" + "\n".join(lines)


def choice_texts(items: pd.DataFrame) -> pd.Series:
    r"""Write items as subjects see them: the question, and each option after its letter.

    The texts can be given to `annotation.annotate`, to annotate the band of each item.

    Parameters
    ----------
    items : DataFrame
        Items, indexed by name: ``question``, the options ``A``, ``B`` and so on, and ``right``, the
        letter of the right option. An item with fewer options than others lacks the last ones.

    Returns
    -------
    Series
        Texts, indexed by ``item``.

    Raises
    ------
    AnnotationError
        When a column or a text is missing, an item has fewer than two options or two equal ones, or
        no option has the letter of the right one.

    Examples
    --------
    >>> columns = ["question", "A", "B", "right"]
    >>> items = pd.DataFrame([["Which one?", "The bus", "A taxi", "A"]], ["home"], columns)
    >>> print(choice_texts(items)["home"])
    Which one?
    <BLANKLINE>
    A: The bus
    B: A taxi
    """
    texts = {name: choice.text for name, choice in read_choices(items).items()}
    return pd.Series(texts, name="text", dtype="str").rename_axis("item")


def read_choices(items: pd.DataFrame) -> dict[str, Choice]:
    """Read items with options, by name; refuses what `choice_texts` refuses."""
    table = read_named(items, "item", ("question",), ("A", "B", "right"))
    letters = _option_letters(table)
    choices = {}
    for name, row in table.T.to_dict().items():
        texts = {letter: row[letter] for letter in letters if pd.notna(row[letter])}
        options = {letter: " ".join(str(option).split()) for letter, option in texts.items()}
        distinct = {option.casefold() for option in options.values()} - {""}
        if list(options) != letters[: len(distinct)] or len(distinct) < 2:
            raise AnnotationError(
                f"the item {name!r} has the options {options}; give at least two, with different "
                "texts, from A on without a gap"
            )
        if row["right"] not in options:
            raise AnnotationError(
                f"the item {name!r}: the right option is {row['right']!r}; give one of "
                f"{', '.join(options)}"
            )
        choices[str(name)] = Choice(row["question"].strip(), options, row["right"])
    return choices


def _option_letters(items: pd.DataFrame) -> list[str]:
    """List the letters that have a column, from A on, without a gap."""
    return list(takewhile(lambda letter: letter in items.columns, ascii_uppercase))


def read_bands(items: pd.DataFrame) -> pd.DataFrame:
    """Read the bands of items, and their other properties, without texts and right letters.

    Raises
    ------
    AnnotationError
        When a band is missing, is not two numbers, or has a low end above the high one.
    """
    table = read_columns(items, "items", _BAND, "indexed by item ")
    table.index = pd.Index([str(name) for name in table.index], name="item", dtype="str")
    ends = table[_BAND].apply(pd.to_numeric, errors="coerce").astype(float)
    wrong = ~(ends["low"] <= ends["high"])
    if wrong.any():
        low, high = table.loc[wrong, _BAND].iloc[0]
        raise AnnotationError(
            f"the item {table.index[wrong][0]!r} has the band {low!r} to {high!r}; give two "
            "numbers, the low end first, such as those of "
            "annotate(choice_texts(items), rubric, model).bands"
        )
    texts = ["question", "right", *_option_letters(table)]
    return table.drop(columns=texts, errors="ignore").assign(**ends)
