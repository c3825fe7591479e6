"""Programs: the code a question is about, split into setup and the part that is asked about."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.questions.claims.library import CALLABLES, CLASSES, Library
from assay.questions.index import Symbol
from assay.questions.lexical.mentions import CodeForm
from assay.questions.lexical.parsed_question import ParsedQuestion
from assay.questions.lexical.stem import Noun, word_set

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


# A question about code just as it stands says no more than when it runs.
_RUNS = re.compile(
    r"\b(?:when|if|after|once|upon|on)\s+(?:(?:this|the|that|following|above|below|code|snippet|it"
    r"|program|script|example|function|coroutine|module|file|line|last|is|gets|being|are|you|we"
    r"|someone|executing|running|calling|awaiting|evaluating|CODE)\s*)*"
    r"\b(?:runs?|ran|executed?|executes|called|call|invoked|awaited|evaluated|CODE|it|code)\b"
    r"(?:\s+(?:with|by|as)\s+CODE)?(?=\s*(?:[,?.;:]|$))",
    re.IGNORECASE,
)
_CIRCUMSTANCE = re.compile(
    r"\b(?:if|when|whenever|after|before|unless|assum\w+|suppos\w+|given that|provided|instead"
    r"|chang\w+|replac\w+|remov\w+|add(?:ed|ing)|without (?!an? (?:error|exception)|errors?)\w+"
    r"|twice|again|second time|while|during|except|not)\b|n't\b",
    re.IGNORECASE,
)
# What a sentence beside the code may say about the world it runs in.
_STATED = re.compile(
    r"\b(?:is (?:not )?(?:set|enabled|disabled|installed|running|available|active|configured)"
    r"|has been|had been|was called|were called|already"
    r"|environment|server|network|internally)\b",
    re.IGNORECASE,
)
# What may differ from one run to the next: chance, the clock, the machine, the order of a set.
_UNSTEADY = word_set("hash id set frozenset globals locals vars dir uuid4 uuid1")
_UNSTEADY_MODULES = word_set(
    "random secrets uuid platform locale socket tempfile getpass gc weakref threading"
    " multiprocessing subprocess"
)
_CLOCK = word_set("now utcnow today monotonic perf_counter time_ns ctime time")
_UNSTEADY_ATTRIBUTES = _CLOCK - {"time"} | word_set(
    "getcwd cwd getenv uuid1 uuid4 __file__ __doc__ version_info maxsize"
)
_LAST_LINE = re.compile(r"\blast (?:line|statement|call)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Program:
    """Code that runs by itself: `setup` leads up to it, `code` is what is asked of.

    `expression` says that the code has a value, where the question asks for one. `is_unsteady`
    says that it reads the clock, so that only whether it raises is the same in every run.
    """

    setup: str
    code: str
    expression: bool = False
    is_unsteady: bool = False


def read_program(parsed: ParsedQuestion) -> Program | str:
    """Return the program a question is about, or why there is none that could be run."""
    prose = parsed.stem.prose
    if has_circumstances(prose):
        return "the question adds circumstances that its code does not show"
    block = parsed.code
    tree = parse_code(block) if block else ast.Module([], [])
    if tree is None:
        return "the code does not parse"
    called = _find_call(tree, parsed)
    if not block and (called is None or _is_about_signature(parsed)):
        return "the question shows no code"
    if called is None and not _runs_by_itself(tree):
        called = _find_entry(tree)
        if called is None:
            return "the code only defines things, and nothing says what is to be called"
    before = [] if block else _led_up_to(called or "", parsed)
    text = "\n".join(part for part in (block, *before, called) if part)
    tree = parse_code(text)
    if tree is None:
        return "the code does not parse"
    unsteady = _unsteady(tree)
    if unsteady is not None and unsteady not in _CLOCK:
        return f"what comes of `{unsteady}` may differ from one run or machine to the next"
    if (differing := _differing(tree, parsed)) is not None:
        return f"the question says `{differing}` and its code says otherwise"
    if (beside := _find_beside(parsed, [block, called or "", *before])) is not None:
        return f"the question speaks of `{beside}`, which its code does not contain"
    missing = _imports_for(tree, parsed.library)
    if isinstance(missing, str):
        return missing
    is_last = called is not None or _LAST_LINE.search(prose) is not None
    program = _split(tree, text, missing, is_last, called is not None)
    return replace(program, is_unsteady=unsteady is not None)


def _is_about_signature(parsed: ParsedQuestion) -> bool:
    """Return whether a call in the stem only says whose parameter or default is asked for."""
    members = (Noun.PARAMETER, Noun.FIELD, Noun.METHOD, Noun.FUNCTION, Noun.FLAG, Noun.IMPORT)
    if parsed.stem.noun in members or parsed.stem.has("default*", "parameter*", "argument*"):
        return True
    return parsed.stem.has("base", "bases", "subclass*", "inherit*", "parent")


_CIRCUMSTANTIAL = (
    CodeForm.CALL, CodeForm.CODE, CodeForm.FLAG, CodeForm.COMMAND, CodeForm.KEYWORD,
    CodeForm.LITERAL,
)  # fmt: skip


def _find_beside(parsed: ParsedQuestion, parts: Sequence[str]) -> str | None:
    """Return a piece of code in the stem that is not part of what would be run."""
    run = re.sub(r"\s|['\"]", "", "\n".join(parts))
    for one in parsed.stem.mentions:
        code = re.sub(r"\s|['\"]", "", one.code).removesuffix("()")
        if one.quoted and one.form in _CIRCUMSTANTIAL and code not in run:
            return one.code
    return None


def _find_call(tree: ast.Module, parsed: ParsedQuestion) -> str | None:
    """Return the expression the stem asks about: one that uses what the code defines."""
    defined = _defined(tree)
    names = {*defined, *_assignments(parsed)}
    found = {
        one.code
        for one in parsed.stem.mentions
        if one.form in (CodeForm.CALL, CodeForm.CODE)
        or (one.form is CodeForm.NAME and one.name.partition(".")[0] in names)
        if _is_expression(one.code)
        and (not tree.body or _uses(one.code) & defined)
        and (tree.body or _is_of_target(one.code, parsed))
    }
    # "`main()` is run with `asyncio.run(main())`" is one call.
    whole = [one for one in found if all(other in one for other in found)]
    if len(whole) != 1:
        return None
    code = whole[0]
    called = code.partition("(")[0]
    function = next((one for one in tree.body if getattr(one, "name", None) == called), None)
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return code
    # "Running `main`" means that it is called.
    code = f"{code}()" if code == called else code
    if code.endswith("()") and _needs_arguments(function, decorated=True):
        return None
    is_async = isinstance(function, ast.AsyncFunctionDef)
    return _write_run(tree, called, code) if is_async else code


def _is_of_target(code: str, parsed: ParsedQuestion) -> bool:
    """Return whether all that an expression uses is the target's, or assigned in the stem."""
    library, assigned = parsed.library, _assignments(parsed)
    names = _uses(code) - set(dir(builtins))
    called = library.owner(parsed.expand(code), CALLABLES) if code.endswith("()") else None
    if called is not None and any(one.is_required for one in called.parameters or ()):
        return False  # The parentheses only say that it is a function.
    return bool(names) and all(
        name in library.roots or name in assigned or library.owner(name) for name in names
    )


def _led_up_to(called: str, parsed: ParsedQuestion) -> list[str]:
    """Return the assignments in the stem that what is asked about needs, in their order."""
    used = _uses(called)
    return [code for name, code in _assignments(parsed).items() if name in used]


def _assignments(parsed: ParsedQuestion) -> dict[str, str]:
    """Return the pieces of code in the stem that assign to a name, such as `x = f()`."""
    found = (one for one in parsed.stem.mentions if one.form is CodeForm.KEYWORD and not one.head)
    return {one.name: one.code for one in found if " = " in one.code}


def _find_entry(tree: ast.Module) -> str | None:
    """Return the call of `main`, or of the only function that can be called with nothing."""
    functions = {
        one.name: one
        for one in tree.body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and not _needs_arguments(one)
    }
    chosen = functions.get("main") or (
        next(iter(functions.values())) if len(functions) == 1 else None
    )
    others = [one for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    if chosen is None or (len(others) > 1 and chosen.name != "main"):
        return None
    if isinstance(chosen, ast.AsyncFunctionDef):
        return _write_run(tree, chosen.name, f"{chosen.name}()")
    return f"{chosen.name}()"


# Those that take the function itself; asyncio takes what calling it gives.
_LOOPS = ("trio", "curio", "anyio")


def _write_run(tree: ast.Module, name: str, call: str) -> str | None:
    """Return how a coroutine function is run: by the event loop that the code imports."""
    imported = {
        one.partition(".")[0]
        for node in ast.walk(tree)
        for one in [
            getattr(node, "module", None) or "",
            *(alias.name for alias in (node.names if isinstance(node, ast.Import) else ())),
        ]
    }
    loop = next((one for one in _LOOPS if one in imported), None)
    if loop is None:
        return f"__import__('asyncio').run({call})"
    return f"__import__('{loop}').run({name})" if call == f"{name}()" else None


def _needs_arguments(
    function: ast.FunctionDef | ast.AsyncFunctionDef, *, decorated: bool = False
) -> bool:
    """Return whether a call without arguments is not meant; a decorator may register only."""
    taken = function.args
    required = len(taken.posonlyargs) + len(taken.args) - len(taken.defaults)
    is_registered = bool(function.decorator_list) and not decorated
    return required > 0 or None in taken.kw_defaults or is_registered


def _runs_by_itself(tree: ast.Module) -> bool:
    """Return whether the code does anything but import and define functions.

    A class may do something when it is made; a function does nothing until it is called.
    """
    idle = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef)
    active = [one for one in tree.body if not isinstance(one, idle)]
    has_functions = any(isinstance(one, idle[2:]) for one in tree.body)
    plain = all(isinstance(one, ast.ClassDef | ast.Assign | ast.AnnAssign) for one in active)
    return bool(active) and not (plain and has_functions)


def _defined(tree: ast.Module) -> set[str]:
    found = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        for name in ast.walk(node) if isinstance(node, ast.Assign | ast.AnnAssign) else ():
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                found.add(name.id)
    return found


def _is_expression(code: str) -> bool:
    try:
        ast.parse(code, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _uses(code: str) -> set[str]:
    return {one.id for one in ast.walk(ast.parse(code, mode="eval")) if isinstance(one, ast.Name)}


def needs_new_interpreter(program: Program, library: Library) -> bool:
    """Return whether the code takes a submodule for an attribute.

    It is one only if somebody imported it, and a warm process has imported more than the code.
    """
    tree = parse_code(f"{program.setup}\n{program.code}")
    return tree is not None and any(
        isinstance(node, ast.Attribute) and ast.unparse(node) in library.index.modules
        for node in ast.walk(tree)
    )


def has_circumstances(prose: str) -> bool:
    """Return whether the words ask about more than the code as it stands."""
    plain = re.sub(r"`[^`]*`", "CODE", re.sub(r",? if any\b", "", prose))
    return any(found.search(_RUNS.sub("", plain)) for found in (_STATED, _CIRCUMSTANCE))


def make_program(code: str, library: Library, *, has_value: bool = False) -> Program | None:
    """Return a program that is one piece of code and nothing else, if all it names is known."""
    tree = parse_code(code)
    imports = _imports_for(tree, library) if tree is not None else ""
    if tree is None or isinstance(imports, str) or not imports:
        return None
    is_expression = len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)
    if has_value and not is_expression:
        return None
    return Program("\n".join(imports), code.strip(), is_expression)


def _differing(tree: ast.Module, parsed: ParsedQuestion) -> str | None:
    """Return a setting that the words of the question give another value than its code does."""
    said = [one for one in parsed.stem.mentions if one.form is CodeForm.KEYWORD and not one.head]
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
        if isinstance(node, ast.Attribute):
            base = node.value.id if isinstance(node.value, ast.Name) else ""
            if node.attr in _UNSTEADY_ATTRIBUTES or base in _UNSTEADY_MODULES:
                return node.attr
            if (base, node.attr) == ("time", "time"):
                return node.attr
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in _UNSTEADY:
            return called.id
    return None


def parse_code(text: str) -> ast.Module | None:
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
        if name in library.roots or name in sys.stdlib_module_names:
            imports += [f"import {one}" for one in _find_modules(name, tree, library)]
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


def _find_modules(root: str, tree: ast.Module, library: Library) -> list[str]:
    """Return the modules that full paths in the code go through, or the root alone."""
    paths = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    found = [one for one in paths if one.startswith(f"{root}.") and one in library.index.modules]
    return sorted(found) or [root]


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
