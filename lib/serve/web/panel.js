// The panel that describes the selected box as text.

import {commas, element, link, plural} from "./dom.js";
import {fillOfKind} from "./draw.js";
import {lineItem} from "./edge_list.js";
import {costs, layerFacts} from "./panel_facts.js";
import {isFile} from "./source.js";
import {valueOf} from "./value_statistics.js";

const FEW = 12;  // marked nodes that are listed at first

const heading = (...text) => element("h3", {}, ...text);

const SIBLINGS = {
  alike: "Siblings of one structure",
  inputs: "Inputs of the graph",
  neighbors: "Neighbors in the flow",
  named: "Names that begin alike",
};
const list = (items) => element("ul", {}, ...items);
const copy = (label, title, text) => element("button",
  {type: "button", title, onclick: () => navigator.clipboard?.writeText(text)}, label);

// Returns a line of an explanation, with its indentation.
function explanation(line) {
  const indent = Math.min(4, Math.floor((line.length - line.trimStart().length) / 2));
  return element("p", {class: "line", "data-indent": String(indent)}, line.trim());
}

export function inWords({box, inner}) {
  const words = box.kind === "scope" ? `scope ${box.path}, ${plural(box.ops, "op")}`
    : `${box.op} ${box.name}`;
  return `${words}${inner ? ", open" : ""}`;
}

const fileName = (path) => path.split("/").at(-1);

// Returns elements with the source line that made a node, its text, and the calls around it.
function stackOf(frames, find) {
  const at = ({file, line, function: name}) => element("p", {class: "line", title: `${file}:${line}`},
    find ? link(`${fileName(file)}:${line}`, () => find(`${file}:${line}`), "Show all that this line made")
      : `${fileName(file)}:${line}`,
    name ? ` in ${name}` : "");
  const row = (frame, text, i) => element("div", {class: frame.first_line + i === frame.line ? "here" : ""},
    element("span", {class: "number"}, String(frame.first_line + i)), text || " ");
  const text = (frame) => element("pre", {class: "source", tabindex: "0"},
    ...frame.lines.map((line, i) => row(frame, line, i)));
  const code = (frame) => (frame.lines ? [text(frame)] : []);
  const mine = frames.filter((frame) => !frame.framework);
  const others = frames.filter((frame) => frame.framework);
  const [first, ...outer] = mine.length > 0 ? mine : others.splice(0, 1);
  const parts = [heading("Made at"), at(first), ...code(first)];
  const folded = (title, list) => (list.length > 0 ? [element("details", {},
    element("summary", {}, title), ...list.flatMap((frame) => [at(frame), ...code(frame)]))] : []);
  return [...parts, ...folded(`within ${plural(outer.length, "call")}`, outer),
    ...folded(plural(others.length, "library frame"), others)];
}

// `summary` and `source` are those of the model; set them before anything is shown. `go(body,
// node)` shows a node, `enter(body)` a function, `toggle(placed)` opens or closes a box. Optional:
// `card(card)` opens a card of the debugger (required if a node has one), `more(body, node)`
// promises more elements for a node, `ways(body, node)` returns an element with links from the
// node, `numbers(placed)` returns elements with the numbers from files for a scope, or without one
// for the whole graph, `find(text)` searches.
export class Panel {
  constructor(root, actions) {
    this.root = root;
    this.actions = actions;
  }

  nodeLink(body, node, text = node.name) {
    return link(text, () => this.actions.go(body, node.id), `${node.op} ${node.name}`);
  }

  // Returns the last item of an incomplete list: a link "and COUNT more". A click replaces it by
  // the items that load() promises, the last of which may be such a link again.
  rest(count, load) {
    const more = async () => line.replaceWith(...await load());
    const line = element("li", {}, link(`and ${commas(count)} more`, more));
    return line;
  }

  // Returns a button that copies the nodes of a scope (0: of the whole body) as the text of a
  // graph.
  copyScope(body, scope) {
    if (isFile) {
      const why = "This page is a file, with the text of single nodes only: grapnel serve copies boxes too";
      return element("button", {type: "button", disabled: true, title: why}, "copy as text");
    }
    const button = element("button", {
      type: "button",
      title: "Copy its nodes as a graph's text, with a Placeholder for each tensor that comes in",
      onclick: () => this.copyText(button, `text/${body}/${scope}`),
    }, "copy as text");
    return button;
  }

  async copyText(button, path) {
    try {
      const {text} = await this.source.get(path);
      await navigator.clipboard.writeText(text);
      button.textContent = `copied, ${plural(text.trimEnd().split("\n").length, "line")}`;
    } catch (error) {
      button.after(element("p", {class: "problem"}, error.message));
    }
  }

  showModel() {
    this.root.classList.remove("cards");
    const main = this.summary.bodies[0];
    const parts = [
      element("h2", {}, this.summary.title),
      element("p", {class: "dim"},
        `${plural(main.nodes, "node")}, ${plural(main.data_inputs, "edge")} and ` +
        `${plural(main.control_inputs, "control edge")}; ` +
        `${plural(this.summary.bodies.length - 1, "function")}.`),
      element("p", {}, "Choose a box to read about it. Double click, or the small triangle, opens it."),
    ];
    for (const line of this.summary.marks?.summary ?? []) parts.push(element("p", {}, line));
    if (this.summary.marks) parts.push(...this.marked(), ...this.renamed());
    const own = this.summary.signatures.filter(({name}) => !name.startsWith("__saved_model_"));
    for (const signature of own) {
      const row = (tensor) => element("tr", {},
        element("td", {}, tensor.key),
        element("td", {}, `${tensor.tensor}  ${tensor.type}`));
      parts.push(
        heading("Signature ", signature.body === undefined ? signature.name
          : link(signature.name, () => this.actions.enter(signature.body))),
        element("p", {class: "dim"}, "inputs"),
        element("table", {}, ...signature.inputs.map(row)),
        element("p", {class: "dim"}, "outputs"),
        element("table", {}, ...signature.outputs.map(row)));
    }
    parts.push(...this.actions.numbers?.() ?? []);
    if (this.summary.problem_count > 0) {
      parts.push(
        heading(plural(this.summary.problem_count, "problem")),
        list(this.problems(this.summary)));
    }
    this.root.replaceChildren(...parts);
  }

  problems({problems, problem_count: count, next_problem: next}) {
    const items = problems.map((text) => element("li", {class: "problem"}, text));
    if (next === undefined) return items;
    return [...items, this.rest(count - next, async () => this.problems(await this.source.problems(next)))];
  }

  showScope(placed) {
    const {box, view, index, body} = placed;
    const items = [...view.boxes, ...view.sources, ...view.sinks];
    const far = (item) => items[item] ?? view.joints.get(item);
    const name = (item) => far(item).name || far(item).path || far(item).op;
    const times = (count) => (count > 1 ? ` \u00d7${commas(count)}` : "");
    const line = (edge, end) => [name(edge[end]), " ",
      element("span", {class: "dim"}, edge.control ? "control" : edge.label ?? "", times(edge.count))];
    const row = (edge, end) => lineItem(this, body, line(edge, end),
      {from: far(edge.from).key, to: far(edge.to).key, control: Boolean(edge.control)});
    const rows = (edges, end) => list(edges.map((edge) => row(edge, end)));
    const into = view.edges.filter((edge) => edge.to === index);
    const out = view.edges.filter((edge) => edge.from === index);
    const parts = [
      element("h2", {}, box.name || "(top)"),
      ...this.layer(box),
      element("p", {class: "dim"}, SIBLINGS[box.siblings] ?? "Name scope", ` ${box.path}`,
        box.taken > 0 ? `, and ${plural(box.taken, "op")} between its ops` : ""),
      element("p", {}, `${plural(box.ops, "op")}: ${(box.notes ?? []).join("; ")}`),
      ...costs(placed, this.summary.batch),
      element("p", {},
        element("button", {type: "button", onclick: () => this.actions.toggle(placed)},
          placed.inner ? "Close" : "Open"),
        " ", this.copyScope(body, box.scope)),
      ...this.actions.numbers?.(placed) ?? [],
    ];
    for (const [counts, title] of [[box.devices, "Devices asked for"], [box.clusters, "XLA clusters"]]) {
      const row = ([text, count]) => element("tr", {},
        element("td", {}, text),
        element("td", {}, plural(count, "op")));
      if (counts) parts.push(heading(title), element("table", {}, ...Object.entries(counts).map(row)));
    }
    if (into.length > 0) parts.push(heading("Comes in from"), rows(into, "from"));
    if (out.length > 0) parts.push(heading("Goes out to"), rows(out, "to"));
    this.root.replaceChildren(...parts);
  }

  // Returns elements about the layer that a box shows, if any.
  layer(box, words = "Layer") {
    if (!box.layer) return [];
    const more = element("div", {class: "layer"});
    const weightValue = async (node) => {
      const about = await this.source.node(0, node);
      const unknown = [element("p", {class: "dim"}, "Its value is not known.")];
      return about.value === undefined ? unknown : valueOf(about);
    };
    this.source.layers().then(({layers}) => more.append(...layerFacts(layers, box.layer, weightValue)))
      .catch((error) => more.append(element("p", {class: "problem"}, error.message)));
    return [element("p", {}, `${words} ${box.layer}`, box.className && ` (${box.className})`), more];
  }

  showNode(body, node, placed) {
    const parts = [
      element("h2", {}, node.op),
      element("p", {}, node.name, " ",
        copy("copy", "Copy the name (c)", node.name), " ",
        copy("copy as text", node.text, node.text + "\n")),
    ];
    if (placed?.box.layer) parts.push(...this.layer(placed.box, "All of layer"));
    if (this.actions.ways) parts.push(this.actions.ways(body, node));
    if (body > 0) {
      parts.push(element("p", {class: "dim"}, "in function ",
        link(this.summary.bodies[body].name, () => this.actions.enter(body))));
    }
    if (node.custom) {
      parts.push(element("p", {class: "dim"},
        "An op that TensorFlow 2.21 does not have: nothing is known of its inputs and outputs."));
    }
    if (node.mark !== undefined) {
      const kind = this.summary.marks.kinds[node.mark];
      parts.push(element("p", {class: `mark mark-${fillOfKind(node.mark)}`}, kind));
    }
    if ((node.details ?? []).length > 0) parts.push(...this.details(node));
    const more = element("div");
    const failed = (error) => more.append(element("p", {class: "problem"}, error.message));
    this.actions.more?.(body, node).then((made) => more.append(...made)).catch(failed);
    parts.push(more);
    if (node.folded) {
      parts.push(element("p", {class: "dim"}, "Folded into the box that reads it: ",
        this.nodeLink(body, node.reader)));
    }
    for (const call of node.calls ?? []) {
      parts.push(element("p", {}, `${call.role || "calls"}: `,
        link(call.name, () => this.actions.enter(call.body), "Go into this function"), " ",
        this.copyScope(call.body, 0)));
    }
    if (placed && (node.calls?.length ?? 0) > 0) {
      parts.push(element("button", {type: "button", onclick: () => this.actions.toggle(placed)},
        placed.inner ? "Close here" : "Open here"));
    }
    const told = (words, what) => element("p", {}, element("span", {class: "dim"}, `${words} `), what);
    if (node.placed) parts.push(told("runs on", node.placed));
    parts.push(told(node.placed ? "requested" : "device", node.device ?? "none requested"));
    if (node.cluster) parts.push(told("XLA cluster", node.cluster));
    if (placed) parts.push(...costs(placed, this.summary.batch));
    if (node.stack) parts.push(...stackOf(node.stack, this.actions.find));
    if (node.value !== undefined) {
      parts.push(heading(node.variable ? `Stored value of ${node.variable}` : "Value"), ...valueOf(node));
    }
    parts.push(...this.inputs(body, node), ...this.outputs(body, node), ...this.attributes(node));
    this.root.replaceChildren(...parts);
  }

  // Adds a remark that the filter hides the node that is shown, with a link to show it.
  showHidden(show) {
    this.root.prepend(element("p", {class: "problem"}, "What is shown does not have it: ",
      link("show all", show)));
  }

  // Returns the lists of marked nodes, by kind.
  marked() {
    const first = this.summary.marked_counts.findIndex((count) => count > 0);
    return this.summary.marks.kinds.flatMap((kind, i) => {
      const count = this.summary.marked_counts[i];
      if (count === 0) return [];
      const item = ([body, id, , op, name]) => element("li", {},
        this.nodeLink(body, {id, op, name}), " ",
        element("span", {class: "dim"}, op));
      const load = async (next) => {
        const page = await this.source.marked(i, next);
        return items(page.marked, page.next);
      };
      const items = (marked, next) => {
        const shown = marked.map(item);
        return next === undefined ? shown : [...shown, this.rest(count - next, () => load(next))];
      };
      const marked = this.summary.marked.filter((entry) => entry[2] === i);
      const open = i === first || count <= FEW;
      return [element("details", {open},
        element("summary", {},
          element("span", {class: `mark mark-${fillOfKind(i)}`}, `${commas(count)} ${kind}`)),
        list(items(marked, marked.length < count ? marked.length : undefined)))];
    });
  }

  // Returns the list of renamed scopes and nodes.
  renamed() {
    const {renamed, renamed_count: count} = this.summary.marks;
    if (count === 0) return [];
    const item = ([before, after, nodes]) => element("li", {},
      element("del", {}, before || "(top)"), " \u2192 ", element("ins", {}, after || "(top)"), " ",
      element("span", {class: "dim"}, plural(nodes, "node")));
    const parts = [element("summary", {}, `${commas(count)} renamed`), list(renamed.map(item))];
    const rest = count - renamed.length;
    if (rest > 0) parts.push(element("p", {class: "dim"}, `and ${commas(rest)} more`));
    return [element("details", {open: count <= FEW}, ...parts)];
  }

  // Returns the details of a mark: the values before and after, or the lines of an explanation.
  details(node) {
    return node.details.flatMap(({what, before, after, lines, card}) => {
      if (!lines) {
        return [heading(what), element("p", {},
          element("del", {}, before || "not there"), " \u2192 ",
          element("ins", {}, after || "not there"))];
      }
      const parts = [heading(what), ...lines.map(explanation)];
      if (card) parts.push(element("p", {}, link("Its card in the debugger", () => this.actions.card(card))));
      return parts;
    });
  }

  input(body, input) {
    if (input.missing !== undefined) {
      const text = `${input.slot ?? "control"}: '${input.missing}' is not in the graph`;
      return element("li", {class: "problem"}, text);
    }
    const name = input.port > 0 ? `${input.name}:${input.port}` : input.name;
    return element("li", {},
      input.slot ? element("span", {class: "dim"}, `${input.slot} `) : undefined,
      this.nodeLink(body, input, name), " ",
      element("span", {class: "dim"}, input.control ? input.op : `${input.type || "?"} from ${input.op}`));
  }

  inputs(body, node) {
    const data = node.inputs.filter((input) => !input.control);
    const control = node.inputs.filter((input) => input.control);
    const items = (inputs) => list(inputs.map((input) => this.input(body, input)));
    const parts = [];
    if (data.length > 0) parts.push(heading(plural(data.length, "input")), items(data));
    if (control.length > 0) {
      parts.push(heading(`Waits for ${plural(control.length, "op")} (control)`), items(control));
    }
    return parts;
  }

  outputs(body, node) {
    const parts = [];
    const item = (reader) => element("li", {},
      this.nodeLink(body, reader), " ",
      element("span", {class: "dim"}, reader.op));
    const load = async (output, next) =>
      items(await this.source.readers(body, node.id, output, next), output);
    const items = ({readers: known, count, next}, output) => {
      const shown = known.map(item);
      return next === undefined ? shown : [...shown, this.rest(count - next, () => load(output, next))];
    };
    const readers = (entry, output) => list(items(entry, output));
    node.outputs.forEach((output, place) => {
      parts.push(
        heading([`Output ${output.port ?? place}`, output.slot].filter(Boolean).join(" ") +
          `  ${output.type || "?"}`),
        output.count > 0 ? readers(output, place) : element("p", {class: "dim"}, "no readers"));
    });
    if (node.after.count > 0) {
      parts.push(
        heading(`${plural(node.after.count, "op")} after it (control)`),
        readers(node.after, node.outputs.length));
    }
    return parts;
  }

  attributes(node) {
    if (node.attributes.length === 0) return [];
    const toFunction = (body) => link(this.summary.bodies[body].name, () => this.actions.enter(body));
    const value = ({functions, text}) => (functions?.length > 0 ? functions.map(toFunction) : [text]);
    const row = (attribute) => element("tr", {},
      element("td", {}, attribute.name),
      element("td", {}, ...value(attribute)));
    return [heading("Attributes"), element("table", {}, ...node.attributes.map(row))];
  }
}
