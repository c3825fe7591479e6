"""Makes and reads a log of inspect with its own functions: python inspect_log.py WHAT FOLDER.

It runs in an environment of its own, without Assay.
"""

from __future__ import annotations

import os
import sys

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSpec,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample,
    read_eval_log_sample_summaries,
    write_eval_log,
)
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score
from view_texts import RARE, make_cases


def make(folder: str) -> None:
    """Write one log with the cases."""
    number = int(os.environ["CASES"])
    samples = [
        EvalSample(
            id=identifier,
            epoch=1,
            input=question,
            target=question[:200],
            output=ModelOutput.from_content("model", answer),
            scores={"exact": Score(value="C" if is_right else "I", answer=answer)},
        )
        for identifier, question, answer, is_right in make_cases(number)
    ]
    spec = EvalSpec(
        created="2026-03-01T09:00:00+00:00",
        task="suite",
        dataset=EvalDataset(name="suite", samples=number),
        model="model",
        config=EvalConfig(),
    )
    log = EvalLog(status="success", eval=spec, samples=samples)
    write_eval_log(log, f"{folder}/log.eval")


def main() -> None:
    """Do one thing that a viewer needs."""
    what, folder = sys.argv[1:]
    path = f"{folder}/log.eval"
    if what == "make":
        make(folder)
    elif what == "list":
        (info,) = list_eval_logs(folder)
        assert read_eval_log(info, header_only=True).status == "success"
    elif what == "first page":
        assert len(read_eval_log_sample_summaries(path)[:50]) == 50
    elif what == "filter":
        wrong = [
            one
            for one in read_eval_log_sample_summaries(path)
            if one.scores and one.scores["exact"].value == "I"
        ]
        assert wrong
    elif what == "search":
        # Summaries have only the beginning of a text.
        samples = read_eval_log(path).samples or []
        assert [one.id for one in samples if RARE in str(one.input)]
    elif what == "one case":
        assert read_eval_log_sample(path, id="suite/7/case-000007", epoch=1).input
    elif what == "whole log":
        assert read_eval_log(path).samples


if __name__ == "__main__":
    main()
