"""Option A: `compaction_interval` is a setting of `EventsCompactionConfig`."""

import pytest
from google.adk.apps.app import EventsCompactionConfig
from pydantic import ValidationError

DISPUTED = "compaction_interval"


def test_option_A_holds():
    config = EventsCompactionConfig(overlap_size=1, **{DISPUTED: 5})
    assert getattr(config, DISPUTED) == 5


def test_option_A_fails():
    with pytest.raises(ValidationError) as caught:
        EventsCompactionConfig(overlap_size=1, **{DISPUTED: 5})
    refused = [(error["type"], error["loc"]) for error in caught.value.errors()]
    assert ("extra_forbidden", (DISPUTED,)) in refused


def test_option_A_control():
    assert "overlap_size" in EventsCompactionConfig.model_fields
