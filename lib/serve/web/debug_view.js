// A debugged run on the page: buttons, the graph, calls, values, breakpoints and a console.

import {BreakpointList, linkTo, quoted} from "./debug_breakpoints.js";
import {DebugGraph} from "./debug_graph.js";
import {DebugValue} from "./debug_value.js";
import {commas, element, link, plural} from "./dom.js";

const KEYS = {F8: "continue", F10: "next", F11: "step", "Shift+F11": "finish"};
const MOST_SAID = 60000;  // characters that the console keeps

// The buttons: id, label, command, description.
const BUTTONS = [
  ["next", "Step", "next", "Runs this node, with all functions that it calls (F10)"],
  ["step", "Into", "step", "Runs to the next node, into a function that this one calls (F11)"],
  ["finish", "Out", "finish", "Runs until this function is done (Shift+F11)"],
  ["iteration", "Iteration", "iteration", "Runs to the loop's next iteration, or past the loop"],
  ["continue", "Continue", "continue", "Runs to a breakpoint, or to the end (F8)"],
  ["back", "Back", "back", "Goes back a step: restarts the run and replays it up to there"],
  ["restart", "Restart", "restart", "Goes back to the first node"],
  ["start", "Next run", "start", "Runs once more, with variables as the last run left them"],
];

export class DebugView {
  // `session`: a started DebugSession; `ended(texts)` is called when the user ends it, with the
  // texts of its breakpoints.
  constructor(page, session, ended) {
    Object.assign(this, {page, session, ended, source: page.source, bodies: page.summary.bodies});
    this.graph = new DebugGraph(page, {
      toggle: (body, name) => this.breakpoints.attempt(() => this.toggle(body, name)),
      isBroken: (body, name) => this.broken?.has(this.fullName(body, name)),
      look: (body, name) => this.look({expression: quoted(this.fullName(body, name))}),
    });
    this.value = new DebugValue(session, (line) => this.say(line));
    this.breakpoints = new BreakpointList("debug-break", {
      add: (text) => session.command(`break ${text}`),
      remove: ({number}) => session.command(`delete ${number}`),
    });
    this.build();
    session.addEventListener("change", () => this.draw());
    this.keys = (event) => this.key(event);
    addEventListener("keydown", this.keys);
    this.draw();
  }

  build() {
    this.buttons = new Map(BUTTONS.map(([id, label, command, title]) => [id, element("button",
      {type: "button", id: `debug-${id}`, title, onclick: () => this.go(command)}, label)]));
    const pause = () => this.session.pause().catch(() => {});
    this.pause = element("button", {type: "button", id: "debug-pause", onclick: pause,
      title: "Stops before the next node"}, "Pause");
    const stop = element("button", {type: "button", id: "debug-stop", title: "Ends the run, back to the form",
      onclick: () => this.end()}, "Stop");
    this.where = element("p", {class: "where", role: "status", id: "debug-where"});
    this.stack = element("ul", {id: "debug-stack", "aria-label": "Calls"});
    this.tensors = element("div", {id: "debug-tensors"});
    this.printed = element("div");
    this.root = element("div", {class: "debug"},
      element("div", {class: "debug-bar"}, element("div", {class: "row", role: "toolbar",
        "aria-label": "How the run goes on"}, ...this.buttons.values(), this.pause, stop), this.where),
      element("div", {class: "debug-main"}, this.graph.root,
        element("div", {class: "debug-side", tabindex: "0", role: "region", "aria-label": "Values"},
          this.stack, this.tensors, this.value.root, element("h3", {}, "Breakpoints"), this.breakpoints.root,
          this.printed, this.console())));
  }

  // Makes a console for the commands of `grapnel debug`.
  console() {
    this.said = element("pre", {class: "said-lines", id: "debug-said", tabindex: "0"});
    this.line = element("input", {id: "debug-line", spellcheck: "false", autocomplete: "off",
      placeholder: "eval mean(x:0), lt -f has_inf_or_nan, help", "aria-label": "A command"});
    const enter = (event) => {
      event.preventDefault();
      const line = this.line.value.trim();
      if (line) this.say(line).catch(() => {}).then(() => { this.line.value = ""; });
    };
    return element("details", {class: "console"}, element("summary", {}, "Commands, as in grapnel debug"),
      this.said, element("form", {class: "row", onsubmit: enter}, this.line));
  }

  async say(line) {
    let text;
    try {
      text = await this.session.command(line);
    } catch (error) {
      this.write(`(grapnel) ${line}\nerror: ${error.message}\n`);
      throw error;
    }
    this.write(`(grapnel) ${line}\n${text}`);
    return text;
  }

  write(text) {
    this.said.textContent = (this.said.textContent + text).slice(-MOST_SAID);
    this.said.scrollTop = this.said.scrollHeight;
  }

  async go(command) {
    if (!this.session.at) return;
    this.problem = undefined;
    try {
      await this.session.command(command);
    } catch (error) {
      this.problem = error.message;
      this.draw();
    }
  }

  async end() {
    const texts = this.texts();
    await this.close();
    this.ended(texts);
  }

  close() {
    removeEventListener("keydown", this.keys);
    this.graph.close();
    return this.session.end();
  }

  texts() { return this.known?.map(({text}) => text) ?? []; }

  key(event) {
    const command = KEYS[`${event.shiftKey ? "Shift+" : ""}${event.key}`];
    if (!command || !this.root.isConnected || this.root.closest("[hidden]")) return;
    event.preventDefault();
    if (!this.buttons.get(command).disabled) this.go(command);
  }

  fullName(body, name) { return body > 0 ? `${this.bodies[body].name}/${name}` : name; }

  // Sets the breakpoint of a single node, or deletes it.
  async toggle(body, name) {
    const full = this.fullName(body, name), there = this.known.find(({text}) => text === full);
    await this.session.command(there ? `delete ${there.number}` : `break ${full}`);
  }

  draw() {
    const {session} = this, {at, stop} = session;
    if (session.isOver) return this.drawOver();
    this.root.classList.toggle("runs", !at);
    this.pause.disabled = Boolean(at);
    for (const button of this.buttons.values()) button.disabled = !at;
    this.drawPrinted();
    if (!at) {
      this.where.replaceChildren("runs \u2026");
      return undefined;
    }
    const calls = stop.frames.some((frame) => frame.function !== undefined);
    const goes = !at.at_end, loops = stop.iteration !== undefined;
    const can = {next: goes, step: goes, finish: goes && calls, iteration: goes && loops, continue: goes,
      back: stop.step > 1 || at.at_end, start: at.at_end};
    for (const [id, allowed] of Object.entries(can)) this.buttons.get(id).disabled = !allowed;
    this.buttons.get("start").hidden = !at.at_end;
    this.buttons.get("continue").hidden = at.at_end;
    this.known = at.breakpoints;
    this.broken = new Set(this.texts());
    this.breakpoints.draw(at.breakpoints, stop.hits);
    this.drawWhere(stop);
    this.drawStack(stop);
    this.drawTensors(stop);
    this.graph.paint();
    return this.graph.show(stop.node).catch((error) => this.page.fail(error));
  }

  drawOver() {
    for (const button of [...this.buttons.values(), this.pause]) button.disabled = true;
    this.where.replaceChildren(element("span", {class: "problem", role: "alert"},
      `The run is over: ${this.session.status.why}`));
    this.value.hide();
  }

  drawWhere(stop) {
    const parts = [];
    const phase = stop.why === "failed" ? "failed in" : stop.after ? "after" : "before";
    const bold = (text) => element("strong", {}, text);
    if (stop.why === "ended") {
      parts.push(bold(`run ${stop.run} has ended`), ` after ${plural(stop.step, "step")}`);
    } else if (stop.node) {
      parts.push(`${phase} `, bold(stop.node.name), ` (${stop.node.op}), step ${commas(stop.step)}`);
    }
    if (stop.run > 1 && stop.why !== "ended") parts.push(`, run ${stop.run}`);
    const hit = this.known.filter(({number}) => stop.hits.includes(number));
    for (const {number, text} of hit) {
      parts.push(element("span", {class: "mark mark-0"}, `breakpoint ${number}: ${text}`));
    }
    for (const text of [stop.error, this.problem].filter(Boolean)) {
      parts.push(element("span", {class: "problem said", role: "alert"}, text));
    }
    this.where.replaceChildren(...parts);
  }

  // Shows the calls, the innermost first.
  drawStack({frames, node}) {
    const line = (frame) => {
      const iteration = frame.iteration === undefined ? "" : `, iteration ${commas(frame.iteration)}`;
      if (frame.loop !== undefined) return element("li", {}, `in loop ${frame.loop}${iteration}`);
      const name = link(frame.function, () => this.graph.view.show(frame.body), "Show this function");
      const caller = frame.caller ? [" that ", linkTo(this.page, frame.caller), " calls"] : [];
      return element("li", {}, "in ", name, ...caller, iteration);
    };
    const main = frames.length > 0 && node ? [element("li", {class: "dim"}, "in main")] : [];
    this.stack.replaceChildren(...frames.map(line).reverse(), ...main);
  }

  drawTensors(stop) {
    const lists = [["Reads", "input", stop.reads ?? []], ["Made", "output", stop.makes ?? []],
      ["Outputs", "fetch", stop.fetched]];
    this.rows = [];
    const row = (of) => ({index, name, type, text, bad}) => {
      const what = {of, index};
      const made = element("tr", {}, element("td", {}, link(name, () => this.look(what))),
        element("td", {class: "dim"}, type), element("td", {class: bad ? "problem" : ""},
          element("code", {class: "value"}, text.startsWith(type) ? text.slice(type.length + 1) : text)));
      this.rows.push([what, made]);
      return made;
    };
    const parts = lists.filter(([, , tensors]) => tensors.length > 0).flatMap(([title, of, tensors]) =>
      [element("h3", {}, title), element("table", {class: "list"}, element("tbody", {},
        ...tensors.map(row(of)))), ...this.wholes(stop, of)]);
    this.tensors.replaceChildren(...parts);
    this.lookAgain(stop);
  }

  // Returns a line for each sparse or ragged tensor whose component tensors are in the list of
  // inputs (`of` is "input") or of outputs.
  wholes({wholes = []}, of) {
    return wholes.filter(({is_read: read}) => read === (of === "input")).map(({name, text}) =>
      element("p", {class: "whole"}, name ? `${name} = ` : "", element("code", {class: "value"}, text)));
  }

  // Updates the shown value after a stop. If it is that of an expression, computes it again; else
  // shows the output at which the run stopped, else the first output or fetch, else the first
  // input.
  lookAgain(stop) {
    if (this.value.what?.expression) return this.value.draw();
    const wanted = stop.output === undefined ? undefined : this.rows.find(([{of, index}]) =>
      of === "output" && index === stop.output);
    const first = wanted ?? this.rows.find(([{of}]) => of !== "input") ?? this.rows[0];
    return first ? this.look(first[0]) : this.value.hide();
  }

  look(what) {
    for (const [one, made] of this.rows ?? []) {
      made.classList.toggle("chosen", one.of === what.of && one.index === what.index);
    }
    return this.value.show(what);
  }

  drawPrinted() {
    const {printed} = this.session.status;
    this.printed.replaceChildren(...(printed.length === 0 ? [] : [element("h3", {}, "Printed"),
      element("pre", {class: "source"}, ...printed.map((text) => element("div", {}, text || " ")))]));
  }
}
