"""Programs: the code a question is about, split into what leads up to it and what is asked of."""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import dataclass

from assay.questions.provers.introspection.library import Library
from assay.questions.provers.introspection.reading.mentions import Form, Mention
from assay.questions.provers.introspection.reading.stand_ins import DEFINITION, stand_in
from assay.questions.provers.introspection.reading.understanding import Reading

_CODE = (
    r"(?:this|the|that|following|above|below|given|it|last|code|snippet|program|script|example|line"
)
_RUNS = re.compile(
    rf"\b(?:when|if|after|once)\s+{_CODE}|\s|is|gets|run|runs|ran|executed|executes|being)+\b"
    r"(?=\s*[,?.]|$)",
    re.IGNORECASE,
)
_CIRCUMSTANCE = re.compile(
    r"\b(?:if|when|whenever|after|unless|assuming|suppose|given that|provided|instead|changed"
    r"|replaced|removed|added|without|twice|again|first|second)\b",
    re.IGNORECASE,
)
# A question about code just as it stands is made of these; any other word may be a circumstance.
_PLAIN = frozenset(
    {"what", "which", "does", "do", "did", "will", "would", "is", "are", "be", "the", "this",
     "that", "these", "those", "following", "above", "below", "given", "shown", "code",
     "snippet", "program", "script", "example", "line", "lines", "last", "final", "block",
     "print", "prints", "printed", "output", "outputs", "return", "returns", "returned", "raise",
     "raises", "raised", "throw", "throws", "thrown", "exception", "exceptions", "error",
     "errors", "type", "class", "name", "of", "by", "in", "it", "its", "when", "if", "run",
     "runs", "running", "executed", "execution", "executing", "happen", "happens", "happened",
     "result", "results", "value", "values", "show", "shows", "displayed", "display", "evaluate",
     "evaluates", "evaluated", "to", "a", "an", "from", "at", "end", "call", "calls", "calling",
     "statement", "expression", "produce", "produces", "produced", "give", "gives", "get",
     "gets", "you", "see", "and", "or", "python", "as", "one", "there", "their", "here", "built",
     "builtin", "kind", "outcome", "attribute", "field", "variable", "s", "t", "standard",
     "method", "function", "constructor", "object", "instance", "model", "property", "message",
     "text", "string", "number", "exactly", "effect", "have", "has", "with", "hold", "holds",
     "contain", "contains", "equal", "equals"}
)  # fmt: skip
# What may differ from one run to the next: chance, the clock, the machine, the order of a set.
_UNSTEADY = frozenset(
    {"hash", "id", "random", "randint", "choice", "shuffle", "secrets", "uuid", "uuid1", "uuid4",
     "time", "datetime", "date", "now", "today", "utcnow", "monotonic", "perf_counter", "os",
     "getcwd", "cwd", "environ", "getenv", "platform", "sys", "locale", "socket", "tempfile",
     "getpass", "gc", "weakref", "threading", "multiprocessing", "subprocess", "set",
     "frozenset", "globals", "locals", "vars", "dir", "__file__", "__doc__", "version_info",
     "maxsize"}
)  # fmt: skip
_LAST_LINE = re.compile(r"\blast (?:line|statement|call)\b", re.IGNORECASE)
_ASKED_OF = re.compile(
    r"`([^`]+)`\s+(?:raise|throw|return|print|evaluate|give|produce|yield|output)"
    r"|\b(?:raised|thrown|returned|produced|given)\s+by\s+(?:the\s+(?:call|expression)\s+"
    r"|calling\s+|evaluating\s+|running\s+)?`([^`]+)`"
    r"|\b(?:value|result|outcome)\s+of\s+(?:the\s+(?:call|expression)\s+|calling\s+|evaluating\s+)?"
    r"`([^`]+)`",
    re.IGNORECASE,
)
# "After `x = f()`, …": code that runs before what is asked of.
_BEFORE = re.compile(
    r"\b(?:after|given|with|once)\s+(?:running\s+|executing\s+|the\s+assignment\s+)?`([^`]+)`"
    r"(?:\s+(?:and|then)\s+`([^`]+)`)?(?:\s+(?:is|has been|was)\s+(?:run|executed))?\s*(?=,)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Program:
    """Code that runs by itself: `setup` leads up to it, `code` is what is asked of.

    `expression` is what has a value, where the question asks for one.
    """

    setup: str
    code: str
    expression: bool = False


def read_program(reading: Reading) -> Program | str:
    """The program a question is about, or why there is none that could be run."""
    if has_circumstances(reading.asked.prose):
        return "the question adds circumstances that its code does not show"
    expression = asked_expression(reading)
    block = reading.code
    if expression is None and not block:
        return "the question shows no code"
    before = _led_up_to(reading.asked.prose) if expression else []
    parts = (block, *before, expression.code if expression else "")
    text = "\n".join(part for part in parts if part)
    tree = _parsed(text)
    if tree is None:
        return "the code does not parse"
    if (unsteady := _unsteady(tree)) is not None:
        return f"what comes of `{unsteady}` may differ from one run or machine to the next"
    if (differing := _differing(tree, reading)) is not None:
        return f"the question says `{differing}` and its code says otherwise"
    missing = _imports_for(tree, reading.library)
    if isinstance(missing, str):
        return missing
    is_last = expression is not None or _LAST_LINE.search(reading.asked.prose) is not None
    return _split(tree, text, missing, is_last, expression is not None)


def needs_new_interpreter(program: Program, library: Library) -> bool:
    """Whether the code takes a submodule for an attribute: it is one only if somebody imported it.

    In a process that has imported more than the code does, the outcome would be another.
    """
    tree = _parsed(f"{program.setup}\n{program.code}")
    return tree is not None and any(
        isinstance(node, ast.Attribute) and ast.unparse(node) in library.index.modules
        for node in ast.walk(tree)
    )


def has_circumstances(prose: str) -> bool:
    """Whether the last sentence asks about something else than the code just as it stands."""
    sentences = re.split(r"(?<=[.?!])\s+(?=[A-Z`])", prose)
    asking = [one for one in sentences if "?" in one] or sentences[-1:]
    plain = re.sub(r"`[^`]*`", "", _BEFORE.sub("", asking[-1] if asking else ""))
    plain = _RUNS.sub("", plain)
    words = (word.lower() for word in re.findall(r"[^\W\d_]+", plain))
    return _CIRCUMSTANCE.search(plain) is not None or any(word not in _PLAIN for word in words)


def asked_expression(reading: Reading) -> Mention | None:
    """The expression of which the question asks what it raises, returns or prints."""
    found = _ASKED_OF.search(reading.asked.prose)
    if found is None:
        return None
    code = next(one for one in found.groups() if one).strip()
    forms = {Form.CALL, Form.CODE, Form.KEYWORD}
    if reading.code or _led_up_to(reading.asked.prose):
        forms.add(Form.NAME)
    for one in reading.asked.mentions:
        if one.code == code and one.form in forms:
            return one
    return None


def _led_up_to(prose: str) -> list[str]:
    return [code for found in _BEFORE.findall(prose) for code in found if code]


def program_of(code: str, library: Library, *, has_value: bool = False) -> Program | None:
    """A program that is one piece of code and nothing else, if all it names is known."""
    tree = _parsed(code)
    imports = _imports_for(tree, library) if tree is not None else ""
    if tree is None or isinstance(imports, str) or not imports:
        return None
    is_expression = len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)
    if has_value and not is_expression:
        return None
    return Program("\n".join(imports), code.strip(), is_expression)


def _differing(tree: ast.Module, reading: Reading) -> str | None:
    """A setting that the words of the question give another value than its code does."""
    said = [one for one in reading.asked.mentions if one.form is Form.KEYWORD and not one.head]
    written: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg:
            written.setdefault(node.arg, set()).add(ast.unparse(node.value))
    for one in said:
        value = one.code.partition("=")[2].strip()
        if one.name in written and value not in written[one.name]:
            return one.code
    return None


def _unsteady(tree: ast.Module) -> str | None:
    """Something in the code whose outcome is not the library's alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Set | ast.SetComp):
            return "a set"
        name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", None)
        if isinstance(node, ast.Name | ast.Attribute) and name in _UNSTEADY:
            return str(name)
    return None


def _parsed(text: str) -> ast.Module | None:
    try:
        tree = ast.parse(text)
        compile(tree, "snippet", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if tree.body else None


def _split(
    tree: ast.Module, text: str, imports: list[str], is_last: bool, is_expression: bool
) -> Program:
    lines = text.splitlines()
    if is_last:
        cut = tree.body[-1].lineno - 1
    else:
        first = next(
            (one for one in tree.body if not isinstance(one, ast.Import | ast.ImportFrom)), None
        )
        cut = (_start(first) - 1) if first is not None else len(lines)
    setup = "\n".join([*imports, *lines[:cut]]).strip("\n")
    last = tree.body[-1]
    has_value = is_expression and isinstance(last, ast.Expr)
    return Program(setup, "\n".join(lines[cut:]).strip("\n"), has_value)


def _start(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return int(min([node.lineno, *(one.lineno for one in decorators)]))


def _imports_for(tree: ast.Module, library: Library) -> list[str] | str:
    """Imports for the names that the code uses and does not define."""
    imports = []
    for name in sorted(_free_names(tree)):
        if name in library.roots:
            imports.append(f"import {name}")
            continue
        found = library.owner(name, ("class", "exception", "function"))
        if found is None:
            made = stand_in(name, tree, library)
            if not made:
                return f"the code uses `{name}`, which nothing defines"
            imports += [*([] if DEFINITION in imports else [DEFINITION]), *made]
            continue
        place = library.place(found)
        if place.names != (name,):
            return f"the code uses `{name}`, which nothing defines"
        imports.append(place.statement)
    return imports


def _free_names(tree: ast.Module) -> set[str]:
    used: set[str] = set()
    bound = {*dir(builtins), "__name__", "__file__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            bound.add(node.name)
    return used - bound
