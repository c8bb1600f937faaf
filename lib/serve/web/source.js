// The source of documents: the server that sent the page, or the page itself if it is a file.
// Documents are JSON, or tables of rows (page_rows.js) from which the page makes what it shows.

import {bytesOfBase64} from "./columns.js";
import {FileRows} from "./file_rows.js";
import {NodeList} from "./node_list.js";
import {briefly, nodeDocument, scopeDocument} from "./page_documents.js";
import {AnswerRows, Rows} from "./page_rows.js";
import {layerView} from "./view_layers.js";

const token = new URLSearchParams(location.search).get("token") ?? "";

// Documents that the server embedded in the page, by path. Each is used for the first request only.
const sent = new Map();
for (const element of document.querySelectorAll('script[id^="sent "]')) {
  sent.set(element.id.slice(5), element.textContent);
  element.remove();
}
// Drops the embedded documents, which are outdated when the files have changed.
export const forgetSent = () => sent.clear();

function takeSent(path) {
  const text = sent.get(path);
  sent.delete(path);
  return text;
}

async function fromServer(path, options = {}) {
  const text = options.method ? undefined : takeSent(path);
  return JSON.parse(text ?? await (await askServer(path, options)).text());
}

async function tableFromServer(path) {
  const text = takeSent(path);
  if (text !== undefined) return bytesOfBase64(text);
  return new Uint8Array(await (await askServer(path)).arrayBuffer());
}

async function askServer(path, options = {}) {
  const answer = await fetch(`api/${path}`, {headers: {"X-Grapnel-Token": token}, ...options});
  if (!answer.ok) throw new Error(await answer.text() || `the server answered ${answer.status}`);
  return answer;
}

// Returns the element with a document; if that contains only the path of another element, with an
// equal document, the other element.
function elementOf(path) {
  const element = document.getElementById(`data ${path}`);
  if (!element) throw new Error(`this page does not contain the document '${path}'`);
  return element.type === "text/plain" ? elementOf(element.textContent) : element;
}

function unpacked(element) {
  const packed = new Blob([bytesOfBase64(element.textContent)]).stream();
  return new Response(packed.pipeThrough(new DecompressionStream("gzip")));
}

async function fromPage(path) {
  const element = elementOf(path);
  return element.type === "application/json" ? JSON.parse(element.textContent) : unpacked(element).json();
}

const tableFromPage = async (path) => new Uint8Array(await unpacked(elementOf(path)).arrayBuffer());

const embedded = document.getElementById("data models") !== null;
const read = embedded ? fromPage : fromServer;
const readTable = embedded ? tableFromPage : tableFromServer;
const CARDS_A_CHUNK = 256;  // as in lib/serve/tabs/debugger.cpp

export const isFile = embedded;
export const models = () => read("models");
// post() requests work from the server, with a text or a file as the body; ask() requests a
// document that may change. Neither is cached. Errors have the server's message.
export const post = (path, body) => fromServer(path, {method: "POST", body});
export const ask = (path) => read(path);
// Sends a request while the page is closing, and ignores the answer.
export const sendLast = (path) =>
  fromServer(path, {method: "POST", body: "", keepalive: true}).catch(() => {});
export const fileUrl = (path) => `api/${path}?token=${encodeURIComponent(token)}`;

// The documents of one model. Each is requested only once, unless the request fails; table() and the
// functions that ask the server with words (search, filter, edges) request anew each time.
export class Source {
  constructor(model) {
    this.model = model;
    this.kept = new Map();
    this.markKinds = [];  // names of the kinds of marks on boxes
  }

  // Promises what make() promises, and keeps it by `path`.
  once(path, make) {
    let promise = this.kept.get(path);
    if (!promise) {
      promise = make();
      promise.catch(() => this.kept.delete(path));
      this.kept.set(path, promise);
    }
    return promise;
  }

  get(path) { return this.once(path, () => read(`${this.model}/${path}`)); }
  table(path) { return readTable(`${this.model}/${path}`); }
  answer(path) { return this.table(path).then((bytes) => new AnswerRows(bytes)); }
  // Promises what make(rows) returns for the rows of a body in the file or, from the server, those
  // in the answer to `path`.
  make(path, body, make) {
    return this.once(path, () => (embedded ? new FileRows(readTable, this.model, body).complete(make)
      : this.answer(path).then(make)));
  }

  summary() { return this.get("model"); }
  layers() { return this.get("layers"); }

  // Promises the document of the scope `id` (undefined: the outermost), with its boxes in layers.
  scope(body, id) {
    const path = id === undefined ? `scope/${body}` : `scope/${body}/${id}`;
    return this.once(`layers of ${path}`, async () => {
      const found = await this.make(path, body, (rows) => scopeDocument(rows, body, id));
      const {around} = found, outer = around && await this.scope(body, around.id);
      layerView(found.view, outer?.view);
      return found;
    });
  }

  // Searches on the server; not cached, because the words may never be repeated.
  // `seen`: the nodes that have a box, "body.node" each.
  search(text, seen) {
    return post(`${this.model}/search`, `${text.replaceAll("\n", " ")}\n${seen.join(" ")}`);
  }

  // hidden() promises the nodes that a filter hides in a body, find() the {body, node} of a name;
  // both ask the server.
  hidden(body, filter) { return this.ask(`hidden/${body}`, JSON.stringify(filter)); }
  find(name) { return this.ask("find", name); }
  // Asks the server for edges; see edge_list.js.
  edges(body, boxes) { return this.ask(`edges/${body}`, boxes); }

  async ask(path, words) {
    const answer = await post(`${this.model}/${path}`, words);
    if (answer.problem) throw new Error(answer.problem);
    return answer;
  }

  marked(kind, from) { return this.get(`marked/${kind}/${from}`); }
  problems(from) { return this.get(`problems/${from}`); }
  node(body, id) { return this.make(`node/${body}/${id}`, body, (rows) => nodeDocument(rows, id)); }
  // Promises further readers of an output: {readers, next}.
  readers(body, id, output, from) {
    const path = `readers/${body}/${id}/${output}/${from}`;
    return this.once(path, async () => {
      const bytes = await this.table(path), {ids, next} = new Rows(bytes);
      const make = (rows) => Array.from(ids, (reader) => briefly(rows, reader));
      const rows = new FileRows(readTable, this.model, body);
      return {readers: embedded ? await rows.complete(make) : make(new AnswerRows(bytes)), next};
    });
  }

  // Promises a card of a debug page by its name, "trace/11".
  card(name) {
    const [kind, number] = name.split("/");
    return embedded ? this.inChunk("cards", kind, Number(number), CARDS_A_CHUNK) : this.get(name);
  }

  async inChunk(kind, body, id, size) {
    const chunk = await this.get(`${kind}/${body}/${Math.floor(id / size)}`);
    return chunk[id];
  }

  // Calls `visit` with lists of all nodes of a body (node_list.js); between lists the browser can
  // respond. A visit that returns false is the last.
  async forEachList(body, visit) {
    if (!embedded) return this.forEachAnswer(body, visit);
    const {bodies} = await this.summary(), file = new FileRows(readTable, this.model, body);
    for await (const rows of file.nodeTables(bodies[body].end)) {
      if (visit(new NodeList(rows, file)) === false) return;
    }
  }

  async forEachAnswer(body, visit) {
    for (let from = 0; from !== undefined;) {
      const path = `index/${body}/${from}`, answer = await this.once(path, () => this.answer(path));
      if (visit(new NodeList(answer.rows, answer)) === false) return;
      from = answer.rows.next;
    }
  }
}
