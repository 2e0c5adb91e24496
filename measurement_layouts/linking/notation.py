"""Formulas as text, for messages and diagrams."""

GREEK = {
    **{"alpha": "α", "beta": "β", "kappa": "κ", "lam": "λ"},
    **{"mu": "μ", "nu": "ν", "sigma": "σ", "tau": "τ"},
}
"""Greek letters of the parameters that have one in PyMC and in the papers."""

PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 3}
"""Precedence of each operation."""

ATOM = 9
"""Precedence of a name or a call, which never needs brackets."""

_SIGNS = {"+": " + ", "-": " − ", "*": " × ", "/": " / ", "**": "^"}


def number(value: float) -> str:
    """Write a number as text, with the minus sign and ∞ of mathematics."""
    return f"{value:g}".replace("-", "−").replace("inf", "∞")


def infix(symbol: str, left: str, right: str, levels: tuple[int, int]) -> str:
    """Join two sides, in brackets where their precedence is below that of the symbol.

    Parameters
    ----------
    symbol : str
        Symbol of the operation, as in Python.
    left, right : str
        The two sides.
    levels : (int, int)
        Precedence of each side.
    """
    level = PRECEDENCE[symbol]
    before, after = levels
    if before < level or (symbol == "**" and before == level):
        left = f"({left})"
    tight = symbol in "-/" and after == level
    if after < level or tight or (after < ATOM and right[0] in "-−"):
        right = f"({right})"
    return f"{left}{_SIGNS[symbol]}{right}"


def option(value: object) -> str:
    """Write the value of an option."""
    if isinstance(value, tuple):
        return f"({', '.join(map(option, value))})"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value)
    return str(value)
