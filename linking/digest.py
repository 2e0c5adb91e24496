"""Telling formulas apart: a hash of what a Python function computes."""

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

import numpy as np


def formula_digest(formula: Callable[..., Any]) -> str:
    """Hash a function's code and the plain values it refers to.

    Remarks, docstrings, decorators and layout of the source do not count; functions that it calls
    count by their names only.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    captured = inspect.getclosurevars(formula)
    values = {
        **captured.globals,
        **captured.nonlocals,
        **{
            f"default of {name}": parameter.default
            for name, parameter in inspect.signature(formula).parameters.items()
        },
    }
    written = f"{_source(formula)}\n{_plain(values)}"
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def _source(formula: Callable[..., Any]) -> str:
    """Source of a function without remarks, or its instructions where there is none."""
    code: CodeType = formula.__code__
    try:
        source = textwrap.dedent(inspect.getsource(formula))
    except (OSError, TypeError):  # typed at a prompt: no file to read
        return _instructions(code)
    try:
        definition = ast.parse(source).body[0]
    except SyntaxError:  # a lambda amid other code
        return _instructions(code)
    if not isinstance(definition, ast.FunctionDef):
        return _instructions(code)
    definition.decorator_list = []
    if ast.get_docstring(definition) is not None and len(definition.body) > 1:
        del definition.body[0]
    return ast.unparse(definition)


def _instructions(code: CodeType) -> str:
    """Write a function's instructions, constants and names."""
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    plain = [part for part in code.co_consts if not isinstance(part, CodeType)]
    names = code.co_names + code.co_varnames
    return f"{code.co_code.hex()} {plain!r} {names!r} {[_instructions(part) for part in inner]!r}"


def _plain(values: Mapping[str, object]) -> list[tuple[str, str]]:
    """Write out the values that look the same in every process."""
    bare = {
        name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        for name, value in values.items()
    }
    return [(name, repr(value)) for name, value in sorted(bare.items()) if _is_plain(value)]


def _is_plain(value: object) -> bool:
    """Whether a value looks the same in every process."""
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return isinstance(value, bool | int | float | str | None)
