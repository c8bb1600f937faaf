// What TensorFlow's debugger recorded: the first cause at once, its inputs, its source line; then
// what came of it, and every tensor in the order in which it was computed.

import {commas, element, link, plural} from "./dom.js";

const KINDS = [["neg_inf", "-inf", "bad"], ["nan", "NaN", "bad"], ["pos_inf", "+inf", "bad"], ["negative", "negative", "minus"], ["zero", "zero", "zero"],
  ["positive", "positive", "plus"]];
const SHOWN = 500;

export class DebuggerTab {
  constructor(root, source) {
    this.root = root;
    this.source = source;
  }

  async show() {
    const story = await this.source.get("debug");
    this.story = story;
    const facts = `${plural(story.executions, "execution")}, ${plural(story.traces, "tensor")} inside functions, mode ${story.mode}, ` +
      `${story.started}, TensorFlow ${story.tensorflow}`;
    const parts = [element("p", {class: "dim"}, facts)];
    for (const problem of story.problems) parts.push(element("p", {class: "problem"}, problem));
    this.card = element("div", {"aria-live": "polite"});
    parts.push(this.card, ...this.consequences());
    this.list = element("div");
    parts.push(element("h3", {}, "All tensors, as they were computed"), this.list);
    this.root.replaceChildren(...parts);
    if (story.first_bad) this.drawCard(story.first_bad, true);
    else this.card.replaceChildren(element("h2", {}, story.can_tell ? "No NaN and no infinity was recorded." :
      `Mode ${story.mode} does not record whether a tensor is bad: use FULL_HEALTH.`));
    await this.listTraces();
  }

  drawCard(cause, first = false) {
    const parts = [element("h2", {}, cause.text)];
    if (!first && this.story.first_bad) parts.push(element("p", {}, link("Back to the first cause", () => this.drawCard(this.story.first_bad, true))));
    if (cause.source) parts.push(...source(cause.source, cause.framework_frames));
    parts.push(element("h3", {}, "Output"), this.tensor(`${cause.node}:${cause.output}`, cause.function, cause.value));
    if (cause.inputs.length > 0) parts.push(element("h3", {}, plural(cause.inputs.length, "input")));
    for (const input of cause.inputs) {
      const made = input.made_by && input.made_by !== input.tensor ? `${input.tensor} = ${input.made_by}` : input.tensor;
      parts.push(this.tensor(made, input.made_in, input.value));
    }
    this.card.replaceChildren(...parts);
  }

  // A tensor with the shares of its kinds of elements as a bar.
  tensor(name, where, value) {
    const total = value.elements ?? 0;
    const shares = KINDS.filter(([key]) => value[key] > 0);
    const bar = element("div", {class: "health", "aria-hidden": "true"}, ...shares.map(([key, , kind]) => {
      const part = element("i", {class: kind});
      part.style.flexGrow = String(Math.max(value[key] / total, 0.02));
      return part;
    }));
    return element("div", {class: "tensor"}, element("strong", {}, name), where ? ` in ${where}` : "", element("br"),
      element("span", {class: value.bad ? "problem" : "dim"}, value.text), shares.length > 0 ? bar : undefined);
  }

  consequences() {
    const later = this.story.bad_tensors.filter((tensor) => !tensor.is_cause);
    const causes = this.story.bad_tensors.filter((tensor) => tensor.is_cause);
    const item = (tensor) => element("li", {}, tensor.trace === null ? element("span", {}, tensor.op)
      : link(tensor.op, () => this.open(tensor.trace)), " ", element("span", {class: "dim"}, tensor.value.text));
    const parts = [];
    if (causes.length > 1) parts.push(element("h3", {}, plural(causes.length, "cause")), element("ul", {}, ...causes.map(item)));
    if (later.length > 0) {
      parts.push(element("details", {}, element("summary", {}, `${plural(later.length, "later tensor")} ${later.length === 1 ? "is a consequence" : "are consequences"}`),
        element("ul", {}, ...later.slice(0, SHOWN).map(item))));
    }
    return parts;
  }

  async open(trace) {
    this.drawCard(await this.source.get(`trace/${trace}`));
    this.root.scrollTop = 0;
  }

  async listTraces(from = 0) {
    const page = await this.source.get(`traces/${from}`);
    const rows = page.traces.map(([trace, tensor, op, where, text, bad]) => element("tr", {}, element("td", {class: "number"}, commas(trace)),
      element("td", {}, link(tensor, () => this.open(trace))), element("td", {}, op), element("td", {}, where), element("td", {class: bad ? "problem" : ""}, text)));
    if (from === 0) {
      const head = ["", "tensor", "op", "in", "value"].map((text) => element("th", {scope: "col"}, text));
      this.rows = element("tbody");
      this.list.replaceChildren(element("table", {class: "list"}, element("thead", {}, element("tr", {}, ...head)), this.rows));
    }
    this.rows.append(...rows);
    this.more?.remove();
    if (page.next === undefined) return;
    this.more = element("p", {}, link(`${commas(this.story.traces - page.next)} more`, () => this.listTraces(page.next)));
    this.list.append(this.more);
  }
}

function source({file, line, function: name, first_line: first, lines}, frames) {
  const rows = lines.map((text, i) => element("div", {class: first + i === line ? "here" : ""},
    element("span", {class: "number"}, String(first + i)), text || " "));
  return [element("p", {}, `${file}:${line} in ${name}`, frames > 0 ? element("span", {class: "dim"}, ` (${plural(frames, "frame")} of TensorFlow and Keras left out)`) : ""),
    element("pre", {class: "source"}, ...rows)];
}
