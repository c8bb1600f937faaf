"""Times pages in a file: how long `view`, `diff` and `timeline` take to write one beside the same command's text, how large it is, and
how long Chromium takes from opening it to the first picture.

usage: html_files.py GRAPNEL [--kind blocks|few] [--nodes N ...] [--repeat N] [--no-browser] [--folder DIR]

The graphs are those of made_graphs.py. `diff` compares a graph with one that lacks its last twenty-fifth, `timeline` shows the dumps of
`opt`. Seconds are the least of --repeat runs, those of the browser from the start of the navigation to the mark that the page sets when
all boxes are drawn.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "browser"))
sys.path.insert(0, HERE)
import driver  # noqa: E402
import made_graphs  # noqa: E402

NODES = (14_517, 100_000, 1_000_000)


def seconds(command, repeat):
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        best = min(best, time.perf_counter() - start)
        if done.returncode not in (0, 1):  # diff ends with 1
            sys.exit(f"{' '.join(command)}: {done.stderr}")
    return best


def first_picture(path, repeat):
    """Seconds from navigation until all boxes are drawn, each time in a new browser."""
    best = float("inf")
    for _ in range(repeat):
        browser = driver.Browser()
        try:
            browser.go(f"file://{path}")
            browser.wait("document.documentElement?.dataset.ready", 120)
            best = min(best, browser.js("return performance.getEntriesByName('ready')[0].startTime / 1000"))
        finally:
            browser.close()
    return best


def commands(grapnel, folder, kind, nodes):
    """Yields (name, the command for text or None, the command for a page, the page)."""
    a, b, dumps = (os.path.join(folder, name) for name in ("a.pb", "b.pb", "dumps"))
    made_graphs.write(kind, nodes, a)
    made_graphs.write(kind, nodes - nodes // 25, b)
    page = os.path.join(folder, "page.html")
    yield "view", [grapnel, "info", a], [grapnel, "view", a, "-o", page, "--quiet"], page
    yield "diff", [grapnel, "diff", a, b], [grapnel, "diff", a, b, "-o", page], page
    subprocess.run([grapnel, "opt", a, "--dump-dir", dumps, "-o", os.path.join(folder, "opt.pb"), "--quiet"], check=True)
    yield "timeline", [grapnel, "timeline", dumps], [grapnel, "timeline", dumps, "--html", page], page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grapnel")
    parser.add_argument("--kind", choices=("blocks", "few"), default="blocks")
    parser.add_argument("--nodes", type=int, nargs="+", default=NODES)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--folder", help="for the graphs and pages; default: a temporary one")
    args = parser.parse_args()
    grapnel = os.path.abspath(args.grapnel)
    print(f"{'nodes':>10}  {'page':9}{'text s':>8}{'page s':>8}{'times':>7}{'MB':>7}{'open s':>8}")
    for nodes in args.nodes:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            for name, text, page_command, page in commands(grapnel, folder, args.kind, nodes):
                as_text, as_page = seconds(text, args.repeat), seconds(page_command, args.repeat)
                opened = "" if args.no_browser else f"{first_picture(page, args.repeat):8.2f}"
                print(f"{nodes:10,}  {name:9}{as_text:8.2f}{as_page:8.2f}{as_page / as_text:7.1f}{os.path.getsize(page) / 1e6:7.2f}{opened}",
                      flush=True)


if __name__ == "__main__":
    main()
