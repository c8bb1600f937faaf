// The function library: a row for each Python function, which opens into its traces, and who calls whom.

import {commas, element, link, plural} from "./dom.js";
import {addTab} from "./tabs.js";

const DEEPEST = 12, FEW = 30;
const COLUMNS = ["function", "arguments", "what it is for", "how it differs", "ops", "bytes", "calls"];
const STATUS = {
  entry: "entry point", dataset: "run by a dataset", eager: "run eagerly", superseded: "superseded", unused: "called by nobody",
};

// Who calls whom, from main or the entry points on.
function callTree(bodies, roots, enter) {
  const name = (i) => (i === 0 ? "main" : bodies[i].name);
  const row = (i, path) => {
    const again = path.includes(i), deep = path.length >= DEEPEST;
    const size = [plural(bodies[i].nodes, "op"), again ? ", calls itself: see above" : ""];
    const item = element("li", {}, link(name(i), () => enter(i), "Go into it"), " ",
      element("span", {class: "dim"}, ...size));
    if (!again && !deep && bodies[i].calls.length > 0) {
      item.append(element("ul", {}, ...bodies[i].calls.map((callee) => row(callee, [...path, i]))));
    }
    return item;
  };
  return element("ul", {}, ...roots.map((i) => row(i, [])));
}

class FunctionsTab {
  constructor(root, page) {
    this.root = root;
    this.page = page;
    this.opened = new Map();  // rows that the reader opened or closed, by their number
    this.filter = element("input", {type: "search", placeholder: "Only functions with \u2026", oninput: () => this.draw()});
    this.head = element("h2");
    this.table = element("table", {class: "list functions"});
    this.tree = element("div");
  }

  forget() { this.opened.clear(); }

  async show() {
    const {source, summary} = this.page, {bodies} = summary;
    this.bodies = bodies;
    if (bodies.length === 1) {
      this.root.replaceChildren(element("p", {}, "This graph has no functions: its library is empty."));
      return;
    }
    const {rows} = await source.get("functions");
    if (source !== this.page.source) return;  // another graph was chosen meanwhile
    this.rows = rows;
    const python = rows.filter((row) => row.role === "trace").length;
    this.head.textContent = plural(bodies.length - 1, "function") + (python > 0 ? ` of ${plural(python, "Python function")}` : "");
    this.draw();
    this.drawTree();
    this.root.replaceChildren(this.head, element("p", {}, this.filter), this.table, this.tree);
  }

  enter(body) { return this.page.enter(body); }

  // Members with a line of their own: a pair is told of in the line of its trace.
  linesOf({members}) {
    const traces = new Map(members.map((each) => [each.body, each]));
    return members.filter(({body, trace}) => {
      const of = traces.get(trace);
      return !of || (of.forward !== body && of.backward !== body);
    });
  }

  draw() {
    const words = this.filter.value.toLowerCase();
    const fits = (row) => !words || row.name.toLowerCase().includes(words) ||
      row.members.some(({body}) => this.bodies[body].name.toLowerCase().includes(words));
    const rows = this.rows.map((row, i) => ({row, i})).filter(({row}) => fits(row));
    const all = rows.reduce((sum, {row}) => sum + this.linesOf(row).length, 0);
    const head = COLUMNS.map((text, i) =>
      element("th", {scope: "col", class: i === 4 || i === 5 ? "number" : undefined}, text));
    this.table.replaceChildren(element("thead", {}, element("tr", {}, ...head)),
      ...rows.map(({row, i}) => this.group(row, i, words !== "" || all <= FEW)));
  }

  group(row, i, openByItself) {
    const lines = this.linesOf(row);
    if (lines.length === 1) return element("tbody", {}, this.line(lines[0], this.bodies[lines[0].body].name));
    const open = this.opened.get(i) ?? openByItself;
    const toggle = () => {
      this.opened.set(i, !open);
      this.draw();
    };
    const facts = [row.role === "trace" ? plural(row.traces, "trace") : plural(lines.length, "function")];
    if (row.one_body) facts.push("one body");
    const sum = (what) => element("td", {class: "number"}, commas(row.members.reduce((all, each) => all + each[what], 0)));
    const head = element("th", {scope: "rowgroup", colspan: 4},
      element("button", {type: "button", class: "opener", "aria-expanded": String(open), onclick: toggle},
        open ? "\u25be " : "\u25b8 ", row.name), " ", element("span", {class: "dim"}, facts.join(", ")));
    const label = (each) => (each.number === undefined || row.role !== "trace" ? this.bodies[each.body].name : String(each.number));
    return element("tbody", {}, element("tr", {class: "group"}, head, sum("nodes"), sum("bytes"), element("td")),
      ...(open ? lines.map((each) => this.line(each, label(each), "inner")) : []));
  }

  line(each, text, kind = undefined) {
    const {bodies} = this, {body} = each, name = (i) => link(bodies[i].name, () => this.enter(i), "Go into it");
    const list = (items) => items.flatMap((item, i) => (i > 0 ? [", ", item] : [item]));
    const roles = each.role === "trace" || each.role === "function" ? [] : [each.role];
    if (STATUS[each.status]) roles.push(STATUS[each.status]);
    const pair = [each.forward, each.backward].filter((i) => i !== undefined).map(name);
    const aim = element("td", {}, roles.join("; "));
    const lead = each.forward === undefined ? "gradient: " : each.status === "superseded" ? "runs as " : "for gradients: ";
    if (pair.length > 0) aim.append(element("div", {class: "dim"}, lead, ...list(pair)));
    else if (each.partner !== undefined) aim.append(element("div", {class: "dim"}, "pairs with ", name(each.partner)));
    else if (each.successor !== undefined) aim.append(element("div", {class: "dim"}, "it makes variables; then runs ", name(each.successor)));
    else if (each.trace !== undefined) aim.append(element("div", {class: "dim"}, "of ", name(each.trace)));
    const differs = [...each.constants ?? []];
    if (each.has) differs.push(`has ${each.has.join(", ")}`);
    if (each.lacks) differs.push(`lacks ${each.lacks.join(", ")}`);
    const difference = element("td", {}, ...differs.map((item) => element("div", {}, item)));
    if (each.copy_of !== undefined) difference.append(element("div", {class: "dim"}, "a copy of ", name(each.copy_of)));
    return element("tr", {class: kind}, element("td", {}, link(text, () => this.enter(body), bodies[body].name)),
      element("td", {}, each.arguments), aim, difference, element("td", {class: "number"}, commas(each.nodes)),
      element("td", {class: "number"}, each.bytes > 0 ? commas(each.bytes) : ""),
      element("td", {}, ...list(bodies[body].calls.map(name))));
  }

  drawTree() {
    const {bodies} = this, enter = (body) => this.enter(body), called = new Set(bodies.flatMap(({calls}) => calls));
    const free = bodies.map((_, i) => i).filter((i) => i > 0 && !called.has(i));
    const entries = new Set(this.rows.flatMap(({members}) => members.filter(({status}) => status === "entry").map(({body}) => body)));
    const begins = free.filter((i) => entries.has(i)), unused = free.filter((i) => !entries.has(i));
    const part = (title, roots) => (roots.length > 0 ? [element("h3", {}, title), callTree(bodies, roots, enter)] : []);
    this.tree.replaceChildren(...part("Who calls whom", bodies[0].nodes > 0 ? [0, ...begins] : begins),
      ...part("Called by nobody", unused));
  }
}

addTab({name: "functions", label: "Functions", build: (root, page) => new FunctionsTab(root, page)});
