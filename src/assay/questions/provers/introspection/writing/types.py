"""Functions by which proofs compare annotations, as plain text."""

from __future__ import annotations

PLAIN = '''
def plain(kind):
    """A type without regard to how it is written: `Optional[str]` is `str | None`."""
    if isinstance(kind, (str, typing.ForwardRef)) and kind is not DISPUTED:
        raise LookupError(f"{kind!r} is a type that cannot be looked up")
    if isinstance(kind, list):
        return tuple(plain(one) for one in kind)
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return plain(parts[0])
    if origin in (typing.Union, types.UnionType):
        return frozenset(plain(one) for one in parts)
    if origin is typing.Literal or not parts:
        return type(None) if kind is None else origin if origin and not parts else kind
    return origin, tuple(plain(one) for one in parts)
'''

APART = '''
def atoms(kind):
    """All that a type is made of."""
    if isinstance(kind, (tuple, frozenset)):
        return {atom for one in kind for atom in atoms(one)}
    return {kind}


def are_apart(one, other):
    """Whether two types have nothing in common, so that neither is a way to speak of the other."""
    pairs = [(a, b) for a in atoms(plain(one)) for b in atoms(plain(other))]
    return not any(is_kin(a, b) or is_kin(b, a) for a, b in pairs)


def is_kin(one, other):
    """Whether one is the other, inherits from it, or stands for anything."""
    if one == other or one in (object, typing.Any, ...) or isinstance(one, typing.TypeVar):
        return True
    return isinstance(one, type) and isinstance(other, type) and issubclass(one, other)
'''
