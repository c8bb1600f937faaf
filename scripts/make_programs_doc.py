#!/usr/bin/env python3
"""Writes docs/internals/programs.md: the programs of tests/trace/programs beside those of TensorFlow.

usage: .venv/bin/python scripts/make_programs_doc.py [BINARY]      from the repository's root
"""
import os
import pathlib
import sys

if len(sys.argv) > 1:
    os.environ["GRAPNEL"] = sys.argv[1]
sys.path.insert(0, "tests/python")
import programs_test  # noqa: E402: after the path and the binary are known

pathlib.Path(programs_test.DOC).write_text(programs_test.document(programs_test.all_compared()))
