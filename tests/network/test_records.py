"""Records: classes of a few members, which have to do what dataclasses do."""

from __future__ import annotations

import pickle
from functools import cached_property

import pytest

from pysimd.network.records import EMPTY, record, replace


@record(frozen=True)
class Compared:
    """Equal to others with the same members."""

    name: str
    sizes: tuple[int, ...] = ()

    @cached_property
    def total(self) -> int:
        """What is computed once."""
        return sum(self.sizes)


@record(frozen=True, eq=False)
class Itself:
    """Equal to itself alone."""

    name: str


@record
class Mutable:
    """Without a hash."""

    name: str

    def __repr__(self) -> str:
        return "its own"


def test_members_and_defaults() -> None:
    one = Compared("a")
    assert (one.name, one.sizes) == ("a", ()) and repr(one) == "Compared(name='a', sizes=())"
    assert Compared(sizes=(1, 2), name="b").total == 3 and repr(Mutable("c")) == "its own" and not EMPTY
    for arguments in ((), ("a", (), 1)):
        with pytest.raises(TypeError):
            Compared(*arguments)


def test_equality() -> None:
    assert Compared("a", (1,)) == Compared("a", (1,)) != Compared("a", (2,))
    assert len({Compared("a"), Compared("a"), Compared("b")}) == 2
    assert Itself("a") != Itself("a") and len({Itself("a"), Itself("a")}) == 2
    assert Mutable("a") == Mutable("a")
    with pytest.raises(TypeError, match="unhashable"):
        hash(Mutable("a"))


def test_replaced_members_and_pickles() -> None:
    one = Compared("a", (1, 2))
    assert one.total == 3
    other = replace(one, sizes=(4,))
    assert (other.name, other.sizes, other.total) == ("a", (4,), 4) and one.sizes == (1, 2)
    assert pickle.loads(pickle.dumps(one)) == one
