// The source of documents: the server that sent the page, or the page itself if it is a file.

const token = new URLSearchParams(location.search).get("token") ?? "";

// Documents that the server embedded in the page, by path. Each is used for the first request only.
const sent = new Map();
for (const element of document.querySelectorAll('script[id^="sent "]')) {
  sent.set(element.id.slice(5), element.textContent);
  element.remove();
}
// Drops the embedded documents, which are outdated when the files have changed.
export const forgetSent = () => sent.clear();

async function fromServer(path, options = {}) {
  const text = options.method ? undefined : sent.get(path);
  if (text === undefined) return askServer(path, options);
  sent.delete(path);
  return JSON.parse(text);
}

async function askServer(path, options) {
  const answer = await fetch(`api/${path}`, {headers: {"X-Grapnel-Token": token}, ...options});
  const text = await answer.text();
  if (!answer.ok) throw new Error(text || `the server answered ${answer.status}`);
  return JSON.parse(text);
}

async function fromPage(path) {
  const element = document.getElementById(`data ${path}`);
  if (!element) throw new Error(`this page does not contain the document '${path}'`);
  if (element.type === "application/json") return JSON.parse(element.textContent);
  // The element contains the path of another element, with an equal document.
  if (element.type === "text/plain") return fromPage(element.textContent);
  const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const embedded = document.getElementById("data models") !== null;
const read = embedded ? fromPage : fromServer;
// The sizes of chunks, as in lib/serve/pages/graph_documents.cpp and lib/serve/tabs/debugger.cpp.
const NODES_A_CHUNK = 256, SCOPES_A_CHUNK = 256, CARDS_A_CHUNK = 256;

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

// The documents of one model. get() requests a document only once, unless the request fails.
export class Source {
  constructor(model) {
    this.model = model;
    this.kept = new Map();
    this.markKinds = [];  // names of the kinds of marks on boxes
  }

  get(path) {
    let promise = this.kept.get(path);
    if (!promise) {
      promise = read(`${this.model}/${path}`);
      promise.catch(() => this.kept.delete(path));
      this.kept.set(path, promise);
    }
    return promise;
  }

  summary() { return this.get("model"); }

  scope(body, id) {
    if (id === undefined) return this.get(`scope/${body}`);
    return embedded ? this.inChunk("scopes", body, id, SCOPES_A_CHUNK) : this.get(`scope/${body}/${id}`);
  }

  // Searches on the server; not cached, because the words may never be repeated.
  search(text) { return post(`${this.model}/search`, text); }

  // hidden() promises the nodes that a filter hides in a body, find() the {body, node} of a name;
  // both ask the server.
  hidden(body, filter) { return this.ask(`hidden/${body}`, JSON.stringify(filter)); }
  find(name) { return this.ask("find", name); }

  async ask(path, words) {
    const answer = await post(`${this.model}/${path}`, words);
    if (answer.problem) throw new Error(answer.problem);
    return answer;
  }

  marked(kind, from) { return this.get(`marked/${kind}/${from}`); }
  problems(from) { return this.get(`problems/${from}`); }
  readers(body, id, output, from) { return this.get(`readers/${body}/${id}/${output}/${from}`); }
  node(body, id) {
    return embedded ? this.inChunk("nodes", body, id, NODES_A_CHUNK) : this.get(`node/${body}/${id}`);
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

  // Calls `visit` with each page of the index of a body's nodes; between pages the browser can
  // respond.
  forEachIndexPage(body, visit) { return this.forEachPage("index", body, visit); }

  async forEachPage(kind, body, visit) {
    for (let from = 0; from !== undefined;) {
      const page = await this.get(`${kind}/${body}/${from}`);
      if (visit(page) === false) return;
      from = page.next;
    }
  }
}
