// One value at a stop, as an array, as statistics and as a picture, with a form to replace the
// value.

import {quoted} from "./debug_breakpoints.js";
import {element} from "./dom.js";
import {valueStatistics} from "./value_statistics.js";

const field = (id, label, attributes) => [label, element("input", {id, "aria-label": label,
  spellcheck: "false", autocomplete: "off", ...attributes})];

export class DebugValue {
  // `session`: the DebugSession; set(line) executes a command that sets a value.
  constructor(session, set) {
    this.session = session;
    this.set = set;
    this.title = element("h3", {id: "debug-value-title"});
    const again = () => this.draw().catch(() => {});
    const input = (id, label, attributes) => {
      const [text, made] = field(id, label, attributes);
      made.addEventListener("change", again);
      this[id] = made;
      return element("label", {}, `${text} `, made);
    };
    const looks = element("div", {class: "row"},
      input("debug-slice", "slice", {size: 10, placeholder: "[0, :5]"}),
      input("debug-precision", "precision", {type: "number", min: 0, max: 20, value: 8}),
      input("debug-edge", "edge items", {type: "number", min: 1, max: 1000, value: 3}));
    this.axes = input("debug-axes", "rows, columns", {size: 6, placeholder: "axes: 1,2"});
    this.text = element("pre", {class: "array", tabindex: "0", id: "debug-array"});
    this.numbers = element("div", {class: "numbers"});
    this.picture = element("div", {class: "picture"});
    this.value = element("input", {id: "debug-new-value", spellcheck: "false", autocomplete: "off",
      placeholder: "0, [1, 2, 3], maximum(x:0, 1e-7)", "aria-label": "Another value for it"});
    const change = (event) => {
      event.preventDefault();
      this.change();
    };
    this.form = element("form", {class: "row", onsubmit: change}, "= ", this.value,
      element("button", {type: "submit", id: "debug-set"}, "Set"));
    this.problem = element("p", {class: "problem said", role: "alert", hidden: true});
    this.root = element("section", {class: "debug-value", "aria-label": "Value", hidden: true}, this.title,
      looks, this.problem, this.text, this.form, element("div", {class: "columns-2"}, this.numbers,
        element("div", {}, this.picture, this.axes)));
  }

  // Shows a value. `what`: {of: "input", "output" or "fetch", index}, or {expression}.
  show(what) {
    const same = JSON.stringify(what) === JSON.stringify(this.what);
    this.what = what;
    if (!same) {
      for (const id of ["debug-slice", "debug-axes"]) this[id].value = "";
      this.value.value = "";
    }
    return this.draw();
  }

  hide() {
    this.root.hidden = true;
    this.what = undefined;
  }

  async draw() {
    if (!this.what) return;
    const turn = (this.turn = (this.turn ?? 0) + 1), {what} = this;
    const edge = Number(this["debug-edge"].value);
    try {
      const shown = await this.session.value({...what, slice: this["debug-slice"].value,
        axes: this["debug-axes"].value, precision: Number(this["debug-precision"].value), edge_items: edge});
      if (turn === this.turn) this.fill(shown);
    } catch (error) {
      if (turn === this.turn) this.fail(error);
    }
  }

  fail(error) {
    this.root.hidden = false;
    if (this.what.expression) this.title.textContent = this.what.expression;
    this.problem.textContent = error.message;
    this.problem.hidden = false;
    this.text.replaceChildren();
    this.numbers.replaceChildren();
    this.picture.replaceChildren();
    this.form.hidden = this.axes.hidden = true;
  }

  fill(shown) {
    this.name = shown.name;
    this.problem.hidden = true;
    this.root.hidden = false;
    const file = this.what.of && !shown.text.startsWith("<")
      ? element("a", {href: this.session.fileOf(this.what), download: true}, "save as .npy") : undefined;
    const cut = shown.shape === shown.whole ? "" : ` of ${shown.whole}`;
    this.title.replaceChildren(shown.name || this.what.expression, " ",
      element("span", {class: "dim"}, `${shown.dtype} ${shown.shape}${cut}`), " ", file ?? "");
    this.text.textContent = shown.text;
    this.form.hidden = !shown.name;
    const {statistics, picture} = shown;
    this.numbers.replaceChildren(...(statistics ? valueStatistics(statistics) : []));
    this.axes.hidden = !picture || shown.whole.split(",").filter((dim) => /\d/u.test(dim)).length < 2;
    this.picture.replaceChildren(...(picture ? this.drawn(picture) : shown.no_picture
      ? [element("p", {class: "dim"}, shown.no_picture)] : []));
    // If the axes that the user typed give no picture, keep their field visible, so that the user
    // can correct them.
    if (!picture && this["debug-axes"].value) this.axes.hidden = false;
  }

  drawn({svg, layout, colors}) {
    const src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    return [element("img", {src, alt: `heat map: ${colors}`}),
      element("p", {class: "dim"}, layout, element("br"), colors)];
  }

  async change() {
    const slice = this["debug-slice"].value.trim();
    const cut = slice && !slice.startsWith("[") ? `[${slice}]` : slice;
    if (!this.value.value.trim()) return;
    try {
      await this.set(`set ${quoted(this.name)}${cut} = ${this.value.value.trim()}`);
      this.value.value = "";
    } catch (error) {
      this.problem.textContent = error.message;
      this.problem.hidden = false;
    }
  }
}
