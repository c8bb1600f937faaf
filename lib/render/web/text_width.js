// Computes the width of text from a table, so that it is the same in every browser and without a
// browser.

import {WIDTHS} from "./font_widths.js";

export const FONT = '"DejaVu Sans", Verdana, "Segoe UI", system-ui, sans-serif';
// The widths of letters that are not in the table, in thousandths of the font size.
const OTHER = 640, WIDE = 1000, WIDE_FROM = 0x1100;

const tables = [false, true].map((bold) => {
  const table = new Map();
  for (const [first, plain, thick] of WIDTHS) {
    (bold ? thick : plain).forEach((width, i) => table.set(first + i, width));
  }
  return table;
});

const isMark = (code) => code >= 0x300 && code < 0x370;  // combines with the letter before it

function widthOf(letter, table) {
  const code = letter.codePointAt(0);
  return table.get(code) ?? (isMark(code) ? 0 : code >= WIDE_FROM ? WIDE : OTHER);
}

// Parses a font in a canvas's syntax, "600 13px ...", where a weight of 600 or more is bold.
function read(font) {
  const [, weight, size] = /^(?:(\d+) )?([\d.]+)px/u.exec(font);
  return {table: tables[Number(weight ?? 400) >= 600 ? 1 : 0], size: Number(size)};
}

export function textWidth(text, font) {
  const {table, size} = read(font);
  let sum = 0;
  for (const letter of text) sum += widthOf(letter, table);
  return (sum * size) / 1000;
}

// Returns the number of leading letters that fit into the width `widest`; blanks may exceed it.
export function lettersWithin(letters, font, widest) {
  const {table, size} = read(font);
  let sum = 0;
  const end = letters.findIndex((letter) => {
    sum += widthOf(letter, table);
    return (sum * size) / 1000 > widest && /\S/u.test(letter);
  });
  return end < 0 ? letters.length : end;
}

// Returns the width of a line, a list of parts side by side: {text, font}.
export const lineWidth = (parts) => parts.reduce((sum, {text, font}) => sum + textWidth(text, font), 0);

// Removes as much of the middle of a text as needed for fits(text), because names differ at their
// ends.
export function shortened(text, fits) {
  if (fits(text)) return text;
  const letters = [...text];
  const cut = (kept) => {
    const head = Math.ceil(kept / 2);
    return `${letters.slice(0, head).join("")}\u2026${letters.slice(letters.length - kept + head).join("")}`;
  };
  let [least, most] = [0, letters.length - 1];
  while (least < most) {
    const kept = Math.ceil((least + most) / 2);
    if (fits(cut(kept))) least = kept;
    else most = kept - 1;
  }
  return cut(least);
}
