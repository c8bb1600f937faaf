// Compares TensorFlow's log of placements with the graph that is shown: each node's request, its
// placement, and its device in the log.

import {commas, element, link, plural} from "./dom.js";
import {post} from "./source.js";

const MOST_MIB = 256;  // kLargestFile of lib/serve/routes/routes.h
const SHOWN = 300;
// Values of "kind" in a row (a node's comparison with the log), as in log_work.h.
const SAME = 0, ELSEWHERE = 1, EXPLAINED = 2, GONE = 3;

export class PlaceLog {
  // `asked()` returns the placement request of place_tab.js, `model()` the graph's id.
  constructor(page, model, asked) {
    Object.assign(this, {page, model, asked});
    this.file = element("input", {type: "file", id: "log-file", "aria-label": "The log as a file"});
    this.text = element("textarea", {id: "log-text", rows: 3, spellcheck: "false",
      placeholder: "or paste its lines here", "aria-label": "The log as text"});
    this.devices = element("input", {id: "log-devices", size: 24, spellcheck: "false",
      placeholder: "those that the log names"});
    this.button = element("button", {type: "submit", class: "main", id: "log-start"}, "Compare with the log");
    this.result = element("div", {class: "result", id: "log-result"});
    const ask = (event) => { event.preventDefault(); this.compare(); };
    this.form = element("form", {onsubmit: ask}, element("h2", {}, "TensorFlow's log"),
      element("p", {}, this.file), this.text,
      element("p", {class: "dim"}, "What a program wrote to stderr after ",
        element("code", {}, "tf.debugging.set_log_device_placement(True)"),
        ". Lines of other graphs and of other kinds may be in it."),
      element("p", {}, element("label", {}, "devices: ", this.devices)),
      element("p", {}, this.button));
  }

  clear() { this.result.replaceChildren(); }

  async compare() {
    const [file] = this.file.files, text = this.text.value, log = file ?? text;
    const size = file ? file.size : text.length;
    if (size === 0) return this.fail("Choose a file or paste lines first.");
    if (size > MOST_MIB * 1024 * 1024) {
      return this.fail(`The log has more than ${MOST_MIB} MiB. ` +
        "The command 'grapnel place MODEL --devices D --log FILE' reads logs of any size.");
    }
    this.button.disabled = true;
    this.result.replaceChildren(element("p", {role: "status"}, "Reading the log \u2026"));
    const model = this.model(), name = file?.name ?? "the pasted text";
    try {
      const request = {...this.asked(), name, devices: this.devices.value.trim()};
      const said = await post(`${model}/log`, new Blob([JSON.stringify(request), "\n", log]));
      if (model === this.model()) this.draw(said);
    } catch (error) {
      this.fail(error.message);
    } finally {
      this.button.disabled = false;
    }
  }

  fail(text) {
    this.result.replaceChildren(element("p", {class: "problem said", role: "alert"}, text));
  }

  draw(said) {
    if (said.failure) {
      const lines = said.failure.map((line) => element("p", {}, line || " "));
      return this.result.replaceChildren(
        element("h2", {class: "problem", role: "alert"}, "It cannot be placed"),
        element("div", {class: "said"}, ...lines));
    }
    const onDevices = `Placed on ${said.devices}.`;
    const notes = said.notes.map((note) => element("p", {class: "dim"}, note));
    this.result.replaceChildren(element("h2", {}, "Asked for, placed, logged"),
      element("p", {class: "dim"}, onDevices), ...this.problems(said),
      ...said.graphs.flatMap((graph) => this.graph(graph)), ...notes, ...this.eager(said));
    this.result.scrollIntoView({block: "start"});
  }

  problems({problems, unreadable}) {
    const parts = problems.map((text) => element("p", {class: "problem"}, text));
    if (unreadable.length > 1)
      parts.push(element("p", {class: "dim"}, `Lines that cannot be read: ${unreadable.join(", ")}.`));
    return parts;
  }

  eager({eager}) {
    return eager ? [element("details", {}, element("summary", {}, "Ops that ran eagerly"),
      element("pre", {}, eager.slice(1).join("\n")))] : [];
  }

  graph(graph) {
    const {elsewhere, explained, gone, rows} = graph;
    const title = graph.title ? [element("h3", {}, graph.title)] : [];
    const told = [...title, ...graph.summary.map((line) => element("p", {class: "log-line"}, line.trim()))];
    if (rows.length === 0) return told;
    const counts = [`${plural(elsewhere, "node")} on another device`,
      `${commas(explained)} not in the log as here`, `${commas(gone)} only in the log`];
    const differing = elsewhere + explained + gone;
    const state = {all: differing === 0, shown: SHOWN, only: undefined};
    const list = element("div");
    const draw = () => list.replaceChildren(...this.rows(graph, state, draw));
    const choose = ({target}) => { state.all = target.value === "all"; state.shown = SHOWN; draw(); };
    const option = (value, text) =>
      element("option", {value, selected: state.all === (value === "all")}, text);
    const filter = element("select", {"aria-label": "Which nodes", class: "log-which", onchange: choose},
      option("differing", `only those that differ (${commas(differing)})`),
      option("all", `all ${plural(rows.length + (graph.left_off ?? 0), "row")}`));
    draw();
    return [...told, element("p", {}, `${counts.join("; ")}. `, filter), list];
  }

  rows(graph, state, draw) {
    const rows = state.all ? graph.rows : graph.rows.filter(({kind = SAME}) => kind !== SAME);
    if (rows.length === 0) return [element("p", {}, "The log has every node where it is placed here.")];
    const placed = graph.recorded ? "placed, recorded" : "placed here";
    const head = ["node", "op", "asked for", placed, "logged", "line", "why"].map((text) =>
      element("th", {scope: "col", class: text === "line" ? "number" : undefined}, text));
    const parts = [element("table", {class: "list log"}, element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...rows.slice(0, state.shown).map((row) => this.row(row))))];
    const more = rows.length - state.shown, left = state.all ? graph.left_off ?? 0 : 0;
    const show = () => { state.shown *= 4; draw(); };
    if (more > 0) parts.push(element("p", {}, link(`${commas(more)} more`, show)));
    else if (left > 0) parts.push(element("p", {class: "dim"}, `${commas(left)} more are not sent.`));
    return parts;
  }

  row({kind = SAME, node, op, asked, placed, logged, line, why = "", body, id}) {
    const cell = (text, mark) => element("td", {},
      mark && text ? element("span", {class: "mark mark-0"}, text) : text ?? "");
    const name = id === undefined ? node : link(node, () => this.page.go(body, id), "See it in the graph");
    const elsewhere = kind === ELSEWHERE;
    return element("tr", {class: kind === GONE ? "gone" : undefined}, element("td", {}, name), cell(op),
      cell(asked), cell(placed, elsewhere), cell(logged, elsewhere),
      element("td", {class: "number"}, line === undefined ? "" : commas(line)),
      element("td", {class: kind === EXPLAINED || elsewhere ? undefined : "dim"}, why));
  }
}
