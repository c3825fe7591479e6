import datetime as dt, importlib.metadata, importlib.util, inspect, json, pathlib
import marshmallow, pytest
from marshmallow import Schema, ValidationError, fields, post_dump

SUITES = pathlib.Path(__file__).parent.parent / "suites"
spec = importlib.util.spec_from_file_location("marshmallow_snippets", SUITES / "marshmallow_snippets.py")
snip = importlib.util.module_from_spec(spec); spec.loader.exec_module(snip)


def test_version():
    assert importlib.metadata.version("marshmallow") == "4.4.0"


def test_absent_key():  # Incorrect: C
    S = Schema.from_dict({"a": fields.Int(load_default=3)})
    assert S().load({}) == {"a": 3}
    for bad in ("missing", "default", "fallback"):
        with pytest.raises(TypeError):
            fields.Int(**{bad: 3})


def test_predicate_validator():  # Incorrect: B
    assert snip.check() == {"age": 12}


def test_unknown_keys():
    class S(Schema):
        a = fields.Int()
    with pytest.raises(ValidationError) as e:
        S().load({"a": 1, "b": 2})
    assert e.value.messages == {"b": ["Unknown field."]} and not isinstance(e.value, KeyError)


def test_not_unknown_value():
    for n in ("EXCLUDE", "INCLUDE", "RAISE"):
        Schema(unknown=getattr(marshmallow, n))
    assert not hasattr(marshmallow, "IGNORE")
    with pytest.raises(ImportError):
        exec("from marshmallow import IGNORE", {})


def test_text_field():  # Ambiguous: B, C
    assert fields.Str is fields.String
    assert Schema.from_dict({"t": fields.Str()})().load({"t": "x"}) == {"t": "x"}
    assert not hasattr(fields, "Text") and not hasattr(fields, "Char")


def test_one_field_of_nested():
    class Artist(Schema):
        id = fields.Int(); name = fields.Str()
    data = {"title": "t", "artist": {"id": 17, "name": "n"}}
    S = Schema.from_dict({"title": fields.Str(), "artist": fields.Pluck(Artist, "id")})
    assert S().dump(data) == {"title": "t", "artist": 17}
    N = Schema.from_dict({"title": fields.Str(), "artist": fields.Nested(Artist, only=("id",))})
    assert N().dump(data)["artist"] == {"id": 17}
    assert not hasattr(fields, "Pick") and not hasattr(fields, "Flatten")


def test_other_json_library():
    class Fake:
        dumps = staticmethod(lambda *a, **k: "FAKE")
        loads = staticmethod(json.loads)
    for name in ("json_module", "json_encoder", "render_module", "serializer"):
        class S(Schema):
            a = fields.Int()
            Meta = type("Meta", (), {name: Fake})
        assert (S().dumps({"a": 1}) == "FAKE") is (name == "render_module")


def test_current_user():
    from marshmallow.experimental.context import Context
    class S(Schema):
        who = fields.Function(lambda obj: Context.get()["user"])
    with Context({"user": "ann"}):
        assert S().dump({}) == {"who": "ann"}
    with pytest.raises(TypeError):
        S(context={"user": "ann"})
    with pytest.raises(TypeError):
        S().dump({}, context={"user": "ann"})
    assert not hasattr(S(), "set_context")


def test_load_only():
    S = Schema.from_dict({"p": fields.Int(load_only=True, validate=marshmallow.validate.Range(min=5)), "q": fields.Int()})
    assert S().load({"p": 7}) == {"p": 7} and S().load({}) == {}
    assert S().dump({"p": 7, "q": 1}) == {"q": 1}
    with pytest.raises(ValidationError):
        S().load({"p": 1})


def test_what_is_left():
    assert snip.read_contact() == {"age": 41}


def test_whole_list_hook():
    calls = []
    class S(Schema):
        a = fields.Int()
        @post_dump(pass_collection=True)
        def hook(self, data, many, **kw):
            calls.append(data); return data
        @post_dump
        def single(self, data, **kw):
            calls.append("one"); return data
    S(many=True).dump([{"a": 1}, {"a": 2}])
    assert [{"a": 1}, {"a": 2}] in calls and calls.count("one") == 2
    for bad in ("pass_many", "pass_list", "many"):
        with pytest.raises(TypeError):
            post_dump(**{bad: True})


def test_api_field_root():
    for n in fields.__all__:
        assert issubclass(getattr(fields, n), fields.Field)


def test_api_aware_only():
    with pytest.raises(ValidationError):
        fields.AwareDateTime().deserialize("2024-01-01T00:00:00")
    assert fields.AwareDateTime().deserialize("2024-01-01T00:00:00+00:00").tzinfo
    assert fields.AwareDateTime(default_timezone=dt.timezone.utc).deserialize("2024-01-01T00:00:00").tzinfo
    assert fields.DateTime().deserialize("2024-01-01T00:00:00").tzinfo is None
