"""The reference as one plain text, for programs."""

import inspect

import references

HEAD = """# measurement-layouts: the whole reference as one text

> Measurement layouts state what items demand and which capabilities meet those demands. The
> library compiles a layout into a PyMC model, fits it with NUTS, and returns cognitive profiles and
> forecasts.

Import it as ``import measurement_layouts as ml``. Names are grouped by package; each has its
signature and its card (formula, parameters, errors, example, source).
"""


def text() -> str:
    """Return the cards of all public names, and of the methods of public classes."""
    parts = [HEAD]
    package = ""
    for name, value in references.public().items():
        if (door := name.rpartition(".")[0]) != package:
            package = door
            parts.append(f"# {package.replace('measurement_layouts', 'ml', 1)}\n")
        parts.append(_card(name.replace("measurement_layouts", "ml", 1), value, "##"))
        if inspect.isclass(value):
            parts += [
                _card(f"{value.__name__}.{own}", member, "###")
                for own, member in inspect.getmembers(value)
                if not own.startswith("_") and _module(member).startswith("measurement_layouts")
            ]
    return "\n".join(parts)


def _module(member: object) -> str:
    """Return where a method or property was written."""
    inner = getattr(member, "fget", None) or getattr(member, "func", None) or member
    return getattr(inner, "__module__", None) or ""


def _card(name: str, value: object, level: str) -> str:
    """Return a heading with the signature, and the card."""
    try:
        signature = str(inspect.signature(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        signature = ""
    card = inspect.getdoc(value) or ""
    return f"{level} {name}{signature}\n\n{card.strip()}\n"
