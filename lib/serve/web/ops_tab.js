// The tab with the ops of the model: the number of nodes of each op, and the op's share of the
// FLOPs and bytes.

import {commas, element, link, plural} from "./dom.js";
import {addTab} from "./tabs.js";

const COLUMNS = ["op", "nodes", "FLOPs", "bytes of constants and variables"];

class OpsTab {
  constructor(root, page) {
    this.root = root;
    this.page = page;
    this.sorted = 2;
    const hint = "Only ops with \u2026";
    this.filter = element("input", {type: "search", placeholder: hint, oninput: () => this.draw()});
    this.head = element("h2");
    this.table = element("table", {class: "list narrow"});
    this.note = element("p", {class: "dim"});
    root.replaceChildren(this.head, element("p", {}, this.filter), this.table, this.note);
  }

  async show() {
    const {source} = this.page, {ops} = await source.get("ops");
    if (source !== this.page.source) return;  // the user has chosen another graph
    this.ops = ops;
    this.totals = [0, 1, 2, 3].map((i) => (i === 0 ? 0 : ops.reduce((sum, row) => sum + row[i], 0)));
    this.columns = [0, 1, 2, 3].filter((i) => i < 2 || this.totals[i] > 0);
    if (!this.columns.includes(this.sorted)) this.sorted = 1;
    const {batch, signatures} = this.page.summary ?? {};
    const sized = batch ? `, with a batch of ${batch} because the model leaves it open` : "";
    const saver = signatures?.length > 0 ? " Ops that only load or save the model are left out." : "";
    this.note.textContent =
      `FLOPs are estimated by shapes${sized}; each function's body counts once.${saver}`;
    this.head.textContent = `${plural(ops.length, "op")} in ${plural(this.totals[1], "node")}`;
    this.draw();
  }

  draw() {
    const {sorted} = this, words = this.filter.value.toLowerCase();
    const rows = this.ops.filter(([op]) => op.toLowerCase().includes(words));
    rows.sort((a, b) => (sorted > 0 ? b[sorted] - a[sorted] || b[1] - a[1] : 0) || (a[0] < b[0] ? -1 : 1));
    const sort = (i) => () => { this.sorted = i; this.draw(); };
    const head = this.columns.map((i) => element("th", {
      scope: "col", class: i > 0 ? "number" : undefined,
      "aria-sort": i !== sorted ? undefined : i > 0 ? "descending" : "ascending",
    }, element("button", {type: "button", onclick: sort(i)}, COLUMNS[i], i === sorted ? " \u25be" : "")));
    const share = (row, i) => (row[i] > 0 && i > 1 ? ` (${percent(row[i] / this.totals[i])})` : "");
    const number = (row, i) =>
      element("td", {class: "number"}, row[i] > 0 ? commas(row[i]) : "", share(row, i));
    const op = ([name]) =>
      element("td", {}, link(name, () => this.page.openTab("nodes", true, name), "List its nodes"));
    const line = (row) =>
      element("tr", {}, ...this.columns.map((i) => (i === 0 ? op(row) : number(row, i))));
    this.table.replaceChildren(element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...rows.map(line)));
  }
}

function percent(part) { return part < 0.001 ? "less than 0.1 %" : `${(100 * part).toFixed(1)} %`; }

addTab({name: "ops", label: "Ops", build: (root, page) => new OpsTab(root, page)});
