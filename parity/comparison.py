"""Asks both sides, compares rows as the golden data are compared, and keeps what differs."""

from __future__ import annotations

import itertools
import json
import shutil
import time
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.answering import AnswerOptions, answerer
from assignor_lab.scenarios import Place, error_row, scenario_from_document, write_lines
from parity.cases import KINDS, Case, draw_case, kind_of, next_round
from parity.official import OfficialKafka, OfficialKafkaSilentError
