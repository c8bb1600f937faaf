// The numbers of a file (node_data.js) for the nodes of one graph: those of each box and of closed
// scopes, and the names in the file that are not nodes.

import {tableOf} from "./body_table.js";
import {nearNames} from "./near_names.js";

export const AGGREGATES = [["max", "highest"], ["min", "lowest"], ["mean", "mean"], ["sum", "sum"],
  ["count", "number"]];

class Summary {
  constructor() { Object.assign(this, {count: 0, sum: 0, min: Infinity, max: -Infinity}); }
  add({value, fill}) {
    ++this.count;
    this.sum += value;
    this.min = Math.min(this.min, value);
    this.max = Math.max(this.max, value);
    this.fill = fill;
  }

  get mean() { return this.sum / this.count; }
}

const ofMap = (map, key, make) => {
  if (!map.has(key)) map.set(key, make());
  return map.get(key);
};

export class NodeValues {
  // Promises the NodeValues of a set; reads all nodes of the source once.
  static async of(set, source) {
    const values = new NodeValues(set), {bodies} = await source.summary();
    values.sort(bodies);
    for (let body = 0; body < bodies.length; ++body) {
      values.take(await tableOf(source, body), body, bodies[body].name);
    }
    if (values.wanted.size > 0) await values.showMissing(source, bodies);
    return values;
  }

  constructor(set) {
    Object.assign(this, {set, found: [], all: new Summary(), own: new Map(), folded: new Map(),
      scopes: new Map(), near: []});
  }

  // Maps names to entries: plain names, names in the function that the file gives, and names of
  // outputs.
  sort(bodies) {
    const functions = new Set(bodies.map(({name}) => name).filter(Boolean));
    this.wanted = new Set(this.set.entries);
    this.named = new Map();
    this.outputs = new Map();
    for (const entry of this.set.entries) {
      const names = functions.has(entry.graph) ? [`${entry.graph}/${entry.node}`, entry.node] : [entry.node];
      for (const name of names) {
        if (!this.named.has(name)) this.named.set(name, entry);
        const node = name.replace(/:\d+$/u, "");
        if (node !== name && !this.outputs.has(node)) this.outputs.set(node, entry);
      }
    }
  }

  take(table, body, name) {
    for (let row = 0; row < table.count; ++row) {
      const full = name ? `${name}/${table.names[row]}` : table.names[row];
      const entry = this.named.get(full) ?? this.outputs.get(full);
      if (!entry || !this.wanted.delete(entry)) continue;
      const home = table.rowOf[table.homes[row]], one = {body, id: table.ids[row], name: table.names[row],
        op: table.ops[row], value: entry.value, fill: entry.fill, scope: table.scopes[home]};
      this.found.push(one);
      this.all.add(one);
      const boxes = home === row ? this.own : this.folded;
      ofMap(boxes, `${body}/${table.ids[home]}`, () => new Summary()).add(one);
      for (let {scope} = one; scope >= 0; scope = table.parents[scope]) {
        ofMap(this.scopes, `${body}/${scope}`, () => new Summary()).add(one);
      }
    }
    this.parents ??= new Map();
    this.parents.set(body, table.parents);
  }

  // Finds similar names for the first few names that are not nodes.
  async showMissing(source, bodies) {
    const names = [];
    for (let body = 0; body < bodies.length; ++body) {
      const {name} = bodies[body], table = await tableOf(source, body);
      for (const node of table.names) names.push(name ? `${name}/${node}` : node);
    }
    this.near = [...this.wanted].slice(0, 3).map(({node}) => ({node, near: nearNames(node, names)}));
  }

  get missing() { return this.wanted.size; }

  // Returns the Summary of the numbers of all nodes in a scope; for a node's box, its number, or if
  // it has none the numbers of nodes folded into it. Undefined if there are no numbers.
  of({box, body}) {
    if (box.kind === "scope") return this.scopes.get(`${body}/${box.scope}`);
    const key = `${body}/${box.id}`;
    return this.own.get(key) ?? this.folded.get(key);
  }

  ofNode(body, id) { return this.found.find((one) => one.body === body && one.id === id); }

  // Returns the nodes with the highest numbers, of all or in a scope: [the first `most` nodes, the
  // number of further nodes].
  highest(most, body = undefined, scope = undefined) {
    const parents = this.parents.get(body), isIn = (one) => {
      if (body === undefined) return true;
      let at = one.body === body ? one.scope : -1;
      while (at >= 0 && at !== scope) at = parents[at];
      return at >= 0;
    };
    const all = this.found.filter(isIn).sort((a, b) => b.value - a.value);
    return [all.slice(0, most), Math.max(0, all.length - most)];
  }
}
