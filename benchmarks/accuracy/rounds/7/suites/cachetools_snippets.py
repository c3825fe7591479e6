from cachetools import LRUCache, cached


# --8<-- [start:survivors]
def survivors():
    cache = LRUCache(maxsize=2)
    cache["x"] = 1
    cache["y"] = 2
    cache["x"]
    cache["z"] = 3
    return sorted(cache)
# --8<-- [end:survivors]


# --8<-- [start:stats]
def stats():
    @cached(LRUCache(maxsize=32), info=True)
    def square(n):
        return n * n

    square(2)
    square(2)
    square(3)
    print(square.cache_info())
# --8<-- [end:stats]
