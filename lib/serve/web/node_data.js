// Reads files with numbers for nodes from other tools. lib/render/node_data.h describes the
// formats, and reads the same files.

const WANTED = "expected Model Explorer's node data, {\"results\": {node: {\"value\": number}}} or {graph: " +
  "that}, or a table: a line with the names of the columns, then lines with a node and its values";

// Parses a file's text into [{name, entries: [{graph, node, value, fill}], notNumbers, gradient,
// thresholds}]. `graph`: the function, if the file names it, or "". gradient and thresholds are
// lists of {at, fill}. Throws an Error with a message for the user.
export function readNodeData(text, file) {
  const plain = text.replace(/^\uFEFF/u, ""), read = /^\s*[[{]/u.test(plain) ? fromJson : fromTable;
  const all = read(plain, file).filter(({entries}) => entries.length > 0);
  if (all.length === 0) throw new Error(`${file}: no node has a number; ${WANTED}`);
  return all;
}

const stem = (file) => file.replace(/\.[^.]*$/u, "");
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function fromJson(text, file) {
  let top;
  try {
    top = JSON.parse(text);
  } catch (error) {
    throw new Error(`${file}: ${error.message}`);
  }
  const isGraph = (value) => isObject(value) && isObject(value.results);
  if (isGraph(top)) return [graphOf("", top, undefined, file)];
  const graphs = isObject(top) ? Object.entries(top) : [];
  if (graphs.length === 0 || !graphs.every(([, data]) => isGraph(data))) {
    throw new Error(`${file}: ${WANTED}`);
  }
  const all = new Map();
  for (const [graph, data] of graphs) {
    const name = data.name ?? stem(file);
    all.set(name, graphOf(graph, data, all.get(name), file));
  }
  return [...all.values()];
}

function graphOf(graph, data, known, file) {
  const set = known ?? {name: data.name ?? stem(file), entries: [], notNumbers: 0, gradient: [],
    thresholds: []};
  for (const [node, result] of Object.entries(data.results)) {
    if (!isObject(result) || !("value" in result)) throw new Error(`${file}: node '${node}' has no 'value'`);
    const {value, bgColor} = result;
    if (Number.isFinite(value)) set.entries.push({graph, node, value, fill: colorOf(bgColor, file)});
    else ++set.notNumbers;
  }
  for (const [list, at] of [["gradient", "stop"], ["thresholds", "value"]]) {
    if (set[list].length > 0) continue;
    const steps = (data[list] ?? []).filter(({bgColor}) => bgColor);
    if (!steps.every((step) => Number.isFinite(step[at]))) {
      throw new Error(`${file}: an entry of '${list}' lacks the field '${at}', a number`);
    }
    set[list] = steps.map((step) => ({at: step[at], fill: colorOf(step.bgColor, file)})).sort((a, b) =>
      a.at - b.at);
  }
  return set;
}

// Returns a color in CSS syntax as a canvas writes it: "#rrggbb" if the color is opaque.
function colorOf(text, file) {
  if (text === undefined) return undefined;
  const context = document.createElement("canvas").getContext("2d");
  if (!CSS.supports("color", text)) throw new Error(`${file}: bgColor '${text}' is not a color`);
  context.fillStyle = text;
  return context.fillStyle;
}

function fromTable(text, file) {
  const [head, ...rows] = rowsOf(text), seen = new Map();
  if (!head || head.fields.length < 2) throw new Error(`${file}: ${WANTED}`);
  const all = head.fields.slice(1).map((name) => ({name: name || stem(file), entries: [], notNumbers: 0,
    gradient: [], thresholds: []}));
  for (const {line, fields: [node, ...values]} of rows) {
    if (seen.has(node)) {
      throw new Error(`${file}: line ${line}: node '${node}' is already on line ${seen.get(node)}`);
    }
    seen.set(node, line);
    all.forEach((set, i) => {
      const field = values[i] ?? "", value = Number(field);
      if (field === "") return;
      if (Number.isFinite(value)) set.entries.push({graph: "", node, value});
      else ++set.notNumbers;
    });
  }
  return all;
}

// Returns the lines that are not empty, [{line: its number, fields}]. Fields are separated by
// commas, or by tabs if the first line has one.
function rowsOf(text) {
  const apart = /^[^\n]*\t/u.test(text) ? "\\t" : ",", rows = [];
  const field = new RegExp(`(?:"((?:[^"]|"")*)"[^${apart}\\n]*|([^${apart}\\n]*))(${apart}|\\n|$)`, "uy");
  let row = {line: 1, fields: []}, line = 1;
  while (field.lastIndex < text.length || row.fields.length > 0) {
    const [all, quoted, plain, end] = field.exec(text);
    row.fields.push(quoted === undefined ? plain.trim() : quoted.replaceAll("\"\"", "\""));
    line += all.split("\n").length - 1;
    if (new RegExp(apart, "u").test(end)) continue;
    if (row.fields.length > 1 || row.fields[0] !== "") rows.push(row);
    row = {line, fields: []};
  }
  return rows;
}
