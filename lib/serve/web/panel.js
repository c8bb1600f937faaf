// What is known of the box that is chosen, in words.

import {commas, element, link, plural} from "./dom.js";
import {isFile} from "./source.js";

const FEW = 12;  // marked nodes that are listed at once

const heading = (text) => element("h3", {}, text);
// Of a box, beside the body around it.
function costs({box, view}) {
  const share = (key) => (view[`all_${key}`] > box[key]
    ? `, ${Math.round((100 * box[key]) / view[`all_${key}`]) || "less than 1"} % of the whole` : "");
  const line = (key, words) => (box[key] > 0 ? element("p", {class: "dim"},
    `${commas(box[key])} ${words}${share(key)}`) : undefined);
  return [line("flops", "FLOPs, estimated by shapes"), line("bytes",
    "bytes of constants and variables")].filter(Boolean);
}

const SIBLINGS = {alike: "Siblings of one structure", neighbours: "Neighbours in the flow",
  named: "Names that begin alike"};
const list = (items) => element("ul", {}, ...items);

// A line of an explanation, indented as it is on a terminal.
const explanation = (line) => element("p", {class: "line", "data-indent": String(Math.min(4,
  Math.floor((line.length - line.trimStart().length) / 2)))}, line.trim());

export function inWords({box, inner}) {
  const words = box.kind === "scope" ? `scope ${box.path}, ${plural(box.ops, "op")}`
    : `${box.op} ${box.name}`;
  return `${words}${inner ? ", open" : ""}`;
}

// `summary` and `source` are the model's, set before anything is shown. `go(body, node)` shows a node,
// `enter(body)` a function, `toggle(placed)` opens a box, `more(body, node)`, if there is one, promises what
// else is to be said of a node.
export class Panel {
  constructor(root, actions) {
    this.root = root;
    this.actions = actions;
  }

  nodeLink(body, node, text = node.name) {
    return link(text, () => this.actions.go(body, node.id), `${node.op} ${node.name}`);
  }

  // The last item of a list that goes on: a link that loads its next page. `load()` gives the page's items,
  // then such an item again.
  rest(count, load) {
    const line = element("li", {}, link(`and ${commas(count)} more`,
      async () => line.replaceWith(...(await load()).filter(Boolean))));
    return line;
  }

  // Copies the nodes of a scope, or (0) of a whole body, as a graph that can be read again.
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
      element("p", {class: "dim"}, `${plural(main.nodes, "node")}, ${plural(main.data_inputs, "edge")} and ` +
              `${plural(main.control_inputs, "control edge")}; ` +
              `${plural(this.summary.bodies.length - 1, "function")}.`),
      element("p", {}, "Choose a box to read about it. Double click, or the small triangle, opens it."),
    ];
    for (const line of this.summary.marks?.summary ?? []) parts.push(element("p", {}, line));
    if (this.summary.marks) parts.push(...this.marked());
    for (const signature of this.summary.signatures) {
      const row = (tensor) => element("tr", {}, element("td", {}, tensor.key),
        element("td", {}, `${tensor.tensor}  ${tensor.type}`));
      parts.push(heading(`Signature ${signature.name}`), element("p", {class: "dim"}, "inputs"),
                 element("table", {}, ...signature.inputs.map(row)), element("p", {class: "dim"}, "outputs"),
                 element("table", {}, ...signature.outputs.map(row)));
    }
    if (this.summary.problem_count > 0) {
      parts.push(heading(plural(this.summary.problem_count, "problem")),
                 list(this.problems(this.summary).filter(Boolean)));
    }
    this.root.replaceChildren(...parts);
  }

  problems({problems, problem_count: count, next_problem: next}) {
    return [...problems.map((text) => element("li", {class: "problem"}, text)), next === undefined ? undefined
      : this.rest(count - next, async () => this.problems(await this.source.problems(next)))];
  }

  showScope(placed) {
    const {box, view, index, body} = placed;
    const count = view.boxes.length, name = (item) => item < count
      ? view.boxes[item].name || view.boxes[item].path
      : item < count + view.sources.length ? view.sources[item - count].name
      : view.sinks[item - count - view.sources.length].name;
    const rows = (edges, end) => list(edges.map((edge) => element("li", {}, name(edge[end]), " ",
      element("span", {class: "dim"}, edge.control ? "control" : edge.label ?? "", edge.count > 1
        ? ` \u00d7${commas(edge.count)}` : ""))));
    const into = view.edges.filter((edge) => edge.to === index),
      out = view.edges.filter((edge) => edge.from === index);
    const parts = [
      element("h2", {}, box.name || "(top)"),
      element("p", {class: "dim"}, SIBLINGS[box.siblings] ?? "Name scope", ` ${box.path}`),
      element("p", {}, `${plural(box.ops, "op")}: ${(box.notes ?? []).join("; ")}`), ...costs(placed),
      element("p", {},
        element("button", {type: "button", onclick: () => this.actions.toggle(placed)},
          placed.inner ? "Close" : "Open"),
        " ", this.copyScope(body, box.scope)),
    ];
    if (box.devices) {
      parts.push(heading("Devices asked for"), element("table", {},
        ...Object.entries(box.devices).map(([device, n]) =>
        element("tr", {}, element("td", {}, device), element("td", {}, plural(n, "op"))))));
    }
    if (into.length > 0) parts.push(heading("Comes in from"), rows(into, "from"));
    if (out.length > 0) parts.push(heading("Goes out to"), rows(out, "to"));
    this.root.replaceChildren(...parts);
  }

  showNode(body, node, placed) {
    const parts = [
      element("h2", {}, node.op),
      element("p", {}, node.name, " ", element("button", {type: "button", title: "Copy the name (c)",
              onclick: () => navigator.clipboard?.writeText(node.name)}, "copy"), " ",
        element("button", {type: "button", title: node.text,
              onclick: () => navigator.clipboard?.writeText(node.text + "\n")}, "copy as text")),
    ];
    if (body > 0) parts.push(element("p", {class: "dim"}, "in function ",
      link(this.summary.bodies[body].name, () => this.actions.enter(body))));
    if (node.custom) parts.push(element("p", {class: "dim"},
      "An op that TensorFlow 2.21 does not have: nothing is known of its inputs and outputs."));
    if (node.mark !== undefined) parts.push(element("p", {class: `mark mark-${node.mark}`},
      this.summary.marks.kinds[node.mark]));
    if ((node.details ?? []).length > 0) parts.push(...this.details(node));
    const more = element("div");
    this.actions.more?.(body, node).then((made) => more.append(...made)).catch((error) =>
      more.append(element("p", {class: "problem"}, error.message)));
    parts.push(more);
    if (node.folded) parts.push(element("p", {class: "dim"}, "Folded into the box that reads it."));
    for (const call of node.calls ?? []) {
      parts.push(element("p", {}, `${call.role || "calls"}: `, link(call.name,
        () => this.actions.enter(call.body), "Go into this function"), " ", this.copyScope(call.body, 0)));
    }
    if (placed && (node.calls?.length ?? 0) > 0) {
      parts.push(element("button", {type: "button", onclick: () => this.actions.toggle(placed)}, placed.inner
        ? "Close here" : "Open here"));
    }
    if (node.placed) parts.push(element("p", {}, element("span", {class: "dim"}, "runs on "), node.placed));
    parts.push(element("p", {}, element("span", {class: "dim"}, node.placed ? "asked for " : "device "),
      node.device ?? "none asked for"));
    if (placed) parts.push(...costs(placed));
    if (node.value !== undefined) parts.push(heading("Value"), element("p", {}, node.value));
    parts.push(...this.inputs(body, node), ...this.outputs(body, node), ...this.attributes(node));
    this.root.replaceChildren(...parts);
  }

  // Every node that is marked, by kind.
  marked() {
    const first = this.summary.marked_counts.findIndex((count) => count > 0);
    return this.summary.marks.kinds.flatMap((kind, i) => {
      const count = this.summary.marked_counts[i];
      if (count === 0) return [];
      const item = ([body, id, , op, name]) => element("li", {}, this.nodeLink(body, {id, op, name}), " ",
        element("span", {class: "dim"}, op));
      const items = (marked, next) => [...marked.map(item), next === undefined ? undefined
        : this.rest(count - next, async () => {
        const page = await this.source.marked(i, next);
        return items(page.marked, page.next);
      })];
      const marked = this.summary.marked.filter((entry) => entry[2] === i), open = i === first
        || count <= FEW;
      return [element("details", {open}, element("summary", {},
        element("span", {class: `mark mark-${i}`}, `${commas(count)} ${kind}`)),
        list(items(marked, marked.length < count ? marked.length : undefined).filter(Boolean)))];
    });
  }

  // What was, and what is.
  details(node) {
    const toCard = (card) => (card ? [element("p", {}, link("Its card in the debugger",
      () => this.actions.card(card)))] : []);
    return node.details.flatMap(({what, before, after, lines, card}) => lines
      ? [heading(what), ...lines.map(explanation), ...toCard(card)] : [heading(what),
      element("p", {}, element("del", {}, before || "not there"), " \u2192 ",
        element("ins", {}, after || "not there"))]);
  }

  inputs(body, node) {
    const data = node.inputs.filter((input) => !input.control),
      control = node.inputs.filter((input) => input.control);
    const item = (input) => input.missing !== undefined
      ? element("li", {class: "problem"},
        `${input.slot ?? "control"}: '${input.missing}' is not in the graph`)
      : element("li", {}, input.slot ? element("span", {class: "dim"}, `${input.slot} `) : undefined,
                this.nodeLink(body, input, input.port > 0 ? `${input.name}:${input.port}` : input.name), " ",
                element("span", {class: "dim"}, input.control ? input.op
                  : `${input.type || "?"} from ${input.op}`));
    const parts = [];
    if (data.length > 0) parts.push(heading(plural(data.length, "input")), list(data.map(item)));
    if (control.length > 0) parts.push(heading(`Waits for ${plural(control.length, "op")} (control)`),
      list(control.map(item)));
    return parts;
  }

  outputs(body, node) {
    const parts = [];
    const item = (reader) => element("li", {}, this.nodeLink(body, reader), " ",
      element("span", {class: "dim"}, reader.op));
    const items = ({readers: known, count, next}, output) => [...known.map(item), next === undefined
      ? undefined
      : this.rest(count - next, async () => items(await this.source.readers(body, node.id, output, next),
        output))];
    const readers = (entry, output) => list(items(entry, output).filter(Boolean));
    node.outputs.forEach((output, port) => {
      parts.push(heading(`Output ${port}${output.slot ? ` ${output.slot}` : ""}  ${output.type || "?"}`),
                 output.count > 0 ? readers(output, port) : element("p", {class: "dim"}, "nobody reads it"));
    });
    if (node.after.count > 0) parts.push(heading(`${plural(node.after.count, "op")} after it (control)`),
      readers(node.after, node.outputs.length));
    return parts;
  }

  attributes(node) {
    if (node.attributes.length === 0) return [];
    const value = (attribute) => attribute.functions?.length > 0
      ? element("td", {}, ...attribute.functions.map((body) => link(this.summary.bodies[body].name,
        () => this.actions.enter(body))))
      : element("td", {}, attribute.text);
    return [heading("Attributes"), element("table", {}, ...node.attributes.map((attribute) =>
      element("tr", {}, element("td", {}, attribute.name), value(attribute))))];
  }
}
