"""`python -m benchmarks.model_round`: what a model costs and finds on a suite of questions.

Runs `assay questions verify` on a suite with a model, with nothing stored and no answer cached
from before, and prints calls, tokens and verdict of every question, with the averages. Where labels
are given, each verdict is compared with what is true. Everything is kept in one folder: a run that
was interrupted goes on if the command is repeated, and the labels may be given afterwards.

    python -m benchmarks.model_round SUITE --out DIR --model-url http://127.0.0.1:8901/v1
    python -m benchmarks.model_round SUITE --out DIR --labels labels.yaml
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.questions.labels import Label, LabelKind, read_labels
from assay.questions.model_prover.transcripts import transcript_path
from assay.questions.suite.suite import read_suite
from assay.runs import Run
from assay.sandbox.cache import cache_folder

# What the cache has of targets; answers of models are left out, so that all of them are new.
_SHARED = ("digests", "environments", "guards", "indexes", "kits", "locks")
_REASON = 60
_ACCUSATIONS = ("Incorrect", "Ambiguous")
_HEAD = ("question", "verdict", "label", "calls", "by role", "tokens in", "tokens out", "why")


@dataclass(frozen=True)
class Row:
    """What became of one question, and what that cost."""

    question: str
    verdict: str
    why: str
    roles: Counter[str]
    input_tokens: int
    output_tokens: int

    @property
    def calls(self) -> int:
        return self.roles.total()

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


def main(
    arguments: Sequence[str] | None = None, execute: Callable[[list[str], Path], int] | None = None
) -> int:
    """Run what is not run yet and print the table; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.model_round")
    parser.add_argument("suite", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="the folder for everything")
    parser.add_argument("--model", default="model", help="the name that is sent")
    parser.add_argument("--model-url", help="an OpenAI-compatible server; not for the table alone")
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=2, help="questions at the same time")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one answer")
    parser.add_argument("--labels", type=Path, help="what is true of each question")
    asked = parser.parse_args(arguments)
    out: Path = asked.out.absolute()
    if asked.model_url:
        code = (execute or _execute)(_command(asked, out), _prepare(out, asked.timeout))
        if code not in (0, 1):
            return code
    elif not (out / "run").is_dir():
        parser.error("there is no run in --out yet: name a server with --model-url")
    labels = _read_labels(asked.suite, asked.labels) if asked.labels else {}
    text = "\n".join(describe(list(read_rows(Run(out / "run"))), labels))
    (out / "table.md").write_text(f"{text}\n", "utf-8")
    sys.stdout.write(f"{text}\n")
    return 0


# --- The run ------------------------------------------------------------------------------------


def _prepare(out: Path, timeout: float) -> Path:
    """Make the folder that the command runs in: its settings, and a cache without answers."""
    cache = out / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    for name in _SHARED:
        (cache_folder() / name).mkdir(parents=True, exist_ok=True)
        if not (cache / name).is_symlink():
            (cache / name).symlink_to(cache_folder() / name)
    limits = f"[models]\ntimeout = {timeout}\npatience = {2 * timeout}\n"
    (out / "assay.toml").write_text(limits, "utf-8")
    return out


def _command(asked: argparse.Namespace, out: Path) -> list[str]:
    if (out / "run" / "run.json").exists():
        return ["runs", "resume", str(out / "run"), "--jobs", str(asked.jobs)]
    named = [("--target", one) for one in asked.target] + [("--case", one) for one in asked.case]
    return [
        *("questions", "verify", str(asked.suite.absolute())),
        *("--model", asked.model, "--model-url", asked.model_url),
        *("--proofs", str(out / "proofs"), "--out", str(out / "run"), "--jobs", str(asked.jobs)),
        *(word for pair in named for word in pair),
    ]


def _execute(words: list[str], out: Path) -> int:
    command = [sys.executable, "-m", "assay", *words]
    environment = {**os.environ, "ASSAY_CACHE": str(out / "cache")}
    return subprocess.run(command, cwd=out, env=environment, check=False).returncode


# --- The table ----------------------------------------------------------------------------------


def read_rows(run: Run) -> Iterator[Row]:
    """Yield what became of each question of a run."""
    for row in run.rows():
        record = run.read_packed(row)
        used: Mapping[str, float] = record.get("usage") or {}
        yield Row(
            question=str(record["id"]).rpartition("::")[2],
            verdict=str((record["detail"] or {}).get("verdict", "Error")),
            why=str((record["detail"] or {}).get("code") or record["reason"]),
            roles=Counter(_list_answers(transcript_path(run.path, record["id"]))),
            input_tokens=int(used.get("input tokens", 0)),
            output_tokens=int(used.get("output tokens", 0)),
        )


def _list_answers(transcript: Path) -> Iterator[str]:
    """Yield who answered, once for each call that was not answered from the cache."""
    if not transcript.is_file():
        return
    for line in transcript.read_text("utf-8").splitlines():
        event = json.loads(line)
        if event["kind"] == "answer" and not event.get("cached"):
            yield event["agent"]


def _read_labels(suite: Path, file: Path) -> dict[str, Label]:
    return read_labels(file, {one.id: suite.stem for one in read_suite(suite).entries})


def describe(rows: Sequence[Row], labels: Mapping[str, Label]) -> Iterator[str]:
    """Yield the table in Markdown, then the averages and what the labels say of the verdicts."""
    yield f"| {' | '.join(_HEAD)} |"
    yield f"|{'|'.join(['---'] * len(_HEAD))}|"
    for row in rows:
        label = labels[row.question].label.value if row.question in labels else ""
        roles = ", ".join(f"{role} {number}" for role, number in sorted(row.roles.items()))
        cells = (row.question, row.verdict, label, row.calls, roles, row.input_tokens)
        why = " ".join(row.why.split()).replace("|", "\\|")[:_REASON]
        yield f"| {' | '.join(map(str, (*cells, row.output_tokens, why)))} |"
    yield ""
    asked = [row for row in rows if row.calls]
    for name, chosen in (("questions", rows), ("questions that a model was asked about", asked)):
        if chosen:
            calls = sum(one.calls for one in chosen) / len(chosen)
            tokens = sum(one.tokens for one in chosen) / len(chosen)
            yield f"{len(chosen)} {name}: on average {calls:.1f} calls, {tokens:,.0f} tokens"
    verdicts = Counter(row.verdict for row in rows)
    yield f"verdicts: {', '.join(f'{number} {name}' for name, number in sorted(verdicts.items()))}"
    if labels:
        yield from _compare(rows, labels)


def _compare(rows: Sequence[Row], labels: Mapping[str, Label]) -> Iterator[str]:
    known = [(row, labels[row.question]) for row in rows if row.question in labels]
    defects = [(row, one) for row, one in known if one.is_defect]
    sound = [row for row, one in known if one.label is LabelKind.VALID]
    found = [row for row, one in defects if row.verdict == one.label.value]
    otherwise = [
        row for row, one in defects if row.verdict in _ACCUSATIONS and row.verdict != one.label
    ]
    missed = [row for row, _ in defects if row.verdict == LabelKind.VALID.value]
    accused = [row for row in sound if row.verdict in _ACCUSATIONS]
    confirmed = [row for row in sound if row.verdict == LabelKind.VALID.value]
    yield f"labelled: {len(known)} of {len(rows)}, with {len(defects)} defects"
    yield f"defects found: {len(found)} of {len(defects)}{_name(found)}"
    yield f"defects found under another name: {len(otherwise)}{_name(otherwise)}"
    yield f"defects called Valid: {len(missed)}{_name(missed)}"
    yield f"sound questions accused: {len(accused)} of {len(sound)}{_name(accused)}"
    yield f"sound questions confirmed: {len(confirmed)} of {len(sound)}"


def _name(rows: Sequence[Row]) -> str:
    return f" ({', '.join(row.question for row in rows)})" if rows else ""


if __name__ == "__main__":
    raise SystemExit(main())
