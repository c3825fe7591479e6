"""Judges answers by schema where a note is made, by value elsewhere."""

from slop_code.evaluation.adapters import api
from slop_code.evaluation.config import CheckpointConfig
from slop_code.evaluation.verifiers import validate_format, verifiers
from slop_code.evaluation.verifiers.models import VerificationResult, VerifierReturnType


class Verifier:
    def __init__(self, checkpoint_config: CheckpointConfig) -> None:
        self.checkpoint = checkpoint_config

    def __call__(
        self, group_name: str, case_name: str, actual: api.APIResult, expected: api.APIResult
    ) -> VerifierReturnType:
        results = {
            "status_code": verifiers.matches_status_code(
                actual.status_code, expected.status_code, weight=0.3
            )
        }
        if expected.status_code == 201:
            results["output"] = verifiers.jsonschema_verify(actual.output, expected.output)
            given = actual.output.get("id") if isinstance(actual.output, dict) else None
            form = validate_format(given, "uuid")
            results["id_format"] = VerificationResult(
                diff=form, is_correct=form == "VALID_UUID", weight=0.5
            )
        elif expected.output is not None:
            found = without_ids(actual.output)
            results["output"] = verifiers.deepdiff_verify(found, expected.output, weight=0.7)
        return results


def without_ids(output):
    if isinstance(output, list):
        return [without_ids(each) for each in output]
    if isinstance(output, dict):
        return {key: value for key, value in output.items() if key != "id"}
    return output
