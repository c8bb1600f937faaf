"""Debugging a run from the page: steps, breakpoints, values, changes."""
import os
import re
import struct
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_case import PageCase, SLOWER, main  # noqa: E402

LOSS = """fetch %loss/Mean
%x = Placeholder {dtype=float, shape=[2,2]}
%labels = Const [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
%dense/kernel = Const [[2.0, -1.0, 0.5], [0.5, 1.0, -2.0]]
%dense/MatMul = MatMul(%x, %dense/kernel)
%Softmax = Softmax(%dense/MatMul)
%loss/Log = Log(%Softmax)
%loss/mul = Mul(%labels, %loss/Log)
%loss/Sum = Sum(%loss/mul, %axis=1)
%loss/Neg = Neg(%loss/Sum)
%loss/Mean = Mean(%loss/Neg, %all=0)
"""
PARTS = """fetch %d, %r
%indices = Identity(int64 [[0,1],[1,0]])
%v = Neg(float[2] [1.0, 2.5])
%d = SparseTensorDenseMatMul(%indices, %v, int64 [2,2], [[3.0], [4.0]])
%splits = Identity(int64 [0,2,2,3])
%r = RaggedTensorToVariant(%splits, [1, 2, 3]) {RAGGED_RANK=1, batched_input=false}
"""
# A loop of single nodes, as TensorFlow 1 has them: x goes up from 0 to 4.
LOOP = """fetch %out
%start = Const 0
%enter = Enter(%start) {frame_name="loop"}
%merge = Merge(%enter, %next)
%less = Less(%merge, %limit/enter)
%limit/enter = Enter(%limit=4) {frame_name="loop", is_constant=true}
%cond = LoopCond(%less)
%switch = Switch(%merge, %cond)
%one/enter = Enter(%one=1) {frame_name="loop", is_constant=true}
%add = AddV2(%switch:1, %one/enter)
%next = NextIteration(%add)
%out = Exit(%switch)
"""
PICTURES = """fetch %y
%image = RandomUniform([1,6,8,3]) {dtype=float, seed=3, seed2=4}
%y = Conv2D(%image, float[3,3,3,2] 0.5) {strides=[1,1,1,1], padding="SAME"}
"""
NO_KERNEL = """fetch %y
%x = Const 1.0
%y = TPUReplicatedOutput(%x) {num_replicas=1}
"""


def graph(text):
    path = os.path.join(tempfile.mkdtemp(), "graph.gtxt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


class RunDebug(PageCase):
    def open_run(self, path, case=False):
        self.url = self.serve(path)
        self.show(self.url)
        self.browser.click("#to-run")
        self.browser.wait("document.querySelector('#debug-start')")
        if not case and self.browser.js("return Boolean(document.querySelector('#feed-0-kind'))"):
            self.browser.js("const s = document.querySelector('#feed-0-kind'); s.value = 'text'; s.dispatchEvent(new Event('change'));")
            self.browser.type("#feed-0-text", "[[1, -1], [60, 3]]")

    def start(self):
        self.browser.click("#debug-start")
        self.settle()
        return self.where()

    def settle(self):
        """Waits until the run stops, and the page shows that stop."""
        self.browser.wait("document.querySelector('#debug-where')?.innerText && !document.querySelector('.debug.runs')")

    def where(self):
        return self.browser.js("return document.querySelector('#debug-where').innerText")

    def turn(self):
        return self.browser.js("return grapnel.tabs.tab('run').debugged.status.turn")

    def go(self, button):
        """Clicks a button; returns where the run stops."""
        turn = self.turn()
        self.browser.click(f"#debug-{button}")
        self.browser.wait(f"grapnel.tabs.tab('run').debugged.status.turn > {turn} && !grapnel.tabs.tab('run').debugged.runs")
        return self.where()

    def typed(self, css, text):
        self.browser.js("document.querySelector(arguments[0]).value = ''", css)
        self.browser.type(css, text)

    def stop_at(self, text):
        turn = self.turn()
        self.typed("#debug-break", text)
        self.browser.click("#debug-break-add")
        self.browser.wait(f"grapnel.tabs.tab('run').debugged.status.turn > {turn}")

    def breakpoints(self):
        return self.browser.js("return [...document.querySelectorAll('.debug .breakpoints li')].map((li) => li.innerText.replace(/^\\W/, ''))")

    def array(self, *words):
        """The text of the value viewer, once it contains these words."""
        for word in words:
            self.browser.wait(f"document.querySelector('#debug-array').textContent.includes({word!r})")
        return self.browser.js("return document.querySelector('#debug-array').textContent")

    def here(self, name):
        """Checks that the node is highlighted and visible."""
        self.browser.wait(f"""(() => {{
          const {{view, here}} = grapnel.tabs.tab('run').forms.get(grapnel.source.model).debug.graph;
          const box = view.boxes.find((b) => b.body === here?.body && b.box.id === here.id);
          if (!box || box.box.path !== {name!r} || !view.look.glows(box)) return false;
          const x = box.x * view.at.zoom + view.at.x, y = box.y * view.at.zoom + view.at.y;
          return x > 0 && y > 0 && x < view.canvas.clientWidth && y < view.canvas.clientHeight;
        }})()""")

    def stack(self):
        return self.browser.js("return [...document.querySelectorAll('#debug-stack li')].map((li) => li.innerText)")

    def test_steps_forth_and_back(self):
        self.open_run(graph(LOSS))
        self.assertEqual(self.start(), "before dense/MatMul (MatMul), step 1")
        self.here("dense/MatMul")
        self.array("array([[ 1., -1.],")
        self.assertTrue(self.browser.js("return document.querySelector('#debug-back').disabled"))
        self.assertEqual(self.go("next"), "before Softmax (Softmax), step 2")
        self.assertEqual(self.go("next"), "before loss/Log (Log), step 3")
        self.here("loss/Log")
        self.array("0.26677483")
        self.assertEqual(self.go("back"), "before Softmax (Softmax), step 2")
        self.here("Softmax")
        self.assertIn("run 1 has ended after 7 steps", self.go("continue"))
        self.array("nan")
        self.assertTrue(self.browser.js("return document.querySelector('#debug-next').disabled"))
        self.assertEqual(self.go("restart"), "before dense/MatMul (MatMul), step 1")
        turn = self.turn()
        self.browser.press("\ue03a")  # F10
        self.browser.wait(f"grapnel.tabs.tab('run').debugged.status.turn > {turn} && !grapnel.tabs.tab('run').debugged.runs")
        self.assertEqual(self.where(), "before Softmax (Softmax), step 2")
        self.browser.click("#debug-stop")
        self.browser.wait("document.querySelector('#run-start')")

    def test_breakpoints_on_node_op_and_filters(self):
        self.open_run(graph(LOSS))
        self.typed("#run-break", "op:Soft*")
        self.browser.click("#run-break-add")
        self.start()
        self.assertIn("before Softmax (Softmax), step 2\nbreakpoint 1: op:Soft*".replace("\n", ""), self.go("continue"))
        # From the graph: selects the box, then clicks the button below.
        view = "grapnel.tabs.tab('run').forms.get(grapnel.source.model).debug.graph.view"
        self.browser.js(f"{view}.toggle({view}.boxes.find((b) => b.box.path === 'loss'))")
        self.browser.wait(f"{view}.boxes.some((b) => b.box.path === 'loss/Sum')")
        self.browser.js("""const {view} = grapnel.tabs.tab('run').forms.get(grapnel.source.model).debug.graph;
          view.select(view.boxes.find((b) => b.box.path === 'loss/Sum'))""")
        turn = self.turn()
        self.browser.click("#debug-break-here")
        self.browser.wait(f"grapnel.tabs.tab('run').debugged.status.turn > {turn}")
        self.stop_at("has_inf_or_nan")
        self.stop_at("max(abs(_)) > 1e3")
        self.assertEqual(len(self.breakpoints()), 4)
        text = self.go("continue")
        self.assertIn("after loss/Log (Log), step 3", text)
        self.assertIn("breakpoint 3: has_inf_or_nan", text)
        self.assertIn("breakpoint 4: max(abs(_)) > 1e3", text)
        self.array("-inf")
        self.assertIn("after loss/mul", self.go("continue"))
        self.assertIn("before loss/Sum (Sum), step 5", self.go("continue"))
        self.here("loss/Sum")
        fills = self.browser.js("""const {view} = grapnel.tabs.tab('run').forms.get(grapnel.source.model).debug.graph;
          view.dispatchEvent(new Event('change'));
          return view.boxes.filter((b) => view.look.fillOf(b) === view.look.theme.marks[2]).map((b) => b.box.path)""")
        self.assertEqual(fills, ["loss/Sum"])
        # Deletes one; the others stay for the next session.
        self.browser.click(".debug .breakpoints li:last-child button")
        self.browser.wait("document.querySelectorAll('.debug .breakpoints li').length === 3")
        self.browser.click("#debug-stop")
        self.browser.wait("document.querySelector('#debug-start')?.offsetParent && document.querySelectorAll('.breakpoints li').length === 3")
        self.assertIn("before dense/MatMul", self.start())
        self.assertEqual([text.split(" ")[0] for text in self.breakpoints()], ["op:Soft*", "loss/Sum", "has_inf_or_nan"])

    def test_breakpoint_from_the_graph_tab(self):
        self.show(self.serve(graph(LOSS)))
        self.browser.js("grapnel.source.find('loss/Log').then(({body, node}) => grapnel.go(body, node))")
        link = "[...document.querySelectorAll('#panel .link')].find((l) => l.textContent === '%s')"
        self.browser.wait(link % "break before it")
        self.browser.js(f"({link % 'break before it'}).click()")
        self.browser.wait(link % "delete its breakpoint")
        self.browser.click("#to-run")
        self.browser.wait("document.querySelector('.breakpoints code')?.innerText === 'loss/Log'")
        self.start()
        self.assertIn("before loss/Log", self.go("continue"))
        self.browser.click("#to-graph")
        self.browser.js(f"({link % 'delete its breakpoint'}).click()")
        self.browser.wait(link % "break before it")
        self.browser.click("#to-run")
        self.assertEqual(self.breakpoints(), [])

    def test_breakpoint_that_nothing_fits_is_said(self):
        self.open_run(graph(LOSS))
        self.start()
        for text, words in (("loss/Lob", "did you mean 'loss/Log'"), ("op:Logg", "op 'Logg' not found"), ("max(", "a bracket is not closed"), ("max() > 1", "names no tensor")):
            self.typed("#debug-break", text)
            self.browser.click("#debug-break-add")
            self.browser.wait(f"document.querySelector('.debug [role=alert]:not([hidden])')?.innerText.includes({words!r})")
        self.assertEqual(self.breakpoints(), [])
        self.browser.click("#debug-stop")
        self.browser.wait("document.querySelector('#debug-start')?.offsetParent")
        self.typed("#run-break", "nowhere")
        self.browser.click("#run-break-add")
        self.browser.click("#debug-start")
        self.browser.wait("document.querySelector('.result').innerText.includes(\"breakpoint nowhere: node 'nowhere' not found\")")

    def test_into_a_function_and_over_iterations(self):
        self.open_run("testdata/collatz", case=True)
        self.start()
        self.stop_at("func:while_body_* iteration 2")
        text = self.go("continue")
        self.assertIn("step", text)
        self.assertRegex(self.stack()[0], r"in while_body_\d+ that while calls, iteration 2")
        self.assertEqual(self.stack()[-1], "in main")
        first = self.browser.js("return grapnel.tabs.tab('run').debugged.stop.node.name")
        self.here(first)
        self.browser.click(".debug .breakpoints li button")
        self.browser.wait("document.querySelectorAll('.debug .breakpoints li').length === 0")
        self.go("iteration")
        self.assertIn("iteration 3", self.stack()[0])
        self.assertIn("after while", self.go("finish"))
        self.go("restart")
        while "before while (" not in self.where():
            self.go("next")
        text = self.go("step")
        self.assertRegex(self.stack()[0], r"in while_cond_\d+ that while calls")
        self.here(self.browser.js("return grapnel.tabs.tab('run').debugged.stop.node.name"))
        # The crumbs lead back to main.
        self.browser.click(".crumbs .link")
        self.browser.wait("document.querySelector('.crumbs').innerText === 'main'")

    def test_loop_of_single_nodes(self):
        self.open_run(graph(LOOP))
        self.start()
        self.stop_at("add iteration 2")
        self.assertIn("before add (AddV2)", self.go("continue"))
        self.assertEqual(self.stack()[0], "in loop loop, iteration 2")
        self.array("2")
        self.go("iteration")
        self.assertEqual(self.stack()[0], "in loop loop, iteration 3")
        self.go("continue")
        self.array("4")

    def test_changed_value_gives_another_result(self):
        self.open_run(graph(LOSS))
        self.start()
        self.stop_at("has_inf_or_nan")
        self.go("continue")
        self.array("-inf")
        self.browser.js("[...document.querySelectorAll('#debug-tensors .link')].find((l) => l.textContent === 'Softmax:0').click()")
        self.array("0.7251692")
        turn = self.turn()
        self.typed("#debug-new-value", "maximum(Softmax:0, 1e-7)")
        self.browser.click("#debug-set")
        self.browser.wait(f"grapnel.tabs.tab('run').debugged.status.turn > {turn} && !grapnel.tabs.tab('run').debugged.runs")
        self.assertIn("after loss/Log", self.where())
        self.array("-16.118")
        self.go("continue")
        self.array("8.71972")
        # A single element, by a slice; an invalid slice is an error.
        self.go("restart")
        self.go("next")
        self.typed("#debug-slice", "[0]\n")
        self.array("array([")
        self.typed("#debug-new-value", "[1, 2, 3, 4, 5]")
        self.browser.click("#debug-set")
        self.browser.wait("!document.querySelector('.debug-value [role=alert]').hidden")
        self.assertIn("shape", self.browser.js("return document.querySelector('.debug-value [role=alert]').innerText"))

    def test_value_as_text_numbers_picture_and_file(self):
        self.open_run(graph(PICTURES))
        self.start()
        self.go("next")
        self.browser.wait("document.querySelector('.picture').innerText.includes('axis 1 down, axis 2 across, 3 tiles by axes 0, 3')")
        self.browser.wait("document.querySelector('.picture img').complete")
        self.assertGreater(self.browser.js("return document.querySelector('.picture img').naturalWidth"), 100)
        self.assertIn("144", self.browser.js("return document.querySelector('.numbers').innerText"))
        self.typed("#debug-axes", "3,1\n")
        self.browser.wait("document.querySelector('.picture').innerText.includes('axis 3 down, axis 1 across')")
        self.typed("#debug-axes", "3,9\n")
        self.browser.wait("document.querySelector('.picture').innerText.includes('axis 9 is out of range')")
        self.typed("#debug-slice", "0, 0, :2\n")
        self.browser.wait("document.querySelector('#debug-value-title').innerText.includes('(2, 3) of (1, 6, 8, 3)')")
        self.typed("#debug-precision", "2\n")
        self.browser.wait("/0[.]\\d\\d[,\\]]/.test(document.querySelector('#debug-array').textContent)")
        with urllib.request.urlopen(self.browser.js("return document.querySelector('#debug-value-title a').href")) as answer:
            bytes_ = answer.read()
        self.assertEqual(bytes_[:6], b"\x93NUMPY")
        self.assertEqual(len(bytes_), 128 + 6 * 8 * 3 * 4)
        self.assertEqual(len(struct.unpack(f"<{6 * 8 * 3}f", bytes_[128:])), 144)

    def test_sparse_and_ragged_are_shown_whole(self):
        self.open_run(graph(PARTS))
        self.start()
        texts = []
        for _ in range(5):
            texts.append(self.browser.js("return [...document.querySelectorAll('.whole')].map((p) => p.innerText).join()"))
            if "ended" in self.go("next"):
                break
        self.assertIn("a = sparse float32 (2, 2), 2 of 4 set: [0, 1]: -1., [1, 0]: -2.5", texts)
        self.assertIn("rt = ragged int32 (3, None): [[1, 2], [], [3]]", texts)

    def test_commands_as_at_the_prompt(self):
        self.open_run(graph(LOSS))
        self.start()
        self.browser.click(".console summary")
        for line, words in (("eval sum(x:0)", "63"), ("ni", "Op: MatMul"), ("pt x:0 --save /tmp/x.npy", "reads and writes files"),
                            ("set x:0 = /tmp/x.npy", "reads and writes files"), ("stepp", "did you mean 'step'")):
            self.typed("#debug-line", line + "\n")
            self.browser.wait(f"document.querySelector('#debug-said').textContent.includes({words!r})")
        self.typed("#debug-line", "next 2\n")
        self.browser.wait("document.querySelector('#debug-where').innerText.includes('loss/Log')")

    def test_refusals_are_in_words(self):
        self.open_run(graph(NO_KERNEL))
        self.browser.click("#debug-start")
        self.browser.wait("document.querySelector('.result h2')")
        self.assertIn("TPUReplicatedOutput", self.browser.js("return document.querySelector('.result').innerText"))
        self.open_run(graph(LOSS))
        for value, words in (("[[1, 2, 3]]", "x"), ("nothing", "'nothing'")):
            self.typed("#feed-0-text", value)
            self.browser.js("document.querySelector('.result').replaceChildren()")
            self.browser.click("#debug-start")
            self.browser.wait("document.querySelector('.result h2')")
            self.assertIn(words, self.browser.js("return document.querySelector('.result .said').innerText"))
        self.typed("#feed-0-text", "[[1, -1], [60, 3]]")
        self.typed("#run-devices", "cpu:2")
        self.browser.click("#debug-start")
        self.browser.wait("document.querySelector('.result').innerText.includes('one CPU')")
        self.browser.complaints()

    def test_two_tabs_have_a_session_each(self):
        self.open_run(graph(LOSS))
        self.start()
        self.go("next")
        first = self.browser.call("GET", "/window")
        second = self.browser.call("POST", "/window/new", {"type": "tab"})["handle"]
        self.browser.call("POST", "/window", {"handle": second})
        self.show(self.url)
        self.browser.click("#to-run")
        self.browser.wait("document.querySelector('#debug-start')")
        self.assertIn("before dense/MatMul", self.start())
        self.stop_at("op:Mean")
        self.assertIn("before loss/Mean", self.go("continue"))
        self.browser.call("DELETE", "/window")
        self.browser.call("POST", "/window", {"handle": first})
        self.assertEqual(self.where(), "before Softmax (Softmax), step 2")
        self.assertEqual(self.breakpoints(), [])
        self.assertIn("before loss/Log", self.go("next"))

    def test_endless_loop_is_paused_and_ends_with_its_page(self):
        self.open_run("tests/serve/inputs/long_loop.gtxt", case=True)
        self.start()
        self.browser.click("#debug-continue")
        self.browser.wait("document.querySelector('.debug.runs') && !document.querySelector('#debug-pause').disabled")
        self.browser.click("#debug-pause")
        self.settle()
        self.assertIn("step", self.where())
        self.browser.click("#debug-continue")
        self.browser.wait("document.querySelector('.debug.runs')")
        path = self.browser.js("return grapnel.tabs.tab('run').debugged.path('debug-run')")
        self.browser.go("about:blank")
        token = re.search("token=([0-9a-f]+)", self.url)[1]
        ask = urllib.request.Request(self.url.split("?")[0] + "api/" + path, headers={"X-Grapnel-Token": token})
        for _ in range(100):
            with urllib.request.urlopen(ask) as answer:
                if b'"over"' in answer.read():
                    break
            time.sleep(0.05)
        else:
            self.fail("the session goes on without its page")
        # A session cannot be started without the page's own origin and token.
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(self.url.split("?")[0] + "api/0/debug-run", data=b"{}",
                                                          headers={"X-Grapnel-Token": token}))
        self.assertEqual(refused.exception.code, 403)
        self.show(self.url)
        self.browser.click("#to-run")
        self.browser.wait("document.querySelector('#debug-start')")
        self.start()
        self.browser.click("#debug-continue")
        self.browser.wait("document.querySelector('.debug.runs')")
        began = time.time()
        self.servers[-1].terminate()
        self.assertEqual(self.servers[-1].wait(10), 0, "it ends while a run is debugged")
        self.assertLess(time.time() - began, 1.5 * SLOWER)
        self.browser.go("about:blank")
        self.browser.complaints()


if __name__ == "__main__":
    main()
