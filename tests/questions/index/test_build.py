"""Building an index: what is survived, what is kept, and what cannot be built."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.questions.index import SymbolIndex, build_index
from assay.sandbox import Environment, Target, environment

PARCELS = "depot.parcels"


def test_it_is_built_once_and_then_opened(
    parcels: Environment, index: SymbolIndex, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.questions.index.build._look", None)
    started = time.process_time()
    again = build_index(parcels, module_seconds=4)
    assert again.find("Courier")[0].import_path == "depot.parcels.Courier"
    assert time.process_time() - started < 0.3
    assert len(again) == len(index) > 50
    again.close()


def test_the_distributions_are_those_that_were_asked_for(index: SymbolIndex) -> None:
    assert index.versions == {"depot-parcels": "3.1.0"}
    assert {"pydantic", "click"} <= set(index.foreign)
    assert index.is_foreign("pydantic.fields.Field")
    assert not index.is_foreign("depot.parcels.models")


def test_a_namespace_package_leads_to_the_modules(index: SymbolIndex) -> None:
    namespace = index.resolve("depot")
    assert namespace is not None
    assert namespace.is_namespace
    assert not index.modules[PARCELS].is_namespace


@pytest.mark.parametrize(
    ("module", "error", "missing"),
    [
        ("scales", "ModuleNotFoundError", "heavy_scales"),
        ("wrapped", "ImportError", "heavy_scales"),
        ("leaves", "SystemExit", ""),
        ("gone", "Exited", ""),
        ("hangs", "Hung", ""),
    ],
)
def test_modules_that_cannot_be_imported_are_told_with_the_reason(
    index: SymbolIndex, module: str, error: str, missing: str
) -> None:
    failure = index.unavailable[f"{PARCELS}.{module}"]
    assert (failure.error, failure.missing) == (error, missing)


def test_nothing_else_is_lost_to_them(index: SymbolIndex) -> None:
    bad = {"scales", "wrapped", "leaves", "gone", "hangs"}
    assert {name.rpartition(".")[2] for name in index.unavailable} == bad
    assert index.is_complete
    quiet = index.resolve(f"{PARCELS}.noisy.QUIET")
    assert quiet is not None
    assert quiet.default == "False"


def test_what_is_in_an_unavailable_module_is_known_from_its_source(index: SymbolIndex) -> None:
    weigh = index.resolve(f"{PARCELS}.scales.weigh")
    assert weigh is not None
    assert not weigh.available
    assert weigh.signature == "(parcel, *, unit: str = 'kg') -> float"
    assert index.resolve(f"{PARCELS}.scales.Scale.limit") is not None
    assert index.resolve(f"{PARCELS}.hangs.Sleeper") is not None


def test_the_main_module_is_not_run(index: SymbolIndex) -> None:
    assert f"{PARCELS}.__main__" not in index.modules


def test_it_can_be_built_where_a_loop_is_running(parcels: Environment, cache: Path) -> None:
    async def inside_a_loop() -> int:
        return len(build_index(parcels, distributions=["annotated-types"]))

    assert asyncio.run(inside_a_loop()) > 10


def test_a_distribution_that_is_not_there_is_the_users_mistake(
    parcels: Environment, cache: Path
) -> None:
    with pytest.raises(InputError, match="no-such-thing is not installed"):
        build_index(parcels, distributions=["no-such-thing"])


def test_of_the_current_environment_the_distributions_must_be_named(cache: Path) -> None:
    with pytest.raises(InputError, match="not known which distributions"):
        build_index(environment(Target(current=True)))


def test_the_current_environment_with_a_lazy_package(cache: Path) -> None:
    index = build_index(environment(Target(current=True)), distributions=["pydantic"])
    model = index.resolve("pydantic.BaseModel")
    assert model is not None
    assert model.path == "pydantic.main.BaseModel"
    assert "model_dump" in index.members("pydantic.RootModel")
    error = index.resolve("pydantic.ValidationError")
    assert error is not None
    assert error.kind == "exception"
    hits = index.search("Which decorator validates the arguments of a function call?")
    assert "pydantic.validate_call" in [hit.symbol.import_path for hit in hits[:5]]


def test_an_index_says_nothing_of_this_machine(index: SymbolIndex, parcels: Environment) -> None:
    texts = [one.model_dump_json() for one in index.modules.values()]
    assert str(parcels.python.parent.parent) not in json.dumps(texts)


def test_when_the_time_is_over_the_sources_still_speak(parcels: Environment, cache: Path) -> None:
    index = build_index(parcels, seconds=0.001)
    assert not index.is_complete
    assert {failure.error for failure in index.unavailable.values()} == {"Late"}
    courier = index.find("couriers.Courier")[0]
    assert not courier.available
    assert courier.doc == "Carries parcels."
