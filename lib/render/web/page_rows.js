// The rows of nodes and scopes in a table of columns. lib/render/page_rows.h lists the columns.

import {Columns} from "./columns.js";

const FIRST_LISTED = 200;  // kFirstListed of lib/render/graph_page.h
const TEXTS_OF_NODE = ["traits", "panel", "box", "details", "stack"];

// A row for a node or a scope that is not known.
export const unknownNode = (id) => ({id, name: "", traits: 0, panel: 0, box: 0, details: 0, stack: 0,
  inside: -1, home: id, isOutput: false, mark: -1, inputs: [], outputs: []});
export const unknownScope = (id) => ({id, parent: -1, core: id, isGroup: false, isFrame: false, path: "",
  title: "", base: "", ends: "", layer: "", className: "", about: 0, contents: 0, anchor: 0, marked: []});

export class Rows {
  constructor(bytes) {
    this.columns = new Columns(bytes);
    this.kept = new Map();  // columns, by name
    this.ids = this.columns.numbers("node");
    this.scopeIds = this.columns.numbers("scope");
    this.indices = new Map();  // of the rows by id, for "node" and for "scope"
  }

  numbers(name, count = this.ids.length) {
    if (!this.kept.has(name)) this.kept.set(name, this.columns.numbers(name, count));
    return this.kept.get(name);
  }

  texts(name, count = this.ids.length) {
    if (!this.kept.has(name)) this.kept.set(name, this.columns.texts(name, count));
    return this.kept.get(name);
  }

  get names() { return this.texts("name"); }
  get next() { return this.columns.numbers("next")[0]; }

  // Returns the sums of a column's values before each row, and of all.
  starts(name, count = this.ids.length) {
    const key = `starts of ${name}`;
    if (!this.kept.has(key)) {
      const starts = new Int32Array(count + 1), values = this.numbers(name, count);
      for (let i = 0; i < count; ++i) starts[i + 1] = starts[i] + values[i];
      this.kept.set(key, starts);
    }
    return this.kept.get(key);
  }

  indexOf(kind, ids, id) {
    if (!this.indices.has(kind)) {
      const indices = new Map();
      ids.forEach((other, index) => indices.set(other, index));
      this.indices.set(kind, indices);
    }
    return this.indices.get(kind).get(id);
  }

  // Returns the row of a node: {id, name, inside, home, isOutput, mark: -1 if there is none, inputs:
  // as in inputsAt(), outputs: [{port, count, readers}], and the numbers of its texts}; undefined if
  // the table does not have it.
  node(id) {
    const at = this.indexOf("node", this.ids, id);
    if (at === undefined) return undefined;
    const row = {id, name: this.names[at], inside: this.numbers("inside")[at],
      home: id + this.numbers("home")[at], isOutput: this.numbers("output")[at] > 0,
      mark: this.numbers("mark")[at] - 1, inputs: this.inputsAt(at), outputs: this.outputsAt(at)};
    for (const kind of TEXTS_OF_NODE) row[kind] = this.numbers(kind)[at];
    return row;
  }

  // Returns the inputs in row `at`: [{id, port, isControl} or {missing, isControl}].
  inputsAt(at) {
    const starts = this.starts("inputs"), end = starts[at + 1], inputs = [];
    const from = this.numbers("from", starts.at(-1)), ports = this.numbers("port", starts.at(-1));
    for (let i = starts[at]; i < end; ++i) {
      const port = ports[i], isControl = port === -1 || port === -3;
      if (port < -1) inputs.push({missing: this.missingAt(ports, i), isControl});
      else inputs.push({id: this.ids[at] + from[i], port, isControl});
    }
    return inputs;
  }

  missingAt(ports, input) {
    let before = 0;
    for (let i = 0; i < input; ++i) if (ports[i] < -1) ++before;
    return this.texts("missing", 0)[before] ?? "";
  }

  // Returns the outputs that nodes read, in row `at`; of the readers the first FIRST_LISTED.
  outputsAt(at) {
    const starts = this.starts("ports"), all = starts.at(-1), end = starts[at + 1];
    const ports = this.numbers("read", all), counts = this.numbers("readers", all), outputs = [];
    if (starts[at] === end) return outputs;
    const listed = this.listedStarts(counts), readers = this.numbers("reader", listed.at(-1));
    for (let i = starts[at]; i < end; ++i) {
      outputs.push({port: ports[i], count: counts[i],
        readers: Array.from(readers.subarray(listed[i], listed[i + 1]), (reader) => this.ids[at] + reader)});
    }
    return outputs;
  }

  listedStarts(counts) {
    if (!this.kept.has("listed")) {
      const starts = new Int32Array(counts.length + 1);
      counts.forEach((count, i) => { starts[i + 1] = starts[i] + Math.min(count, FIRST_LISTED); });
      this.kept.set("listed", starts);
    }
    return this.kept.get("listed");
  }

  // Returns the row of a scope; undefined if the table does not have it.
  scope(id) {
    const count = this.scopeIds.length, at = this.indexOf("scope", this.scopeIds, id);
    if (at === undefined) return undefined;
    const of = (name) => this.numbers(name, count)[at], text = (name) => this.texts(name, count)[at] || "";
    const path = text("path");
    const marked = this.numbers("marked", 0), kinds = marked.length / count;
    return {id, parent: id === 0 ? -1 : id + of("parent"), core: id + of("core"), isGroup: of("group") > 0,
      isFrame: of("frame") > 0, path, title: text("title") || path, base: text("base") || path,
      ends: text("ends"), layer: text("layer"), className: text("class"), about: of("about"),
      contents: of("contents"), anchor: of("anchor"),
      marked: [...marked.subarray(at * kinds, (at + 1) * kinds)]};
  }

  // Returns the numbers of the whole body, in the table with the root scope.
  get counts() { return this.columns.numbers("counts", 7); }
}

// The rows in an answer of the server, which has all that a document needs.
export class AnswerRows {
  constructor(bytes) {
    this.rows = new Rows(bytes);
    this.known = new Map();
  }

  node(id) { return this.rows.node(id) ?? unknownNode(id); }
  scope(id) { return this.rows.scope(id) ?? unknownScope(id); }
  get counts() { return this.rows.counts; }

  // Returns the object of a text; an empty one for the number 0.
  text(kind, number) {
    if (number === 0) return {};
    const key = `${kind} ${number}`, texts = this.rows.texts(`${kind} texts`, 0);
    if (!this.known.has(key)) this.known.set(key, JSON.parse(texts[number - 1]));
    return this.known.get(key);
  }
}
