// The filter's panel, in place of the node's panel: ops, devices and functions with counts, each of
// which can be hidden or shown alone, and the words that hide nodes.

import {byId, commas, element, link} from "./dom.js";
import {wordOf} from "./filter_words.js";

const FIRST = 30;  // initially visible entries of a list
const EDGES = [["control", "control edges"], ["resources", "edges of resources and variants"],
  ["constants", "constants and variables in boxes"], ["shapes", "shapes on edges"]];

const NONE = {function: "main"};  // the name of the empty text in a list
// The lists: title, field, and the number of entries that a list must exceed to be shown.
const LISTS = [["Ops", "op", 0], ["Jobs", "job", 1], ["Tasks", "task", 1], ["Devices", "device", 1],
  ["XLA clusters", "cluster", 1], ["Functions", "function", 1]];

export class FilterPanel {
  // `shown`: the Visibility of visibility.js.
  constructor(page, shown) {
    Object.assign(this, {page, shown});
    byId("filter").addEventListener("click", () => this.show().catch((error) => page.fail(error)));
    shown.changed = () => {
      if (byId("panel").contains(this.root)) this.draw();
    };
  }

  async show() {
    const {source} = this.page, panel = byId("panel");
    this.root = element("section", {"aria-label": "What is shown"}, element("p", {}, "Counting \u2026"));
    panel.classList.remove("cards");
    this.page.tell(true);
    panel.replaceChildren(this.root);
    const counts = await source.get("facets");
    this.lists = LISTS.filter(([, field, least]) => counts[field].length > least).map(([title, field]) =>
      ({title, field, entries: counts[field]}));
    this.ops = counts.op.map(([op]) => op);
    this.open = new Map();
    this.draw();
    byId("hide-word")?.focus();
  }

  draw() {
    if (!this.lists) return;
    const {filter} = this.shown;
    const fixed = ([word, text]) => element("label", {class: "entry"}, element("input", {type: "checkbox",
      checked: !filter.has(word), onchange: ({target}) => this.shown.hide(word, !target.checked)}), text);
    this.root.replaceChildren(element("h2", {}, "What is shown"), this.form(), this.chips(),
      ...EDGES.map(fixed), ...this.lists.map((list) => this.list(list)));
  }

  form() {
    const problem = element("p", {class: "problem", hidden: true});
    const input = element("input", {id: "hide-word", "aria-label": "Hide nodes", autocomplete: "off",
      placeholder: "Hide: Identity, op:*Const, grad*/…, /regex/"});
    const submit = async (event) => {
      event.preventDefault();
      const text = input.value.trim();
      if (!text) return;
      try {
        await this.shown.use(this.shown.filter.with({hide: [...this.shown.filter.hide,
          wordOf(text, this.ops)]}));
        byId("hide-word").focus();
      } catch (error) {
        problem.hidden = false;
        problem.textContent = error.message;
      }
    };
    return element("form", {class: "row", onsubmit: submit}, input,
      element("button", {type: "submit"}, "Hide"), problem);
  }

  chips() {
    const {filter} = this.shown;
    const chip = (text, remove) => element("li", {}, text, element("button",
      {type: "button", "aria-label": `Remove ${text}`, onclick: remove}, "\u00d7"));
    const items = [
      ...filter.hide.map((word) => chip(word, () => this.shown.hide(word, false))),
      ...filter.only.map((word) => chip(`only ${word}`, () => this.shown.only(word, false))),
      ...(filter.isPart ? [chip(filter.path || `around ${filter.around}`,
        () => this.shown.set({around: "", path: ""}))] : []),
    ];
    if (items.length > 1) items.push(element("li", {}, link("show all", () => this.shown.all())));
    return element("ul", {class: "chips"}, ...items);
  }

  list({title, field, entries}) {
    const all = this.open.get(field), seen = all ? entries : entries.slice(0, FIRST);
    const parts = seen.map((entry) => this.entry(field, entry));
    if (seen.length < entries.length) {
      const more = link(`and ${commas(entries.length - seen.length)} more`, () => {
        this.open.set(field, true);
        this.draw();
      });
      parts.push(element("p", {}, more));
    }
    return element("details", {open: true}, element("summary", {}, title), ...parts);
  }

  entry(field, [text, count]) {
    const {filter} = this.shown, word = `${field}:${text}`, alone = filter.only.includes(word);
    const others = filter.only.some((other) => other.startsWith(`${field}:`)) && !alone;
    const toggle = ({target}) => (others ? this.shown.only(word) : this.shown.hide(word, !target.checked));
    const box = element("input", {type: "checkbox", checked: !filter.hide.includes(word) && !others,
      onchange: toggle});
    return element("div", {class: "entry"}, element("label", {}, box, ` ${text || NONE[field] || "none"} `,
      element("span", {class: "dim"}, commas(count))), link(alone ? "all" : "only", () =>
      this.shown.only(word, !alone)));
  }
}
