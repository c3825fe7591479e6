"""Environments: how a submission is set up and started, and with which variables."""

from assay.submissions.environments.file import (
    DEFAULT,
    ENVIRONMENTS,
    EnvironmentFile,
    EnvironmentType,
    find_environment,
    load_environment,
)
from assay.submissions.environments.preparing import PreparedSubmission, prepare


async def pull_environment(environment: EnvironmentFile) -> tuple[str, str]:
    """Get the image of an environment: pulled, loaded or built. Return its engine and identifier.

    Raises InputError for an environment that has no image.
    """
    from assay.errors import InputError
    from assay.submissions.environments.containers import choose_engine, find_environment_image

    if not find_environment(environment.type).is_container:
        raise InputError(
            f"the environment {environment.name!r} is of type {environment.type} and has no image",
            advice="nothing has to be pulled for it",
        )
    engine = await choose_engine(environment)
    return engine.name, await find_environment_image(engine, environment, pulls=True)


__all__ = [
    "DEFAULT",
    "ENVIRONMENTS",
    "EnvironmentFile",
    "EnvironmentType",
    "PreparedSubmission",
    "find_environment",
    "load_environment",
    "prepare",
    "pull_environment",
]
