// Wires: the path of each edge's line, as the list of items that the line passes, from its upper to
// its lower end.

// Edges between the same two items share a line. Returns, by edge, the index of the edge whose line
// it shares, or undefined if the line is its own. Of edges that share a line, the first data edge
// owns it, or the first control edge if there is no data edge.
export function sharedLines(edges) {
  const first = new Map(), keyOf = ({from, to}) => `${from}|${to}`;
  edges.forEach((edge, i) => {
    const other = first.get(keyOf(edge));
    if (other === undefined || (edges[other].control && !edge.control)) first.set(keyOf(edge), i);
  });
  return edges.map((edge, i) => (first.get(keyOf(edge)) === i ? undefined : first.get(keyOf(edge))));
}

// Returns a wire for each edge: {edge, items: one in each layer that the line passes, up, out,
// into}; undefined for an edge from an item to itself, and for an edge that shares another edge's
// line. `out`, `into`: the offsets, from the middle of an open scope, at which the line meets the
// box; undefined for other items, and for an edge that runs up.
export function completePaths(placer) {
  return placer.view.edges.map((edge, i) => {
    if (edge.from === edge.to || placer.under[i] !== undefined) return undefined;
    const [upper, lower] = edge.up ? [edge.to, edge.from] : [edge.from, edge.to];
    const items = filled(placer, [upper, ...(edge.bends ?? []), lower]);
    const out = edge.up ? undefined : placer.attach(upper, edge.outKey ?? placer.keyOf(lower), "bottoms");
    const into = edge.up ? undefined : placer.attach(lower, edge.intoKey ?? placer.keyOf(upper), "tops");
    return {edge, items, up: Boolean(edge.up), out, into};
  });
}

const rank = (placer, item) => {
  const layer = placer.layers[placer.layerOf[item]];
  return (layer.indexOf(item) + 0.5) / layer.length;
};

function filled(placer, items) {
  const complete = [items[0]];
  for (const item of items.slice(1)) {
    for (let layer = placer.layerOf[complete.at(-1)] + 1; layer < placer.layerOf[item]; ++layer) {
      const share = (rank(placer, complete.at(-1)) + rank(placer, item)) / 2;
      complete.push(placer.addBend(layer, Math.round(share * placer.layers[layer].length)));
    }
    complete.push(item);
  }
  return complete;
}

// An upward line leaves its source at the bottom, like any other line, then runs up beside the
// source, and reaches its target from above. For this, adds a point beside each end to the wire's
// items, and sets wire.round to {source, target}.
export function addRounds(placer) {
  for (const wire of placer.wires) {
    if (!wire?.up) continue;
    const {items} = wire, target = items[0], source = items.at(-1), way = items.slice(1, -1);
    const beside = (item, next) => {
      const layer = placer.layerOf[item], right = rank(placer, next) >= rank(placer, item);
      return placer.addBend(layer, placer.layers[layer].indexOf(item) + (right ? 1 : 0));
    };
    const first = beside(target, way[0] ?? source), last = beside(source, way.at(-1) ?? first);
    wire.items = [first, ...way, last];
    wire.round = {source, target};
  }
}
