"""Names in options: imports, full paths, members, parameters, calls, flags and single words."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.questions.claims import kinds
from assay.questions.claims.library import CALLABLES, CLASSES, Library, path_of
from assay.questions.index import Symbol, plainness
from assay.questions.lexical.mentions import CodeForm, Mention
from assay.questions.lexical.parsed_question import ParsedOption, ParsedQuestion
from assay.questions.lexical.stem import Noun, Tie, is_form, word_set
from assay.questions.proofs.claims import Relation


@dataclass(frozen=True)
class Reading:
    """A claim about an option.

    `expected` is what the index says will come out, None where only running it can tell. It only
    chooses among readings; what counts is what the proof does.
    """

    option: str
    claim: kinds.TypedClaim
    expected: bool | None = None


def read_names(parsed: ParsedQuestion) -> Iterator[Reading]:
    """Yield what the names in the options claim."""
    for option in parsed.options.values():
        yield from _read_import(option, parsed)
        yield from _read_flag(option, parsed)
        yield from _read_enumeration(option, parsed)
        for member in find_members(option, parsed):
            yield from _read_member(option, member, parsed)
        for mention in _names_in_code(option):
            yield from _read_word(option, mention, parsed)
        for mention in option.named:
            yield from _read_call(option, mention, parsed)
            yield from _read_role(option, mention, parsed)
            yield from _read_name(option, mention, parsed)


def _names_in_code(option: ParsedOption) -> Iterator[Mention]:
    """Yield the names that an option uses which is code of several names."""
    whole = option.whole
    if whole is None or whole.form not in (CodeForm.CODE, CodeForm.CALL, CodeForm.KEYWORD):
        return
    try:
        tree = ast.parse(whole.code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    bound = {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id not in bound:
            yield Mention(called.id, CodeForm.NAME, called.id)


# --- Imports -----------------------------------------------------------------------------------


def _read_import(option: ParsedOption, parsed: ParsedQuestion) -> Iterator[Reading]:
    statement, library = find_import(option, parsed), parsed.library
    paths = import_paths(statement) if statement else []
    if not statement or not paths:
        return
    index = library.index
    if not all(
        library.is_own(path) or _is_near(path, library) or index.is_foreign(path) for path in paths
    ):
        return
    if any(library.obstacle(path) for path in paths):
        return
    known = [index.resolve(path) or index.origin(path) for path in paths]
    relation = _import_relation(paths, parsed)
    claim = kinds.ImportRuns(code=statement, relation=relation)
    yield Reading(option.letter, claim, expected=all(one is not None for one in known))


def find_import(option: ParsedOption, parsed: ParsedQuestion) -> str | None:
    """Return the import an option offers, in one line."""
    imports = [one for one in option.named if one.form is CodeForm.IMPORT]
    if len(imports) == 1:
        return "; ".join(ast.unparse(one) for one in ast.parse(imports[0].code).body)
    whole = option.whole
    if whole is None or whole.form is not CodeForm.NAME or whole.head or parsed.residue:
        return None
    modules = [one.path for one in parsed.subjects if one.kind == "module"]
    is_asked = parsed.stem.has("imported", "importable") and len(modules) == 1
    return f"from {modules[0]} import {whole.name}" if is_asked else None


def import_paths(statement: str) -> list[str]:
    """Return every dotted path that has to exist for the statement to run."""
    paths: list[str] = []
    for node in ast.parse(statement).body:
        if isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                return []
            paths += [f"{node.module}.{one.name}" for one in node.names if one.name != "*"]
        elif isinstance(node, ast.Import):
            paths += [one.name for one in node.names]
    return paths


def _is_near(path: str, library: Library) -> bool:
    """Return whether a path lies beside the target, under the same first name: `google.agents`."""
    first = path.partition(".")[0]
    beside = any(root.partition(".")[0] == first for root in library.roots)
    return beside and not library.index.is_foreign(path)


def _import_relation(paths: list[str], parsed: ParsedQuestion) -> Relation:
    """Return whether running is all that is asked: of this import, for what the stem names."""
    parts = (part for path in paths for part in path.split("."))
    is_private = any(part.startswith("_") and not part.endswith("__") for part in parts)
    if is_private or parsed.residue or not parsed.stem.has("import*"):
        return Relation.NECESSARY
    modules = {one.path for one in parsed.subjects if one.kind == "module"}
    ignored = {*parsed.library.roots, *parsed.library.distributions, *modules}
    named = {one.last for one in parsed.stem.mentions if one.name not in ignored}
    if any(one.form is not CodeForm.NAME for one in parsed.stem.mentions):
        return Relation.NECESSARY
    bound = {path.rpartition(".")[2] for path in paths}
    return Relation.EQUIVALENT if not named or named == bound else Relation.NECESSARY


# --- Members, parameters and calls -------------------------------------------------------------

_MEMBER_NOUNS = (Noun.PARAMETER, Noun.FIELD, Noun.METHOD)
_NAMING = (CodeForm.NAME, CodeForm.KEYWORD, CodeForm.CALL)
_SORTS = {
    Noun.METHOD: ("method", "function"),
    Noun.FIELD: ("field", "attribute", "property", "enum member"),
}


@dataclass(frozen=True)
class Member:
    """That an owner has a member; `tie` is how surely the option or question says so."""

    owner: Symbol
    name: str
    tie: Tie
    by_option: bool = False
    as_keyword: bool = True


def find_members(option: ParsedOption, parsed: ParsedQuestion) -> Iterator[Member]:
    """Yield what an option says belongs to whom."""
    if option.is_negated and option.whole is None:
        return
    for mention in option.named:
        yield from _of_option(mention, option, parsed)
    owner, noun = parsed.owner, parsed.stem.noun
    if owner is None or noun not in _MEMBER_NOUNS or parsed.tie is Tie.NONE:
        return
    if owner.kind not in CLASSES and not (owner.kind in CALLABLES and noun is Noun.PARAMETER):
        return
    for one in option.named if option.whole or _is_list(option) else ():
        is_plain = one.form in _NAMING and not one.head and not one.keywords
        if is_plain and not _is_own_thing(one, parsed):
            yield Member(owner, one.last, parsed.tie, as_keyword=noun is not Noun.METHOD)


def _is_list(option: ParsedOption) -> bool:
    """Return whether an option is several names and nothing else: "`a` and `b`"."""
    text = option.text
    for one in reversed(option.mentions):
        text = f"{text[: one.start]} {text[one.end :]}"
    return len(option.mentions) > 1 and re.fullmatch(r"(?:and\b|[\W\d])*", text) is not None


def _is_own_thing(mention: Mention, parsed: ParsedQuestion) -> bool:
    """Return whether a name is a class of the target: it is handed over, not a member's name."""
    return parsed.library.owner(mention.name, CLASSES) is not None


def _of_option(mention: Mention, option: ParsedOption, parsed: ParsedQuestion) -> Iterator[Member]:
    """`Owner.name`, and "`name=…` in the `Owner` constructor"."""
    library = parsed.library
    if mention.form in _NAMING and mention.head:
        if (holder := _find_holder(mention.head, parsed)) is not None:
            yield Member(holder, mention.last, Tie.OWN, by_option=True, as_keyword=False)
        elif (guessed := library.receiver(mention.head)) is not None:
            yield Member(guessed, mention.last, Tie.NEAR, by_option=True, as_keyword=False)
    elif (
        mention.form in (CodeForm.KEYWORD, CodeForm.NAME)
        and option.whole is None
        and not _is_own_thing(mention, parsed)
        and (owner := _find_owner(mention, option, parsed)) is not None
    ):
        yield Member(owner, mention.last, Tie.OWN, by_option=True)


def _find_holder(name: str, parsed: ParsedQuestion) -> Symbol | None:
    """Return the class that a name is, or that the question says a variable is of."""
    found = parsed.types.get(name) or parsed.library.owner(name, CLASSES)
    return found or _find_namesake(name, parsed)


def _find_namesake(name: str, parsed: ParsedQuestion) -> Symbol | None:
    """Return the only class of the stem whose name ends like a variable: `pool`, `BigPool`."""
    camel = "".join(part.capitalize() for part in name.split("_"))
    found = [one for one in parsed.subjects if one.kind in CLASSES and one.name.endswith(camel)]
    return found[0] if len(found) == 1 and name.islower() else None


_TO_OWNER = re.compile(
    r"\s*(?:(?:parameter|argument|field|setting|attribute|keyword|flag|property|list)s?\s+)?"
    r"(?:of|in|on|to|for|when creating|when constructing)\s+(?:the\s+|an?\s+|your\s+)?$",
    re.IGNORECASE,
)


def _find_owner(mention: Mention, option: ParsedOption, parsed: ParsedQuestion) -> Symbol | None:
    """Return the class that follows with nothing between but "in the", "parameter of the", …"""
    later = [one for one in option.mentions if one.start >= mention.end]
    if not later or later[0].form is not CodeForm.NAME:
        return None
    if not _TO_OWNER.fullmatch(option.text[mention.end : later[0].start]):
        return None
    return parsed.library.owner(later[0].name, CLASSES)


def _read_member(option: ParsedOption, member: Member, parsed: ParsedQuestion) -> Iterator[Reading]:
    """Yield the claim, unless absence means nothing or something else may be meant."""
    library, owner, name = parsed.library, member.owner, member.name
    if name.startswith("__") or not name.isidentifier():
        return
    if isinstance(getattr(builtins, name, None), type):
        return
    as_parameter = owner.kind in CALLABLES or _is_plain_parameter(member, parsed)
    names = library.names_of(owner)
    if as_parameter:
        names = frozenset(one.name for one in owner.parameters or ())
    is_there = name in names
    is_misspelt = owner.is_enum and name.lower() in {one.lower() for one in names}
    if not is_there and (
        library.is_open(owner, as_keyword=member.as_keyword)
        or _may_be_elsewhere(member, parsed)
        or is_misspelt  # A member in other letters may well be meant.
    ):
        return
    relation = _member_relation(option, member, parsed, is_there)
    shared = {"subject": path_of(owner), "value": name, "relation": relation}
    claim = kinds.TakesParameter(**shared) if as_parameter else kinds.HasMember(
        **shared, as_field=bool(owner.extra) and parsed.stem.word in ("field", "fields")
    )  # fmt: skip
    yield Reading(option.letter, claim, expected=is_there)


def _is_plain_parameter(member: Member, parsed: ParsedQuestion) -> bool:
    """Return whether it can only be a parameter: it is given to a class that says what it takes.

    What declares fields is left out: there a parameter and an attribute are one and the same.
    """
    owner = member.owner
    if member.by_option or parsed.stem.noun is not Noun.PARAMETER or owner.kind not in CLASSES:
        return False
    if owner.parameters is None or owner.extra or member.tie is not Tie.OWN:
        return False
    is_given = parsed.stem.has("constructor", "argument*", "keyword*", "pass*", "initializer")
    fields = (one for one in parsed.library.members(owner).values() if one.kind == "field")
    return is_given and next(fields, None) is None


def _may_be_elsewhere(member: Member, parsed: ParsedQuestion) -> bool:
    """Return whether the name may belong to something else than the owner."""
    library = parsed.library
    if member.tie is Tie.OWN:
        return False
    if member.by_option:
        # The class was only guessed from the name of a variable.
        return bool(library.index.find(member.name))
    return library.is_field_elsewhere(member.name, member.owner)


def _member_relation(
    option: ParsedOption, member: Member, parsed: ParsedQuestion, is_there: bool
) -> Relation:
    if member.by_option or not parsed.is_whole or option.whole is None:
        return Relation.NECESSARY
    if not is_there:
        return Relation.EQUIVALENT
    owner, noun = member.owner, parsed.stem.noun
    if noun is Noun.PARAMETER:
        is_one = owner.parameter(member.name) is not None
    else:
        found = parsed.library.members(owner).get(member.name)
        is_one = found is not None and found.kind in _SORTS.get(noun, ())
    return Relation.EQUIVALENT if is_one else Relation.NECESSARY


def _read_call(option: ParsedOption, mention: Mention, parsed: ParsedQuestion) -> Iterator[Reading]:
    """Yield what an `Owner(name=…)` says about the signature: one that is missing, or the first."""
    if mention.form is not CodeForm.CALL or not mention.keywords:
        return
    if re.search(rf"\b(?:class|def)\s+{re.escape(mention.name)}\b", parsed.code):
        return
    owner = _find_called(mention, parsed)
    if owner is None or parsed.library.is_open(owner):
        return
    # A field may be given by an alias that the signature does not show.
    is_model = owner.kind in CLASSES and bool(owner.extra or owner.parameters is None)
    kind = kinds.HasMember if is_model else kinds.TakesParameter
    names = {one.name for one in owner.parameters or ()}
    names |= parsed.library.names_of(owner) if is_model else set()
    missing = [one for one in mention.keywords if one not in names]
    for one in missing or mention.keywords[:1]:
        yield Reading(option.letter, kind(subject=path_of(owner), value=one), one in names)


def _find_called(mention: Mention, parsed: ParsedQuestion) -> Symbol | None:
    """Return what a call calls, also a method of a variable whose class the question names."""
    library, wanted = parsed.library, (*CLASSES, *CALLABLES)
    found = library.owner(mention.name, wanted) or library.owner(
        parsed.expand(mention.name), wanted
    )
    holder = _find_holder(mention.head, parsed) if mention.head and found is None else None
    member = library.members(holder).get(mention.last) if holder is not None else None
    return member if member is not None and member.kind == "method" else found


# --- Flags and enumerations --------------------------------------------------------------------


def find_command(option: ParsedOption, parsed: ParsedQuestion) -> Symbol | None:
    """Return the command the option speaks of, or else the only one the question names."""
    for mentions in (option.mentions, parsed.stem.mentions):
        found = {one.path: one for one in _commands(mentions, parsed)}
        if found:
            return next(iter(found.values())) if len(found) == 1 else None
    return None


def _commands(mentions: Iterable[Mention], parsed: ParsedQuestion) -> Iterator[Symbol]:
    for mention in mentions:
        # `old-name` reads like a subtraction.
        forms = (CodeForm.COMMAND, CodeForm.NAME, CodeForm.CODE)
        if mention.form not in forms or not mention.quoted:
            continue
        words = [word for word in mention.code.split() if not word.startswith("-")]
        found = parsed.library.owner(" ".join(words), ("command",))
        if found is not None:
            yield found


def _read_flag(option: ParsedOption, parsed: ParsedQuestion) -> Iterator[Reading]:
    command = find_command(option, parsed)
    flag = next((one for one in option.named if one.form is CodeForm.FLAG), None)
    if flag is None or command is None:
        return
    members = parsed.library.members(command)
    known = {*members, *(alias for one in members.values() for alias in one.aliases)}
    is_whole = not parsed.residue and parsed.stem.noun in (Noun.FLAG, Noun.FIELD)
    relation = Relation.EQUIVALENT if is_whole else Relation.NECESSARY
    claim = kinds.HasOption(subject=command.path, value=flag.name, relation=relation)
    yield Reading(option.letter, claim, expected=flag.name in known)


def _read_enumeration(option: ParsedOption, parsed: ParsedQuestion) -> Iterator[Reading]:
    owner, whole = parsed.owner, option.whole
    if owner is None or not owner.is_enum or not owner.available or whole is None:
        return
    by_value = parsed.stem.has("value", "values", "string", "strings")
    if parsed.residue or whole.form not in (CodeForm.NAME, CodeForm.LITERAL):
        return
    if whole.head and parsed.library.owner(whole.head, CLASSES) != owner:
        return
    if whole.form is CodeForm.LITERAL and not by_value:
        return
    is_name = whole.form is CodeForm.NAME
    value = whole.last if is_name else ast.literal_eval(whole.code)
    claim = kinds.InEnumeration(
        subject=path_of(owner),
        value=value,
        by="value" if not is_name else "either" if by_value else "name",
        relation=Relation.EQUIVALENT,
    )
    yield Reading(option.letter, claim)


# --- Roles -------------------------------------------------------------------------------------


def _read_role(option: ParsedOption, mention: Mention, parsed: ParsedQuestion) -> Iterator[Reading]:
    """Refute a class that neither is called as the noun asks nor inherits from its base class."""
    library, stem = parsed.library, parsed.stem
    if option.whole is None or mention.form is not CodeForm.NAME or stem.noun is not Noun.THING:
        return
    symbol, base = library.owner(mention.name, CLASSES), library.base_of(stem.word)
    word = stem.word.removesuffix("s")
    if symbol is None or base is None or base.path == symbol.path or word in symbol.name.lower():
        return
    if base.path in symbol.bases or any(path in symbol.bases for path in base.paths):
        return
    yield Reading(
        option.letter,
        kinds.InheritsFrom(subject=path_of(symbol), value=path_of(base)),
        expected=False,
    )


# --- Paths and words ---------------------------------------------------------------------------

_SHORTEST = 4
_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_SPELLED = re.compile(r"[A-Z]+[a-z0-9]+[A-Z]\w*|[A-Za-z][A-Za-z0-9]*_\w+")
_CODE_NOUNS = (*_MEMBER_NOUNS, Noun.FUNCTION, Noun.CLASS, Noun.EXCEPTION, Noun.THING)
# What a question asks for when it asks about the world around the target.
_OUTSIDE = word_set(
    "library package framework dependency extension project protocol standard database server"
    " company editor language"
)
# Things whose names have dots, or look like the target's, without being found in it.
_NOT_PATHS = (
    "logger", "loggers", "file", "files", "folder*", "director*", "topic*", "channel*", "header*",
    "metric*", "domain*", "url*", "address*", "variable", "variables", "distribution*",
)  # fmt: skip


def _read_name(option: ParsedOption, mention: Mention, parsed: ParsedQuestion) -> Iterator[Reading]:
    is_variable = _ENVIRONMENT.fullmatch(mention.name)
    asked = () if is_variable else parsed.stem.asked
    if any(is_form(word, one) for word in asked for one in _NOT_PATHS):
        return
    path, library = full_path(mention, option, parsed), parsed.library
    relation = Relation.NECESSARY
    if path is None and _is_of_module(option, mention, parsed):
        assert parsed.owner is not None
        path = f"{parsed.owner.path}.{mention.name}"
        if parsed.is_whole and _is_of_sort(path, parsed):
            relation = Relation.EQUIVALENT
    if path is None:
        yield from _read_word(option, mention, parsed)
        return
    found = library.index.resolve(path) or library.index.origin(path)
    if found is None and library.obstacle(path):
        return
    if isinstance(found, Symbol) and found.on_instance:
        return
    claim = kinds.PathExists(subject=path, relation=relation)
    yield Reading(option.letter, claim, expected=found is not None)


_OF_MODULES = {
    Noun.CLASS: ("class", "exception"),
    Noun.EXCEPTION: ("exception",),
    Noun.FUNCTION: ("function",),
    Noun.FIELD: ("class", "exception", "function", "constant"),
}


def _is_of_module(option: ParsedOption, mention: Mention, parsed: ParsedQuestion) -> bool:
    """Return whether an option is a plain name, and what a module has is asked for."""
    owner = parsed.owner
    is_name = option.whole is mention and mention.form is CodeForm.NAME and not mention.head
    is_asked = parsed.tie is Tie.OWN and parsed.stem.noun in _OF_MODULES
    if parsed.residue and parsed.library.is_strange(mention.name):
        return False
    return is_name and is_asked and owner is not None and owner.kind == "module"


def _is_of_sort(path: str, parsed: ParsedQuestion) -> bool:
    found = parsed.library.index.resolve(path)
    return found is None or found.kind in _OF_MODULES[parsed.stem.noun]


def full_path(mention: Mention, option: ParsedOption, parsed: ParsedQuestion) -> str | None:
    """Return the full path of a mention: as written, or through a module the option names."""
    if mention.form not in (CodeForm.NAME, CodeForm.CALL) or not mention.head:
        return None
    library = parsed.library
    if library.is_own(mention.name):
        return mention.name
    first, _, rest = mention.name.partition(".")
    modules = {
        one.name
        for one in option.mentions
        if one.form is CodeForm.NAME and one.name in library.index.modules and one.last == first
    }
    if len(modules) == 1:
        return f"{next(iter(modules))}.{rest}"
    expanded = parsed.expand(mention.name)
    return expanded if library.is_own(expanded) else None


def find_path(option: ParsedOption, mention: Mention, parsed: ParsedQuestion) -> str | None:
    """Return the full path of what an option is: a name of a module, or a member of a class."""
    library = parsed.library
    if (path := full_path(mention, option, parsed) or find_only_path(mention, parsed)) is not None:
        return path
    holder = _find_holder(mention.head, parsed) if mention.head else None
    holder = holder or _find_common_holder(mention.head, parsed)
    is_member = holder is not None and mention.last in library.members(holder)
    return f"{path_of(holder)}.{mention.last}" if holder is not None and is_member else None


def _find_common_holder(head: str, parsed: ParsedQuestion) -> Symbol | None:
    """Return the only class of the stem, where all options are of one variable or of none."""
    classes = [one for one in parsed.subjects if one.kind in CLASSES]
    wholes = [one.whole for one in parsed.options.values()]
    is_one = all(one is not None and one.head == head for one in wholes)
    return classes[0] if len(classes) == 1 and is_one else None


def _read_word(option: ParsedOption, mention: Mention, parsed: ParsedQuestion) -> Iterator[Reading]:
    if (path := find_only_path(mention, parsed)) is not None and option.whole is mention:
        yield Reading(option.letter, kinds.PathExists(subject=path), expected=True)
        return
    name = _word(mention)
    if name is None or not _is_to_be_found(name, mention, option, parsed):
        return
    is_of_target = parsed.stem.noun is Noun.THING and parsed.library.base_of(parsed.stem.word)
    occurs = parsed.library.index.occurs(name, everywhere=not is_of_target)
    if not occurs or _ENVIRONMENT.fullmatch(name):
        yield Reading(option.letter, kinds.WordOccurs(value=name), expected=occurs)


def find_only_path(mention: Mention, parsed: ParsedQuestion) -> str | None:
    """Return the full path of a plain name that only one thing of the target has."""
    if mention.form not in (CodeForm.NAME, CodeForm.CALL) or mention.head or mention.keywords:
        return None
    found = parsed.library.owner(mention.name, ("class", "exception", "function", "constant"))
    if found is None:
        return None
    paths = [one for one in (*found.paths, found.path) if one.endswith(f".{mention.name}")]
    return min(paths, key=plainness) if paths else None


def _word(mention: Mention) -> str | None:
    if mention.form is CodeForm.KEYWORD and _ENVIRONMENT.fullmatch(mention.name):
        return mention.name
    return mention.last if mention.form in (CodeForm.NAME, CodeForm.CALL) else None


def _is_to_be_found(
    name: str, mention: Mention, option: ParsedOption, parsed: ParsedQuestion
) -> bool:
    """Return whether the option says that the target has such a name, and nobody else could."""
    library, owner = parsed.library, parsed.owner
    if parsed.stem.word in _OUTSIDE or not _is_anchored(parsed):
        return False
    noun = parsed.stem.noun
    is_keyword = noun is not Noun.METHOD
    if owner and noun in _MEMBER_NOUNS and library.is_open(owner, as_keyword=is_keyword):
        return False  # It may hand on whatever it is given or asked for.
    first = mention.name.partition(".")[0]
    if mention.head and not (library.index.find(first) or library.receiver(first)):
        return False
    if library.is_guessed or len(library.distributions) != 1 or len(name) < _SHORTEST:
        return False
    if name in parsed.given or library.is_strange(mention.name) or library.is_strange(name):
        return False
    if _SPELLED.fullmatch(name):
        return True
    # A single plain word is a name only where names are asked for and the option is nothing else.
    return option.whole is not None and parsed.stem.noun in _CODE_NOUNS


def _is_anchored(parsed: ParsedQuestion) -> bool:
    """Return whether the target knows a name in some option, so that all are meant of it."""
    index = parsed.library.index
    return any(
        index.find(mention.name)
        or index.find(mention.last)
        or (_ENVIRONMENT.fullmatch(mention.name) and index.occurs(mention.name))
        for one in parsed.options.values()
        for mention in one.mentions
        if mention.form in (CodeForm.NAME, CodeForm.CALL, CodeForm.FLAG, CodeForm.KEYWORD)
    )
