import aiohttp


# --8<-- [start:read_json]
async def fetch(url: str):
    async with aiohttp.ClientSession() as session:
        async with session.get(url) as resp:
            return await resp.json()
# --8<-- [end:read_json]


# --8<-- [start:numeric_timeout]
async def main():
    session = aiohttp.ClientSession(timeout=30)
    try:
        print(session.timeout.total)
    finally:
        await session.close()
# --8<-- [end:numeric_timeout]
