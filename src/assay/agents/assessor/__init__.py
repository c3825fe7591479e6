"""Groups the failures of many samples into modes: how the agent fails, how often, and whose fault it is."""
