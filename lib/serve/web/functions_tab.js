// The tab with the function library: a row for each Python function, which opens into the
// function's traces, and for each group of other functions; and the call graph.

import {commas, element, link, plural} from "./dom.js";
import {addTab} from "./tabs.js";

const DEEPEST = 12, FEW = 30;
const COLUMNS = ["function", "arguments", "what it is for", "how it differs", "ops", "bytes", "calls"];
const STATUS = {
  entry: "entry point", dataset: "run by a dataset", eager: "run eagerly", superseded: "superseded",
  unused: "unused",
};

// Returns the call graph as a nested list that begins at the functions `roots`.
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
    this.opened = new Map();  // by row: true if the user opened it, false if closed
    const hint = "Only functions with \u2026";
    this.filter = element("input", {type: "search", placeholder: hint, oninput: () => this.draw()});
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
    if (source !== this.page.source) return;  // the user has chosen another graph
    this.rows = rows;
    const python = rows.filter((row) => row.role === "trace").length;
    const of = python > 0 ? ` of ${plural(python, "Python function")}` : "";
    this.head.textContent = plural(bodies.length - 1, "function") + of;
    this.draw();
    this.drawTree();
    this.root.replaceChildren(this.head, element("p", {}, this.filter), this.table, this.tree);
  }

  enter(body) { return this.page.enter(body); }

  // Returns the functions of a row that get a line of their own. The forward and backward functions
  // of a trace get none: the trace's line names them.
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
    const fullName = (each) => this.bodies[each.body].name;
    if (lines.length === 1) return element("tbody", {}, this.line(lines[0], fullName(lines[0])));
    const open = this.opened.get(i) ?? openByItself;
    const toggle = () => {
      this.opened.set(i, !open);
      this.draw();
    };
    const isPython = row.role === "trace";
    const facts = [isPython ? plural(row.traces, "trace") : plural(lines.length, "function")];
    if (row.one_body) facts.push("one body");
    const total = (what) => row.members.reduce((all, each) => all + each[what], 0);
    const sum = (what) => element("td", {class: "number"}, commas(total(what)));
    const state = {class: "opener", "aria-expanded": String(open)};
    const head = element("th", {scope: "rowgroup", colspan: 4},
      element("button", {type: "button", ...state, onclick: toggle}, open ? "\u25be " : "\u25b8 ", row.name),
      " ", element("span", {class: "dim"}, facts.join(", ")));
    const isNumbered = (each) => isPython && each.number !== undefined;
    const label = (each) => (isNumbered(each) ? String(each.number) : fullName(each));
    const first = element("tr", {class: "group"}, head, sum("nodes"), sum("bytes"), element("td"));
    return element("tbody", {}, first,
      ...(open ? lines.map((each) => this.line(each, label(each), "inner")) : []));
  }

  name(body) { return link(this.bodies[body].name, () => this.enter(body), "Go into it"); }
  names(bodies) { return bodies.map((body) => element("div", {}, this.name(body))); }

  line(each, text, kind = undefined) {
    const {body} = each, {name, calls} = this.bodies[body];
    return element("tr", {class: kind}, element("td", {}, link(text, () => this.enter(body), name)),
      element("td", {}, each.arguments), this.aim(each), this.difference(each),
      element("td", {class: "number"}, commas(each.nodes)),
      element("td", {class: "number"}, each.bytes > 0 ? commas(each.bytes) : ""),
      element("td", {}, ...this.names(calls)));
  }

  // Returns the table cell with the function's role and its related functions: the forward and
  // backward functions that run instead, its partner, its successor, or its trace.
  aim(each) {
    const {role, status, forward, backward, partner, successor, trace} = each;
    const roles = role === "trace" || role === "function" ? [] : [role];
    if (STATUS[status]) roles.push(STATUS[status]);
    const instead = status === "superseded" ? "runs as " : "for gradients: ";
    const pair = [forward, backward].filter((i) => i !== undefined);
    const [lead, bodies] = pair.length > 0 ? [forward === undefined ? "gradient: " : instead, pair]
      : partner !== undefined ? ["pairs with ", [partner]]
        : successor !== undefined ? ["it makes variables; then runs ", [successor]]
          : ["of ", trace === undefined ? [] : [trace]];
    const more = bodies.length > 0 ? element("div", {class: "dim"}, lead, ...this.names(bodies)) : undefined;
    return element("td", {}, roles.join("; "), more);
  }

  difference({constants = [], has, lacks, copy_of: copied}) {
    const differs = [...constants];
    if (has) differs.push(`has ${has.join(", ")}`);
    if (lacks) differs.push(`lacks ${lacks.join(", ")}`);
    return element("td", {}, ...differs.map((item) => element("div", {}, item)),
      copied === undefined ? undefined : element("div", {class: "dim"}, "a copy of ", this.name(copied)));
  }

  drawTree() {
    const {bodies} = this, enter = (body) => this.enter(body);
    const called = new Set(bodies.flatMap(({calls}) => calls));
    const free = bodies.map((_, i) => i).filter((i) => i > 0 && !called.has(i));
    const members = this.rows.flatMap((row) => row.members);
    const entries = new Set(members.filter(({status}) => status === "entry").map(({body}) => body));
    const begins = free.filter((i) => entries.has(i)), unused = free.filter((i) => !entries.has(i));
    const part = (title, roots) =>
      (roots.length > 0 ? [element("h3", {}, title), callTree(bodies, roots, enter)] : []);
    this.tree.replaceChildren(...part("Who calls whom", bodies[0].nodes > 0 ? [0, ...begins] : begins),
      ...part("Never called", unused));
  }
}

addTab({name: "functions", label: "Functions", build: (root, page) => new FunctionsTab(root, page)});
