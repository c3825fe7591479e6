"""Judges what the ledger printed and wrote, with nearly every helper there is."""

import deepdiff
import numpy as np
import pandas as pd
from slop_code.evaluation import CheckpointConfig, verifiers
from slop_code.evaluation.adapters import cli
from slop_code.evaluation.verifiers import (
    VerificationResult,
    VerifierError,
    VerifierReturnType,
    parsers,
)
from slop_code.evaluation.verifiers import verifiers as checks

from .words import BOOK

assert verifiers.verifiers is checks


class Verifier:
    def __init__(self, checkpoint_config: CheckpointConfig) -> None:
        self.checkpoint = checkpoint_config

    def __call__(
        self, group_name: str, case_name: str, actual: cli.CLIResult, expected: cli.CLIResult
    ) -> VerifierReturnType:
        status = checks.matches_status_code(actual.status_code, expected.status_code, weight=0.2)
        results = {"status_code": status}
        if expected.status_code != 0:
            results["stderr"] = self.verify_error(actual, expected)
        elif "workflow" in group_name:
            results |= self.verify_book(actual, expected)
        elif expected.files:
            results |= dict(self.verify_files(actual, expected))
        else:
            results["output"] = self.verify_total(actual, expected)
        return results

    def verify_error(self, actual: cli.CLIResult, expected: cli.CLIResult) -> VerificationResult:
        said = parsers.extract_actual_output(actual, output_key="stderr", strip=True)
        wanted = parsers.ensure_expected_is_not_none(expected.stderr)
        return checks.matches_regex(said, wanted, weight=0.8)

    def verify_total(self, actual: cli.CLIResult, expected: cli.CLIResult) -> VerificationResult:
        last = parsers.maybe_split_string(
            parsers.ensure_non_null_string(actual.output, allow_empty=True).strip(), "\n", -1
        )
        found = parsers.parse_json(last, allow_invalid=True)
        assert parsers.parse_jsonl(last) in ([found], [])
        diff = deepdiff.DeepDiff(expected.output, found, **checks.DEFAULT_DEEPDIFF_KWARGS)
        return VerificationResult.create(diff=diff, is_correct=not diff, weight=0.8)

    def verify_book(self, actual: cli.CLIResult, expected: cli.CLIResult) -> VerifierReturnType:
        kept = parsers.parse_yaml_file(actual, BOOK) if BOOK in actual.files else None
        # In place, as some verifiers do; the report shows what the program wrote all the same.
        actual.files[BOOK] = kept
        if expected.output is None:
            return {f"files-{BOOK}": checks.deepdiff_verify(kept, expected.files[BOOK])}
        rows = parsers.parse_markdown_table(actual.output, allow_errors=True)
        return {"output": checks.deepdiff_verify(rows, expected.output)}

    def verify_files(self, actual: cli.CLIResult, expected: cli.CLIResult):
        for name, wanted in expected.files.items():
            rows = self.rows_of(name, actual.files.get(name, ""))
            totals = np.array([row.get("total", np.nan) for row in rows], dtype=float)
            assert totals.size == len(pd.DataFrame(rows))
            untitled = parsers.drop_keys_from_dicts(rows, {"title"})
            same = checks.deepdiff_verify(untitled, [{"total": wanted["total"]}], math_epsilon=0.01)
            yield f"files-{name}", same

    def rows_of(self, name: str, content: str) -> list[dict]:
        stream = parsers.convert_to_io(content)
        if name.endswith(".csv"):
            return parsers.parse_csv_content(stream.read(), allows_error=True)
        if name.endswith(".jsonl"):
            return parsers.parse_jsonl(stream.read())
        try:
            return [parsers.parse_yaml(stream.read())]
        except VerifierError:
            return []
