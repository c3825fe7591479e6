from tenacity import (
    AsyncRetrying,
    RetryCallState,
    Retrying,
    stop_after_attempt,
    wait_exponential,
)


# --8<-- [start:async_main]
async def main():
    calls = 0
    async for attempt in AsyncRetrying(stop=stop_after_attempt(3), reraise=True):
        with attempt:
            calls += 1
            if calls < 3:
                raise OSError("not yet")
    return calls
# --8<-- [end:async_main]


# --8<-- [start:schedule]
def schedule():
    wait = wait_exponential(multiplier=1, min=4, max=10)
    state = RetryCallState(Retrying(), fn=None, args=(), kwargs={})
    delays = []
    for number in range(1, 6):
        state.attempt_number = number
        delays.append(int(wait(state)))
    return delays
# --8<-- [end:schedule]
