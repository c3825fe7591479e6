"""What proofs ask of classes that declare fields: of pydantic, dataclasses and attrs."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from pathlib import Path
from typing import Any

import attr
import pydantic
import pytest

from assay.questions.claims import proof_helpers


class Model(pydantic.BaseModel):
    plain: int = 5
    made: int = pydantic.Field(default_factory=lambda: 500)
    renamed: int = pydantic.Field(default_factory=lambda: 500, alias="otherName")

    @property
    def derived(self) -> int:
        return self.plain


@dataclasses.dataclass
class Record:
    plain: int = 5
    made: list[int] = dataclasses.field(default_factory=list)


@attr.s(auto_attribs=True)
class Attributes:
    plain: int = 5
    made: list[int] = attr.Factory(list)


def call(source: str, name: str, argument: Any, **names: Any) -> Any:
    space: dict[str, Any] = {"functools": functools, "inspect": inspect, **names}
    exec(source, space)
    return space[name](argument)


def is_default(owner: type, parameter: str, value: object) -> bool:
    found = inspect.signature(owner).parameters[parameter]
    source = proof_helpers.IS_DEFAULT
    return bool(call(source, "is_default", value, OWNER=owner, PARAMETER=found))


@pytest.mark.parametrize(
    ("owner", "parameter", "value", "other"),
    [
        (Model, "plain", 5, 6),
        (Model, "made", 500, 100),
        (Record, "plain", 5, "5"),
        (Record, "made", [], None),
        (Attributes, "plain", 5, True),
    ],
)
def test_a_default_that_a_factory_makes_is_that_value(
    owner: type, parameter: str, value: object, other: object
) -> None:
    assert is_default(owner, parameter, value)
    assert not is_default(owner, parameter, other)


@pytest.mark.parametrize(("owner", "parameter"), [(Model, "otherName"), (Attributes, "made")])
def test_of_a_factory_that_is_not_found_nothing_is_known(owner: type, parameter: str) -> None:
    with pytest.raises(LookupError):
        is_default(owner, parameter, None)


def test_a_property_is_a_name_of_a_model_and_no_field() -> None:
    source = "import dis\n" + proof_helpers.names_of_class(has_signature=True, has_fields=True)
    fields, names = (call(source, one, Model) for one in ("fields", "names"))
    assert {"plain", "made", "renamed", "otherName"} <= fields
    assert "derived" in names
    assert "derived" not in fields
    assert "absent" not in names


@pytest.mark.parametrize("folder", ["plain", "install", "extra", "required"])
def test_where_a_library_is_says_nothing_about_a_name_that_it_lacks(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = f"library_in_{folder}"
    (tmp_path / folder / package).mkdir(parents=True)
    (tmp_path / folder / package / "__init__.py").write_text("Present = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path / folder))
    for name, works in (("Present", True), ("Absent", False)):
        assert call(proof_helpers.IMPORTS, "works", f"from {package} import {name}", re=re) is works
