// Paints frames on a canvas, or on a context with the same methods that writes SVG
// (svg_context.js) or records the calls (paint_context.js). Colors come from the style sheet, so that each theme has its own colors.

import {canOpen, LINE, MARKER, TITLE} from "./box_lines.js";
import {LABEL_FONT} from "./edge_labels.js";
import {boxKey, HEAD} from "./frames.js";
import {lineWidth, textWidth} from "./text_width.js";

const SMALLEST_TEXT = 5;  // pixels on the screen; smaller text is not drawn
const LABELS_FROM = 0.55;  // the zoom from which words on lines are drawn
const SHEET = 4;  // offset of a stack's lower sheet, on a side where no line ends
const RADIUS = 6, CORNER = 5, BASE_LINE = 19;
const DASHES = [5, 4];  // of the frames of boxes that are not scopes or nodes of the graph
const COLORS = ["canvas", "frame", "frame-2", "frame-line", "text", "dim", "edge", "control", "accent",
  "accent-edge", "box-line", "neutral", "function", "bad"];

// Returns the colors of a theme. `color(name)` returns the value of a style sheet variable.
export function makeTheme(color) {
  const list = (name, count) => Array.from({length: count}, (_, i) => color(`${name}-${i}`));
  return {...Object.fromEntries(COLORS.map((name) => [name, color(name)])), fills: list("fill", 10),
    marks: list("mark", 6), heat: list("heat", 3)};
}

// Draws a frame with its upper left corner at x, y. `look`: {theme, zoom, fillOf(placed): a box's
// color, inkOf(placed): a box's text color if the theme's is unreadable there, selected: a box's
// key or undefined, lit: a set of keys of highlighted boxes, hideControl, hideHandles, hideShapes,
// byDevice: highlights edges between devices, glows(placed): true if a box glows, ground: the color
// behind the frame, if it is not the canvas's}. `visible`: {x0, y0, x1, y1} in the frame's
// coordinates.
export function drawFrame(context, frame, look, visible, x = 0, y = 0, depth = 0) {
  const inside = (bx, by, w, h) => bx < visible.x1 && bx + w > visible.x0 && by < visible.y1
    && by + h > visible.y0;
  if (!inside(x, y, frame.w, frame.h)) return;
  for (const placed of frame.boxes) {
    const bx = x + placed.x, by = y + placed.y;
    if (!placed.inner || !inside(bx, by, placed.w, placed.h)) continue;
    context.begin?.(placed.box.tip ?? placed.box.path);
    drawOpened(context, placed, look, bx, by, depth);
    context.end?.();
    for (const inner of placed.inner.frames) {
      if (inner.isFunction) drawFunctionFrame(context, inner, look, bx + inner.x, by + inner.y);
      const ground = inner.isFunction ? look.theme.canvas : groundOf(placed, look, depth);
      drawFrame(context, inner, {...look, ground}, visible, bx + inner.x, by + inner.y, depth + 1);
      if (inner.isFunction) drawTitle(context, inner.head, "\u0192", look, bx + inner.x, by + inner.y);
    }
    const ground = groundOf(placed, look, depth);
    drawTitle(context, placed.head, placed.box.fixed ? "" : "\u25be", {...look, ground}, bx, by);
  }
  drawEdges(context, frame, look, visible, x, y);
  for (const placed of frame.boxes) {
    const bx = x + placed.x, by = y + placed.y;
    if (placed.inner || !inside(bx, by, placed.w, placed.h)) continue;
    context.begin?.(placed.box.tip ?? placed.box.path);
    drawBox(context, placed, look, bx, by);
    context.end?.();
  }
  drawLabels(context, frame, look, visible, x, y);
}

function roundRect(context, x, y, w, h, radius) {
  context.beginPath();
  context.roundRect(x, y, w, h, radius);
}

function outline(context, placed, look, fallback) {
  const key = boxKey(placed), {box} = placed;
  const chosen = look.selected === key;
  context.lineWidth = chosen || box.focus ? 3 / Math.min(1, look.zoom) : look.lit.has(key) ? 2 : 1;
  context.strokeStyle = chosen || look.lit.has(key) ? look.theme.accent : box.missing ? look.theme.bad
    : fallback;
  if (box.missing || box.rest || box.made_up) context.setLineDash(DASHES);
  context.stroke();
  context.setLineDash([]);
}

function drawTitle(context, {x: left, text, over}, marker, look, x, y) {
  if (13 * look.zoom < SMALLEST_TEXT) return;
  context.font = TITLE;
  context.textAlign = "left";
  context.fillStyle = look.theme.text;
  if (marker) context.fillText(marker, x + 10, y + BASE_LINE);
  if (over) outlined(context, text, x + left, y + BASE_LINE, look, 6);
  context.fillStyle = look.theme.text;
  context.fillText(text, x + left, y + BASE_LINE);
}

// Draws text with an outline in the color of the background, so that the text is readable where a
// line runs behind it.
function outlined(context, text, x, y, look, width) {
  context.lineWidth = width;
  context.strokeStyle = look.ground ?? look.theme.canvas;
  context.strokeText(text, x, y);
}

function drawOpened(context, placed, look, x, y, depth) {
  roundRect(context, x, y, placed.w, placed.h, RADIUS);
  context.fillStyle = groundOf(placed, look, depth);
  context.fill();
  outline(context, placed, look, look.theme[placed.box.isFunction ? "function" : "frame-line"]);
}

function groundOf({box}, {theme}, depth) {
  return box.isFunction ? theme.canvas : depth % 2 === 0 ? theme.frame : theme["frame-2"];
}

function drawFunctionFrame(context, frame, look, x, y) {
  roundRect(context, x, y, frame.w, frame.h, RADIUS);
  context.fillStyle = look.theme.canvas;
  context.fill();
  context.setLineDash([6, 4]);
  context.lineWidth = 1;
  context.strokeStyle = look.theme.function;
  context.stroke();
  context.setLineDash([]);
}

function drawBox(context, placed, look, x, y) {
  const {box, lines, w, h} = placed;
  const stack = box.kind === "scope" || box.stack;
  const round = box.input || box.output ? h / 2 : stack ? 3 : RADIUS;
  if (stack) {  // drawn as a stack of sheets: the box contains more
    context.strokeStyle = look.theme["box-line"];
    context.lineWidth = 1;
    roundRect(context, x + SHEET, y + (placed.upwards ? -SHEET : SHEET), w, h, round);
    context.fillStyle = look.theme.neutral;
    context.fill();
    if (box.made_up) context.setLineDash(DASHES);
    context.stroke();
    context.setLineDash([]);
  }
  roundRect(context, x, y, w, h, Math.min(round, 16));
  context.fillStyle = look.fillOf(placed) ?? look.theme.neutral;
  if (box.marks || look.glows?.(placed)) {  // boxes with marks glow
    context.shadowColor = context.fillStyle;
    context.shadowBlur = 18;
  }
  context.fill();
  context.shadowBlur = 0;
  outline(context, placed, look, box.kind === "function" ? look.theme.function : look.theme["box-line"]);
  if (13 * look.zoom < SMALLEST_TEXT) return;
  const ink = look.inkOf?.(placed);
  lines.forEach((parts, i) => {
    const [first, ...others] = parts, marked = i === 0 && canOpen(box) && !box.fixed;
    const line = marked ? [{...first, text: MARKER + first.text}, ...others] : parts;
    drawLine(context, line, ink, look, x, w, y + LINE + i * LINE);
  });
}

function drawLine(context, parts, ink, look, x, w, y) {
  const isCentered = parts.length === 1;
  let left = x + (isCentered ? w / 2 : (w - lineWidth(parts)) / 2);
  context.textAlign = isCentered ? "center" : "left";
  for (const {text, font, role} of parts) {
    const shown = isCentered ? text : text.trimStart();  // browsers drop leading blanks of SVG text
    const width = textWidth(text, font);
    context.font = font;
    context.fillStyle = ink ?? (role === "note" ? look.theme.dim : look.theme.text);
    context.fillText(shown, left + width - textWidth(shown, font), y);
    left += width;
  }
}

const isHidden = (edge, look) => (edge.control && look.hideControl) || (edge.handles && look.hideHandles);

// Draws each line once, even if several edges share it: in the style of the edge that owns it (see
// sharedLines) or, if that is hidden, of the first other one that is not. Draws control edges
// first, and highlighted edges last, on top.
function drawEdges(context, frame, look, visible, x, y) {
  const drawn = new Set(), list = [];
  frame.edges.forEach((entry, i) => {
    const line = entry.under ?? i, isFirst = line === i || isHidden(frame.edges[line].edge, look);
    if (isHidden(entry.edge, look) || !isFirst || drawn.has(line)) return;
    drawn.add(line);
    if (isSeen(entry.points, visible, x, y)) list.push({...entry, lit: isLit(frame, entry.edge, look)});
  });
  const height = ({edge, lit}) => (lit ? 2 : edge.control ? 0 : 1);
  for (const entry of list.sort((a, b) => height(a) - height(b))) drawEdge(context, frame, entry, look, x, y);
}

function isSeen(points, {x0, y0, x1, y1}, x, y) {
  const [xs, ys] = [points.map((point) => point[0] + x), points.map((point) => point[1] + y)];
  return Math.min(...xs) <= x1 && Math.max(...xs) >= x0 && Math.min(...ys) <= y1 && Math.max(...ys) >= y0;
}

function drawEdge(context, frame, {edge, points, rise, lit}, look, x, y) {
  const {theme} = look, crosses = look.byDevice && crossesDevices(frame, edge);
  context.strokeStyle = lit ? theme["accent-edge"] : edge.missing ? theme.bad : crosses || edge.call
    ? theme.function : edge.control ? theme.control : theme.edge;
  context.lineWidth = (lit || crosses ? 2 : 1) * (edge.control ? 1 : 1 + Math.min(3, Math.log2(edge.count)));
  context.setLineDash(edge.call ? [2, 4] : edge.control ? [4, 4] : edge.through ? [9, 5] : []);
  context.begin?.(edge.tip);
  context.beginPath();
  trace(context, points, x, y);
  context.stroke();
  context.setLineDash([]);
  if (edge.to < frame.boxes.length && (!frame.boxes[edge.to].inner?.tops || edge.call)) {
    drawArrow(context, points, x, y);
  }
  if (rise !== undefined) drawRise(context, points[rise], points[rise + 1], x, y);
  context.end?.();
}

// Adds a line to the context's path. The line turns at right angles, with rounded corners.
function trace(context, points, x, y) {
  const length = (i) => Math.abs(points[i][0] - points[i - 1][0]) + Math.abs(points[i][1] - points[i - 1][1]);
  context.moveTo(points[0][0] + x, points[0][1] + y);
  for (let i = 1; i + 1 < points.length; ++i) {
    const [px, py] = points[i], toward = (other, by, whole) => [px + ((other[0] - px) * by) / whole + x,
      py + ((other[1] - py) * by) / whole + y];
    const [before, behind] = [length(i), length(i + 1)], radius = Math.min(CORNER, before / 2, behind / 2);
    context.lineTo(...toward(points[i - 1], radius, before));
    context.quadraticCurveTo(px + x, py + y, ...toward(points[i + 1], radius, behind));
  }
  context.lineTo(points.at(-1)[0] + x, points.at(-1)[1] + y);
}

// True if each end of the edge is on one device, and the two devices differ.
function crossesDevices(frame, edge) {
  const deviceOf = (item) => {
    const box = frame.view.boxes[item];
    if (!box) return undefined;
    const devices = box.kind === "op" ? [box.device] : Object.keys(box.devices ?? {});
    return devices.length === 1 ? devices[0] : undefined;
  };
  const [from, to] = [deviceOf(edge.from), deviceOf(edge.to)];
  return from !== undefined && to !== undefined && from !== to;
}

function isLit(frame, edge, look) {
  const key = (item) => (item < frame.boxes.length ? boxKey(frame.boxes[item]) : undefined);
  return look.selected !== undefined && (key(edge.from) === look.selected || key(edge.to) === look.selected);
}

function drawArrow(context, points, x, y) {
  const [[ax, ay], [bx, by]] = points.slice(-2), [dx, dy] = [Math.sign(bx - ax), Math.sign(by - ay)];
  context.fillStyle = context.strokeStyle;
  context.beginPath();
  context.moveTo(bx + x, by + y);
  context.lineTo(bx + x - 7 * dx - 4 * dy, by + y - 7 * dy - 4 * dx);
  context.lineTo(bx + x - 7 * dx + 4 * dy, by + y - 7 * dy + 4 * dx);
  context.fill();
}

// Draws an arrow in the middle of a segment that runs against the flow, between columns.
function drawRise(context, from, to, x, y) {
  const tip = [0, 1].map((i) => (from[i] + to[i]) / 2 + 4 * Math.sign(to[i] - from[i]));
  drawArrow(context, [from, tip], x, y);
}

function drawLabels(context, frame, look, visible, x, y) {
  if (look.zoom < LABELS_FROM) return;
  context.font = LABEL_FONT;
  context.textAlign = "left";
  for (const {edge, label} of frame.edges) {
    if (!label || isHidden(edge, look)) continue;
    const text = look.hideShapes ? label.words.short : label.words.full;
    const [lx, ly] = [label.x + x, label.y + y];
    if (!text || !isSeen([[lx, ly - HEAD], [lx + label.w, ly]], visible, 0, 0)) continue;
    outlined(context, text, lx, ly, look, 3);
    context.fillStyle = look.theme.dim;
    context.fillText(text, lx, ly);
  }
}

export const SEVERAL = 4;  // index of the fill for scopes with marks of several kinds
// Returns the index of a kind's fill.
export const fillOfKind = (kind) => (kind < SEVERAL ? kind : kind + 1);

export function markFill(box, theme) {
  const kinds = (box.marks ?? []).flatMap((count, i) => (count > 0 ? [i] : []));
  return kinds.length === 0 ? undefined : theme.marks[kinds.length === 1 ? fillOfKind(kinds[0]) : SEVERAL];
}
