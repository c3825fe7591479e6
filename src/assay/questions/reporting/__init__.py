"""What was found about questions, for people and for programs."""
