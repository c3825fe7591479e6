"""Submissions in containers: the image of an environment, its set-up layer, and its programs."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from assay.containers import (
    Container,
    ContainerPrograms,
    ContainerSpec,
    Engine,
    EngineSettings,
    User,
    build_image,
    commit_layer,
    find_engine,
    find_image,
    find_settings,
    layer_tag,
    load_image,
    pull_image,
    require_image,
    run_in_container,
    serve_in_container,
    sweep,
)
from assay.errors import InfrastructureError, InputError
from assay.model import compute_fingerprint
from assay.sandbox import (
    Base,
    Bind,
    Health,
    Limits,
    Server,
    copy_tree,
    hand_over_folder,
    new_base,
    run_to_end,
)
from assay.submissions.assets import bind_assets
from assay.submissions.config import CheckpointConfig, ProblemConfig
from assay.submissions.environments.file import (
    EnvironmentFile,
    find_environment,
    program_variables,
    setup_variables,
)
from assay.submissions.environments.preparing import (
    DEFAULT_TIMEOUT,
    SETUP_LIMITS,
    PreparedSubmission,
    Progress,
    copy_to_base,
    describe_environment,
    describe_failure,
)
from assay.submissions.protocols import SetUpFailedError

_LIFETIME = 24 * 3600.0
_ORDERS = {"docker": ("docker", "podman"), "podman": ("podman", "docker")}


@dataclass(frozen=True)
class Equipment:
    """An engine that works here, the image of an environment, and how it is run."""

    engine: Engine
    image: str
    settings: EngineSettings


@dataclass(frozen=True)
class ContainerHost:
    """Programs and servers in containers of one kind."""

    equipment: Equipment
    spec: ContainerSpec
    base: Path
    reuse: bool

    @property
    def limits(self) -> Limits:
        return self.spec.limits

    def open_programs(self, *, keeps: bool = False, reuse: bool = True) -> ContainerPrograms:
        kit = self.equipment
        return ContainerPrograms(
            kit.engine, kit.settings, self.spec, self.base, reuse=reuse and self.reuse, keeps=keeps
        )

    def choose_port(self, port: int) -> int:
        return port

    def serve(
        self,
        command: Sequence[str],
        *,
        port: int,
        health: Health,
        patience: float,
        environment: Mapping[str, str],
    ) -> AbstractAsyncContextManager[Server]:
        kit = self.equipment
        spec = replace(self.spec, limits=replace(self.limits, wall_time=_LIFETIME))
        return serve_in_container(
            kit.engine, kit.settings, spec, self.base, command,
            port=port, health=health, patience=patience, environment=environment,
        )  # fmt: skip


def check_environment(environment: EnvironmentFile) -> None:
    """Raise InfrastructureError if the engine or the image is not there."""
    run_to_end(_check(environment))


async def _check(environment: EnvironmentFile) -> None:
    engine = await choose_engine(environment)
    if environment.container.image is not None:
        await require_image(engine, environment.container.image, _file(environment))


async def choose_engine(environment: EnvironmentFile) -> Engine:
    """Return the engine of an environment: the one it names, or the first that works."""
    return await find_engine(environment.container.engine, _ORDERS[environment.type])


def _file(environment: EnvironmentFile) -> str:
    return environment.path or "FILE"


async def find_environment_image(
    engine: Engine, environment: EnvironmentFile, *, pulls: bool = False
) -> str:
    """Return the identifier of the image of an environment: by name, from an archive, or built."""
    about, folder = environment.container, environment.folder
    if about.archive is not None:
        return await load_image(engine, folder / about.archive)
    written = about.containerfile or about.dockerfile
    if written is not None:
        network = about.setup_network if environment.setup_network else "none"
        return await build_image(engine, folder / written, folder / about.context, network=network)
    assert about.image is not None
    if pulls and await find_image(engine, about.image) is None:
        return await pull_image(engine, about.image)
    return await require_image(engine, about.image, _file(environment))


@asynccontextmanager
async def prepare_in_containers(
    submission: Path,
    environment: EnvironmentFile,
    problem: ProblemConfig,
    checkpoint: CheckpointConfig,
    *,
    limits: Limits,
    progress: Progress | None = None,
) -> AsyncIterator[PreparedSubmission]:
    """Copy a submission and run its set-up in a container, once for the same content."""
    engine = await choose_engine(environment)
    await sweep(engine)
    image = await find_environment_image(engine, environment)
    kit = Equipment(engine, image, await find_settings(engine, image))
    type_, about = find_environment(environment.type), environment.container
    with new_base("namespaces") as made:
        user = await _find_user(kit, about.user)
        base = Base(made.path, user.user)
        snapshot = environment.snapshot
        content = copy_to_base(submission, base, snapshot.ignore_globs, snapshot.keep_globs)
        assets = bind_assets(problem, base, "namespaces")
        spec = ContainerSpec(
            image=image, work=about.workdir, user=user, limits=_limits(environment, limits),
            cpus=about.limits.cpus, network=about.network or "none",
            binds=(*_mounts(environment), *assets.values()), options=_options(environment),
        )  # fmt: skip
        if commands := type_.setup_commands(environment, base.path):
            setting_up = _SetUp(kit, spec, environment, problem, checkpoint, base, content)
            layer = await setting_up.find_layer(commands, progress)
            spec = replace(spec, image=layer)
        host = ContainerHost(kit, spec, base.path, about.reuse)
        start = type_.start_command(environment, problem.entry_file, base.path)
        missing = type_.missing_entry(environment, problem.entry_file, base.path)
        async with host.open_programs() as programs:
            await _check_command(programs, start[0], environment)
            yield PreparedSubmission(
                problem, checkpoint, environment, base, host,
                assets={name: bind.inside for name, bind in assets.items()},
                start=tuple(start),
                digest=compute_fingerprint(content, describe_environment(environment), image),
                missing=missing,
                programs=programs,
                default_timeout=about.limits.time or DEFAULT_TIMEOUT,
                own_variables=_own_variables(about.workdir),
            )  # fmt: skip


async def _check_command(
    programs: ContainerPrograms, command: str, environment: EnvironmentFile
) -> None:
    """Raise an InputError if the command of the environment is not in the image."""
    variables = program_variables(environment, os.environ)
    found = await programs.run(
        ["/bin/sh", "-c", 'command -v "$1"', "sh", command], environment=variables
    )
    if found.exit_status != 0:
        raise InputError(
            f"the command {command!r} of the environment {environment.name!r} is not in its image",
            advice="install it in `setup`, or name another under `commands: command:`",
        )


def _own_variables(work: str) -> dict[str, str]:
    return {"HOME": work, "TMPDIR": "/tmp"}  # noqa: S108 - the container's own


def _limits(environment: EnvironmentFile, limits: Limits) -> Limits:
    wanted = environment.container.limits
    named = {"memory": wanted.memory, "processes": wanted.pids, "work_size": wanted.disk}
    return replace(limits, **{name: value for name, value in named.items() if value is not None})


def _mounts(environment: EnvironmentFile) -> list[Bind]:
    about, folder = environment.container, environment.folder
    binds = []
    for name, inside in {**about.extra_mounts, **about.mounts}.items():
        host = folder / Path(name).expanduser()
        if not host.exists():
            raise InputError(f"the mount {name!r} is not there", where=_file(environment))
        binds.append(Bind(str(host.resolve()), inside))
    return binds


def _options(environment: EnvironmentFile) -> tuple[str, ...]:
    found: list[str] = []
    for name, given in environment.container.options.items():
        for value in given if isinstance(given, list) else [given]:
            found += [f"--{name}", value]
    return tuple(found)


async def _find_user(kit: Equipment, name: str | None) -> User:
    """Return the user of programs: nobody, or the one that the environment names."""
    if name is None:
        return User()
    if name.replace(":", "").isdigit():
        user, _, group = name.partition(":")
        return User(int(user), int(group or user))
    answer = await kit.engine.run(
        [*kit.settings.globals, "run", "--rm", "--pull", "never", "--network", "none",
         *kit.settings.ulimits, "--ulimit", "nofile=1024:1024", "--cap-drop", "all",
         "--user", name, "--entrypoint", "/bin/sh", kit.image, "-c", "id -u; id -g"],
        advice="name a user of the image under `user:`, or a number",
    )  # fmt: skip
    numbers = answer.split()
    if len(numbers) != 2:
        raise InfrastructureError(f"the image does not say who its user {name!r} is: {answer!r}")
    return User(int(numbers[0]), int(numbers[1]))


@dataclass(frozen=True)
class _SetUp:
    """The set-up of a submission, kept as an image under a digest of everything it depends on."""

    kit: Equipment
    spec: ContainerSpec
    environment: EnvironmentFile
    problem: ProblemConfig
    checkpoint: CheckpointConfig
    base: Base
    content: str

    async def find_layer(self, commands: list[str], progress: Progress | None) -> str:
        """Return the image with the set-up, made if necessary; the base is its work folder."""
        variables = self._variables()
        about = self.environment.container
        key = compute_fingerprint(
            self.kit.image, self.content, commands, about.workdir, about.user, about.setup_user,
            self.environment.setup_network, variables, self.spec.options,
        )  # fmt: skip
        engine, tag = self.kit.engine, layer_tag(key)
        layer = await find_image(engine, tag)
        if layer is None:
            return await self._make(commands, variables, key, progress)
        spec = replace(self.spec, image=layer, is_fixed=False, binds=())
        container = await Container.start(engine, self.kit.settings, spec)
        try:
            self._take_work(container)
        finally:
            await container.close()
        return layer

    def _variables(self) -> dict[str, str]:
        layers = self.problem.env, self.checkpoint.env
        own = find_environment(self.environment.type).variables(self.environment)
        found = setup_variables(self.environment, os.environ, *layers)
        return {**_own_variables(self.spec.work), **own, **found}

    async def _make(
        self,
        commands: list[str],
        variables: dict[str, str],
        key: str,
        progress: Progress | None,
    ) -> str:
        about, kit = self.environment.container, self.kit
        user = self.spec.user
        if about.setup_user is not None:
            user = await _find_user(kit, about.setup_user)
        network = "none"
        if self.environment.setup_network:
            network = about.setup_network or ("bridge" if not kit.engine.is_podman else "")
        spec = replace(self.spec, user=user, limits=SETUP_LIMITS, network=network, is_fixed=False)
        container = await Container.start(kit.engine, kit.settings, spec)
        try:
            self._fill_work(container, user)
            for command in commands:
                if progress:
                    progress(f"set-up: {command}")
                result = await run_in_container(
                    container, ["/bin/sh", "-c", command], environment=variables
                )
                if result.exit_status != 0 or result.limit:
                    failure = self.environment, self.checkpoint, command, result
                    raise SetUpFailedError(describe_failure(*failure))
            self._take_work(container)
            return await commit_layer(container, key)
        finally:
            await container.close()

    def _fill_work(self, container: Container, user: User) -> None:
        folder = container.places.work
        _empty(Path(f"/proc/self/fd/{folder}"))
        copy_tree(str(self.base.path), f"/proc/self/fd/{folder}")
        hand_over_folder(folder, user.user, is_private=True)

    def _take_work(self, container: Container) -> None:
        """Make the base what set-up has made of the work folder."""
        _empty(self.base.path)
        copy_tree(f"/proc/self/fd/{container.places.work}", str(self.base.path))


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
