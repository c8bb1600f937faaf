// The rows of a page in a file, which has all of them, in tables of consecutive ids. A table is
// unpacked when a document first needs one of its rows.

import {Columns} from "./columns.js";
import {Rows, unknownNode, unknownScope} from "./page_rows.js";

// As in lib/serve/pages/graph_documents.cpp and file_documents.cpp.
const NODES_A_TABLE = 1024, SCOPES_A_TABLE = 256, TEXTS_A_DOCUMENT = 256;

// The tables that are unpacked, by path. All models of the file share the documents of texts.
const tables = new Map(), promises = new Map();

// Promises the table of a path, which `make` makes from the bytes that read(path) promises.
async function load(path, read, make) {
  if (!promises.has(path)) {
    const promise = read(path).then((bytes) => tables.set(path, make(bytes)));
    promise.catch(() => promises.delete(path));
    promises.set(path, promise);
  }
  await promises.get(path);
  return tables.get(path);
}

const rowsIn = (bytes) => new Rows(bytes);
const textsIn = (bytes) => new Columns(bytes).texts("text");

// The rows of a body for one document (page_documents.js). A row or text whose table is not
// unpacked yet is an empty one, and the table is wanted.
export class FileRows {
  // `read` promises the bytes of a table by its path; `model` is the beginning of the paths.
  constructor(read, model, body) {
    Object.assign(this, {read, model, body, wanted: new Map()});
  }

  // Promises what make(this) returns when it finds all rows and texts.
  async complete(make) {
    for (;;) {
      const made = make(this);
      if (this.wanted.size === 0) return made;
      await Promise.all([...this.wanted].map(([path, kind]) => load(path, this.read, kind)));
      this.wanted.clear();
    }
  }

  table(path, kind) {
    if (!tables.has(path)) this.wanted.set(path, kind);
    return tables.get(path);
  }

  rowsOf(kind, index) { return this.table(`${this.model}/${kind}/${this.body}/${index}`, rowsIn); }
  node(id) { return this.rowsOf("nodes", Math.floor(id / NODES_A_TABLE))?.node(id) ?? unknownNode(id); }
  scope(id) { return this.rowsOf("scopes", Math.floor(id / SCOPES_A_TABLE))?.scope(id) ?? unknownScope(id); }
  get counts() { return this.rowsOf("scopes", 0)?.counts ?? []; }

  text(kind, number) {
    if (number === 0) return {};
    const index = (number - 1) % TEXTS_A_DOCUMENT;
    const texts = this.table(`texts/${kind}/${Math.floor((number - 1) / TEXTS_A_DOCUMENT)}`, textsIn);
    if (!texts) return {};
    if (typeof texts[index] === "string") texts[index] = JSON.parse(texts[index]);
    return texts[index];
  }

  // Yields the Rows of one table of nodes after the other, with their traits and stacks unpacked.
  async* nodeTables(end) {
    const count = Math.ceil(end / NODES_A_TABLE);
    for (let index = 0; index < count; ++index) {
      yield this.complete(() => {
        const rows = this.rowsOf("nodes", index), known = new Set();
        for (const kind of ["traits", "stack"]) {
          for (const number of rows?.numbers(kind) ?? []) {
            if (number > 0 && !known.has(number)) this.text(kind, number);
            known.add(number);
          }
          known.clear();
        }
        return rows;
      });
    }
  }
}
