// Lists the edges for which a line between two boxes stands. The server answers
// (GraphPage::EdgesJson); a page in a file looks through its own rows.

import {inputId, tableOf} from "./body_table.js";
import {element, link} from "./dom.js";
import {isFile} from "./source.js";

const MOST = 200;

// Promises {edges: [{from, name, port, type, to, reader, slot}], more: how many others}. `from` and
// `to`: the keys of the boxes, "s12" for a scope and "n45" for a node.
function edgesBetween(source, body, {from, to, control}) {
  return isFile ? inFile(source, body, {from, to, control})
    : source.edges(body, `${from} ${to}${control ? " control" : ""}`);
}

// Returns a function that is true for the ids of nodes in the box.
function holdsOf(key, table) {
  const number = Number(key.slice(1)), shown = (id) => table.homes[table.rowOf[id]];
  if (key.startsWith("n")) return (id) => shown(id) === number;
  return (id) => {
    let scope = table.scopes[table.rowOf[shown(id)]];
    while (scope > number) scope = table.parents[scope];  // a scope's number is greater than its parent's
    return scope === number;
  };
}

async function inFile(source, body, {from, to, control}) {
  const table = await tableOf(source, body), isFrom = holdsOf(from, table), isTo = holdsOf(to, table);
  const readers = table.ids.filter((id, row) => isTo(id) &&
    table.inputs[row].some((input) => (input < 0) === control && isFrom(inputId(input))));
  const edges = [];
  for (const id of readers.slice(0, MOST)) {
    const node = await source.node(body, id);
    for (const {id: read, name, port, type, slot, control: waits = false, missing} of node.inputs) {
      if (missing === undefined && waits === control && isFrom(read))
        edges.push({from: read, name, port, type, to: id, reader: node.name, slot});
    }
  }
  const shown = edges.slice(0, MOST);
  return {edges: shown, more: edges.length - shown.length + Math.max(0, readers.length - MOST)};
}

// Returns a list item for a line between two boxes, {from: key, to: key, control}, which opens into the
// edges for which it stands. The first argument is the Panel; `words`: the texts of the line.
export function lineItem({source, actions}, body, words, line) {
  const isOne = (key) => key !== undefined && key !== "rest";
  if (!isOne(line.from) || !isOne(line.to)) return element("li", {}, ...words);
  return element("li", {}, edgeDetails(words, () => edgesBetween(source, body, line),
    (id) => actions.go(body, id)));
}

function edgeDetails(line, load, go) {
  const inner = element("ul"), summary = element("summary", {}, ...line);
  const details = element("details", {class: "edges"}, summary, inner);
  const item = ({from, name, port, type, to, reader, slot}) => element("li", {},
    link(port > 0 ? `${name}:${port}` : name, () => go(from)), " \u2192 ",
    link(reader, () => go(to)), " ",
    element("span", {class: "dim"}, [slot, type].filter(Boolean).join(" ")));
  const fill = async () => {
    const {edges, more} = await load();
    inner.replaceChildren(...edges.map(item));
    if (more > 0) inner.append(element("li", {class: "dim"}, `and ${more} more`));
  };
  details.addEventListener("toggle", () => {
    if (!details.open || inner.children.length > 0) return;
    fill().catch((error) => inner.replaceChildren(element("li", {class: "problem"}, error.message)));
  });
  return details;
}
