// Colors the picture by the last run: by the health of each node's values, or by the node's time.

import {shareMark, SHARES} from "./colors.js";

export class RunColors {
  // `boxes`: the document "run-boxes" of the server.
  constructor(boxes) {
    this.kinds = boxes.kinds;
    this.nodes = new Map();
    this.scopes = new Map();
    this.total = 0;
    for (const {body, nodes, scopes} of boxes.bodies) {
      for (const [id, kind, time] of nodes) {
        this.nodes.set(`${body}/${id}`, {kinds: [kind], time});
        this.total += time;
      }
      for (const [scope, ...counts] of scopes) {
        const kinds = counts.slice(0, -1).flatMap((count, kind) => (count > 0 ? [kind] : []));
        this.scopes.set(`${body}/${scope}`, {kinds, time: counts.at(-1)});
      }
    }
  }

  choices() { return [["run-health", "by health of the last run"], ["run-time", "by time of the last run"]]; }

  of({box, body}) { return box.kind === "scope" ? this.scopes.get(`${body}/${box.scope}`)
    : this.nodes.get(`${body}/${box.id}`); }

  // Returns the color of a box; undefined for a box without one. By health, a scope has the color
  // of the first kind of outcome that occurs in it, since the kinds are ordered by importance.
  fill(by, placed, theme) {
    const found = this.of(placed);
    if (!found) return undefined;
    if (by === "run-health") return theme.marks[found.kinds[0]];
    return theme.marks[shareMark(found.time, this.total)];
  }

  glows(placed) { return this.of(placed)?.kinds[0] === 0; }

  // Returns the legend, a list of [number of the color, text].
  legend(by) {
    return by === "run-health" ? this.kinds.map((text, kind) => [kind, text])
      : SHARES.map(([, mark, share], i) => [mark, i === 0 ? `${share} of the time or more`
      : `${share} or more`]);
  }
}
