"""The tests use the programs installed beside this Python, as the agent's box does: another kubectl may be on PATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
