// Opened scopes and called functions as frames in frames. An instance is a body as it is met: main
// is "0", the second function that node 45 calls there "0>n45.1", so a function that is called
// twice, or calls itself, can be open in one place and closed in another.

import {farKeys, filteredView} from "./filtered_view.js";
import {HEAD, placeScope} from "./layout.js";

export const FONT = '"DejaVu Sans", "Segoe UI", system-ui, sans-serif';
export const LINE = 17;
const BOX_PAD = 8, WIDEST = 230, WIDEST_ALONE = 420, DEEPEST = 40;
const FRAME_GAP = 16, ROW = 1100;  // functions of one op: side by side, as far as a row goes

const meter = document.createElement("canvas").getContext("2d");
const widths = new Map();

export function textWidth(text, font) {
  const key = `${font}|${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 20000) widths.clear();
    meter.font = font;
    widths.set(key, (width = meter.measureText(text).width));
  }
  return width;
}

export const lineWidth = (parts) => parts.reduce((sum, {text, font}) => sum + textWidth(text, font), 0);

const TITLE = `600 13px ${FONT}`, NAME = `13px ${FONT}`, NOTE = `13px ${FONT}`;

// Breaks after / and _ where it can; at most three lines, the middle of more is left out.
function wrap(text, font, widest) {
  if (textWidth(text, font) <= widest) return [text];
  const lines = [];
  let line = "";
  const flush = () => {
    if (line) lines.push(line.trim());
    line = "";
  };
  for (const piece of text.split(/(?<=[/_,; ])(?!\u00a0)/u)) {
    if (line && textWidth(line + piece, font) > widest) flush();
    line += piece;
    while (textWidth(line, font) > widest) {
      let fits = line.length;
      while (fits > 1 && textWidth(line.slice(0, fits), font) > widest) fits = Math.floor(fits * 0.9);
      lines.push(line.slice(0, fits));
      line = line.slice(fits);
    }
  }
  flush();
  return lines.length <= 3 ? lines : [lines[0], "\u2026", lines.at(-1)];
}

// How large a scope is, and as many of the kinds of its ops as go whole on two lines; a number stays with
// its kind.
function kindLines(ops, kinds, widest) {
  const names = kinds.split(", "), all = names.at(-1) !== "\u2026";
  if (!all) names.pop();
  for (let kept = names.length; ; --kept) {
    const listed = names.slice(0, kept).map((name) => name.replace(" ", "\u00a0")).join(", ");
    const rest = all && kept === names.length ? "" : ",\u00a0\u2026";
    const size = `${ops.toLocaleString("en-US")} ops`;
    if (kept <= 0) return [size];
    const lines = wrap(`${size}: ${listed}${rest}`, NOTE, widest);
    if (lines.length <= 2) return lines.map((line) => line.replaceAll("\u00a0", " "));
  }
}

export const canOpen = (box) => box.kind === "scope" || (box.calls?.length ?? 0) > 0;

export const openKey = (instance, box) => (box.kind === "scope" ? `${instance}|${box.scope}`
  : `${instance}>n${box.id}`);

// Where boxes stand one below the other they may be wide, and say on one line what takes two in others.
function isColumn(view) {
  return view.layers.every((layer) => layer.filter((item) => item < view.boxes.length).length <= 2);
}

// A line is parts side by side: {text, font, role}.
function boxLines(box, markKinds, column) {
  const lines = [], widest = column ? WIDEST_ALONE : WIDEST;
  const addLine = (text, font, role) => lines.push([{text, font, role}]);
  const add = (text, font, role) => wrap(text, font, widest).forEach((line) => addLine(line, font, role));
  if (box.kind === "scope") {
    add(box.name || "(top)", TITLE, "title");
    const [kinds, ...others] = box.notes ?? [];
    for (const line of kindLines(box.ops, kinds ?? "", widest)) addLine(line, NOTE, "note");
    for (const note of others) add(note, NOTE, "note");
  } else {
    add(box.op, TITLE, "title");
    const name = {text: `  ${box.name}`, font: NAME, role: "name"};
    const together = column && lines.length === 1 && textWidth(box.op, TITLE) +
      textWidth(name.text, NAME) <= widest;
    if (box.name !== box.op && together) lines[0].push(name);
    else if (box.name !== box.op) add(box.name, NAME, "name");
  }
  if (box.kind === "op") (box.notes ?? []).forEach((note) => add(note, NOTE, "note"));
  if (box.kind === "scope" && box.marks) {
    add(box.marks.map((count, i) => (count > 0 ? `${count} ${markKinds[i]}` : "")).filter(Boolean).join(", "),
      NAME, "name");
  }
  return lines;
}

function closedBox(box, lines) {
  const marker = canOpen(box) ? 16 : 0;
  const w = Math.max(56, ...lines.map((line, i) => lineWidth(line) + (i === 0 ? marker : 0)));
  return {w: Math.ceil(w + 2 * BOX_PAD), h: lines.length * LINE + BOX_PAD};
}

// Documents of everything that is open, by `${body}/${scope}`; "" is the outermost scope.
// `filter` hides some of it (filter.js); `alive` as filtered_view.js has it.
async function load({source, open, views, filter}, body, scope, instance, depth, alive = undefined) {
  const key = `${body}/${scope ?? ""}`;
  if (!views.has(key)) {
    const [whole, hidden] = await Promise.all([source.scope(body, scope), filter?.of(source, body)]);
    const view = hidden ? filteredView(whole.view, hidden, alive) : whole.view;
    const column = isColumn(view);
    view.boxLines ??= view.boxes.map((box) => boxLines(box, source.markKinds, column));
    views.set(key, view);
  }
  if (depth > DEEPEST) return;
  const inner = [];
  const view = views.get(key), all = {source, open, views, filter};
  view.boxes.forEach((box, index) => {
    if (!canOpen(box) || !open.has(openKey(instance, box))) return;
    if (box.kind === "scope") {
      const keys = filter?.on ? farKeys(view, index) : undefined;
      inner.push(load(all, body, box.scope, instance, depth + 1, keys));
    } else {
      box.calls.forEach((call, i) =>
        inner.push(load(all, call.body, undefined, `${instance}>n${box.id}.${i}`, depth + 1)));
    }
  });
  await Promise.all(inner);
}

// What is open inside a box, placed from its upper left corner.
function innerFrames(views, open, body, instance, box, depth) {
  if (depth > DEEPEST || !canOpen(box) || !open.has(openKey(instance, box))) return undefined;
  if (box.kind === "scope") {
    const frame = makeFrame(views, open, body, box.scope, instance, depth + 1);
    return frame && {frames: [{...frame, x: 0, y: 0}], w: frame.w, h: frame.h, tops: frame.tops,
      bottoms: frame.bottoms};
  }
  const frames = [];
  let x = FRAME_GAP, y = HEAD + 6, w = 0, h = 0;
  box.calls.forEach((call, i) => {
    const frame = makeFrame(views, open, call.body, undefined, `${instance}>n${box.id}.${i}`, depth + 1);
    if (!frame) return;
    if (x > FRAME_GAP && x + frame.w > ROW) [x, y, h] = [FRAME_GAP, y + h + FRAME_GAP, 0];
    frames.push({...frame, x, y, title: call.role ? `${call.role}: ${call.name}`
      : call.name, isFunction: true});
    x += frame.w + FRAME_GAP;
    w = Math.max(w, x);
    h = Math.max(h, frame.h);
  });
  const title = textWidth(`${box.op} ${box.name}`, TITLE) + 60;
  return frames.length === 0 ? undefined : {frames, w: Math.max(w, title), h: y + h + FRAME_GAP};
}

function makeFrame(views, open, body, scope, instance, depth) {
  const view = views.get(`${body}/${scope ?? ""}`);
  if (!view) return undefined;
  const inners = view.boxes.map((box) => innerFrames(views, open, body, instance, box, depth));
  const sizes = view.boxes.map((box, i) => {
    if (!inners[i]) return closedBox(box, view.boxLines[i]);
    const title = textWidth(box.name ?? "", TITLE) + 60;
    return {...inners[i], w: Math.max(inners[i].w, title)};
  });
  const placed = placeScope(view, sizes);
  const boxes = view.boxes.map((box, i) => ({
    box, body, instance, view, index: i, ...placed.boxes[i], w: sizes[i].w, h: sizes[i].h,
    lines: view.boxLines[i], inner: inners[i],
  }));
  return {body, scope: view.scope, instance, view, boxes, edges: placed.edges, w: placed.w, h: placed.h,
          tops: placed.tops, bottoms: placed.bottoms};
}

// The frame of a body with all that is open in it; `open` holds keys as openKey makes them.
export async function composeFrames(source, open, body, instance, filter) {
  const views = new Map();
  await load({source, open, views, filter}, body, undefined, instance, 0);
  return makeFrame(views, open, body, undefined, instance, 0);
}

// All boxes with their places in the outermost frame, outer ones first.
export function* allBoxes(frame, x = 0, y = 0, parent = undefined) {
  for (const placed of frame.boxes) {
    const here = {...placed, x: placed.x + x, y: placed.y + y, placed, parent};
    yield here;
    for (const inner of placed.inner?.frames ?? []) yield* allBoxes(inner, here.x + inner.x, here.y +
      inner.y, here);
  }
}
