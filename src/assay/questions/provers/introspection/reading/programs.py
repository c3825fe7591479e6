"""Programs: the code a question is about, split into setup and the part that is asked about."""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import dataclass

from assay.questions.index import Symbol
from assay.questions.provers.introspection.library import CALLABLES, CLASSES, Library
from assay.questions.provers.introspection.reading.mentions import CodeForm, Mention
from assay.questions.provers.introspection.reading.parsed_question import ParsedQuestion

# Whatever is asked of a stand-in says nothing about the target, as if the network had been needed.
DEFINITION = '''
def stand_in(base):
    """Something that is a `base` and can do nothing."""
    import inspect
    import sys

    def refuse(*_, **__):
        sys.audit("socket.connect")
        raise ConnectionError(f"this {base.__name__} only stands in for a real one")

    members = {}
    for name in base.__abstractmethods__:
        is_property = isinstance(inspect.getattr_static(base, name), property)
        members[name] = property(refuse) if is_property else refuse
    return type(f"StandIn{base.__name__}", (base,), members)()
'''.strip()


def stand_in(name: str, tree: ast.Module, library: Library) -> list[str]:
    """Return the lines that make a name out of nothing, if it can only be of one abstract class."""
    base = _find_declared_class(name, tree, library)
    if base is None or not base.is_abstract or not base.available:
        return []
    place = library.place(base)
    return [place.statement, f"{name} = stand_in({place.expression})"]


def _find_declared_class(name: str, tree: ast.Module, library: Library) -> Symbol | None:
    """Return the class that a call of the target's declares for what it is given by that name."""
    found: dict[str, Symbol] = {}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        owner = library.owner(ast.unparse(call.func), (*CLASSES, *CALLABLES))
        for position, argument in enumerate(call.args):
            if owner is not None and _is(argument, name):
                taken = (owner.parameters or ())[position : position + 1]
                found |= find_class(taken[0].annotation if taken else "", library)
        for keyword in call.keywords:
            if owner is not None and keyword.arg and _is(keyword.value, name):
                parameter = owner.parameter(keyword.arg)
                found |= find_class(parameter.annotation if parameter else "", library)
    return next(iter(found.values())) if len(found) == 1 else None


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def find_class(annotation: str, library: Library) -> dict[str, Symbol]:
    """Return the class an annotation names, whether or not it may be left out."""
    plain = re.sub(r"^Optional\[(.*)\]$|\s*\|\s*None$", r"\1", annotation.strip("'\""))
    found = library.owner(plain, CLASSES) if plain else None
    return {} if found is None else {found.path: found}


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
# What a sentence beside the code may say about the world it runs in.
_STATED = re.compile(
    r"\b(?:is (?:not )?(?:set|enabled|disabled|installed|running|available|active|configured)"
    r"|has been|had been|was called|were called|already|exists|mode|assume[sd]?|user|caller"
    r"|environment|server|network|internally|inside)\b",
    re.IGNORECASE,
)
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


def read_program(parsed: ParsedQuestion) -> Program | str:
    """Return the program a question is about, or why there is none that could be run."""
    if has_circumstances(parsed.focus.prose):
        return "the question adds circumstances that its code does not show"
    expression = find_expression(parsed)
    block = parsed.code
    if expression is None and not block:
        return "the question shows no code"
    before = _led_up_to(parsed.focus.prose) if expression else []
    parts = (block, *before, expression.code if expression else "")
    text = "\n".join(part for part in parts if part)
    tree = _parse(text)
    if tree is None:
        return "the code does not parse"
    if (unsteady := _unsteady(tree)) is not None:
        return f"what comes of `{unsteady}` may differ from one run or machine to the next"
    if (differing := _differing(tree, parsed)) is not None:
        return f"the question says `{differing}` and its code says otherwise"
    missing = _imports_for(tree, parsed.library)
    if isinstance(missing, str):
        return missing
    is_last = expression is not None or _LAST_LINE.search(parsed.focus.prose) is not None
    return _split(tree, text, missing, is_last, expression is not None)


def needs_new_interpreter(program: Program, library: Library) -> bool:
    """Return whether the code takes a submodule for an attribute.

    It is one only if somebody imported it, and a warm process has imported more than the code.
    """
    tree = _parse(f"{program.setup}\n{program.code}")
    return tree is not None and any(
        isinstance(node, ast.Attribute) and ast.unparse(node) in library.index.modules
        for node in ast.walk(tree)
    )


def has_circumstances(prose: str) -> bool:
    """Return whether the last sentence asks about more than the code as it stands."""
    sentences = re.split(r"(?<=[.?!])\s+(?=[A-Z`])", prose)
    asking = [one for one in sentences if "?" in one] or sentences[-1:]
    plain = re.sub(r"`[^`]*`", "", _BEFORE.sub("", asking[-1] if asking else ""))
    plain = _RUNS.sub("", plain)
    if any(_STATED.search(one) for one in sentences):
        return True
    words = (word.lower() for word in re.findall(r"[^\W\d_]+", plain))
    return _CIRCUMSTANCE.search(plain) is not None or any(word not in _PLAIN for word in words)


def find_expression(parsed: ParsedQuestion) -> Mention | None:
    """Return the expression of which the question asks what it raises, returns or prints."""
    found = _ASKED_OF.search(parsed.focus.prose)
    if found is None:
        return None
    code = next(one for one in found.groups() if one).strip()
    forms = {CodeForm.CALL, CodeForm.CODE, CodeForm.KEYWORD}
    if parsed.code or _led_up_to(parsed.focus.prose):
        forms.add(CodeForm.NAME)
    for one in parsed.focus.mentions:
        if one.code == code and one.form in forms:
            return one
    return None


def _led_up_to(prose: str) -> list[str]:
    return [code for found in _BEFORE.findall(prose) for code in found if code]


def make_program(code: str, library: Library, *, has_value: bool = False) -> Program | None:
    """Return a program that is one piece of code and nothing else, if all it names is known."""
    tree = _parse(code)
    imports = _imports_for(tree, library) if tree is not None else ""
    if tree is None or isinstance(imports, str) or not imports:
        return None
    is_expression = len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)
    if has_value and not is_expression:
        return None
    return Program("\n".join(imports), code.strip(), is_expression)


def _differing(tree: ast.Module, parsed: ParsedQuestion) -> str | None:
    """Return a setting that the words of the question give another value than its code does."""
    said = [one for one in parsed.focus.mentions if one.form is CodeForm.KEYWORD and not one.head]
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


def _parse(text: str) -> ast.Module | None:
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
