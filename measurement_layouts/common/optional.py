"""Optional packages: imported when they are needed, with the command that installs them."""

import importlib
from types import ModuleType

from ..linking.errors import ReadableError
from .errors import AnnotationError


def need(
    module: str,
    package: str,
    extra: str = "inspect",
    raises: type[ReadableError] = AnnotationError,
) -> ModuleType:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        Name of the module in Python.
    package : str
        Name of the package to install.
    extra : str
        Extra of `measurement-layouts` that installs the package.
    raises : type
        Type of the error.

    Returns
    -------
    module
        The module.

    Raises
    ------
    ReadableError
        When the package is not installed; the error has the command that installs it.

    Examples
    --------
    >>> need("inspecting_eye", "inspecting-eye")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.AnnotationError: this needs inspecting-eye, which is not
    installed: pip install "measurement-layouts[inspect]"
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != module.split(".")[0]:
            raise
        raise raises(
            f"this needs {package}, which is not installed: pip install "
            f'"measurement-layouts[{extra}]"'
        ) from error
