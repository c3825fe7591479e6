import trio


# --8<-- [start:one_child]
async def fail(exc):
    raise exc


async def main():
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail, KeyError("k"))
    except KeyError:
        print("key error")
    except ExceptionGroup as group:
        print("group of", len(group.exceptions))
# --8<-- [end:one_child]


# --8<-- [start:drain]
async def drain():
    send, receive = trio.open_memory_channel(2)
    async with receive:
        async with send:
            await send.send("a")
            await send.send("b")
        print([item async for item in receive])
        try:
            await receive.receive()
        except trio.EndOfChannel:
            print("end")
        except trio.ClosedResourceError:
            print("closed")
# --8<-- [end:drain]
