"""Our answers beside those of the released kafka-streams classes: `make parity`.

``java/`` holds a small driver that lets the released classes answer scenarios; ``official`` talks to it, and the
benchmarks do so too. The other modules draw scenarios and compare rows.
"""
