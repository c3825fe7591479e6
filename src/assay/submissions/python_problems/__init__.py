"""Problems with code of their own: `loader.py` and `verifier.py`, run in a worker process.

The public name is `source.PythonSource`. It is not imported here, because the worker is a
module of this package too and would have to import the side that starts it.
"""
