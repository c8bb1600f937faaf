// Assigns the items of a top-down drawing to layers, and orders each layer. This part of the layout
// does not depend on the sizes of boxes. By Sugiyama's method: breaks cycles at back edges, else at
// edges that weigh less than others, else at the edge that closes the cycle in a depth-first walk
// from the top; assigns layers by longest path, then moves items down to their readers where edges
// pull them down at least as strongly as up; reduces crossings by barycenters in a few sweeps down
// and up, and keeps the order with the fewest crossings. The result is deterministic.

import {cyclesOf} from "./cycles.js";

const SWEEPS = 8, PULLS = 4;

// `edges`: [{from, to, weight: how strongly the edge pulls its ends together, back: the edge closes
// a loop, so it runs upwards}]. The items of `top` are alone in the first layer, those of `bottom`
// in the last, both in the given order. Returns {layers: from top to bottom, each with its items
// from left to right; bends: by edge, the items at which it crosses a layer, from its upper to its
// lower end; upwards: by edge, true if it runs upwards, so that its target is its upper end; items:
// the number of items, including bends, whose numbers follow those of the caller's items}. Edges
// with the same source share their bends. Takes milliseconds for up to some hundred items.
export function makeLayers(count, edges, top, bottom) {
  return new LayerMaker(count, edges, top, bottom).run();
}

// Marks as `back` each edge from an item to one of `above` that leads to this item, unless the item is
// in `above` too. So the items of `above` are drawn above the others on their cycles: replicas above
// the sums of their gradients. Takes time linear in the edges, for each item of `above`.
export function putAbove(above, count, edges) {
  if (above.length === 0) return;
  const readers = lists(count), isAbove = new Set(above);
  for (const {from, to} of edges) readers[from].push(to);
  for (const item of above) {
    const reached = new Set(), stack = [item];
    while (stack.length > 0) {
      for (const to of readers[stack.pop()]) {
        if (!reached.has(to)) stack.push(to);
        reached.add(to);
      }
    }
    for (const edge of edges)
      if (edge.to === item && reached.has(edge.from) && !isAbove.has(edge.from)) edge.back = true;
  }
}

const lists = (count) => Array.from({length: count}, () => []);

class LayerMaker {
  constructor(count, edges, top, bottom) {
    Object.assign(this, {count, edges, top, bottom, items: count});
    this.place = new Array(count).fill(0);  // by item: -1: in `top`, 1: in `bottom`
    for (const item of top) this.place[item] = -1;
    for (const item of bottom) this.place[item] = 1;
  }

  run() {
    this.breakLoops();
    this.assignLayers();
    this.pull();
    this.pinPorts();
    this.closeGaps();
    this.addBends();
    this.order();
    return {layers: this.layers, bends: this.bends, upwards: this.upwards, items: this.items};
  }

  // Reverses the edges that the caller marked as `back`, and then more, so that no cycle is left: in
  // cycles of edges of the largest weight, each edge that closes a cycle in a depth-first walk from
  // the top; in other cycles, lighter edges.
  breakLoops() {
    this.upwards = this.edges.map(() => false);
    this.down = [];  // the edges, without those from an item to itself; `from` is above `to`
    this.edges.forEach(({from, to, weight, back}, edge) => {
      if (from === to) return;
      this.down.push({from, to, weight, edge});
      if (back) this.turn(this.down.at(-1));
    });
    this.heaviest = this.edges.reduce((most, {weight}) => Math.max(most, weight), 0);
    for (const least of [this.heaviest, 0]) {
      this.listEnds(least);
      this.state = new Uint8Array(this.count);  // 1: on the current path, 2: done
      for (const isEntered of [false, true]) {
        for (let item = 0; item < this.count; ++item) {
          if ((this.into[item].length > 0) === isEntered && this.state[item] === 0) this.walk(item);
        }
      }
      if (least > 0) this.turnLight();
    }
    this.listEnds();
  }

  // Puts the items in an order in which no heaviest edge runs back, and reverses the lighter edges on
  // cycles that do. These are few, because of the items that may come next, the one with the fewest
  // lighter edges from items that come later is chosen.
  turnLight() {
    const cycles = cyclesOf(this.count, this.down), isHeavy = ({weight}) => weight === this.heaviest;
    const onCycles = this.down.filter((down) => !isHeavy(down) && cycles[down.from] === cycles[down.to]);
    if (onCycles.length === 0) return;
    const [waits, light, place] = [0, 0, 0].map(() => new Uint32Array(this.count)), ready = [];
    for (const down of this.down) ++(isHeavy(down) ? waits : light)[down.to];
    waits.forEach((count, item) => { if (count === 0) ready.push(item); });
    this.listEnds();
    for (let next = 0; ready.length > 0; ++next) {
      let best = 0;
      ready.forEach((item, i) => {
        if ((light[item] - light[ready[best]] || item - ready[best]) < 0) best = i;
      });
      const [item] = ready.splice(best, 1);
      place[item] = next;
      for (const i of this.out[item]) {
        const down = this.down[i];
        if (!isHeavy(down)) --light[down.to];
        else if (--waits[down.to] === 0) ready.push(down.to);
      }
    }
    for (const down of onCycles) if (place[down.from] > place[down.to]) this.turn(down);
  }

  walk(start) {
    const {state} = this, path = [{item: start, next: 0}];
    state[start] = 1;
    while (path.length > 0) {
      const here = path.at(-1);
      if (here.next === this.out[here.item].length) {
        state[here.item] = 2;
        path.pop();
        continue;
      }
      const down = this.down[this.out[here.item][here.next++]], {to} = down, there = state[to];
      if (there === 1) this.turn(down);
      if (there !== 0) continue;
      state[to] = 1;
      path.push({item: to, next: 0});
    }
  }

  turn(down) {
    [down.from, down.to] = [down.to, down.from];
    this.upwards[down.edge] = !this.upwards[down.edge];
  }

  // Lists the edges with at least this weight at their ends.
  listEnds(least = 0) {
    this.into = lists(this.count);
    this.out = lists(this.count);
    this.down.forEach(({from, to, weight}, i) => {
      if (weight < least) return;
      this.out[from].push(i);
      this.into[to].push(i);
    });
  }

  // An item's layer is the length of the longest path to it from the top.
  assignLayers() {
    this.layer = new Array(this.count).fill(0);
    const waits = this.into.map((edges) => edges.length);
    this.inOrder = [...waits.keys()].filter((item) => waits[item] === 0);
    for (const item of this.inOrder) {
      for (const i of this.out[item]) {
        const {to} = this.down[i];
        this.layer[to] = Math.max(this.layer[to], this.layer[item] + 1);
        if (--waits[to] === 0) this.inOrder.push(to);
      }
    }
  }

  // Moves items down as far as possible if edges pull them down at least as strongly as up: a
  // constant moves to its reader. Edges from `top` and to `bottom` do not pull.
  pull() {
    const weightOf = (edges, end, port) => {
      let sum = 0;
      for (const i of edges) if (this.place[this.down[i][end]] !== port) sum += this.down[i].weight;
      return sum;
    };
    for (let round = 0; round < PULLS; ++round) {
      let hasMoved = false;
      for (let at = this.inOrder.length - 1; at >= 0; --at) {
        const item = this.inOrder[at], out = this.out[item];
        if (out.length === 0 || weightOf(out, "to", 1) < weightOf(this.into[item], "from", -1)) continue;
        const lowest = Math.min(...out.map((i) => this.layer[this.down[i].to]));
        if (lowest - 1 <= this.layer[item]) continue;
        this.layer[item] = lowest - 1;
        hasMoved = true;
      }
      if (!hasMoved) return;
    }
  }

  pinPorts() {
    let first = 0, last = 0;
    this.place.forEach((place, item) => {
      if (place !== 0) return;
      first = Math.min(first, this.layer[item]);
      last = Math.max(last, this.layer[item]);
    });
    this.place.forEach((place, item) => {
      if (place < 0) this.layer[item] = first - 1;
      if (place > 0) this.layer[item] = last + 1;
    });
  }

  closeGaps() {
    const used = [...new Set(this.layer)].sort((a, b) => a - b);
    const numbers = new Map(used.map((layer, number) => [layer, number]));
    this.layer = this.layer.map((layer) => numbers.get(layer));
    this.layers = lists(used.length);
  }

  addBends() {
    this.bends = lists(this.edges.length);
    this.links = new Map();  // pairs of items in adjacent layers, without repetitions
    const shared = new Map();
    for (const {from, to, edge} of this.down) {
      // Upward edges with the same source, which is their lower end, share bends.
      const isUp = this.upwards[edge];
      let above = from;
      for (let layer = this.layer[from] + 1; layer < this.layer[to]; ++layer) {
        const key = `${isUp ? to : from}|${isUp}|${layer}`;
        if (!shared.has(key)) {
          shared.set(key, this.items++);
          this.layer.push(layer);
        }
        const bend = shared.get(key);
        this.bends[edge].push(bend);
        this.link(above, bend);
        above = bend;
      }
      this.link(above, to);
    }
  }

  link(above, below) { this.links.set(`${above}|${below}`, [above, below]); }

  order() {
    this.above = lists(this.items);
    this.below = lists(this.items);
    for (const [above, below] of [...this.links.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
      this.above[below].push(above);
      this.below[above].push(below);
    }
    this.start();
    const copy = () => this.layers.map((layer) => [...layer]);
    let best = copy(), fewest = this.crossings();
    for (let sweep = 0; sweep < SWEEPS && fewest > 0; ++sweep) {
      this.sweep(sweep % 2 === 0);
      const crossings = this.crossings();
      if (crossings >= fewest) continue;
      fewest = crossings;
      best = copy();
    }
    this.layers = best;
  }

  // Sets the initial order of each layer: the order of a depth-first walk from the top. The walk
  // starts at the items below those of `top`, in the order of `top`, and then at all other items.
  start() {
    this.position = new Array(this.items).fill(0);
    const seen = new Uint8Array(this.items);
    if (this.top.length > 0) this.fix(this.top, 0);
    if (this.bottom.length > 0) this.fix(this.bottom, this.layers.length - 1);
    for (const item of [...this.top, ...this.bottom]) seen[item] = 1;
    const byLayer = [...this.layer.keys()].sort((a, b) => this.layer[a] - this.layer[b]);
    for (const start of [...this.top.flatMap((item) => this.below[item]), ...byLayer]) {
      const stack = [start];
      while (stack.length > 0) {
        const item = stack.pop();
        if (seen[item]) continue;
        seen[item] = 1;
        const layer = this.layers[this.layer[item]];
        this.position[item] = layer.length;
        layer.push(item);
        for (let i = this.below[item].length - 1; i >= 0; --i) stack.push(this.below[item][i]);
      }
    }
  }

  // Fills the first or the last layer with the caller's `top` or `bottom`, in the given order.
  fix(items, layer) {
    this.layers[layer] = [...items];
    items.forEach((item, i) => { this.position[item] = i; });
  }

  sweep(isDown) {
    const count = this.layers.length, neighbors = isDown ? this.above : this.below;
    for (let step = 1; step < count; ++step) {
      const index = isDown ? step : count - 1 - step;
      const isGiven = index === 0 ? this.top.length > 0 : index === count - 1 && this.bottom.length > 0;
      if (isGiven) continue;
      const keyed = this.layers[index].map((item) => {
        const others = neighbors[item];
        let sum = 0;
        for (const other of others) sum += this.position[other];
        return {key: others.length > 0 ? sum / others.length : this.position[item], item};
      });
      this.layers[index] = keyed.sort((a, b) => a.key - b.key).map(({item}) => item);
      this.layers[index].forEach((item, i) => { this.position[item] = i; });
    }
  }

  crossings() {
    let sum = 0;
    for (let i = 0; i + 1 < this.layers.length; ++i) {
      sum += this.crossingsBelow(this.layers[i], this.layers[i + 1].length);
    }
    return sum;
  }

  // Counts the crossings of links between a layer and the next one: the inversions in the sequence
  // of their lower ends, counted with a Fenwick tree.
  crossingsBelow(layer, width) {
    const tree = new Int32Array(width + 1);
    let sum = 0, met = 0;
    for (const item of layer) {
      for (const below of this.below[item]) {
        let notRight = 0;
        for (let at = this.position[below] + 1; at > 0; at -= at & -at) notRight += tree[at];
        sum += met - notRight;
      }
      for (const below of this.below[item]) {
        for (let at = this.position[below] + 1; at <= width; at += at & -at) ++tree[at];
      }
      met += this.below[item].length;
    }
    return sum;
  }
}
