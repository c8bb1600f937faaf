"""Two graphs side by side, linked; and comparing any two that are served."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_case import GRAPNEL, ROOT, PageCase, main  # noqa: E402

NODE = 'node {{ name: "{}" op: "{}"{} attr {{ key: "{}" value {{ type: DT_FLOAT }} }}{} }}\n'


def model(folder, name, nodes):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        for node, op, *inputs in nodes:
            extra = ' attr { key: "shape" value { shape { dim { size: 2 } } } }' if op == "Placeholder" else ""
            file.write(NODE.format(node, op, "".join(f' input: "{i}"' for i in inputs), "dtype" if op == "Placeholder" else "T", extra))
    return path


def two_models():
    """B renames a/sqrt, lacks b/neg, and has b/exp."""
    folder = tempfile.mkdtemp()
    a = model(folder, "before.pbtxt", [("x", "Placeholder"), ("a/relu", "Relu", "x"), ("a/sqrt", "Sqrt", "a/relu"), ("b/tanh", "Tanh", "a/sqrt"), ("b/neg", "Neg", "b/tanh"),
                                       ("b/out", "Abs", "b/tanh")])
    b = model(folder, "after.pbtxt", [("x", "Placeholder"), ("a/relu", "Relu", "x"), ("a/root", "Sqrt", "a/relu"), ("b/tanh", "Tanh", "a/root"), ("b/out", "Abs", "b/tanh"),
                                      ("b/exp", "Exp", "b/tanh")])
    return a, b


class Panes(PageCase):
    def diff_file(self):
        out = os.path.join(tempfile.mkdtemp(), "d.html")
        subprocess.run([GRAPNEL, "diff", *two_models(), "-o", out, "--quiet"], cwd=ROOT, stdout=subprocess.DEVNULL)
        return "file://" + out

    def side_by_side(self):
        self.browser.click("#how-side")
        self.browser.wait("grapnel.panes.on && ['a', 'b'].every((side) => grapnel.panes[side].view.boxes.length > 0)")

    def names(self, side):
        return self.browser.js(f"return grapnel.panes.{side}.view.boxes.map((b) => b.box.path || b.box.name)")

    def click_box(self, side, name, times=1):
        """Clicks a box of one side."""
        self.browser.wait(f"grapnel.panes.{side}.view.boxes.some((b) => b.box.name === {name!r})")
        at = self.browser.js(f"""const view = grapnel.panes.{side}.view, box = view.boxes.find((b) => b.box.name === {name!r});
          view.center(box); view.draw(); const c = view.canvas.getBoundingClientRect();
          return [c.left + view.at.x + (box.x + box.w / 2) * view.at.zoom, c.top + view.at.y + (box.y + 12) * view.at.zoom];""")
        self.browser.click_at(*at, times)

    def chosen(self, side, name):
        self.browser.wait(f"grapnel.panes.{side}.view.chosen?.box.name === {name!r}")

    def test_a_choice_on_one_side_is_one_on_the_other(self):
        self.show(self.diff_file())
        self.side_by_side()
        self.click_box("a", "a", 2)
        self.click_box("a", "sqrt")
        self.chosen("b", "root")
        for side, name in enumerate(("a/sqrt", "a/root")):
            self.browser.wait(f"document.querySelectorAll('#panel .card')[{side}]?.innerText.includes({name!r})")
        self.click_box("b", "exp")
        self.browser.wait("!grapnel.panes.a.view.chosen")
        self.browser.wait("document.querySelector('#panel .card').innerText.includes('A has no counterpart')")
        self.browser.wait("document.querySelectorAll('#panel .card')[1].innerText.includes('added')")
        self.click_box("a", "neg")
        self.browser.wait("document.querySelector('#panel .card .mark')?.textContent === 'removed'")

    def test_scopes_open_and_close_together(self):
        self.show(self.diff_file())
        self.side_by_side()
        self.assertIn("b/neg", self.names("a"))
        self.click_box("a", "b", 2)
        self.browser.wait("['a', 'b'].every((s) => grapnel.panes[s].view.boxes.some((b) => b.box.name === 'b' && !b.inner))")
        self.assertNotIn("b/exp", self.names("b"))
        self.click_box("b", "b", 2)
        self.browser.wait("['a', 'b'].every((s) => grapnel.panes[s].view.boxes.some((b) => b.box.name === 'b' && b.inner))")
        self.browser.js("const {view} = grapnel.panes.b; for (const name of ['a', 'b']) view.toggle(view.boxes.find((b) => b.box.name === name));")  # at once
        self.browser.wait("['a', 'b'].every((s) => { const open = (n) => !!grapnel.panes[s].view.boxes.find((b) => b.box.name === n).inner; return open('a') && !open('b'); })")

    def test_search_goes_there_on_both_sides(self):
        self.show(self.diff_file())
        self.side_by_side()
        self.browser.js("for (const view of grapnel.panes.views()) view.closeAll();")
        self.browser.wait("grapnel.panes.views().every((view) => !view.boxes.some((b) => b.inner))")
        self.browser.type("#search", "op:sqrt")
        self.browser.wait("document.querySelectorAll('#results [role=option]').length === 1")
        self.browser.press("Enter")
        self.chosen("a", "sqrt")
        self.chosen("b", "root")

    def test_the_address_holds_both_sides(self):
        self.show(self.diff_file())
        self.side_by_side()
        self.click_box("b", "a", 2)
        self.click_box("b", "root")
        self.chosen("a", "sqrt")
        self.browser.wait("location.hash.includes('chosen_a')")
        url, names = self.browser.call("GET", "/url"), [self.names("a"), self.names("b")]
        self.show(url)
        self.browser.wait("grapnel.panes.on")
        self.assertEqual([self.names("a"), self.names("b")], names)
        self.chosen("a", "sqrt")
        self.chosen("b", "root")
        self.browser.click("#how-merged")
        self.browser.wait("!document.getElementById('canvas').hidden && !location.hash.includes('side=')")

    def test_a_stage_of_passes_has_two_sides(self):
        folder = os.path.join(tempfile.mkdtemp(), "dumps")
        subprocess.run([GRAPNEL, "opt", "testdata/harmonic_mean", "--dump-dir", folder, "--quiet"], check=True, cwd=ROOT)
        self.show(self.serve(folder))
        self.assertTrue(self.browser.js("return document.getElementById('how').hidden"), "where it begins there is nothing to compare")
        self.browser.js("grapnel.toModel(2)")
        self.browser.wait("grapnel.shown === 2")
        self.side_by_side()
        self.assertIn("Min", self.names("a"))
        self.assertNotIn("Min", self.names("b"))
        self.browser.press("]", "]")
        self.browser.wait("grapnel.shown === 4 && grapnel.panes.on")
        self.assertNotIn("Min", self.names("a"))
        self.browser.js("grapnel.toModel(0)")
        self.browser.wait("grapnel.shown === 0 && !grapnel.panes.on")
        self.browser.js("grapnel.toModel(2)")
        self.browser.wait("grapnel.shown === 2 && grapnel.panes.on")

    def test_readers_of_variables_that_differ_are_marked(self):
        folder = tempfile.mkdtemp()
        for name, size in (("a", 3), ("b", 5)):
            with open(f"{folder}/{name}.gtxt", "w", encoding="utf-8") as file:
                file.write(f'''%x = Placeholder {{dtype=float, shape=[?,4]}}
%kernel = VarHandleOp {{dtype=float, shape=[4,{size}], shared_name="kernel"}}
%dense/read = ReadVariableOp(%kernel) {{dtype=float}}
%dense/MatMul = MatMul(%x, %dense/read)
%dense/Relu = Relu(%dense/MatMul)
''')
        subprocess.run([GRAPNEL, "diff", f"{folder}/a.gtxt", f"{folder}/b.gtxt", "-o", f"{folder}/d.html", "-q"], stdout=subprocess.DEVNULL)
        self.show(f"file://{folder}/d.html")
        marked = "return grapnel.view.boxes.filter((b) => b.box.marks && !b.inner).map((b) => b.box.path)"
        self.assertEqual(self.browser.js(marked), ["dense/MatMul"])
        self.browser.js("grapnel.view.select(grapnel.view.boxes.find((b) => b.box.path === 'dense/MatMul'))")
        self.browser.wait("document.getElementById('panel').textContent.includes('kernel: shape[4,3] → [4,5]')")
        self.browser.js("grapnel.view.closeAll()")
        self.browser.wait("grapnel.view.boxes.some((b) => b.box.path === 'dense' && !b.inner)")
        self.assertEqual(self.browser.js(marked), ["dense"], "a closed box has the mark of what is in it")

    def test_functions_are_linked_inside_their_calls(self):
        folder = tempfile.mkdtemp()
        changed = os.path.join(folder, "b.pb")
        subprocess.run([GRAPNEL, "opt", "testdata/collatz", "-o", changed, "--quiet"], check=True, cwd=ROOT)
        out = os.path.join(folder, "d.html")
        subprocess.run([GRAPNEL, "diff", "testdata/collatz", "testdata/collatz", "-o", out, "--quiet"], cwd=ROOT, stdout=subprocess.DEVNULL)
        self.show("file://" + out)
        self.side_by_side()
        inner = self.browser.js("return grapnel.panes.a.view.boxes.find((b) => b.instance !== '0' && b.box.kind === 'op')?.box.name")
        self.assertTrue(inner, "the loop's functions are open")
        self.click_box("a", inner)
        self.browser.wait("grapnel.panes.b.view.chosen")
        self.assertEqual(*self.browser.js("return ['a', 'b'].map((s) => grapnel.panes[s].view.look.selected)"))

    def test_any_two_graphs_are_compared(self):
        self.show(self.serve(*two_models()))
        self.browser.click("#to-diff")
        self.browser.click("#tab-diff .ask button")
        self.browser.wait("grapnel.models.length === 3 && grapnel.shown === 2")
        self.assertIn("1 removed, 1 added", self.browser.js("return document.getElementById('stage-note').textContent"))
        self.side_by_side()
        self.browser.click("#to-diff")
        self.browser.js("for (const id of ['diff-a', 'diff-b']) document.getElementById(id).value = '1';")
        self.browser.click("#tab-diff .ask button")
        self.browser.wait("document.querySelector('#tab-diff .problem')?.textContent.includes('choose two graphs')")
        self.browser.complaints()  # of the answer


if __name__ == "__main__":
    main()
