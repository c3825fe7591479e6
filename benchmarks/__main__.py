"""`make bench`: every benchmark of the project, one after the other."""

from __future__ import annotations

from benchmarks import foundation, proofs, questions

foundation.main()
proofs.main()
questions.main()
