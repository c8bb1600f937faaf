// Divides a view that is too tall into columns side by side, so that all of it can be seen in a
// readable size. Data flows down each column. A line to a later column runs down below its column, up
// between the columns, and then from above to its target. Each column is placed like a scope of its
// own (layout.js), with ports where lines enter and leave it.

import {even} from "./box_lines.js";
import {placeScope} from "./layout.js";
import {sharedLines} from "./wires.js";

const MOST_COLUMNS = 6, MOST_NETS = 4;  // MOST_NETS: the most lines from one column to later ones
const MOST_BOXES = 300;  // of a view that is divided, since each division is laid out to be measured
const NET_COST = 24;  // a column may be so much taller for a line less between columns
const LEAST_SHARE = 0.3;  // of the height of the tallest column, for each but the last
const PAD = 16;       // what layout.js leaves free around boxes
const LANE = 8, BESIDE_LANES = 24;  // from a lane between columns to the next one, and to a box

// Returns the first layers of the columns, but not of the first one, with which the view can be read
// in a room {w, h}: [] if it can be read as it is, or if dividing it makes no text larger. `readable`:
// the scale at which it can be read. The other arguments are those of placeScope. The fewest columns
// with which it can be read are best, else those with the largest scale.
export function chooseColumns(view, sizes, edges, space, {w, h, readable}) {
  const scale = (placed) => Math.min(w / placed.w, h / placed.h);
  const whole = placeScope(view, sizes, edges, space);
  let best = [], most = scale(whole);
  if (most >= readable || view.boxes.length > MOST_BOXES || !(w > 0 && h > 0)) return best;
  const nets = netsAbove(view);
  for (let count = 2; count <= MOST_COLUMNS && most < readable; ++count) {
    const first = divide(whole.layers, nets, count);
    if (!first) return best;
    if (!isEven(whole.layers, first)) continue;
    const next = scale(placeInColumns(view, sizes, edges, space, first));
    if (next > most) [best, most] = [first, next];
  }
  return best;
}

// Returns, by layer, the number of items from which lines come to it or to later layers from earlier
// ones: Infinity if a column cannot begin there, since a line runs up or the view has ports.
function netsAbove(view) {
  const {layerOf} = placesOf(view), nets = view.layers.map(() => new Set());
  const isClosed = view.sources.length + view.sinks.length === 0;
  const blocked = view.layers.map((_, layer) => layer === 0 || !isClosed);
  for (const {from, to, up} of view.edges) {
    const [upper, lower] = up ? [to, from] : [from, to];
    for (let layer = layerOf[upper] + 1; layer <= layerOf[lower]; ++layer) {
      nets[layer].add(upper);
      blocked[layer] ||= Boolean(up);
    }
  }
  return nets.map(({size}, layer) => (blocked[layer] || size > MOST_NETS ? Infinity : size));
}

// Returns the first layers of all but the first of `count` columns, such that the tallest column is
// as low as possible; undefined if there are not so many places to divide. `layers`: [{top, bottom}].
function divide(layers, nets, count) {
  const end = layers.length, last = layers.at(-1)?.bottom;
  let below = layers.map(({top}) => ({height: last - top, first: []}));  // by layer: one column from there
  for (let columns = 2; columns <= count; ++columns) {
    below = layers.map(({top}, begin) => {
      let best;
      for (let next = begin + 1; next < end; ++next) {
        if (nets[next] === Infinity || !below[next]) continue;
        const height = Math.max(layers[next - 1].bottom - top, below[next].height) + NET_COST * nets[next];
        if (!best || height < best.height) best = {height, first: [next, ...below[next].first]};
      }
      return best;
    });
  }
  return below[0]?.first;
}

// True if no column but the last is much lower than another one, as beside an open box that is higher
// than all others together: there, columns would only tear the picture apart.
function isEven(layers, first) {
  const heights = [0, ...first].map((begin, i) =>
    layers[(first[i] ?? layers.length) - 1].bottom - layers[begin].top);
  return Math.min(...heights.slice(0, -1)) >= LEAST_SHARE * Math.max(...heights);
}

// By item, boxes, bends and joints: its layer, and its place there from 0 to 1.
function placesOf(view) {
  const layerOf = [], placeOf = [];
  view.layers.forEach((layer, number) => layer.forEach((item, rank) => {
    layerOf[item] = number;
    placeOf[item] = (rank + 0.5) / layer.length;
  }));
  return {layerOf, placeOf};
}

// Places a view without ports in columns that begin at the layers `first` (and at layer 0). Takes and
// returns what placeScope does, and in addition `rises`, by edge: if its line runs up between columns,
// the index of the point where it begins to.
export function placeInColumns(view, sizes, edges, space, first) {
  return new Columns(view, sizes, edges, space, first).run();
}

class Columns {
  constructor(view, sizes, {under, wide}, space, first) {
    Object.assign(this, {view, sizes, under, wide, space, ...placesOf(view)});
    const ends = [...first, view.layers.length];
    this.columnOf = this.layerOf.map((layer) => ends.findIndex((end) => layer < end));
    this.columns = ends.map((end, number) => new Column(this, number, ends[number - 1] ?? 0, end));
  }

  run() {
    this.findNets();
    this.placeColumns();
    this.placeLanes();
    return this.result();
  }

  // A net is the lines from one item to later columns: {item, column, targets: the later columns}.
  findNets() {
    const nets = new Map();
    for (const {from, to} of this.view.edges) {
      const column = this.columnOf[from], target = this.columnOf[to];
      if (column === target) continue;
      if (!nets.has(from)) nets.set(from, {item: from, column, targets: new Set()});
      nets.get(from).targets.add(target);
    }
    this.nets = [...nets.values()];
  }

  netsTo(number) { return this.nets.filter(({targets}) => targets.has(number)); }

  // Places the columns from left to right, their topmost boxes side by side.
  placeColumns() {
    const tops = this.columns.map(({placed}) => placed.layers[placed.tops.size > 0 ? 1 : 0].top);
    const arriving = this.columns.map((_, number) => this.netsTo(number).length);
    const above = Math.max(...tops.map((top, number) => top + arriving[number] * LANE));
    let x = this.space.left;
    this.columns.forEach((column, number) => {
      const room = number === 0 ? 0 : even(2 * (BESIDE_LANES - PAD) + (arriving[number] - 1) * LANE);
      column.gutter = x + room / 2;
      x += Math.max(0, room);
      Object.assign(column, {x, y: this.space.top + above - tops[number]});
      x += column.placed.w;
    });
    this.w = even(x);
  }

  // Gives each net a lane below its column, and one before and one above each of its targets. Of the
  // lines that meet, those from farther have the outer lanes, so that few lines cross.
  placeLanes() {
    for (const net of this.nets) {
      const {x, placed} = this.columns[net.column];
      const last = Math.max(...net.targets);
      net.x = x + placed.bottoms.get(String(net.item));
      net.end = this.columns[last].gutter;
      net.y = Math.max(...this.columns.slice(net.column, last).map(({bottom}) => bottom));
    }
    this.nets.sort((a, b) => b.column - a.column || b.x - a.x);
    this.nets.forEach((net, i) => {
      for (const inner of this.nets.slice(0, i))
        if (inner.x < net.end + LANE && net.x < inner.end + LANE) net.y = Math.max(net.y, inner.y + LANE);
    });
    this.columns.forEach((column, number) => {
      const nets = this.netsTo(number), middle = (nets.length - 1) / 2;
      column.lanes = new Map(nets.map(({item}, i) => [item,
        {x: Math.round(column.gutter + (i - middle) * LANE), y: column.y - (nets.length - 1 - i) * LANE}]));
    });
    const lowest = [...this.columns.map(({bottom}) => bottom), ...this.nets.map(({y}) => y + PAD)];
    this.h = even(Math.max(...lowest) + this.space.bottom);
  }

  result() {
    const lines = [], rises = [];
    this.view.edges.forEach(({from, to}, edge) => {
      const [upper, lower] = [from, to].map((item) => this.columns[this.columnOf[item]]);
      const begin = upper.lineOf(edge), end = lower.lineOf(edge);
      lines.push(upper === lower ? begin : this.joined(from, begin, end, lower.lanes.get(from)));
      if (upper !== lower) rises[edge] = begin.length;
    });
    const boxes = this.view.boxes.map((_, box) => this.columns[this.columnOf[box]].boxAt(box));
    return {w: this.w, h: this.h, boxes, lines, rises, tops: new Map(), bottoms: new Map()};
  }

  // Returns a line that leaves its column as `begin` and reaches another one as `end`.
  joined(from, begin, end, lane) {
    const {y} = this.nets.find(({item}) => item === from), [[out], [into]] = [begin.at(-1), end[0]];
    return [...begin.slice(0, -1), [out, y], [lane.x, y], [lane.x, lane.y], [into, lane.y], ...end.slice(1)];
  }
}

// A column as a view of its own. Its sources and sinks are named after the items from which the lines
// come.
class Column {
  constructor(all, number, begin, end) {
    const {view, columnOf} = all, has = (item) => columnOf[item] === number;
    this.edges = [...view.edges.keys()].filter((i) => has(view.edges[i].from) || has(view.edges[i].to));
    this.boxes = [...view.boxes.keys()].filter(has);
    const paths = this.edges.map((i) => pathIn(view.edges[i], has));
    const ports = (side, isPort, placeOf) => {
      const places = new Map();
      this.edges.forEach((i, at) => {
        const {from, to} = view.edges[i];
        if (isPort(from, to)) places.set(from, Math.min(places.get(from) ?? 1, placeOf(paths[at])));
      });
      this[side] = [...places.keys()].sort((a, b) => places.get(a) - places.get(b));
    };
    ports("sources", (from) => !has(from), (path) => all.placeOf[path[0]]);
    ports("sinks", (from, to) => !has(to), (path) => all.placeOf[path.at(-1)]);
    this.place(all, view.layers.slice(begin, end), paths, has);
  }

  place({view, sizes, under, wide, space}, layers, paths, has) {
    const {boxes, sources, sinks} = this, numbers = new Map(), joints = new Map();
    const number = (key) => numbers.set(key, numbers.get(key) ?? numbers.size).get(key);
    boxes.forEach(number);
    for (const item of sources) number(`from ${item}`);
    for (const item of sinks) number(`to ${item}`);
    const used = new Set(paths.flat()), isUsed = (item) => item < view.boxes.length || used.has(item);
    const own = layers.map((layer) => layer.filter((item) => isUsed(item)).map(number));
    for (const [item, joint] of view.joints ?? []) if (numbers.has(item)) joints.set(number(item), joint);
    const keyOf = (item) => view.boxes[item]?.key ?? view.joints?.get(item)?.key;
    const edges = this.edges.map((i, at) => {
      const edge = view.edges[i], {from, to} = edge, isBend = (item) => item !== from && item !== to;
      return {...edge, bends: paths[at].filter(isBend).map(number),
        from: number(has(from) ? from : `from ${from}`), to: number(has(to) ? to : `to ${from}`),
        outKey: edge.outKey ?? keyOf(to), intoKey: edge.intoKey ?? keyOf(from)};
    });
    const port = (item) => ({key: String(item)}), numbered = (side, items) => (items.length > 0
      ? [items.map((item) => number(`${side} ${item}`))] : []);
    const part = {boxes: boxes.map((box) => view.boxes[box]), edges, joints, items: numbers.size,
      sources: sources.map(port), sinks: sinks.map(port),
      layers: [...numbered("from", sources), ...own, ...numbered("to", sinks)]};
    const labels = this.edges.map((i) => (has(view.edges[i].to) && under[i] === undefined ? wide[i] : 0));
    this.placed = placeScope(part, boxes.map((box) => sizes[box]), {under: sharedLines(edges), wide: labels},
      {...space, top: 0, left: 0, bottom: 0});
  }

  get bottom() { return this.y + this.placed.h; }

  boxAt(box) {
    const {x, y} = this.placed.boxes[this.boxes.indexOf(box)];
    return {x: this.x + x, y: this.y + y};
  }

  lineOf(edge) {
    return this.placed.lines[this.edges.indexOf(edge)].map(([x, y]) => [this.x + x, this.y + y]);
  }
}

// Returns the items in a column that an edge passes, from its upper to its lower end.
function pathIn({from, to, bends = [], up}, has) {
  return (up ? [to, ...bends, from] : [from, ...bends, to]).filter(has);
}
