// Makes from rows what the page shows: an opened scope, a node. `rows` in these functions is an
// AnswerRows (page_rows.js), or a FileRows of a page in a file: node(id), scope(id), text(kind,
// number), counts.

import {grouped} from "./numbers.js";

const opsText = (count) => `${grouped(count)} ${count === 1 ? "op" : "ops"}`;

// Returns a path relative to a scope's path, as the name of a box in the scope.
function relative(path, base) {
  const start = base.length + 1, isInside = base && path.startsWith(`${base}/`) && path.length > start;
  if (isInside) return path.slice(start);
  return base && path === base ? path.slice(path.lastIndexOf("/") + 1) : path;
}

// Returns what names in an open scope leave out: {base: of paths, layer: of the paths of layers}.
function basesOf(rows, scope) {
  let at = scope, inLayer = scope;
  while (at.isGroup && at.parent >= 0) at = rows.scope(at.parent);
  while (!inLayer.layer && inLayer.parent >= 0) inLayer = rows.scope(inLayer.parent);
  return {base: at.base, layer: inLayer.layer};
}

// Returns the name of an argument or result without the prefix, as often as it begins with it.
function nameOfEnd(name, prefix) {
  const begins = prefix && name.length > prefix.length && name.toLowerCase().startsWith(prefix);
  return begins ? nameOfEnd(name.slice(prefix.length), prefix) : name;
}

const definite = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value));

// `layer`: the name of the layer whose only op this is, if there is one.
function opBox(rows, id, key, base, kinds, layer = "") {
  const node = rows.node(id), box = rows.text("box", node.box);
  const traits = rows.text("traits", node.traits);
  const {op, label, group = 0, input, device, cluster, calls} = traits;
  const isEnd = label !== undefined;
  const name = traits.key ?? (isEnd ? nameOfEnd(node.name, rows.scope(0).ends) : relative(node.name, base));
  return {key, kind: "op", id, op: label ?? op, name, path: node.name, group,
    ...definite({layer, isEnd, input, output: node.isOutput, device, cluster, calls: calls && callsOf(calls),
      noted: box.noted?.map((from) => id + from), flops: box.flops, bytes: box.bytes}),
    notes: [...box.notes ?? []],
    marks: node.mark < 0 ? undefined : kinds.map((_, kind) => Number(kind === node.mark))};
}

const callsOf = (calls) => calls.map(([role, name, body]) => ({role, name, body}));

function scopeBox(rows, id, bases) {
  const scope = rows.scope(id), core = rows.scope(scope.core);
  const {ops, siblings, taken, group} = rows.text("about", core.about);
  const {kinds = "", devices, clusters, flops, bytes} = rows.text("about", scope.about);
  const name = core.layer ? relative(core.title, bases.layer) : relative(core.title, bases.base);
  return {key: `s${id}`, kind: "scope", scope: core.id, name, path: core.path, ops, notes: [kinds],
    ...definite({layer: core.layer, className: core.className, group, siblings, taken,
      made_up: Boolean(siblings || taken), devices, clusters, flops, bytes}),
    marks: scope.marked.some((count) => count > 0) ? scope.marked : undefined};
}

function port(rows, numbers, scope) {
  if (numbers.length === 0) return {key: "rest", name: "others"};
  const node = numbers.at(-1), inner = numbers.length > 1 ? scope.id + numbers[0] : undefined;
  const key = inner === undefined ? `n${scope.anchor + node}` : `s${inner}`;
  if (node !== null) return {key, name: rows.node(scope.anchor + node).name};
  return {key, name: rows.scope(rows.scope(inner).core).title};
}

function edge([from, to, count = 1, flags = 0, label = 0], labels) {
  return {from, to, count, ...definite({control: Boolean(flags & 1), handles: Boolean(flags & 2),
    back: Boolean(flags & 4), label: labels[label - 1]})};
}

// Returns the nearest scope around a scope that can be opened, {id}, where an undefined id stands
// for the outermost scope; undefined for the outermost scope itself.
function scopeAround(rows, scope, outermost) {
  let at = scope;
  do {
    if (at.id === outermost || at.parent < 0) return undefined;
    at = rows.scope(at.parent);
  } while (at.core !== at.id);
  return {id: at.id === outermost ? undefined : at.id};
}

// Returns an opened scope, by default the outermost one: {body, counts, around: from scopeAround(),
// view: {scope, path, ops, all_flops, all_bytes, boxes, above, sources, sinks, edges}}. Only the outermost
// scope has counts. Ids of scopes and nodes are in the keys of boxes and ports: "s12", "n45".
export function scopeDocument(rows, body, wanted = undefined) {
  const root = rows.scope(0), scope = rows.scope(wanted ?? root.core), bases = basesOf(rows, scope);
  const {scopes = [], alone = [], ops = [], above = [], sources = [], sinks = [], edges = [], labels = [],
    unseen = []} = rows.text("contents", scope.contents);
  const all = rows.text("about", root.about), kinds = root.marked, {base} = bases;
  const layerOf = ({layer, core}) => relative(layer || rows.scope(core).layer, bases.layer);
  const boxes = [
    ...scopes.map((from, i) => (typeof alone[i] === "number"
      ? opBox(rows, scope.anchor + alone[i], `s${scope.id + from}`, base, kinds,
        layerOf(rows.scope(scope.id + from)))
      : scopeBox(rows, scope.id + from, bases))),
    ...ops.map((from) => opBox(rows, scope.anchor + from, `n${scope.anchor + from}`, base, kinds))];
  for (const [index, into, out] of unseen) {
    if (into > 0) boxes[index].notes.push(`waits for ${opsText(into)}`);
    if (out > 0) boxes[index].notes.push(`${opsText(out)} ${out === 1 ? "waits" : "wait"} for this`);
  }
  const view = {scope: scope.id, path: scope.path, ops: rows.text("about", scope.about).ops,
    ...definite({all_flops: all.flops, all_bytes: all.bytes}), boxes, above,
    sources: sources.map((numbers) => port(rows, numbers, scope)),
    sinks: sinks.map((numbers) => port(rows, numbers, scope)),
    edges: edges.map((numbers) => edge(numbers, labels))};
  if (scope.id !== root.core) return {body, view, around: scopeAround(rows, scope, root.core)};
  const [constants, reads, noOps, invariants, drawn, folded, dangling] = rows.counts;
  return {body, view,
    counts: {constants, constant_reads: reads, no_ops: noOps, invariants, drawn, folded, dangling}};
}

// Returns the scopes that must be open to show a node, from the outermost to the innermost.
function around(rows, inside) {
  const scopes = [], {core} = rows.scope(0);
  for (let id = inside; id >= 0;) {
    const scope = rows.scope(id);
    if (scope.isFrame) scopes.unshift(id);
    id = scope.parent;
  }
  return scopes[0] === core ? scopes : [core, ...scopes];
}

// Returns the text of a node, with names for the characters that stand for them
// (lib/render/node_texts.h).
function textOf(rows, node, text) {
  const name = (input) => (input.id === undefined ? "" : rows.node(input.id).name);
  const written = (input) => (input.isControl ? `^${name(input)}`
    : `%${name(input)}${input.port > 0 ? `:${input.port}` : ""}`);
  return text.replace("\u0001", () => node.name)
    .replace("\u0002", () => `(${node.inputs.map(written).join(", ")})`);
}

// Returns {id, name, op} of a node that is another node's input or reader.
export function briefly(rows, id) {
  const {name, traits} = rows.node(id);
  return {id, name, op: rows.text("traits", traits).op};
}

function inputOf(rows, input, slot, names) {
  const kind = input.isControl ? {control: true} : {slot: names[slot]};
  if (input.missing !== undefined) return {...kind, missing: input.missing};
  const brief = {...kind, ...briefly(rows, input.id)};
  return input.isControl ? brief : {...brief, port: input.port, type: typeOf(rows, input.id, input.port)};
}

function typeOf(rows, id, number) {
  const node = rows.node(id), {types = []} = rows.text("traits", node.traits);
  return types[number] ?? rows.text("panel", node.panel).types?.[number] ?? "";
}

function outputsOf(rows, node, types, names) {
  const of = new Map(node.outputs.map((output) => [output.port, output]));
  const listed = ({count, readers}) => ({count, readers: readers.map((reader) => briefly(rows, reader)),
    next: readers.length < count ? readers.length : undefined});
  const ports = [...new Set([...types.keys(), ...of.keys()])].filter((number) => number >= 0);
  const outputs = ports.sort((a, b) => a - b).map((number, place) => ({
    ...(number === place ? {} : {port: number}), type: typeOf(rows, node.id, number),
    ...definite({slot: names[number]}), ...listed(of.get(number) ?? {count: 0, readers: []})}));
  return {outputs, after: listed(of.get(-1) ?? {count: 0, readers: []})};
}

// Returns everything about a node but the notes and costs in its box.
export function nodeDocument(rows, id) {
  const node = rows.node(id), {op, cluster, calls, types = []} = rows.text("traits", node.traits);
  const {device, placed, text = "", custom, value, variable, statistics, attributes = [], in: into = [],
    out = []} = rows.text("panel", node.panel);
  const {frames} = rows.text("stack", node.stack), details = rows.text("details", node.details);
  const home = rows.node(node.home);
  return {id, name: node.name, op, text: textOf(rows, node, text), around: around(rows, home.inside),
    ...definite({device, placed, cluster, custom, variable, statistics, stack: frames,
      calls: calls && callsOf(calls)}),
    ...(value === undefined ? {} : {value}), ...(node.mark < 0 ? {} : {mark: node.mark}),
    ...(node.home === id ? {} : {folded: true, reader: briefly(rows, node.home)}),
    details: Array.isArray(details) ? details : [],
    attributes: attributes.map(([name, words, functions]) => ({name, text: words, functions})),
    inputs: node.inputs.map((input, slot) => inputOf(rows, input, slot, into)),
    ...outputsOf(rows, node, types, out)};
}
