import redis


# --8<-- [start:empty_profile]
def save_profile():
    client = redis.Redis(host="localhost", port=6379)
    client.hset("user:1000", mapping={})
# --8<-- [end:empty_profile]


# --8<-- [start:queue]
def queue_commands():
    pipe = redis.Redis().pipeline()
    pipe.set("hits", 1).incr("hits")
    pipe.get("hits")
    print(len(pipe))
# --8<-- [end:queue]
