"""Checks that the answer of a proof comes from the target, using other values and no target.

Runs in the fork of a twin, after its tests. The test that should hold is called again: with the
disputed value itself, while imports, patches and overrides are watched; with values that are nearly
the same; with real names of the target; and with an empty stand-in for the target. It must not hold
with any of the others. The judgement is made outside.
"""

from __future__ import annotations

import abc
import builtins
import contextlib
import importlib
import inspect
import re
import signal
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, ModuleType
from typing import Any

from .asking import (
    KIT,
    STANDARD,
    Asking,
    Hooks,
    contains,
    find_elsewhere,
    find_made,
    home,
    is_known,
    is_loose,
    is_own,
)

# The time limit of a call without the target, where loops may never end; exceeding it counts as not
# holding.
_SECONDS = 5.0
_REAL_NAMES = 4
_BEGINNING = "its beginning"
# Ways to reach the target that bypass its modules.
_WAYS = (
    "subprocess", "runpy", "pkgutil", "importlib.metadata", "importlib.resources", "importlib.util",
)  # fmt: skip
# Names that every class defines, whatever it inherits.
_LIFE = frozenset({"__init__", "__post_init__", "__attrs_post_init__", "__init_subclass__"})
# The module name of all stand-ins for parts of the target.
_NOWHERE = "absent"
_ABSENT = object()
# The module of a proof that is called again.
_PROOF = "test_challenge"


class _TimeIsUp(BaseException):
    """A call exceeded its time limit."""


class _Absent(BaseException):
    """Something of a missing target was called."""


class ChallengeRun:
    """The calls of one proof; `variants` maps changes of the disputed value to expressions."""

    def __init__(
        self,
        holds: str,
        source: str,
        template: str,
        variants: dict[str, str],
        hidden: list[str],
        is_name: bool,
        must_know: bool,
        is_refuted: bool,
        roots: list[str],
    ) -> None:
        self.holds = holds
        self._must_know, self._is_refuted = must_know, is_refuted
        self._source, self._template = source, template
        self._variants, self._is_name = variants, is_name
        self._hidden, self._roots = frozenset(hidden), tuple(roots)
        self._last: Any = None
        # Before the proof is read: what has the disputed name now, and what is called so.
        self._before = list(self._holders()) if is_name else []

    def run(self, module: ModuleType, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call the test in all variants, with the fixtures of the test that has just run."""
        self._file = module.__file__ or "test_challenge"
        self._arguments = arguments
        self._itself = compile(self._source, self._file, "exec", dont_inherit=True)
        self._other = compile(self._template, self._file, "exec", dont_inherit=True)
        if self._is_refuted:
            doubts = list(self._find_overlooked(module))
            return {**Watch(self.is_target).report(), "held": [], "doubts": doubts}
        watch = Watch(self.is_target)
        with watch:
            watch.has_held = self._holds(self._itself)
        disputed = self._last
        held = [name for name, text in self._variants.items() if self._holds_with(eval(text))]  # noqa: S307
        if held == [_BEGINNING] and self._is_word_of_target():
            held.clear()  # it is looked for in a text, where its beginning stands too
        names = self._real_names(module) if self._is_name else []
        if len(names) == _REAL_NAMES and all(map(self._holds_with, names)):
            held.append("other names of the target")
        # One alone shows nothing: code that runs also holds with a stand-in that allows everything,
        # code that fails with one that allows nothing.
        if all(self._holds_without(allows=allows) for allows in (True, False)):
            held.append("no target at all")
        return {
            **watch.report(),
            "held": held,
            "doubts": list(self._doubts(disputed)),
            "made": self._list_made(disputed),
        }

    def _doubts(self, disputed: Any) -> Iterator[str]:
        """Yield reasons why the answer is not the target's, although it differs with the value."""
        if is_loose(disputed, self._file):
            yield "what is disputed is equal to more than itself"
        if not self._is_name:
            return
        name = self._name
        for owner, before in self._before:
            now = vars(owner).get(name, _ABSENT)
            if now is not before and not isinstance(now, ModuleType):
                yield f"the proof puts `{name}` into `{owner.__name__}`"
        if self._must_know and not is_known(name, self.is_target, self._file):
            yield f"nothing in the target is called `{name}`"
        with Asking(self.is_target, name, denies=True) as asking:
            holds = self._holds(self._itself)
        if asking.denied and not holds:
            yield f"what has `{name}` is Python's own: a {asking.denied[0]}"

    def _list_made(self, disputed: Any) -> list[str]:
        # A text that is compared as a whole may well be what the proof has put in before.
        if isinstance(disputed, str) and not self._must_know:
            return []
        with _time_limit():
            return list(find_made(self._source, disputed))[:20]

    def _find_overlooked(self, module: ModuleType) -> Iterator[str]:
        """Yield where a name exists that the proof claims is missing."""
        with Asking(self.is_target, self._name, denies=False) as asking:
            self._holds(self._itself)
        asking.note_tables(self._source, vars(module))
        is_word = is_known(self._name, self.is_target, self._file)
        found = find_elsewhere(asking, self._name, is_word=is_word)
        if found is not None:
            yield found

    def _holders(self) -> Iterator[tuple[Any, Any]]:
        """Yield modules and classes of the target, each with its attribute of the disputed name."""
        for path, module in list(sys.modules.items()):
            if self.is_target(path) and isinstance(module, ModuleType):
                if not hasattr(module, "__getattr__"):  # else it may come when it is asked for
                    yield module, vars(module).get(self._name, _ABSENT)
                for kind in list(vars(module).values()):
                    if isinstance(kind, type) and kind.__module__ == path:
                        yield kind, vars(kind).get(self._name, _ABSENT)

    @property
    def _name(self) -> str:
        return max(self._hidden, key=len)

    def is_target(self, name: str) -> bool:
        """Return whether a module is the target's; by default, any but Python's and pytest's."""
        if self._roots:
            return any(f"{name}.".startswith(f"{root}.") for root in self._roots)
        top = name.partition(".")[0]
        return bool(top) and top != _PROOF and top not in KIT and top not in STANDARD

    def _holds_with(self, value: Any) -> bool:
        return self._holds(self._other, __disputed__=value)

    def _holds(self, code: CodeType, **more: Any) -> bool:
        # A module of its own: without a __spec__ it is told apart from what it imports.
        names: dict[str, Any] = {"__name__": _PROOF, "__file__": self._file, **more}
        try:
            exec(code, names)  # noqa: S102
            self._last = names.get("DISPUTED")
            test = names[self.holds]
            for given in _parameters(test):
                known = {**self._arguments, **given}
                made = test(**{name: known[name] for name in inspect.signature(test).parameters})
                if inspect.iscoroutine(made):
                    import asyncio

                    asyncio.run(made)
        except BaseException:
            return False
        return True

    def _is_word_of_target(self) -> bool:
        longest = max(self._hidden, key=len)
        word = re.compile(rb"\b" + re.escape(longest.encode()) + rb"\b")
        # One occurrence is the disputed one; code from the question may be repeated.
        if len(word.findall(self._source.encode())) > 2:
            return True
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if not file or file == self._file or name.partition(".")[0] in KIT | STANDARD:
                continue
            if contains(file, longest, word):
                return True
        return False

    def _real_names(self, module: ModuleType) -> list[str]:
        """Return names that the target has, but not in the places this proof looks at."""
        used = [one for one in vars(module).values() if self.is_target(home(one))]
        homes = {home(one) for one in used} & sys.modules.keys()
        known = {name for home in homes for name in vars(sys.modules[home])}
        # A module may hide some of its names from `dir`.
        known -= {name for one in used for name in (*dir(one), *getattr(one, "__dict__", ()))}
        known -= set(vars(module))
        plain = sorted(name for name in known if len(name) > 3 and not name.startswith("_"))
        return plain[:: max(1, len(plain) // _REAL_NAMES)][:_REAL_NAMES]

    def _holds_without(self, *, allows: bool) -> bool:
        stand_in = StandIn(self.is_target, self._hidden, allows=allows)
        with _time_limit(), stand_in:
            return self._holds(self._itself)


def _parameters(test: Any) -> list[dict[str, Any]]:
    """Return the parameter values that marks give a test, for all its calls."""
    calls: list[dict[str, Any]] = [{}]
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names, values = mark.args[:2]
            names = names.replace(",", " ").split() if isinstance(names, str) else list(names)
            rows = [getattr(one, "values", (one,) if len(names) == 1 else one) for one in values]
            calls = [{**call, **dict(zip(names, row))} for call in calls for row in rows]  # noqa: B905
    return calls


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    def stop(number: int, frame: object) -> None:
        raise _TimeIsUp

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Watch(Hooks):
    """Records what a proof imports and patches and what its classes override."""

    def __init__(self, is_target: Callable[[str], bool]) -> None:
        super().__init__()
        self._is_target = is_target
        self.has_held = False
        self._imported: set[str] = set()
        self._patched: set[str] = set()
        self._overridden: set[str] = set()
        self._read: set[str] = set()
        self._is_active = True

    def report(self) -> dict[str, Any]:
        return {
            "repeated": self.has_held,
            "imported": sorted(self._imported)[:20],
            "patched": sorted(self._patched)[:20],
            "overridden": sorted(self._overridden)[:20],
            "read": sorted(self._read)[:20],
        }

    def __enter__(self) -> Watch:
        real_import = self._put(builtins, "__import__", self._import)
        self._import_really = real_import
        self._import_module_really = self._put(importlib, "import_module", self._import_module)
        self._build_really = self._put(builtins, "__build_class__", self._build)
        mock = sys.modules.get("unittest.mock")
        if mock is not None:
            self._watch_mock(vars(mock)["_patch"])
        monkeypatch = sys.modules["pytest"].MonkeyPatch
        for name in ("setattr", "delattr", "setitem", "delitem"):
            self._watch_monkeypatch(monkeypatch, name)
        self._watch_register()
        sys.addaudithook(self._note_open)
        return self

    def __exit__(self, *error: object) -> None:
        self._is_active = False
        super().__exit__(*error)

    def _note_open(self, event: str, details: tuple[Any, ...]) -> None:
        """Record that the target's source is read by something other than imports and warnings."""
        if not self._is_active or event != "open" or not str(details[0]).endswith(".py"):
            return
        frame: FrameType | None = sys._getframe(1)
        callers = set()
        while frame is not None:
            callers.add(frame.f_code.co_filename.rpartition("/")[2])
            frame = frame.f_back
        if any(one.startswith("<frozen importlib") for one in callers):
            return
        if "linecache.py" in callers and "inspect.py" not in callers:
            return
        for name, module in list(sys.modules.items()):
            if getattr(module, "__file__", None) == str(details[0]) and self._is_target(name):
                self._read.add(name)

    def _note_import(self, name: str) -> None:
        if self._is_target(name) or name in _WAYS:
            self._imported.add(name)

    def _import(
        self, name: str, names: Any = None, local: Any = None, wanted: Any = (), level: int = 0
    ) -> Any:
        if is_own(names):
            self._note_import(name)
            for one in wanted or ():
                self._note_import(f"{name}.{one}")
        return self._import_really(name, names, local, wanted, level)

    def _import_module(self, name: str, package: str | None = None) -> Any:
        self._note_import(name)
        return self._import_module_really(name, package)

    def _build(self, body: Any, name: str, *bases: Any, **more: Any) -> Any:
        made = self._build_really(body, name, *bases, **more)
        if is_own(getattr(body, "__globals__", None)) and isinstance(made, type):
            for key, value in vars(made).items():
                if inspect.isfunction(value) or isinstance(
                    value, (classmethod, staticmethod, property)
                ):
                    self._note_override(made, key)
        return made

    def _note_override(self, made: type, key: str) -> None:
        function = getattr(vars(made)[key], "__func__", vars(made)[key])
        function = getattr(function, "fget", function)
        if getattr(function, "__module__", _PROOF) != made.__module__:
            return  # made for the class by the target, such as an __init__
        if key in _LIFE:
            return
        for base in made.__mro__[1:]:
            if not self._is_target(base.__module__) or key not in vars(base):
                continue
            if not getattr(vars(base)[key], "__isabstractmethod__", False):
                self._overridden.add(key)

    def _note_patch(self, target: Any) -> None:
        place = target if isinstance(target, str) else home(target)
        if self._is_target(place) and not _is_of_proof(target):
            self._patched.add(place)

    def _watch_mock(self, patch: Any) -> None:
        note = self._note_patch

        def enter(self: Any) -> Any:
            note(self.getter())
            return before(self)

        before = self._put(patch, "__enter__", enter)

    def _watch_monkeypatch(self, owner: Any, name: str) -> None:
        note = self._note_patch

        def change(self: Any, target: Any, *more: Any, **options: Any) -> Any:
            note(target)
            return before(self, target, *more, **options)

        before = self._put(owner, name, change)

    def _watch_register(self) -> None:
        """Record when a class of the target is registered as a virtual subclass."""

        def register(kind: Any, subclass: Any) -> Any:
            if is_own(sys._getframe(1).f_globals):
                self._note_patch(subclass)
            return before(kind, subclass)

        before = self._put(abc.ABCMeta, "register", register)


def _is_of_proof(value: Any) -> bool:
    return home(value) == _PROOF


class StandIn(Hooks):
    """A target that is not there: every name but the disputed one, and nothing behind them.

    If it `allows`, everything can be called; if not, nothing can.
    """

    def __init__(
        self, is_target: Callable[[str], bool], hidden: frozenset[str], *, allows: bool
    ) -> None:
        super().__init__()
        self._is_target, self._allows = is_target, allows
        self._hidden = hidden

    def __enter__(self) -> StandIn:
        self._kind = _make_absent_type(self._give, self._call, self._inherit)
        self._import_really = self._put(builtins, "__import__", self._import)
        self._import_module_really = self._put(importlib, "import_module", self._import_module)
        return self

    def _give(self, name: str) -> Any:
        if name in self._hidden or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        return type(self._kind)(name, (self._kind,), {"__module__": _NOWHERE})

    def _inherit(self, names: dict[str, Any]) -> None:
        if not self._allows and names["__module__"] != _NOWHERE:
            raise _Absent

    def _call(self, keywords: dict[str, Any]) -> None:
        if not self._allows:
            raise _Absent
        for name in keywords:
            if name in self._hidden:
                raise TypeError(f"unexpected keyword argument {name!r}")

    def _stands_for(self, name: str) -> bool:
        return self._is_target(name) or any(f"{name}.".startswith(f"{way}.") for way in _WAYS)

    def _import(
        self, name: str, names: Any = None, local: Any = None, wanted: Any = (), level: int = 0
    ) -> Any:
        if not is_own(names) or not self._stands_for(name):
            return self._import_really(name, names, local, wanted, level)
        if not self._allows and not (names or {}).get("__file__"):
            raise _Absent  # code that the proof runs, not what it imports for itself
        if name in self._hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return self._give("a module")

    def _import_module(self, name: str, package: str | None = None) -> Any:
        if not self._stands_for(name):
            return self._import_module_really(name, package)
        return self._import(name, {"__file__": self})


def _make_absent_type(
    give: Callable[[str], Any],
    call: Callable[[dict[str, Any]], None],
    inherit: Callable[[dict[str, Any]], None],
) -> type:
    """Make the class of all that stands for something: classes and instances answer alike."""

    class AbsentType(type):
        def __getattr__(cls, name: str) -> Any:
            return give(name)

        def __call__(cls, *values: Any, **keywords: Any) -> Any:
            call(keywords)
            return super().__call__(*values, **keywords)

        def __new__(kind: Any, name: Any, bases: Any, names: Any, **more: Any) -> Any:
            if bases:
                inherit(names)
            return super().__new__(kind, name, bases, names)

        def __init__(cls, name: Any, bases: Any, names: Any, **more: Any) -> None:
            super().__init__(name, bases, names)

        def __iter__(cls) -> Iterator[Any]:
            return iter(())

        def __contains__(cls, value: Any) -> bool:
            return False

        def __bool__(cls) -> bool:
            return True

        def __getitem__(cls, key: Any) -> Any:
            return give("item")

    class AbsentThing(metaclass=AbsentType):
        def __init__(self, *values: Any, **keywords: Any) -> None:
            pass

        def __getattr__(self, name: str) -> Any:
            return give(name)

        def __call__(self, *values: Any, **keywords: Any) -> Any:
            call(keywords)
            return give("result")

        def __iter__(self) -> Iterator[Any]:
            return iter(())

        def __contains__(self, value: Any) -> bool:
            return False

        def __getitem__(self, key: Any) -> Any:
            return give("item")

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *error: object) -> None:
            return None

    return AbsentThing
