// All nodes of a body in columns, for code that visits each of them.

const kept = new WeakMap();  // by source: a promise of each body's

// {count, end, ids, names, ops, devices, clusters, scopes, inputs, parents, rowOf}: row by row, in
// the order of the graph. `ops`, `devices`, `clusters` are texts, `scopes` is -1 for folded nodes,
// `inputs` as in LinksJson (lib/render/graph_page.h), `end` is larger than any id.
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

// The readers of each row, by row.
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
