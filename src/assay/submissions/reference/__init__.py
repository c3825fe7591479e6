"""The names that problem folders written for SlopCodeBench import, with the same meanings.

The modules below mirror its package tree. They are seen as `slop_code…` only by a problem's own
code, where `assay.submissions.python_problems.alias` has put them.
"""
