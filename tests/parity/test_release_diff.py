"""Bytecode of two versions: equal whatever compilers and moved packages change, different where a rule differs."""

from __future__ import annotations

import pytest

from parity.release_diff.bytecode import ClassShape, changed_methods, is_recompiled, methods_in

OLD = """Compiled from "Quota.java"
final class org.apache.kafka.streams.Quota {
  boolean hasRoom(org.apache.kafka.common.utils.ProcessId, int);
    Code:
       0: ldc           #7                  // String tasks
       2: invokestatic  #9                  // Method org/apache/kafka/common/utils/Logs.debug:(Ljava/lang/String;)V
       5: iload_2
       6: iconst_3
       7: if_icmpge     12
      10: iconst_1
      11: ireturn
      12: iconst_0
      13: ireturn

  private static void lambda$add$3(int);
    Code:
       0: return
}
"""
#: In another package, with other numbers of constants, a wider constant, and another number of the lambda.
MOVED = (
    OLD.replace("ldc           #7", "ldc_w         #312")
    .replace("#9 ", "#41")
    .replace("common/utils/Logs", "common/utils/internals/Logs")
    .replace("common.utils.ProcessId", "streams.processor.ProcessId")
    .replace("lambda$add$3", "lambda$add$7")
    .replace("       2: invokestatic", "       3: invokestatic")
    .replace("       5: iload_2", "       6: iload_2")
    .replace("       6: iconst_3", "       7: iconst_3")
    .replace("       7: if_icmpge     12", "       8: if_icmpge     13")
    .replace("      10: iconst_1", "      11: iconst_1")
    .replace("      11: ireturn", "      12: ireturn", 1)
    .replace("      12: iconst_0", "      13: iconst_0")
    .replace("      13: ireturn\n\n", "      14: ireturn\n\n")
)
OTHER_RULE = OLD.replace("iconst_3", "iconst_4")
OTHER_JUMP = OLD.replace("if_icmpge     12", "if_icmpgt     12")


def shape(text: str, java: int = 61) -> ClassShape:
    (methods,) = methods_in(text).values()
    return ClassShape(methods, java)


def test_a_moved_package_is_no_change() -> None:
    assert changed_methods(shape(OLD), shape(MOVED)) == []


@pytest.mark.parametrize("text", [OTHER_RULE, OTHER_JUMP])
def test_another_number_or_comparison_is_one(text: str) -> None:
    assert changed_methods(shape(OLD), shape(text)) == ["boolean hasRoom(ProcessId, int)"]


def test_a_class_that_comes_or_goes_is_named() -> None:
    assert changed_methods(None, shape(OLD)) == ["(new class)"]
    assert changed_methods(shape(OLD), None) == ["(gone)"]
    assert changed_methods(None, None) == []


def test_for_another_version_of_java_calls_and_divisions_are_compared() -> None:
    divides = OLD.replace("       6: iconst_3", "       6: idiv")
    assert changed_methods(shape(OLD, 52), shape(OLD, 55)) == []
    assert changed_methods(shape(OLD, 52), shape(divides, 55)) == ["(calls, fields or texts)"]


#: A private method of the outer class, called by an inner one: through an accessor up to Java 10.
CALLED_DIRECTLY = """Compiled from "Quota.java"
final class org.apache.kafka.streams.Quota$State {
  void take();
    Code:
       0: invokevirtual #9                  // Method org/apache/kafka/streams/Quota.hasRoom:(I)Z
       3: return
}
"""
CALLED_BY_ACCESSOR = CALLED_DIRECTLY.replace(
    "invokevirtual #9                  // Method org/apache/kafka/streams/Quota.hasRoom:(I)Z",
    "invokestatic  #9                  // Method org/apache/kafka/streams/Quota.access$000:(I)Z",
)
ACCESSOR = """Compiled from "Quota.java"
final class org.apache.kafka.streams.Quota {
  static boolean access$000(int);
    Code:
       0: invokevirtual #9                  // Method hasRoom:(I)Z
       3: ireturn
}
"""


def test_private_members_of_inner_classes_are_reached_in_other_ways_by_a_newer_java() -> None:
    older = [shape(ACCESSOR, 52), shape(CALLED_BY_ACCESSOR, 52)]
    assert is_recompiled(older, [shape(CALLED_DIRECTLY, 55)])
    assert not is_recompiled(older, [shape(CALLED_DIRECTLY, 52)])
    assert not is_recompiled(older, [shape(CALLED_DIRECTLY.replace("hasRoom", "hasQuota"), 55)])
