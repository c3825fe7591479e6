"""The problems are material: their own tests run only where a test asks for them."""

collect_ignore = ["problem_folders"]
