// All nodes of a body as a table of columns, for code that visits every node.

const kept = new WeakMap();  // by source and body: a promise of the table

// Promises {count, end, ids, names, ops, devices, clusters, scopes, homes, inputs, parents, rowOf}.
// Each column has one entry per node, in the order of the graph: `ops`, `devices` and `clusters` are
// texts, `scopes` is -1 for folded nodes, `homes` the node whose box shows the node, `inputs` are as
// in NodeList (node_list.js), and empty unless the page is a file. `parents` is by scope, `rowOf` by
// id; `end` is greater than any id.
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
  const table = {ids: [], names: [], ops: [], devices: [], clusters: [], scopes: [], homes: [], inputs: [],
    parents: [], rowOf: []};
  await source.forEachList(body, (list) => {
    if (table.count === undefined) table.parents = Array.from(list.parents, (less, scope) => scope + less);
    table.count = table.ids.length + list.count;
    for (let row = 0; row < list.count; ++row) {
      const id = list.ids[row], {op, device = "", cluster = ""} = list.traits(row);
      table.rowOf[id] = table.ids.length;
      table.ids.push(id);
      table.names.push(list.names[row]);
      table.ops.push(op);
      table.devices.push(device);
      table.clusters.push(cluster);
      table.scopes.push(list.insides[row]);
      table.homes.push(list.home(row));
      table.inputs.push(list.inputs(row));
    }
  });
  table.count ??= 0;
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
