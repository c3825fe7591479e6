"""In our own words, what the specification shows: verifiers, differences and patterns."""

from __future__ import annotations

HEAD = """
import difflib, json, re
from slop_code.evaluation.verifiers.models import VerificationResult
"""

OUTPUT = """
class Verifier:
    def __init__(self, checkpoint_config):
        self.checkpoint = checkpoint_config

    def __call__(self, group_name, case_name, actual, expected):
        return {
            name: VerificationResult.create(
                [getattr(expected, name), getattr(actual, name)],
                getattr(actual, name) == getattr(expected, name),
                weight,
            )
            for name, weight in (("output", 1.0), ("status_code", 0.5))
        }
"""

JSON = """
class Verifier:
    def __init__(self, checkpoint_config):
        pass

    def __call__(self, group_name, case_name, actual, expected):
        try:
            document = json.loads(actual.output)
        except ValueError as error:
            return {"json_parse": VerificationResult.create(str(error), False)}
        results = {
            "structure": VerificationResult.create(
                sorted(document), sorted(document) == sorted(expected.output)
            )
        }
        for path, wanted in getattr(expected, "fields", {}).items():
            value = document
            for key in path.split("."):
                value = value.get(key) if isinstance(value, dict) else None
            results[f"field_{path}"] = VerificationResult.create([wanted, value], value == wanted)
        same = actual.status_code == expected.status_code
        return results | {"status_code": VerificationResult.create("", same, 0.5)}
"""

FILES = """
class Verifier:
    def __init__(self, checkpoint_config):
        pass

    def __call__(self, group_name, case_name, actual, expected):
        same = actual.status_code == expected.status_code
        results = {"status_code": VerificationResult.create(actual.status_code, same, 0.3)}
        for spec in expected.files:
            results["files-" + spec["path"]] = self.judged(spec, actual.files.get(spec["path"]))
        return results

    def judged(self, spec, content):
        if content is None:
            return VerificationResult.create("missing", False)
        if "content" in spec:
            lines = difflib.unified_diff(spec["content"].splitlines(1), content.splitlines(1))
            return VerificationResult.create("".join(lines), content == spec["content"])
        if "contains" in spec:
            return VerificationResult.create(content, spec["contains"] in content, 0.5)
        return VerificationResult.create("there", True, 0.3)
"""

NUMBERS = """
class Verifier:
    def __init__(self, checkpoint_config):
        self.tolerance = checkpoint_config.get("tolerance", 1e-6)

    def __call__(self, group_name, case_name, actual, expected):
        found = [float(each) for each in re.findall(r"-?[0-9.]+", actual.output)]
        wanted = getattr(expected, "numbers", [])
        allowed = getattr(expected, "tolerance", self.tolerance)
        results = {"number_count": VerificationResult.create(found, len(found) == len(wanted), 0.5)}
        for place, (right, given) in enumerate(zip(wanted, found)):
            far = abs(right - given)
            results[f"number_{place}"] = VerificationResult.create(far, far <= allowed)
        return results
"""

WEIGHTS = """
class Verifier:
    def __init__(self, checkpoint_config):
        self.weights = {"correctness": 1.0, "efficiency": 0.5, "format": 0.3}

    def __call__(self, group_name, case_name, actual, expected):
        held = {
            "correctness": actual.output == expected.output,
            "efficiency": actual.execution_time <= getattr(expected, "max_execution_time", 10.0),
            "format": self.is_json(actual.output),
        }
        return {
            name: VerificationResult.create(str(good), good, self.weights[name])
            for name, good in held.items()
        }

    def is_json(self, text):
        try:
            json.loads(text)
        except ValueError:
            return False
        return True
"""

SIMPLE = """
def simple_diff(expected, actual):
    return "✓ Match" if expected == actual else f"wanted:\\n{expected}\\n\\nhad:\\n{actual}"
"""
LINES = """
def line_diff(expected, actual):
    pairs = enumerate(zip(expected.splitlines(), actual.splitlines()), start=1)
    return "\\n".join(f"Line {n}: {a!r} {b!r}" for n, (a, b) in pairs if a != b) or "✓ Match"
"""
UNIFIED = """
def unified_diff(expected, actual):
    both = (each.splitlines(keepends=True) for each in (expected, actual))
    return "".join(difflib.unified_diff(*both, fromfile="expected", tofile="actual"))
"""
VISUAL = """
def visual_diff(expected, actual):
    if expected == actual:
        return "✓ Match"
    pairs = zip(expected.splitlines(), actual.splitlines())
    return "\\n".join(f"  {a}" if a == b else f"- {a}\\n+ {b}" for a, b in pairs)
"""
FLEXIBLE = """
def flexible_match(expected, actual):
    expected, actual = expected.strip(), actual.strip()
    if expected.lower() == actual.lower():
        return VerificationResult.create("the same but for case", True, 1.0)
    if expected in actual:
        return VerificationResult.create("in it", True, 0.8)
    return VerificationResult.create([expected, actual], False, 1.0)
"""
SCHEMA = """
def validate_schema(actual_json, schema):
    wrong = [key for key, kind in schema.items() if not isinstance(actual_json.get(key), kind)]
    return not wrong, f"wrong: {wrong}"
"""
REGEX = """
def regex_match(pattern, actual):
    return VerificationResult.create(pattern, re.fullmatch(pattern, actual) is not None, 1.0)
"""
SCORE = """
def calculate_score(results):
    judged = [each for each in results.values() if each.is_correct is not None]
    total = sum(each.weight for each in judged)
    return sum(each.is_correct * each.weight for each in judged) / total if total else 0.0
"""
