"""The lab's answers beside those of the released kafka-streams classes: `make parity`.

``java/`` holds a small driver through which the released classes answer scenarios; ``official`` calls it, also for the
benchmarks. The other modules draw scenarios and compare rows.
"""
