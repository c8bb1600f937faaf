// Makes picture files from a document that lib/render/picture_views.cpp writes, or from the page's
// view.

import {boxLines, broken, isColumn, LINE} from "./box_lines.js";
import {drawFrame, makeTheme} from "./draw.js";
import {layOut, scopeFrame} from "./frames.js";
import {inkOnStrong} from "./ink.js";
import {SvgContext} from "./svg_context.js";
import {FONT, textWidth} from "./text_width.js";
import {layerPicture} from "./view_layers.js";

// Columns are chosen such that the picture fits the page's canvas in a window of 1280 x 800 pixels.
const ROOM = {w: 914, h: 586, readable: 0.85};
const MARGIN = 12, SWATCH_PAD = 8, SWATCH_GAP = 6, NARROWEST_HEADER = 620, WIDEST_HEADER = 1000;
const HEADING = `600 17px ${FONT}`, TEXT = `13px ${FONT}`, SMALL = `11px ${FONT}`;

// Returns the light theme of a style sheet, the first block of variables.
export function themeOf(css) {
  const block = /:root \{([^}]*)\}/u.exec(css)?.[1] ?? "";
  const values = new Map();
  for (const [, name, value] of block.matchAll(/--([\w-]+):\s*([^;]+);/gu)) values.set(name, value);
  return makeTheme((name) => values.get(name) ?? "");
}

function frameOf(views, index, direction) {
  const view = views[index], column = isColumn(view);
  const lines = view.boxes.map((box) => (box.frame === undefined ? boxLines(box, [], column) : undefined));
  const inners = view.boxes.map((box) => (box.frame === undefined ? undefined
    : scopeFrame(frameOf(views, box.frame, direction))));
  const around = index === 0 ? {head: false, room: ROOM} : {head: true};
  const frame = layOut(view, lines, inners, {direction, ...around});
  return {...frame, boxes: frame.boxes.map((placed) => ({...placed, instance: index}))};
}

// Returns the frame of a whole picture. `picture`: {title, header: [line], key, colors: {title,
// swatches: [{name, fill}]}, direction, views}; views[0] is the outermost scope, and an open box
// contains the index of its view.
export function layOutPicture(picture) {
  layerPicture(picture.views);
  return frameOf(picture.views, 0, picture.direction);
}

// Draws the picture on `context`, an SvgContext or a PaintContext, and returns the contents of the
// file that the context makes.
export function drawPicture(context, picture, css) {
  const look = {theme: themeOf(css), zoom: 1, lit: new Set(), fillOf: ({box}) => box.fill,
    inkOf: ({box}) => inkOnStrong(box.fill)};
  return documentOf(context, layOutPicture(picture), look, picture);
}

// Returns the frame as an SVG file. `words`: {title, header, key, colors}, the text above the
// frame.
export const svgOf = (frame, look, words) => documentOf(new SvgContext(), frame, look, words);

function documentOf(context, frame, look, words) {
  const [w, h] = paintPicture(context, frame, look, words);
  return context.document(w, h, FONT, look.theme.canvas, words.title ?? "");
}

export const sizeOfPicture = (frame, words) => {
  const [wide, top] = drawWords(new SvgContext(), {}, words, frame.w);
  return sizeOf(frame, wide, top);
};

// Paints `words` (the text above the frame) and the whole frame, with nothing selected; returns
// [width, height].
export function paintPicture(context, frame, look, words) {
  const whole = {...look, zoom: 1, selected: undefined, lit: new Set()};
  const [wide, top] = drawWords(context, whole.theme, words, frame.w);
  const left = MARGIN + Math.round(Math.max(0, wide - frame.w) / 2);
  drawFrame(context, frame, whole, {x0: -Infinity, y0: -Infinity, x1: Infinity, y1: Infinity}, left, top);
  return sizeOf(frame, wide, top);
}

const sizeOf = (frame, wide, top) => [Math.max(wide, frame.w) + 2 * MARGIN, top + frame.h + MARGIN];

// Breaks a list, "a; b; c", into lines. Breaks parts only if they do not fit a line.
function listLines(text, font, widest) {
  const lines = [];
  let line = "";
  for (const part of text.split(/(?<=; )/u)) {
    if (line && textWidth((line + part).trimEnd(), font) > widest) {
      lines.push(...broken(line, font, widest));
      line = "";
    }
    line += part;
  }
  return [...lines, ...broken(line, font, widest)];
}

// Draws the text above the frame, about as wide as the frame; returns its width, and the y at which the
// frame may begin.
function drawWords(context, theme, {title, header = [], key, colors}, room) {
  const widest = Math.min(WIDEST_HEADER, Math.max(NARROWEST_HEADER, room));
  let y = MARGIN, wide = 0;
  const write = (text, font, fill, height) => {
    y += height;
    Object.assign(context, {font, fillStyle: fill, textAlign: "left"});
    context.fillText(text, MARGIN, y - 4);
    wide = Math.max(wide, textWidth(text, font));
  };
  if (title) write(title, HEADING, theme.text, 22);
  for (const text of header.join("\n").replaceAll(";\n", "; ").split("\n"))
    for (const line of listLines(text, TEXT, widest)) write(line, TEXT, theme.text, LINE + 1);
  for (const line of key ? listLines(key, SMALL, widest) : []) write(line, SMALL, theme.dim, LINE);
  if (colors?.swatches.length > 0) {
    const row = drawSwatches(context, theme, colors, y + 6, widest);
    [wide, y] = [Math.max(wide, row.wide), row.y];
  }
  return [wide, y + (y > MARGIN ? 6 : 0)];
}

function drawSwatches(context, theme, {title, swatches}, top, widest) {
  let x = MARGIN, y = top, wide = 0;
  const begin = textWidth(title, SMALL) + 2 * SWATCH_GAP;
  Object.assign(context, {font: SMALL, fillStyle: theme.dim});
  context.fillText(title, x, y + 13);
  x += begin;
  for (const {name, fill} of swatches) {
    const w = textWidth(name, SMALL) + 2 * SWATCH_PAD;
    if (x + w > widest && x > MARGIN + begin) [x, y] = [MARGIN + begin, y + LINE + SWATCH_GAP];
    context.beginPath();
    context.roundRect(x, y, w, LINE + 1, 3);
    Object.assign(context, {fillStyle: fill, strokeStyle: theme["box-line"], lineWidth: 1});
    context.fill();
    context.stroke();
    Object.assign(context, {font: SMALL, fillStyle: theme.text});
    context.fillText(name, x + SWATCH_PAD, y + 13);
    x += w + SWATCH_GAP;
    wide = Math.max(wide, x - MARGIN);
  }
  return {wide, y: y + LINE + 8};
}

