// Removes the boxes that a filter hides from one scope's document. A hidden box between visible
// boxes becomes a bend of a dashed line, or, if several lines meet in the box, a point that these
// lines pass through. A hidden closed scope connects only inputs and outputs that paths inside it
// connect. Other hidden boxes leave nothing.

import {commas} from "./dom.js";
import {CUT, HIDDEN, SHOWN} from "./filter.js";
import {edgesAfter, edgesFrom, isAmbiguous} from "./scope_connectivity.js";

// `how`: {hidden: a HiddenBody (filter.js); alive: the keys of hidden boxes outside of the scope
// whose lines into the scope are drawn, undefined for the outermost scope; connectivity: that of
// hidden closed scopes (scope_connectivity.js); isOpen(box)}. The result's `unknown` are the hidden
// scopes whose lines are left out because their connectivity is unknown.
export function filteredView(view, how) { return new Filtered(view, how).run(); }

// Returns the keys of the items at the other ends of a box's edges. The ports of the scope in the
// box are named after these keys.
export function farKeys(view, index) {
  const items = [...view.boxes, ...view.sources, ...view.sinks];
  const key = (item) => items[item]?.key ?? view.joints?.get(item)?.key;
  const keys = new Set();
  for (const {from, to, outKey, intoKey} of view.edges) {
    if (to === index) keys.add(intoKey ?? key(from));
    if (from === index) keys.add(outKey ?? key(to));
  }
  return keys;
}

class Filtered {
  constructor(view, how) {
    Object.assign(this, how, {view, unknown: new Set()});
    this.items = [...view.boxes, ...view.sources, ...view.sinks];
    this.boxes = view.boxes.length;
    this.states = this.items.map((item, i) => (i < this.boxes ? this.hidden.of(item)
      : this.ofPort(item)));
  }

  // Returns the state of a port: that of the box at the other end, but CUT if that box is hidden
  // and its line is not drawn.
  ofPort({key}) {
    const state = this.hidden.ofKey(key);
    return state === HIDDEN && !this.alive?.has(key) ? CUT : state;
  }

  isSeen(item) { return item >= this.boxes ? this.states[item] !== CUT : this.states[item] === SHOWN; }

  run() {
    this.edges = this.view.edges.filter(({from, to}) => this.states[from] !== CUT && this.states[to] !== CUT);
    this.cutScopes();
    const joints = this.findJoints(), kept = (item) => this.isSeen(item) || joints.has(item);
    this.edges = this.edges.filter(({from, to}) => kept(from) && kept(to)).map((edge) => {
      const through = [edge.from, edge.to].some((item) => this.states[item] === HIDDEN);
      return through ? {...edge, through} : edge;
    });
    for (const joint of joints) if (this.straighten(joint)) joints.delete(joint);
    this.joinAlike();
    return this.renumber(joints);
  }

  key(item) { return this.items[item]?.key; }

  // Handles hidden scopes in which not every input leads to every output: replaces the edges at
  // these scopes by one line for each path through them.
  cutScopes() {
    this.showUnknown();
    const mixed = new Set([...this.connectivity.keys()].filter((item) => !this.isWholly(item)));
    if (mixed.size === 0) return;
    const paths = this.pathsThrough(mixed), meet = (place, end, other) => paths.filter((path) =>
      this.isMerged(path.at(place), end) && paths.some((another) => another.at(place) === path.at(place)
        && another.at(-1 - place)[other] !== path.at(-1 - place)[other]));
    const blurred = new Set([...meet(-1, "to", "from"), ...meet(0, "from", "to")]);
    for (const path of blurred) for (const {to} of path.slice(0, -1)) this.unknown.add(this.items[to].scope);
    const lines = paths.filter((path) => !blurred.has(path)).map((path) => this.lineAlong(path));
    this.edges = [...this.edges.filter(({from, to}) => !mixed.has(from) && !mixed.has(to)), ...lines];
  }

  // Returns paths, as lists of edges, from items outside of `mixed` through items in `mixed` to
  // items outside of it: for each first edge, one path to each last edge that it leads to.
  pathsThrough(mixed) {
    const out = edgesFrom(this.edges), found = [];
    for (const first of this.edges) {
      if (mixed.has(first.from) || !mixed.has(first.to)) continue;
      const paths = [[first]], seen = new Set();
      for (const path of paths) {
        if (!mixed.has(path.at(-1).to)) {
          found.push(path);
          continue;
        }
        for (const next of edgesAfter(path.at(-1), this.items, out, this.connectivity)) {
          if (seen.has(next)) continue;
          seen.add(next);
          paths.push([...path, next]);
        }
      }
    }
    return found;
  }

  // True if the edge stands for several tensors and has an open box at `end`. Then it is unknown
  // which of these tensors continues as which line in that box.
  isMerged(edge, end) {
    return edge.count > 1 && edge[end] < this.boxes && this.isOpen(this.items[edge[end]]);
  }

  showUnknown() {
    for (const [item, {whole}] of this.connectivity) if (!whole) this.unknown.add(this.items[item].scope);
    for (const edge of this.edges) {
      if (!isAmbiguous(edge, this.connectivity)) continue;
      for (const item of [edge.from, edge.to]) this.unknown.add(this.items[item].scope);
    }
  }

  // True if a hidden scope may become a single point: no other hidden scope is next to it, each of
  // its inputs leads to each of its outputs, and no merged edge (isMerged) meets several edges in
  // it.
  isWholly(item) {
    const into = this.edges.filter(({to}) => to === item), out = this.edges.filter(({from}) => from === item);
    const {sinks} = this.connectivity.get(item);
    return into.every(({from}) => !this.connectivity.has(from))
      && out.every(({to}) => !this.connectivity.has(to))
      && (out.length < 2 || !into.some((edge) => this.isMerged(edge, "from")))
      && (into.length < 2 || !out.some((edge) => this.isMerged(edge, "to")))
      && into.every(({from}) => out.every(({to}) => sinks.get(this.key(from))?.has(this.key(to))));
  }

  // Returns one edge that stands for a whole path (a list of edges) through hidden scopes.
  lineAlong(path) {
    const first = path[0], last = path.at(-1), back = path.some(({up}) => up);
    const bends = path.slice(0, -1).flatMap(({bends: own, to}) => [...own ?? [], to]);
    return {...last, from: first.from, through: true, count: Math.min(...path.map(({count}) => count)),
      control: path.some(({control}) => control) || undefined,
      handles: path.every(({handles}) => handles) || undefined, up: back || undefined,
      bends: back ? undefined : [...bends, ...last.bends ?? []],
      outKey: first.outKey ?? this.key(first.to), intoKey: last.intoKey ?? this.key(last.from)};
  }

  // Returns the hidden boxes that are on a path between visible items.
  findJoints() {
    const reached = (from, to) => {
      const found = new Set();
      let grew = true;
      while (grew) {
        grew = false;
        for (const edge of this.edges) {
          const [a, b] = [edge[from], edge[to]];
          if (this.isSeen(b) || found.has(b) || !(this.isSeen(a) || found.has(a))) continue;
          found.add(b);
          grew = true;
        }
      }
      return found;
    };
    const before = reached("from", "to"), after = reached("to", "from");
    return new Set([...before].filter((item) => after.has(item)));
  }

  // If a hidden box has one line in and one line out, both downward, joins them to one line and
  // returns true.
  straighten(joint) {
    const into = this.edges.filter(({to}) => to === joint);
    const out = this.edges.filter(({from}) => from === joint);
    if (into.length !== 1 || out.length !== 1 || into[0] === out[0] || into[0].up || out[0].up) return false;
    const [a] = into, [b] = out, {key} = this.items[joint];
    const both = {...b, from: a.from, through: true, control: a.control || b.control || undefined,
      handles: (a.handles && b.handles) || undefined, bends: [...a.bends ?? [], joint, ...b.bends ?? []],
      outKey: a.outKey ?? key, intoKey: b.intoKey ?? key};
    this.edges = this.edges.filter((edge) => edge !== a && edge !== b);
    if (both.from !== both.to) this.edges.push(both);
    return true;
  }

  joinAlike() {
    const known = new Map();
    const key = ({from, to, control}) => `${from}|${to}|${Boolean(control)}`;
    for (const edge of this.edges) if (!edge.through) known.set(key(edge), edge);
    this.edges = this.edges.filter((edge) => {
      if (!edge.through) return true;
      const same = known.get(key(edge));
      if (!same) known.set(key(edge), edge);
      else if (same.through) same.count += edge.count;
      return !same;
    });
  }

  // Returns the view with its remaining items numbered anew, without layers that contain only bends
  // of dashed lines.
  renumber(joints) {
    const touched = new Set(this.edges.flatMap(({from, to}) => [from, to]));
    const stays = (item) => (item < this.boxes ? this.states[item] === SHOWN : item < this.items.length
      && touched.has(item)) || joints.has(item);
    const layers = this.view.layers.filter((layer) => layer.some(stays));
    const left = new Set(layers.flat());
    for (const edge of this.edges) {
      if (edge.bends) edge.bends = edge.bends.filter((item) => left.has(item));
    }
    const bends = new Set(this.edges.flatMap(({bends: list}) => list ?? []));
    const numbers = new Map();
    const number = (items) => items.forEach((item) => numbers.set(item, numbers.size));
    const all = [...this.items.keys()];
    const list = (begin, end) => all.slice(begin, end).filter((item) => stays(item) && !joints.has(item));
    const sinks = this.boxes + this.view.sources.length;
    const parts = [list(0, this.boxes), list(this.boxes, sinks), list(sinks)];
    parts.forEach(number);
    number([...joints]);
    number([...bends]);
    const pick = (items) => items.map((item) => this.items[item]);
    const renumbered = (edge) => ({...edge, from: numbers.get(edge.from), to: numbers.get(edge.to),
      bends: edge.bends?.map((item) => numbers.get(item))});
    return {
      ...this.view, unknown: this.unknown,
      boxes: pick(parts[0]).map((box) => this.withNotes(box)), sources: pick(parts[1]), sinks: pick(parts[2]),
      boxLines: undefined, items: numbers.size, edges: this.edges.map(renumbered),
      joints: new Map([...joints].map((item) => [numbers.get(item), this.items[item]])),
      layers: layers.map((layer) => layer.filter((item) => numbers.has(item)).map((item) =>
        numbers.get(item))),
    };
  }

  // Returns a box without the lines for hidden constants, and with a line for the nodes hidden in
  // it.
  withNotes(box) {
    const missing = this.hidden.missingIn(box), noted = box.noted ?? [];
    const stays = (id) => id === undefined || !(this.hidden.constants || this.hidden.nodes[id] === HIDDEN);
    const lines = (box.notes ?? []).filter((_, i) => stays(noted[i]));
    if (missing > 0) lines.push(`${commas(missing)} of them hidden`);
    return {...box, notes: lines};
  }
}
