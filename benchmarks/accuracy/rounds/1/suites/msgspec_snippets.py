import msgspec


# --8<-- [start:tags]
class Article(msgspec.Struct):
    title: str
    tags: list[str] = []


def demo():
    first = Article("one")
    first.tags.append("news")
    second = Article("two")
    return second.tags
# --8<-- [end:tags]


# --8<-- [start:handler]
class Job(msgspec.Struct):
    id: int
    name: str = "unnamed"


async def handle(body: bytes):
    job = msgspec.json.decode(body, type=Job)
    return job.id
# --8<-- [end:handler]
