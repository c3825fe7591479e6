"""Decides who is at fault when a verifier gives no judgement: its author or the submission.

A verifier may raise because it has a bug, or because a program printed something unreadable. To
tell them apart, it is run on results that should be correct: the expected values, in every form a
program could print them, and the output of the reference solution, if there is one. Its behaviour
on those does not depend on the submission, so no submission can turn a failure into an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.model import CaseResult
from assay.submissions.cases import APIResult
from assay.submissions.config import CheckpointConfig, GroupConfig
from assay.submissions.file_formats import FileType, signature, write_content
from assay.submissions.protocols import LOST, CaseSource, ExpectedCase, VerifierBrokenError
from assay.submissions.result_files import decode_text

if TYPE_CHECKING:
    from assay.submissions.protocols import Prepare, Site

# Each verification that hangs costs its time limit.
_MOST_SLOW = 2
_FORMS = (FileType.JSON, FileType.YAML, FileType.JSONL, FileType.CSV)
# These are caused by the verifier's code, whatever a program prints.
_ALWAYS_MISTAKES = ("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError")


@dataclass
class Blame:
    """Distinguishes mistakes of a problem's author from unreadable output."""

    source: CaseSource
    prepare_reference: Prepare | None = None
    """Makes the reference solution of a checkpoint ready."""
    held: AsyncExitStack = field(default_factory=AsyncExitStack)
    """Keeps the reference solutions until the run ends."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _sites: dict[str, Site | None] = field(default_factory=dict)
    _replayed: dict[tuple[str, str], dict[str, tuple[ExpectedCase, CaseResult]]] = field(
        default_factory=dict
    )

    async def is_authors(
        self,
        error: VerifierBrokenError,
        checkpoint: CheckpointConfig,
        group: GroupConfig,
        drawn: ExpectedCase,
        *,
        is_chain: bool,
    ) -> bool:
        """Return whether the verifier cannot judge the case at all.

        The reference solution decides. Without one, if the verifier can read no form of the
        expected result, it is the author's mistake if it fails on one of them at the same place.
        """
        is_same, slow = False, 0
        for control in _write_forms(drawn.expected):
            try:
                await self.source.verify(checkpoint, group, drawn, control)
            except VerifierBrokenError as other:
                is_same |= other.sign == error.sign
                slow += other.sign == LOST
            else:
                return False
            if slow == _MOST_SLOW:
                break
        async for right, actual in self._of_reference(checkpoint, group, drawn, is_chain):
            try:
                await self.source.verify(checkpoint, group, right, actual)
            except VerifierBrokenError:
                return True
            return False
        return is_same or error.sign.startswith(_ALWAYS_MISTAKES)

    async def _of_reference(
        self, checkpoint: CheckpointConfig, group: GroupConfig, drawn: ExpectedCase, is_chain: bool
    ) -> AsyncIterator[tuple[ExpectedCase, CaseResult]]:
        """Yield the case and the reference's result, if available."""
        async with self._turn:
            try:
                site = await self._site(checkpoint)
                if site is None:
                    return
                if is_chain:
                    results = await self._replay(checkpoint, group, site)
                    found = results.get(drawn.case.id)
                else:
                    async with site.runner(group) as runner:
                        found = drawn, await runner.run(drawn.case)
            except Exception:
                # Errors of the reference say nothing about the submission: continue without it.
                return
        if found is not None:
            yield found

    async def _site(self, checkpoint: CheckpointConfig) -> Site | None:
        if self.prepare_reference is None or not (checkpoint.path / "solution").is_dir():
            return None
        if checkpoint.name not in self._sites:
            self._sites[checkpoint.name] = None
            prepared = self.prepare_reference(checkpoint)
            self._sites[checkpoint.name] = await self.held.enter_async_context(prepared)
        return self._sites[checkpoint.name]

    async def _replay(
        self, checkpoint: CheckpointConfig, group: GroupConfig, site: Site
    ) -> dict[str, tuple[ExpectedCase, CaseResult]]:
        """Run the reference on all cases of a chain, once."""
        key = checkpoint.name, group.name
        if key not in self._replayed:
            results = self._replayed[key] = {}
            async with (
                self.source.open(checkpoint, group) as stream,
                site.runner(group) as runner,
            ):
                while (drawn := await stream.draw()) is not None:
                    placed = drawn.place_assets(site.assets)
                    actual = await runner.run(placed.case)
                    results[drawn.case.id] = placed, actual
                    await stream.update(drawn, actual)
        return self._replayed[key]


def _write_forms(expected: CaseResult) -> Iterator[CaseResult]:
    """Yield the expected result as it is, then with structures serialized as programs do."""
    if not {"output", "stderr", "files"} & expected.given().keys():
        # It says nothing of what a program prints: nobody knows how a right output looks.
        return
    yield expected
    files = expected.files if isinstance(expected.files, dict) else {}
    if all(isinstance(one, str | bytes) for one in (expected.output, *files.values())):
        return
    named = {name: _as_text(content, signature(Path(name))[0]) for name, content in files.items()}
    outputs: list[Any] = [_as_text(expected.output, form) for form in _FORMS]
    if isinstance(expected, APIResult):
        # What a server answers is read before a verifier sees it.
        outputs = [expected.output]
    for output in outputs:
        yield expected.model_copy(update={"output": output, "files": named})


def _as_text(content: Any, form: FileType) -> str | bytes:
    """Serialize a structure in this form, else as JSON."""
    if content is None:
        return ""
    try:
        return decode_text(write_content(content, form))
    except (InputError, ValueError, TypeError, KeyError, AttributeError):
        return decode_text(write_content(content, FileType.JSON))
