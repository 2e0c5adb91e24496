"""Errors of data, annotations and fits."""

from ..linking.errors import ReadableError


class DataError(ReadableError, ValueError):
    """Items or outcomes that a layout cannot use; the message names rows, columns or subjects."""


class AnnotationError(ReadableError, ValueError):
    """Items, rubrics, stores or bands that annotation cannot use; the message names them."""


class FitError(ReadableError, RuntimeError):
    """A fit that cannot be made, read, written or used as requested."""


class StoreError(FitError):
    """A store that cannot be continued or written.

    Parameters
    ----------
    found : str
        Description of the problem.
    remedy : str
        What to do, for users of the library; commands give their own remedy.
    """

    def __init__(self, found: str, remedy: str) -> None:
        super().__init__(f"{found}; {remedy}")
        self.found = found
