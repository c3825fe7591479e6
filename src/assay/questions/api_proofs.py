"""Proofs about the answers of API questions: that a dotted name is there, that its owner has more.

For each there are two proofs. One shows what is there. The other shows that it cannot be there, and
only that one refutes: it also holds where a name is merely possible, as with a class that accepts
any keyword, a branch that another platform takes, or an attribute that is set from elsewhere.
Names of variables in the proofs have two words, so that none is the name in dispute.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Sequence

from assay.questions.claims.proof_helpers import FIND_OWNER
from assay.questions.proofs.claims import Claim, Proof, Relation, proof_name

_LOOK_UP = """
def look_up(found_value, rest_parts):
    for next_part in rest_parts:
        found_value = getattr(found_value, next_part)
    return found_value
"""

_EXISTS = """
def is_there(dotted_path):
    found_value, rest_parts = find_owner(dotted_path)
    if found_value is None:
        return False
    for next_part in rest_parts[:-1]:
        if not hasattr(found_value, next_part):
            return False
        found_value = getattr(found_value, next_part)
    return not rest_parts or hasattr(found_value, rest_parts[-1]) or (
        rest_parts[-1] in names_of(found_value)
    )
"""

_MAY_EXIST = '''
def may_be_there(dotted_path):
    """Whether a path is there, or some branch of the source of its module would bind it."""
    found_module, rest_parts = find_owner(dotted_path)
    is_bound = (
        inspect.ismodule(found_module) and bool(rest_parts)
        and rest_parts[0] in bound_names(found_module)
    )
    return is_bound or is_there(dotted_path)


def bound_names(found_module):
    """All names that the source of a module binds, whatever branch is taken."""
    source_file = inspect.getsourcefile(found_module) if found_module.__spec__.has_location else ""
    if not source_file or not source_file.endswith(".py"):
        return set()
    bound_set = set()
    for each_node in ast.walk(ast.parse(pathlib.Path(source_file).read_bytes())):
        if isinstance(each_node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound_set.add(vars(each_node)["name"])
        elif isinstance(each_node, ast.Name) and isinstance(each_node.ctx, ast.Store):
            bound_set.add(each_node.id)
        elif isinstance(each_node, ast.alias):
            bound_set |= {each_node.asname, *vars(each_node)["name"].split(".")}
    return bound_set
'''

_NAMES = '''
def names_of(an_owner):
    """All that can be asked of an owner or given to it, by itself or through its methods."""
    found_names = {*dir(an_owner), *dir(type(an_owner)), *parameters_of(an_owner)}
    for each_class in getattr(an_owner, "__mro__", ()):
        found_names |= {*inspect.get_annotations(each_class)}
        for each_member in vars(each_class).values():
            for each_function in functions_of(each_member):
                found_names |= {*parameters_of(each_function), *attributes_set(each_function)}
    for each_key, each_field in dict(getattr(an_owner, "model_fields", {})).items():
        found_names |= {
            each_key, each_field.alias, each_field.validation_alias,
            each_field.serialization_alias, *getattr(each_field.validation_alias, "choices", ()),
        }
    return {each_name for each_name in found_names if isinstance(each_name, str)}


def functions_of(each_member):
    """The functions behind a method, a property or what a decorator made of one."""
    for each_value in (
        each_member,
        *(getattr(each_member, each_key, None) for each_key in FUNCTION_KEYS),
    ):
        if inspect.isroutine(each_value) and callable(each_value):
            yield each_value
            yield inspect.unwrap(each_value)


FUNCTION_KEYS = "__func__ fget fset func wrapped __wrapped__".split()


def parameters_of(a_callable):
    try:
        return tuple(inspect.signature(a_callable).parameters)
    except (ValueError, TypeError):
        return ()


def attributes_set(a_function):
    """The attributes that a function sets, such as those of `self`."""
    its_code = getattr(a_function, "__code__", None)
    its_steps = dis.get_instructions(its_code) if its_code else ()
    return [each_step.argval for each_step in its_steps if each_step.opname == "STORE_ATTR"]
'''

_HAS = """
def has_name(a_name):
    an_owner = look_up(*find_owner(OWNER))
    return a_name in names_of(an_owner) or hasattr(an_owner, a_name) or (
        inspect.ismodule(an_owner)
        and hasattr(an_owner, "__path__")
        and importlib.util.find_spec(f"{OWNER}.{a_name}") is not None
    )
"""

_MAY_HAVE = '''
def may_have(a_name):
    """Whether the owner has a name, mentions it, or takes and makes up names it does not list."""
    an_owner = look_up(*find_owner(OWNER))
    if not any(is_kind(an_owner) for is_kind in LISTED_KINDS):
        raise LookupError(f"what {an_owner!r} has is not listed anywhere")
    if has_name(a_name) or is_open(an_owner):
        return True
    if a_name.isupper() and not isinstance(an_owner, enum.EnumMeta):
        raise LookupError("this may be a variable of the environment")
    source_texts = [source_of(each_part) for each_part in written_parts(an_owner)]
    if inspect.ismodule(an_owner) and hasattr(an_owner, "__path__"):
        source_texts += library_texts(an_owner)
    a_word = re.compile(rf"\\b{re.escape(a_name)}\\b")
    # Set on an object from elsewhere, or named by a string.
    from_outside = re.compile(
        rf"\\.{re.escape(a_name)}\\s*(?::[^=\\n]*)?=(?!=)|(['\\"]){re.escape(a_name)}\\1"
    )
    root_module = importlib.import_module(ROOT)
    return any(a_word.search(each_text) for each_text in source_texts) or any(
        from_outside.search(each_text) for each_text in library_texts(root_module)
    )


LISTED_KINDS = (inspect.isclass, inspect.ismodule, inspect.isfunction)


def written_parts(an_owner):
    """What is written about an owner: itself, its bases, its metaclass."""
    if not isinstance(an_owner, type):
        return [inspect.unwrap(an_owner)]
    return [
        each_class
        for each_class in dict.fromkeys([*an_owner.__mro__, *type(an_owner).__mro__])
        if not is_plain(each_class)
    ]


def source_of(each_part):
    """The source of a class, function or module; of a class that moved, that of its functions."""
    try:
        return inspect.getsource(each_part)
    except OSError as missing_source:
        if not isinstance(each_part, type) or "class definition" not in str(missing_source):
            raise
    its_functions = {
        each_function.__code__: each_function
        for each_member in vars(each_part).values()
        for each_function in functions_of(each_member)
        if inspect.isfunction(each_function) and each_function.__code__.co_filename[0] != "<"
    }
    return "\\n".join([each_part.__doc__ or "", *map(inspect.getsource, its_functions.values())])


def library_texts(a_module):
    for each_folder in getattr(a_module, "__path__", ()):
        for each_file in sorted(pathlib.Path(each_folder).rglob("*.py")):
            yield each_file.read_bytes().decode("utf-8", "replace")
    if not hasattr(a_module, "__path__"):
        yield inspect.getsource(a_module)


def is_plain(each_class):
    """Whether a class is Python's own."""
    return each_class.__module__.partition(".")[0] in sys.stdlib_module_names


def is_open(an_owner):
    """Whether an owner makes attributes up when asked, or takes any keyword if one is meant."""
    if not isinstance(an_owner, type):
        return IS_KEYWORD and inspect.isroutine(an_owner) and takes_any(an_owner)
    if getattr(an_owner, "model_config", {}).get("extra") == "allow":
        return True
    for each_class in written_parts(an_owner):
        if each_class.__module__.startswith("pydantic."):
            continue
        its_members = vars(each_class)
        if {"__getattr__", "__getattribute__", "__dir__"} & its_members.keys():
            return True
        for each_key, each_member in its_members.items() if IS_KEYWORD else ():
            is_called = not each_key.startswith("_") or each_key in CALLED_KEYS
            if is_called and any(map(takes_any, functions_of(each_member))):
                return True
    # A constructor whose parameters cannot be read may take anything.
    return IS_KEYWORD and is_unreadable(an_owner)


CALLED_KEYS = "__init__ __new__ __call__".split()


def is_unreadable(an_owner):
    try:
        inspect.signature(an_owner)
    except (ValueError, TypeError):
        return not (issubclass(an_owner, enum.Enum) or hasattr(an_owner, "__required_keys__"))
    return False


def takes_any(a_function):
    try:
        its_parameters = inspect.signature(a_function).parameters.values()
    except (ValueError, TypeError):
        return True
    return any(each_one.kind is each_one.VAR_KEYWORD for each_one in its_parameters)
'''

_TEMPLATE = '''\
"""{statement}."""

{imports}

{constants}DISPUTED = {disputed!r}
INSTEAD = {instead!r}


{helpers}


def test_{test}_holds():
    assert {check}(DISPUTED), f"{{DISPUTED}}: no"


def test_{test}_fails():
    assert not {check}(DISPUTED), f"{{DISPUTED}}: yes"


def test_{test}_control():
    {control}
'''
_IMPORTS = (
    "ast", "dis", "enum", "importlib", "importlib.util", "inspect", "pathlib", "re", "sys",
)  # fmt: skip


_HELPERS = {
    "is_there": (_EXISTS,),
    "may_be_there": (_EXISTS, _MAY_EXIST),
    "has_name": (_HAS,),
    "may_have": (_HAS, _MAY_HAVE),
}


def prove_existence(place: str, path: str, root: str) -> Proof:
    """Return the proof that a dotted name is there; `root` is the module that must be."""
    return _write(place, "exists", f"`{path}` is there", path, root, "is_there")


def prove_possible_existence(place: str, path: str, root: str) -> Proof:
    """Return the proof that a dotted name may be there; where it fails, the name is gone."""
    statement = f"`{path}` is there, or would be in other circumstances"
    return _write(place, "gone", statement, path, root, "may_be_there")


def prove_member(place: str, owner: str, name: str) -> Proof:
    """Return the proof that what a dotted name leads to has or takes a name."""
    statement = f"`{owner}` has `{name}`"
    return _write(place, "member", statement, name, "__class__", "has_name", owner=owner)


def prove_possible_member(
    place: str, owner: str, name: str, root: str, *, is_keyword: bool = True
) -> Proof:
    """Return the proof that an owner may have a name; where it fails, it cannot have it.

    `is_keyword` says that the name may be given as a keyword, which some owners take without
    listing it; the name of a method cannot.
    """
    statement = f"`{owner}` has `{name}`, or may have it"
    constants = (f"ROOT = {root!r}", f"IS_KEYWORD = {is_keyword}")
    return _write(place, "lacks", statement, name, "__class__", "may_have", constants, owner)


def _write(
    place: str,
    kind: str,
    statement: str,
    disputed: str,
    instead: str,
    check: str,
    constants: Sequence[str] = (),
    owner: str | None = None,
) -> Proof:
    helpers = [FIND_OWNER, _LOOK_UP, _NAMES, *_HELPERS[check]]
    control = "assert importlib.import_module(INSTEAD) is not None"
    if owner is not None:
        constants = (*constants, f"OWNER = {owner!r}")
        control = "assert look_up(*find_owner(OWNER)) is not None"
    text = "\n\n".join(one.strip("\n") + "\n" for one in helpers).rstrip()
    used = [one for one in _IMPORTS if f"{one}." in text]
    file = proof_name(f"{place}_{kind}")
    source = _TEMPLATE.format(
        statement=statement,
        imports="\n".join(f"import {one}" for one in used),
        constants="".join(f"{line}\n" for line in constants),
        disputed=disputed,
        instead=instead,
        helpers=text,
        test=file.removeprefix("test_").removesuffix(".py"),
        check=check,
        control=control,
    )
    # That something is there once the target is imported shows enough; absence must be fresh.
    claim = Claim(place, statement, Relation.NECESSARY, kind=kind, fresh=kind != "member")
    return Proof(claim, file, source, prover="core")


# --- What an answer names ------------------------------------------------------------------------


def read_answer(text: str) -> tuple[str, ...] | None:
    """Return the dotted name that an answer gives, in any of the forms that templates ask for.

    An identifier, a path, a call, a keyword, a decorator, an import, or the head of a definition
    of a class, function, parameter or type alias. None for all else: a literal, a builtin, prose,
    a block of code.
    """
    bare = text.strip().strip("`").strip().removesuffix("...").rstrip()
    for form in (bare, bare.removeprefix("@"), f"{bare}\n    ...", f"{bare}:\n    ..."):
        try:
            body = ast.parse(form).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        found = _name_in(body[0]) if len(body) == 1 else None
        is_builtin = found is not None and len(found) == 1 and hasattr(builtins, found[0])
        return None if is_builtin else found
    return None


def is_call(text: str) -> bool:
    """Tell whether an answer is written as a call or as the head of a function."""
    return re.search(r"^\s*`?(?:async\s+)?def\s|\)\s*`?\s*$", text) is not None


def _name_in(node: ast.stmt) -> tuple[str, ...] | None:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return (node.name,)
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        return (*module.split("."), node.names[0].name) if module and len(node.names) == 1 else None
    if isinstance(node, ast.Import):
        return tuple(node.names[0].name.split(".")) if len(node.names) == 1 else None
    if isinstance(node, ast.Assign):
        return _chain(node.targets[0]) if len(node.targets) == 1 else None
    if isinstance(node, ast.AnnAssign):
        return _chain(node.target)
    return _chain(node.value) if isinstance(node, ast.Expr) else None


def _chain(node: ast.expr) -> tuple[str, ...] | None:
    if isinstance(node, ast.Call):
        return _chain(node.func)
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        left = _chain(node.value)
        return None if left is None else (*left, node.attr)
    return None


def read_path(text: str) -> tuple[str, ...] | None:
    """Return the parts of a fully qualified name; None for what is none, such as "N/A"."""
    parts = text.strip().strip("`").strip().removesuffix("()").split(".")
    return tuple(parts) if all(part.isidentifier() for part in parts) else None


def is_part_of(name: Sequence[str], path: Sequence[str]) -> bool:
    """Tell whether a name stands in a path as it is: the class itself, or a module of it."""
    length = len(name)
    return any(
        tuple(path[start : start + length]) == tuple(name)
        for start in range(len(path) - length + 1)
    )
