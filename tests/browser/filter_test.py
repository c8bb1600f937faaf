"""Hiding nodes by op and by name, and edges of resources; the page says so and keeps it."""
import page_case

COUNTS = "document.getElementById('counts').textContent"
OPEN_ALL = "for (const box of grapnel.view.boxes) if (box.box.kind === 'scope' && !box.inner) grapnel.view.toggle(box);"
# Edges of all frames between boxes: [op of one end, op of the other, dashed through hidden ops].
EDGES = """const edges = [];
const visit = (frame) => {
  const op = (item) => frame.boxes[item] ? frame.boxes[item].box.op ?? frame.boxes[item].box.name : frame.view.joints?.has(item) ? "joint" : "port";
  for (const {edge} of frame.edges) edges.push([op(edge.from), op(edge.to), Boolean(edge.through)]);
  for (const box of frame.boxes) (box.inner?.frames ?? []).forEach(visit);
};
visit(grapnel.view.frame);
return edges;"""


class Hiding(page_case.PageCase):
    def counts(self, holds):
        self.browser.wait(f"{COUNTS}.includes({holds!r})")

    def ops(self):
        return {box["op"] for box in self.boxes()}

    def hide(self, word):
        self.browser.js("document.getElementById('filter').click()")
        self.browser.wait("document.getElementById('hide-word')")
        self.browser.js("document.getElementById('hide-word').value = ''")
        self.browser.type("#hide-word", word)
        self.browser.press("Enter")

    def see(self):
        self.browser.js(OPEN_ALL)
        self.browser.wait("grapnel.view.boxes.some((box) => box.box.op === 'BiasAdd')")
        self.assertIn(["BiasAdd", "Relu", False], self.browser.js(EDGES))
        self.hide("Relu")
        self.counts("Hidden: 2 Relu")
        self.assertNotIn("Relu", self.ops())
        self.browser.wait("location.hash.includes('hide=op%3ARelu')")
        dashed = [edge for edge in self.browser.js(EDGES) if edge[2]]
        self.assertTrue(any(edge[0] == "BiasAdd" for edge in dashed), dashed)
        self.hide("/Squeeze$/")
        self.counts("Hidden: 2 Relu, 2 Squeeze")
        self.assertNotIn("Squeeze", self.ops())
        self.show(self.browser.js("return location.href"))  # the address alone
        self.counts("Hidden: 2 Relu, 2 Squeeze")
        self.assertNotIn("Relu", self.ops())
        self.browser.call("POST", "/refresh", {})
        self.counts("Hidden: 2 Relu, 2 Squeeze")
        self.browser.js("[...document.querySelectorAll('#counts button')].find((b) => b.textContent === 'show').click()")
        self.browser.wait("grapnel.view.boxes.some((box) => box.box.op === 'Relu')")
        self.assertNotIn("Hidden", self.browser.js(f"return {COUNTS}"))

    def test_ops_and_names_are_hidden_in_a_served_page(self):
        self.show(self.serve("testdata/models/lenet"))
        self.see()

    def test_and_in_a_file(self):
        self.open_file("testdata/models/lenet")
        self.see()

    def test_a_list_of_ops_hides_one_and_shows_one_alone(self):
        self.show(self.serve("testdata/models/lenet"))
        self.browser.press("h")
        self.browser.wait("document.querySelectorAll('#panel .entry').length > 10")
        entry = "[...document.querySelectorAll('#panel .entry')].find((e) => e.textContent.includes('Identity'))"
        self.browser.js(f"{entry}.querySelector('input').click()")
        self.counts("15 Identity")
        self.browser.js(f"{entry}.querySelector('.link').click()")
        self.browser.wait("document.querySelector('#panel .chips')?.textContent.includes('only op:Identity')")
        self.browser.js("[...document.querySelectorAll('#panel .chips .link')].at(-1).click()")
        self.browser.wait(f"!{COUNTS}.includes('Hidden')")

    def test_a_command_line_says_what_a_page_hides_at_first(self):
        self.open_file("testdata/models/lenet", "--hide", "op:Conv2D,control")
        self.counts("Hidden: 2 Conv2D, control edges")
        self.assertFalse(self.browser.js("return document.getElementById('control').checked"))

    def test_a_scope_of_hidden_nodes_alone_is_hidden_and_lines_of_constants_go_with_them(self):
        self.open_file("testdata/models/lenet", "--hide", "op:*")
        self.assertEqual(self.boxes(), [])
        self.open_file("testdata/models/lenet", "--hide", "op:Const")
        self.browser.js(OPEN_ALL)
        self.browser.wait("grapnel.view.boxes.some((box) => box.box.op === 'Conv2D')")
        self.assertEqual(self.browser.js("return grapnel.view.boxes.filter((box) => box.box.op === 'Conv2D').map((box) => box.lines.length)"), [1, 1])

    def test_edges_of_resources_are_not_drawn(self):
        self.show(self.serve("tests/render/hidden.gtxt"))
        self.assertEqual(self.browser.js("return grapnel.view.frame.edges.filter(({edge}) => edge.handles).length"), 2)
        self.browser.click("#handles")
        self.browser.wait("grapnel.view.look.hideHandles")
        self.counts("Hidden: edges of resources")
        self.assertIn("hide=resources", self.browser.js("return location.hash"))

    def facets(self):
        self.browser.press("h")
        self.browser.wait("document.querySelectorAll('#panel details').length > 1")
        return self.browser.js("""return Object.fromEntries([...document.querySelectorAll('#panel details')].map((list) => [list.querySelector('summary').textContent,
            [...list.querySelectorAll('.entry label')].map((label) => label.textContent.trim())]))""")

    def click(self, title, text, what):
        self.browser.js("""const list = [...document.querySelectorAll('#panel details')].find((d) => d.querySelector('summary').textContent === arguments[0]);
            [...list.querySelectorAll('.entry')].find((e) => e.textContent.trim().startsWith(arguments[1])).querySelector(arguments[2]).click()""", title, text, what)

    def test_jobs_tasks_and_devices_are_counted_and_filter(self):
        for show in (lambda: self.show(self.serve("tests/serve/inputs/places.gtxt")), lambda: self.open_file("tests/serve/inputs/places.gtxt")):
            show()
            lists = self.facets()
            self.assertEqual(lists["Jobs"], ["worker 3", "none 1", "ps 1"])
            self.assertEqual(lists["Tasks"], ["0 3", "none 1", "1 1"])
            self.assertEqual(len(lists["Devices"]), 5)
            self.assertNotIn("Functions", lists)
            self.click("Jobs", "worker", "input")
            self.counts("Hidden: 1 Neg, 1 Placeholder, 1 Relu")
            self.assertEqual({box["op"] for box in self.boxes()}, {"Exp", "Tanh"})
            self.click("Jobs", "worker", "input")
            self.browser.wait("grapnel.view.boxes.length === 5")
            self.click("Tasks", "1", ".link")
            self.browser.wait("grapnel.view.boxes.length === 1")
            self.assertIn("only=task%3A1", self.browser.js("return location.hash"))

    def test_functions_are_counted_and_filter(self):
        self.show(self.serve("tests/serve/inputs/clusters.gtxt"))
        self.assertEqual(self.facets()["Functions"], ["main 8", "compiled 4", "inner 3"])
        self.browser.js("grapnel.enter(1)")
        self.browser.wait("grapnel.view.body === 1 && grapnel.view.boxes.length > 1")
        self.facets()
        self.click("Functions", "compiled", "input")
        self.browser.wait("grapnel.view.boxes.length === 0")

    def test_xla_clusters_are_counted_and_filter(self):
        for show in (lambda: self.show(self.serve("tests/serve/inputs/clusters.gtxt")), lambda: self.open_file("tests/serve/inputs/clusters.gtxt")):
            show()
            self.assertEqual(self.facets()["XLA clusters"], ["function compiled 8", "none 2", "cluster_0 2", "step 2", "cluster_1 1"])
            self.click("XLA clusters", "cluster_0", "input")
            self.counts("Hidden: 1 AddV2, 1 Mul")
            self.assertIn("hide=cluster%3Acluster_0", self.browser.js("return location.hash"))
            self.click("XLA clusters", "cluster_0", "input")
            self.click("XLA clusters", "cluster_1", ".link")
            self.browser.wait("grapnel.view.boxes.length === 1 && grapnel.view.boxes[0].box.op === 'Tanh'")

    def through(self):
        return sorted(self.browser.js("""const {frame} = grapnel.view, name = (item) => frame.boxes[item]?.box.name ?? "joint";
            return frame.edges.filter(({edge}) => edge.through).map(({edge}) => `${name(edge.from)} ${name(edge.to)}`)"""))

    def test_lines_through_hidden_scopes_are_those_of_paths_inside(self):
        for show in (lambda: self.show(self.serve("tests/serve/inputs/two_ways.gtxt")), lambda: self.open_file("tests/serve/inputs/two_ways.gtxt")):
            show()
            self.browser.js("grapnel.view.closeAll()")
            self.browser.wait("grapnel.view.boxes.length === 8")
            self.browser.js("return grapnel.filtering.set({hide: ['name:s/*']})")
            self.assertEqual(self.through(), ["a t", "a u", "c t"], "c does not lead to u")
            self.browser.js("return grapnel.filtering.set({hide: ['name:s/*', 'name:u/*']})")
            self.assertEqual(self.through(), ["a e", "a t", "c t"])
            self.assertNotIn("left out", self.browser.js(f"return {COUNTS}"))
            self.browser.js("return grapnel.filtering.set({hide: ['name:t/*']})")
            self.assertEqual(self.through(), ["joint b", "joint d", "s joint"], "each leads there")
            self.browser.js("return grapnel.filtering.set({hide: ['name:s/*', 'name:t/*']})")
            self.assertEqual(self.through(), ["a u"], "two tensors go from s to t")
            self.counts("Some lines through 2 hidden scopes are left out")
            self.browser.js("return grapnel.filtering.set({hide: ['name:s/*', 'name:a']})")
            self.assertEqual(self.through(), ["c t"])
            self.browser.wait(f"!{COUNTS}.includes('left out')")
            self.browser.js("return grapnel.filtering.set({hide: ['name:s/*', 'name:u/*']})")
            self.toggle("t")
            self.assertEqual(self.through(), ["a e"], "p or q: which of the two tensors comes from a is not known")
            self.counts("Some lines through 1 hidden scope are left out")

    def test_a_folded_constant_that_is_hidden_is_counted_once(self):
        for show in (lambda: self.show(self.serve("testdata/models/lenet")), lambda: self.open_file("testdata/models/lenet")):
            show()
            self.counts("18 constants folded")
            self.browser.js("return grapnel.filtering.set({hide: ['op:Const']})")
            self.counts("Hidden: 18 Const")
            self.assertNotIn("folded into their readers", self.browser.js(f"return {COUNTS}"))

    def test_what_is_wrong_with_a_word_is_said(self):
        self.show(self.serve("testdata/models/lenet"))
        self.hide("/(/")
        self.browser.wait("document.querySelector('#panel .problem')?.textContent.includes('(')")
        self.assertNotIn("hide", self.browser.js("return location.hash"))


if __name__ == "__main__":
    page_case.main()
