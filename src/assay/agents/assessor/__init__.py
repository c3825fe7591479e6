"""Groups the failures of many samples into modes: how the agent fails, and how often."""
