"""Second opinions, readings of unclear stems, roles, and providers that take less than others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.models.scripted_server import Received, Reply, ScriptedServer, calls, fails, says
from tests.questions.model_prover.conftest import Run
from tests.questions.model_prover.scripted import (
    Case,
    Model,
    agent_of,
    program,
    reading,
    reads,
    reviews,
    text_of,
    tool_results,
    without_marks,
)
from tests.questions.model_prover.test_workflow import (
    BOTH,
    PROOFS,
    question,
    suite,
    verdicts,
    verify,
)

ABOVE = "Somebody looks at what the class for models of one value is made from. What does one see"


def base(option: str, value: str, relation: str = "equivalent") -> tuple[str, list[dict[str, Any]]]:
    claim = {"kind": "base", "subject": "pydantic.RootModel", "value": f"pydantic.{value}"}
    return option, [{**claim, "relation": relation}]


TYPED = {
    "question": f"{ABOVE} in pydantic? (mark-typed)",
    "options": {"A": "that BaseModel is above RootModel", "B": "that TypeAdapter is above it"},
}


def disagree(received: Received) -> Reply:
    return reviews(received, wrong={"B": "refusing is not what the option says"})


def test_a_second_opinion_comes_before_an_accusation(assay_here: Run, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / "suite.json").write_text(
        suite(
            question("typed", "mark-typed", **TYPED),
            question("shared", "mark-shared", correct_answer="B"),
            question("disputed", "mark-disputed", correct_answer="B"),
            question("silent", "mark-silent", correct_answer="B"),
            question(
                "unclear",
                "mark-unclear",
                question="Limits of pydantic, a number of their own size: only one of them cannot "
                "be said to refuse it, not counting others. (mark-unclear)",
                correct_answer="B",
            ),
            question(
                "misread",
                "mark-misread",
                question="Limits of pydantic, a number of their own size: only one of them cannot "
                "be said to refuse it, not counting others. (mark-misread)",
                correct_answer="B",
            ),
        )
    )
    one_false = reads(program("A"), program("B"), asks="one_false")
    model = Model(
        Case("mark-typed", reads(base("A", "BaseModel"), base("B", "TypeAdapter"))),
        Case("mark-shared", BOTH, PROOFS),
        Case("mark-disputed", BOTH, PROOFS, reviewer=disagree),
        Case("mark-silent", BOTH, PROOFS, reviewer=says("I would rather not.")),
        Case("mark-unclear", one_false, PROOFS),
        Case(
            "mark-misread",
            BOTH,
            PROOFS,
            reviewer=lambda one: reviews(one, asks="one_false"),
        ),
    )
    with ScriptedServer(model) as server:
        ended = verify(assay_here, server)
        found = verdicts(folder)
        without = assay_here("questions", "verify", "suite.json")
        stored = verdicts(folder)
        asked = server.calls
        refreshed = verify(assay_here, server, "--refresh", "--proofs", "new", "--case", "typed")
        again = server.calls - asked
        verify(assay_here, server, "--proofs", "third", "--case", "silent")
    told = {name: one["verdict"] for name, one in found.items()}
    assert ended.code == 1, ended
    # A question whose claims code can prove takes one call.
    assert (told["typed"], len(model.of("reader", "mark-typed"))) == ("Valid", 2), found["typed"]
    assert not model.of("proof_engineer", "mark-typed")
    assert told["shared"] == "Incorrect"
    # Who disagrees leaves it unproven, and both reasons are kept; so does who says nothing.
    assert told["disputed"] == told["silent"] == "Unproven"
    reason = found["disputed"]["options"]["B"]["reason"]
    assert reason.startswith("reviewer disagrees: refusing is not what the option says")
    assert "what option B names refuses the number" in reason
    assert "no answer that can be used" in found["silent"]["reason"]
    # Answers that were of no use at all are not kept: the next run asks again.
    assert len(model.of("reviewer", "mark-silent")) == 6
    assert len(model.of("reader", "mark-silent")) == 1
    # The reviewer knows neither the key nor how the proof ended.
    (seen,) = model.of("reviewer", "mark-shared")
    for word in ("correct_answer", "FAILS", "settled", "passed"):
        assert word not in text_of(seen)
    assert "`if_true`: the claim is true" in text_of(seen)
    assert "`TypeAdapter`" in text_of(seen).partition("Note: ")[2]
    # How the question is read counts where its words leave a doubt, if the reviewer reads it so.
    assert told["unclear"] == "Valid", found["unclear"]["reason"]
    assert told["misread"] == "Unproven", found["misread"]["reason"]
    # What the reviewer did not share is not stored; what was stored says how it was read.
    assert without.code == 1
    assert stored["disputed"]["verdict"] == "Unproven"
    assert stored["shared"]["verdict"] == "Incorrect"
    assert stored["unclear"]["verdict"] == "Valid"
    # Asked for, an answer that is kept is asked for again.
    assert refreshed.code == 0, refreshed
    assert (again, " 0 from the cache" in refreshed.out) == (1, True)


def test_a_stored_proof_accuses_only_with_the_second_opinion_that_is_stored_with_it(
    assay_here: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    whole = suite(question("typed", "mark-typed", **TYPED))
    (folder / "suite.json").write_text(whole)
    model = Model(Case("mark-typed", reads(base("A", "BaseModel"), base("B", "TypeAdapter"))))
    manifest = folder / "proofs" / "suite" / "typed" / "proof.json"
    with ScriptedServer(model) as server:
        assert verify(assay_here, server).code == 0
        # That the key holds needed no second opinion, and so none was asked for.
        first = manifest.read_text()
        assert "reviewer" not in first
        assert not model.of("reviewer")
        (folder / "suite.json").write_text(whole.replace('answer": "A"', 'answer": "B"'))
        alone = assay_here("questions", "verify", "suite.json")
        unreviewed = verdicts(folder)["typed"]
        reviewed = verify(assay_here, server)
        again = verify(assay_here, server)
        asked = server.calls
        refreshed = verify(assay_here, server, "--refresh")
    assert alone.code == 0, alone
    assert unreviewed["verdict"] == "Unproven"
    assert unreviewed["options"]["B"]["reason"].startswith(
        "no second opinion was asked for on what a model claims: `pydantic.RootModel` inherits"
    )
    assert unreviewed["advice"].startswith("a second opinion of a model: assay questions verify")
    assert manifest.read_text() != first
    assert [one.code for one in (reviewed, again, refreshed)] == [1, 1, 1]
    # It is kept with the proof: it is not asked for again, unless everything is.
    assert (len(model.of("reader")), len(model.of("reviewer"))) == (1, 2)
    assert server.calls == asked + 1
    alone = assay_here("questions", "verify", "suite.json")
    assert alone.code == 1, alone
    assert verdicts(folder)["typed"]["verdict"] == "Incorrect"
    claims = {one["option"]: one for one in json.loads(manifest.read_text())["claims"]}
    assert "reviewer" not in claims["A"]
    assert (claims["B"]["reviewer"], claims["B"]["agreed"]) == ("scripted", "equivalent")
    # Who edits what it agreed to has edited the claim.
    manifest.write_text(manifest.read_text().replace('"agreed": "equi', '"agreed": "suffici', 1)
                        .replace("sufficivalent", "sufficient"))  # fmt: skip
    edited = assay_here("questions", "verify", "suite.json")
    assert edited.code == 2
    assert "the claim (in proof.json) of option B changed" in edited.out


def test_a_correction_of_the_key_alone_is_thought_about_anew(
    assay_here: Run, tmp_path: Path
) -> None:
    """A careless reader is not confirmed by its own answer in the cache."""
    folder = tmp_path / "work"
    (folder / "suite.json").write_text(suite(question("wrong", "mark-wrong", correct_answer="B")))
    fixes = calls(("update_benchmark_case", {"answer": {"correct_answer": "A"}}))
    thoughts = [BOTH, reads(program("A"), ("B", []))]
    model = Model(
        Case("mark-wrong", thoughts, {"A": PROOFS["A"], "B": PROOFS["B"]}, fixer=fixes),
    )
    with ScriptedServer(model) as server:
        ended = verify(assay_here, server, "--fix")
        found = verdicts(folder)
    assert ended.code == 1, ended
    assert found["wrong"]["verdict"] == "Incorrect"
    readers = model.of("reader")
    # The second pass put the same question again, and its answer was another one.
    assert len(readers) >= 2
    assert without_marks(readers[0]) == without_marks(readers[1])
    assert found["wrong"]["fix"]["status"] == "needs human review"
    assert found["wrong"]["fix"]["tries"][0]["verdict"] == "Unproven"


def test_a_kept_correction_was_reviewed(assay_here: Run, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / "suite.json").write_text(
        suite(
            question("kept", "mark-kept", correct_answer="B"),
            question("doubted", "mark-doubted", correct_answer="B"),
        )
    )
    fixes = calls(("update_benchmark_case", {"answer": {"correct_answer": "A"}}))

    def turns(received: Received) -> Reply:
        """Agree with the accusation, and not with the correction."""
        is_first = len(model.of("reviewer", "mark-doubted")) == 1
        return reviews(received, wrong={} if is_first else {"A": "now I doubt it"})

    model = Model(
        Case("mark-kept", BOTH, PROOFS, fixer=fixes),
        Case("mark-doubted", BOTH, PROOFS, fixer=fixes, reviewer=turns),
    )
    with ScriptedServer(model) as server:
        verify(assay_here, server, "--fix")
        found = verdicts(folder)
    assert found["kept"]["fix"]["status"] == "fixed"
    assert len(model.of("reviewer", "mark-kept")) == 2
    assert found["doubted"]["fix"]["status"] == "needs human review"
    assert "now I doubt it" in json.dumps(found["doubted"]["fix"]["tries"])


# --- Weak and odd models ------------------------------------------------------------------------

ROLES = """
[models.roles.reader]
effort = "low"
temperature = 0.5

[models.roles.reviewer]
model = "another"
timeout = 50
"""


def test_roles_have_models_of_their_own_and_malformed_answers_cost_an_option(
    assay_here: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    (folder / "assay.toml").write_text(ROLES)
    (folder / "suite.json").write_text(
        suite(
            question("roles", "mark-roles", correct_answer="B"),
            question("prose", "mark-prose"),
            question("extra", "mark-extra"),
            question("cut", "mark-cut"),
            question("arguments", "mark-arguments"),
        )
    )
    half = reading(program("A"), ("B", [{"kind": "program", "says": "x", "key": "A"}]))
    broken = {
        "id": "c", "type": "function",
        "function": {"name": "prove", "arguments": '{"option": "A", "source": '},
    }  # fmt: skip
    unreadable = Reply({"role": "assistant", "content": None, "tool_calls": [broken]})
    fenced = {**PROOFS, "A": f"```python\n{PROOFS['A']}```"}

    def arguments(received: Received) -> Reply:
        if len(model.of("proof_engineer", "mark-arguments")) == 1:
            return unreadable
        return calls(*(("prove", {"option": k, "source": v}) for k, v in PROOFS.items()))

    model = Model(
        Case("mark-roles", BOTH, PROOFS),
        Case("mark-prose", [says("I think A is right."), BOTH], fenced),
        Case("mark-extra", calls(("submit_reading", {"answer": half})), PROOFS),
        Case("mark-cut", [says('{"asks": "one_', finish_reason="length"), BOTH], PROOFS),
        Case("mark-arguments", BOTH, arguments),
    )
    with ScriptedServer(model) as server:
        ended = verify(assay_here, server)
        found = verdicts(folder)
    assert ended.code == 1, ended
    told = {name: one["verdict"] for name, one in found.items()}
    assert told["roles"] == "Incorrect", found["roles"]["reason"]
    reader, engineer, reviewer = (
        model.of(agent, "mark-roles")[0].body for agent in ("reader", "proof_engineer", "reviewer")
    )
    assert (reader["model"], reader["reasoning_effort"], reader["temperature"]) == (
        *("scripted", "low", 0.5),
    )
    assert engineer["model"] == "scripted"
    assert "reasoning_effort" not in engineer
    assert reviewer["model"] == "another"
    # The schema of the answer is sent as providers enforce it.
    assert reader["response_format"]["json_schema"]["name"] == "ReaderAnswer"

    # Prose goes back with what is wrong; a fence around a proof is taken off.
    assert told["prose"] == "Valid", found["prose"]
    assert "is not a JSON object" in text_of(model.of("reader", "mark-prose")[1])
    # A key that is not known goes back twice with the schema, and costs the option.
    asked = model.of("reader", "mark-extra")
    assert len(asked) == 3
    assert "key: Extra inputs are not permitted; the schema of program" in tool_results(asked[2])[0]
    assert {k: v["state"] for k, v in found["extra"]["options"].items()} == {
        "A": "HOLDS",
        "B": "UNPROVEN",
    }
    # So do an answer that was cut off and arguments that are not JSON.
    assert told["cut"] == "Valid", found["cut"]
    assert "the answer was cut off at a limit" in text_of(model.of("reader", "mark-cut")[1])
    assert told["arguments"] == "Valid", found["arguments"]
    second = model.of("proof_engineer", "mark-arguments")[1]
    assert "call `prove`, or answer with" in text_of(second)


def test_a_provider_without_schemas_or_tool_calls_is_asked_for_json(
    assay_here: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    (folder / "suite.json").write_text(suite(question("plain", "mark-plain", correct_answer="B")))

    def plain(received: Received) -> Reply:
        if received.body.get("tools"):
            return fails(400, "tools are not supported")
        if received.body.get("response_format", {}).get("type") == "json_schema":
            return fails(400, "schemas are not supported")
        agent = agent_of(received)
        seen.append(agent)
        if agent == "reader":
            return BOTH
        if agent == "reviewer":
            return reviews(received)
        proofs = [{"option": k, "source": v} for k, v in PROOFS.items()]
        return says(json.dumps({"proofs": proofs}))

    seen: list[str] = []
    with ScriptedServer(plain) as server:
        ended = verify(assay_here, server)
        found = verdicts(folder)
    assert ended.code == 1, ended
    assert found["plain"]["verdict"] == "Incorrect", found["plain"]
    assert seen == ["reader", "proof_engineer", "reviewer"]
