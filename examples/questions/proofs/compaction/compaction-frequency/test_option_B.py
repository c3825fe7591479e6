"""Option B: `summarization_freq` is a setting of `EventsCompactionConfig`."""

import pytest
from google.adk.apps.app import EventsCompactionConfig
from pydantic import ValidationError

DISPUTED = "summarization_freq"
INSTEAD = "compaction_interval"


def test_option_B_holds():
    assert DISPUTED in EventsCompactionConfig.model_fields


def test_option_B_fails():
    with pytest.raises(ValidationError) as caught:
        EventsCompactionConfig(**{"compaction_interval": 1, "overlap_size": 1, DISPUTED: 5})
    refused = [(error["type"], error["loc"]) for error in caught.value.errors()]
    assert refused == [("extra_forbidden", (DISPUTED,))]


def test_option_B_control():
    assert EventsCompactionConfig(compaction_interval=1, overlap_size=1).compaction_interval == 1
