// Makes nested frames of the open scopes and functions of a graph. An instance is a body reached by
// one chain of calls: main is "0", the second function that node 45 of main calls is "0>n45.1". So
// a function that is called twice, or is recursive, can be open in one instance and closed in
// another.

import {boxLines, canOpen, isColumn, noteLine} from "./box_lines.js";
import {HIDDEN} from "./filter.js";
import {farKeys, filteredView} from "./filtered_view.js";
import {functionFrames, layOut, openKey, scopeFrame} from "./frames.js";
import {connectivityIn} from "./scope_connectivity.js";

const DEEPEST = 40;

// Loads the views of a scope and of all scopes and functions that are open in it into `views`, by
// `${body}/${scope}`, where "" is the outermost scope. `filter` hides nodes (filter.js); `alive` is
// that of filtered_view.js.
async function load({source, open, views, filter}, body, scope, instance, depth, alive = undefined) {
  const key = `${body}/${scope ?? ""}`;
  if (!views.has(key)) {
    const [whole, hidden] = await Promise.all([source.scope(body, scope), filter?.of(source, body)]);
    const isOpen = (box) => canOpen(box) && open.has(openKey(instance, box));
    const view = hidden ? await seenOf(source, body, whole.view, {hidden, alive, isOpen}) : whole.view;
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

async function seenOf(source, body, view, how) {
  const connectivity = await connectivityIn(source, body, view, (box) => how.hidden.of(box) === HIDDEN);
  return filteredView(view, {...how, connectivity});
}

// Returns the frames in a box, with positions relative to the box's upper left corner; undefined if
// the box is closed or nested too deeply.
function innerFrames(all, body, instance, box, depth) {
  if (depth > DEEPEST || !canOpen(box) || !all.open.has(openKey(instance, box))) return undefined;
  if (box.kind === "scope") return scopeFrame(makeFrame(all, body, box.scope, instance, depth + 1));
  const called = box.calls.map((call, i) => ({role: call.role, name: call.name,
    frame: makeFrame(all, call.body, undefined, `${instance}>n${box.id}.${i}`, depth + 1)}));
  return functionFrames(called.filter(({frame}) => frame));
}

// Identifies the boxes of a view, also if it is filtered anew.
const shapeOf = (view) => view.boxes.map(({key}) => key).join();

// Returns the frame of a scope. `all`: {views, open, notes, columns, room}, from composeFrames.
function makeFrame(all, body, scope, instance, depth) {
  const view = all.views.get(`${body}/${scope ?? ""}`);
  if (!view) return undefined;
  const inners = view.boxes.map((box) => innerFrames(all, body, instance, box, depth));
  const lines = view.boxLines.map((own, i) => {
    const note = all.notes?.(body, view.boxes[i]);
    return note === undefined ? own : [...own, noteLine(note)];
  });
  const shape = depth === 0 ? shapeOf(view) : undefined;
  const columns = shape !== undefined && all.columns?.shape === shape ? all.columns.first : undefined;
  const room = depth === 0 ? all.room : undefined;
  const frame = layOut(view, lines, inners, {head: depth > 0, columns, room});
  const boxes = frame.boxes.map((placed) => ({...placed, body, instance}));
  return {...frame, boxes, body, scope: view.scope, instance, columns: {shape, first: frame.columns}};
}

// Promises the frame of a body with the open scopes and functions in it. `open` is a set of keys
// from openKey; notes(body, box), if given, returns an additional note of a box. The columns of the
// frame are those of `columns`, the `columns` of an earlier frame, if that has the same boxes, else
// such that the frame fits `room` (layOut).
export async function composeFrames({source, open, filter, notes, columns, room}, body, instance) {
  const views = new Map();
  await load({source, open, views, filter}, body, undefined, instance, 0);
  return makeFrame({views, open, notes, columns, room}, body, undefined, instance, 0);
}

// If a body that the model's document does not open shows only its arguments, its results and one
// scope, opens this scope and returns true.
export function openLone(view, instance, body) {
  const boxes = view.boxes.filter((box) => box.instance === instance), {size} = view.open;
  const scopes = boxes.filter(({box}) => box.kind === "scope");
  const isLone = scopes.length === 1 && boxes.every(({box}) => box.kind === "scope" || box.isEnd);
  if (isLone && !view.first.has(body)) view.open.add(openKey(instance, scopes[0].box));
  return view.open.size > size;
}
