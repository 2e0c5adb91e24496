"""A layout's equations as MathML and as plain text, for a page that loads no other files."""

import html
import re
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markupsafe import Markup

from ..layouts import Layout
from ..layouts.drawing import captions
from ..layouts.outcomes.ordered import OrderedOutcome

_WORDS = re.compile(r"\\(mathrm|text)\{((?:[^{}\\]|\\.|\\text\{-\})*)\}")
_FIRST = 0xE000  # the first character for private use in Unicode
_TAGS = (
    "math mrow mi mo mn mtext mspace msup msub msubsup mfrac msqrt mroot munder mover munderover"
)
_KNOWN = {*_TAGS.split(), "mtable", "mtr", "mtd", "mpadded", "mstyle", "menclose", "mphantom"}
_ATTRIBUTES = {"columnalign", "display", "fence", "form", "largeop", "linethickness", "lspace"}
_ATTRIBUTES |= {"mathvariant", "maxsize", "minsize", "movablelimits", "notation", "rspace"}
_ATTRIBUTES |= {"accent", "displaystyle", "scriptlevel", "separator", "stretchy", "width"}
_SPACE = "http://www.w3.org/1998/Math/MathML"


def mathml(layout: Layout) -> Markup | None:
    """Write the equations as a MathML table with a column for each side and one for the relation.

    Parameters
    ----------
    layout : Layout
        The layout.

    Returns
    -------
    Markup or None
        The table. None if the LaTeX of a user-defined linking function cannot be converted; the
        page then shows the plain text only.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> str(mathml(layout)).count("<mtr>"), "<mi>smallness</mi>" in str(mathml(layout))
    (3, True)
    """
    lines = layout.to_latex().split("\n")[1:-1]
    try:
        rows = [_row(line.removesuffix(r" \\")) for line in lines]
    except Exception:  # the converter raises many kinds
        return None
    table = "".join(f"<mtr>{row}</mtr>" for row in rows)
    return Markup(f'<math xmlns="{_SPACE}" displaystyle="true"><mtable>{table}</mtable></math>')


def plain(layout: Layout) -> list[str]:
    """Write the equations as text, one line each.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> plain(Layout("looking", Success("found", logistic(sight - smallness))))
    ['sight ∼ Uniform [0, 2]', 'found ∼ Binomial(trials, p), p = logistic(sight − smallness)']
    """
    lines = [f"{node.name} {_joined(captions.facts(node))}" for node in layout.latents]
    for node in layout.nodes.values():
        written = captions.formula(node)
        if written:
            head, *rest = written
            more = " ".join(rest)
            link = ", " if more.startswith("p = ") else " "
            grades = captions.facts(node) if isinstance(node, OrderedOutcome) else []
            lines.append(", ".join([f"{node.name} {head}{link if more else ''}{more}", *grades]))
    return [*lines, *captions.remarks(layout)]


def _joined(facts: list[str]) -> str:
    head, *rest = facts
    for part in rest:
        head += f" {part}" if head.endswith(",") else f", {part}"
    return head


def _row(line: str) -> str:
    """Convert one equation; names and words bypass the converter, which does not escape them."""
    kept = list[str]()

    def keep(found: re.Match[str]) -> str:
        words = found[2].replace(r"\text{-}", "-")
        words = html.escape(re.sub(r"\\(.)", r"\1", words))
        tag = "mi" if found[1] == "mathrm" else "mtext"
        kept.append(f"<{tag}>{words.replace(' ', chr(0xA0))}</{tag}>")
        return f"{{{chr(_FIRST + len(kept) - 1)}}}"

    left, right = _WORDS.sub(keep, line).split("&", 1)
    sign = "∼" if right.startswith(r"\sim") else "="
    right = right.removeprefix(r"\sim").removeprefix("=")
    cells = _cell(left, kept), f"<mo>{sign}</mo>", _cell(right, kept)
    return "".join(f"<mtd>{cell}</mtd>" for cell in cells)


def _cell(latex: str, kept: list[str]) -> str:
    converted = convert(latex)
    _refuse_foreign(converted)
    inside = converted[converted.index(">") + 1 : converted.rindex("<")]

    def put_back(found: re.Match[str]) -> str:
        return kept[ord(html.unescape(found[1])) - _FIRST]

    return re.sub(r"<mi>(&#x0E0[0-9A-F]{2};|[\ue000-\uf8ff])</mi>", put_back, inside)


def _refuse_foreign(written: str) -> None:
    """Refuse XML that is not well-formed, or has other elements than mathematics, such as links."""
    for part in ElementTree.fromstring(written).iter():
        if part.tag.removeprefix(f"{{{_SPACE}}}") not in _KNOWN or set(part.attrib) - _ATTRIBUTES:
            raise ValueError(f"no mathematics: {part.tag} with {part.attrib}")
