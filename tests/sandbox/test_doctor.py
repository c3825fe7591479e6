"""The report of the doctor."""

from __future__ import annotations

from assay.sandbox.doctor import _problem, doctor_report
from assay.sandbox.isolation import available_levels, probe
from assay.sandbox.programs import ProgramResult


def test_it_runs_programs_at_every_level_there_is() -> None:
    report = doctor_report()
    text = "\n".join(report.lines)
    levels = available_levels(probe())
    for level in levels:
        assert f"self-check at level {level}: passed in" in text
    for name in ("kernel", "user namespaces", "Landlock", "seccomp", "control groups"):
        assert any(line.startswith(name) for line in report.lines)
    assert report.healthy == bool(levels)
    assert text.endswith(f"level in use: {levels[0] if levels else 'none can be had'}")


def _result(**changes: object) -> ProgramResult:
    values: dict[str, object] = {
        "exit_status": 3,
        "stdout": b"given",
        "stderr": b"",
        "wall_time": 0.1,
        "cpu_time": 0.1,
        "peak_memory": 1,
        "files": {"made.txt": b"made\n"},
    }
    return ProgramResult(**{**values, **changes})  # type: ignore[arg-type]


def test_it_knows_what_is_wrong() -> None:
    late = _result(limit="wall_time")
    assert _problem(_result(), late) is None
    leaked = _result(stdout=b"given" + b"not for programs under test")
    assert "could read a file" in str(_problem(leaked, late))
    assert "ended with 0" in str(_problem(_result(exit_status=0), late))
    assert "did not come back" in str(_problem(_result(files={}), late))
    assert "not ended" in str(_problem(_result(), _result()))
