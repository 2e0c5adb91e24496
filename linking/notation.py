"""Expressions written out: as text for messages and diagrams, as LaTeX for equations."""

from .expression import Constant, Expr, Operation
from .function import Call
from .subject_constant import SubjectConstant

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 3}
_TEXT = {"+": " + ", "-": " − ", "*": " × ", "/": " / ", "**": "^"}
_LATEX = {"+": " + ", "-": " - ", "*": r" \cdot ", "**": "^"}


def as_text(expr: Expr) -> str:
    """Write an expression on one line, nodes by their names."""
    if expr.name is not None:
        return expr.name
    match expr:
        case Constant(value):
            return f"{value:g}".replace("-", "−")
        case Operation(symbol, left, right):
            return _infix(expr, as_text(left), as_text(right), _TEXT[symbol], "({})")
        case Call():
            shown = [
                as_text(argument)
                for index, argument in enumerate(expr.arguments)
                if not expr.is_default(index)
            ]
            shown += [f"{key}={value}" for key, value in expr.options if _differs(expr, key, value)]
            return f"{expr.function.name}({', '.join(shown)})"
    return type(expr).__name__


def as_latex(expr: Expr) -> str:
    """Write an expression as LaTeX, nodes by their names."""
    match expr:
        case SubjectConstant(symbol=symbol):
            return symbol
        case Constant(value):
            return f"{value:g}"
        case Operation("/", left, right):
            return rf"\frac{{{as_latex(left)}}}{{{as_latex(right)}}}"
        case Operation("**", left, right):
            return _infix(expr, as_latex(left), f"{{{as_latex(right)}}}", "^", r"\left({}\right)")
        case Operation(symbol, left, right):
            return _infix(expr, as_latex(left), as_latex(right), _LATEX[symbol], r"\left({}\right)")
        case Call():
            return _call_as_latex(expr)
    return latex_name(expr.name or type(expr).__name__)


def latex_name(name: str) -> str:
    """Write a node's name upright, with LaTeX's special characters escaped."""
    for character in "_%&#$":
        name = name.replace(character, rf"\{character}")
    return rf"\mathrm{{{name}}}"


def _infix(expr: Operation, left: str, right: str, symbol: str, brackets: str) -> str:
    """Join two sides, in brackets where they bind less than the symbol between them."""
    level = _PRECEDENCE[expr.symbol]
    if _level(expr.left) < level or (expr.symbol == "**" and _level(expr.left) == level):
        left = brackets.format(left)
    tight = expr.symbol in "-/" and _level(expr.right) == level
    if (_level(expr.right) < level or tight) and not right.startswith("{"):
        right = brackets.format(right)
    return f"{left}{symbol}{right}"


def _level(expr: Expr) -> int:
    if expr.name is not None:
        return 9
    if isinstance(expr, Constant) and expr.value < 0:
        return 1
    return _PRECEDENCE[expr.symbol] if isinstance(expr, Operation) else 9


def _differs(call: Call, option: str, value: object) -> bool:
    return bool(value != call.function.signature.parameters[option].default)


def _call_as_latex(call: Call) -> str:
    function = call.function
    shown = [
        (name, as_latex(argument))
        for index, (name, argument) in enumerate(zip(call.names, call.arguments, strict=True))
        if not call.is_default(index)
    ]
    if callable(function.latex):
        return function.latex(*(text for _, text in shown), **dict(call.options))
    if function.latex is None:
        return rf"{latex_name(function.name)}\left({', '.join(text for _, text in shown)}\right)"
    written = function.latex
    for name, text in shown:
        written = written.replace(f"<{name}>", text)
    return written
