"""
What ml_dtypes makes of float32 as BF16, as test/fixtures/oip/bf16.json: pairs of the bits of both.

    python3 -m venv .venv && .venv/bin/pip install ml_dtypes
    .venv/bin/python test/oip/python/bf16.py
"""

import json
from pathlib import Path

import ml_dtypes
import numpy as np

EDGES = [
    0x00000000,
    0x80000000,
    0x3F800000,
    0x3F808000,
    0x3F818000,
    0x3F807FFF,
    0x3F808001,
    0xBF808000,
    0x7F7FFFFF,
    0x7F7F7FFF,
    0xFF7F8000,
    0x7F800000,
    0xFF800000,
    0x00000001,
    0x00008000,
    0x00008001,
    0x807FFFFF,
    0x7FC00000,
]
words = np.concatenate([np.array(EDGES, np.uint32), np.random.default_rng(7).integers(0, 0x7F800000, 200, np.uint32)])
halves = words.view(np.float32).astype(ml_dtypes.bfloat16).view(np.uint16)
path = Path(__file__).resolve().parents[2] / "fixtures/oip/bf16.json"
path.write_text(json.dumps({"float32": words.tolist(), "bf16": halves.tolist()}) + "\n")
