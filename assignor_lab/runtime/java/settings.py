"""Settings of Java assignors, ``assignor.java.*``: the user's Kafka and Java, and further keys for ``configure``."""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from assignment_api import ConfigError
from assignment_api.plugins import PluginLoadError
from assignment_api.plugins.layers import Layer
from assignment_api.plugins.selection import EffectiveConfig
from assignor_lab.runtime.java.class_path import has_kafka, is_version, jars_in, jars_of_version

__all__ = ["CONFIG", "HOME", "KAFKA", "REPOSITORY", "JavaSettings", "java_configs"]

#: Kafka's version in the local Maven repository, or its class path.
KAFKA = "assignor.java.kafka"
#: A Java other than that of JAVA_HOME and PATH.
HOME = "assignor.java.home"
#: The local Maven repository, if not in its usual place.
REPOSITORY = "assignor.java.repository"
#: Prefix of further keys for ``configure``, which do not concern assignment.
CONFIG = "assignor.java.config."
_PREFIX = "assignor.java."
#: Keys that no client of Kafka has: our own, and the one for Kafka's internal assignors.
_NOT_THEIRS = ("assignor.", "internal.task.assignor.class")
#: Layers with values that a user gave on purpose; a file that was only found is not among them.
_NAMED_ON_PURPOSE = (Layer.ENVIRONMENT, Layer.FILE, Layer.COMMAND_LINE)
_KAFKA_VARIABLE, _HOME_VARIABLE = "ASSIGNOR__JAVA__KAFKA", "ASSIGNOR__JAVA__HOME"
_INSTALL = (
    "install a Java 11 or later (Debian and Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install "
    f"openjdk@17), or name its folder ({HOME}, or JAVA_HOME)"
)


@attrs.frozen
class JavaSettings:
    """Settings of Java assignors.

    Args:
        kafka: Kafka's version or class path; empty: each assignor has to name it.
        repository: Local Maven repository; empty: the usual one.
        refused: A setting that selects code and comes from an untrusted layer; ``None``: none.
    """

    kafka: str = ""
    home: str = ""
    repository: str = ""
    configs: Mapping[str, str] = attrs.field(factory=dict)
    refused: str | None = None

    @classmethod
    def of(cls, config: EffectiveConfig) -> JavaSettings:
        """The settings in ``config``.

        Raises:
            ConfigError: if one of them is invalid.
        """
        given: dict[str, str] = {}
        refused = None
        for key, held in config.items():
            if not key.startswith(_PREFIX):
                continue
            if key not in (KAFKA, HOME, REPOSITORY) and not key.startswith(CONFIG):
                raise ConfigError(
                    f"{key} ({held.origin}) is no setting of Java assignors: those are {KAFKA}, {HOME}, {REPOSITORY} "
                    f"and {CONFIG}KEY"
                )
            if isinstance(held.value, (list, tuple, dict)):
                raise ConfigError(f"Invalid value {held.value} for configuration {key}: expected a text")
            if not key.startswith(CONFIG) and held.origin.layer not in _NAMED_ON_PURPOSE:
                refused = f"{key} ({held.origin})"
                continue
            given[key] = str(held.value).strip()
        configs = {key.removeprefix(CONFIG): value for key, value in given.items() if key.startswith(CONFIG)}
        return cls(given.get(KAFKA, ""), given.get(HOME, ""), given.get(REPOSITORY, ""), configs, refused)

    @classmethod
    def of_environment(cls, kafka: str, configs: Mapping[str, str]) -> JavaSettings:
        """Settings of an assignor in a plugin's process, from the passed-on variables of the user."""
        return cls(os.environ.get(_KAFKA_VARIABLE) or kafka, os.environ.get(_HOME_VARIABLE, ""), "", configs)

    def program(self, subject: str) -> str:
        """The program ``java``.

        Raises:
            PluginLoadError: if there is none.
        """
        if self.refused is not None:
            raise PluginLoadError(
                f"{subject}: {self.refused} selects code to run, which only the environment, the command line (-c) "
                "or an explicit --config file may do"
            )
        home = self.home or os.environ.get("JAVA_HOME", "")
        found = shutil.which(str(Path(home).expanduser() / "bin" / "java")) if home else shutil.which("java")
        if found is None:
            where = f"in {home}" if home else "on the PATH"
            raise PluginLoadError(f"{subject}: no Java was found {where}: {_INSTALL}")
        return str(Path(found).absolute())

    def kafka_for(self, own: str, jars: tuple[str, ...], subject: str) -> tuple[str, ...]:
        """Kafka's jars for an assignor: its own Kafka, or the configured one, or the one among its jars.

        Raises:
            PluginLoadError: if there is none.
        """
        named = own or self.kafka
        if not named:
            if has_kafka(jars):
                return jars
            raise PluginLoadError(
                f"{subject}: no Kafka is named to run it with: give the application's own, as jars in its class path "
                f"(@my.jar:lib/*), as a version that the local Maven repository has ({KAFKA}=4.3.1, or @my.jar@4.3.1), "
                f"or as a class path ({KAFKA}=lib/*)"
            )
        if is_version(named):
            # A plugin's process has another home than its user.
            user = Path(pwd.getpwuid(os.getuid()).pw_dir)
            folder = Path(self.repository).expanduser() if self.repository else user / ".m2" / "repository"
            return jars_of_version(named, folder.absolute(), subject)
        found = jars_in(named, subject)
        if not has_kafka(found):
            raise PluginLoadError(
                f"{subject}: Kafka is not among the jars of {named!r:.200}: add kafka-clients, and for a task assignor "
                "kafka-streams"
            )
        return found


def java_configs(configs: Mapping[str, Any], further: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The configuration as a ``.properties`` file of Kafka has it, as texts, with further keys."""
    kept = {
        key: _text(value)
        for key, value in configs.items()
        if value is not None and not isinstance(value, Mapping) and not key.startswith(_NOT_THEIRS)
    }
    return {**kept, **dict(further)}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
