"""How often the prover that needs no model is right, against labels made before it was asked."""
