import asyncio, decimal, importlib.metadata, importlib.util, inspect, pathlib
from typing import Annotated
import msgspec, pytest

SUITES = pathlib.Path(__file__).parent.parent / "suites"
spec = importlib.util.spec_from_file_location("msgspec_snippets", SUITES / "msgspec_snippets.py")
snip = importlib.util.module_from_spec(spec); spec.loader.exec_module(snip)


def test_version():
    assert importlib.metadata.version("msgspec") == "0.22.0"


def test_immutable_struct():
    class P(msgspec.Struct, frozen=True):
        x: int
    hash(P(1))
    with pytest.raises(AttributeError):
        P(1).x = 2
    for bad in ("immutable", "readonly"):
        with pytest.raises(TypeError):
            type(msgspec.Struct)("P", (msgspec.Struct,), {"__annotations__": {"x": int}}, **{bad: True})
    class Q(msgspec.Struct, eq=False):
        x: int
    q = Q(1); q.x = 2
    assert q.x == 2


def test_frozen_assignment():  # Incorrect: A
    class Point(msgspec.Struct, frozen=True):
        x: int
    p = Point(1)
    with pytest.raises(AttributeError) as e:
        p.x = 2
    assert type(e.value) is AttributeError and p.x == 1


def test_tag_field_name():
    class Get(msgspec.Struct, tag=True):
        key: str
    assert msgspec.json.decode(msgspec.json.encode(Get("a"))) == {"type": "Get", "key": "a"}


def test_string_for_int():
    class Point(msgspec.Struct):
        x: int
    with pytest.raises(msgspec.ValidationError) as e:
        msgspec.json.decode(b'{"x": "1"}', type=Point)
    assert not isinstance(e.value, msgspec.EncodeError)


def test_dict_to_struct():  # Incorrect: B
    class P(msgspec.Struct):
        x: int
    assert msgspec.convert({"x": 1}, P) == P(1)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"x": "a"}, P)
    assert not hasattr(msgspec, "from_builtins") and not hasattr(msgspec, "to_struct")
    assert not hasattr(msgspec.structs, "fromdict")


def test_list_default():
    assert snip.demo() == []


def test_camel_case_key():  # Ambiguous: A, B
    class A(msgspec.Struct, rename="camel"):
        user_name: str
    class B(msgspec.Struct):
        user_name: str = msgspec.field(name="userName")
    assert msgspec.json.encode(A("x")) == msgspec.json.encode(B("x")) == b'{"userName":"x"}'
    with pytest.raises(TypeError):
        msgspec.field(alias="userName")
    with pytest.raises(TypeError):
        class D(msgspec.Struct, case="camel"):
            user_name: str


def test_parent_of_validationerror():  # Incorrect: B
    assert msgspec.ValidationError.__bases__ == (msgspec.DecodeError,)


def test_asdict_or_builtins():
    class In(msgspec.Struct):
        a: int
    class Out(msgspec.Struct):
        i: In
    o = Out(In(1))
    assert msgspec.structs.asdict(o) == {"i": In(1)}
    assert msgspec.to_builtins(o) == {"i": {"a": 1}}


def test_extra_key():
    assert asyncio.run(snip.handle(b'{"id": 7, "priority": "high"}')) == 7


def test_format_indent():
    assert msgspec.json.format('{"a":1}') == msgspec.json.format('{"a":1}', indent=2) == '{\n  "a": 1\n}'


def test_no_such_format():
    import msgspec.json, msgspec.msgpack, msgspec.toml
    for m in (msgspec.json, msgspec.msgpack, msgspec.toml):
        assert callable(m.encode) and callable(m.decode)
    assert importlib.util.find_spec("msgspec.cbor") is None


def test_api_constraints():
    T = Annotated[int, msgspec.Meta(ge=0)]
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b"-1", type=T)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'"abc"', type=Annotated[str, msgspec.Meta(max_length=2)])


def test_api_changed_copy():  # Incorrect
    assert not hasattr(msgspec, "replace")
    class P(msgspec.Struct):
        x: int
    assert msgspec.structs.replace(P(1), x=3) == P(3)


def test_api_decimals():
    d = decimal.Decimal("1.5")
    assert msgspec.json.Encoder(decimal_format="string").encode(d) == b'"1.5"'
    assert msgspec.json.Encoder(decimal_format="number").encode(d) == b"1.5"
