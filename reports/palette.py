"""The page's colours, in light and in dark."""

from ..layouts.style import STYLES

_LIGHTER = 0.5  # part of white that a kind's colour takes to stand out on a dark page

LIGHT = {
    "paper": "#FFFFFF",
    "raised": "#F6F7F8",
    "ink": "#1A1C1E",
    "quiet": "#565C63",
    "rule": "#DFE2E6",
    "track": "#C3C8CE",
    "accent": "#00609A",
    "alarm": "#9C3A00",
    **{f"kind-{kind}": style.border for kind, style in STYLES.items()},
}
"""By variable of the style sheet."""


def mixed(colour: str, other: str, share: float) -> str:
    """Mix a share of another colour into one.

    Examples
    --------
    >>> mixed("#000000", "#FFFFFF", 0.5)
    '#808080'
    """
    pairs = zip(_parts(colour), _parts(other), strict=True)
    return "#" + "".join(f"{round(a + share * (b - a)):02X}" for a, b in pairs)


def contrast(one: str, other: str) -> float:
    """Compute the contrast of two colours.

    Returns
    -------
    float
        From 1 to 21; text needs 4.5, and lines need 3.

    References
    ----------
    Web Content Accessibility Guidelines 2.2, relative luminance and contrast ratio.

    Examples
    --------
    >>> round(contrast("#000000", "#FFFFFF"), 6)
    21.0
    """
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    shares = [part / 255 for part in _parts(colour)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return sum(weight * s for weight, s in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _parts(colour: str) -> list[int]:
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


DARK = {
    "paper": "#14171A",
    "raised": "#1D2125",
    "ink": "#E8EAED",
    "quiet": "#A4ABB3",
    "rule": "#343A41",
    "track": "#4C545D",
    "accent": "#7CC4F2",
    "alarm": "#F5A878",
    **{f"kind-{kind}": mixed(style.border, "#FFFFFF", _LIGHTER) for kind, style in STYLES.items()},
}
"""The same variables."""
