"""Asking an index: names, members, what is absent, and what fits a question."""

from __future__ import annotations

import json

import pytest

from assay.questions.index import Symbol, SymbolIndex
from assay.questions.index.facts import read_facts


def only(found: list[Symbol]) -> Symbol:
    assert len(found) == 1, [one.path for one in found]
    return found[0]


@pytest.mark.parametrize(
    ("asked", "path", "kind"),
    [
        ("Courier", "depot.parcels.couriers.Courier", "class"),
        ("parcels.Courier", "depot.parcels.couriers.Courier", "class"),
        ("depot.parcels.couriers.Courier", "depot.parcels.couriers.Courier", "class"),
        ("Courier.deliver()", "depot.parcels.couriers.Courier.deliver", "method"),
        ("Cyclist.fee", "depot.parcels.couriers.Courier.fee", "method"),
        ("Courier.capacity", "depot.parcels.couriers.Courier.capacity", "parameter"),
        ("Courier.load", "depot.parcels.couriers.Courier.load", "attribute"),
        ("Courier.Badge.colour", "depot.parcels.couriers.Courier.Badge.colour", "attribute"),
        ("Courier.is_full", "depot.parcels.couriers.Courier.is_full", "property"),
        ("Express.weight", "depot.parcels.models.Parcel.weight", "field"),
        ("zipCode", "depot.parcels.models.Address.zip_code", "field"),
        ("Address.city", "depot.parcels.models.Address.town", "field"),
        ("State.GONE", "depot.parcels.states.State.GONE", "enum member"),
        ("LostError", "depot.parcels.errors.LostError", "exception"),
        ("LONGEST_WAIT", "depot.parcels.states.LONGEST_WAIT", "constant"),
        ("route.end", "depot.parcels.couriers.route.end", "parameter"),
        ("Parcel.model_dump", "pydantic.main.BaseModel.model_dump", "method"),
        ("parcels.states", "depot.parcels.states", "module"),
        ("--weight", "parcels send --weight", "option"),
        ("send --slow", "parcels send --fast", "option"),
        ("parcels-old list --all", "parcels-old list --all", "option"),
    ],
)
def test_names_are_found_by_their_last_components(
    index: SymbolIndex, asked: str, path: str, kind: str
) -> None:
    found = index.find(asked)
    assert (found[0].path, found[0].kind) == (path, kind)


@pytest.mark.parametrize(
    "asked", ["Courrier", "Courier.fly", "models.Courier", "", ".", "a b", "é"]
)
def test_what_is_not_there_is_not_found(index: SymbolIndex, asked: str) -> None:
    assert index.find(asked) == []


def test_kinds_narrow_what_is_found(index: SymbolIndex) -> None:
    assert {one.kind for one in index.find("name")} == {"attribute", "parameter"}
    assert {one.kind for one in index.find("name", kinds=["parameter"])} == {"parameter"}


def test_a_path_resolves_only_where_it_leads(index: SymbolIndex) -> None:
    lazy = index.resolve("depot.parcels.Courier")
    assert lazy is not None
    assert lazy.path == "depot.parcels.couriers.Courier"
    assert index.resolve("depot.parcels.couriers.Cyclist.named") is not None
    assert index.resolve("Courier") is None
    assert index.resolve("depot.parcels.Cyclist") is None


def test_all_paths_are_known_and_the_best_comes_first(index: SymbolIndex) -> None:
    state = only(index.find("State"))
    assert state.paths == (
        "depot.parcels.State",
        "depot.parcels.states.State",
        "depot.parcels.couriers.State",
    )
    wait = only(index.find("LONGEST_WAIT"))
    assert wait.paths[0] == "depot.parcels.states.LONGEST_WAIT"
    assert "depot.parcels.couriers.LONGEST_WAIT" in wait.paths


def test_a_class_tells_its_signature_bases_and_nature(index: SymbolIndex) -> None:
    courier, cyclist = only(index.find("Courier")), only(index.find("Cyclist"))
    assert courier.signature == "(name: str, *, capacity: int = 10)"
    assert courier.is_abstract
    assert not cyclist.is_abstract
    assert cyclist.bases == ("depot.parcels.couriers.Courier", "abc.ABC")
    assert only(index.find("State")).is_enum


def test_a_method_tells_how_it_is_called(index: SymbolIndex) -> None:
    deliver = index.find("Courier.deliver")[0]
    assert deliver.signature == "(parcel, /, *stops: str, urgent: bool = False) -> bool"
    assert deliver.is_async
    assert deliver.is_abstract
    assert index.find("Courier.fee")[0].decorators == ("staticmethod",)
    assert index.find("Courier.named")[0].decorators == ("classmethod",)
    assert "3.0" in index.find("Courier.named")[0].deprecated


@pytest.mark.parametrize(
    ("path", "doc"),
    [
        ("Courier.capacity", "How many parcels fit."),
        ("Courier.fee.distance", "In kilometres."),
        ("Courier.fee.rate", "Per kilometre."),
        ("route.start", "Where to begin."),
        ("route.end", "Where to arrive."),
        ("Address.street", "The street and the number of the house."),
        ("Parcel.weight", "In kilograms."),
        ("Parcel.tags", "Words that were stuck on the box."),
        ("LONGEST_WAIT", "Days until a parcel goes back."),
        ("--weight", "In kilograms."),
    ],
)
def test_documentation_is_found_wherever_it_is_written(
    index: SymbolIndex, path: str, doc: str
) -> None:
    assert index.find(path)[0].doc == doc


def test_a_models_fields_and_what_it_accepts(index: SymbolIndex) -> None:
    address, parcel = only(index.find("Address")), only(index.find("Parcel"))
    assert (address.extra, parcel.extra) == ("forbid", "ignore")
    zip_code = index.members(address.path)["zip_code"]
    assert (zip_code.aliases, zip_code.by_name, zip_code.required) == (("zipCode",), True, False)
    assert zip_code.default == "'00000'"
    assert index.members(address.path)["zipCode"] == zip_code
    weight = index.members(parcel.path)["weight"]
    assert (weight.required, weight.annotation) == (True, "float")
    assert index.members(parcel.path)["tags"].default == "list()"


def test_members_include_what_is_inherited(index: SymbolIndex) -> None:
    members = index.members("depot.parcels.models.Express")
    assert members["hours"].owner == "depot.parcels.models.Express"
    assert members["weight"].owner == "depot.parcels.models.Parcel"
    assert members["model_validate"].foreign
    assert "errors" in index.members("depot.parcels.ValidationError")
    assert index.members("depot.parcels.nothing") == {}


def test_an_attribute_that_only_instances_have(index: SymbolIndex) -> None:
    members = index.members("depot.parcels.couriers.Courier")
    assert members["load"].on_instance
    assert not members["fleet"].on_instance


def test_an_object_that_raises_when_looked_at_costs_nothing_else(index: SymbolIndex) -> None:
    assert {"shy", "plain"} <= index.members("depot.parcels.lazy.Holder").keys()
    assert only(index.find("lazy.shy")).kind == "constant"


def test_dataclass_fields(index: SymbolIndex) -> None:
    members = index.members("depot.parcels.models.Label")
    assert [members[name].required for name in ("text", "copies", "notes")] == [True, False, False]


def test_command_lines(index: SymbolIndex) -> None:
    assert [one.path for one in index.find("parcels send", kinds=["command"])] == ["parcels send"]
    weight = only(index.find("--weight"))
    assert (weight.aliases, weight.required) == (("-w", "weight"), True)
    assert only(index.find("--depth")).default == "2"


@pytest.mark.parametrize(
    "token",
    [
        "Courier",
        "heavy_scales",
        "made_up_setting",
        "UnheardOfName",
        "zipCode",
        "x",
        "depot.parcels",
    ],
)
def test_what_occurs_anywhere(index: SymbolIndex, token: str) -> None:
    assert index.occurs(token)


@pytest.mark.parametrize("token", ["never_written", "Courier.never_written", "", "--", "couriER"])
def test_what_occurs_nowhere(index: SymbolIndex, token: str) -> None:
    assert not index.occurs(token)


def test_all_installed_files_only_when_asked(index: SymbolIndex) -> None:
    assert not index.occurs("GetCoreSchemaHandler")
    assert index.occurs("GetCoreSchemaHandler", everywhere=True)
    assert not index.occurs("never_written", everywhere=True)


def test_why_something_might_exist_although_it_is_not_seen(index: SymbolIndex) -> None:
    modules = index.modules
    assert "heavy_scales" in str(modules["depot.parcels.scales"].failure)
    assert "heavy_scales" in modules["depot.parcels.soft"].missing_names["Fine"]
    assert "heavy_scales" in modules["depot.parcels"].missing_names["weigh"]
    assert modules["depot.parcels"].is_dynamic
    assert not modules["depot.parcels.couriers"].is_dynamic
    assert modules["depot.parcels.couriers"].missing_names == {}


def test_where_an_imported_name_comes_from(index: SymbolIndex) -> None:
    assert index.origin("depot.parcels.models.Field") == "pydantic.fields.Field"
    assert index.origin("depot.parcels.models.Address") is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which class carries parcels by bicycle?", "depot.parcels.couriers.Cyclist"),
        ("What is the abstract base class for everybody who delivers?", "depot.parcels.Courier"),
        ("Which error says that a parcel was lost?", "depot.parcels.errors.LostError"),
        ("Which field holds the weight in kilograms?", "depot.parcels.Parcel"),
        ("Which function finds a way between places?", "depot.parcels.couriers.route"),
        ("How do I set the zip code?", "depot.parcels.Address"),
        ("What does `Label` hold?", "depot.parcels.models.Label"),
    ],
)
def test_a_plain_question_is_answered_among_the_first(
    index: SymbolIndex, question: str, expected: str
) -> None:
    assert expected in [hit.symbol.import_path for hit in index.search(question, limit=3)]


def test_a_hit_names_the_members_that_fit(index: SymbolIndex) -> None:
    hit = next(
        one
        for one in index.search("weight of a parcel in kilograms")
        if one.symbol.import_path == "depot.parcels.Parcel"
    )
    assert hit.members[0].name == "weight"


def test_search_is_bounded_sorted_and_the_same_every_time(index: SymbolIndex) -> None:
    first = index.search("parcel", limit=4)
    assert len(first) == 4
    assert [hit.score for hit in first] == sorted((hit.score for hit in first), reverse=True)
    assert index.search("parcel", limit=4) == first
    assert index.search("") == index.search("the of and") == []


def test_kinds_make_each_hit_one_of_them(index: SymbolIndex) -> None:
    hits = index.search("parcel weight", kinds=["field", "option"])
    assert {hit.symbol.kind for hit in hits} == {"field", "option"}


def test_private_names_come_after_public_ones(index: SymbolIndex) -> None:
    paths = [hit.symbol.path for hit in index.search("parcel helper", limit=50)]
    private = "depot.parcels._private.parcel_helper"
    assert private in paths
    assert paths.index("depot.parcels.models.Parcel") < 10


def test_a_command_may_be_called_like_its_package() -> None:
    facts = [
        {"path": "sender", "kind": "module", "doc": "The package."},
        {"path": "sender", "kind": "command", "doc": "The command."},
        {"path": "sender --fast", "kind": "option", "owner": "sender"},
    ]
    found = read_facts(b"\n".join(json.dumps(one).encode() for one in facts))
    assert [(one.path, one.kind, one.doc) for one in found] == [
        ("sender", "module", "The package."),
        ("sender", "command", "The command."),
        ("sender --fast", "option", ""),
    ]
