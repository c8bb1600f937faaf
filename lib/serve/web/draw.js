// Paints frames on a canvas. Colours come from the style sheet, so that both themes have theirs.

import {canOpen, FONT, LINE, lineWidth, textWidth} from "./frames.js";
import {HEAD} from "./layout.js";

const SMALLEST_TEXT = 5;  // pixels on the screen; below, text is noise
const LABELS_FROM = 0.55;  // zoom
const RADIUS = 6;

export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const names = ["canvas", "frame", "frame-2", "frame-line", "text", "dim", "edge", "control", "accent",
    "accent-edge",
                 "box-line", "neutral", "function"];
  const theme = {};
  for (const name of names) theme[name] = style.getPropertyValue(`--${name}`).trim();
  theme.fills = Array.from({length: 10}, (_, i) => style.getPropertyValue(`--fill-${i}`).trim());
  theme.marks = Array.from({length: 5}, (_, i) => style.getPropertyValue(`--mark-${i}`).trim());
  return theme;
}

// `look`: {theme, zoom, fillOf(placed), selected: key or undefined, lit: set of keys, hideControl,
// hideHandles, hideShapes}.
// `visible`: {x0, y0, x1, y1} in the frame's coordinates.
export function drawFrame(context, frame, look, visible, x = 0, y = 0, depth = 0) {
  const inside = (bx, by, w, h) => bx < visible.x1 && bx + w > visible.x0 && by < visible.y1
    && by + h > visible.y0;
  if (!inside(x, y, frame.w, frame.h)) return;
  for (const placed of frame.boxes) {
    const bx = x + placed.x, by = y + placed.y;
    if (!placed.inner || !inside(bx, by, placed.w, placed.h)) continue;
    drawOpened(context, placed, look, bx, by, depth);
    for (const inner of placed.inner.frames) {
      if (inner.isFunction) drawFunctionFrame(context, inner, look, bx + inner.x, by + inner.y);
      drawFrame(context, inner, look, visible, bx + inner.x, by + inner.y, depth + 1);
    }
  }
  for (const {edge, points} of frame.edges) drawEdge(context, frame, edge, points, look, visible, x, y);
  for (const placed of frame.boxes) {
    const bx = x + placed.x, by = y + placed.y;
    if (!placed.inner && inside(bx, by, placed.w, placed.h)) drawBox(context, placed, look, bx, by);
  }
}

export const boxKey = (placed) => `${placed.instance}|${placed.box.key}`;

function roundRect(context, x, y, w, h, radius) {
  context.beginPath();
  context.roundRect(x, y, w, h, radius);
}

function outline(context, placed, look, fallback) {
  const key = boxKey(placed);
  const chosen = look.selected === key;
  context.lineWidth = chosen ? 3 / Math.min(1, look.zoom) : look.lit.has(key) ? 2 : 1;
  context.strokeStyle = chosen || look.lit.has(key) ? look.theme.accent : fallback;
  context.stroke();
}

function drawTitle(context, text, marker, look, x, y, w) {
  if (13 * look.zoom < SMALLEST_TEXT) return;
  context.font = `600 13px ${FONT}`;
  context.fillStyle = look.theme.text;
  context.textAlign = "left";
  context.save();
  context.beginPath();
  context.rect(x, y, w, HEAD);
  context.clip();
  context.fillText(`${marker} ${text}`, x + 10, y + 19);
  context.restore();
}

function drawOpened(context, placed, look, x, y, depth) {
  roundRect(context, x, y, placed.w, placed.h, RADIUS);
  context.fillStyle = depth % 2 === 0 ? look.theme.frame : look.theme["frame-2"];
  context.fill();
  outline(context, placed, look, look.theme["frame-line"]);
  const {box} = placed;
  drawTitle(context, box.kind === "scope" ? box.name : `${box.op} \u2013 ${box.name}`, "\u25be", look, x, y,
    placed.w);
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
  drawTitle(context, frame.title, "\u0192", look, x, y, frame.w);
}

function drawBox(context, placed, look, x, y) {
  const {box, lines, w, h} = placed;
  const round = box.input || box.output ? h / 2 : box.kind === "scope" ? 3 : RADIUS;
  if (box.kind === "scope") {  // a stack of sheets: there is more inside
    context.strokeStyle = look.theme["box-line"];
    context.lineWidth = 1;
    roundRect(context, x + 4, y + 4, w, h, round);
    context.fillStyle = look.theme.neutral;
    context.fill();
    context.stroke();
  }
  roundRect(context, x, y, w, h, Math.min(round, 16));
  context.fillStyle = look.fillOf(placed) ?? look.theme.neutral;
  if (box.marks || look.glows?.(placed)) {  // what a reader looks for glows
    context.shadowColor = context.fillStyle;
    context.shadowBlur = 18;
  }
  context.fill();
  context.shadowBlur = 0;
  outline(context, placed, look, look.theme["box-line"]);
  if (13 * look.zoom < SMALLEST_TEXT) return;
  context.textAlign = "left";
  lines.forEach((parts, i) => {
    const marker = i === 0 && canOpen(box) ? [{...parts[0], text: "\u25b8 "}] : [];
    const line = [...marker, ...parts];
    let left = x + (w - lineWidth(line)) / 2;
    for (const {text, font, role} of line) {
      context.font = font;
      context.fillStyle = role === "note" ? look.theme.dim : look.theme.text;
      context.fillText(text, left, y + LINE + i * LINE);
      left += textWidth(text, font);
    }
  });
}

function drawEdge(context, frame, edge, points, look, visible, x, y) {
  if ((edge.control && look.hideControl) || (edge.handles && look.hideHandles)) return;
  const [first, last] = [points[0], points.at(-1)];
  const x0 = Math.min(...points.map((p) => p[0])) + x, x1 = Math.max(...points.map((p) => p[0])) + x;
  if (x1 < visible.x0 || x0 > visible.x1 || last[1] + y < visible.y0 || first[1] + y > visible.y1) return;
  const lit = isLit(frame, edge, look);
  const crosses = look.byDevice && crossesDevices(frame, edge);
  context.strokeStyle = lit ? look.theme["accent-edge"] : crosses ? look.theme.function : edge.control
    ? look.theme.control : look.theme.edge;
  context.lineWidth = (lit || crosses ? 2 : 1) * (edge.control ? 1 : 1 + Math.min(3, Math.log2(edge.count)));
  context.setLineDash(edge.control ? [4, 4] : edge.through ? [9, 5] : []);
  context.beginPath();
  context.moveTo(first[0] + x, first[1] + y);
  for (let i = 1; i < points.length; ++i) {
    const [ax, ay] = points[i - 1], [bx, by] = points[i], middle = (ay + by) / 2 + y;
    if (Math.abs(ax - bx) < 0.5) context.lineTo(bx + x, by + y);
    else context.bezierCurveTo(ax + x, middle, bx + x, middle, bx + x, by + y);
  }
  context.stroke();
  context.setLineDash([]);
  const boxes = frame.view.boxes.length;
  if (edge.up ? edge.to < boxes : edge.to < boxes && !frame.boxes[edge.to].inner?.tops) drawArrow(context,
    edge, points, x, y);
  const opened = edge.to < boxes && frame.boxes[edge.to].inner?.tops;  // there the label is inside
  if (look.zoom >= LABELS_FROM && !opened) drawLabel(context, edge, points, look, x, y);
}

// Both ends are on one device each, and not on the same.
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

function drawArrow(context, edge, points, x, y) {
  const [tx, ty] = edge.up ? points[0] : points.at(-1);
  const d = edge.up ? 1 : -1;
  context.fillStyle = context.strokeStyle;
  context.beginPath();
  context.moveTo(tx + x, ty + y);
  context.lineTo(tx + x - 4, ty + y + 7 * d);
  context.lineTo(tx + x + 4, ty + y + 7 * d);
  context.fill();
}

function drawLabel(context, edge, points, look, x, y) {
  const count = edge.count > 1 ? `\u00d7${edge.count}` : "";
  const text = [look.hideShapes ? "" : edge.label, count].filter(Boolean).join(" ");
  if (!text || edge.control || points.length < 2) return;
  const [ax, ay] = points.at(-2), [bx, by] = points.at(-1);
  context.font = `11px ${FONT}`;
  context.textAlign = "left";
  const lx = ax + (bx - ax) * 0.6 + x + 4, ly = ay + (by - ay) * 0.6 + y + 4;
  const width = textWidth(text, context.font);
  const hits = look.labels.some((other) => lx < other.x + other.width && lx + width > other.x
    && Math.abs(ly - other.y) < 12);
  if (hits) return;
  look.labels.push({x: lx, y: ly, width});
  context.lineWidth = 3;
  context.strokeStyle = look.theme.canvas;
  context.strokeText(text, lx, ly);
  context.fillStyle = look.theme.dim;
  context.fillText(text, lx, ly);
}

export const SEVERAL = 4;  // the fill of a scope with marks of several kinds

export function markFill(box, theme) {
  const kinds = (box.marks ?? []).flatMap((count, i) => (count > 0 ? [i] : []));
  return kinds.length === 0 ? undefined : theme.marks[kinds.length === 1 ? kinds[0] : SEVERAL];
}
