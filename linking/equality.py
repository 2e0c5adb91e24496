"""Equality of expressions, part by part."""

from dataclasses import fields, is_dataclass


def equal(one: object, other: object) -> bool:
    """Whether two values are built alike; a pair of shared parts is compared once."""
    pending = [(one, other)]
    compared: set[tuple[int, int]] = set()
    while pending:
        a, b = pending.pop()
        if a is b or (id(a), id(b)) in compared:
            continue
        if is_dataclass(a) or is_dataclass(b):
            if type(a) is not type(b):
                return False
            compared.add((id(a), id(b)))
            compare = [field.name for field in fields(a) if field.compare]  # type: ignore[arg-type]
            pending += ((getattr(a, name), getattr(b, name)) for name in compare)
        elif isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return False
            pending += zip(a, b, strict=True)
        elif a != b:
            return False
    return True
