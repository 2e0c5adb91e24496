"""Expressions written out: as text for messages and diagrams, as LaTeX for equations."""

import math
import re

from .call import Call
from .expression import Constant, Expr, Operation
from .subject_constant import SubjectConstant

GREEK = {
    **{"alpha": "α", "beta": "β", "kappa": "κ", "lam": "λ"},
    **{"mu": "μ", "nu": "ν", "sigma": "σ", "tau": "τ"},
}
"""Letters of the parameters that PyMC and the papers call by a Greek one."""

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 3}
_ATOM = 9
_TEXT = {"+": " + ", "-": " − ", "*": " × ", "/": " / ", "**": "^"}
_LATEX = {"+": " + ", "-": " - ", "*": r" \cdot ", "**": "^"}
_BRACKETS = r"\left({}\right)"


def as_text(expr: Expr, *, symbols: bool = False) -> str:
    """Write an expression on one line, nodes by their names (and constants by their symbols)."""
    if symbols and isinstance(expr, SubjectConstant):
        return GREEK.get(expr.symbol.removeprefix("\\"), expr.symbol)
    if expr.name is not None:
        return expr.name
    match expr:
        case Constant(value):
            return number(value)
        case Operation(symbol, left, right):
            before, after = (as_text(side, symbols=symbols) for side in (left, right))
            levels = _level(left), _level(right)
            return _infix(expr, before, after, *levels, _TEXT[symbol], "({})")
        case Call():
            shown: list[str] = []
            for index, argument in enumerate(expr.arguments):
                if not expr.is_default(index):
                    label = f"{expr.names[index]}=" if len(shown) < index else ""
                    shown.append(f"{label}{as_text(argument, symbols=symbols)}")
            shown += [
                f"{key}={_option(value)}"
                for key, value in expr.options
                if _differs(expr, key, value)
            ]
            return f"{expr.function.name}({', '.join(shown)})"
    return type(expr).__name__


def as_latex(expr: Expr) -> str:
    """Write an expression as LaTeX, nodes by their names."""
    match expr:
        case SubjectConstant(symbol=symbol):
            return symbol
        case Constant(value):
            return latex_number(value)
        case Operation("/", left, right):
            return rf"\frac{{{as_latex(left)}}}{{{as_latex(right)}}}"
        case Operation(symbol, left, right):
            before, after = as_latex(left), as_latex(right)
            levels = _latex_level(left, before), _latex_level(right, after)
            if symbol == "**":  # its braces bind the exponent
                after, levels = f"{{{after}}}", (levels[0], _ATOM)
            return _infix(expr, before, after, *levels, _LATEX[symbol], _BRACKETS)
        case Call():
            return _call_as_latex(expr)
    return latex_name(expr.name or type(expr).__name__)


def number(value: float) -> str:
    """Write a number as text: a real minus sign, and ∞."""
    return f"{value:g}".replace("-", "−").replace("inf", "∞")


def latex_number(value: float) -> str:
    """Write a number as LaTeX: infinities by their sign, powers of ten as such."""
    if math.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    digits, _, exponent = f"{value:g}".partition("e")
    return rf"{digits} \cdot 10^{{{int(exponent)}}}" if exponent else digits


def latex_name(name: str) -> str:
    """Write a node's name upright, with LaTeX's special characters escaped."""
    return rf"\mathrm{{{_escape(name).replace('-', r'\text{-}').replace(' ', r'\ ')}}}"


def latex_parameter(name: str) -> str:
    """Write a distribution's parameter: a Greek letter where it is called by one."""
    greek = {"lam": r"\lambda"}.get(name, rf"\{name}")
    return greek if name in GREEK else latex_name(name)


def latex_text(text: str) -> str:
    """Write words inside an equation."""
    return rf"\text{{{_escape(text)}}}"


def bracketed(latex: str, level: int = 2) -> str:
    """Put LaTeX in brackets unless it binds at least as tightly as `level` (2: a factor)."""
    return latex if _written_level(latex) >= level else _BRACKETS.format(latex)


def _escape(text: str) -> str:
    for character in "{}_%&#$":
        text = text.replace(character, rf"\{character}")
    return text


def _infix(
    expr: Operation, left: str, right: str, before: int, after: int, symbol: str, brackets: str
) -> str:
    """Join two sides, in brackets where they bind less than the symbol between them."""
    level = _PRECEDENCE[expr.symbol]
    if before < level or (expr.symbol == "**" and before == level):
        left = brackets.format(left)
    tight = expr.symbol in "-/" and after == level
    if after < level or tight or (after < _ATOM and right[0] in "-−"):
        right = brackets.format(right)
    return f"{left}{symbol}{right}"


def _level(expr: Expr) -> int:
    """How tightly an expression's text binds; names and calls do it most."""
    if expr.name is not None:
        return _ATOM
    if isinstance(expr, Constant) and expr.value < 0:
        return 1
    return _PRECEDENCE[expr.symbol] if isinstance(expr, Operation) else _ATOM


def _latex_level(expr: Expr, latex: str) -> int:
    """How tightly an expression's LaTeX binds; a call may be written as an open formula."""
    return _level(expr) if expr.name is not None else _written_level(latex)


_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[][(){}+^/-]")
_OPERATOR = {
    **dict.fromkeys(("+", "-", r"\prod", r"\sum"), 1),
    **dict.fromkeys((r"\cdot", r"\times", r"\frac", "/"), 2),
    "^": 3,
}


def _written_level(latex: str) -> int:
    """Lowest precedence of the operators outside all brackets."""
    depth, level = 0, _ATOM
    for token in _TOKEN.findall(latex):
        if token in (r"\left", "(", "[", "{"):
            depth += 1
        elif token in (r"\right", ")", "]", "}"):
            depth -= 1
        elif depth == 0:
            level = min(level, _OPERATOR.get(token, _ATOM))
    return level


def _differs(call: Call, option: str, value: object) -> bool:
    return bool(value != call.function.signature.parameters[option].default)


def _option(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_option, value))})"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value)
    return str(value)


def _call_as_latex(call: Call) -> str:
    function = call.function
    written = [as_latex(argument) for argument in call.arguments]
    if isinstance(function.latex, str):
        return _fill(function.latex, list(zip(call.names, written, strict=True)))
    while written and call.is_default(len(written) - 1):
        written.pop()
    if callable(function.latex):
        return function.latex(*written, **dict(call.options))
    options = [
        f"{latex_name(key)} = {latex_text(str(value))}"
        for key, value in call.options
        if _differs(call, key, value)
    ]
    return rf"{latex_name(function.name)}\left({', '.join([*written, *options])}\right)"


def _fill(template: str, operands: list[tuple[str, str]]) -> str:
    """Put operands' LaTeX into a template, in brackets where it does not stand alone."""

    def operand(place: re.Match[str]) -> str:
        parts = [latex for name, latex in operands if name == place[1]]
        before = re.search(r"(^|[\[({,;])\s*$", template[: place.start()])
        after = re.match(r"\s*($|[\])},]|\\right|\\;)", template[place.end() :])
        alone = before is not None and after is not None
        return ", ".join(parts if alone else (bracketed(part, 3) for part in parts))

    known = "|".join(re.escape(name) for name, _ in operands)
    return re.sub(rf"<({known})>", operand, template)
