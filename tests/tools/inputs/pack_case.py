"""Packs a case folder into a zip file, as tools/capture.py does.

usage: pack_case.py FOLDER ARCHIVE [--deflated] [--but FILE]
"""
import argparse
import os
import shutil
import sys
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tools"))
import case_archive

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("archive")
parser.add_argument("--deflated", action="store_true")
parser.add_argument("--but")
args = parser.parse_args()
with tempfile.TemporaryDirectory() as parent:
    folder = os.path.join(parent, "case")
    shutil.copytree(args.folder, folder, ignore=lambda _, names: {args.but} & set(names))
    if args.deflated:
        with zipfile.ZipFile(args.archive, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in sorted(os.listdir(folder)):
                archive.write(os.path.join(folder, name), name)
    else:
        case_archive.pack(folder, args.archive)
