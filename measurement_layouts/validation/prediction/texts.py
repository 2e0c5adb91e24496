"""Predictions from the texts of items: frequencies of words, or embeddings of sentences."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...common.optional import need
from ...evaluations.evaluation import Evaluation
from ...evaluations.tables import need_columns
from ...inference.forecasts.forecasting import Forecast
from .assessor import Forecaster
from .baselines import classifier, per_subject, refuse_others, seeded

_WORDS = "tf-idf"


@runtime_checkable
class Encoder(Protocol):
    """Protocol of encoders of texts as rows of numbers, such as those of sentence-transformers.

    Examples
    --------
    >>> class Lengths:
    ...     def encode(self, texts):
    ...         return np.array([[len(text)] for text in texts])
    >>> isinstance(Lengths(), Encoder)
    True
    """

    def encode(self, texts: list[str]) -> Any:
        """Return an array, (texts, numbers)."""


@dataclass(frozen=True)
class TextClassifier(Forecaster):
    """Prediction from the texts of the items, by a classifier for each subject.

    Parameters
    ----------
    column : str
        Column of the items with their texts.
    encoder : str or Encoder
        ``"tf-idf"`` for frequencies of words, weighted by their rarity among the training items
        (scikit-learn's TfidfVectorizer with its defaults), which needs no download. Any other name
        is that of a model of sentence-transformers, which is loaded, or downloaded, when it is
        first needed (``pip install 'measurement-layouts[text]'``). An object with the method
        ``encode`` is used as it is.
    model : classifier, optional
        Object with ``fit`` and ``predict_proba`` that scikit-learn can clone, such as
        ``GradientBoostingClassifier()`` (default: a logistic regression). Frequencies of words are
        given to it as a sparse matrix.

    Raises
    ------
    DataError
        When the model cannot predict probabilities, or the encoder has no method ``encode``.

    Notes
    -----
    Words and their weights are those of a subject's training items only. Embeddings are not
    trained, and each text is embedded once. A subject whose training outcomes are all the same is
    predicted by their mean. Items with several trials have as many times the weight.

    Loading of models of sentence-transformers by name has not been tested with a real model. The
    array that an encoder returns is checked.

    References
    ----------
    General scales paper, section 5.6 and Tables 3 to 5, where means of word vectors (GloVe) with a
    random forest, and a tuned language model, are compared with demands.

    Examples
    --------
    >>> texts = ["add two numbers", "name a river", "add three numbers", "name a city"] * 5
    >>> items = pd.DataFrame({"question": texts}, [f"q{number}" for number in range(20)])
    >>> outcomes = pd.DataFrame([[1, 0] * 9 + [None] * 2], ["Ann"], items.index)
    >>> training = Evaluation.from_wide(outcomes, items)
    >>> TextClassifier("question").predict(training, ["q18", "q19"], seed=1).to_numpy().round(1)
    array([[0.8, 0.2]])
    """

    column: str
    encoder: str | Encoder = _WORDS
    model: Any = None
    _embedded: dict[str, np.ndarray] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if self.model is not None:
            refuse_others(self.model)
        if not isinstance(self.encoder, str) and not isinstance(self.encoder, Encoder):
            raise DataError(
                f"a {type(self.encoder).__name__} has no method encode; give 'tf-idf', the name of "
                "a model of sentence-transformers, or an object with encode(texts)"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """Column of the items from which they are predicted."""
        return (self.column,)

    def check(self, items: pd.DataFrame) -> None:
        """Refuse items without texts, and an encoder that cannot be loaded.

        Raises
        ------
        DataError
            When the column is missing, a cell is not a text, no text has a word of two letters, or
            sentence-transformers is needed but not installed.
        """
        texts = _texts(items, self.column)
        if self.encoder == _WORDS:
            if not any(re.search(r"\w\w", text) for text in texts):
                raise DataError(
                    f"no text in column {self.column!r} has a word of two letters; give texts with "
                    "words, or another encoder"
                )
        elif isinstance(self.encoder, str):
            _library()

    def forecast(self, training: Evaluation, items: Sequence[str], *, seed: int = 1) -> Forecast:
        """Forecast success, for `score`; intervals are NaN.

        Raises
        ------
        DataError
            When texts cannot be read or embedded, or an item has training outcomes.
        """
        texts = _texts(training.items, self.column)
        if self.encoder == _WORDS:
            table = np.array(texts, dtype=object)[:, None]
        else:
            table = self._embeddings(texts)
        model = classifier(self._made)
        return per_subject(model, training, items, table, seed=seed, who="text classifier")

    def _made(self, seed: int) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer

        model = LogisticRegression(max_iter=10_000) if self.model is None else self.model
        model = seeded(model, seed)
        if self.encoder != _WORDS:
            return model
        return make_pipeline(FunctionTransformer(np.ravel), TfidfVectorizer(), model)

    def _embeddings(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts, each one once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._embedded]
        if new:
            encoder = self.encoder
            if isinstance(encoder, str):
                encoder = _library().SentenceTransformer(encoder)
            found = np.asarray(encoder.encode(new), dtype=float)
            if found.ndim != 2 or len(found) != len(new) or not np.isfinite(found).all():
                raise DataError(
                    f"the encoder returned an array of shape {found.shape} for {len(new)} texts; "
                    "it must return finite numbers, a row for each text"
                )
            self._embedded.update(zip(new, found, strict=True))
        return np.stack([self._embedded[text] for text in texts])


def _library() -> Any:
    return need("sentence_transformers", "sentence-transformers", extra="text", raises=DataError)


def _texts(items: pd.DataFrame, column: str) -> list[str]:
    """Read the items' texts."""
    need_columns(items.columns, [column], "the items have")
    cells = items[column]
    foreign = [str(name) for name, cell in cells.items() if not isinstance(cell, str) or not cell]
    if foreign:
        raise DataError(
            f"column {column!r} has no text for {some(foreign)}; give a text for each item"
        )
    return list(cells)
