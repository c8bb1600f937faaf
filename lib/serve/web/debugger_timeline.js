// Python's executions in order: a strip of boxes, navigated with the arrow keys.

import {commas, element} from "./dom.js";

const PAGE = 500;  // as in lib/serve/pages/debug_page.h
const STATES = ["clean", "bad", "unknown"], WORDS = ["", ", has NaN or infinity", ", not recorded"];

export class Timeline {
  // `open(card)` shows a card; `facts`, a text about the run, is shown next to the heading.
  constructor(source, count, open, facts) {
    this.source = source;
    this.count = count;
    this.open = open;
    this.strip = element("div", {class: "strip", role: "listbox", "aria-label": "Executions in order",
      "aria-orientation": "horizontal",
      onkeydown: (event) => this.key(event)});
    this.range = element("span", {class: "dim"});
    const turn = (text, label, by) => element("button", {type: "button", "aria-label": label,
      onclick: () => this.show(this.from + by * PAGE)}, text);
    this.pages = element("span", {hidden: count <= PAGE}, turn("\u25c2", "Executions before", -1), " ",
      turn("\u25b8", "Executions after", 1), " ");
    this.root = element("div", {class: "timeline", role: "region", "aria-label": "Execution timeline"},
      element("div", {class: "over"}, element("h3", {}, "Execution timeline"), this.pages, this.range,
        element("span", {class: "dim facts"}, facts)),
      this.strip);
  }

  async show(from) {
    if (from < 0 || (from >= this.count && from > 0)) return;
    this.from = from;
    const {executions} = await this.source.get(`executions/${from}`);
    if (this.from !== from) return;
    this.range.textContent = this.count === 0 ? "nothing was recorded" : this.count <= PAGE
      ? "what Python ran, in order"
      : `${commas(from)} to ${commas(from + executions.length - 1)} of ${commas(this.count)}`;
    this.strip.replaceChildren(...executions.map(([index, label, op, state, called]) => element("button", {
      type: "button", role: "option", tabindex: "-1", class: `box ${STATES[state]}`, "data-execution": index,
      title: `execution ${index}: ${op}${WORDS[state]}`, onclick: () => this.open(`execution/${index}`)},
        element("span", {class: "dim"}, commas(index)), ` ${called ? "\u0192 " : ""}${label}`)));
    this.mark();
  }

  // Marks `execution`: the one whose card is shown, or that computed the tensor of the card; null
  // if it is unknown.
  async choose(execution) {
    this.chosen = execution ?? undefined;
    const from = Math.floor((execution ?? 0) / PAGE) * PAGE;
    if (this.from === undefined || (execution !== null && this.from !== from)) return this.show(from);
    this.mark();
  }

  mark() {
    const boxes = [...this.strip.children];
    let current;
    for (const box of boxes) {
      const chosen = Number(box.dataset.execution) === this.chosen;
      box.setAttribute("aria-selected", String(chosen));
      box.tabIndex = -1;
      if (chosen) current = box;
    }
    if (boxes.length > 0) (current ?? boxes[0]).tabIndex = 0;
    if (current) this.strip.scrollTop =
      current.offsetTop - this.strip.offsetTop - this.strip.clientHeight / 2 + current.offsetHeight / 2;
  }

  key(event) {
    const boxes = [...this.strip.children], at = boxes.indexOf(document.activeElement);
    const to = {ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at +
      1, ArrowUp: at - 1, Home: 0, End: boxes.length - 1}[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    const box = boxes[Math.max(0, Math.min(to, boxes.length - 1))];
    box.focus();
    box.click();
  }
}
