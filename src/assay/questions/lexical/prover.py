"""The prover that needs no model: it finds the target's index, reads a question, writes proofs."""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import packages_distributions
from pathlib import Path

from assay.documents import LARGEST_SOURCE, UnreadableFileError, read_text
from assay.errors import InputError
from assay.questions.claims.library import Library
from assay.questions.claims.writers import write_proof
from assay.questions.index import build_index
from assay.questions.lexical.mentions import mentions
from assay.questions.lexical.parsed_question import ParsedQuestion, parse_question
from assay.questions.lexical.programs import read_program
from assay.questions.lexical.reader import choose, read_claims, read_premises, read_twins
from assay.questions.lexical.stem import Noun
from assay.questions.lint_rules import StaticResolver
from assay.questions.model import Question
from assay.questions.proof_runners import NO_ENVIRONMENT, NO_PACKAGE, Attempt, TargetRunner
from assay.questions.proofs.claims import Proof
from assay.sandbox import Environment, installed_paths

_LONGEST = 20_000
_IMPORT = re.compile(r"^\s*(?:import|from)\s+([A-Za-z_]\w*)", re.MULTILINE)
_QUOTED = re.compile(r"`(?:import |from )?([A-Za-z_]\w*)(?=[.` ])")
_DOTTED = re.compile(r"`(?:import |from )?([A-Za-z_]\w*)(?=\.)")
_WORD = re.compile(r"\b[a-z]\w+\b")


def find_distributions(question: Question) -> tuple[str, ...]:
    """Return the distributions whose packages the question imports, quotes or names."""
    snippet = question.snippet
    text, options = question.text[:_LONGEST], "\n".join(question.options.values())[:_LONGEST]
    code = "\n".join([*snippet.imports, snippet.code]) if snippet else ""
    # A bare word in an option is what is offered, and only by chance the name of a package.
    quoted = [*_QUOTED.findall(text), *_DOTTED.findall(options)]
    known = _list_packages()
    for words in (
        [*_IMPORT.findall(f"{text}\n{options}\n{code}"), *quoted],
        _WORD.findall(text),
    ):
        found = sorted({known[word] for word in words if word in known})
        if found:
            return tuple(found)
    return ()


def guess_distributions(question: Question) -> tuple[str, ...]:
    """Return the one distribution whose package offers most of the question's names."""
    text = question.text[:_LONGEST]
    wanted = {one.name.partition(".")[0] for one in mentions(text) if one.name}
    return _find_offering(wanted) or _find_offering({name for name in wanted if name[:1].isupper()})


def _find_offering(names: Iterable[str]) -> tuple[str, ...]:
    wanted = frozenset(names)
    scores: dict[str, int] = {}
    for package, distribution in _list_packages().items():
        count = len(wanted & _list_exports(package))
        scores[distribution] = max(count, scores.get(distribution, 0))
    best = max(scores.values(), default=0)
    found = [name for name, count in scores.items() if count == best]
    return tuple(found) if best and len(found) == 1 else ()


@lru_cache(maxsize=1)
def _list_packages() -> dict[str, str]:
    found = packages_distributions().items()
    return {name: distributions[0] for name, distributions in found if not name.startswith("_")}


@lru_cache(maxsize=1024)
def _list_exports(package: str) -> frozenset[str]:
    """Return what a package's own file defines or exports; nothing is imported for it."""
    try:
        spec = importlib.util.find_spec(package)
        text = read_text(Path(spec.origin), LARGEST_SOURCE) if spec and spec.origin else ""
        tree = ast.parse(text)
    except (ImportError, ValueError, OSError, SyntaxError, RecursionError, UnreadableFileError):
        return frozenset()
    return frozenset(_exports(tree))


def _exports(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Name) and one.id == "__all__" for one in targets):
                parts = ast.walk(node)
                yield from (str(one.value) for one in parts if isinstance(one, ast.Constant))


PROVER = "lexical"


# Real questions are shorter; longer texts would take minutes to read.
_LONGEST_STEM = 8_000
_LONGEST_OPTION = 3_000


class LexicalProver:
    """Settles by execution what needs no model; it is never given a key.

    It makes no claims of the kinds in `without`.
    """

    name = PROVER

    def __init__(self, without: Collection[str] = ()) -> None:
        self.without = frozenset(without)
        self._libraries: dict[tuple[str, tuple[str, ...], bool], Library] = {}
        self._building = asyncio.Lock()

    async def prove(
        self, question: Question, options: Sequence[str], runner: TargetRunner
    ) -> Attempt:
        """Proofs for those of the options it understands, and why it has none for the others."""
        if _is_too_long(question):
            return Attempt(reasons=dict.fromkeys(options, "it is too long to be read"))
        library = await self.library(question, runner)
        if isinstance(library, str):
            return Attempt(reasons=dict.fromkeys(options, library))
        parsed = parse_question(question, options, library)
        chosen = (
            (letter, choose([one for one in found if one.claim.kind not in self.without]))
            for letter, found in read_claims(parsed).items()
        )
        proofs = tuple(
            write_proof(letter, reading.claim, library, PROVER)
            for letter, reading in chosen
            if reading is not None
        )
        proven = {proof.claim.option for proof in proofs}
        reasons = {
            letter: why_open(letter, parsed) for letter in parsed.options if letter not in proven
        }
        return Attempt(proofs, reasons)

    async def prove_question(self, question: Question, runner: TargetRunner) -> tuple[Proof, ...]:
        """Return proofs of what the stem takes for granted, and of options that are the same."""
        if _is_too_long(question):
            return ()
        library = await self.library(question, runner)
        if isinstance(library, str):
            return ()
        parsed = parse_question(question, tuple(question.options), library)
        premises = [write_proof("", claim, library, PROVER) for claim in read_premises(parsed)]
        twins = [
            replace(proof, claim=replace(proof.claim, twin=twin))
            for option, twin, claim in read_twins(parsed)
            if claim.kind not in self.without
            for proof in (write_proof(option, claim, library, PROVER),)
        ]
        return (*premises, *twins)

    async def library(self, question: Question, runner: TargetRunner) -> Library | str:
        """Return the target's names, or the reason why there are none."""
        environment = runner.environment
        if environment is None:
            return NO_ENVIRONMENT
        named = environment.distributions or find_distributions(question)
        wanted = named or guess_distributions(question)
        if not wanted:
            return NO_PACKAGE
        key = environment.key, tuple(wanted), not named
        async with self._building:
            if key not in self._libraries:
                try:
                    self._libraries[key] = await asyncio.to_thread(
                        _library, environment, tuple(wanted), runner.modules, not named
                    )
                except InputError as error:
                    return f"the names of the target could not be listed: {error}"
        return self._libraries[key]


def _is_too_long(question: Question) -> bool:
    longest = max(map(len, question.options.values()), default=0)
    return len(question.text) > _LONGEST_STEM or longest > _LONGEST_OPTION


def _library(
    environment: Environment,
    distributions: tuple[str, ...],
    modules: tuple[str, ...],
    is_guessed: bool,
) -> Library:
    index = build_index(environment, distributions=distributions)
    resolve = StaticResolver([str(path) for path in installed_paths(environment)])
    return Library(index, modules, is_guessed=is_guessed, resolve=resolve)


def why_open(letter: str, parsed: ParsedQuestion) -> str:
    """Return one sentence on why there is no claim about an option."""
    option = parsed.options[letter]
    if parsed.is_outside_target:
        return "the question is about another version, platform or time than the target's"
    if parsed.asks_for_failure:
        return "the question asks for what does not work; that a name exists says too little"
    if parsed.code or parsed.stem.noun is Noun.EXCEPTION:
        program = read_program(parsed)
        if isinstance(program, str):
            return program
    if option.whole is None and not option.mentions:
        return "it is prose that names nothing of the target: it takes judgement, not execution"
    if option.is_negated and option.whole is None:
        return (
            "its words may deny what it names or leave a choice, so nothing follows from the names"
        )
    names = ", ".join(f"`{one.code[:60]}`" for one in option.named[:3])
    return f"of {names} nothing can be proven that would settle it"
