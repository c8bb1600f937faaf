// Functions with which tests call the scripts in an engine without a browser.

import {bytesOfBase64, Columns} from "./columns.js";
import {makeLayers, putAbove} from "./layering.js";
import {briefly, nodeDocument, scopeDocument} from "./page_documents.js";
import {AnswerRows} from "./page_rows.js";

// Returns all columns of a table as JSON: {name: values}.
globalThis.tableColumns = (table) => {
  const columns = new Columns(bytesOfBase64(table)), values = {};
  for (const [name, {kind}] of columns.places) {
    values[name] = kind === "t" ? columns.texts(name) : [...columns.numbers(name)];
  }
  return JSON.stringify(values);
};

// Return what the page makes of a table of the server, as JSON.
globalThis.tableScope = (table, body, scope) =>
  JSON.stringify(scopeDocument(new AnswerRows(bytesOfBase64(table)), Number(body),
    scope === "" ? undefined : Number(scope)));
globalThis.tableNode = (table, id) =>
  JSON.stringify(nodeDocument(new AnswerRows(bytesOfBase64(table)), Number(id)));
globalThis.tableList = (table) => {
  const answer = new AnswerRows(bytesOfBase64(table)), {ids, next} = answer.rows;
  return JSON.stringify({nodes: Array.from(ids, (id) => briefly(answer, id)), next});
};

// Returns the layers of several graphs, and the indices of their edges that are marked as back, as
// JSON. `graphs`: [{items, edges, above, top, bottom}] as JSON.
globalThis.layersOf = (graphs) => JSON.stringify(JSON.parse(graphs).map(
  ({items, edges, above, top, bottom}) => {
    putAbove(above, items, edges);
    const back = [...edges.keys()].filter((i) => edges[i].back);
    return {...makeLayers(items, edges, top, bottom), back};
  }));
