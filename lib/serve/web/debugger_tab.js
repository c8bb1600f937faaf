// The tab with the records of TensorFlow's debugger: alerts and all tensors, Python's executions as
// a strip of boxes, the card of the selected tensor or execution (at first the first cause), its
// stack and the sources.

import {Card, dot} from "./debugger_card.js";
import {SourcePane} from "./debugger_source.js";
import {Timeline} from "./debugger_timeline.js";
import {commas, element, link, plural} from "./dom.js";
import {isFile} from "./source.js";
import {addTab} from "./tabs.js";

const KINDS = [["nan", "NaN"], ["neg_inf", "-inf"], ["pos_inf", "+inf"]];
const SHOWN = 500;

const cardOf = (alert) => (alert.trace === null ? `execution/${alert.execution}` : `trace/${alert.trace}`);

// Displays one folder. `actions`: go(body, node) shows a node in the graph; chosen(card, remember)
// is called with the card that is shown, and whether this is a step in the browser's history.
class DebugFolder {
  constructor(root, source, actions) {
    this.root = root;
    this.source = source;
    this.actions = actions;
  }

  // Shows the card of that name ("trace/11"); without a name, the card of the first cause or, if
  // nothing bad was recorded, a text that says so.
  async show(card) {
    if (!this.report) await this.build();
    if (card || this.first) return this.open(card ?? this.first, false);
    this.card.say(this.report.can_tell ? "No NaN and no infinity was recorded." :
      `Mode ${this.report.mode} does not record whether a tensor is bad: use FULL_HEALTH.`,
        "Choose a box above or a tensor on the left to read about it.");
    return this.timeline.choose(null);
  }

  async build() {
    const report = await this.source.get("debug");
    this.report = report;
    const {first_bad: bad} = report;
    this.first = bad ? cardOf({trace: bad.trace, execution: bad.execution}) : undefined;
    const facts = `${plural(report.executions, "execution")}, ` +
      `${plural(report.traces, "tensor")} inside functions, mode ${report.mode}, ` +
      `${report.started}, TensorFlow ${report.tensorflow}`;
    const open = (card) => this.open(card);
    this.card = new Card({open, go: this.actions.go, first: () => this.first});
    this.timeline = new Timeline(this.source, report.executions, open, facts);
    this.code = new SourcePane(this.source, {open, go: this.actions.go});
    this.list = element("div", {class: "tensors"});
    this.root.replaceChildren(
      ...report.problems.map((problem) => element("p", {class: "problem facts"}, problem)),
      this.timeline.root,
      element("div", {class: "columns"},
        element("div", {class: "column", role: "region", "aria-label": "Alerts and tensors", tabindex: "0"},
          ...this.alerts(),
          element("h3", {}, "All tensors, as they were computed"), this.list),
        this.card.root, this.code.root));
    await Promise.all([this.listTraces(), this.code.build()]);
  }

  // Returns elements for the alerts: the bad tensors, by kind.
  alerts() {
    const {bad_tensors: bad} = this.report;
    const parts = [element("h3", {}, "Alerts")];
    if (bad.length === 0) return [...parts, element("p", {class: "dim"}, this.report.can_tell ? "none"
      : `mode ${this.report.mode} cannot tell`)];
    const row = (name, alerts) => element("tr", {}, element("td", {}, element("strong", {}, name)),
      element("td", {class: "number"}, plural(alerts.length, "tensor")),
        element("td", {}, "first ", this.link(alerts[0])));
    const rows = KINDS.map(([key, name]) => [name, bad.filter(({value}) => value[key] > 0)])
      .filter(([, alerts]) => alerts.length > 0);
    const uncounted = bad.filter(({value}) => value.nan === undefined);
    if (uncounted.length > 0) rows.push(["inf or NaN", uncounted]);
    parts.push(element("table", {class: "alerts"}, ...rows.map(([name, alerts]) => row(name, alerts))));
    return [...parts, ...this.consequences(bad)];
  }

  consequences(bad) {
    const causes = bad.filter((tensor) => tensor.is_cause), later = bad.filter((tensor) => !tensor.is_cause);
    const item = (alert) => element("li", {}, this.link(alert), " ",
      element("span", {class: "dim"}, alert.value.text));
    const fold = (text, alerts) => element("details", {}, element("summary", {}, text),
      element("ul", {}, ...alerts.slice(0, SHOWN).map(item)));
    const are = later.length === 1 ? "is a consequence" : "are consequences";
    return [[plural(causes.length, "cause"), causes], [`${plural(later.length, "later tensor")} ${are}`,
      later]]
      .filter(([, alerts]) => alerts.length > 0).map(([text, alerts]) => fold(text, alerts));
  }

  link(alert) { return link(alert.tensor, () => this.open(cardOf(alert))); }

  async open(card, remember = true) {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    let document;
    try {
      document = await this.source.card(card);
    } catch (error) {
      const why = isFile
        ? "This file holds the cards of the first records, and of those around causes; " +
          "`grapnel serve FOLDER` shows all." : error.message;
      await this.timeline.choose(null);
      return this.card.say(`There is no card of ${card.replace("/", " ")}.`, why);
    }
    if (turn !== this.turn) return;
    this.shown = card;
    this.card.draw(document);
    const drawn = Promise.all([this.code.draw(document), this.timeline.choose(document.cause.execution)]);
    for (const row of this.list.querySelectorAll("tr[data-card]")) row.classList.toggle("chosen",
      row.dataset.card === card);
    this.actions.chosen(card, remember);
    await drawn;
    this.drawn = card;
  }

  async listTraces(from = 0) {
    const page = await this.source.get(`traces/${from}`);
    const rows = page.traces.map(([trace, tensor, op, where, text, bad]) =>
      element("tr", {"data-card": `trace/${trace}`},
      element("td", {class: "number"}, commas(trace)),
      element("td", {}, dot(bad ? "bad" : text === "not recorded" ? "unknown" : "clean")),
      element("td", {}, link(tensor, () => this.open(`trace/${trace}`), `${op} in ${where}`)),
      element("td", {class: bad ? "problem" : ""}, text)));
    if (from === 0) {
      const head = ["", "", "tensor", "value"].map((text) => element("th", {scope: "col"}, text));
      this.rows = element("tbody");
      this.list.replaceChildren(element("table", {class: "list"},
        element("thead", {}, element("tr", {}, ...head)), this.rows));
    }
    this.rows.append(...rows);
    this.more?.remove();
    if (page.next === undefined) return;
    this.more = element("p", {}, link(`${commas(this.report.traces - page.next)} more`,
      () => this.listTraces(page.next)));
    this.list.append(this.more);
  }
}

class DebuggerTab {
  constructor(root, page) {
    this.root = root;
    this.page = page;
  }

  // The name of the card that is shown.
  get at() { return this.folder?.shown; }

  forget() { this.folder = undefined; }

  async show(card) {
    const other = this.folder?.source !== this.page.source;
    if (other) {
      this.folder = new DebugFolder(this.root, this.page.source, {
        go: (body, node) => this.page.go(body, node),
        chosen: (shown, step) => this.page.toUrl(step),
      });
    }
    if (other || (card && card !== this.at)) await this.folder.show(card);
  }
}

addTab({
  name: "debugger", label: "Debugger", param: "card", build: (root, page) => new DebuggerTab(root, page),
});
