"""Refuse Python before 3.12, of which pip would say that a package cannot be found."""

import sys

from setuptools import setup

if sys.version_info < (3, 12):  # noqa: UP036
    sys.exit(f"measurement-layouts needs Python 3.12 or newer; this is {sys.version.split()[0]}")
setup()
