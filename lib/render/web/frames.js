// Nested frames: a laid-out scope, and in its open boxes the frames of their contents.

import {closedBox, even, TITLE} from "./box_lines.js";
import {labelWidth, labelWords, placeLabels} from "./edge_labels.js";
import {chooseColumns, placeInColumns} from "./flow_columns.js";
import {placeScope} from "./layout.js";
import {CORNER, PORT_GAP} from "./routes.js";
import {shortened, textWidth} from "./text_width.js";
import {sharedLines} from "./wires.js";

export const HEAD = 28;  // height of a frame's title bar
const PAD = 16, FRAME_GAP = 16;
const TRIANGLE = 26, TITLE_END = 10, MOST_ROOM = 240;
const WIDEST_TITLE = 300;  // a longer one of a function makes no frame wider
const SIGHT = {w: 900, h: 620};  // what users see at once; functions are arranged to fit it
// Functions in the order in which they run, or in which people name them.
const ROLES = ["cond", "body", "then_branch", "else_branch"];

export const openKey = (instance, box) => (box.kind === "scope" ? `${instance}|${box.scope}`
  : `${instance}>n${box.id}`);
export const boxKey = (placed) => `${placed.instance}|${placed.box.key}`;
export const frameTitle = ({kind, op, name, layer, className}) => {
  if (kind === "scope") return className ? `${name} \u00b7 ${className}` : name;
  return layer ? `${layer} \u00b7 ${op}` : `${op} \u2013 ${name}`;
};
const fitting = (title, room) => shortened(title, (shorter) => textWidth(shorter, TITLE) <= room + 1);

// By direction of the data flow, functions that convert between the layout, in which data always
// flows down, and sizes and positions on the screen.
const turns = {
  down: {space: {top: HEAD, left: 0, bottom: 0}, size: ({w, h}) => ({w, h}), point: ([x, y]) => [x, y],
    corner: ({x, y}) => ({x, y})},
  up: {space: {top: 0, left: 0, bottom: HEAD}, size: ({w, h}) => ({w, h}), point: ([x, y], h) => [x, h - y],
    corner: ({x, y}, size, h) => ({x, y: h - y - size.h})},
  right: {space: {top: 0, left: HEAD - PAD, bottom: 0, labels: (width) => Math.min(width, 150) + 16},
    size: ({w, h}) => ({w: h, h: w}), point: ([x, y]) => [y, x], corner: ({x, y}) => ({x: y, y: x})},
};

// Returns the frame of a scope: {view, w, h, boxes, edges, tops, bottoms, columns}, with positions
// relative to its upper left corner. `lines[i]`: the text in box i; `inners[i]`: the frames in box i if
// it is open, or undefined; `head`: true for a frame with a title bar. `columns`: the layers at which
// further columns begin; or `room`: {w, h} that it should fit in a readable size (flow_columns.js).
export function layOut(view, lines, inners, {direction = "down", head = true, columns, room} = {}) {
  const turn = turns[direction], space = head ? turn.space : {...turn.space, top: 0, left: 0, bottom: 0};
  const under = sharedLines(view.edges), words = wordsOf(view.edges, under, inners);
  const sizes = view.boxes.map((box, i) =>
    (inners[i] ? withTitle(inners[i], box) : closedBox(box, lines[i])));
  makeRoomForLines(sizes, inners, view.edges, under, direction === "right" ? "h" : "w");
  const turned = sizes.map((size) => ({...size, ...turn.size(size)}));
  const all = [view, turned, {under, wide: words.map(labelWidth)}, space];
  const first = columns ?? (room ? chooseColumns(...all, {...room, ...turn.size(room)}) : []);
  const placed = first.length > 0 ? placeInColumns(...all, first) : placeScope(...all);
  const {w, h} = turn.size(placed);
  const boxes = view.boxes.map((box, i) => ({box, view, index: i, lines: lines[i], inner: inners[i],
    upwards: direction === "up", w: sizes[i].w, h: sizes[i].h,
    ...turn.corner(placed.boxes[i], sizes[i], h)}));
  const edges = view.edges.map((edge, i) => ({edge, under: under[i], words: words[i], rise: placed.rises?.[i],
    points: placed.lines[i].map((point) => turn.point(point, h))}));
  placeLabels(edges.filter((entry) => entry.under === undefined), boxes, w);
  for (const box of boxes) if (box.inner) box.head = headOf(box, direction);
  return {view, boxes, edges, w, h, tops: placed.tops, bottoms: placed.bottoms, columns: first};
}

function withTitle(inner, box) {
  const title = textWidth(frameTitle(box), TITLE) + TRIANGLE + TITLE_END;
  return {...inner, w: Math.max(inner.w, even(title))};
}

// Makes each closed box as wide, up to a limit, as the lines that arrive at it side by side need.
// `side` is "w", or "h" if data flows sideways.
function makeRoomForLines(sizes, inners, edges, under, side) {
  const counts = new Array(sizes.length).fill(0);
  edges.forEach(({to}, i) => {
    if (to < sizes.length && !inners[to] && under[i] === undefined) ++counts[to];
  });
  counts.forEach((count, i) => {
    const room = Math.min(MOST_ROOM, (count - 1) * PORT_GAP + 2 * CORNER);
    if (count > 1) sizes[i] = {...sizes[i], [side]: Math.max(sizes[i][side], even(room))};
  });
}

// Returns, by edge, the label of its line in this frame; undefined if the edge shares another
// edge's line, or the label is in another frame: in that of the open scope at which the line ends,
// or in the frame around this one if the line leaves it.
function wordsOf(edges, under, inners) {
  const twins = edges.map(() => []);
  edges.forEach((edge, i) => {
    if (under[i] !== undefined) twins[under[i]].push(edge);
  });
  return edges.map((edge, i) => {
    const ends = edge.to < inners.length && !inners[edge.to]?.tops;
    return under[i] === undefined && (ends || edge.call) ? labelWords(edge, twins[i]) : undefined;
  });
}

// Returns the place of an open box's title, {x, text, over}: between the lines that pass through
// the title bar, if there is room, else (`over`) on top of them.
function headOf({box, w, inner}, direction) {
  const first = box.fixed ? TITLE_END : TRIANGLE;  // boxes that cannot be closed show no triangle
  const text = fitting(frameTitle(box), w - first - TITLE_END);
  const lines = {down: inner.tops, up: inner.bottoms}[direction], width = textWidth(text, TITLE);
  let x = first;
  for (const line of [...lines?.values() ?? [], Infinity].sort((a, b) => a - b)) {
    if (x + width <= Math.min(line, w) - TITLE_END + 2) return {x, text, over: false};
    x = Math.max(x, line + TITLE_END);
  }
  return {x: first, text, over: true};
}

// Arranges the frames of the functions that one box calls, a list of {frame, role, name}, as the
// contents of the box; undefined if there are none. Each row has as many of them, side by side, as
// make all of them largest.
export function functionFrames(called) {
  const rank = ({role}) => ROLES.indexOf(role);
  const frames = [...called].sort((a, b) => rank(a) - rank(b)).map(({frame, role, name}) => {
    const title = role ? `${role}: ${name}` : name, room = textWidth(title, TITLE) + TRIANGLE + TITLE_END;
    const w = Math.max(frame.w, Math.min(even(room), WIDEST_TITLE));
    const text = fitting(title, w - TRIANGLE - TITLE_END);
    return {...frame, w, title, head: {x: TRIANGLE, text, over: false}, isFunction: true};
  });
  let best;
  for (let count = frames.length; count > 0; --count) {
    const rows = inRows(frames, count), scale = Math.min(SIGHT.w / rows.w, SIGHT.h / rows.h);
    if (!best || scale > best.scale) best = {rows, scale};
  }
  return best?.rows;
}

function inRows(frames, count) {
  const placed = [];
  let x = FRAME_GAP, y = HEAD + 6, w = 0, h = 0;
  frames.forEach((frame, i) => {
    if (i > 0 && i % count === 0) [x, y, h] = [FRAME_GAP, y + h + FRAME_GAP, 0];
    placed.push({...frame, x, y});
    x += frame.w + FRAME_GAP;
    w = Math.max(w, x);
    h = Math.max(h, frame.h);
  });
  return {frames: placed, w, h: y + h + FRAME_GAP};
}

// Returns a scope's frame as the contents of a box.
export const scopeFrame = (frame) => frame && {frames: [{...frame, x: 0, y: 0}], w: frame.w, h: frame.h,
  tops: frame.tops, bottoms: frame.bottoms};

// Yields all boxes with their positions in the outermost frame, each before the boxes inside it.
export function* allBoxes(frame, x = 0, y = 0, parent = undefined) {
  for (const placed of frame.boxes) {
    const here = {...placed, x: placed.x + x, y: placed.y + y, placed, parent};
    yield here;
    for (const inner of placed.inner?.frames ?? []) yield* allBoxes(inner, here.x + inner.x, here.y +
      inner.y, here);
  }
}

