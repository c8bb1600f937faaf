"""A part of a graph: a neighborhood, paths, from the command line and from a node's panel; a node that lies in another's box."""
import page_case

COUNTS = "document.getElementById('counts').textContent"


class Parts(page_case.PageCase):
    def names(self):
        return {box["name"] for box in self.boxes() if box["kind"] != "scope"}

    def find(self, words, name):
        self.browser.js("document.getElementById('search').value = ''")
        self.browser.type("#search", words)
        self.browser.wait(f"[...document.querySelectorAll('#results [role=option]')].some((e) => e.textContent.includes({name!r}))")
        self.browser.js("[...document.querySelectorAll('#results [role=option]')].find((e) => e.textContent.includes(arguments[0])).click()", name)
        self.browser.wait(f"document.querySelector('#panel p')?.textContent.startsWith({name!r})")

    def way(self, text):
        self.browser.js("[...document.querySelectorAll('#panel .ways .link')].find((b) => b.textContent.startsWith(arguments[0])).click()", text)

    def test_a_command_line_opens_a_neighborhood(self):
        self.open_file("testdata/harmonic_mean_print", "--around", "StringFormat", "--hops", "1")
        self.browser.wait(f"{COUNTS}.includes('Only within 1 edge of StringFormat: 3 of 14 ops')")
        self.assertEqual(self.names(), {"StringFormat", "Min", "PrintV2"})
        self.assertEqual(self.browser.js("return grapnel.view.chosen.box.name"), "StringFormat")
        self.browser.js("[...document.querySelectorAll('#counts button')].find((b) => b.textContent === 'more').click()")
        self.browser.wait(f"{COUNTS}.includes('Only within 2 edges')")
        self.assertIn("hops=2", self.browser.js("return location.hash"))
        self.browser.js("[...document.querySelectorAll('#counts button')].find((b) => b.textContent === 'all').click()")
        self.browser.wait(f"!{COUNTS}.includes('Only')")
        self.assertGreater(len(self.boxes()), 5)

    def test_and_paths(self):
        self.open_file("testdata/harmonic_mean_print", "--path", "x..PrintV2")
        self.browser.wait(f"{COUNTS}.includes('Only paths x → PrintV2: 4 of 14 ops')")
        self.assertEqual(self.names(), {"x", "Min", "StringFormat", "PrintV2"})

    def test_a_node_of_a_function_too(self):
        self.open_file("testdata/collatz", "--around", self.function_node(), "--hops", "1")
        self.browser.wait(f"{COUNTS}.includes('Only within 1 edge')")
        self.assertNotEqual(self.browser.js("return grapnel.view.body"), 0)

    def function_node(self):
        self.show(self.serve("testdata/collatz"))
        return self.browser.js("""let name; return grapnel.source.forEachList(1, (list) => {
            name = list.names.find((_, row) => !list.traits(row).op.startsWith('_') && list.traits(row).op !== 'Const');
        }).then(() => `${grapnel.summary.bodies[1].name}/${name}`)""")

    def see_from_the_panel(self):
        self.find("op:maxpool", "sequential_1/max_pooling2d_1/MaxPool2d")
        self.way("neighbors")
        self.browser.wait(f"{COUNTS}.includes('Only within 2 edges of sequential_1/max_pooling2d_1/MaxPool2d')")
        self.browser.wait("grapnel.view.boxes.some((box) => box.box.op === 'BiasAdd')")
        self.assertLess(len(self.names()), 12)
        self.browser.call("POST", "/back", {})
        self.browser.wait(f"!{COUNTS}.includes('Only within')")
        self.find("op:maxpool", "sequential_1/max_pooling2d_1/MaxPool2d")
        self.way("paths to")
        self.browser.wait("document.activeElement.closest('.ways')")
        self.browser.type("#panel .ways input", "x")
        self.browser.press("Enter")
        self.browser.wait(f"{COUNTS}.includes('Only paths x → sequential_1/max_pooling2d_1/MaxPool2d')")
        self.assertIn("path=x..", self.browser.js("return location.hash"))
        self.assertIn("Placeholder", {box["op"] for box in self.boxes()})
        self.assertNotIn("Softmax", {box["op"] for box in self.boxes()})

    def test_a_nodes_panel_leads_to_neighbors_and_paths(self):
        self.show(self.serve("testdata/models/lenet"))
        self.see_from_the_panel()

    def test_in_a_file_too(self):
        self.open_file("testdata/models/lenet")
        self.see_from_the_panel()

    def test_what_is_wrong_with_a_part_is_said_and_all_is_shown(self):
        url = self.serve("testdata/harmonic_mean_print")
        self.show(url + "#around=absent")
        self.browser.wait(f"{COUNTS}.includes(\"node 'absent' not found\")")
        self.assertGreater(len(self.boxes()), 5)
        self.show(url + "#path=PrintV2..x")
        self.browser.wait(f"{COUNTS}.includes(\"there is no path from 'PrintV2' to 'x'\")")

    def test_a_folded_node_shows_the_box_that_reads_it(self):
        for show in (lambda: self.show(self.serve("testdata/models/lenet")), lambda: self.open_file("testdata/models/lenet")):
            show()
            self.find("dense_1/Cast/ReadVariableOp/resource", "sequential_1/dense_1/Cast/ReadVariableOp/resource")
            self.assertEqual(self.browser.js("return grapnel.view.chosen.box.op"), "MatMul")
            self.assertEqual(self.browser.js("return document.querySelector('#panel h2').textContent"), "Const")
            self.assertIn("Folded into the box that reads it: sequential_1/dense_1", self.browser.js("return document.getElementById('panel').textContent"))
            seen = self.browser.js("""const {at, canvas, chosen: box} = grapnel.view, x = at.x + box.x * at.zoom, y = at.y + box.y * at.zoom;
                return x >= 0 && y >= 0 && x < canvas.clientWidth && y < canvas.clientHeight""")
            self.assertTrue(seen)

    def test_a_hidden_node_that_was_found_is_shown_when_asked_for(self):
        self.show(self.serve("testdata/models/lenet") + "#hide=op:MaxPool")
        self.browser.type("#search", "op:maxpool")
        self.browser.wait("document.querySelector('#results [role=option]')")
        self.browser.press("Enter")
        self.browser.wait("document.querySelector('#panel .problem')?.textContent.includes('does not have it')")
        self.browser.click("#panel .problem .link")
        self.browser.wait("grapnel.view.chosen?.box.op === 'MaxPool'")


if __name__ == "__main__":
    page_case.main()
