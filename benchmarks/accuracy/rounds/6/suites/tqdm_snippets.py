import asyncio

from tqdm import tqdm
from tqdm.asyncio import tqdm_asyncio


# --8<-- [start:reuse]
def reuse_bar():
    bar = tqdm(total=10)
    bar.update(4)
    before = bar.n
    bar.reset(total=20)
    print(before, bar.n, bar.total)
    bar.close()
# --8<-- [end:reuse]


# --8<-- [start:gather]
async def fetch(delay, value):
    await asyncio.sleep(delay)
    return value


async def main():
    results = await tqdm_asyncio.gather(
        fetch(0.3, "a"), fetch(0.1, "b"), fetch(0.2, "c")
    )
    print(results)
# --8<-- [end:gather]
