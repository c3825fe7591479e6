"""How far a verdict can be trusted: defects are planted in sound questions and looked for."""
