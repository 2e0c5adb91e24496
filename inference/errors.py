"""Errors of data and of fits."""


class DataError(ValueError):
    """Items or outcomes that a layout cannot use; the message names rows, columns or subjects."""


class FitError(RuntimeError):
    """A fit that cannot be made, read, written or used as asked."""
