"""The eight skills of subtracting fractions."""

SKILLS = {
    "QT1": "write a whole number as a fraction",
    "QT2": "separate the whole number from the fraction",
    "QT3": "simplify before subtracting",
    "QT4": "find a common denominator",
    "QT5": "borrow from the whole number",
    "QT6": "borrow in columns to subtract the second numerator",
    "QT7": "subtract numerators",
    "QT8": "reduce the answer to its simplest form",
}
"""By label, what they are."""


def column(skill: str) -> str:
    """Name the column of the items that says whether a skill is needed.

    Examples
    --------
    >>> column("QT4")
    'needed[QT4]'
    """
    return f"needed[{skill}]"
