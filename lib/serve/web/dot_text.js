// Writes the visible picture as Graphviz text: boxes, frames as clusters, lines between boxes.

const quoted = (text) => `"${text.replaceAll("\\", "\\\\").replaceAll("\"", "\\\"")}"`;

export function dotText(frame, title) { return new DotWriter(frame, title).run(); }

class DotWriter {
  constructor(frame, title) {
    this.frame = frame;
    this.lines = [`digraph ${quoted(title)} {`, "  compound=true;",
      "  node [shape=box, fontname=\"DejaVu Sans\", fontsize=11];",
      "  edge [fontname=\"DejaVu Sans\", fontsize=9];"];
    this.names = new Map();
    this.taken = new Set();
    this.clusters = new Map();
  }

  run() {
    this.boxes(this.frame, "  ");
    this.edges(this.frame);
    return [...this.lines, "}", ""].join("\n");
  }

  nameOf(placed) {
    if (!this.names.has(placed)) {
      const path = placed.box.path || placed.box.name || placed.box.key;
      let name = path;
      for (let i = 2; this.taken.has(name); ++i) name = `${path} (${i})`;
      this.taken.add(name);
      this.names.set(placed, name);
    }
    return this.names.get(placed);
  }

  boxes(frame, indent) {
    for (const placed of frame.boxes) {
      if (!placed.inner) {
        const words = placed.lines.map((parts) => parts.map(({text}) => text).join(""));
        const label = quoted(words.join("\n")).replaceAll("\n", "\\n");
        const dashes = placed.box.made_up ? ", style=dashed" : "";
        this.lines.push(`${indent}${quoted(this.nameOf(placed))} [label=${label}${dashes}];`);
        continue;
      }
      const cluster = `cluster${this.clusters.size}`;
      this.clusters.set(placed, cluster);
      this.lines.push(`${indent}subgraph ${cluster} {`, `${indent}  label=${quoted(placed.head.text)};`);
      if (placed.box.made_up) this.lines.push(`${indent}  style=dashed;`);
      for (const inner of placed.inner.frames) this.boxes(inner, `${indent}  `);
      this.lines.push(`${indent}}`);
    }
  }

  // Returns the closed boxes at which a line that meets box `item` ends: the box itself or, if it
  // is open, boxes in it (of open functions, the first one); none if the item is not a box. `side`:
  // "in" for a line that comes from the box `key`, "out" for one that goes there.
  ends(frame, item, key, side) {
    const placed = frame.boxes[item];
    if (!placed) return [];
    if (!placed.inner) return [placed];
    const [inner] = placed.inner.frames;
    if (!placed.inner.tops) return this.leaves(inner).slice(0, 1);
    const {boxes, sources, sinks} = inner.view, ports = side === "in" ? sources : sinks;
    const named = ports.findIndex((port) => port.key === key);
    const at = named >= 0 ? named : ports.findIndex((port) => port.key === "rest");
    const port = boxes.length + at + (side === "in" ? 0 : sources.length);
    const met = inner.edges.filter(({edge}) => (side === "in" ? edge.from : edge.to) === port);
    const next = ({edge}) => this.ends(inner, side === "in" ? edge.to : edge.from, key, side);
    return [...new Set(met.flatMap(next))];
  }

  leaves(frame) {
    const inside = (inner) => this.leaves(inner);
    return frame.boxes.flatMap((placed) => (placed.inner ? placed.inner.frames.flatMap(inside) : [placed]));
  }

  edges(frame) {
    const {view} = frame, items = [...view.boxes, ...view.sources, ...view.sinks];
    for (const {edge, words} of frame.edges) {
      const from = this.ends(frame, edge.from, edge.outKey ?? items[edge.to]?.key, "out");
      const to = this.ends(frame, edge.to, edge.intoKey ?? items[edge.from]?.key, "in");
      if (from.length > 0 && to.length > 0) this.edge(frame, edge, words, from, to);
    }
    for (const {inner} of frame.boxes) for (const other of inner?.frames ?? []) this.edges(other);
  }

  // Writes an edge from each box of `from` to each box of `to`. If both are several boxes, it is
  // unknown which of them are connected, so writes only one edge, between their frames.
  edge(frame, edge, words, from, to) {
    const several = from.length > 1 && to.length > 1;
    const look = [words?.full && `label=${quoted(words.full)}`, edge.control && "style=dashed",
      several && `ltail=${this.clusters.get(frame.boxes[edge.from])}`,
      several && `lhead=${this.clusters.get(frame.boxes[edge.to])}`].filter(Boolean).join(", ");
    for (const a of several ? from.slice(0, 1) : from) {
      for (const b of several ? to.slice(0, 1) : to) {
        const [source, target] = [quoted(this.nameOf(a)), quoted(this.nameOf(b))];
        this.lines.push(`  ${source} -> ${target}${look ? ` [${look}]` : ""};`);
      }
    }
  }
}
