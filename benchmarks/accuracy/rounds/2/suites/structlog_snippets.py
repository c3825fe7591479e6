import logging

import structlog
from structlog.testing import capture_logs


# --8<-- [start:capture]
def entries():
    log = structlog.get_logger().bind(user="ann")
    with capture_logs() as captured:
        log.warning("login")
    return captured
# --8<-- [end:capture]


# --8<-- [start:filtering]
def configure():
    structlog.configure(
        processors=[structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.ReturnLoggerFactory(),
    )
    log = structlog.get_logger()
    return log.info("a"), log.warning("b")
# --8<-- [end:filtering]
