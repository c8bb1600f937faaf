// Shows the card of one tensor or execution: outputs, inputs, time, and neighbors.

import {commas, element, link, plural} from "./dom.js";

const SHARES = [["neg_inf", "bad"], ["nan", "bad"], ["pos_inf", "bad"], ["negative", "minus"],
  ["zero", "zero"], ["positive", "plus"]];
const MOST_CHIPS = 12;

const health = (value) => (value.bad === undefined ? "unknown" : value.bad ? "bad" : "clean");
const WORDS = {bad: "has NaN or infinity", clean: "clean", unknown: "not recorded"};

export const dot = (kind) => element("i", {class: `dot ${kind}`, role: "img", "aria-label": WORDS[kind],
  title: WORDS[kind]});

// `actions`: open(card) shows another card, go(body, node) shows a node in the graph, first()
// returns the first cause's card.
export class Card {
  constructor(actions) {
    this.actions = actions;
    this.root = element("div", {class: "column card", role: "region", "aria-label": "Selection",
      "aria-live": "polite", tabindex: "0"});
  }

  say(text, more = "") { this.root.replaceChildren(element("h2", {}, text), element("p", {}, more)); }

  draw(card) {
    const {cause} = card, outputs = Math.max(card.outputs.length, card.all_outputs ?? 0);
    this.root.replaceChildren(
      element("h2", {}, cause.text), this.when(card), this.links(card),
      element("div", {class: "health-pair"},
        element("h3", {}, card.inputs.length > 0 ? plural(card.inputs.length, "input") : "No inputs"),
        ...card.inputs.map((input) => this.tensor(this.inputName(input), input.card, input.made_in,
          input.value, input.bad_variable)),
        element("h3", {}, outputs === 1 ? "Output" : plural(outputs, "output")),
        ...card.outputs.map(({slot, card: other, value}) =>
          this.tensor(`${cause.node}:${slot}`, other === card.card ? undefined : other,
            cause.trace === null ? undefined : cause.function, value)),
        outputs > card.outputs.length ? element("p", {class: "dim"},
          `${commas(outputs - card.outputs.length)} not recorded`) : undefined),
      element("h3", {}, "Graph structure"), this.structure(card));
    this.root.scrollTop = 0;
  }

  // Shows when and where the tensor was computed, as far as known: step, call, iteration, device.
  when(card) {
    const {cause} = card, parts = [];
    if (cause.step !== null && cause.step >= 0) parts.push(`step ${cause.step}`);
    if (cause.iteration !== null) parts.push(`iteration ${cause.iteration} of the loop`);
    const isTrace = cause.trace !== null;
    if (isTrace) parts.push(cause.function ? `inside ${cause.function}`
      : "inside a function that is not described");
    const line = element("p", {class: "when"}, parts.join(", "), parts.length > 0 ? ", " : "");
    if (!isTrace) line.append(`execution ${commas(cause.execution)}`);
    else if (cause.execution === null) line.append("in a call that was not recorded");
    else line.append(link(`execution ${commas(cause.execution)}`,
      () => this.actions.open(`execution/${cause.execution}`)));
    if (card.device) line.append(`, on ${card.device}`);
    if (card.records > 1) {
      line.append(`; record ${card.record + 1} of ${card.records} of this tensor `);
      if (card.before) line.append(link("\u25c2 before", () => this.actions.open(card.before)), " ");
      if (card.after) line.append(link("after \u25b8", () => this.actions.open(card.after)));
    }
    return line;
  }

  links(card) {
    const line = element("p", {class: "links"}), first = this.actions.first();
    const button = (text, id, onclick) =>
      line.append(element("button", {type: "button", id, onclick}, text), " ");
    if (card.place) button("Show it in the graph", "show-in-graph", () => this.actions.go(...card.place));
    const {tensors, bad, first: firstInside, first_bad: firstBad} = card.inside ?? {};
    if (firstBad) button(`${commas(bad)} of ${plural(tensors, "tensor")} inside bad: the first`,
      "first-inside", () => this.actions.open(firstBad));
    else if (firstInside) button(`${plural(tensors, "tensor")} inside: the first`, "first-inside",
      () => this.actions.open(firstInside));
    if (first && first !== card.card) button("Back to the first cause", "to-first",
      () => this.actions.open(first));
    return line;
  }

  inputName({tensor, made_by: madeBy, execution}) {
    if (execution !== undefined) return `${commas(execution)} ${tensor}`;
    if (!tensor) return madeBy || "an eager tensor";
    return madeBy && madeBy !== tensor ? `${tensor} = ${madeBy}` : tensor;
  }

  // Returns a tensor's text, with a bar of the shares of its kinds of elements.
  tensor(name, card, where, value, badVariable) {
    const total = value.elements ?? 0, shares = SHARES.filter(([key]) => value[key] > 0);
    const bar = element("div", {class: "health", "aria-hidden": "true"}, ...shares.map(([key, kind]) => {
      const part = element("i", {class: kind});
      part.style.flexGrow = String(Math.max(value[key] / total, 0.02));
      return part;
    }));
    return element("div", {class: "tensor"}, dot(badVariable ? "bad" : health(value)),
      card ? link(name, () => this.actions.open(card)) : element("strong", {}, name),
      where ? ` in ${where}` : "", element("br"),
      element("span", {class: value.bad ? "problem" : "dim"}, badVariable
        ? "a variable that was given NaN or infinity" : value.text),
      shares.length > 0 ? bar : undefined);
  }

  // Shows the inputs and their inputs, and the readers and their readers; data flows from the top.
  structure(card) {
    const second = (list, key) => list.flatMap((entry) => entry[key] ?? []);
    const here = element("strong", {class: `chip here ${health(card.cause.value)}`},
      dot(health(card.cause.value)), card.tensor);
    const rows = [["inputs of inputs", second(card.inputs, "inputs")], ["inputs", card.inputs],
      ["this", [here]],
      ["read by", card.readers], ["read by those", second(card.readers, "readers")]];
    return element("div", {class: "structure"},
      ...rows.filter(([, list]) => list.length > 0).map(([name, list]) =>
      element("div", {class: "hop"}, element("span", {class: "dim"}, name),
        element("div", {class: "chips"}, ...this.chips(list)))));
  }

  chips(list) {
    const seen = new Set(), made = [];
    for (const entry of list) {
      if (entry instanceof Element) return list;
      const name = entry.returned ? `returned as ${entry.tensor}` : this.inputName(entry);
      const key = `${name}|${entry.card}`;
      if (seen.has(key)) continue;
      seen.add(key);
      made.push([name, entry]);
    }
    const chips = made.slice(0, MOST_CHIPS).map(([name, entry]) => {
      const kind = entry.bad_variable ? "bad" : health(entry.value), content = [dot(kind), name],
        about = {class: `chip ${kind}`, title: entry.value.text};
      const open = entry.card ? () => this.actions.open(entry.card)
        : entry.place ? () => this.actions.go(...entry.place) : undefined;
      return open ? element("button", {type: "button", ...about, onclick: open}, ...content)
        : element("span", about, ...content);
    });
    if (made.length > MOST_CHIPS) chips.push(element("span", {class: "dim"},
      `and ${commas(made.length - MOST_CHIPS)} more`));
    return chips;
  }
}
