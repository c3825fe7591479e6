"""`python -m benchmarks.house`: what can be counted about the shape of the source tree.

The same figures are taken of httpx, pytest, hypothesis and pydantic-evals, in exact versions that
are installed into `.venv/peers/house` on first use; `--alone` leaves them out. `--names` lists what
was counted, with its place, instead of the table.
"""

from __future__ import annotations

import argparse
import ast
import collections
import functools
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import environment_with

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src/assay"
PEERS = {
    "httpx": "httpx==0.28.1",
    "_pytest": "pytest==9.0.2",
    "hypothesis": "hypothesis==6.148.7",
    "pydantic_evals": "pydantic-evals==1.39.0",
}

_PEERS = ROOT / ".venv/peers/house"
_WAY = "modules on the way of a case (question / submission / agent)"

# Words that end like a participle and are none, and participles that do not end in "ed".
_NO_PARTICIPLES = frozenset(
    ("embed", "exceed", "feed", "need", "proceed", "red", "seed", "shed", "speed", "succeed")
)
_IRREGULAR = re.compile(
    "begun|bent|bound|broken|brought|built|caught|chosen|done|drawn|fallen|felt|forgotten|found|"
    "given|gone|grown|heard|held|hidden|kept|known|laid|left|lent|lost|made|meant|met|paid|proven|"
    "said|seen|sent|shown|sought|spent|spoken|stood|taken|taught|thought|told|torn|understood|"
    "woken|won|worn|woven|written"
)
_ORIGINS = """
import importlib.util, json, sys
print(json.dumps([importlib.util.find_spec(name).origin for name in sys.argv[1:]]))
"""
_NOUN_PHRASE = re.compile(
    r"(The|A|An|What|Whether|How|Where|When|Which|Who|Whose|Why|Every|Each|All|Any|No|Nothing|"
    r"One|Two|Three|That|This|These|Those|It|Its|Their|Only|As|For|In|Of|On|Without|With)\b"
)


@dataclass(frozen=True)
class Named:
    """A name and where it is defined."""

    name: str
    module: str
    line: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.name}"


@dataclass(frozen=True)
class Function(Named):
    """A function: its docstring's first line, and whether it is read like an attribute."""

    docstring: str
    is_property: bool


class Package:
    """The modules of one package, parsed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.modules: dict[str, ast.Module] = {}
        self.lines = 0
        for path in sorted(root.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            self.lines += len(text.splitlines())
            self.modules[str(path.relative_to(root))] = ast.parse(text)

    @functools.cached_property
    def classes(self) -> list[Named]:
        return [
            Named(node.name, module, node.lineno)
            for module, node in self._nodes()
            if isinstance(node, ast.ClassDef)
        ]

    @functools.cached_property
    def functions(self) -> list[Function]:
        return [
            Function(
                node.name,
                module,
                node.lineno,
                (ast.get_docstring(node) or "").partition("\n")[0],
                any(_decorator(each).endswith("property") for each in node.decorator_list),
            )
            for module, node in self._nodes()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]

    def _nodes(self) -> Iterator[tuple[str, ast.AST]]:
        for module, tree in self.modules.items():
            for node in ast.walk(tree):
                yield module, node


def find_homonyms(package: Package) -> dict[str, list[Named]]:
    """Return the public classes whose name is defined in more than one module."""
    homes = collections.defaultdict(list)
    for each in package.classes:
        if not each.name.startswith("_"):
            homes[each.name].append(each)
    return {name: found for name, found in homes.items() if len({n.module for n in found}) > 1}


def find_participles(package: Package) -> list[Function]:
    """Return the functions named by a participle; properties read like nouns and are left out."""
    return [
        function
        for function in package.functions
        if not function.is_property and is_participle(function.name)
    ]


def is_participle(name: str) -> bool:
    """Tell whether the last word of a name is a participle that no verb stands before."""
    words = name.strip("_").split("_")
    if words[0] in ("is", "has", "was", "test"):
        return False
    return _is_participle(words[0]) or (len(words) == 1 and _is_participle(words[-1]))


def _is_participle(word: str) -> bool:
    return _IRREGULAR.fullmatch(word) is not None or (
        word.endswith("ed") and len(word) > 3 and word not in _NO_PARTICIPLES
    )


def find_noun_phrases(package: Package) -> list[Function]:
    """Return the functions whose docstring does not say what to do but what there is."""
    return [
        function
        for function in package.functions
        if not function.is_property and _NOUN_PHRASE.match(function.docstring)
    ]


def find_imports_past_a_front_door(package: Package) -> list[Named]:
    """Return the imports of a module inside another package instead of from the package itself."""
    found = []
    packages = {path.parent.name for path in package.root.glob("*/__init__.py")}
    for module, tree in package.modules.items():
        own = module.partition("/")[0]
        for node in ast.walk(tree):
            for name in _imported(node, package):
                parts = name.split(".")
                if len(parts) > 2 and parts[1] in packages and parts[1] != own:
                    found.append(Named(name, module, getattr(node, "lineno", 0)))
    return found


def _imported(node: ast.AST, package: Package) -> Iterable[str]:
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        # `from assay.runs import journal` asks the front door only if it has such a name.
        inner = package.root.parent / node.module.replace(".", "/")
        modules = [a.name for a in node.names if (inner / f"{a.name}.py").exists()]
        names = [f"{node.module}.{name}" for name in modules] or [node.module]
    elif isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        names = []
    return [name for name in names if name.startswith(f"{package.root.name}.")]


def _decorator(node: ast.expr) -> str:
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


_TRACE = """
import sys, threading
seen = set()
def look(frame, event, argument):
    if event == "call" and frame.f_code.co_name != "<module>":
        seen.add(frame.f_globals.get("__name__", ""))
threading.setprofile(look)
sys.setprofile(look)
{program}
sys.setprofile(None)
print(len([name for name in seen if name.partition(".")[0] == {package!r}]))
"""
_ONE_CASE = {
    "question": """
import assay, tempfile
assay.questions.verify(
    "examples/questions/pydantic.yaml", case="model-method", out=tempfile.mkdtemp() + "/run"
)""",
    "submission": """
import assay, tempfile
assay.submissions.verify(
    "examples/submissions/ledger", "examples/submissions/ledger", case="one-category",
    out=tempfile.mkdtemp() + "/run",
)""",
    "agent": """
import assay, tempfile
assay.agents.verify("examples/agents/kiosk.hocon", out=tempfile.mkdtemp() + "/run")""",
}


# What peers with something like a case do with one.
_PEER_CASE = {
    "_pytest": """
import pathlib, pytest, tempfile
file = pathlib.Path(tempfile.mkdtemp(), "test_one.py")
file.write_text("def test_one(): assert 1 + 1 == 2")
pytest.main(["-q", "-p", "no:cacheprovider", str(file)])""",
    "hypothesis": """
from hypothesis import given, settings, strategies
settings(max_examples=1, database=None)(given(strategies.integers())(lambda number: None))()""",
    "pydantic_evals": """
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected
cases = [Case(name="one", inputs=2, expected_output=4)]
Dataset(name="one", cases=cases, evaluators=[EqualsExpected()]).evaluate_sync(
    lambda number: 2 * number, progress=False
)""",
}


def count_modules_on_the_way(program: str, package: str, python: str = sys.executable) -> int:
    """Return how many modules of a package are called, in its main process, by a program."""
    script = _TRACE.format(program=program, package=package)
    result = subprocess.run([python, "-c", script], cwd=ROOT, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"a case could not be traced:\n{result.stderr}")
    return int(result.stdout.split()[-1])


def measure(package: Package) -> dict[str, str]:
    """Return the figures of one package, as they are printed."""
    functions = [each for each in package.functions if not each.name.startswith("__")]
    documented = [each for each in functions if each.docstring and not each.is_property]
    classes = {each.name for each in package.classes if not each.name.startswith("_")}
    homonyms, participles = find_homonyms(package), find_participles(package)
    phrases = find_noun_phrases(package)
    return {
        "files": f"{len(package.modules)}",
        "lines": f"{package.lines:,}",
        "lines per file": f"{package.lines / len(package.modules):.0f}",
        "public classes with several homes": _share(len(homonyms), len(classes)),
        "participles as function names": _share(len(participles), len(functions)),
        "docstrings of functions that are noun phrases": _share(len(phrases), len(documented)),
        "imports past a front door": f"{len(find_imports_past_a_front_door(package))}",
    }


def _share(count: int, total: int) -> str:
    return f"{count} ({count / total:.1%})" if total else "0"


def main() -> None:
    """Print the table, or with `--names` everything that was counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", action="store_true", help="list what was counted in Assay")
    parser.add_argument("--alone", action="store_true", help="do not install and measure the peers")
    arguments = parser.parse_args()
    own = Package(SOURCE)
    if arguments.names:
        _print_names(own)
        return
    counts = [count_modules_on_the_way(program, "assay") for program in _ONE_CASE.values()]
    columns = {"Assay": measure(own) | {_WAY: " / ".join(map(str, counts))}}
    for name, root in ({} if arguments.alone else _install_peers()).items():
        columns[name.strip("_")] = measure(Package(root)) | {_WAY: _measure_peer_case(name)}
    print("| | " + " | ".join(columns) + " |")
    print("|---|" + "--:|" * len(columns))
    for row in columns["Assay"]:
        print(f"| {row} | " + " | ".join(column[row] for column in columns.values()) + " |")


def _measure_peer_case(name: str) -> str:
    if name not in _PEER_CASE:
        return ""
    return str(count_modules_on_the_way(_PEER_CASE[name], name, str(_PEERS / "bin/python")))


def _print_names(package: Package) -> None:
    for name, homes in sorted(find_homonyms(package).items()):
        print(f"homonym {name}: " + ", ".join(f"{n.module}:{n.line}" for n in homes))
    for kind, found in (
        ("participle", find_participles(package)),
        ("noun phrase", find_noun_phrases(package)),
        ("past a front door", find_imports_past_a_front_door(package)),
    ):
        for each in found:
            print(f"{kind} {each}")


def _install_peers() -> dict[str, Path]:
    python = environment_with(list(PEERS.values()), _PEERS, Path(sys.executable).parent / "uv")
    answer = subprocess.run([python, "-c", _ORIGINS, *PEERS], check=True, capture_output=True)
    return dict(zip(PEERS, (Path(o).parent for o in json.loads(answer.stdout)), strict=True))


if __name__ == "__main__":
    main()
