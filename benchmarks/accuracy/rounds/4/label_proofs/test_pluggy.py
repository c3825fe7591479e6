import importlib
import importlib.metadata
import inspect
import sys
from pathlib import Path

import pluggy
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "suites"))

hookspec = pluggy.HookspecMarker("demo")
hookimpl = pluggy.HookimplMarker("demo")


def manager(spec):
    pm = pluggy.PluginManager("demo")
    pm.add_hookspecs(spec)
    return pm


def test_version():
    assert importlib.metadata.version("pluggy") == "1.7.0"


def test_call_order(capsys):
    import pluggy_snippets

    pluggy_snippets.main()
    assert capsys.readouterr().out == "['second', 'first-tea']\n"


def test_wrapper_option():
    class Spec:
        @hookspec
        def go(self): ...

    class Plain:
        @hookimpl
        def go(self):
            return 1

    class Old:
        @hookimpl(hookwrapper=True)
        def go(self):
            outcome = yield
            outcome.force_result([x + 1 for x in outcome.get_result()])

    class New:
        @hookimpl(wrapper=True)
        def go(self):
            result = yield
            return [x + 1 for x in result]

    for wrapper in (Old, New):
        pm = manager(Spec)
        pm.register(Plain())
        pm.register(wrapper())
        assert pm.hook.go() == [2]
    with pytest.raises(TypeError):
        hookimpl(around=True)

    class First:
        @hookimpl(tryfirst=True)
        def go(self):
            yield

    pm = manager(Spec)
    pm.register(Plain())
    pm.register(First())
    assert inspect.isgenerator(pm.hook.go()[0])  # a plain implementation, not a wrapper


def test_firstresult_none():
    class Spec:
        @hookspec(firstresult=True)
        def go(self): ...

    class P:
        @hookimpl
        def go(self):
            return None

    pm = manager(Spec)
    pm.register(P())
    pm.register(P())
    assert pm.hook.go() is None


def test_positional_call():
    class Spec:
        @hookspec
        def resize(self, width, height): ...

    with pytest.raises(Exception) as e:
        manager(Spec).hook.resize(80, 24)
    assert type(e.value) is TypeError
    assert not issubclass(TypeError, (pluggy.HookCallError, pluggy.PluginValidationError))


def test_verify_all():
    class P:
        @hookimpl
        def unknown(self): ...

    class Q:
        @hookimpl(optionalhook=True)
        def unknown(self): ...

    pm = pluggy.PluginManager("demo")
    pm.register(Q())
    pm.check_pending()
    pm.register(P())
    with pytest.raises(pluggy.PluginValidationError):
        pm.check_pending()
    for name in ("validate", "verify_hooks", "check_hookimpls"):
        assert not hasattr(pm, name)


def test_entry_points():
    pm = pluggy.PluginManager("demo")
    assert pm.load_setuptools_entrypoints("group-that-nobody-has") == 0
    for name in ("load_entry_points", "discover", "import_plugins"):
        assert not hasattr(pm, name)


def test_prefix_argument():
    assert list(inspect.signature(pluggy.PluginManager).parameters) == ["project_name"]
    for name in ("prefix", "hook_prefix", "implprefix", "match"):
        with pytest.raises(TypeError):
            pluggy.PluginManager("demo", **{name: "demo_"})


def test_historic_hooks():
    class Spec:
        @hookspec(historic=True)
        def go(self, x): ...

    seen = []

    class P:
        @hookimpl
        def go(self, x):
            seen.append(x)

    pm = manager(Spec)
    pm.hook.go.call_historic(kwargs={"x": 1})
    pm.register(P())
    assert seen == [1]


def test_blocked_name():
    class Plugin:
        pass

    pm = pluggy.PluginManager("demo")
    pm.set_blocked("spam")
    assert pm.register(Plugin(), name="spam") is None


def test_api_mark_specifications():
    assert callable(pluggy.HookspecMarker("x"))


def test_api_outcome_object():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("pluggy.callers")
    seen = []

    class P:
        @hookimpl(hookwrapper=True)
        def go(self):
            seen.append((yield))

    pm = pluggy.PluginManager("demo")
    pm.register(P())
    pm.hook.go()
    assert type(seen[0]) is pluggy.Result
