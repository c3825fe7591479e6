"""Questions with a model: it proposes claims and proofs, execution decides, code gives a verdict.

What is here so far needs no model: what one may propose, and what becomes of it.
"""
