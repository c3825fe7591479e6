"""Rejects proofs that contain their own answer: the answer must come from the target.

A proof that contains the disputed value, changes the target or reads its own text only shows what
its author believes. Pure functions: text in, refusals and variants of the proof out.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain

from assay.questions.model import Question
from assay.questions.proofs.proof_file import (
    DISPUTED,
    INSTEAD,
    ProofFile,
    UnfitProofError,
    find_assignment,
    is_foreign_import,
)
from assay.sandbox import Challenge, parse_proof, walk_tree

_CHANGES = frozenset({"setattr", "delattr", "__setattr__", "__delattr__"})
_PATCHES = frozenset({"patch", "object", "multiple", "dict", "create_autospec", "seal"})
_MOCKS = frozenset({"Mock", "MagicMock", "AsyncMock", "NonCallableMock", "create_autospec"})
_MONKEY = frozenset({"setattr", "delattr", "setitem", "delitem"})
# What decides which module an import finds.
_IMPORT_STATE = frozenset(
    {"sys.modules", "sys.path", "sys.meta_path", "sys.path_hooks", "sys.path_importer_cache"}
)
_MUTATORS = frozenset(
    {"append", "clear", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update",
     "__setitem__", "__delitem__", "__ior__", "__iadd__"}
)  # fmt: skip
_MODULE_MAKERS = frozenset(
    {"types.ModuleType", "importlib.util.module_from_spec", "importlib.util.spec_from_loader",
     "importlib.util.spec_from_file_location", "importlib.machinery.ModuleSpec",
     "importlib.machinery.SourceFileLoader", "importlib.reload", "site.addsitedir",
     "builtins.__import__"}
)  # fmt: skip
_OWN_TEXT = frozenset({"__doc__", "__file__", "__spec__", "__loader__"})
_CODE_OF_FUNCTIONS = frozenset({"__code__", "__defaults__", "__kwdefaults__", "__globals__"})
# With these a proof can read what nobody reads otherwise: its docstrings, the names of its tests.
_DOCS = frozenset({"__doc__", "getdoc", "co_consts"})
# With these it can find its own module, whose docstring says what is claimed.
_OWN_MODULE = frozenset({"modules", "getmodule", "f_globals", "__globals__"})
_OWN_MODULE_NAMES = frozenset({"__name__", "globals"})
_NAMES = frozenset({"node", "__name__", "__qualname__", "co_name", "co_names", "co_varnames"})
# Functions that inspect only the form of a value.
_LOOKS = frozenset(
    {"hash", "ord", "hashlib", "hmac", "zlib", "binascii", "difflib", "fnmatch", "len", "crc32",
     "base64", "codecs", "random", "struct", "unicodedata", "uuid"}
)  # fmt: skip
_SUBCLASSING = re.compile(r"\b(?:subclass|inherit|overrid|overrod|extend|derive|implement|custom)")
_WORD = re.compile(r"[A-Za-z0-9]+")
PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CODE = re.compile(r"```.*?```|`[^`]+`|^(?: {4}|\t).*$", re.DOTALL | re.MULTILINE)
_FILTERS = re.compile(r"filter|-W\b|\b(?:as|into|to) errors?\b|ignored|suppress")
_SMALL = 2
_SHORT = 3
_ENDINGS = ("s", "d", "e", "y", "r", "er", "ed", "es", "ly", "or", "al", "en", "ic", "ing")


@dataclass(frozen=True)
class Given:
    """What a question itself says: its code may be repeated by a proof, and nothing else."""

    code: str = ""
    prose: str = ""
    literals: frozenset[str] = frozenset()
    """What is handed over in the code of an option, as text."""
    options: frozenset[str] = frozenset()
    """The texts of all options: a list of exactly these is no answer of the proof's own."""
    option: str = ""
    """The text of the option that is proven."""
    subjects: frozenset[str] = frozenset()
    """The names in the code of the question's sentence."""

    def mentions(self, name: str) -> bool:
        """Return whether the question speaks of a name, in words or in code."""
        return bool(re.search(rf"\b{re.escape(name)}\b", f"{self.prose}\n{self.code}"))

    def shows(self, expression: str) -> bool:
        """Return whether an expression occurs in the code of the question or of the option."""
        shown = re.sub(r"\s|['\"]", "", f"{self.code}\n{self.option}")
        return re.sub(r"\s|['\"]", "", expression) in shown

    @property
    def is_about_subclassing(self) -> bool:
        return _SUBCLASSING.search(self.prose.lower()) is not None


def read_given(question: Question | None, option: str, twin: str = "") -> Given:
    """Return what the question says to everybody: its code, and its words with the option's.

    `twin` is the option that this one is compared with; what that one says is given too.
    """
    if question is None:
        return Given()
    snippet, said = question.snippet, question.options.get(option, "")
    code = [] if snippet is None else [*snippet.imports, snippet.code]
    code += [question.options[twin].strip("`")] if twin in question.options else []
    return Given(
        code="\n".join([*code, *_CODE.findall(question.text)]),
        prose=f"{question.text}\n{said}",
        options=frozenset(one.strip("`") for one in question.options.values()),
        option=said.strip().strip("`"),
        subjects=frozenset(chain.from_iterable(map(_names_in, _CODE.findall(question.text)))),
        literals=frozenset(chain.from_iterable(map(_find_arguments, _CODE.findall(said)))),
    )


def _find_arguments(code: str) -> Iterator[str]:
    try:
        tree = ast.parse(code.strip("`"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for call in walk_tree(tree):
        if isinstance(call, ast.Call):
            yield from (str(one.value) for one in walk_tree(call) if isinstance(one, ast.Constant))


def _names_in(code: str) -> Iterator[str]:
    try:
        tree = ast.parse(code.strip().strip("`"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in walk_tree(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            yield node.id if isinstance(node, ast.Name) else node.attr


def check_subject(source: str, given: Given, modules: Collection[str] = ()) -> None:
    """Raise UnfitProofError if a proof is not about its question and its option."""
    tree = parse_proof(source)
    node = find_assignment(tree, DISPUTED)
    value = node.value if isinstance(node, ast.Constant) else None
    is_named = isinstance(value, str) and _is_name(value) and _is_name(given.option)
    if is_named and not given.mentions(str(value).rpartition(".")[2]):
        _refuse(node or tree, f"{DISPUTED} is not what the option says: {given.option}")
    kind = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
    if kind.endswith("Warning") and not _FILTERS.search(given.prose):
        _check_filters(tree)
    roots = {path.partition(".")[0] for path in (*modules, *dict(_imports(tree)).values())}
    subjects = given.subjects - roots - vars(builtins).keys()
    if subjects and subjects.isdisjoint(names_in_proof(source)):
        named = ", ".join(f"`{name}`" for name in sorted(subjects)[:3])
        _refuse(tree, f"it uses nothing that the question is about: {named}")


def _check_filters(tree: ast.Module) -> None:
    """Refuse changes to warning filters, if a warning is disputed."""
    for node in walk_tree(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            action = str(node.args[0].value).partition(":")[0]
            if name in ("simplefilter", "filterwarnings") and action in ("error", "ignore"):
                _refuse(node, f"it changes what becomes of warnings: {action}")


def names_in_proof(source: str) -> Iterator[str]:
    """Yield every name and every word of a proof, except in docstrings."""
    for statement in parse_proof(source).body:
        for node in _outside_docstrings(statement):
            if isinstance(node, ast.Name):
                yield node.id
            elif isinstance(node, ast.Attribute):
                yield node.attr
            elif isinstance(node, ast.alias):
                yield from node.name.split(".")
            elif isinstance(node, ast.keyword) and node.arg:
                yield node.arg
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from re.findall(r"\w+", node.value)


def check_forgery(source: str, given: Given, modules: Collection[str] = ()) -> None:
    """Raise UnfitProofError if a proof changes the target or brings its own answer."""
    tree = parse_proof(source)
    _Reader(tree, given, modules).check()


class _Reader:
    def __init__(self, tree: ast.Module, given: Given, modules: Collection[str]) -> None:
        self._tree, self._given = tree, given
        self._roots = {name.partition(".")[0] for name in modules}
        self._names = dict(_imports(tree))
        self._own = {
            name.id: statement.value
            for statement in tree.body
            if isinstance(statement, ast.Assign)
            for name in statement.targets
            if isinstance(name, ast.Name)
        }
        self._target = self._target_names()

    def check(self) -> None:
        for node in walk_tree(self._tree):
            self._check_definition(node)
            self._check_change(node)
            self._check_import_state(node)
            self._check_own_text(node)
            self._check_looks(node)
            self._check_exchange(node)
        self._check_occurrence()

    # Names of the target.

    def _target_names(self) -> set[str]:
        """Return the names of the target's modules, classes and functions, with their aliases."""
        found = {
            (alias.asname or alias.name).partition(".")[0]
            for node in walk_tree(self._tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
            if is_foreign_import(node, alias, self._roots)
        }
        while True:
            more = {
                target.id
                for node in walk_tree(self._tree)
                if isinstance(node, ast.Assign) and _root(node.value) in found
                for target in node.targets
                if isinstance(target, ast.Name)
            }
            if more <= found:
                return found
            found |= more

    def _is_of_target(self, node: ast.AST) -> bool:
        """Return whether an expression is something of the target itself, not made with it."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and self._names_target(node.value)
        if isinstance(node, ast.BinOp | ast.JoinedStr | ast.FormattedValue):
            return any(map(self._is_of_target, ast.iter_child_nodes(node)))
        if _is_vars(node):
            return any(self._is_of_target(one) for one in node.args)  # type: ignore[attr-defined]
        return _root(node) in self._target

    def _names_target(self, text: str) -> bool:
        roots = self._roots or {
            path.partition(".")[0] for name, path in self._names.items() if name in self._target
        }
        return text.partition(".")[0] in roots and "." in text

    def _path(self, node: ast.AST) -> str:
        """Return the dotted name of an expression, through the imports; empty if it is none."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            left = self._path(node.value)
            return f"{left}.{node.attr}" if left else ""
        return ""

    # Forbidden changes to the target.

    def _check_definition(self, node: ast.AST) -> None:
        names: list[str] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [one.id for one in node.targets if isinstance(one, ast.Name)]
        for name in names:
            imported = self._names.get(name)
            if imported is not None and name in self._target and node in self._tree.body:
                _refuse(node, f"it defines {name} itself, which it imports from {imported}")

    def _check_change(self, node: ast.AST) -> None:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign | ast.Delete):
            targets = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        for one in targets:
            if isinstance(one, ast.Attribute) and self._is_of_target(one):
                _refuse(node, f"it changes the target: {ast.unparse(one)}")
            if isinstance(one, ast.Subscript) and self._is_inner(one.value):
                _refuse(node, f"it changes the target: {ast.unparse(one)}")
        if isinstance(node, ast.Call):
            self._check_call(node)

    def _is_inner(self, node: ast.AST) -> bool:
        """Return whether this is a table in which the target keeps its names."""
        if _is_vars(node):
            return self._is_of_target(node)
        return (
            isinstance(node, ast.Attribute)
            and node.attr.startswith("__")
            and self._is_of_target(node)
        )

    def _check_call(self, call: ast.Call) -> None:
        function, path = call.func, self._path(call.func)
        name = path.rpartition(".")[2] or getattr(function, "attr", "")
        arguments = [*call.args, *(one.value for one in call.keywords)]
        everything = [part for one in arguments for part in walk_tree(one)]
        on_target = any(self._is_of_target(one) for one in arguments)
        is_mock = path.startswith(("unittest.mock.", "mock."))
        if (name in _CHANGES or self._changes(everything)) and on_target:
            _refuse(call, f"it changes the target by {name or 'setattr'}")
        if isinstance(function, ast.Name) and on_target and self._changes([self._own.get(name)]):
            _refuse(call, f"it changes the target by {name}")
        if (is_mock and name in _PATCHES | _MOCKS) or (
            isinstance(function, ast.Attribute)
            and function.attr in _MONKEY | {"context"}
            and "monkey" in _root(function).lower()
        ):
            if any(map(self._is_of_target, everything)):
                _refuse(call, "it replaces the target with a substitute")
            if any(self._path(one) == "sys.modules" for one in everything) or any(
                isinstance(one, ast.Constant) and one.value == "sys.modules" for one in everything
            ):
                _refuse(call, "it changes what is imported: sys.modules")
        if isinstance(function, ast.Attribute) and function.attr in _MUTATORS:
            if self._is_inner(function.value):
                _refuse(call, f"it changes the target: {ast.unparse(function)}")
            if self._path(function.value) in _IMPORT_STATE:
                _refuse(call, f"it changes what is imported: {self._path(function.value)}")
        if name == "syspath_prepend":
            _refuse(call, "it changes what is imported: sys.path")

    def _changes(self, nodes: list[ast.AST] | list[ast.expr | None]) -> bool:
        return any(
            (isinstance(one, ast.Name) and one.id in _CHANGES)
            or (isinstance(one, ast.Attribute) and one.attr in _CHANGES)
            for one in nodes
        )

    def _check_import_state(self, node: ast.AST) -> None:
        if isinstance(node, ast.Attribute | ast.Name):
            path = self._path(node)
            if path in _MODULE_MAKERS:
                _refuse(node, f"it makes modules itself, by {path}")
            if path in _IMPORT_STATE and isinstance(node.ctx, ast.Store | ast.Del):
                _refuse(node, f"it changes what is imported: {path}")
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            path = self._path(node.value)
            if path in _IMPORT_STATE:
                _refuse(node, f"it changes what is imported: {path}")

    def _check_own_text(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name) and node.id in _OWN_TEXT:
            _refuse(node, f"it reads its own text by {node.id}")

    def _check_exchange(self, node: ast.AST) -> None:
        """Refuse to run other code under the name of a test than its own body."""
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name.startswith("test_") or name in _CODE_OF_FUNCTIONS:
                _refuse(node, f"it exchanges the code of a function: {name}")

    def _check_looks(self, node: ast.AST) -> None:
        """Refuse to decide by what the disputed value looks like."""
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
            known = [one for one in parts if self._is_own(one)]
            if known and any(self._is_disputed(one) for one in parts):
                _refuse(node, f"it compares {DISPUTED} with what it brings itself")
        elif isinstance(node, ast.Match) and self._is_disputed(node.subject):
            _refuse(node, f"it compares {DISPUTED} with what it brings itself")
        elif isinstance(node, ast.Call):
            path = self._path(node.func)
            if path.partition(".")[0] in _LOOKS and any(map(self._is_disputed, node.args)):
                _refuse(node, f"it decides by what {DISPUTED} looks like: {path}")
            if path.startswith("re.") and any(map(self._is_disputed, node.args[1:])):
                _refuse(node, f"it decides by what {DISPUTED} looks like: {path}")
            if path in ("map", "filter") and any(map(_has_disputed, node.args)):
                _refuse(node, f"it decides by what {DISPUTED} looks like: {path}")

    def _is_own(self, node: ast.AST) -> bool:
        """Return whether an expression consists only of literals of the file and is not trivial."""
        if isinstance(node, ast.Constant):
            # "is there a dot in it" is a question of form.
            return bool(_WORD.search(str(node.value))) and node.value is not None
        if isinstance(node, ast.Name):
            value = self._own.get(node.id)
            return node.id != DISPUTED and value is not None and self._is_own(value)
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return bool(node.elts) and all(map(self._is_own, node.elts))
        if isinstance(node, ast.Dict):
            return bool(node.keys) and all(one is None or self._is_own(one) for one in node.keys)
        if isinstance(node, ast.BinOp):
            return self._is_own(node.left) and self._is_own(node.right)
        if isinstance(node, ast.Subscript):
            return self._is_own(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            texts = [node.func.value, *node.args]
            return any(map(self._is_own, texts)) and all(
                self._is_own(one) or isinstance(one, ast.Constant) for one in texts
            )
        return False

    def _is_disputed(self, node: ast.AST) -> bool:
        """Return whether an expression depends on the disputed value and on nothing else."""
        used = {one.id for one in walk_tree(node) if isinstance(one, ast.Name)}
        return DISPUTED in used and all(
            name == DISPUTED or (name in vars(builtins) and name not in self._names)
            for name in used
        )

    # Forbidden values.

    def _check_occurrence(self) -> None:
        node = find_assignment(self._tree, DISPUTED)
        try:
            value = ast.literal_eval(node) if node is not None else None
        except ValueError:
            return
        if isinstance(value, bytes):
            value = value.decode("latin-1")
        if isinstance(value, str):
            self._check_text(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self._check_number(value)

    def _statements(self) -> Iterator[ast.stmt]:
        """Yield every statement outside of others, but for what says what is disputed."""
        for node in self._tree.body:
            names = [one.id for one in getattr(node, "targets", ()) if isinstance(one, ast.Name)]
            if DISPUTED not in names and INSTEAD not in names:
                yield node

    def _check_text(self, value: str) -> None:
        if not value.strip():
            return
        last = re.split(r"[^\w]+", value.strip())[-1] if _is_path(value) else value
        read = {one.attr for one in walk_tree(self._tree) if isinstance(one, ast.Attribute)}
        reads_docs, reads_names = not read.isdisjoint(_DOCS), not read.isdisjoint(_NAMES)
        named = {one.id for one in walk_tree(self._tree) if isinstance(one, ast.Name)}
        knows_itself = bool(read & _OWN_MODULE or named & _OWN_MODULE_NAMES)
        for statement in self._statements():
            listed = self._find_option_lists(statement)
            # That of the module is read only by a proof that finds its own module.
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            reads_all = reads_docs and (knows_itself or not is_text)
            for node in walk_tree(statement) if reads_all else _outside_docstrings(statement):
                text = None if id(node) in listed else _contribution(node)
                if reads_names and isinstance(node, ast.FunctionDef) and value in node.name:
                    _refuse(node, f"it brings the disputed value along: {_quote(node.name)}")
                if text is None or not self._brings(text, value, last):
                    continue
                if not self._is_given(text, value, last):
                    _refuse(node, f"it brings the disputed value along: {_quote(text)}")
        if len(PIECE.findall(value)) > 1:
            self._check_pieces(_squeeze(value))

    def _find_option_lists(self, statement: ast.stmt) -> set[int]:
        """Return the texts in lists of all the options that the question has."""
        found: set[int] = set()
        for node in walk_tree(statement):
            if isinstance(node, ast.Tuple | ast.List) and len(node.elts) > 1:
                values = {one.value for one in node.elts if isinstance(one, ast.Constant)}
                # "None of the above" is no output and may be left out.
                if values <= self._given.options and len(self._given.options - values) < 2:
                    found |= {id(one) for one in node.elts}
        return found

    def _brings(self, text: str, value: str, last: str) -> bool:
        if text == value:
            return True
        wanted = [one for one in {value, last} if len(_WORD.findall(one)) and len(one) >= _SHORT]
        return any(
            re.search(rf"(?<!\w){re.escape(one)}(?!\w)", form) is not None
            for one in wanted
            for form in (text, text[::-1])
        )

    def _is_given(self, text: str, value: str, last: str) -> bool:
        code = self._given.code
        if value in self._given.literals:
            return True
        return any(self._brings(line, value, last) for line in (code, *code.splitlines())) or (
            self._given.code != "" and text in code
        )

    def _check_pieces(self, value: str) -> None:
        """Refuse the value in pieces: the strings of a statement, one after the other, spell it."""
        for statement in chain.from_iterable(map(_simple, self._statements())):
            texts = [
                one
                for one in _outside_docstrings(statement)
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
            texts.sort(key=lambda one: (one.lineno, one.col_offset))
            parts = [_squeeze(str(one.value)) for one in texts]
            if any(value in part for part in parts) or len(value) <= _SHORT:
                continue  # not in pieces: whether it stands there is looked at as a whole
            if value in "".join(parts) and value not in _squeeze(self._given.code):
                _refuse(statement, "it brings the disputed value along, in pieces")

    def _check_number(self, value: float) -> None:
        if abs(value) <= _SMALL:
            return
        for statement in self._statements():
            for node in walk_tree(statement):
                if not isinstance(node, ast.Constant) or node.value != value:
                    continue
                told = re.search(rf"(?<![\w.]){re.escape(str(node.value))}", self._given.code)
                if not told and str(node.value) not in self._given.literals:
                    _refuse(node, f"it brings the disputed value along: {value}")


def names_used(source: str) -> set[str]:
    """Return the attributes that a proof asks for, but for those of `super()`."""
    return {
        node.attr
        for node in walk_tree(parse_proof(source))
        if isinstance(node, ast.Attribute)
        and not (isinstance(node.value, ast.Call) and _root(node.value.func) == "super")
    }


def _refuse(node: ast.AST, reason: str) -> None:
    raise UnfitProofError(f"line {getattr(node, 'lineno', 1)}: {reason}")


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in walk_tree(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (top, top)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}"


def _root(node: ast.AST | None) -> str:
    """Return the name that an expression of attributes begins with; a call makes something new."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_vars(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars"


def _has_disputed(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == DISPUTED


def _outside_docstrings(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield every node below a statement but for docstrings, which nobody reads."""
    docstrings = {
        id(node.body[0].value)
        for node in walk_tree(statement)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and isinstance(node.body[0], ast.Expr)
    }
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return
    for node in walk_tree(statement):
        if id(node) not in docstrings:
            yield node


def _simple(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements that hold no others."""
    inner = [one for one in walk_tree(statement) if isinstance(one, ast.stmt)]
    for one in inner:
        if not any(isinstance(child, ast.stmt) for child in ast.iter_child_nodes(one)):
            yield one


def _contribution(node: ast.AST) -> str | None:
    """Return what a node contributes itself: a string, or a name that it defines."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        value = node.value
        return value.decode("latin-1") if isinstance(value, bytes) else value
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.keyword | ast.arg):
        return node.arg
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.id if isinstance(node, ast.Name) else node.attr
    return None


def _is_path(value: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", value) is not None


def _squeeze(text: str) -> str:
    """Return the letters and digits of a text, without regard to case."""
    return "".join(_WORD.findall(text)).lower()


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line}`" if len(line) <= 60 else f"`{line[:60]}…`"


# The variant that a text may well hold with, if it is a text that is looked for in.
BEGINNING = "its beginning"

# --- Variants ------------------------------------------------------------------------------------


def challenge_of(file: ProofFile) -> Challenge:
    """Return how to ask whether a proof's answer comes from the target."""
    node = find_assignment(parse_proof(file.source), DISPUTED)
    assert node is not None
    value = node.value if isinstance(node, ast.Constant) else None
    hidden = (
        {value, *re.findall(r"[\w.]+", value), *re.findall(r"\w+", value)}
        if isinstance(value, str)
        else set()
    )
    return Challenge(
        holds=file.holds,
        source=file.source,
        template=file.with_disputed("__disputed__"),
        # Nearly the same value, which must not hold.
        variants=tuple(_near(node)),
        hidden=tuple(sorted(hidden)),
        is_name=isinstance(value, str) and value.isidentifier(),
        # A result may be a word of its own; what something has must be called so somewhere.
        must_know=isinstance(value, str) and len(value) > _SHORT and not _is_result(file.source),
    )


def refutation_of(file: ProofFile) -> Challenge | None:
    """Return how to ask whether a name is missing everywhere; None if no name is disputed."""
    node = find_assignment(parse_proof(file.source), DISPUTED)
    value = node.value if isinstance(node, ast.Constant) else None
    if not isinstance(value, str) or not value.isidentifier():
        return None
    return Challenge(
        file.fails, file.source, file.source, hidden=(value,), is_name=True, is_refuted=True
    )


def _is_result(source: str) -> bool:
    """Return whether the disputed value is compared as a whole, like a return value."""
    return any(
        isinstance(node, ast.Compare)
        and any(isinstance(one, ast.Eq | ast.NotEq) for one in node.ops)
        and any(
            _has_disputed(part) for one in (node.left, *node.comparators) for part in _parts(one)
        )
        for node in walk_tree(parse_proof(source))
    )


def _parts(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.List | ast.Tuple) else [node]


def _is_name(value: str) -> bool:
    return value.isidentifier() or _is_path(value)


def _near(node: ast.expr) -> Iterator[tuple[str, str]]:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        if isinstance(node, ast.Name | ast.Attribute):
            yield "another class", "BufferError"
        return
    if isinstance(value, str):
        for name, text in _near_texts(value):
            yield name, repr(text)
    elif isinstance(value, bool):
        yield "the opposite", repr(not value)
    elif isinstance(value, int | float):
        yield "the next number", repr(value + 1)
    elif isinstance(value, list | tuple) and value:
        yield "in part", repr(value[:-1])


def _near_texts(value: str) -> Iterator[tuple[str, str]]:
    words = list(re.finditer(r"[A-Za-z_]\w*", value))
    if not words:
        numbers = list(re.finditer(r"\d+", value))
        if numbers:
            start, end = numbers[-1].span()
            yield "the next number", value[:start] + str(int(numbers[-1][0]) + 1) + value[end:]
        return
    word, (start, end) = words[-1][0], words[-1].span()
    if len(word) <= _SHORT:
        return
    if (turned := _reverse_letters(word)) != word:
        yield "its letters", value[:start] + turned + value[end:]
    if _is_name(value) and (cut := _cut(word)) != word:
        yield BEGINNING, value[:start] + cut
    yield "one letter more", value[:end] + word[-1] + value[end:]


def _reverse_letters(word: str) -> str:
    """Return the same letters in another order, so that whatever counts them sees no difference."""
    letters = [one for one in word if one.isalpha()]
    turned = iter(letters[::-1])
    return "".join(next(turned) if one.isalpha() else one for one in word)


def _cut(word: str) -> str:
    """Return the beginning of a word, cut where no word ends."""
    for length in (1, 2, 3):
        if word[-length:] not in _ENDINGS:
            return word[:-length]
    return word
