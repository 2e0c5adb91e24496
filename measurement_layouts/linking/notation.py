"""Parts of written formulas, as text for messages and diagrams and as LaTeX for equations."""

import math
import re

GREEK = {
    **{"alpha": "α", "beta": "β", "kappa": "κ", "lam": "λ"},
    **{"mu": "μ", "nu": "ν", "sigma": "σ", "tau": "τ"},
}
"""Greek letters of the parameters that have one in PyMC and in the papers."""

PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 3}
"""Precedence of each operation."""

ATOM = 9
"""Precedence of a name or a call, which never needs brackets."""

_TEXT = {"+": " + ", "-": " − ", "*": " × ", "/": " / ", "**": "^"}
_LATEX = {"+": " + ", "-": " - ", "*": r" \cdot ", "**": "^"}
_BRACKETS = r"\left({}\right)"


def number(value: float) -> str:
    """Write a number as text, with the minus sign and ∞ of mathematics."""
    return f"{value:g}".replace("-", "−").replace("inf", "∞")


def latex_number(value: float) -> str:
    """Write a number as LaTeX, with the sign of infinity and with powers of ten."""
    if math.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    digits, _, exponent = f"{value:g}".partition("e")
    return rf"{digits} \cdot 10^{{{int(exponent)}}}" if exponent else digits


def latex_name(name: str) -> str:
    """Write a node's name upright, with LaTeX's special characters escaped."""
    return rf"\mathrm{{{_escape(name).replace('-', r'\text{-}').replace(' ', r'\ ')}}}"


def latex_parameter(name: str) -> str:
    """Write the parameter of a distribution, as a Greek letter if it has one."""
    greek = {"lam": r"\lambda"}.get(name, rf"\{name}")
    return greek if name in GREEK else latex_name(name)


def latex_text(text: str) -> str:
    """Write words inside an equation."""
    return rf"\text{{{_escape(text)}}}"


def bracketed(latex: str, level: int = 2) -> str:
    """Put LaTeX in brackets unless its precedence is at least `level` (2: a factor)."""
    return latex if latex_precedence(latex) >= level else _BRACKETS.format(latex)


def _escape(text: str) -> str:
    """Put a backslash before LaTeX's special characters."""
    for character in "{}_%&#$":
        text = text.replace(character, rf"\{character}")
    return text


def infix(
    symbol: str, left: str, right: str, levels: tuple[int, int], *, latex: bool = False
) -> str:
    """Join two sides, in brackets where their precedence is below that of the symbol.

    Parameters
    ----------
    symbol : str
        Symbol of the operation, as in Python.
    left, right : str
        The two sides, as text or LaTeX.
    levels : (int, int)
        Precedence of each side.
    latex : bool, default False
        Whether the sides are LaTeX.
    """
    level = PRECEDENCE[symbol]
    before, after = levels
    brackets = _BRACKETS if latex else "({})"
    if before < level or (symbol == "**" and before == level):
        left = brackets.format(left)
    tight = symbol in "-/" and after == level
    if after < level or tight or (after < ATOM and right[0] in "-−"):
        right = brackets.format(right)
    return f"{left}{(_LATEX if latex else _TEXT)[symbol]}{right}"


_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[][(){}+^/-]")
_OPERATOR = {
    **dict.fromkeys(("+", "-", r"\prod", r"\sum"), 1),
    **dict.fromkeys((r"\cdot", r"\times", r"\frac", "/"), 2),
    "^": 3,
}


def latex_precedence(latex: str) -> int:
    """Find the lowest precedence of the operators outside all brackets."""
    depth, level = 0, ATOM
    for token in _TOKEN.findall(latex):
        if token in (r"\left", "(", "[", "{"):
            depth += 1
        elif token in (r"\right", ")", "]", "}"):
            depth -= 1
        elif depth == 0:
            level = min(level, _OPERATOR.get(token, ATOM))
    return level


def option(value: object) -> str:
    """Write the value of an option."""
    if isinstance(value, tuple):
        return f"({', '.join(map(option, value))})"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value)
    return str(value)


def fill(template: str, operands: list[tuple[str, str]]) -> str:
    """Put operands' LaTeX into a template, in brackets next to other symbols."""

    def operand(place: re.Match[str]) -> str:
        written = [latex for name, latex in operands if name == place[1]]
        before = re.search(r"(^|[\[({,;])\s*$", template[: place.start()])
        after = re.match(r"\s*($|[\])},]|\\right|\\;)", template[place.end() :])
        alone = before is not None and after is not None
        return ", ".join(written if alone else (bracketed(latex_of, 3) for latex_of in written))

    names = "|".join(re.escape(name) for name, _ in operands)
    return re.sub(rf"<({names})>", operand, template)
