// The text in a closed box, and the size that the box needs for its text.

import {grouped} from "./numbers.js";
import {FONT, lettersWithin, lineWidth, shortened, textWidth} from "./text_width.js";

export const LINE = 17;
const BOX_PAD = 8, LINES_PAD = 7, WIDEST = 230, WIDEST_ALONE = 420, LEAST_WIDTH = 40, MOST_LINES = 3;

// Rounds a size up to an even number, so that centers are whole numbers and lines between centers
// are straight.
export const even = (size) => 2 * Math.ceil(size / 2);

export const TITLE = `600 13px ${FONT}`;
const NAME = `13px ${FONT}`, NOTE = `13px ${FONT}`;
export const MARKER = "\u25b8 ";  // precedes the title of a box that can be opened

export const canOpen = (box) => box.kind === "scope" || (box.calls?.length ?? 0) > 0;

// Where text may be broken: after / _ , ; or a blank. A piece that does not fit a line may also be
// broken before a capital: Read|Variable|Op.
const PIECES = /(?<=[/_,; ])(?!\u00a0)/u, WORDS = /(?<=[a-z0-9])(?=[A-Z])/u;

// Breaks text into lines no wider than `widest`, between pieces or words if possible.
export function broken(text, font, widest) {
  const lines = [];
  let line = "";
  const fits = (piece) => textWidth(piece.trimEnd(), font) <= widest;
  const pieces = text.split(PIECES).flatMap((piece) => (fits(piece) ? [piece] : piece.split(WORDS)));
  for (const piece of pieces) {
    if (line && !fits(line + piece)) {
      lines.push(line.trim());
      line = "";
    }
    line += piece;
    while (!fits(line)) {
      const letters = [...line], count = Math.max(1, lettersWithin(letters, font, widest));
      lines.push(letters.slice(0, count).join(""));
      line = letters.slice(count).join("");
    }
  }
  if (line.trim()) lines.push(line.trim());
  return lines;
}

// Breaks text into at most three lines; removes the middle of longer text.
export function wrap(text, font, widest) {
  if (textWidth(text, font) <= widest) return [text];
  const most = Math.ceil((MOST_LINES * widest * 4) / Number.parseInt(/[\d.]+(?=px)/u.exec(font)[0], 10));
  const letters = [...text];  // few letters are narrower than a quarter of the font size
  const start = letters.length <= 2 * most ? text
    : `${letters.slice(0, most).join("")}\u2026${letters.slice(-most).join("")}`;
  const fits = (shorter) => broken(shorter, font, widest).length <= MOST_LINES;
  return broken(shortened(start, fits), font, widest);
}

// Matches a list of counted kinds, "2 Conv2D, 1 Relu, ...". When such a list is broken into lines,
// a number stays with its kind, and no line is only an ellipsis.
const KINDS = /^(?:\d[\d,]* \S+, )*(?:\d[\d,]* \S+|\u2026)$/u;
const held = (kinds) => kinds.replace(/(\d) (?=\S)| (?=\u2026$)/gu, "$1\u00a0");

function noteLines(note, widest) {
  if (!KINDS.test(note)) return wrap(note, NOTE, widest);
  return wrap(held(note), NOTE, widest).map((line) => line.replaceAll("\u00a0", " "));
}

// Returns up to `most` lines: the number of ops in a scope, and as many kinds of ops as fit.
function kindLines(ops, kinds, widest, most) {
  const names = kinds.split(", "), all = names.at(-1) !== "\u2026";
  if (!all) names.pop();
  for (let kept = names.length; ; --kept) {
    const listed = held(names.slice(0, kept).join(", "));
    const rest = all && kept === names.length ? "" : ",\u00a0\u2026";
    const size = `${grouped(ops)} ${ops === 1 ? "op" : "ops"}`;
    if (kept <= 0) return [size];
    const lines = wrap(`${size}: ${listed}${rest}`, NOTE, widest);
    if (lines.length <= most) return lines.map((line) => line.replaceAll("\u00a0", " "));
  }
}

// True if no layer has more than two boxes. Then boxes may be wide, so that text that otherwise
// takes two lines fits on one.
export function isColumn(view) {
  return view.layers.every((layer) => layer.filter((item) => item < view.boxes.length).length <= 2);
}

// Returns the lines of text in a box. Each line is a list of parts side by side: {text, font,
// role}. `markKinds`: the names of the kinds of marks on nodes, such as "added".
export function boxLines(box, markKinds, column) {
  const lines = [], widest = column ? WIDEST_ALONE : WIDEST;
  const addLine = (text, font, role) => lines.push([{text, font, role}]);
  const add = (text, font, role) => wrap(text, font, widest).forEach((line) => addLine(line, font, role));
  const addTitle = (title, more) => {
    add(title, TITLE, "title");
    if (!more || more === title) return;
    const name = {text: `  ${more}`, font: NAME, role: "name"};
    const together = column && lines.length === 1 && textWidth(title, TITLE) +
      textWidth(name.text, NAME) <= widest;
    if (together) lines[0].push(name);
    else add(more, NAME, "name");
  };
  if (box.kind === "scope") {
    addTitle(box.name || "(top)", box.className);
    const [kinds, ...others] = box.notes ?? [];
    // Among boxes that stand one below the other, one line if it has room for a kind, and no wider
    // than needed: then the boxes also have room side by side, in columns.
    const room = column ? Math.max(WIDEST, lineWidth(lines[0])) : widest;
    const few = column ? kindLines(box.ops, kinds ?? "", room, 1) : [];
    const all = few[0]?.includes(":") ? few : kindLines(box.ops, kinds ?? "", room, 2);
    for (const line of all) addLine(line, NOTE, "note");
    for (const note of others) add(note, NOTE, "note");
  } else {
    addTitle(...box.layer ? [box.layer, box.op] : [box.op, box.name]);
  }
  if (box.kind !== "scope") {
    const noted = (box.notes ?? []).flatMap((note) => noteLines(note, widest));
    for (const line of noted) addLine(line, NOTE, "note");
  }
  if (box.kind === "scope" && box.marks) {
    add(box.marks.map((count, i) => (count > 0 ? `${count} ${markKinds[i]}` : "")).filter(Boolean).join(", "),
      NAME, "name");
  }
  return lines;
}

// Returns a box's line for a note that the user turned on, such as the FLOPs.
export const noteLine = (text) => [{text, font: NOTE, role: "note"}];

export function closedBox(box, lines) {
  const marker = canOpen(box) && !box.fixed ? textWidth(MARKER, TITLE) : 0;
  const w = Math.max(LEAST_WIDTH, ...lines.map((line, i) => lineWidth(line) + (i === 0 ? marker : 0)));
  return {w: even(w + 2 * BOX_PAD), h: even(lines.length * LINE + LINES_PAD)};
}
