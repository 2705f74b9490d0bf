"""Names of Java assignors, and the places of their jars and of Kafka; these tests need no Kafka."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from assignment_api import ConfigError
from assignment_api.plugins import PluginLoadError
from assignment_api.plugins.selection import config_sources
from assignor_lab.runtime.discovery import discovered
from assignor_lab.runtime.java.class_path import jars_in, jars_of_version
from assignor_lab.runtime.java.naming import JavaName, java_name
from assignor_lab.runtime.java.settings import JavaSettings

CLIENTS = "org/apache/kafka/common/TopicPartition.class"


def jar(path: Path, **content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {"META-INF/MANIFEST.MF": "", **content}.items():
            archive.writestr(name, text)
    return path


def kafka_jar(path: Path, version: str) -> Path:
    """A jar with the name of a class of Kafka, but without Kafka."""
    return jar(path, **{CLIENTS: "", "kafka/kafka-version.properties": f"version={version}\n"})


def refusal(selector: str, *overrides: str, start: Path) -> str:
    config = config_sources(None, overrides, environ={}, start=start).effective()
    plugins = discovered(config, installed=())
    with pytest.raises(PluginLoadError) as raised:
        plugins.registry.task_assignor(selector, may_run_code=True)
    return str(raised.value)


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "class_name", "jars", "kafka"),
    [
        ("java:com.example.Mine", "com.example.Mine", "", ""),
        ("java:com.example.Mine@my.jar:lib/*", "com.example.Mine", "my.jar:lib/*", ""),
        ("java:com.example.Mine$Inner@my.jar@4.3.1", "com.example.Mine$Inner", "my.jar", "4.3.1"),
        ("java:Mine@@kafka/*", "Mine", "", "kafka/*"),
    ],
)
def test_a_name_has_a_class_its_jars_and_its_kafka(text: str, class_name: str, jars: str, kafka: str) -> None:
    assert java_name(text) == JavaName(text, class_name, jars, kafka)


def test_module_and_attribute_are_no_java() -> None:
    assert java_name("my_package.assignors:Mine") is None


@pytest.mark.parametrize("text", ["java:", "java:lib/my.jar", "java:com..Mine@my.jar", "java:com.1st", "java:a b@c"])
def test_what_is_no_class_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(PluginLoadError, match="expected java:CLASS@JARS, such as java:com"):
        java_name(text)


def test_what_the_policy_blocks_is_not_loaded(tmp_path: Path) -> None:
    given = "java:com.example.Mine@missing.jar"
    said = refusal(given, "assignor.plugins.block=com.example.Mine", start=tmp_path)
    assert said.endswith("may not be loaded: blocked by assignor.plugins.block: com.example.Mine")


def test_a_file_that_was_merely_found_may_not_name_it(tmp_path: Path) -> None:
    registry = discovered(config_sources(environ={}, start=tmp_path).effective(), installed=()).registry
    with pytest.raises(Exception, match="only the command line"):
        registry.task_assignor("java:com.example.Mine@my.jar")


def test_it_is_for_no_connect_and_no_streams_group(tmp_path: Path) -> None:
    registry = discovered(config_sources(environ={}, start=tmp_path).effective(), installed=()).registry
    for select in (registry.connect_assignor, registry.group_assignor):
        with pytest.raises(PluginLoadError, match="Java assignors are for Streams applications"):
            select("java:com.example.Mine@my.jar", may_run_code=True)


# --- jars -----------------------------------------------------------------------------------------


def test_a_class_path_has_jars_folders_and_all_jars_of_a_folder(tmp_path: Path) -> None:
    for name in ("lib/b.jar", "lib/a.jar", "my.jar"):
        jar(tmp_path / name)
    (tmp_path / "classes").mkdir()
    found = jars_in(f"{tmp_path}/my.jar:{tmp_path}/classes:{tmp_path}/lib/*", "assignor x")
    assert [Path(each).name for each in found] == ["my.jar", "classes", "a.jar", "b.jar"]


def test_a_jar_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PluginLoadError, match=r"assignor x: there is no .*/no\.jar, which its class path names: give"):
        jars_in(str(tmp_path / "no.jar"), "assignor x")


def test_a_file_that_is_no_jar_is_named(tmp_path: Path) -> None:
    (tmp_path / "my.jar").write_text("nothing of a jar")
    with pytest.raises(PluginLoadError, match=r"my\.jar, which its class path names, is no jar"):
        jars_in(str(tmp_path / "my.jar"), "assignor x")


def test_an_empty_folder_of_jars_is_named(tmp_path: Path) -> None:
    with pytest.raises(PluginLoadError, match="there is no jar in"):
        jars_in(f"{tmp_path}/*", "assignor x")


# --- Kafka ----------------------------------------------------------------------------------------


def test_without_a_kafka_there_is_none_of_ours(tmp_path: Path) -> None:
    mine = jar(tmp_path / "my.jar")
    said = refusal(f"java:com.example.Mine@{mine}", start=tmp_path)
    assert said.startswith(
        "assignor java:com.example.Mine: no Kafka is named to run it with: give the application's own"
    )
    assert "assignor.java.kafka=4.3.1" in said


def test_an_applications_jar_may_bring_it_along(tmp_path: Path) -> None:
    jars = (str(kafka_jar(tmp_path / "app.jar", "4.0.0")),)
    assert JavaSettings().kafka_for("", jars, "assignor x") == jars


def test_the_kafka_of_the_name_goes_before_the_configured_one(tmp_path: Path) -> None:
    own, configured = kafka_jar(tmp_path / "own.jar", "4.0.0"), kafka_jar(tmp_path / "other.jar", "3.8.0")
    settings = JavaSettings(kafka=str(configured))
    assert settings.kafka_for(str(own), (), "assignor x") == (str(own),)
    assert settings.kafka_for("", (str(own),), "assignor x") == (str(configured),)


def test_a_class_path_without_kafka_is_told(tmp_path: Path) -> None:
    with pytest.raises(PluginLoadError, match=r"Kafka is not among the jars .*: add kafka-clients"):
        JavaSettings(kafka=str(jar(tmp_path / "kafka-clients.jar"))).kafka_for("", (), "assignor x")


def test_a_version_comes_from_the_local_repository_with_what_it_needs(tmp_path: Path) -> None:
    base = tmp_path / "org" / "apache" / "kafka"
    jar(base / "kafka-streams" / "4.1.0" / "kafka-streams-4.1.0.jar")
    jar(base / "kafka-clients" / "4.1.0" / "kafka-clients-4.1.0.jar")
    jar(tmp_path / "org" / "slf4j" / "slf4j-api" / "1.7.36" / "slf4j-api-1.7.36.jar")
    jar(tmp_path / "junit" / "junit" / "4" / "junit-4.jar")
    (base / "kafka-streams" / "4.1.0" / "kafka-streams-4.1.0.pom").write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><dependencies>'
        + dependency("org.slf4j", "slf4j-api", "1.7.36", "runtime")
        + dependency("org.rocksdb", "rocksdbjni", "9", "compile")
        + dependency("junit", "junit", "4", "test")
        + "</dependencies></project>"
    )
    found = jars_of_version("4.1.0", tmp_path, "assignor x")
    assert [Path(each).name for each in found] == [
        "kafka-clients-4.1.0.jar",
        "kafka-streams-4.1.0.jar",
        "slf4j-api-1.7.36.jar",
    ]


def dependency(group: str, artifact: str, version: str, scope: str) -> str:
    parts = {"groupId": group, "artifactId": artifact, "version": version, "scope": scope}
    return "<dependency>" + "".join(f"<{name}>{text}</{name}>" for name, text in parts.items()) + "</dependency>"


def test_a_version_that_the_repository_lacks_is_told_with_what_brings_it(tmp_path: Path) -> None:
    said = refusal("java:com.example.Mine@@4.0.1", f"assignor.java.repository={tmp_path}", start=tmp_path)
    assert "Kafka 4.0.1 is not in the Maven repository" in said
    assert "mvn dependency:get -Dartifact=org.apache.kafka:kafka-streams:4.0.1" in said


@pytest.mark.slow
def test_a_kafka_before_kip_924_is_told(tmp_path: Path) -> None:
    kafka = kafka_jar(tmp_path / "kafka-streams-3.7.2.jar", "3.7.2")
    said = refusal(f"java:com.example.Mine@@{kafka}", start=tmp_path)
    assert said == (
        "assignor java:com.example.Mine: Kafka 3.7.2 has no TaskAssignor of KIP-924, which came with Kafka 3.8: name "
        "3.8 or later (assignor.java.kafka), with kafka-streams"
    )


# --- Java -----------------------------------------------------------------------------------------


def test_a_java_that_is_not_there_is_told(tmp_path: Path) -> None:
    kafka = kafka_jar(tmp_path / "kafka.jar", "4.0.0")
    said = refusal(f"java:com.example.Mine@@{kafka}", f"assignor.java.home={tmp_path}", start=tmp_path)
    assert f"no Java was found in {tmp_path}: install a Java 11 or later" in said


@pytest.mark.slow
def test_a_program_that_is_no_java_is_told(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 7\n")
    program.chmod(0o755)
    kafka = kafka_jar(tmp_path / "kafka.jar", "4.0.0")
    said = refusal(f"java:com.example.Mine@@{kafka}", f"assignor.java.home={tmp_path}", start=tmp_path)
    assert f"{program} did not start (assignor java:com.example.Mine ended its JVM (exit code 7))" in said
    assert "it has to be a Java 11 or later" in said


def test_a_setting_that_is_none_is_told(tmp_path: Path) -> None:
    config = config_sources(None, ["assignor.java.kafak=4.3.1"], environ={}, start=tmp_path).effective()
    with pytest.raises(ConfigError, match=r"assignor\.java\.kafak .* is no setting of Java assignors: those are"):
        discovered(config, installed=())


def test_a_file_that_merely_lies_there_may_not_say_which_code_is_run(tmp_path: Path) -> None:
    (tmp_path / "assignor.toml").write_text(f'"assignor.java.home" = "{tmp_path}"\n')
    kafka = kafka_jar(tmp_path / "kafka.jar", "4.0.0")
    said = refusal(f"java:com.example.Mine@@{kafka}", start=tmp_path)
    assert "assignor.java.home (" in said
    assert said.endswith(
        "selects code to run, which only the environment, the command line (-c) or an explicit --config file may do"
    )
