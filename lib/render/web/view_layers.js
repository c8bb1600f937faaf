// Assigns the items of views to layers (layering.js). A view is the contents of one open scope:
// {boxes, above, sources, sinks, edges}; its items are the boxes, then the sources, where lines enter
// the scope, then the sinks, where lines leave it. `above` has the indices of boxes that are above the
// others on their cycles. The view around it determines the order of the sources and sinks.

import {makeLayers, putAbove} from "./layering.js";

const keysOf = ({boxes, sources, sinks}) => [...boxes, ...sources, ...sinks].map(({key}) => key);

// Adds to a view its layers and the number of items, and to its edges the bends, and `up` if they
// run upwards. Returns the places of the items in their layers, from 0 to 1.
function addLayers(view) {
  const firstSource = view.boxes.length, firstSink = firstSource + view.sources.length;
  const edges = view.edges.map(({from, to, control, back}) => ({from, to, weight: control ? 1 : 3, back}));
  const count = firstSink + view.sinks.length;
  putAbove(view.above ?? [], count, edges);
  const {layers, bends, upwards, items} = makeLayers(count, edges,
    view.sources.map((_, i) => firstSource + i), view.sinks.map((_, i) => firstSink + i));
  view.edges.forEach((edge, i) => {
    if (upwards[i]) edge.up = true;
    if (bends[i].length > 0) edge.bends = bends[i];
  });
  Object.assign(view, {layers, items});
  const places = new Array(items).fill(0);
  for (const layer of layers) layer.forEach((item, i) => { places[item] = (i + 0.5) / layer.length; });
  return places;
}

// Sorts a view's sources and sinks by `rankOf`, and renumbers the ends of its edges.
function sortPorts(view, rankOf) {
  const numbers = [...keysOf(view).keys()];
  let first = view.boxes.length;
  for (const side of ["sources", "sinks"]) {
    const ports = view[side], ranks = ports.map((port) => rankOf(port, side));
    const order = [...ports.keys()].sort((a, b) => ranks[a] - ranks[b]);
    order.forEach((from, to) => { numbers[first + from] = first + to; });
    view[side] = order.map((i) => ports[i]);
    first += ports.length;
  }
  for (const edge of view.edges) [edge.from, edge.to] = [numbers[edge.from], numbers[edge.to]];
}

// Lays out the view of a scope. `around`: the view of the open scope around it, which is laid out;
// undefined for the outermost. Sources and sinks are in the order, from left to right, of their
// boxes and ports in `around`.
export function layerView(view, around = undefined) {
  if (around) {
    const places = new Map();
    around.layers.forEach((layer) => layer.forEach((item, i) => {
      places.set(item, (i + 0.5) / layer.length);
    }));
    const byKey = new Map();
    keysOf(around).forEach((key, item) => { if (!byKey.has(key)) byKey.set(key, places.get(item) ?? 0); });
    sortPorts(view, ({key}) => (key === "rest" ? 2 : byKey.get(key) ?? 2));
  }
  addLayers(view);
}

// Lays out the views of a picture, where a box that contains a frame has the index of the frame's
// view, a later one. Sources and sinks are in the order in which lines arrive at the frame.
export function layerPicture(views) {
  const orders = views.map(() => ({sources: [], sinks: []}));  // keys, by view and side
  views.forEach((view, index) => {
    sortPorts(view, ({key}, side) => {
      const at = orders[index][side].indexOf(key);
      return at < 0 ? Infinity : at;
    });
    orderInner(view, addLayers(view), orders);
  });
}

// Sets the order of the sources and sinks of the frames in a view.
function orderInner(view, places, orders) {
  const keys = keysOf(view), arrivals = new Map();  // by frame and side
  const add = (item, side, at, far) => {
    const frame = view.boxes[item]?.frame;
    if (frame === undefined) return;
    const key = `${frame}|${side}`;
    if (!arrivals.has(key)) arrivals.set(key, []);
    arrivals.get(key).push({frame, side, at, far});
  };
  for (const {from, to, bends = []} of view.edges) {
    add(to, "sources", places[bends.at(-1) ?? from], keys[from]);
    add(from, "sinks", places[bends[0] ?? to], keys[to]);
  }
  for (const list of arrivals.values()) {
    list.sort((a, b) => a.at - b.at || (a.far < b.far ? -1 : a.far > b.far ? 1 : 0));
    for (const {frame, side, far} of list) {
      const order = orders[frame][side];
      if (!order.includes(far)) order.push(far);
    }
  }
}
