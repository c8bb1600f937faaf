// Places the labels ("words") of lines: beside their line, near its end, never on other labels,
// boxes or arrows nor along another line, and across another line only if there is no other place.

import {grouped} from "./numbers.js";
import {FONT, textWidth} from "./text_width.js";

export const LABEL_FONT = `11px ${FONT}`;
const HEIGHT = 13, ASIDE = 4, ARROW = 9, STEP = 14, MOST_STEPS = 6, CELL = 64, FARTHEST = 40;
const ALONG = 100;  // the cost of words along another line; the cost across a line is 1

// Returns the label of a line: {full, short: without dtype and shape}; undefined if it has none.
// `twins`: other edges that share the line.
export function labelWords(edge, twins) {
  const count = edge.count > 1 && !edge.control ? `\u00d7${grouped(edge.count)}` : "";
  const control = !edge.control && twins.some((twin) => twin.control) ? "+ control" : "";
  const join = (...parts) => parts.filter(Boolean).join(" ");
  const full = join(edge.control ? "" : edge.label, count, control), short = join(count, control);
  return full ? {full, short} : undefined;
}

export const labelWidth = (words) => (words ? textWidth(words.full, LABEL_FONT) : 0);

// Sets `label` of each line whose label fits somewhere: {x, y: of the baseline, w, words}. `lines`:
// [{points, words}], where words may be undefined; `boxes`: [{x, y, w, h}]; `width`: the width of
// the frame.
export function placeLabels(lines, boxes, width) {
  const field = new Field(boxes, lines, width);
  const wanting = lines.filter(({words, points}) => words && points.length > 1);
  const order = [...wanting].sort((a, b) => a.points.at(-1)[1] - b.points.at(-1)[1]
    || a.points.at(-1)[0] - b.points.at(-1)[0]);
  for (const line of order) {
    const w = labelWidth(line.words), best = field.bestPlace(line.points, w);
    if (!best) continue;
    field.take(best);
    line.label = {x: best.x, y: best.y + HEIGHT - 3, w, words: line.words};
  }
}

class Field {
  constructor(boxes, lines, width) {
    this.width = width;
    this.taken = new Cells();
    this.segments = new Cells();
    for (const {x, y, w, h} of boxes) this.taken.add({x0: x, y0: y, x1: x + w, y1: y + h});
    for (const {points} of lines) {
      for (let i = 1; i < points.length; ++i) {
        const [[ax, ay], [bx, by]] = [points[i - 1], points[i]];
        const [x0, x1, y0, y1] = [Math.min(ax, bx), Math.max(ax, bx), Math.min(ay, by), Math.max(ay, by)];
        const way = x0 === x1 ? {line: `x${x0}`, cost: 1} : {line: `y${y0}`, cost: ALONG};
        this.segments.add({x0, x1, y0, y1, ...way});
      }
      this.taken.add(arrowOf(points));
    }
  }

  take({x, y, w}) { this.taken.add({x0: x - 2, y0: y, x1: x + w + 2, y1: y + HEIGHT}); }

  bestPlace(points, w) {
    let best, least = Infinity, far = 0;
    for (const place of candidates(points, w)) {
      const area = {x0: place.x, y0: place.y, x1: place.x + w, y1: place.y + HEIGHT};
      far += 0.01;
      if (area.x0 < 2 || area.x1 > this.width - 2 || this.taken.count(area) > 0) continue;
      const cost = this.segments.count(area) + far;
      if (cost >= ALONG) continue;
      if (cost < least) [best, least] = [{...place, w}, cost];
      if (cost < 1) break;
    }
    return best;
  }
}

function arrowOf(points) {
  const [[ax, ay], [bx, by]] = points.slice(-2), [dx, dy] = [Math.sign(bx - ax), Math.sign(by - ay)];
  const [x, y] = [bx - (dx * ARROW) / 2, by - (dy * ARROW) / 2], half = ARROW / 2 - 1;
  return {x0: x - half, x1: x + half, y0: y - half, y1: y + half};
}

// Yields places for a line's label, from the line's end to its beginning: beside vertical segments,
// above and below horizontal segments.
function* candidates(points, w) {
  for (let i = points.length - 1, turns = 0; i > 0 && turns < FARTHEST; --i) {
    const [[ax, ay], [bx, by]] = [points[i - 1], points[i]];
    if (ax === bx) {
      const down = by > ay ? 1 : -1, from = down > 0 ? by - HEIGHT - 3 : by + 3;
      for (let k = 0; k < MOST_STEPS && k * STEP + HEIGHT <= Math.abs(by - ay); ++k, ++turns) {
        const y = from - k * STEP * down;
        yield {x: bx + ASIDE, y};
        yield {x: bx - ASIDE - w, y};
      }
    } else {
      const [left, right] = [Math.min(ax, bx), Math.max(ax, bx)];
      const arrow = i + 1 === points.length ? ARROW : ASIDE;
      if (right - left < w + arrow + ASIDE) continue;
      const end = bx > ax ? right - w - arrow : left + arrow;
      const begin = bx > ax ? left + ASIDE : right - w - ASIDE;
      for (const x of [end, (left + right - w) / 2, begin]) {
        yield {x, y: by - HEIGHT};
        yield {x, y: by + 1};
        ++turns;
      }
    }
  }
}

// A set of rectangles, stored by the grid cells that they overlap.
class Cells {
  constructor() { this.cells = new Map(); }

  *keys({x0, y0, x1, y1}) {
    for (let i = Math.floor(x0 / CELL); i <= Math.floor(x1 / CELL); ++i) {
      for (let k = Math.floor(y0 / CELL); k <= Math.floor(y1 / CELL); ++k) yield i * 1e6 + k;
    }
  }

  add(area) {
    for (const key of this.keys(area)) {
      if (!this.cells.has(key)) this.cells.set(key, []);
      this.cells.get(key).push(area);
    }
  }

  // Returns the summed cost (by default 1 each) of the rectangles that overlap an area. Segments
  // with the same `line`, which lie on one straight line, count once.
  count(area) {
    const found = new Map();
    for (const key of this.keys(area)) {
      for (const other of this.cells.get(key) ?? []) {
        const meets = other.x0 < area.x1 && other.x1 > area.x0 && other.y0 < area.y1 && other.y1 > area.y0;
        if (meets) found.set(other.line ?? other, other.cost ?? 1);
      }
    }
    return [...found.values()].reduce((sum, cost) => sum + cost, 0);
  }
}
