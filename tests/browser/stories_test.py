"""A folder of dumps with several functions: selecting one of them, and the life of a node in each trace."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_case import GRAPNEL, ROOT, PageCase, main  # noqa: E402

FLOAT = 'attr { key: "T" value { type: DT_FLOAT } }'
ARG = 'node { name: "x" op: "_Arg" attr { key: "T" value { type: DT_FLOAT } } attr { key: "index" value { i: 0 } } }\n'
RESULT = 'node { name: "y" op: "_Retval" input: "%s" attr { key: "T" value { type: DT_FLOAT } } attr { key: "index" value { i: 0 } } }\n'
LONG = "__inference_" + "a_function_with_a_very_long_name_" * 5 + "7"
OPTIONS = "return [...document.querySelectorAll('#story-list optgroup')].map((g) => [g.label, ...[...g.children].map((o) => o.textContent)])"
STAGES = "return [...document.querySelectorAll('#stage-list option')].map((o) => o.textContent)"


def chain(count, last="Relu"):
    names = ["x"] + [f"n{i}" for i in range(count)]
    nodes = "".join(f'node {{ name: "{name}" op: "Relu" input: "{before}" {FLOAT} }}\n' for before, name in zip(names, names[1:]))
    return ARG + nodes.replace("Relu", last, 1) + RESULT % names[-1]


def dumps():
    """Two traces of step, the second the larger one and with a partition, and a function with a long name."""
    folder = tempfile.mkdtemp()
    def write(name, text):
        with open(os.path.join(folder, name + ".pbtxt"), "w", encoding="utf-8") as file:
            file.write(text)
    for function, count in (("__inference_step_12", 3), ("__inference_step_34", 6), (LONG, 2)):
        write(function + ".0000.main.initial", chain(count))
        write(function + ".0001.main.before_placer", chain(count))
        write(function + ".0002.main.after_graph_optimization", chain(count, "Tanh"))
    write("__inference_step_34_partition__job:localhost_replica:0_task:0_device:CPU:0.0003.main.before_opt_group_post_partitioning", chain(6, "Tanh"))
    return folder


class Stories(PageCase):
    def choose(self, title):
        self.browser.js("""const list = document.getElementById('story-list');
          list.value = [...list.options].find((o) => o.textContent.startsWith(arguments[0])).value;
          list.dispatchEvent(new Event('change', {bubbles: true}));""", title)
        self.browser.wait(f"document.getElementById('title').textContent.startsWith({title!r})")

    def pages(self):
        """The same folder from a server and as a file."""
        folder = dumps()
        out = os.path.join(tempfile.mkdtemp(), "page.html")
        subprocess.run([GRAPNEL, "timeline", folder, "--html", out], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        return self.serve(folder), "file://" + out

    def test_opens_at_the_largest_and_lists_functions_with_their_traces(self):
        for url in self.pages():
            self.show(url)
            groups = self.browser.js(OPTIONS)
            self.assertEqual([group[0] for group in groups], ["step", LONG[12:-2]])
            self.assertEqual(groups[0][1:], ["step 34: 8 nodes, 1 of 4 stages changed something", "step 12: 5 nodes, 1 of 3 stages changed something"])
            self.assertEqual(self.browser.js("return document.getElementById('title').textContent"), "step 34: initial")
            self.assertEqual(self.browser.js(STAGES)[0], "initial")
            self.assertEqual(len(self.browser.js(STAGES)), 4)
            self.assertEqual(self.browser.js("return document.getElementById('stage-slider').max"), "3")

    def test_another_function_moves_slider_table_and_graph(self):
        for url in self.pages():
            self.show(url)
            self.browser.click("#to-passes")
            self.browser.wait("document.querySelectorAll('.stages tbody tr').length > 0")
            self.choose("step 12")
            self.browser.wait("document.querySelector('#tab-passes h2').textContent === 'What the passes did to step 12'")
            self.assertEqual(len(self.browser.js(STAGES)), 3)
            self.assertEqual(self.browser.js("return grapnel.summary.bodies[0].nodes"), 5)
            self.assertIn("also the 1 stage that changed nothing", self.browser.js("return document.getElementById('tab-passes').innerText"))
            self.browser.press("]")
            self.browser.wait("document.getElementById('stage-note').textContent.startsWith('2 of 3')")
            self.choose("step 34")  # which has that stage, too
            self.assertEqual(self.browser.js("return grapnel.models[grapnel.index].title"), "before placer")

    def test_the_address_keeps_function_and_stage(self):
        for url in self.pages():
            self.show(url)
            self.choose("step 12")
            self.browser.press("]")
            self.browser.press("]")
            self.browser.wait("document.getElementById('stage-note').textContent.startsWith('3 of 3')")
            self.browser.wait("location.hash.includes('graph=')")
            link = self.browser.js("return location.href")
            self.show(link)
            self.assertEqual(self.browser.js("return document.getElementById('title').textContent"), "step 12: after graph_optimization")
            self.assertTrue(self.browser.js("return document.getElementById('story-list').selectedOptions[0].textContent.startsWith('step 12')"))

    def test_a_long_name_stays_within_the_window(self):
        self.show(self.serve(dumps()))
        for width in (1280, 900):
            self.browser.call("POST", "/window/rect", {"width": width, "height": 900})
            self.choose(LONG[12:-2][:20])
            self.assertLessEqual(self.browser.js("return document.documentElement.scrollWidth - innerWidth"), 0)
            self.choose("step 34")
        self.browser.call("POST", "/window/rect", {"width": 1600, "height": 1000})

    def test_a_folder_with_one_function_has_no_chooser(self):
        folder = tempfile.mkdtemp()
        for number, stage in enumerate(("initial", "before_placer")):
            with open(os.path.join(folder, f"__inference_step_12.000{number}.main.{stage}.pbtxt"), "w", encoding="utf-8") as file:
                file.write(chain(3 + number))
        self.show(self.serve(folder))
        self.assertTrue(self.browser.js("return document.getElementById('story-list').hidden"))
        self.assertEqual(len(self.browser.js(STAGES)), 2)

    def test_a_node_tells_its_life_trace_by_trace(self):
        served, file = self.pages()
        self.show(served)
        self.browser.js("grapnel.source.find('n0').then(({body, node}) => grapnel.go(body, node))")
        self.browser.wait("document.querySelectorAll('#panel .life').length === 4")
        blocks = self.browser.js("return [...document.querySelectorAll('#panel .life')].map((e) => e.textContent)")
        self.assertTrue(blocks[0].startswith("step 34"), blocks[0])
        self.assertIn("after graph_optimization", blocks[0])
        self.assertTrue(blocks[1].startswith("step 12: "), blocks[1])
        self.assertTrue(blocks[2].startswith("A node of that name in 1 graph of other functions"), blocks[2])
        self.browser.click("#panel .life li:last-child .link")
        self.browser.wait("grapnel.models[grapnel.index].title === 'after graph_optimization'")
        self.browser.wait("grapnel.view.chosen?.box.name === 'n0'")
        self.show(file)
        self.browser.js("grapnel.source.forEachList(0, (list) => grapnel.go(0, list.ids[list.names.indexOf('n0')]))")
        self.browser.wait("document.getElementById('panel').innerText.includes('grapnel timeline DIR --node NODE')")


if __name__ == "__main__":
    main()
