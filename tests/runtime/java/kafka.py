"""Kafka's jars, and assignors compiled against them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
STICKY = "org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor"
KAFKA_4_3 = ROOT / "build" / "official" / "kafka-4.3" / "lib" / "*"
KAFKA_4_4 = ROOT / "build" / "official" / "kafka-4.4" / "lib" / "*"
KAFKA_3_8 = ROOT / "build" / "java" / "lib" / "*"


def compiled(sources: list[Path], folder: Path, kafka: Path = KAFKA_4_3) -> Path:
    classes, jar = folder / "classes", folder / f"{sources[0].stem.lower()}.jar"
    program = Path(os.environ["JAVA_HOME"]) / "bin" if os.environ.get("JAVA_HOME") else Path()
    javac = [str(program / "javac"), "--release", "11", "-nowarn", "-proc:none", "-cp", str(kafka), "-d", str(classes)]
    subprocess.run([*javac, *map(str, sources)], check=True, capture_output=True, text=True)
    subprocess.run([str(program / "jar"), "cf", str(jar), "-C", str(classes), "."], check=True)
    return jar
