"""Problems with their own code: `loader.py` and `verifier.py`, run in a worker process.

The public name is `source.PythonSource`. It is not imported here, because the worker is also a
module of this package and would have to import the side that starts it.
"""
