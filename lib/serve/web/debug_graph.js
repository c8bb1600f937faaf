// The graph next to a debugged run, with the current node, breakpoints and the selected box.

import {colorBy} from "./colors.js";
import {element, link} from "./dom.js";
import {GraphView} from "./graph_view.js";

const HERE = 2, BREAK = 0;  // indices of the theme's mark colors

export class DebugGraph {
  // `page`: the Page; `actions`: toggle(body, name) sets or deletes a node's breakpoint,
  // isBroken(body, name) is true if the node has a breakpoint, look(body, name) shows the node's
  // outputs.
  constructor(page, actions) {
    this.page = page;
    this.actions = actions;
    this.source = page.source;
    this.summary = page.summary;
    this.crumbs = element("span", {class: "crumbs"});
    this.chosen = element("div", {class: "row chosen-node", role: "status"});
    const canvas = element("canvas", {id: "debug-canvas", tabindex: "0", role: "application",
      "aria-label": "Where the run is, in the graph. Arrow keys choose boxes, Enter opens and closes."});
    this.root = element("div", {class: "debug-graph"},
      element("p", {class: "pane-title"}, this.crumbs, element("span", {class: "legend-line"},
        element("i", {class: "swatch mark-2"}), "the run is here",
        element("i", {class: "swatch mark-0"}), "breakpoint")),
      canvas, this.chosen);
    this.view = new GraphView(canvas);
    this.view.setModel(this.source, this.summary);
    this.view.addEventListener("select", ({box}) => this.choose(box));
    this.view.addEventListener("change", () => this.list());
    this.theme = new MutationObserver(() => this.view.themeChanged());
    this.theme.observe(document.documentElement, {attributeFilter: ["class"]});
    this.color();
    this.choose(undefined);
  }

  close() { this.theme.disconnect(); }

  color() {
    const {look} = this.view;
    colorBy("op", look, this.summary, undefined, () => 0);
    const byOp = look.fillOf;
    const isHere = ({body, box}) => box.kind !== "scope" && body === this.here?.body
      && box.id === this.here.id;
    look.glows = isHere;
    look.fillOf = (placed) => (isHere(placed) ? look.theme.marks[HERE]
      : this.isBroken(placed) ? look.theme.marks[BREAK] : byOp(placed));
  }

  isBroken({body, box}) { return box.kind !== "scope" && this.actions.isBroken(body, box.path); }

  // Marks `node`, at which the run has stopped, and brings it into view. `node` is undefined if the
  // run continues or has ended.
  async show(node) {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    if (!node) {
      this.here = undefined;
      if (!this.view.frame) await this.view.show(this.view.home);
      return this.view.paint();
    }
    const known = await this.source.node(node.body, node.id);
    if (turn !== this.turn) return;
    this.here = known.reader ? {body: node.body, id: known.reader.id} : node;
    await this.view.reveal(node.body, this.here.id, known.around);
  }

  // Shows which body is visible: main, or a function, with a link back to main.
  list() {
    const {body} = this.view;
    const name = this.summary.bodies[body].name;
    this.crumbs.replaceChildren(...(body === 0 ? [element("strong", {}, "main")]
      : [link("main", () => this.view.show(0)), " \u25b8 ", element("strong", {}, `\u0192 ${name}`)]));
  }

  paint() {
    this.view.paint();
    this.choose(this.view.chosen);
  }

  // Shows the actions for the selected box.
  choose(placed) {
    if (!placed || placed.box.kind === "scope") {
      this.chosen.replaceChildren(element("span", {class: "dim"},
        "Choose a box for a breakpoint; a double click opens and closes it."));
      return;
    }
    const {body, box} = placed, broken = this.isBroken(placed);
    const label = broken ? "Delete its breakpoint" : "Break before it";
    const toggle = element("button", {type: "button", id: "debug-break-here",
      onclick: () => this.actions.toggle(body, box.path)}, label);
    const value = link("its value", () => this.actions.look(body, box.path));
    this.chosen.replaceChildren(element("strong", {}, box.path), element("span", {class: "dim"}, box.op),
      toggle, value, link("in the Graph tab", () => this.page.go(body, box.id)));
  }
}
