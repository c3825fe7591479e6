"""API questions with a model: the accepted answer is one name among others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.models.scripted_server import Received, Reply, ScriptedServer, says_json
from tests.questions.model_prover.conftest import Run
from tests.questions.model_prover.scripted import Case, Model, listed, proves, text_of
from tests.questions.model_prover.test_workflow import suite, verdicts, verify

ASKED = "Which class of pydantic validates a value against any type, without a model"


def ask(name: str, mark: str, answer: str) -> dict[str, Any]:
    return {
        "id": name,
        "benchmark_type": "api_understanding",
        "category": "validation",
        "question": f"{ASKED}? ({mark})",
        "rationale": "It is made for that.",
        "template": "identifier",
        "answers": [
            {
                "answer_template": "identifier",
                "answer": answer,
                "fully_qualified_class_name": [f"pydantic.{answer}"],
            }
        ],
    }


def validates(option: str, path: str) -> str:
    return f'''"""Option {option}: it validates a value against a plain type."""

import importlib

import pydantic

DISPUTED = "{path}"
INSTEAD = "pydantic.TypeAdapter"


def validates(path):
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)(int).validate_python("3") == 3
    except (AttributeError, TypeError, pydantic.ValidationError) as error:
        assert str(error)
        return False


def test_option_{option}_holds():
    assert validates(DISPUTED)


def test_option_{option}_fails():
    assert not validates(DISPUTED)
'''


def engineer(received: Received) -> Reply:
    text = text_of(received)
    names = dict(re.findall(r"\\n([A-D]): `([\w.]+)`", text))
    wanted = listed(received, "The claims to be proven, by option")
    return proves(*((one, validates(one, names[one])) for one in wanted))


def test_an_accepted_answer_is_verified_among_others(assay_here: Run, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / "suite.json").write_text(
        suite(
            ask("right", "mark-right", "TypeAdapter"),
            ask("wrong", "mark-wrong", "RootModel"),
            ask("gone", "mark-gone", "TypeAdaptor"),
        )
    )
    model = Model(Case("mark-right", engineers=engineer), Case("mark-wrong", engineers=engineer))
    with ScriptedServer(model) as server:
        ended = verify(assay_here, server)
        found = verdicts(folder)
    assert ended.code == 1, ended
    told = {name: (one["verdict"], one["reason"]) for name, one in found.items()}
    assert told["right"][0] == "Valid", told
    assert told["wrong"][0] == "Incorrect", told
    assert "pydantic.RootModel" in told["wrong"][1]
    # A second opinion was asked for before the accusation, and nobody saw what is accepted.
    assert len(model.of("reviewer")) == 1
    for _, received in model.asked:
        assert "accepted answer" not in text_of(received)
        assert "It is made for that" not in text_of(received)
    # What is not there no model can make the answer.
    assert told["gone"][0] == "Incorrect"
    assert not [one for _, one in model.asked if "mark-gone" in text_of(one)]


def test_an_api_question_is_corrected(assay_here: Run, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / "suite.json").write_text(suite(ask("wrong", "mark-wrong", "RootModel")))
    answer = {"answer": "TypeAdapter", "fully_qualified_class_name": ["pydantic.TypeAdapter"]}
    vague = says_json({"answers": [{"answer": "TypeAdapter"}]})
    model = Model(
        Case("mark-wrong", engineers=engineer, fixer=[vague, says_json({"answers": [answer]})])
    )
    with ScriptedServer(model) as server:
        ended = verify(assay_here, server, "--fix", "--apply")
        found = verdicts(folder)
    assert ended.code == 0, ended
    assert found["wrong"]["verdict"] == "Valid", found["wrong"]
    assert found["wrong"]["fix"]["changes"] == {
        "answers.0.answer": "TypeAdapter",
        "answers.0.fully_qualified_class_name.0": "pydantic.TypeAdapter",
    }
    assert (folder / "suite.json").read_text() == suite(ask("wrong", "mark-wrong", "TypeAdapter"))
    # Names that are missing go back; the correction was read anew and reviewed.
    assert "fully_qualified_class_name" in text_of(model.of("remediation_engineer")[1])
    assert len(model.of("reader")) == len(model.of("reviewer")) == 2
