import sys

from loguru import logger


# --8<-- [start:stale_handler]
def rotate_handlers():
    logger.remove()
    handler_id = logger.add(sys.stdout, level="INFO")
    logger.remove(handler_id)
    logger.remove(handler_id)
# --8<-- [end:stale_handler]


# --8<-- [start:request_id]
def main():
    logger.remove()
    logger.add(sys.stdout, format="{extra[request_id]} {message}")
    logger.info("hello")
    print("done")
# --8<-- [end:request_id]
