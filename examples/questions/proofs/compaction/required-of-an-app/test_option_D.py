"""Option D: the required fields of `App` are `name`, `plugins` and `root_agent`."""

from google.adk.apps import App

DISPUTED = ["name", "plugins", "root_agent"]


def required():
    return sorted(name for name, field in App.model_fields.items() if field.is_required())


def test_option_D_holds():
    assert required() == DISPUTED


def test_option_D_fails():
    assert required() != DISPUTED


def test_option_D_control():
    assert App.model_fields["name"].is_required()
