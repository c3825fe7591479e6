"""A verifier with a defect for every group but one."""

import json

from slop_code.evaluation.verifiers import VerificationResult
from slop_code.evaluation.verifiers.verifiers import matches_regex, matches_status_code


class Verifier:
    def __init__(self, checkpoint_config):
        self.config = checkpoint_config

    def __call__(self, group_name, case_name, actual, expected):
        results = {"status_code": matches_status_code(actual.status_code, expected.status_code)}
        if group_name == "never_fails":
            results["output"] = matches_regex(actual.output, ".*")
        elif group_name == "featherweight":
            results["output"] = self.same(actual.output, expected.output, weight=0.0001)
        else:
            results["output"] = self.same(actual.output, expected.output)
        if group_name == "misnamed_key":
            results["file-counts.json"] = VerificationResult.create("looks fine", True)
        return results

    def same(self, output, wanted, weight=1.0):
        try:
            found = json.loads(output) if isinstance(wanted, dict) else output.strip()
        except ValueError:
            found = output
        return VerificationResult.create(
            f"expected {wanted!r}, got {found!r}", found == wanted, weight
        )
