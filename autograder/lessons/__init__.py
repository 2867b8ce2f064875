"""The format in which lessons and exercises are written."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
