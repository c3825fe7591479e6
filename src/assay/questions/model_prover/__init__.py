"""Questions with a model: it proposes, execution decides, code gives the verdict."""
