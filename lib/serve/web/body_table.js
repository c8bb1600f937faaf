// All nodes of a body as a table of columns, for code that visits every node.

const kept = new WeakMap();  // by source and body: a promise of the table

// Promises {count, end, ids, names, ops, devices, clusters, scopes, inputs, parents, rowOf}. Each
// column has one entry per node, in the order of the graph: `ops`, `devices` and `clusters` are
// texts, `scopes` is -1 for folded nodes, `inputs` are as in LinksJson (lib/render/graph_page.h).
// `parents` is by scope, `rowOf` by id; `end` is greater than any id.
export function tableOf(source, body) {
  if (!kept.has(source)) kept.set(source, new Map());
  const tables = kept.get(source);
  if (!tables.has(body)) {
    const promise = read(source, body);
    promise.catch(() => tables.delete(body));
    tables.set(body, promise);
  }
  return tables.get(body);
}

async function read(source, body) {
  const table = {ids: [], names: [], ops: [], devices: [], clusters: [], scopes: [], inputs: [], parents: [],
    rowOf: []};
  await source.forEachPage("index", body, (page) => {
    for (const [id, name, op, device, , , cluster] of page.nodes) {
      table.rowOf[id] = table.ids.length;
      table.ids.push(id);
      table.names.push(name);
      table.ops.push(page.ops[op]);
      table.devices.push(page.devices[device]);
      table.clusters.push(page.clusters[cluster]);
    }
  });
  await source.forEachPage("links", body, (page) => {
    if (page.parents) table.parents = page.parents;
    for (const [, scope, ...inputs] of page.nodes) {
      table.scopes.push(scope);
      table.inputs.push(inputs);
    }
  });
  table.count = table.ids.length;
  table.end = table.rowOf.length;
  return table;
}

export const inputId = (input) => (input < 0 ? -1 - input : input);

// Returns, by row, the ids of the nodes that read that row's node.
export function readersOf(table) {
  table.readers ??= (() => {
    const readers = Array.from({length: table.count}, () => []);
    table.inputs.forEach((inputs, row) => {
      for (const input of inputs) readers[table.rowOf[inputId(input)]]?.push(table.ids[row]);
    });
    return readers;
  })();
  return table.readers;
}
