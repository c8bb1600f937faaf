// The tab that runs the graph on the serving machine: the form, progress, results.

import {DebugSession} from "./debug_session.js";
import {DebugView} from "./debug_view.js";
import {commas, element, link, plural} from "./dom.js";
import {RunColors} from "./run_colors.js";
import {RunForm} from "./run_form.js";
import {ask, fileUrl, post} from "./source.js";
import {addTab} from "./tabs.js";

const ASKED_EVERY = [60, 400];  // intervals in ms between polls: at first and later

class RunTab {
  constructor(root, page) {
    this.root = root;
    this.page = page;
    this.forms = new Map();  // by model: the form, which keeps the user's input
    this.breakpoints = new Map();  // by model: the texts of the next run's breakpoints
  }

  // Shows the form and the state of the current model.
  async show() {
    const {source} = this.page;
    this.model = source.model;
    let shown = this.forms.get(source.model);
    if (!shown) {
      const [form, {bodies}] = await Promise.all([ask(`${source.model}/run`), source.summary()]);
      shown = {result: element("div", {class: "result"}), bodies};
      shown.form = new RunForm(source, form, this.breakpointsOf(source.model),
        () => this.start(source.model), () => this.debug(source.model));
      shown.root = element("div", {class: "work"}, shown.form.root, shown.result);
      this.forms.set(source.model, shown);
      shown.result.append(element("p", {class: form.problem ? "problem said" : "dim"}, form.problem ??
        "The graph runs on the machine that serves this page, on its CPU. Variables begin anew each time."));
    }
    if (this.model === source.model) this.draw(shown);
  }

  breakpointsOf(model) {
    if (!this.breakpoints.has(model)) this.breakpoints.set(model, new Set());
    return this.breakpoints.get(model);
  }

  // The DebugSession of the current model; undefined if there is none.
  get debugged() { return this.forms.get(this.model)?.debug?.session; }

  // Draws the form, or the debugged run that it started.
  draw(shown) {
    this.root.classList.toggle("debugs", Boolean(shown.debug));
    this.root.replaceChildren(shown.debug?.root ?? shown.root);
    shown.debug?.graph.view.paint();
  }

  // Called when the graphs have changed. Ends debugged runs, and drops forms and breakpoints.
  forget() {
    for (const {debug} of this.forms.values()) debug?.close();
    this.forms.clear();
    this.breakpoints.clear();
  }

  // Starts a debugged run.
  async debug(model) {
    const shown = this.forms.get(model), {form} = shown;
    form.button.disabled = form.debugButton.disabled = true;
    const say = (...parts) => shown.result.replaceChildren(...parts);
    try {
      say(element("p", {role: "status"}, "preparing \u2026"));
      const session = await DebugSession.begin(model, form.debugRequest());
      if (session.isOver) throw new Error(session.status.why);
      const {why, node, error} = session.stop ?? {};
      if (why === "failed" && !node) {
        await session.end();
        throw new Error(error);
      }
      say();
      shown.debug = new DebugView(this.page, session, (texts) => {
        shown.debug = undefined;
        form.breakpoints.clear();
        for (const text of texts) form.breakpoints.add(text);
        form.listBreakpoints();
        if (this.model === model) this.draw(shown);
      });
      if (this.model === model) this.draw(shown);
    } catch (error) {
      say(element("h2", {class: "problem", role: "alert"}, "It cannot be debugged"),
        element("p", {class: "problem said"}, error.message));
    } finally {
      form.button.disabled = form.debugButton.disabled = false;
    }
  }

  // Returns the RunColors of the model's last run; undefined if there is none.
  colors(model) { return this.forms.get(model)?.colors; }

  async start(model) {
    const shown = this.forms.get(model);
    shown.form.button.disabled = true;
    try {
      const {run} = await post(`${model}/run`, JSON.stringify(shown.form.request()));
      await this.follow(shown, model, run);
    } catch (error) {
      shown.result.replaceChildren(element("p", {class: "problem said", role: "alert"}, error.message));
    } finally {
      shown.form.button.disabled = false;
    }
  }

  async follow(shown, model, run) {
    const bar = element("progress", {max: 1, "aria-label": "Nodes that ran"});
    const text = element("span", {role: "status"});
    const end = () => post(`${model}/stop/${run}`, "").catch((error) => { text.textContent =
      error.message; });
    const stop = element("button", {type: "button", id: "run-stop", onclick: end}, "Stop");
    shown.result.replaceChildren(element("p", {class: "row"}, bar, text, stop));
    for (let wait = ASKED_EVERY[0];; wait = Math.min(ASKED_EVERY[1], wait * 1.5)) {
      const status = await ask(`${model}/run/${run}`);
      if (!["waiting", "running"].includes(status.state)) return this.over(shown, model, status);
      if (status.nodes > 0) bar.value = status.nodes_done / status.nodes;
      text.textContent = status.state === "waiting" ? "waits for a run before it \u2026"
        : status.nodes === 0 ? "preparing \u2026"
        : `${commas(status.nodes_done)} of ${plural(status.nodes, "node")}, ` +
          `${commas(status.nodes_run)} runs of nodes, ${status.seconds.toFixed(1)} s`;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  async over(shown, model, status) {
    shown.run = status.run;
    shown.colors = new RunColors(await ask(`${model}/run-boxes/${status.run}`));
    shown.result.replaceChildren(...this.summary(model, status), ...this.fetches(model, status),
      ...this.notes(status), ...this.printed(status));
    if (status.taps) await this.listTensors(shown, model, status);
    if (model === this.model) {
      this.page.listColors("run-health");
      this.page.toUrl();
    }
  }

  nodeLink({body, id, name, op}) { return link(name, () => this.page.go(body, id), `${op} ${name}`); }

  summary(model, status) {
    const seconds = status.seconds.toFixed(status.seconds < 10 ? 3 : 1);
    const parts = [];
    if (status.state === "failed") {
      parts.push(element("h2", {class: "problem", role: "alert"}, "It failed"),
        element("p", {class: "problem said"}, status.error));
      const named = status.named.flatMap((node, i) => [i > 0 ? ", " : "", this.nodeLink(node)]);
      if (named.length > 0) parts.push(element("p", {}, "Named: ", ...named));
    }
    if (status.state === "stopped") parts.push(element("h2", {}, "Stopped"));
    const bad = status.first_bad;
    if (bad) {
      parts.push(element("h2", {class: "problem first-bad"}, bad.text),
        element("p", {}, "The first bad tensor of ", commas(status.num_bad), ": ", this.nodeLink(bad.node)));
    } else if (status.state === "done") {
      const none = `No NaN and no infinity in ${plural(status.tensors, "tensor")}.`;
      parts.push(element("h2", {}, status.tells_bad ? none : "Done"));
    }
    parts.push(element("p", {class: "dim"}, `${seconds} s, ${plural(status.nodes_run, "run")} of nodes. `,
      link("Show it in the graph", () => this.page.openTab("graph"))));
    return parts;
  }

  fetches(model, status) {
    if (status.fetches.length === 0) return [];
    const number = (value) => String(Number(value.toPrecision(6)));
    const line = (fetch, i) => element("div", {class: "fetch"},
      element("strong", {}, fetch.name), " ",
      element("span", {class: "dim"}, fetch.dtype ? `${fetch.dtype}${fetch.shape}` : ""), " ",
      fetch.file ? element("a", {href: fileUrl(`${model}/npy/${status.run}/${i}`),
        download: `fetch_${i}.npy`},
        "save as .npy") : undefined,
      fetch.compared ? element("div", {class: fetch.compared.startsWith("as ") ? "good" : "problem"},
        fetch.compared) : undefined,
      fetch.health ? element("div", {class: fetch.bad ? "problem" : "dim"}, fetch.health,
        fetch.min === undefined ? "" :
          `; from ${number(fetch.min)} to ${number(fetch.max)}, mean ${number(fetch.mean)}`) : undefined,
      element("code", {class: "value"}, fetch.text));
    return [element("h3", {}, "Outputs"), ...status.fetches.map(line)];
  }

  notes({note}) { return note ? [element("p", {class: "dim", id: "run-note"}, note)] : []; }

  printed({printed}) {
    if (printed.length === 0) return [];
    const lines = printed.map((line) => element("div", {}, line || " "));
    return [element("h3", {}, "Printed"), element("pre", {class: "source"}, ...lines)];
  }

  async listTensors(shown, model, status) {
    const rows = element("tbody"), more = element("p");
    const functions = shown.bodies.length > 1;
    const columns = ["tensor", "op", ...(functions ? ["in"] : []), "value"];
    const head = columns.map((text) => element("th", {scope: "col"}, text));
    const load = async (from) => {
      const page = await ask(`${model}/run-tensors/${status.run}/${from}`);
      rows.append(...page.tensors.map(([body, id, tensor, op, text, bad, value]) => element("tr", {},
        element("td", {}, link(tensor, () => this.page.go(body, id))), element("td", {}, op),
        functions ? element("td", {}, shown.bodies[body].name) : undefined,
        element("td", {class: bad ? "problem" : ""}, text,
          value ? element("div", {}, element("code", {class: "value"}, value)) : undefined))));
      const next = () => load(page.next), lost = status.tensors - page.kept;
      more.replaceChildren(...(page.next === undefined ? [] : [link(`${commas(page.kept - page.next)} more`,
        next)]));
      if (page.next === undefined && lost > 0) more.append(`${commas(lost)} more were seen and not kept`);
    };
    shown.result.append(element("h3", {}, `${plural(status.tensors, "tensor")}, as they were made`),
      element("table", {class: "list tapped"}, element("thead", {}, element("tr", {}, ...head)), rows), more);
    await load(0);
  }

  // Promises elements for a node's panel: its breakpoint, and its outputs in the last run.
  async ofNode(model, body, id) {
    return [...await this.breakpointOf(model, body, id), ...await this.lastRunOf(model, body, id)];
  }

  async breakpointOf(model, body, id) {
    const {name, op} = await this.page.source.node(body, id);
    if (op === "Const") return [];  // a Const has its value before the run, so it cannot be a stop
    const full = body > 0 ? `${this.page.summary.bodies[body].name}/${name}` : name;
    const debug = () => this.forms.get(model)?.debug;
    const isThere = () => debug()?.texts().includes(full) ?? this.breakpointsOf(model).has(full);
    const label = () => (isThere() ? "delete its breakpoint" : "break before it");
    const toggle = async () => {
      const kept = this.breakpointsOf(model);
      if (debug()) await debug().toggle(body, name);
      else if (!kept.delete(full)) kept.add(full);
      this.forms.get(model)?.form.listBreakpoints();
      button.textContent = label();
    };
    const button = link(label(), () => toggle().catch((error) => this.page.fail(error)),
      "Where the Run tab's Debug stops");
    return [element("p", {}, button)];
  }

  async lastRunOf(model, body, id) {
    const {run} = this.forms.get(model) ?? {};
    if (run === undefined) return [];
    let known;
    try {
      known = await ask(`${model}/run-node/${run}/${body}/${id}`);
    } catch (error) {
      // For example, the run is no longer kept, because other runs have been started since.
      return [element("p", {class: "dim"}, error.message)];
    }
    const {outputs, runs, nanoseconds} = known;
    if (outputs.length === 0 && runs === undefined) return [];
    const parts = [element("h3", {}, "In the last run")];
    const took = `ran ${plural(runs ?? 0, "time")}, ${commas(Math.round((nanoseconds ?? 0) / 1000))} \u00b5s`;
    if (runs !== undefined) parts.push(element("p", {class: "dim"}, took));
    for (const {output, text, bad, times, worst, bad_times: badTimes} of outputs) {
      parts.push(element("p", {class: bad ? "problem" : ""}, `output ${output}: ${text}`,
        times > 1 ? ` (the last of ${commas(times)})` : ""));
      if (!worst) continue;
      parts.push(element("p", {class: "problem"},
        `output ${output}, bad ${plural(badTimes, "time")}: ${worst}`));
    }
    return parts;
  }
}

addTab({name: "run", label: "Run", tells: true, build: (root, page) => new RunTab(root, page)});
