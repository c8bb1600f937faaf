// The filter of a graph: hides nodes that words match, and all nodes outside of a neighborhood or
// of paths.

import {inputId, readersOf, tableOf} from "./body_table.js";
import {FIXED, parseWord} from "./filter_words.js";
import {isFile} from "./source.js";

export const SHOWN = 0;
export const HIDDEN = 1;
export const CUT = 2;  // outside of the selected part of the graph

const CONSTANTS = ["Const", "HostConst"];

export class Filter {
  // `hide`, `only`: words (filter_words.js). Hides nodes that match a word of `hide`, and nodes
  // that, for some field with words in `only`, match none of these words. `around`: a node, or
  // function/node; hides nodes that are more than `hops` edges away. `path`: "A..B"; hides nodes
  // that are not on a path from A to B.
  constructor({hide = [], only = [], around = "", hops = 2, path = ""} = {}) {
    Object.assign(this, {hide, only, around, hops, path});
    this.nodeWords = hide.filter((word) => !FIXED.includes(word));
    this.words = this.nodeWords.map(parseWord);
    this.wanted = new Map();  // words of `only`, by field
    for (const word of only.map(parseWord)) {
      this.wanted.set(word.field, [...this.wanted.get(word.field) ?? [], word]);
    }
    this.bodies = new WeakMap();
  }

  get hidesNodes() { return this.words.length > 0 || this.wanted.size > 0; }
  get isPart() { return Boolean(this.around || this.path); }
  get on() { return this.hidesNodes || this.isPart || this.has("constants"); }
  has(fixed) { return this.hide.includes(fixed); }
  with(change) { return new Filter({...this, ...change}); }

  // Promises a HiddenBody for a body; undefined if the filter hides nothing. Throws an error for
  // the user, for example if a node of the filter does not exist.
  async of(source, body) {
    if (!this.on) return undefined;
    if (!this.bodies.has(source)) this.bodies.set(source, new Map());
    const known = this.bodies.get(source);
    if (!known.has(body)) {
      const promise = isFile ? this.look(source, body) : this.ask(source, body);
      promise.catch(() => known.delete(body));  // a server that failed may answer later
      known.set(body, promise);
    }
    return known.get(body);
  }

  // Computes the HiddenBody on the server.
  async ask(source, body) {
    const {only, around, hops} = this, [from, to] = this.path ? await this.ends(source) : [];
    const found = await source.hidden(body, {hide: this.nodeWords, only, around, hops, from: from?.name,
      to: to?.name});
    const hidden = new HiddenBody(found.nodes, this.has("constants"));
    Object.assign(hidden, {nodes: statesOf(bytesOf(found.states)), ops: new Map(found.ops), cut: found.cut,
      foldedConstants: found.folded_constants, scopes: new ScopeTable(bytesOf(found.scopes))});
    return hidden;
  }

  // Computes the HiddenBody from all nodes, for a page in a file, which has no server.
  async look(source, body) {
    const table = await tableOf(source, body), {bodies, devices = [], places = []} = await source.summary();
    const hidden = new HiddenBody(table.count, this.has("constants"));
    hidden.nodes = new Uint8Array(table.end);
    if (this.hidesNodes) {
      const placeOf = new Map(devices.map((name, i) => [name, places[i] ?? []]));
      const textsOf = (row) => ({
        op: table.ops[row], name: table.names[row], device: table.devices[row],
        cluster: table.clusters[row], function: bodies[body].name,
        job: placeOf.get(table.devices[row])?.[0] ?? "", task: placeOf.get(table.devices[row])?.[1] ?? "",
      });
      for (let row = 0; row < table.count; ++row) {
        const texts = textsOf(row);
        const wanted = [...this.wanted].every(([field, words]) => words.some(({fits}) => fits(texts[field])));
        if (!wanted || this.words.some(({field, fits}) => fits(texts[field]))) hidden.hide(table, row);
      }
    }
    const part = await this.partOf(source, bodies, body, table);
    if (part) hidden.keepOnly(table, part);
    hidden.count(table);
    return hidden;
  }

  // Promises the ids of the selected part, if it is in this body; undefined if no part is selected
  // or it is in another body.
  async partOf(source, bodies, body, table) {
    if (!this.isPart) return undefined;
    let part;
    if (this.around) {
      const at = await this.find(source, this.around);
      if (at.body === body) part = near(table, at.node, this.hops);
    }
    if (this.path) {
      const [from, to] = await this.ends(source);
      if (from.body !== to.body) throw new Error(`${this.path}: the nodes are in different functions`);
      if (from.body === body) part = between(table, from.node, to.node, this.path, part);
    }
    return part;
  }

  // Promises the two nodes of `path`. Tries each ".." as separator, because names may contain dots
  // too.
  async ends(source) {
    for (let at = this.path.indexOf(".."); at > 0; at = this.path.indexOf("..", at + 1)) {
      const [from, to] = await Promise.all([this.path.slice(0, at), this.path.slice(at + 2)].map((name) =>
        this.find(source, name).catch(() => undefined)));
      if (from && to) {
        return [{...from, name: this.path.slice(0, at)}, {...to, name: this.path.slice(at + 2)}];
      }
    }
    throw new Error(`${this.path}: expected A..B, the names of two nodes`);
  }

  async find(source, text) {
    if (!isFile) return source.find(text);
    const {bodies} = await source.summary();
    for (let body = 0; body < bodies.length; ++body) {
      const prefix = body === 0 ? "" : `${bodies[body].name}/`;
      if (!text.startsWith(prefix)) continue;
      const table = await tableOf(source, body), row = table.names.indexOf(text.slice(prefix.length));
      if (row >= 0) return {body, node: table.ids[row]};
    }
    throw new Error(`node '${text}' not found`);
  }

  // Promises the body of the selected part and the nodes that the filter names, {body, nodes};
  // undefined if no part is selected.
  async place(source) {
    if (!this.isPart) return undefined;
    const ends = this.around ? [await this.find(source, this.around)] : await this.ends(source);
    return {body: ends[0].body, nodes: ends.map(({node}) => node)};
  }
}

function bytesOf(base64) {
  const letters = atob(base64), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// Unpacks the states that lib/render/graph_filter.cpp packs.
function statesOf(bytes) {
  const states = new Uint8Array(4 * bytes.length);
  bytes.forEach((byte, i) => {
    for (let k = 0; k < 4; ++k) states[4 * i + k] = (byte >> (2 * k)) & 3;
  });
  return states;
}

class ScopeTable {
  constructor(bytes) {
    Object.assign(this, {scopes: [], values: []});
    let number = 0, scale = 1, scope;  // `scope`: the first number of the current pair
    for (const byte of bytes) {
      number += (byte & 127) * scale;
      scale *= 128;
      if (byte > 127) continue;
      if (scope === undefined) scope = (this.scopes.at(-1) ?? 0) + number;
      else {
        this.scopes.push(scope);
        this.values.push(number);
        scope = undefined;
      }
      [number, scale] = [0, 1];
    }
  }

  get(scope) {
    let low = 0, high = this.scopes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.scopes[middle] < scope) low = middle + 1;
      else high = middle;
    }
    const value = this.values[low];
    return this.scopes[low] === scope ? {missing: Math.floor(value / 4), state: value % 4} : undefined;
  }
}

// The hidden nodes of one body. scopes.get(scope) returns {missing: the number of hidden nodes,
// state: SHOWN if some nodes are left}; it may return undefined if no nodes are missing.
class HiddenBody {
  // `total`: the number of nodes in the body. `constants`: true if the lines about constants and
  // variables in boxes are hidden too.
  constructor(total, constants) {
    Object.assign(this, {total, constants});
    this.ops = new Map();  // by op: the number of nodes that words hide
    this.cut = this.foldedConstants = 0;
  }

  hide(table, row) {
    this.nodes[table.ids[row]] = HIDDEN;
    const op = table.ops[row];
    this.ops.set(op, (this.ops.get(op) ?? 0) + 1);
    if (CONSTANTS.includes(op) && table.scopes[row] < 0) ++this.foldedConstants;
  }

  keepOnly(table, ids) {
    for (const id of table.ids) {
      if (ids.has(id)) continue;
      this.nodes[id] = CUT;
      ++this.cut;
    }
  }

  // Computes `scopes` from the numbers of all nodes, of nodes that words hide (HIDDEN) and of nodes
  // outside of the selected part (CUT), in each scope and the scopes within it.
  count({parents, scopes, ids}) {
    const counts = parents.map(() => [0, 0, 0]);
    scopes.forEach((scope, row) => {
      if (scope < 0) return;
      const state = this.nodes[ids[row]];
      ++counts[scope][SHOWN];
      if (state !== SHOWN) ++counts[scope][state];
    });
    for (let scope = parents.length - 1; scope > 0; --scope) {
      counts[scope].forEach((count, i) => (counts[parents[scope]][i] += count));
    }
    this.scopes = new Map(counts.map(([all, hidden, cut], scope) => [scope, {missing: hidden + cut,
      state: hidden + cut < all ? SHOWN : cut > 0 ? CUT : HIDDEN}]));
  }

  ofScope(scope) { return this.scopes.get(scope)?.state ?? SHOWN; }
  of(box) { return box.kind === "scope" ? this.ofScope(box.scope) : this.nodes[box.id]; }
  ofKey(key) {
    const number = Number(key.slice(1));
    return key === "rest" ? SHOWN : key.startsWith("s") ? this.ofScope(number) : this.nodes[number];
  }
  // Returns the number of missing nodes in a closed scope; 0 for other boxes.
  missingIn(box) { return box.kind === "scope" ? this.scopes.get(box.scope)?.missing ?? 0 : 0; }
}

// Returns the ids of nodes within `hops` edges of a node, in either direction.
function near(table, node, hops) {
  const readers = readersOf(table), found = new Set([node]);
  let ring = [node];
  for (let hop = 0; hop < hops && ring.length > 0; ++hop) {
    const next = [];
    for (const id of ring) {
      const row = table.rowOf[id];
      for (const other of [...table.inputs[row].map(inputId), ...readers[row]]) {
        if (!found.has(other)) next.push(other);
        found.add(other);
      }
    }
    ring = next;
  }
  return found;
}

function reach(start, next) {
  const found = new Set([start]), stack = [start];
  while (stack.length > 0) {
    for (const other of next(stack.pop())) {
      if (!found.has(other)) stack.push(other);
      found.add(other);
    }
  }
  return found;
}

// Returns the ids of nodes on directed paths between two nodes; `within`, if given, is a set of ids
// that must contain them too.
function between(table, from, to, path, within) {
  const readers = readersOf(table);
  const after = reach(from, (id) => readers[table.rowOf[id]]);
  if (!after.has(to)) throw new Error(`there is no path from '${path.replace("..", "' to '")}'`);
  const before = reach(to, (id) => table.inputs[table.rowOf[id]].map(inputId));
  return new Set([...after].filter((id) => before.has(id) && (!within || within.has(id))));
}
