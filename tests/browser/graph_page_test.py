"""The page as a user has it: served, or as a file, in a browser."""
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import driver  # noqa: E402
from page_case import GRAPNEL, PageCase, ROOT, SLOWER, main  # noqa: E402

LEAST_CONTRAST = 4.5  # WCAG AA

# Pairs of boxes of one frame that overlap, and boxes that stick out of the box around them.
OVERLAPS = """const wrong = [], boxes = grapnel.view.boxes;
for (const a of boxes) {
  if (a.parent && (a.x < a.parent.x || a.y < a.parent.y || a.x + a.w > a.parent.x + a.parent.w + 0.5 || a.y + a.h > a.parent.y + a.parent.h + 0.5))
    wrong.push("out: " + a.box.name);
  for (const b of boxes) {
    if (a === b || a.parent?.placed !== b.parent?.placed || a.instance !== b.instance) continue;
    if (a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h) wrong.push(a.box.name + " " + b.box.name);
  }
}
return wrong;"""
CONTRAST = """const luminance = (text) => {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const style = getComputedStyle(document.documentElement), value = (name) => style.getPropertyValue("--" + name).trim();
const ratio = (a, b) => { const [hi, lo] = [luminance(a), luminance(b)].sort((x, y) => y - x); return (hi + 0.05) / (lo + 0.05); };
const backs = ["canvas", "frame", "frame-2", "surface", "neutral", "hover", ...[...Array(10).keys()].map((i) => "fill-" + i),
               ...[...Array(6).keys()].map((i) => "mark-" + i)];
const pairs = backs.map((back) => ["text", back]).concat(["canvas", "surface", "frame", "frame-2", "neutral"].map((back) => ["dim", back]),
  ["canvas", "surface"].map((back) => ["accent", back]), [["bad", "surface"], ["bad", "canvas"], ["good", "canvas"]]);
return pairs.map(([front, back]) => [front, back, ratio(value(front), value(back))]);"""


class Page(PageCase):
    def assert_tidy(self):
        self.assertEqual(self.browser.js(OVERLAPS), [])

    def test_first_picture_is_open_and_says_what_is_folded(self):
        self.show(self.serve("testdata/models/lenet"))
        self.assertGreaterEqual(len([box for box in self.boxes() if not box["open"]]), 8)
        self.assertNotIn("sequential_1", [box["name"] for box in self.boxes()], "the scope around all layers has no box")
        self.assertIn("64 ops", self.browser.js("return document.getElementById('counts').textContent"))
        self.assertIn("18 constants folded", self.browser.js("return document.getElementById('counts').textContent"))
        self.assertGreaterEqual(self.browser.js("return grapnel.view.at.zoom * 12"), 9.5, "pixels that names have")
        self.assert_tidy()

    def test_first_picture_comes_with_the_page(self):
        for path in ("testdata/models/lenet", "testdata/collatz"):
            url = self.serve(path)
            first = 'id="sent 0/scope/0'
            end = time.time() + 10
            while first not in urllib.request.urlopen(url).read().decode() and time.time() < end:
                time.sleep(0.02)  # it is made while a browser starts
            self.show(url)
            asked = self.browser.js("return performance.getEntriesByType('resource').map(({name}) => name).filter((name) => name.startsWith('http'))")
            self.assertEqual([name for name in asked if not name.endswith("/api/version")], [])
            self.assertGreater(len(self.boxes()), 1)

    def test_numbers_are_grouped(self):
        self.show(self.serve("testdata/collatz"))
        for number in (0, 7, 999, 1000, 12345, 1234567, -1, -999, -1234567, 2**53 - 1, 0.5, 1234.5, 1e21):
            said = self.browser.js("const n = arguments[0]; return import('/numbers.js').then(({grouped}) => [n.toLocaleString('en-US'), grouped(n)])", number)
            self.assertEqual(said[0], said[1])

    def test_scopes_open_and_close_by_mouse_and_keys(self):
        self.show(self.serve("testdata/models/lenet"))
        before = len(self.boxes())
        self.toggle("conv2d_1")
        self.assertGreater(len(self.boxes()), before)
        self.assertTrue(any(box["op"] == "Conv2D" for box in self.boxes()))
        self.assert_tidy()
        self.toggle("conv2d_1")
        self.assertEqual(len(self.boxes()), before)
        self.browser.js("grapnel.view.select(undefined); grapnel.view.canvas.focus();")
        self.browser.press("Enter", "Down")
        self.browser.wait("grapnel.view.chosen")
        first = self.browser.js("return grapnel.view.chosen.box.name")
        self.browser.press("Down")
        self.assertNotEqual(self.browser.js("return grapnel.view.chosen.box.name"), first)
        self.assertNotEqual(self.browser.js("return document.getElementById('announce').textContent"), "")

    def test_loop_and_branches_are_seen_opened_and_left(self):
        for show in (lambda: self.show(self.serve("testdata/collatz")), lambda: self.open_file("testdata/collatz")):
            show()
            loop = self.box("while", "StatelessWhile")
            self.assertTrue(loop["open"], "a While shows its functions by itself")
            self.assertEqual([title.split(":")[0] for title in loop["title"]], ["cond", "body"])
            self.assertEqual(sorted(box["op"] for box in self.boxes() if box["op"].startswith("arg ")), ["arg 0", "arg 2", "arg 2", "arg 3"],
                             "only what the loop changes, and what its condition reads")
            self.browser.js("grapnel.view.reveal(0, grapnel.view.boxes[0].box.id, [])")
            toggled = self.browser.js("const closed = grapnel.view.boxes.filter((b) => b.box.kind === 'scope' && !b.inner); "
                                      "for (const b of closed) grapnel.view.toggle(b); return closed.map((b) => b.box.name);")
            self.browser.wait("grapnel.view.boxes.some((b) => b.box.name === 'cond' && b.box.kind === 'scope')")
            if "cond" not in toggled and not self.box("cond")["open"]:
                self.toggle("cond")
            self.browser.wait("grapnel.view.boxes.some((b) => b.box.op === 'StatelessIf')")
            branch = next(box for box in self.boxes() if box["op"] == "StatelessIf")
            if not branch["open"]:
                self.toggle(branch["name"], "StatelessIf")
            branch = next(box for box in self.boxes() if box["op"] == "StatelessIf")
            self.assertEqual(sorted(title.split(":")[0] for title in branch["title"]), ["else_branch", "then_branch"])
            self.assert_tidy()
            self.toggle("while", "StatelessWhile")
            self.assertFalse(any(box["op"].startswith("arg ") for box in self.boxes()))

    def test_function_is_gone_into_and_left_by_the_path_above(self):
        self.show(self.serve("testdata/collatz"))
        self.browser.click("#to-functions")
        self.assertEqual(self.browser.js("return document.querySelectorAll('#tab-functions .list tbody tr').length"), 4)
        self.browser.click("#tab-functions li li .link")
        self.browser.wait("grapnel.view.body !== 0")
        self.assertIn("while_", self.browser.js("return document.getElementById('crumbs').textContent"))
        self.browser.click("#crumbs button")
        self.browser.wait("grapnel.view.body === 0")
        self.browser.call("POST", "/back", {})
        self.browser.wait("grapnel.view.body !== 0")

    def results(self, words):
        self.browser.js("document.getElementById('search').value = ''; document.getElementById('results').hidden = true")
        self.browser.type("#search", words)
        self.browser.wait("!document.getElementById('results').hidden")
        time.sleep(0.3)  # the list of the last letter
        return self.browser.js("return [...document.querySelectorAll('#results > *')].map((e) => e.innerText)")

    def test_a_file_finds_what_the_server_finds_in_the_same_order(self):
        words = ["relu", "conv2d", "conv*/relu", "op:mul", "shape:[2,16 relu", "readvariableop", "attr:same", "batch_norm?lization_1/*", "nothing"]
        self.show(self.serve("testdata/models/lenet"))
        served = [self.results(word) for word in words]
        self.open_file("testdata/models/lenet")
        self.assertEqual(served, [self.results(word) for word in words])
        self.assertIn("re_lu_1/Relu", served[0][0], "the one that has a box first")
        self.assertIn("conv2d_1/Relu", served[0][1])
        self.assertEqual([text.split()[0] for text in served[1][:3]], ["Layer", "Layer", "Conv2D"], "layers first")

    def test_a_constant_tells_what_its_numbers_are_like(self):
        self.show(self.serve("testdata/models/lenet"))
        self.browser.type("#search", "dense_1/Cast/ReadVariableOp/resource")
        self.browser.wait("document.querySelectorAll('#results [role=option]').length")
        self.browser.press("Enter")
        self.browser.wait("document.querySelector('#panel .histogram')")
        self.assertEqual(len(self.browser.js("return document.querySelector('#panel .histogram').textContent")), 24)
        text = self.browser.js("return document.querySelector('#panel table.statistics').innerText")
        self.assertRegex(text, r"elements\s+4,320\s+min\s+-0\.2013\s+mean\s+0\.0004\d* ± 0\.1168\s+max\s+0\.2009")

    def test_search_opens_the_way_to_what_it_finds(self):
        self.show(self.serve("testdata/models/lenet"))
        self.browser.press("/")
        self.browser.type("#search", "op:conv2d shape:[")
        self.browser.wait("document.querySelectorAll('#results [role=option]').length === 2")
        self.browser.press("Enter")
        self.browser.wait("grapnel.view.chosen?.box.op === 'Conv2D'")
        self.browser.wait("document.querySelector('#panel h2').textContent === 'Conv2D'")
        text = self.browser.js("return [...document.querySelectorAll('#panel button')].find((b) => b.textContent === 'copy as text').title")
        self.assertRegex(text, r"^%\S+ = Conv2D\(%\S+, %\S+\) \{.*strides=\[1,\d,\d,1\]")
        panel = self.browser.js("return document.getElementById('panel').textContent")
        for word in ("strides", "[1,1,1,1]", "filter", "float["):
            self.assertIn(word, panel)
        self.assertNotIn("{", panel, "attributes in words, no raw JSON")
        self.browser.js("document.getElementById('search').value = ''")
        self.browser.type("#search", "nothing-like-this")
        self.browser.wait("document.getElementById('results').textContent.includes('No node fits')")

    def test_a_scope_and_a_function_are_copied_as_text(self):
        copy = "[...document.querySelectorAll('#panel button')].filter((b) => b.textContent === 'copy as text').at(-1)"
        self.show(self.serve("testdata/collatz"))
        self.browser.js("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; };")
        self.browser.js("grapnel.view.select(grapnel.view.boxes.find((b) => b.box.op === 'StatelessWhile'))")
        self.browser.wait(copy + "?.title.startsWith('Copy its nodes')")
        self.browser.js(copy + ".click()")
        self.browser.wait("globalThis.copied")
        text = self.browser.js("return copied")
        self.assertIn(" = Placeholder {dtype=int32, shape=[]} : int32", text)
        self.browser.wait("[...document.querySelectorAll('#panel button')].some((b) => b.textContent === 'copied, ' + "
                          f"'{len(text.splitlines())} lines')")
        self.browser.js("grapnel.view.select(grapnel.view.boxes.find((b) => b.box.kind === 'scope'))")
        self.browser.wait(copy)
        self.browser.js("copied = ''; " + copy + ".click()")
        self.browser.wait("globalThis.copied")
        path = os.path.join(tempfile.mkdtemp(), "copied.gtxt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.browser.js("return copied"))
        info = subprocess.run([GRAPNEL, "info", path], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertNotIn("problem", info)
        self.open_file("testdata/collatz")
        self.browser.js("grapnel.view.select(grapnel.view.boxes.find((b) => b.box.kind === 'scope'))")
        self.browser.wait(copy)
        self.assertTrue(self.browser.js(f"return {copy}.disabled"), "a file does not hold the text of boxes")

    def test_tabs_go_by_number(self):
        self.show(self.serve("testdata/models/lenet"))
        names = self.browser.js("return grapnel.tabs.names")
        self.assertEqual(names[:3], ["graph", "functions", "nodes"])
        for number, name in ((3, "nodes"), (2, "functions"), (1, "graph")):
            self.browser.press(str(number))
            self.browser.wait(f"!document.getElementById('tab-{name}').hidden && grapnel.tab === '{name}'")
        self.browser.press("9")
        self.assertEqual(self.browser.js("return grapnel.tab"), "graph")

    def test_nodes_are_listed_and_sorted(self):
        self.show(self.serve("testdata/models/lenet"))
        self.browser.click("#to-nodes")
        self.browser.wait("document.querySelectorAll('#tab-nodes tbody tr').length === 64")
        self.browser.click("#tab-nodes th:nth-child(2) button")
        ops = self.browser.js("return [...document.querySelectorAll('#tab-nodes tbody td:nth-child(2)')].map((e) => e.textContent)")
        self.assertEqual(ops, sorted(ops))
        self.browser.click("#tab-nodes tbody .link")
        self.browser.wait("!document.getElementById('tab-graph').hidden")

    def test_the_address_holds_what_is_seen(self):
        self.show(self.serve("testdata/models/lenet"))
        self.toggle("conv2d_1")
        self.browser.js("grapnel.view.select(grapnel.view.boxes.find((b) => b.box.op === 'Conv2D'))")
        url, names = self.browser.call("GET", "/url"), [box["name"] for box in self.boxes()]
        self.show(url)
        self.assertEqual([box["name"] for box in self.boxes()], names)
        self.assertEqual(self.browser.js("return grapnel.view.chosen?.box.op"), "Conv2D")

    def test_file_opens_from_disk_and_fetches_nothing(self):
        self.open_file("testdata/collatz")
        self.assertTrue(self.box("while", "StatelessWhile")["open"])
        self.assertEqual(self.browser.js("return performance.getEntriesByType('resource').length"), 0)
        self.browser.type("#search", "op:floormod")
        self.browser.wait("document.querySelectorAll('#results [role=option]').length > 0")
        self.browser.press("Enter")
        self.browser.wait("document.querySelector('#panel h2').textContent === 'FloorMod'")

    def test_diff_shows_what_changed_without_a_click(self):
        folder = tempfile.mkdtemp()
        out, changed = os.path.join(folder, "d.html"), os.path.join(folder, "b.pb")
        subprocess.run([GRAPNEL, "opt", "testdata/models/lenet", "-o", changed, "--quiet"], check=True, cwd=ROOT)
        self.assertEqual(subprocess.run([GRAPNEL, "diff", "testdata/models/lenet", changed, "-o", out, "--quiet"], cwd=ROOT).returncode, 1)
        self.show("file://" + out)
        self.assertGreater(self.browser.js("return grapnel.view.boxes.filter((b) => b.box.marks).length"), 0)
        legend = self.browser.js("return document.getElementById('legend').textContent")
        for word in ("removed", "added", "changed", "replaced"):
            self.assertIn(word, legend)
        self.assertIn("replaced", self.browser.js("return document.getElementById('panel').textContent"))
        self.browser.click("#panel li .link")
        self.browser.wait("document.querySelector('#panel .mark')")

    def test_stages_are_slid_through(self):
        folder = tempfile.mkdtemp()
        out, dumps = os.path.join(folder, "t.html"), os.path.join(folder, "dumps")
        subprocess.run([GRAPNEL, "opt", "testdata/models/lenet", "-o", os.path.join(folder, "o.pb"), "--dump-dir", dumps, "--quiet"],
                       check=True, cwd=ROOT)
        subprocess.run([GRAPNEL, "timeline", dumps, "--html", out], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        for show in (lambda: self.show("file://" + out), lambda: self.show(self.serve(dumps))):
            show()
            stages = self.browser.js("return document.querySelectorAll('#stage-list option').length")
            self.assertGreater(stages, 8)
            glowed = 0
            for i in range(1, stages):
                self.browser.click("#stage-next") if i % 2 else self.browser.press("]")
                self.browser.wait(f"grapnel.shown === {i}")
                self.assertTrue(self.browser.js("return document.getElementById('stage-note').textContent").startswith(f"{i + 1} of"))
                same = self.browser.js("return document.getElementById('stage-note').textContent.includes('changes nothing')")
                glows = self.browser.js("return grapnel.view.boxes.some((b) => b.box.marks)")
                glowed += glows and not same
            self.assertGreaterEqual(glowed, 3)
            self.browser.js("for (let i = arguments[0] - 1; i >= 0; --i) grapnel.toModel(i);", stages)  # faster than stages load
            self.browser.wait("grapnel.shown === 0")
            self.assertEqual(self.browser.js("return grapnel.summary.title"), "before graph_optimization")
            self.assertFalse(self.browser.js("return grapnel.view.boxes.some((b) => b.box.marks)"))
            self.toggle("dense_1")
            self.browser.press("]")
            self.browser.wait("grapnel.shown === 1")
            self.assertTrue(self.box("dense_1")["open"], "what is open stays open from stage to stage")

    def test_placement_tells_why(self):
        out = os.path.join(tempfile.mkdtemp(), "p.html")
        subprocess.run([GRAPNEL, "place", "testdata/models/lenet", "--devices", "cpu:1,gpu:1", "--html", out], check=True, cwd=ROOT)
        self.show("file://" + out)
        self.assertEqual(self.browser.js("return document.getElementById('color').value"), "device")
        self.assertIn("crosses between devices", self.browser.js("return document.getElementById('legend').textContent"))
        self.browser.type("#search", "op:conv2d")
        self.browser.wait("document.querySelectorAll('#results [role=option]').length > 0")
        self.browser.press("Enter")
        self.browser.wait("document.getElementById('panel').textContent.includes('Why it is there')")
        self.assertIn("gpu:0", self.browser.js("return document.getElementById('panel').textContent"))

    def test_names_are_data(self):
        path = os.path.join(tempfile.mkdtemp(), "odd.pbtxt")
        names = ["<script>document.title='taken'</script>", "a'b\\\"c", "//", "\u00fc/\u6f22\u5b57/\u202etxt", "<img src=x onerror=alert(1)>"]
        with open(path, "w", encoding="utf-8") as file:
            for i, name in enumerate(names):
                source = f' input: "{names[i - 1]}"' if i else ""
                file.write(f'node {{ name: "{name}" op: "{"Relu" if i else "Placeholder"}"{source} attr {{ key: "{"T" if i else "dtype"}" value {{ type: DT_FLOAT }} }} }}\n')
        for show in (lambda: self.show(self.serve(path)), lambda: self.open_file(path)):
            show()
            self.assertTrue(self.browser.js("return document.title").startswith("odd"))
            self.assertEqual(self.browser.js("return document.querySelectorAll('img, #panel script, #results script').length"), 0)
            self.browser.type("#search", "script")
            self.browser.wait("document.querySelectorAll('#results [role=option]').length === 1")
            self.browser.press("Enter")
            self.browser.wait("document.getElementById('panel').textContent.includes('<script>')")

    def test_contrast_in_both_themes(self):
        self.show(self.serve("testdata/models/lenet"))
        for theme in ("light", "dark"):
            self.browser.js("document.documentElement.className = arguments[0]; grapnel.view.themeChanged();", theme)
            low = [pair for pair in self.browser.js(CONTRAST) if pair[2] < LEAST_CONTRAST]
            self.assertEqual(low, [], theme)

    def test_the_systems_theme_is_followed_until_the_user_chooses_one(self):
        is_dark = "document.documentElement.classList.contains('dark')"
        self.addCleanup(self.browser.prefer, "")
        self.browser.prefer("light")
        self.show(self.serve("testdata/models/lenet"))
        self.assertFalse(self.browser.js(f"return {is_dark}"))
        self.browser.prefer("dark")
        self.browser.wait(is_dark)
        self.browser.click("#theme")
        self.browser.wait("!" + is_dark)
        self.browser.js("matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { window.themeChanges = (window.themeChanges ?? 0) + 1; })")
        for count, theme in enumerate(("light", "dark"), 1):  # one at a time: two quick changes may give no event
            self.browser.prefer(theme)
            self.browser.wait(f"window.themeChanges === {count}")
        self.assertFalse(self.browser.js(f"return {is_dark}"), "the user chose it")

    def test_without_the_token_nothing_is_shown(self):
        url = self.serve("testdata/models/lenet")
        self.browser.go(url.split("?")[0])
        self.assertIn("token", self.browser.js("return document.body.textContent"))
        self.browser.complaints()  # of the refused page

    def test_huge_graphs_open_at_once_and_stay_awake(self):
        folder = tempfile.mkdtemp()
        for kind in ("chain", "fan"):
            path = os.path.join(folder, kind + ".pbtxt")
            with open(path, "w", encoding="utf-8") as file:
                file.write('node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }\n')
                for i in range(100000 if kind == "chain" else 50000):
                    source = "x" if kind == "fan" or i == 0 else f"n{i - 1}"
                    file.write(f'node {{ name: "n{i}" op: "Relu" input: "{source}" attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}\n')
            self.show(self.serve(path))
            self.assertLess(self.browser.js("return performance.now()"), 5000 * SLOWER)
            self.browser.js("""globalThis.long = []; new PerformanceObserver((list) => list.getEntries().forEach((e) => long.push(e.duration)))
              .observe({type: "longtask", buffered: false});""")
            for _ in range(10):
                count = self.browser.js("""const box = grapnel.view.boxes.find((b) => b.box.kind === 'scope' && !b.inner); grapnel.view.toggle(box);
                  return grapnel.view.boxes.length;""")
                self.browser.wait(f"grapnel.view.boxes.length !== {count}")
            longest = [0, 0, 0, 0, *sorted(self.browser.js("return long"))]
            self.assertLess(longest[-4], 100, kind)  # three in ten may come from a busy machine
            self.assertLess(longest[-1], 300, kind)
            self.assertLess(self.browser.js("gc(); return performance.memory.usedJSHeapSize"), 150e6)


if __name__ == "__main__":
    main()
