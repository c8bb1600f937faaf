// Places the items of one scope: the server gave layers and order, here sizes become coordinates.
// Frames of opened boxes are placed first and are boxes to the frame around them.

export const HEAD = 28;  // height of a frame's title bar
const PAD = 16, BOX_GAP = 22, BEND_GAP = 12, LAYER_GAP = 20, PORT_LAYER = 10, ROUNDS = 14;
const END_GAP = 14;  // between edges that end at one side of a box

// The nearest positions to `wanted` (least squares by weight) that keep the order and the distances
// `apart[i]` between i-1 and i: pools of neighbours that collide move as one.
export function spread(wanted, weights, apart) {
  const pools = [];
  let offset = 0;
  const offsets = wanted.map((_, i) => (offset += i === 0 ? 0 : apart[i]));
  wanted.forEach((x, i) => {
    let pool = {sum: (x - offsets[i]) * weights[i], weight: weights[i], count: 1};
    while (pools.length > 0 && pools.at(-1).sum / pools.at(-1).weight > pool.sum / pool.weight) {
      const left = pools.pop();
      pool = {sum: left.sum + pool.sum, weight: left.weight + pool.weight, count: left.count + pool.count};
    }
    pools.push(pool);
  });
  const places = [];
  for (const pool of pools) {
    for (let k = 0; k < pool.count; ++k) places.push(pool.sum / pool.weight + offsets[places.length]);
  }
  return places;
}

// `sizes[i]` of box i: {w, h} and, when it is open, the x of its ports by the key of the far end:
// {tops, bottoms}. Returns {w, h, boxes: [{x, y}], edges: [{edge, points}], tops, bottoms}.
export function placeScope(view, sizes) {
  return new Placer(view, sizes).run();
}

class Placer {
  constructor(view, sizes) {
    this.view = view;
    this.sizes = sizes;
    this.boxes = view.boxes.length;
    this.firstSink = this.boxes + view.sources.length;
    this.firstBend = this.firstSink + view.sinks.length;
    this.x = new Array(view.items).fill(0);
  }

  run() {
    this.listLinks();
    this.placeAcross();
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

  // Where an edge meets a box, from its middle: at the port of an open one.
  attach(item, far, side) {
    const ports = this.isBox(item) ? this.sizes[item][side] : undefined;
    if (!ports) return 0;
    const port = ports.get(far) ?? ports.get("rest");
    return port === undefined ? 0 : port - this.sizes[item].w / 2;
  }

  listLinks() {
    this.above = Array.from({length: this.view.items}, () => []);
    this.below = Array.from({length: this.view.items}, () => []);
    const seen = new Set();
    this.paths = this.view.edges.map((edge) => {
      if (edge.from === edge.to) return undefined;
      const [upper, lower] = edge.up ? [edge.to, edge.from] : [edge.from, edge.to];
      const out = edge.up ? 0 : this.attach(upper, edge.outKey ?? this.keyOf(lower), "bottoms");
      const into = edge.up ? 0 : this.attach(lower, edge.intoKey ?? this.keyOf(upper), "tops");
      const items = [upper, ...(edge.bends ?? []), lower];
      for (let i = 0; i + 1 < items.length; ++i) {
        const [a, b] = [items[i], items[i + 1]];
        const key = a * this.view.items + b;
        if (seen.has(key)) continue;
        seen.add(key);
        const bends = this.isBend(a) + this.isBend(b);
        const weight = [1, 2, 8][bends] * (edge.control ? 0.4 : 1);
        const shift = (i === 0 ? out : 0) - (i + 2 === items.length ? into : 0);
        this.below[a].push({item: b, shift: -shift, weight});
        this.above[b].push({item: a, shift, weight});
      }
      return {items, out, into};
    });
  }

  apart(a, b) {
    const gap = this.isBend(a) || this.isBend(b) ? BEND_GAP : BOX_GAP;
    return (this.width(a) + this.width(b)) / 2 + gap;
  }

  placeAcross() {
    const {layers} = this.view;
    for (const layer of layers) {
      layer.forEach((item, i) => {
        this.x[item] = i === 0 ? 0 : this.x[layer[i - 1]] + this.apart(layer[i - 1], item);
      });
      const middle = (this.x[layer[0]] + this.x[layer.at(-1)]) / 2;
      for (const item of layer) this.x[item] -= middle;
    }
    for (let round = 0; round < ROUNDS; ++round) {
      const both = round >= ROUNDS - 2;
      for (let i = 0; i < layers.length; ++i) {
        this.moveLayer(layers[round % 2 === 0 ? i : layers.length - 1 - i], round % 2 === 0, both);
      }
    }
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

  placeDown() {
    this.layerOf = new Array(this.view.items).fill(0);
    this.tops = [];
    this.bottoms = [];
    let y = HEAD;
    this.view.layers.forEach((layer, i) => {
      const ports = layer.every((item) => !this.isBox(item) && !this.isBend(item));
      const height = Math.max(0, ...layer.map((item) => this.height(item)));
      if (i > 0) y += this.gapAbove(layer);
      else if (!ports) y += PAD;
      this.tops.push(y);
      y += height;
      this.bottoms.push(y);
      for (const item of layer) this.layerOf[item] = i;
    });
    const last = this.view.layers.at(-1) ?? [];
    this.h = y + (last.some((item) => this.isBox(item)) ? PAD : PORT_LAYER / 2);
  }

  // Links that go far sideways need room.
  gapAbove(layer) {
    let widest = 0;
    for (const item of layer) {
      for (const link of this.above[item]) widest = Math.max(widest,
        Math.abs(this.x[item] - this.x[link.item] - link.shift));
    }
    return LAYER_GAP + Math.min(60, widest * 0.06);
  }

  result() {
    let left = Infinity, right = -Infinity;
    for (let item = 0; item < this.view.items; ++item) {
      left = Math.min(left, this.x[item] - this.width(item) / 2);
      right = Math.max(right, this.x[item] + this.width(item) / 2);
    }
    if (left > right) [left, right] = [0, 60];
    const shift = PAD - left;
    const boxes = this.view.boxes.map((_, i) => {
      const layer = this.layerOf[i];
      const middle = (this.tops[layer] + this.bottoms[layer]) / 2;
      return {x: this.x[i] + shift - this.sizes[i].w / 2, y: middle - this.sizes[i].h / 2};
    });
    const tops = new Map(), bottoms = new Map();
    this.view.sources.forEach((port, i) => tops.set(port.key, this.x[this.boxes + i] + shift));
    this.view.sinks.forEach((port, i) => bottoms.set(port.key, this.x[this.firstSink + i] + shift));
    const edges = this.view.edges.map((edge, i) => ({edge, points: this.points(edge, this.paths[i], boxes,
      shift)}));
    this.fanOut(edges, boxes);
    return {w: right - left + 2 * PAD, h: this.h, boxes, edges, tops, bottoms};
  }

  // Edges that meet one side of a closed box end side by side, in the order in which they come.
  fanOut(edges, boxes) {
    const ends = new Map();
    const add = (item, side, points, at, next) => {
      if (!this.isBox(item) || this.sizes[item][side]) return;
      const key = `${item}${side}`;
      if (!ends.has(key)) ends.set(key, {item, list: []});
      ends.get(key).list.push({points, at, next});
    };
    for (const {edge, points} of edges) {
      if (edge.from === edge.to) continue;
      const [upper, lower] = edge.up ? [edge.to, edge.from] : [edge.from, edge.to];
      add(upper, "bottoms", points, 0, 1);
      add(lower, "tops", points, points.length - 1, points.length - 2);
    }
    for (const {item, list} of ends.values()) {
      if (list.length < 2) continue;
      const far = ({points, at, next}) => {
        for (let i = next; i >= 0 && i < points.length; i += next - at) {
          if (Math.abs(points[i][0] - points[at][0]) > 0.5) return points[i][0];
        }
        return points[at][0];
      };
      const width = this.sizes[item].w * 0.7, gap = Math.min(END_GAP, width / (list.length - 1));
      const middle = boxes[item].x + this.sizes[item].w / 2;
      const order = list.map((end) => ({...end, key: far(end)})).sort((a, b) => a.key - b.key);
      // One that comes straight stays straight.
      const straight = order.findIndex(({key}) => Math.abs(key - middle) < 1);
      const centre = straight >= 0 ? straight : (order.length - 1) / 2;
      order.forEach(({points, at, next}, i) => {
        const x = middle + (i - centre) * gap, same = points[next][0] === points[at][0] && points.length > 2;
        points[at] = [x, points[at][1]];
        if (same) points[next] = [x, points[next][1]];
      });
    }
  }

  // From the upper end to the lower one.
  points(edge, path, boxes, shift) {
    if (!path) {
      const box = boxes[edge.from], size = this.sizes[edge.from], x = box.x + size.w;
      return [[x, box.y + size.h * 0.35], [x + 16, box.y + size.h * 0.5], [x, box.y + size.h * 0.65]];
    }
    const {items, out, into} = path;
    const points = [];
    items.forEach((item, i) => {
      const layer = this.layerOf[item], x = this.x[item] + shift;
      if (i > 0 && i + 1 < items.length) {
        points.push([x, this.tops[layer]]);
        if (this.bottoms[layer] > this.tops[layer]) points.push([x, this.bottoms[layer]]);
      } else if (this.isBend(item)) {  // a point that lines go through
        const half = [x, (this.tops[layer] + this.bottoms[layer]) / 2];
        points.push(...(i === 0 ? [half, [x, this.bottoms[layer]]] : [[x, this.tops[layer]], half]));
      } else if (i === 0) {
        const bottom = this.isBox(item) ? boxes[item].y + this.sizes[item].h : HEAD;
        points.push([x + out, bottom]);
        if (this.isBox(item) && this.bottoms[layer] - bottom > 2) points.push([x + out, this.bottoms[layer]]);
      } else {
        const top = this.isBox(item) ? boxes[item].y : this.h;
        if (this.isBox(item) && top - this.tops[layer] > 2) points.push([x + into, this.tops[layer]]);
        points.push([x + into, top]);
      }
    });
    return points;
  }
}
