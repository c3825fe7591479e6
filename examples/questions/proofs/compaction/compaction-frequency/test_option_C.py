"""Option C: `compaction_rate` is a setting of `EventsCompactionConfig`."""

import pytest
from google.adk.apps.app import EventsCompactionConfig
from pydantic import ValidationError

DISPUTED = "compaction_rate"
INSTEAD = "compaction_interval"


def test_option_C_holds():
    assert DISPUTED in EventsCompactionConfig.model_fields


def test_option_C_fails():
    with pytest.raises(ValidationError) as caught:
        EventsCompactionConfig(**{"compaction_interval": 1, "overlap_size": 1, DISPUTED: 5})
    refused = [(error["type"], error["loc"]) for error in caught.value.errors()]
    assert refused == [("extra_forbidden", (DISPUTED,))]


def test_option_C_control():
    assert EventsCompactionConfig(compaction_interval=1, overlap_size=1).compaction_interval == 1
