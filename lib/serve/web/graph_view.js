// The canvas of a graph: open scopes, viewport, selected box; mouse, touch and keys.

import {canOpen, MARKER, TITLE} from "./box_lines.js";
import {drawFrame, makeTheme} from "./draw.js";
import {allBoxes, boxKey, openKey} from "./frames.js";
import {LEGIBLE, MARGIN, refit, showMarked, startAtTop, TOO_SMALL, windowSize} from "./viewport.js";
import {composeFrames, openLone} from "./opened.js";
import {listenToPointer} from "./pointer.js";
import {lineWidth, textWidth} from "./text_width.js";

const SMALLEST = 0.02, LARGEST = 3;
const LARGEST_WHOLE = 1.4;  // a small picture is not made larger than this to fill the canvas
const FEWEST = 9;  // the least number of boxes to keep in a first picture
const TITLE_HEIGHT = 26;  // in units of the picture

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  return makeTheme((name) => style.getPropertyValue(`--${name}`).trim());
}

// Dispatches events: "select" {box: undefined if none is selected}, "toggle" {box, open}, "change"
// (of the open boxes or the body), "error" {error}.
export class GraphView extends EventTarget {
  constructor(canvas) {
    super();
    this.canvas = canvas;
    this.look = {theme: readTheme(), zoom: 1, fillOf: () => undefined, lit: new Set(), hideControl: false};
    this.at = {x: 0, y: 0, zoom: 1};
    this.boxes = [];
    this.open = new Set();
    this.body = 0;
    this.listen();
  }

  // Sets another graph; show() then shows it.
  setModel(source, summary) {
    this.shows = (this.shows ?? 0) + 1;
    this.source = source;
    this.summary = summary;
    this.open = new Set();
    this.first = new Map();
    this.seen = new Set();
    this.body = this.home;
    this.columns = undefined;
    this.chosen = undefined;
    this.look.selected = undefined;
    this.notes = this.notesKey = undefined;
    for (const {body, scopes, calls} of summary.open ?? []) this.first.set(body, {scopes, calls});
    this.openAsFirst(String(this.home), this.home);
  }

  // The body that is shown first: the one that the model's document names, else main.
  get home() { return this.summary?.first ?? 0; }

  // Opens the scopes that the model's document lists as initially open in a body, and the boxes
  // that call initially open functions.
  openAsFirst(instance, body) {
    const first = this.first.get(body);
    if (!first) return;
    for (const scope of first.scopes) this.open.add(`${instance}|${scope}`);
    for (const caller of first.calls) this.open.add(`${instance}>n${caller}`);
  }

  // Opens only the boxes with these keys, before `body` is shown; see openCalledFirst.
  restore(keys, body) {
    [this.open, this.seen] = [new Set(keys), new Set([...keys, String(body)])];
  }

  get instance() { return String(this.body); }

  // Shows a body. `fold`: closes open boxes again, as far as needed for readable text (foldToFit).
  async show(body, fold = true) {
    // isOver() is true once a later call of show() has superseded this one.
    const show = (this.shows += 1), isOver = () => show !== this.shows;
    this.body = body;
    this.columns = undefined;
    this.select(undefined);
    const isOpen = this.seen.has(String(body)) || [...this.open].some((key) => key.startsWith(`${body}|`));
    if (body !== this.home && !isOpen) this.openAsFirst(String(body), body);
    await this.update();
    if (body !== this.home && !isOpen && openLone(this, String(body), body)) await this.update();
    if (fold && !isOver()) await this.foldToFit(isOver);
    if (!isOver()) this.see();
  }

  // Zooms to the whole picture or, if that is too small to read, to its beginning or to marked
  // nodes.
  see() {
    this.fit();
    if (!this.frame || this.at.zoom >= TOO_SMALL) return;
    startAtTop(this);
    showMarked(this);
    this.begun = {...this.at};
  }

  // Closes the tallest of the innermost open boxes, one after the other, until all text is readable
  // or fewer than FEWEST boxes would be left.
  async foldToFit(isOver) {
    for (let turn = 0; turn < 40 && !isOver() && this.frame && this.zoomToFit() < LEGIBLE; ++turn) {
      if (this.columns && this.chosenFor !== this.size().join()) {  // the canvas has become another size
        this.columns = undefined;
        await this.update();
        continue;
      }
      const innermost = this.boxes.filter((box) => box.inner && !this.boxes.some((other) => other.inner
        && other.parent?.placed === box.placed));
      const counted = (box) => this.boxes.filter((other) =>
        !other.inner).length - this.boxes.filter((other) => other.parent?.placed === box.placed).length + 1;
      const closable = innermost.filter((box) => counted(box) >= FEWEST).sort((a, b) => b.h - a.h);
      if (closable.length === 0) return;
      this.open.delete(openKey(closable[0].instance, closable[0].box));
      this.columns = undefined;
      await this.update();
    }
  }

  // Returns the paths of the open scopes, which another stage of the graph may have too.
  openPaths() {
    const scopes = this.boxes.filter((box) => box.inner && box.box.kind === "scope");
    return new Set(scopes.map((box) => box.box.path));
  }

  // Removes the keys in `open` of boxes that do not exist.
  keepKnownOpen() {
    const known = new Set(this.boxes.map((box) => openKey(box.instance, box.box)));
    this.open = new Set([...this.open].filter((key) => known.has(key)));
  }

  // Opens the scopes with these paths, as far as they exist.
  async openByPath(paths) {
    for (;;) {
      const closed = this.boxes.filter((box) => !box.inner && box.box.kind === "scope"
        && paths.has(box.box.path));
      if (closed.length === 0) return;
      for (const box of closed) this.open.add(openKey(box.instance, box.box));
      await this.update();
    }
  }

  // Loads the open scopes, lays them out and paints. `anchor`: the key of a box to keep at its
  // position.
  async update(anchor = undefined) {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const before = anchor && this.boxes.find((box) => boxKey(box) === anchor), {notes} = this;
    try {
      const frame = await composeFrames(this, this.body, this.instance);
      if (turn !== this.turn) return;
      if (notes !== this.notes) return await this.update(anchor);  // numbers came meanwhile
      this.frame = frame;
      if (!this.columns) [this.window, this.chosenFor] = [windowSize(), this.size().join()];
      this.columns = frame?.columns;
      this.boxes = [...allBoxes(frame)];
    } catch (error) {
      this.dispatchEvent(Object.assign(new Event("error"), {error}));
      return;
    }
    const after = before && this.boxes.find((box) => boxKey(box) === anchor);
    if (after) {
      this.at.x += (before.x + before.w / 2 - after.x - after.w / 2) * this.at.zoom;
      this.at.y += (before.y - after.y) * this.at.zoom;
    }
    if (this.openCalledFirst()) return this.update(anchor);
    this.paint();
    this.dispatchEvent(new Event("change"));
  }

  // When a function is opened for the first time, opens the scopes that are initially open in it.
  openCalledFirst() {
    let more = false;
    for (const {box, instance} of this.boxes) {
      const key = openKey(instance, box), {size} = this.open;
      if (!this.open.has(key) || box.kind === "scope" || this.seen.has(key)) continue;
      this.seen.add(key);
      box.calls.forEach(({body}, i) => {
        this.openAsFirst(`${key}.${i}`, body);
        openLone(this, `${key}.${i}`, body);
      });
      more ||= this.open.size > size;
    }
    return more;
  }

  toggle(placed) {
    if (!canOpen(placed.box)) return;
    const open = !this.open.has(openKey(placed.instance, placed.box));
    this.setOpen(placed, open);
    this.dispatchEvent(Object.assign(new Event("toggle"), {box: placed, open}));
  }

  setOpen(placed, open) {
    const key = openKey(placed.instance, placed.box);
    if (open) this.open.add(key);
    else this.open.delete(key);
    this.update(boxKey(placed)).then(() => this.keepInSight(boxKey(placed)));
  }

  closeAll() {
    this.open.clear();
    this.fitAnew();
  }

  select(placed) {
    this.chosen = placed;
    this.look.selected = placed && boxKey(placed);
    this.look.lit = new Set();
    this.paint();
    this.dispatchEvent(Object.assign(new Event("select"), {box: placed}));
  }

  // Opens the scopes around a node, selects the node, brings it into view and promises its box;
  // selects nothing if the node has no box. `around`: the scopes in the node's document;
  // `instance`: the open instance of the body to use, if any (opened.js). With the `key` "scope",
  // `id` is that of a scope.
  async reveal(body, id, around, {instance = undefined, key = "id"} = {}) {
    const inside = instance !== undefined && this.boxes.some((box) => box.instance === instance);
    if (!inside && body !== this.body) await this.show(body);
    const where = inside ? instance : this.instance;
    for (const scope of around) this.open.add(`${where}|${scope}`);
    await this.update();
    const found = this.boxes.find((box) => box.instance === where && box.box[key] === id);
    this.select(found);
    if (found) this.center(found);
    return found;
  }

  paint() {
    if (this.painting) return;
    this.painting = requestAnimationFrame(() => {
      this.painting = undefined;
      this.draw();
    });
  }

  draw() {
    const {canvas, at} = this;
    const ratio = devicePixelRatio || 1;
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
    }
    const context = canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.look.theme.canvas;
    context.fillRect(0, 0, canvas.width, canvas.height);
    if (!this.frame) return;
    context.setTransform(ratio * at.zoom, 0, 0, ratio * at.zoom, ratio * at.x, ratio * at.y);
    this.look.zoom = at.zoom;
    const visible = {x0: -at.x / at.zoom, y0: -at.y / at.zoom, x1: (w - at.x) / at.zoom,
      y1: (h - at.y) / at.zoom};
    this.look.labels = [];
    drawFrame(context, this.frame, this.look, visible);
    this.drawn = (this.drawn ?? 0) + 1;
  }

  // Returns the canvas's size; while another tab hides the canvas, its last size.
  size() {
    const {clientWidth: w, clientHeight: h} = this.canvas;
    if (w > 0 && h > 0) this.known = [w, h];
    return this.known ?? [w, h];
  }

  // The part of the canvas that a whole picture may fill, and the zoom from which it can be read.
  get room() {
    const [w, h] = this.size();
    return {w: w - 2 * MARGIN, h: h - 2 * MARGIN, readable: LEGIBLE};
  }

  // Returns the zoom at which a box or frame fits the canvas.
  fitting(box) {
    const {w, h} = this.room;
    return Math.min(w / box.w, h / box.h);
  }

  zoomToFit() { return Math.min(this.fitting(this.frame), LARGEST_WHOLE); }

  get isWhole() { return this.frame && Math.abs(this.at.zoom - this.zoomToFit()) < 0.001; }

  fit() {
    if (!this.frame) return;
    const [w, h] = this.size();
    this.at.zoom = Math.max(this.zoomToFit(), SMALLEST);
    this.at.x = (w - this.frame.w * this.at.zoom) / 2;
    this.at.y = Math.max((h - this.frame.h * this.at.zoom) / 2, 0);
    this.fitted = {...this.at};
    this.paint();
  }

  // Divides the picture into columns anew, and zooms to the whole of it.
  fitAnew() {
    this.columns = undefined;
    return this.update().then(() => this.fit());
  }

  // Divides the picture into columns anew, and shows it as at first.
  seeAnew() {
    this.columns = undefined;
    return this.update().then(() => this.see());
  }

  zoomBy(factor) { this.zoomAt(this.canvas.clientWidth / 2, this.canvas.clientHeight / 2, factor); }
  zoomAt(x, y, factor) {
    const zoom = Math.min(LARGEST, Math.max(SMALLEST, this.at.zoom * factor));
    this.at.x = x - ((x - this.at.x) * zoom) / this.at.zoom;
    this.at.y = y - ((y - this.at.y) * zoom) / this.at.zoom;
    this.at.zoom = zoom;
    this.paint();
  }

  center(placed) {
    this.at.zoom = Math.max(this.at.zoom, 0.8);
    const [w, h] = this.size();
    this.at.x = w / 2 - (placed.x + placed.w / 2) * this.at.zoom;
    this.at.y = h / 2 - (placed.y + Math.min(placed.h, 200) / 2) * this.at.zoom;
    this.paint();
  }

  keepInSight(key) {
    const box = this.boxes.find((other) => boxKey(other) === key);
    if (!box) return;
    if (this.isInSight(box)) return;
    this.moveTo(box, Math.min(this.at.zoom, Math.max(this.fitting(box), LEGIBLE)));
  }

  isInSight(box) {
    const [w, h] = this.size(), {x, y, zoom} = this.at;
    const left = box.x * zoom + x, top = box.y * zoom + y;
    return left >= 0 && top >= 0 && left + box.w * zoom <= w && top + box.h * zoom <= h;
  }

  // Moves the viewport to the middle of a box, or to its upper end if the box is too tall.
  moveTo(box, zoom) {
    const [w, h] = this.size();
    this.at.zoom = zoom;
    this.at.x = w / 2 - (box.x + box.w / 2) * zoom;
    this.at.y = box.h * zoom > h ? MARGIN - box.y * zoom : h / 2 - (box.y + box.h / 2) * zoom;
    this.paint();
  }

  // Returns the innermost box at a point of the canvas; undefined if there is none.
  boxAt(x, y) {
    const [fx, fy] = [(x - this.at.x) / this.at.zoom, (y - this.at.y) / this.at.zoom];
    let found;
    for (const box of this.boxes) {
      if (fx >= box.x && fx <= box.x + box.w && fy >= box.y && fy <= box.y + box.h) found = box;
    }
    return found;
  }

  listen() {
    listenToPointer(this);
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => refit(this)).observe(this.canvas);
  }

  themeChanged() {
    this.look.theme = readTheme();
    this.paint();
  }

  click(x, y) {
    const box = this.boxAt(x, y);
    this.select(box);
    if (box && this.onTriangle(box, (x - this.at.x) / this.at.zoom - box.x,
        (y - this.at.y) / this.at.zoom - box.y)) {
      this.toggledAt = performance.now();
      this.toggle(box);
    }
  }

  // True if x, y is on the triangle that opens and closes a box: it is left of the title, which is
  // in the middle of a closed box and at the edge of an open box.
  onTriangle(box, x, y) {
    if (!canOpen(box.box) || y > TITLE_HEIGHT) return false;
    if (box.inner) return x < TITLE_HEIGHT;
    const marker = textWidth(MARKER, TITLE), left = (box.w - lineWidth(box.lines[0]) - marker) / 2;
    return x > left - 6 && x < left + marker;
  }

  hover(event) {
    const box = this.boxAt(event.offsetX, event.offsetY);
    this.canvas.style.cursor = box ? "pointer" : "grab";
    this.canvas.title = box ? box.box.path || box.box.name : "";
  }

  key(event) {
    const pan = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (pan && this.chosen && !event.shiftKey) this.selectNext(...pan);
    else if (pan) {
      this.at.x -= pan[0] * 60;
      this.at.y -= pan[1] * 60;
      this.paint();
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.chosen) this.toggle(this.chosen);
      else if (this.boxes.length > 0) this.select(this.boxes[0]);
    } else if (event.key === "Escape" || event.key === "Backspace") {
      this.select(this.chosen?.parent);
    } else if (event.key === "+" || event.key === "=") this.zoomBy(1.25);
    else if (event.key === "-") this.zoomBy(0.8);
    else if (event.key === "f" || event.key === "0") this.fitAnew();
    else return;
    event.preventDefault();
  }

  // Selects the box nearest to the selected one in the direction dx, dy, if there is one. Distances
  // across this direction count more.
  selectNext(dx, dy) {
    const middle = (box) => [box.x + box.w / 2, box.y + (box.inner ? 14 : box.h / 2)];
    const [x, y] = middle(this.boxes.find((box) => boxKey(box) === boxKey(this.chosen)) ?? this.chosen);
    let best, least = Infinity;
    for (const box of this.boxes) {
      if (boxKey(box) === boxKey(this.chosen)) continue;
      const [bx, by] = middle(box);
      const ahead = (bx - x) * dx + (by - y) * dy, aside = Math.abs((bx - x) * dy) + Math.abs((by - y) * dx);
      const cost = ahead + 2.5 * aside;
      if (ahead <= 1 || cost >= least) continue;
      [best, least] = [box, cost];
    }
    if (!best) return;
    this.select(best);
    this.keepInSight(boxKey(best));
  }
}
