// Places the items of one scope. view_layers.js has put them into layers and into order; this module
// computes their coordinates from the sizes of boxes, and makes lines at right angles from edges
// (routes.js). The frame of an open box is laid out first and is then a box of the enclosing
// frame. Data flows along y; for other directions, callers rotate the result.

import {even} from "./box_lines.js";
import {channelNets, entriesBySide, PORT_GAP, portsOfBoxes, RouteBuilder} from "./routes.js";
import {spread} from "./spread.js";
import {addRounds, completePaths} from "./wires.js";

const PAD = 16, BOX_GAP = 24, BEND_GAP = 12, BENDS_GAP = 8, ROUNDS = 14, SNAPS = 3;
const LANE = 7, BEFORE_LANES = 7, BEHIND_LANES = 17, LEAST_GAP = 22;  // heights in channels
const BESIDE = 6 - PAD;  // added to the width of words beside a line; they may enter the margin
const BEFORE_PORTS = 10, AFTER_PORTS = 5;  // smaller, because ports have no arrows and no words

// Places the contents of one scope. `sizes[i]`: {w, h} of box i and, if the box is open, {tops,
// bottoms}: the x of its ports by the key of the far end. `edges`: {under: from sharedLines(),
// wide: the width of each edge's label}. `space`: {top, left, bottom}, the room to leave free in
// the frame, and labels(width), if labels are placed along lines: the length of line that a label
// of that width needs. Returns {w, h, boxes: [{x, y}], lines: the points of each edge, tops,
// bottoms: the frame's ports, layers: [{top, bottom}]}.
export function placeScope(view, sizes, edges, space) {
  return new Placer(view, sizes, edges, space).run();
}

class Placer {
  constructor(view, sizes, {under, wide}, space) {
    Object.assign(this, {view, sizes, under, wide, space});
    this.boxes = view.boxes.length;
    this.firstSink = this.boxes + view.sources.length;
    this.firstBend = this.firstSink + view.sinks.length;
    this.layers = view.layers.map((layer) => [...layer]);
    this.items = view.items;
  }

  run() {
    this.layerOf = new Array(this.items).fill(0);
    this.layers.forEach((layer, i) => layer.forEach((item) => (this.layerOf[item] = i)));
    this.wires = completePaths(this);
    addRounds(this);
    this.listLinks();
    this.placeAcross();
    this.ports = portsOfBoxes(this);
    this.nets = channelNets(this);
    this.placeDown();
    return this.result();
  }

  isBox(item) { return item < this.boxes; }
  isBend(item) { return item >= this.firstBend; }
  width(item) { return this.isBox(item) ? this.sizes[item].w : this.isBend(item) ? 4 : 14; }
  height(item) { return this.isBox(item) ? this.sizes[item].h : 0; }

  keyOf(item) {
    if (this.isBox(item)) return this.view.boxes[item].key;
    if (this.isBend(item)) return this.view.joints?.get(item)?.key;
    if (item < this.firstSink) return this.view.sources[item - this.boxes].key;
    return this.view.sinks[item - this.firstSink].key;
  }

  // Adds a point that a line passes through, at position `at` in the order of the layer, and
  // returns its item.
  addBend(layer, at) {
    const item = this.items++;
    this.layers[layer].splice(at, 0, item);
    this.layerOf[item] = layer;
    return item;
  }

  // Returns where an edge meets an open scope, as an offset from the box's middle; undefined if the
  // item is not an open scope.
  attach(item, far, side) {
    const ports = this.isBox(item) ? this.sizes[item][side] : undefined;
    if (!ports) return undefined;
    const port = ports.get(far) ?? ports.get("rest");
    return port === undefined ? 0 : port - this.sizes[item].w / 2;
  }

  listLinks() {
    this.above = Array.from({length: this.items}, () => []);
    this.below = Array.from({length: this.items}, () => []);
    const seen = new Set();
    for (const wire of this.wires) {
      if (!wire) continue;
      const {items, edge, up} = wire;
      for (let i = 0; i + 1 < items.length; ++i) {
        const [a, b] = [items[i], items[i + 1]], key = a * this.items + b;
        if (seen.has(key)) continue;
        seen.add(key);
        const weight = [3, 2, 8][this.isBend(a) + this.isBend(b)] * (edge.control ? 0.4 : 1);
        const shift = up ? 0 : (i === 0 ? wire.out ?? 0 : 0) - (i + 2 === items.length ? wire.into ?? 0 : 0);
        this.below[a].push({item: b, shift: -shift, weight});
        this.above[b].push({item: a, shift, weight});
      }
    }
  }

  apart(a, b) {
    const gap = [BOX_GAP, BEND_GAP, BENDS_GAP][this.isBend(a) + this.isBend(b)];
    return (this.width(a) + this.width(b)) / 2 + gap;
  }

  placeAcross() {
    const {layers} = this;
    this.x = new Array(this.items).fill(0);
    for (const layer of layers) {
      layer.forEach((item, i) => {
        this.x[item] = i === 0 ? 0 : this.x[layer[i - 1]] + this.apart(layer[i - 1], item);
      });
      const middle = layer.length > 0 ? (this.x[layer[0]] + this.x[layer.at(-1)]) / 2 : 0;
      for (const item of layer) this.x[item] -= middle;
    }
    for (let round = 0; round < ROUNDS; ++round) {
      const both = round >= ROUNDS - 2;
      for (let i = 0; i < layers.length; ++i) {
        this.moveLayer(layers[round % 2 === 0 ? i : layers.length - 1 - i], round % 2 === 0, both);
      }
    }
    for (let turn = 0; turn < SNAPS; ++turn) this.snapChains();
    for (let item = 0; item < this.items; ++item) this.x[item] = Math.round(this.x[item]);
  }

  moveLayer(layer, down, both) {
    const wanted = [], weights = [], apart = [];
    layer.forEach((item, i) => {
      const links = both ? [...this.above[item], ...this.below[item]]
        : (down ? this.above : this.below)[item];
      let sum = this.x[item] * 0.05, weight = 0.05;
      for (const link of links) {
        sum += (this.x[link.item] + link.shift) * link.weight;
        weight += link.weight;
      }
      wanted.push(sum / weight);
      weights.push(weight);
      apart.push(i === 0 ? 0 : this.apart(layer[i - 1], item));
    });
    spread(wanted, weights, apart).forEach((x, i) => (this.x[layer[i]] = x));
  }

  // Returns the one of an item's links that should become a straight vertical line: the strongest;
  // of equally strong links, the one to the nearest item.
  best(item, links) {
    let found;
    const far = (link) => Math.abs(this.x[link.item] + link.shift - this.x[item]);
    for (const link of links) {
      const more = found === undefined ? 1 : link.weight - found.weight;
      if (more > 0 || (more === 0 && far(link) < far(found))) found = link;
    }
    return found;
  }

  // Aligns vertically each chain of items that are each other's best() neighbors, as far as the
  // other items leave room.
  snapChains() {
    const rank = new Array(this.items).fill(0);
    for (const layer of this.layers) layer.forEach((item, i) => (rank[item] = i));
    const next = this.below.map((links, item) => {
      const link = this.best(item, links);
      return link && this.best(link.item, this.above[link.item])?.item === item ? link : undefined;
    });
    const begins = new Array(this.items).fill(true);
    for (const link of next) if (link) begins[link.item] = false;
    const chains = [];
    for (const item of this.layers.flat()) {
      if (!begins[item] || !next[item]) continue;
      const chain = [{item, offset: 0}];
      for (let link = next[item]; link; link = next[link.item]) {
        chain.push({item: link.item, offset: chain.at(-1).offset - link.shift});
      }
      chains.push(chain);
    }
    chains.sort((a, b) => b.length - a.length);
    for (const chain of chains) this.snap(chain, rank);
  }

  // Aligns the items of one chain: as many from its start as can share a free position, then
  // likewise the rest of the chain.
  snap(chain, rank) {
    let run = [], low = -Infinity, high = Infinity;
    const settle = () => {
      const places = run.map(({item, offset}) => this.x[item] - offset).sort((a, b) => a - b);
      const middle = places[Math.floor(places.length / 2)];
      const place = Math.max(low, Math.min(high, middle));
      if (run.length > 1) for (const {item, offset} of run) this.x[item] = place + offset;
      [run, low, high] = [[], -Infinity, Infinity];
    };
    for (const link of chain) {
      const {item, offset} = link, layer = this.layers[this.layerOf[item]], at = rank[item];
      const least = at > 0 ? this.x[layer[at - 1]] + this.apart(layer[at - 1], item) - offset : -Infinity;
      const most = at + 1 < layer.length ? this.x[layer[at + 1]] - this.apart(item, layer[at + 1]) - offset
        : Infinity;
      if (run.length > 0 && Math.max(low, least) > Math.min(high, most)) settle();
      run.push(link);
      low = Math.max(low, least);
      high = Math.min(high, most);
    }
    settle();
  }

  // Places layers and the channels (spaces for lines) between them from top to bottom. Channel i is
  // above layer i, the last channel below all layers.
  placeDown() {
    this.tops = [];
    this.bottoms = [];
    this.channels = [];
    let y = this.space.top;
    const isBorder = (layer) => !layer || layer.every((item) => !this.isBox(item) && !this.isBend(item));
    for (let i = 0; i <= this.layers.length; ++i) {
      const layer = this.layers[i], before = this.layers[i - 1];
      const {lanes, labels} = this.nets[i];
      const room = labels && layer ? this.space.labels?.(labels) ?? 0 : 0;
      this.channels.push({y: y + BEFORE_LANES, step: LANE});
      const edge = i === 0 || i === this.layers.length;
      const above = BEFORE_LANES + Math.max(0, lanes - 1) * LANE;
      if (edge && lanes === 0) y += isBorder(layer ?? before) ? (layer ? 0 : AFTER_PORTS) : PAD;
      else if (i > 1 && layer && isBorder(layer)) y += Math.max(BEHIND_LANES, above + BEFORE_PORTS);
      else y += Math.max(LEAST_GAP, above + Math.max(BEHIND_LANES, room));
      if (!layer) break;
      const height = Math.max(0, ...layer.map((item) => this.height(item)));
      this.tops.push(y);
      y += height;
      this.bottoms.push(y);
    }
    this.h = even(y + this.space.bottom);
  }

  // Returns the leftmost and the rightmost x of boxes, lines and the labels beside lines.
  extent() {
    let left = Infinity, right = -Infinity;
    for (const item of this.layers.flat()) {
      left = Math.min(left, this.x[item] - this.width(item) / 2);
      right = Math.max(right, this.x[item] + this.width(item) / 2);
    }
    if (this.view.edges.some(({from, to}) => from === to)) right += PORT_GAP;
    if (left > right) return [0, 60];
    if (this.space.labels) return [left, right];
    for (const {ends, first} of entriesBySide(this)) {
      for (const {x, wide} of ends) {
        if (first === x) left = Math.min(left, x - wide - BESIDE);
        else right = Math.max(right, x + wide + BESIDE);
      }
    }
    return [Math.floor(left), Math.ceil(right)];
  }

  result() {
    const [left, right] = this.extent();
    this.shift = PAD + this.space.left - left;
    const boxes = this.view.boxes.map((_, i) => {
      const layer = this.layerOf[i], middle = (this.tops[layer] + this.bottoms[layer]) / 2;
      return {x: this.x[i] + this.shift - this.sizes[i].w / 2, y: middle - this.sizes[i].h / 2};
    });
    const tops = new Map(), bottoms = new Map();
    this.view.sources.forEach((port, i) => tops.set(port.key, this.x[this.boxes + i] + this.shift));
    this.view.sinks.forEach((port, i) => bottoms.set(port.key, this.x[this.firstSink + i] + this.shift));
    const routes = new RouteBuilder(this, boxes);
    const points = this.wires.map((wire, i) => (this.under[i] === undefined ? routes.points(i) : undefined));
    const lines = points.map((own, i) => own ?? points[this.under[i]]);
    return {w: even(right - left + 2 * PAD + this.space.left), h: this.h, boxes, lines, tops, bottoms,
      layers: this.tops.map((top, i) => ({top, bottom: this.bottoms[i]}))};
  }
}

