// Finds which inputs of a hidden scope lead to which of its outputs by paths inside the scope, for
// the lines through the scope. Reads the documents of the scope and of the scopes in it, since each
// document has only the boxes directly in its scope.

const MOST_LOOKED_INTO = 200;  // the most scopes to read for one scope's picture

const known = new WeakMap();  // by source and scope: a promise of the connectivity

export function edgesFrom(edges) {
  const out = new Map();
  for (const edge of edges) {
    if (!out.has(edge.from)) out.set(edge.from, []);
    out.get(edge.from).push(edge);
  }
  return out;
}

// True for an edge of several tensors between two closed scopes: it is unknown which of the first
// scope's tensors leads where in the second scope.
export const isAmbiguous = ({from, to, count}, connectivity) =>
  count > 1 && connectivity.has(from) && connectivity.has(to);

// Returns the edges by which a path may continue after `edge`: from a closed scope in
// `connectivity`, those outgoing edges that its connectivity allows; from any other item, all.
// `connectivity`: by item, from connectivityOf.
export function edgesAfter(edge, items, out, connectivity) {
  const next = out.get(edge.to) ?? [], through = connectivity.get(edge.to);
  if (!through) return next;
  if (isAmbiguous(edge, connectivity)) return [];
  const reached = through.sinks.get(items[edge.from]?.key);
  return next.filter(({to}) => reached?.has(items[to]?.key));
}

// Promises {sinks: for each source's key the keys of the sinks that it leads to, whole: true if the
// sinks are complete}. `budget`: {left: the number of scopes that may still be read}.
function connectivityOf(source, body, scope, budget) {
  if (!known.has(source)) known.set(source, new Map());
  const kept = known.get(source), key = `${body}/${scope}`;
  if (kept.has(key)) return kept.get(key);
  if (budget.left-- <= 0) return Promise.resolve({sinks: new Map(), whole: false});
  const promise = look(source, body, scope, budget);
  const forget = () => kept.delete(key);
  promise.then(({whole}) => whole || forget(), forget);  // a later call may have a larger budget
  kept.set(key, promise);
  return promise;
}

async function look(source, body, scope, budget) {
  const {view} = await source.scope(body, scope), {boxes, sources, sinks} = view;
  const inner = await connectivityIn(source, body, view, () => true, budget);
  const items = [...boxes, ...sources, ...sinks], out = edgesFrom(view.edges), found = new Map();
  const firstSink = boxes.length + sources.length;
  sources.forEach(({key}, i) => {
    const reached = new Set(), seen = new Set(), stack = [...out.get(boxes.length + i) ?? []];
    while (stack.length > 0) {
      const edge = stack.pop();
      if (seen.has(edge)) continue;
      seen.add(edge);
      if (edge.to >= firstSink) reached.add(items[edge.to].key);
      else stack.push(...edgesAfter(edge, items, out, inner));
    }
    found.set(key, reached);
  });
  const isKnown = ![...sources, ...sinks].some(({key}) => key === "rest")
    && !view.edges.some((edge) => isAmbiguous(edge, inner));
  return {sinks: found, whole: isKnown && [...inner.values()].every(({whole}) => whole)};
}

// Promises the connectivity, by item, of the closed scopes in a view for which isWanted(box) is
// true and that have both incoming and outgoing edges.
export async function connectivityIn(source, body, view, isWanted, budget = {left: MOST_LOOKED_INTO}) {
  const ends = (end) => new Set(view.edges.map((edge) => edge[end]));
  const into = ends("to"), from = ends("from");
  const connectivity = new Map();
  await Promise.all(view.boxes.map(async (box, item) => {
    if (box.kind !== "scope" || !into.has(item) || !from.has(item) || !isWanted(box)) return;
    connectivity.set(item, await connectivityOf(source, body, box.scope, budget));
  }));
  return connectivity;
}
