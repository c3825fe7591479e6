"""The lines of `assay doctor` about container engines."""

from __future__ import annotations

from assay.containers.container import Container, ContainerSpec
from assay.containers.engine import ENGINES, Engine, try_engine
from assay.containers.settings import find_settings
from assay.errors import AssayError
from assay.sandbox import MIB, Limits

_LIMITS = Limits(wall_time=10.0, memory=64 * MIB, work_size=16 * MIB)


async def describe_engines() -> list[str]:
    """Return what works with every engine: its settings, and how programs are started."""
    lines = []
    for name in ENGINES:
        found = await try_engine(name)
        if isinstance(found, str):
            lines.append(f"{name:<8} no   {found.splitlines()[0]}")
            continue
        lines.append(f"{name:<8} yes  {found.version}, {await _try_to_run(found)}")
    return lines


async def _try_to_run(engine: Engine) -> str:
    listed = await engine.ask(["images", "--quiet", "--no-trunc"])
    images = listed.stdout.split()
    if not images:
        return "has no image to try it with"
    reason = ""
    for image in images[:3]:
        try:
            settings = await find_settings(engine, image)
            container = await Container.start(
                engine, settings, ContainerSpec(image, limits=_LIMITS)
            )
            runtime = container.runtime
            await container.close()
        except AssayError as error:
            reason = reason or error.what.splitlines()[0]
            continue
        how = "the engine's exec" if runtime is None else runtime.program
        return f"runs containers with {settings.differences}; starts programs by {how}"
    return f"cannot run a container: {reason}"
