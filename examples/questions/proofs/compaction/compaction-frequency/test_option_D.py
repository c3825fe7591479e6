"""Option D: `summarize_every` is a setting of `EventsCompactionConfig`."""

import pytest
from google.adk.apps.app import EventsCompactionConfig
from pydantic import ValidationError

DISPUTED = "summarize_every"
INSTEAD = "compaction_interval"


def test_option_D_holds():
    assert DISPUTED in EventsCompactionConfig.model_fields


def test_option_D_fails():
    with pytest.raises(ValidationError) as caught:
        EventsCompactionConfig(**{"compaction_interval": 1, "overlap_size": 1, DISPUTED: 5})
    refused = [(error["type"], error["loc"]) for error in caught.value.errors()]
    assert refused == [("extra_forbidden", (DISPUTED,))]


def test_option_D_control():
    assert EventsCompactionConfig(compaction_interval=1, overlap_size=1).compaction_interval == 1
