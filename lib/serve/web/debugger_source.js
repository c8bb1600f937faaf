// Shows the source lines that made an op, the user's frames first, with the lines around them; and
// every source file, with the ops that each line made.

import {commas, element, link, plural} from "./dom.js";
import {isFile} from "./source.js";

const NO_TEXT = "its text is not in the folder";

const nameOf = (path) => path.split("/").at(-1);

export class SourcePane {
  // `actions`: open(card) shows a card, go(body, node) shows a node in the graph.
  constructor(source, actions) {
    this.source = source;
    this.actions = actions;
    this.stack = element("div", {class: "stack", role: "region", "aria-label": "Stack trace", tabindex: "0"});
    this.files = element("select", {"aria-label": "Source file",
      onchange: () => this.showFile(Number(this.files.value))});
    this.note = element("p", {class: "dim"});
    this.text = element("pre", {class: "source whole", tabindex: "0", "aria-label": "Source"});
    this.root = element("div", {class: "column code"}, this.stack,
      element("div", {class: "files", role: "region", "aria-label": "Source files"},
        element("h3", {}, "Source files"), this.files, this.note, this.text));
  }

  async build() {
    this.list = await this.source.get("sources");
    const option = ([path], i) => element("option", {value: i, title: path}, nameOf(path) || "(no name)");
    const groups = [[false, "yours"], [true, "TensorFlow and Keras"]].map(([framework, label]) => {
      const options = this.list.flatMap((file, i) => (file[1] === framework ? [option(file, i)] : []));
      return options.length > 0 ? element("optgroup", {label: `${label} (${options.length})`}, ...options)
        : undefined;
    });
    this.files.replaceChildren(...groups.filter(Boolean));
    this.files.hidden = this.list.length === 0;
    if (this.list.length === 0) this.note.textContent = "no source file was recorded";
  }

  async draw({cause, stack}) {
    const mine = stack.filter((frame) => !frame.framework), others = stack.filter((frame) => frame.framework);
    const frame = ({file, line, function: name, source}) => element("li", {},
      source === undefined ? `a file that is not recorded:${line}`
        : link(`${nameOf(file)}:${line}`, () => this.showFile(source, line), file),
      name ? ` in ${name}` : "");
    const parts = [element("h3", {}, "Stack trace")];
    if (stack.length === 0) parts.push(element("p", {class: "dim"}, "not recorded"));
    else if (mine.length === 0) parts.push(element("p", {class: "dim"}, "holds no file of yours"));
    if (cause.source) parts.push(...around(cause.source));
    if (mine.length > 1) parts.push(element("p", {class: "dim"}, "called from"),
      element("ol", {}, ...mine.slice(1).map(frame)));
    if (others.length > 0) {
      parts.push(element("details", {class: "folded"}, element("summary", {},
        plural(others.length, "TensorFlow frame")),
        element("ol", {}, ...others.map(frame))));
    }
    this.stack.replaceChildren(...parts);
    this.stack.scrollTop = 0;
    if (mine.length > 0 && mine[0].source !== undefined) return this.showFile(mine[0].source, mine[0].line);
    if (this.shown === undefined && this.list?.length > 0) return this.showFile(Number(this.files.value));
  }

  async showFile(source, line) {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    this.files.value = source;
    if (isFile && this.list[source][1]) {
      this.note.textContent =
        "This file holds your sources only; `grapnel serve FOLDER` shows TensorFlow's too.";
      return this.text.replaceChildren();
    }
    const file = await this.source.get(`source/${source}`);
    if (turn !== this.turn) return;
    this.shown = source;
    const made = new Map(file.made.map((entry) => [entry.line, entry]));
    const size = file.lines.length > 0 ? plural(file.lines.length, "line") : NO_TEXT;
    this.note.textContent = `${file.path}: ${size}, ${plural(made.size, "line")} made ops`;
    const last = Math.max(file.lines.length, ...made.keys(), 0);
    const numbers = file.lines.length > 0 ? [...Array(last).keys()].map((i) => i + 1)
      : [...made.keys()].sort((a, b) => a - b);
    this.text.replaceChildren(...numbers.map((number) => this.row(number, file.lines[number - 1] ?? "",
      made.get(number), number === line)));
    const here = this.text.querySelector(".here");
    if (here) this.text.scrollTop = here.offsetTop - this.text.offsetTop - this.text.clientHeight / 2;
  }

  // Returns a line of source text, with the line's ops below it.
  row(number, text, made, here) {
    if (!made) return lineRow(element("span", {class: "number"}, String(number)), text, here);
    const {bad} = made, title = `${plural(made.count, "op")} made here${bad ? ", some bad" : ""}`;
    const toggle = element("button", {type: "button", class: `number made${bad ? " bad" : ""}`,
      "aria-expanded": "false", title,
      onclick: () => {
        const open = row.nextElementSibling?.classList.contains("ops");
        toggle.setAttribute("aria-expanded", String(!open));
        if (open) row.nextElementSibling.remove();
        else row.after(this.ops(made));
      }}, `${bad ? "!" : "\u2022"} ${number}`);
    const row = lineRow(toggle, text, here);
    row.dataset.line = number;
    return row;
  }

  ops({count, made}) {
    const item = ([card, body, node, op, name, bad]) => element("li", {class: bad ? "problem" : ""},
      card ? link(`${op} ${name}`, () => this.actions.open(card))
        : link(`${op} ${name}`, () => this.actions.go(body, node), "Show it in the graph"));
    const items = made.map(item);
    if (count > made.length) items.push(element("li", {class: "dim"},
      `and ${commas(count - made.length)} more`));
    return element("ul", {class: "ops"}, ...items);
  }
}

const lineRow = (number, text, here) => element("div", {class: here ? "here" : ""}, number, text || " ");

// Returns elements for one frame of a stack: its source line, and the lines around it that the
// frame itself contains, so that no file need be loaded.
function around({file, line, function: name, first_line: first, lines}) {
  const rows = lines.map((text, i) => lineRow(element("span", {class: "number"}, String(first + i)), text,
    first + i === line));
  return [element("p", {title: file}, element("strong", {}, `${nameOf(file)}:${line}`), ` in ${name}`),
    lines.length > 0 ? element("pre", {class: "source"}, ...rows) : element("p", {class: "dim"}, NO_TEXT)];
}
