#!/usr/bin/env python3
"""Writes the bill of materials of a release, as SPDX 2.3 in JSON: each released package, and its contents.

usage: sbom.py OUT_FOLDER      reads the packages in OUT_FOLDER, writes OUT_FOLDER/grapnel-VERSION.spdx.json and SHA256SUMS

The contents are read from the packages themselves: from their license files, which are named after Debian packages, and in the
root of a container from dpkg's own list.
"""

import datetime
import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import uuid
import zipfile

from built_with import about
from package import PYPI, made_at

LICENSES = re.compile(r"(^|/)licenses/([a-z0-9][a-z0-9+._-]+)\.txt$")
# Short names in Debian's machine-readable copyright files that differ from SPDX's.
SPDX_NAMES = {
    "Expat": "MIT", "expat": "MIT", "BSD-2-clause": "BSD-2-Clause", "BSD-3-clause": "BSD-3-Clause", "BSD-4-clause": "BSD-4-Clause",
    "BSD-2-Clause": "BSD-2-Clause", "BSD-3-Clause": "BSD-3-Clause", "Apache-2.0": "Apache-2.0", "Apache-2": "Apache-2.0",
    "MPL-2.0": "MPL-2.0", "MPL-2": "MPL-2.0", "MIT": "MIT", "ISC": "ISC", "Zlib": "Zlib", "zlib": "Zlib", "BSL-1.0": "BSL-1.0",
    "GPL-2": "GPL-2.0-only", "GPL-2+": "GPL-2.0-or-later", "GPL-3": "GPL-3.0-only", "GPL-3+": "GPL-3.0-or-later",
    "LGPL-2": "LGPL-2.0-only", "LGPL-2+": "LGPL-2.0-or-later", "LGPL-2.1": "LGPL-2.1-only", "LGPL-2.1+": "LGPL-2.1-or-later",
    "LGPL-3": "LGPL-3.0-only", "LGPL-3+": "LGPL-3.0-or-later", "EPL-1.0": "EPL-1.0", "EPL-2.0": "EPL-2.0", "Unlicense": "Unlicense",
    "CC0-1.0": "CC0-1.0",
}


def spdx_id(*words):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", "-".join(words))


def version_of(file):
    return re.search(r"[-_](\d+\.\d+(?:\.\d+)?)", file.name)[1]


def status_entries(text):
    """{package: (version, source)} of a dpkg status file."""
    found = {}
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and line[0] != " ")
        if "installed" in fields.get("Status", ""):
            found[fields["Package"]] = (fields["Version"], fields.get("Source", fields["Package"]).split(" ")[0])
    return found


def names_within(file):
    """Names of all files in a package, and a function that reads one."""
    if file.suffix == ".whl":
        archive = zipfile.ZipFile(file)
        return archive.namelist(), lambda name: archive.read(name).decode()
    if file.suffix == ".deb":
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(file)], capture_output=True, check=True).stdout
        archive = tarfile.open(fileobj=io.BytesIO(data))
    else:
        archive = tarfile.open(file)
    return archive.getnames(), lambda name: archive.extractfile(name).read().decode()


def inside(file):
    """{package: (version, source package)} of the components of a released package, except grapnel. PyPI's have no source."""
    names, read = names_within(file)
    status = [name for name in names if name.endswith("var/lib/dpkg/status")]
    if status:
        found = status_entries(read(status[0]))
    else:
        packages = {match[2] for match in map(LICENSES.search, names) if match}
        others = {name for name in packages if name.startswith(PYPI)}
        found = {name: (version, source) for name, (version, source, _) in about(packages - others).items()}
        for name in others:
            found[name.removeprefix(PYPI).partition("_")[0]] = (name.partition("_")[2], None)
    return {name: entry for name, entry in found.items() if name not in ("grapnel", "libgrapnel-dev")}


def license(package):
    """The license that a machine-readable copyright file declares for all files, as an SPDX identifier if there is one."""
    path = pathlib.Path("/usr/share/doc") / package / "copyright"
    if not path.exists():
        return "NOASSERTION"
    for block in path.read_text(errors="replace").split("\n\n"):
        if re.search(r"^Files: \*\s*$", block, re.M) and (said := re.search(r"^License: (\S+)\s*$", block, re.M)):
            return SPDX_NAMES.get(said[1], "NOASSERTION")
    return "NOASSERTION"


def describe(name, version, source):
    if source is None:
        return describe_pypi(name, version)
    return {
        "SPDXID": spdx_id("Debian", name, version), "name": name, "versionInfo": version, "supplier": "Organization: Debian",
        "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": license(name),
        "copyrightText": "NOASSERTION", "sourceInfo": f"built by Debian from its source package {source}",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:deb/debian/{name}@{version.replace(':', '%3A').replace('+', '%2B')}?arch=amd64"}],
    }


def describe_pypi(name, version):
    return {
        "SPDXID": spdx_id("PyPI", name, version), "name": name, "versionInfo": version, "supplier": "NOASSERTION",
        "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION", "sourceInfo": "built from its source package on PyPI",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": f"pkg:pypi/{name}@{version}"}],
    }


def hand_out(file):
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return {
        "SPDXID": spdx_id("Package", file.name), "name": file.name.split("_")[0].split("-")[0], "versionInfo": version_of(file),
        "packageFileName": file.name, "supplier": "Organization: The grapnel developers", "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION",
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
    }


def write(out):
    files = sorted(file for file in out.iterdir() if file.suffix in (".whl", ".deb") or file.name.endswith(".tar.gz"))
    if not files:
        sys.exit(f"sbom: {out}: no packages")
    packages, relations, known = [], [], {}
    for file in files:
        made = hand_out(file)
        packages.append(made)
        relations.append({"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": made["SPDXID"]})
        for name, (version, source) in sorted(inside(file).items()):
            part = known.setdefault((name, version), describe(name, version, source))
            relations.append({"spdxElementId": made["SPDXID"], "relationshipType": "CONTAINS", "relatedSpdxElement": part["SPDXID"]})
    version = version_of(files[0])
    sums = "".join(f"{package['checksums'][0]['checksumValue']}  {package['packageFileName']}\n" for package in packages)
    when = datetime.datetime.fromtimestamp(made_at(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"grapnel-{version}",
        "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, sums)}",
        "creationInfo": {"created": when, "creators": ["Tool: grapnel-sbom", "Organization: The grapnel developers"]},
        "packages": packages + [known[key] for key in sorted(known)], "relationships": relations,
    }
    (out / f"grapnel-{version}.spdx.json").write_text(json.dumps(document, indent=1) + "\n")
    (out / "SHA256SUMS").write_text(sums)
    print(f"{out}/grapnel-{version}.spdx.json: {len(files)} packages, {len(known)} of others inside")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(pathlib.Path(sys.argv[1]))
