"""Cases, results and configurations as plain values, and back on the other side of the line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from assay.model import CaseResult, VerificationResult
from assay.submissions.adapters import ADAPTERS, AdapterType
from assay.submissions.slopcode.models import plain

Packed = dict[str, Any]


def pack_model(model: BaseModel) -> Packed:
    """Return the fields of a model that were given or are not at their default."""
    # A list that a loader appended to counts as neither given nor default: both have to be asked.
    changed = model.model_dump(exclude_defaults=True).keys() | model.model_fields_set
    fields: Packed = plain(
        {name: value for name, value in model.model_dump().items() if name in changed}
    )
    return fields


def pack_config(config: BaseModel) -> Packed:
    """Return all fields of a problem or group, unknown ones too."""
    fields: Packed = plain(config.model_dump())
    return fields


def pack_result(result: CaseResult, adapter: AdapterType) -> Packed:
    """Pack a result; one of no type of its own becomes what the problem's adapter gives."""
    fields = pack_model(result)
    fields.pop("type", None)
    own = (one for one in (adapter, *ADAPTERS.values()) if isinstance(result, one.result))
    return {"kind": next(own, adapter).name, "fields": fields}


def pack_results(results: Mapping[str, VerificationResult]) -> Packed:
    return {
        name: {"diff": each.diff, "is_correct": each.is_correct, "weight": each.weight}
        for name, each in results.items()
    }


def unpack_results(packed: Packed) -> dict[str, VerificationResult]:
    return {name: VerificationResult(**fields) for name, fields in packed.items()}
