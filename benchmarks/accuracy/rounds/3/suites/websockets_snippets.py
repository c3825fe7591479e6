from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed


# --8<-- [start:iterate]
async def listen(uri):
    async with connect(uri) as websocket:
        try:
            async for message in websocket:
                print(message)
        except ConnectionClosed as exc:
            print(type(exc).__name__)
        else:
            print("end of stream")
# --8<-- [end:iterate]


# --8<-- [start:two_argument_handler]
async def handler(websocket, path):
    await websocket.send(f"you asked for {path}")


async def main():
    async with serve(handler, "127.0.0.1", 8765) as server:
        await server.serve_forever()
# --8<-- [end:two_argument_handler]
