// The width of text from a table: the same in every browser, and without one.

import {WIDTHS} from "./font_widths.js";

export const FONT = '"DejaVu Sans", Verdana, "Segoe UI", system-ui, sans-serif';
// Letters outside of the table; thousandths of the size.
const OTHER = 640, WIDE = 1000, WIDE_FROM = 0x1100;

const tables = [false, true].map((bold) => {
  const table = new Map();
  for (const [first, plain, thick] of WIDTHS) {
    (bold ? thick : plain).forEach((width, i) => table.set(first + i, width));
  }
  return table;
});

const isMark = (code) => code >= 0x300 && code < 0x370;  // combines with the previous letter

function widthOf(letter, table) {
  const code = letter.codePointAt(0);
  return table.get(code) ?? (isMark(code) ? 0 : code >= WIDE_FROM ? WIDE : OTHER);
}

// `font`: in a canvas's syntax, "600 13px ...": 600 and more is bold.
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

// The number of leading letters that fit into `widest`; trailing blanks take no room.
export function lettersWithin(letters, font, widest) {
  const {table, size} = read(font);
  let sum = 0;
  const end = letters.findIndex((letter) => {
    sum += widthOf(letter, table);
    return (sum * size) / 1000 > widest && /\S/u.test(letter);
  });
  return end < 0 ? letters.length : end;
}

// Parts of a line side by side: {text, font}.
export const lineWidth = (parts) => parts.reduce((sum, {text, font}) => sum + textWidth(text, font), 0);

// The text with enough of its middle removed to fit: names differ at their ends.
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
