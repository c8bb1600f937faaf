"""unpacked.py PAGE.html: prints a page, and the documents in it that are compressed."""

import base64
import gzip
import pathlib
import re
import sys


def unpacked(data):
    """The bytes of a file; of a page, also those that it has compressed."""
    packed = re.findall(rb'<script type="application/gzip"[^>]*>([^<]*)</script>', data)
    return b"\n".join([data, *(gzip.decompress(base64.b64decode(one)) for one in packed)])


if __name__ == "__main__":
    sys.stdout.buffer.write(unpacked(pathlib.Path(sys.argv[1]).read_bytes()))
