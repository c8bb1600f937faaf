// Routes lines at right angles. Between two layers is a channel, in which a line runs down, along a
// lane, and down again, so that it crosses no box. Lines from one item leave the item as one line
// and branch in lanes; lines to a closed box arrive side by side.

import {spreadWithin} from "./spread.js";

export const PORT_GAP = 16;  // between lines that arrive on one side of a box
export const CORNER = 14;    // the ends of a box's side, where no lines arrive
const NEAR = 4, STRAIGHT = 0.75, ALIGN_ROUNDS = 4, MOST_PORTS = 24;
const LABEL_GAP = 10, LEAST_PORT_GAP = 9;
const STRAIGHT_WEIGHT = 50;  // of lines without a lane, so that other lines move instead

// Ports: the x at which each wire (the path of an edge's line, wires.js) leaves its source and
// reaches its target, {out, into}.
export function portsOfBoxes(placer) { return new Ports(placer).run(); }

class Ports {
  constructor(placer) {
    this.placer = placer;
    // By closed box: {x: where all its lines leave, far: the indices of the wires that leave it}.
    this.exits = new Map();
    // By closed box, for each line that arrives: {wire: its index, x: where the line arrives}.
    this.entries = new Map();
  }

  run() {
    const {placer} = this;
    this.ends = placer.wires.map((wire) => wire && this.endsOf(wire));
    placer.wires.forEach((wire, i) => {
      if (!wire) return;
      const {source, target} = this.ends[i];
      if (this.isClosed(source, wire.out)) {
        if (!this.exits.has(source)) this.exits.set(source, {x: placer.x[source], far: []});
        this.exits.get(source).far.push(i);
      }
      if (this.isClosed(target, wire.into)) {
        if (!this.entries.has(target)) this.entries.set(target, []);
        this.entries.get(target).push({wire: i, x: placer.x[target]});
      }
    });
    for (let round = 0; round < ALIGN_ROUNDS; ++round) {
      for (const [box, entries] of this.entries) this.placeEntries(box, entries);
      for (const [box, exit] of this.exits) this.placeExit(box, exit);
    }
    const into = new Map();
    for (const entries of this.entries.values()) for (const {wire, x} of entries) into.set(wire, x);
    return placer.wires.map((wire, i) => wire && {out: this.outOf(i), into: into.get(i) ?? this.intoOf(i)});
  }

  // Lines without a port meet an open box as if it were closed: those of edges that run up, and
  // those at open functions.
  isClosed(item, port) { return this.placer.isBox(item) && port === undefined; }
  endsOf({items, round}) { return round ?? {source: items[0], target: items.at(-1)}; }

  outOf(i) {
    const {source} = this.ends[i], {out} = this.placer.wires[i];
    const {x} = this.placer;
    return out === undefined ? this.exits.get(source)?.x ?? x[source] : x[source] + out;
  }

  intoOf(i) {
    const {target} = this.ends[i], {into} = this.placer.wires[i];
    if (into !== undefined) return this.placer.x[target] + into;
    return this.entries.get(target)?.find(({wire}) => wire === i)?.x ?? this.placer.x[target];
  }

  range(box) {
    const w = this.placer.sizes[box].w, corner = Math.min(CORNER, w * 0.25);
    return [this.placer.x[box] - w / 2 + corner, this.placer.x[box] + w / 2 - corner];
  }

  // Returns the x of the points through which a line comes, from the last one before its target
  // back to its source. placeEntries sorts the lines that arrive at a box by these lists.
  comesFrom(i) {
    const {items, round} = this.placer.wires[i];
    if (round) return [this.placer.x[items[0]]];
    const way = items.slice(1, -1).map((item) => this.placer.x[item]);
    return [...way.reverse(), this.outOf(i), this.placer.x[items[0]]];
  }

  placeEntries(box, entries) {
    const ways = new Map(entries.map((entry) => [entry, this.comesFrom(entry.wire)]));
    entries.sort((a, b) => {
      const [one, other] = [ways.get(a), ways.get(b)];
      for (let k = 0; k < Math.max(one.length, other.length); ++k) {
        const d = (one[k] ?? one.at(-1)) - (other[k] ?? other.at(-1));
        if (Math.abs(d) > 0.5) return d;
      }
      return a.wire - b.wire;
    });
    const [least, most] = this.range(box);
    if (entries.length > MOST_PORTS) {
      for (const entry of entries) entry.x = this.placer.x[box];
      return;
    }
    // The label of the first line is to its left, those of the other lines are to their right and
    // need room there. With space.labels, labels are along the lines and need no room beside them.
    const {wide, space} = this.placer, beside = (k) => (k > 0 && !space.labels ? wide[entries[k].wire] : 0);
    const wanted = entries.map((entry) => ways.get(entry)[0]);
    const straight = wanted.map((x) => x >= least && x <= most);
    // Neighboring lines that both can run straight down stay straight if they are at least
    // LEAST_PORT_GAP apart.
    const nearest = (k) => (straight[k] && straight[k + 1]
      ? Math.max(LEAST_PORT_GAP, wanted[k + 1] - wanted[k]) : Infinity);
    const apart = entries.slice(1).map((_, k) =>
      Math.min(nearest(k), Math.max(PORT_GAP, beside(k) + LABEL_GAP)));
    const weights = straight.map((is) => (is ? STRAIGHT_WEIGHT : 1));
    spreadWithin(wanted, weights, apart, PORT_GAP, least, most).forEach((x, k) => (entries[k].x = x));
  }

  // Places the exit, where all lines leave a closed box: in the middle of the box's side, or where
  // the box's only line, or a line near the middle, can run straight down.
  placeExit(box, exit) {
    const {placer} = this, [least, most] = this.range(box);
    const goesTo = exit.far.map((i) => {
      const {items, round} = placer.wires[i];
      if (round) return undefined;
      return items.length > 2 ? placer.x[items[1]] : this.intoOf(i);
    }).filter((x) => x !== undefined && x >= least - STRAIGHT && x <= most + STRAIGHT);
    const middle = placer.x[box], far = (x) => Math.abs(x - middle);
    const [nearest] = goesTo.sort((a, b) => far(a) - far(b));
    exit.x = nearest !== undefined && (exit.far.length === 1 || far(nearest) < PORT_GAP) ? nearest : middle;
  }
}

// Returns, for each closed box at which lines arrive, {ends: [{x, wide: the width of its label}],
// first}. The line at x `first` has its label on the left; `first` is undefined for a single line.
export function entriesBySide(placer) {
  const byBox = new Map();
  placer.wires.forEach((wire, i) => {
    const target = wire?.round?.target ?? wire?.items.at(-1);
    if (!wire || !placer.isBox(target) || wire.into !== undefined) return;
    if (!byBox.has(target)) byBox.set(target, []);
    byBox.get(target).push({x: placer.ports[i].into, wide: placer.wide[i]});
  });
  return [...byBox.values()].map((ends) => ({ends, first: ends.length > 1 ? Math.min(...ends.map(({x}) => x))
    : undefined}));
}

// Nets: groups of lines that are connected in a channel, and the lane of each net.
//
// Returns, by channel, {lanes: their number, labels: the width of the widest label of a line that
// ends below the channel, laneOf(side, name)}.
export function channelNets(placer) {
  const channels = Array.from({length: placer.layers.length + 1}, () => new Channel());
  placer.wires.forEach((wire, i) => {
    if (!wire) return;
    const {items, round} = wire, {out, into} = placer.ports[i];
    const exit = (item, port) => (port === undefined || !placer.isBox(item) ? `i${item}` : `i${item}@${out}`);
    const entry = (item) => (placer.isBox(item) && wire.into === undefined ? `e${i}` : placer.isBox(item)
      ? `i${item}@${into}` : `i${item}`);
    const bend = (item) => ({name: `i${item}`, x: placer.x[item]});
    const last = {name: entry(round?.target ?? items.at(-1)), x: into};
    const first = {name: exit(round?.source ?? items[0], wire.out), x: out};
    const end = channels[placer.layerOf[round?.target ?? items.at(-1)]];
    end.labels = Math.max(end.labels, placer.wide[i]);
    if (round) {
      channels[placer.layerOf[round.source] + 1].join([first, bend(items.at(-1))], []);
      channels[placer.layerOf[round.target]].join([], [bend(items[0]), last]);
    }
    for (let k = 0; k + 1 < items.length; ++k) {
      const upper = !round && k === 0 ? first : bend(items[k]);
      const lower = !round && k + 2 === items.length ? last : bend(items[k + 1]);
      channels[placer.layerOf[items[k + 1]]].join([upper], [lower]);
    }
  });
  return channels.map((channel) => channel.finish());
}

class Channel {
  constructor() {
    this.parents = new Map();
    this.tops = new Map();
    this.bottoms = new Map();
    this.labels = 0;
  }

  root(name) {
    let at = name;
    while (this.parents.get(at) !== at) at = this.parents.get(at);
    this.parents.set(name, at);
    return at;
  }

  join(tops, bottoms) {
    const names = [];
    for (const [list, side] of [[tops, "tops"], [bottoms, "bottoms"]]) {
      for (const {name, x} of list) {
        const key = `${side}${name}`;
        if (!this.parents.has(key)) this.parents.set(key, key);
        this[side].set(key, x);
        names.push(key);
      }
    }
    for (const name of names) this.parents.set(this.root(name), this.root(names[0]));
  }

  finish() {
    const byRoot = new Map();
    for (const side of ["tops", "bottoms"]) {
      for (const [key, x] of this[side]) {
        const root = this.root(key);
        if (!byRoot.has(root)) byRoot.set(root, {tops: [], bottoms: [], least: Infinity, most: -Infinity});
        const net = byRoot.get(root);
        net[side].push(x);
        net.least = Math.min(net.least, x);
        net.most = Math.max(net.most, x);
      }
    }
    const nets = [...byRoot.values()].filter((net) => net.most - net.least > STRAIGHT);
    const lanes = assignLanes(nets);
    const laneOf = (side, name) => byRoot.get(this.root(`${side}${name}`))?.lane ?? 0;
    return {lanes, labels: this.labels, laneOf};
  }
}

const within = (xs, net) => xs.filter((x) => x > net.least - NEAR && x < net.most + NEAR).length;
const onOne = (xs, others) => xs.some((x) => others.some((other) => Math.abs(x - other) < NEAR));

// Returns the cost of giving net `a` a lane above that of net `b`: the number of crossings, plus
// 100 if lines would overlap.
function costAbove(a, b) {
  return within(a.bottoms, b) + within(b.tops, a) + (onOne(a.bottoms, b.tops) ? 100 : 0);
}

// Assigns lanes to nets, so that there are few crossings; nets that do not overlap may share a
// lane. Returns the number of lanes.
function assignLanes(nets) {
  nets.sort((a, b) => a.least - b.least || a.most - b.most);
  const meets = (a, b) => a.least <= b.most + 2 * NEAR && b.least <= a.most + 2 * NEAR;
  const near = nets.map(() => []);
  for (let i = 0; i < nets.length; ++i) {
    for (let k = i + 1; k < nets.length && nets[k].least <= nets[i].most + 2 * NEAR; ++k) {
      if (!meets(nets[i], nets[k])) continue;
      const d = costAbove(nets[i], nets[k]) - costAbove(nets[k], nets[i]);
      near[i].push([k, d]);
      near[k].push([i, -d]);
    }
  }
  const order = cheapestOrder(near);
  let lanes = 0;
  for (const i of order) {
    let lane = 0;
    for (const [k] of near[i]) if (nets[k].lane !== undefined) lane = Math.max(lane, nets[k].lane + 1);
    nets[i].lane = lane;
    lanes = Math.max(lanes, lane + 1);
  }
  return lanes;
}

// Returns an order of nets: repeatedly takes the net that is cheapest above all remaining nets.
// `near[i]`: a list of [k, the extra cost of net i above net k compared with below it].
function cheapestOrder(near) {
  const cost = near.map((others) => others.reduce((sum, [, d]) => sum + d, 0));
  const left = new Set(near.keys()), order = [];
  while (left.size > 0) {
    let best;
    for (const i of left) if (best === undefined || cost[i] < cost[best]) best = i;
    left.delete(best);
    order.push(best);
    for (const [k, d] of near[best]) cost[k] += d;
  }
  return order;
}

// Computes the points of lines, from source to target.
export class RouteBuilder {
  constructor(placer, boxes) {
    this.placer = placer;
    this.boxes = boxes;
  }

  points(i) {
    const {placer} = this, wire = placer.wires[i];
    if (!wire) return this.toItself(placer.view.edges[i]);
    const {out, into} = placer.ports[i], {items, round} = wire;
    const source = round?.source ?? items[0], target = round?.target ?? items.at(-1);
    const way = [[out, this.leaves(source)]];
    const turn = (channel, side, name, x) => {
      const from = way.at(-1)[0];
      if (Math.abs(from - x) <= STRAIGHT) return;
      const {y, step} = placer.channels[channel], lane = y + placer.nets[channel].laneOf(side, name) * step;
      way.push([from, lane], [x, lane]);
    };
    const exit = wire.out === undefined || !placer.isBox(source) ? `i${source}` : `i${source}@${out}`;
    if (round) {
      turn(placer.layerOf[source] + 1, "tops", exit, placer.x[items.at(-1)]);
      for (let k = items.length - 1; k > 0; --k) {
        turn(placer.layerOf[items[k]], "bottoms", `i${items[k]}`, placer.x[items[k - 1]]);
      }
      turn(placer.layerOf[target], "bottoms", `i${items[0]}`, into);
    } else {
      for (let k = 1; k < items.length; ++k) {
        const name = k === 1 ? exit : `i${items[k - 1]}`;
        turn(placer.layerOf[items[k]], "tops", name, k + 1 === items.length ? into : placer.x[items[k]]);
      }
    }
    const x = Math.abs(way.at(-1)[0] - into) <= STRAIGHT ? way.at(-1)[0] : into;
    way.push([x, this.arrives(target)]);
    return corners(way).map(([px, py]) => [px + placer.shift, py]);
  }

  leaves(item) {
    const {placer} = this, layer = placer.layerOf[item];
    if (placer.isBox(item)) return this.boxes[item].y + placer.sizes[item].h;
    return placer.isBend(item) ? (placer.tops[layer] + placer.bottoms[layer]) / 2 : 0;
  }

  arrives(item) {
    const {placer} = this, layer = placer.layerOf[item];
    if (placer.isBox(item)) return this.boxes[item].y;
    return placer.isBend(item) ? (placer.tops[layer] + placer.bottoms[layer]) / 2 : placer.h;
  }

  toItself({from}) {
    const {placer} = this;
    if (!placer.isBox(from)) return [[0, 0], [0, 0]];
    const {x, y} = this.boxes[from], {w, h} = placer.sizes[from], right = x + w;
    return [[right, y + h * 0.7], [right + PORT_GAP - 4, y + h * 0.7], [right + PORT_GAP - 4, y + h * 0.3],
      [right, y + h * 0.3]];
  }
}

// Removes the points that are not corners of a line.
function corners(way) {
  const kept = [];
  for (const point of way) {
    const [a, b] = [kept.at(-2), kept.at(-1)];
    if (b && b[0] === point[0] && b[1] === point[1]) continue;
    const straight = a && ((a[0] === b[0] && b[0] === point[0]) || (a[1] === b[1] && b[1] === point[1]));
    if (straight) kept.pop();
    kept.push(point);
  }
  return kept;
}
