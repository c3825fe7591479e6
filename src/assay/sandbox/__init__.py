"""Running code that others wrote: isolation, limits, programs and servers."""
