"""Counts the instructions of workloads without oneDNN, one thread each, and compares them with instructions.json: a count more than
3 % above fails, with the function that grew most. Counts do not depend on the machine or on its load.

usage: ./x count [--only WORK]... [--bin FOLDER] [--file FILE]
       ./x count --write [--reason TEXT] [--seal]

Exit codes: 0 success, 1 a count rose, 2 a workload failed, 77 skipped: the file was written with another toolchain, which it names.

--write saves the current counts. A lower count is always saved. A higher one, beyond noise, is saved only with a reason, which is
recorded in the file; without one the old count stays. --seal makes the counts in the file the maximum that --write will ever save.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import callgrind
import made_graphs

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = pathlib.Path(__file__).with_name("instructions.json")
LIMIT, NOISE = 1.03, 1.003
OWN, INCLUSIVE = 12, 16  # functions recorded per workload

# name: arguments. Files are made by make_inputs, or are in testdata.
WORKS = {
    "start": ["--version"],
    "info_few": ["info", "few.pb"],
    "opt_blocks": ["opt", "blocks.pb", "-o", "out.pb"],
    "opt_few": ["opt", "few.pb", "-o", "out.pb"],
    "opt_transformer": ["opt", "testdata/models/transformer_block", "-o", "out.pb"],
    "opt_training": ["opt", "testdata/models/train_step", "-o", "out.pb"],
    "opt_functions": ["opt", "testdata/loops/session_functions.pb", "-o", "out.pb"],
    "place": ["place", "requests.pb", "--devices", "cpu:4"],
    "diff_opt": ["diff", "blocks.pb", "optimized.pb"],
    "layout": ["view", "few.pb", "--depth", "2", "-o", "out.json"],
    "query": ["query", "few.pb", "SELECT op, count(*) FROM nodes GROUP BY op"],
    "convert_text": ["convert", "blocks.pb", "-o", "out.pbtxt"],
    "run_small_ops": ["run", "small.pb", "--feed", "x=scalar.npy", "--fetch", "y", "--repeat", "20"],
    "run_loops": ["run", "testdata/loops/session.pb", "--feed", "x=testdata/loops/x.npy", "--fetch", "y", "--repeat", "250"],
    "run_tapped": ["run", "small.pb", "--feed", "x=scalar.npy", "--fetch", "y", "--tap", "*", "--tap-file", "out.jsonl"],
    "trace": ["trace", "TrainStep", "--plugin", "plugins/train_transformer.so", "-o", "out.pb"],
}


def version(command, pattern):
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return "none"
    found = re.search(pattern, said)
    return found[1] if found else "unknown"


def toolchain(build):
    """The toolchain, on which the counts also depend."""
    cache = (build / "CMakeCache.txt").read_text()

    def cached(key):
        found = re.search(rf"^{key}:\w+=(.*)$", cache, re.MULTILINE)
        return found[1] if found else ""

    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return {
        "compiler": version([cached("CMAKE_CXX_COMPILER") or "c++", "--version"], r"((?:clang|gcc|g\+\+)[^\n]*?version [\d.]+|[\d.]+)"),
        "flags": cached("CMAKE_BUILD_TYPE") + " " + cached("GRAPNEL_CPU"),
        "libc": version(["ldd", "--version"], r"(\d+\.\d+)\s*\n"),
        "libstdc++": os.path.basename(os.path.realpath("/usr/lib/x86_64-linux-gnu/libstdc++.so.6")),
        "llvm": version([cached("GRAPNEL_LLVM") + "/bin/llvm-config", "--version"], r"([\d.]+)"),
        "protobuf": version([cached("Protobuf_PROTOC_EXECUTABLE") or "protoc", "--version"], r"([\d.]+)"),
        "valgrind": version(["valgrind", "--version"], r"([\d.]+)"),
        # The CPU that valgrind emulates depends on these.
        "cpu": " ".join([*re.findall(r"vendor_id\s*: (\w+)", flags)[:1], "avx2" if re.search(r"\bavx2\b", flags) else "without avx2"]),
    }


def make_inputs(folder, build, names):
    """Makes the inputs of these workloads in `folder`, which is cleared first."""
    wanted = {argument for name in names for argument in WORKS[name]}
    (folder / "testdata").symlink_to(ROOT / "testdata")
    (folder / "plugins").symlink_to((build / "plugins").resolve())
    for kind, nodes in (("blocks", 1000), ("few", 4000), ("requests", 10_000), ("small", 1000)):
        if f"{kind}.pb" in wanted:
            made_graphs.write(kind, nodes, folder / f"{kind}.pb")
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (), }".ljust(117) + b"\n"
    (folder / "scalar.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<f", 0.5))
    if "optimized.pb" in wanted:
        subprocess.run([build / "bin" / "grapnel", "opt", "blocks.pb", "-o", "optimized.pb", "--quiet"], cwd=folder, check=True)


def count_works(names, build):
    """{name: Profile}, in parallel on all cores, each in its own folder, because their file names are equal. Callgrind's
    output stays in build/bench/count."""
    kept_at = ROOT / "build" / "bench" / "count"
    kept_at.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept_at.parent) as top:
        inputs = pathlib.Path(top) / "inputs"
        inputs.mkdir()
        make_inputs(inputs, build, names)

        def one(name):
            folder = pathlib.Path(top) / name
            folder.mkdir()
            for path in inputs.iterdir():
                (folder / path.name).symlink_to(path.resolve())
            command = [build / "bin" / "grapnel", *WORKS[name], *([] if name == "start" else ["--threads", "1"])]
            profile = callgrind.count(command, folder, folder / "profile")
            os.replace(folder / "profile", kept_at / f"{name}.callgrind")
            return profile

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return dict(zip(names, pool.map(one, names)))


def kept(profile):
    """The entry of a workload: the functions with the most instructions of their own, and our functions with the most inclusive ones."""
    ours = {f: n for f, n in profile.inclusive.items() if "grapnel::" in f}
    most = lambda counts, size: dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:size])  # noqa: E731
    return {"count": profile.total, "own": most(profile.own, OWN), "inclusive": most(ours, INCLUSIVE)}


def growth(before, now):
    """[(function, before, now)] sorted by growth, largest first. A function that is not in the file had at most the smallest count
    in it."""
    least = min(before.values(), default=0)
    grew = [(f, before.get(f, least), n) for f, n in now.items() if n > before.get(f, least)]
    return sorted(grew, key=lambda g: (g[1] - g[2], g[0]))


def culprits(entry, profile):
    """Lines that locate the growth of a workload: the functions that grew most by themselves, and our innermost function that contains
    nearly all of the growth."""
    rise = profile.total - entry["count"]
    lines = [f"{f}: {b:,} to {n:,} of its own" for f, b, n in growth(entry["own"], profile.own)[:3]]
    ours = [g for g in growth(entry["inclusive"], {f: n for f, n in profile.inclusive.items() if "grapnel::" in f})
            if g[2] - g[1] > 0.7 * rise]
    if ours:
        f, b, n = min(ours, key=lambda g: (g[2], g[0]))
        lines.append(f"{f}: {b:,} to {n:,} with what it calls")
    return lines


def judge(file, profiles):
    """(lines to print, whether any count is too high)."""
    lines, failed = [], False
    for name, profile in profiles.items():
        entry = file["works"].get(name)
        if not entry:
            lines.append(f"{name:18}{profile.total:>15,}  not in the file: --write adds it")
            failed = True
            continue
        ratio = profile.total / entry["count"]
        line = f"{name:18}{profile.total:>15,}  {100 * (ratio - 1):+6.2f} %"
        if ratio > LIMIT:
            failed = True
            line += f"  too many: {entry['count']:,} are committed. What grew most:"
            line = "\n".join([line, *("    " + c for c in culprits(entry, profile))])
        elif ratio < 2 - LIMIT:
            line += "  fewer: ./x count --write keeps that"
        lines.append(line)
    return lines, failed


def update(file, profiles, tools, reason, seal):
    """The file as --write saves it, and the workloads that kept an old count although they rose. Differences within noise are ignored."""
    works, refused, was = dict(file.get("works", {})), [], file.get("toolchain", tools)
    if was != tools and not reason:
        reason = "another toolchain: " + ", ".join(f"{k} {was.get(k)} to {v}" for k, v in tools.items() if was.get(k) != v)
    for name, profile in profiles.items():
        old, new = works.get(name), kept(profile)
        if old:
            rose = new["count"] > old["count"] * NOISE
            if rose and (not reason or new["count"] > old.get("ceiling", new["count"]) * NOISE):
                refused.append(name)
                continue
            if not rose and new["count"] * NOISE > old["count"]:
                continue
            because = [f"{old['count']:,} to {new['count']:,}: {reason}"] if rose else []
            new = {"count": new["count"], "ceiling": old.get("ceiling"), "reasons": old.get("reasons", []) + because} | new
            new = {key: value for key, value in new.items() if value}
        works[name] = new
    if seal:
        for entry in works.values():
            entry.setdefault("ceiling", entry["count"])
    return {"toolchain": tools, "works": {name: works[name] for name in WORKS if name in works}}, refused


def main():
    parser = argparse.ArgumentParser(prog="./x count", usage=argparse.SUPPRESS, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--only", action="append", choices=WORKS, metavar="WORK", help="this one; may be repeated: " + ", ".join(WORKS))
    parser.add_argument("--file", type=pathlib.Path, default=FILE)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--reason", default="")
    parser.add_argument("--seal", action="store_true")
    args = parser.parse_args()
    if not args.file.exists() and not args.write:
        parser.error(f"{args.file}: there is no such file; --write makes it")
    file = json.loads(args.file.read_text()) if args.file.exists() else {}
    build = args.bin.parent
    tools = toolchain(build)
    if not args.write and file.get("toolchain") != tools:
        was = file.get("toolchain", {})
        differ = [f"{k} {was.get(k)}, here {v}" for k, v in tools.items() if was.get(k) != v]
        print(f"SKIPPED: {args.file.name} was counted with another toolchain: {'; '.join(differ)}\n"
              "    counts say nothing here; --write makes them those of this toolchain")
        sys.exit(77)
    try:
        profiles = count_works(args.only or list(WORKS), build)
    except (RuntimeError, subprocess.CalledProcessError) as error:
        print(f"count_instructions: {error}", file=sys.stderr)
        sys.exit(2)
    lines, failed = judge(file, profiles) if "works" in file else ([], False)
    print("\n".join(lines))
    if args.write:
        written, refused = update(file, profiles, tools, args.reason, args.seal)
        args.file.write_text(json.dumps(written, indent=1) + "\n")
        for name in refused:
            over = " above its ceiling" if "ceiling" in written["works"][name] and args.reason else ", and there is no --reason"
            print(f"{name}: rose{over}: the old count stays")
        sys.exit(1 if refused else 0)
    if failed:
        print("\nIf it has to be so: ./x count --write --reason 'why'")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
