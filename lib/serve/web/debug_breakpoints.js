// A list of breakpoints, with a field to add one. Before a run, the page keeps the breakpoints;
// during a run, the server does.

import {element, link, plural} from "./dom.js";

const HELP = "a node or a pattern, op:Log, func:body, iteration 3, has_inf_or_nan, max(abs(_)) > 1e3; " +
  "or several of them: op:Log iteration 2 if min(_) < 0";

export class BreakpointList {
  // `actions`: add(text) and remove(breakpoint), which may throw an error, or return a promise that
  // is rejected with one.
  constructor(id, actions) {
    this.actions = actions;
    this.items = element("ul", {class: "breakpoints", "aria-label": "Breakpoints"});
    this.problem = element("p", {class: "problem said", role: "alert", hidden: true});
    this.field = element("input", {id, placeholder: "op:Log, a node, max(abs(_)) > 1e3", spellcheck: "false",
      autocomplete: "off", "aria-label": "Where to stop", title: HELP});
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.add();
    });
    this.root = element("div", {}, this.items, element("div", {class: "row"}, this.field,
      element("button", {type: "button", id: `${id}-add`, onclick: () => this.add()}, "Add")), this.problem);
  }

  async add() {
    const text = this.field.value.trim();
    if (text && await this.attempt(() => this.actions.add(text))) this.field.value = "";
  }

  async attempt(act) {
    this.problem.hidden = true;
    try {
      await act();
      return true;
    } catch (error) {
      this.problem.textContent = error.message;
      this.problem.hidden = false;
      return false;
    }
  }

  // `breakpoints`: a list of {number, text, hits, unanswered: for how many tensors the condition
  // could not be computed, problem: why}, of which only text is required. `hits`: the numbers of
  // the breakpoints at which the run has stopped.
  draw(breakpoints, hits = []) {
    this.items.replaceChildren(...breakpoints.map((one) => {
      const facts = [one.hits > 0 ? plural(one.hits, "hit") : "",
        one.unanswered > 0 ? `no answer of ${plural(one.unanswered, "tensor")}: ${one.problem}` : ""];
      const remove = element("button", {type: "button", title: "Delete it",
        "aria-label": `Delete breakpoint ${one.text}`,
        onclick: () => this.attempt(() => this.actions.remove(one))}, "\u00d7");
      return element("li", {class: hits.includes(one.number) ? "hit" : ""}, remove,
        element("code", {}, one.text), " ",
        element("span", {class: "dim"}, facts.filter(Boolean).join("; ")));
    }));
  }
}

// Returns a tensor's name as the debugger's expressions spell it: in backquotes if it has unusual
// characters.
export const quoted = (name) => (/^[A-Za-z_][\w./]*(:\d+)?$/u.test(name) ? name : `\`${name}\``);

export const linkTo = (page, {body, id, name, op}) => link(name, () => page.go(body, id), `${op} ${name}`);
