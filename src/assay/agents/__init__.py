"""Is the agent right, often enough? Conversations of test files, held with a live agent."""
