"""`make bench`: every benchmark of the project, one after the other."""

from __future__ import annotations

from benchmarks import agents, foundation, proofs, questions, submissions

foundation.main()
proofs.main()
questions.main()
submissions.main()
agents.main()
