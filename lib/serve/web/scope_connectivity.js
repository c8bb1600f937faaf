// Which inputs of a hidden scope lead to which of its outputs by paths inside it, for the lines
// through it. Uses the documents of the scope and of those in it, each of which has only its own
// boxes.

const MOST_LOOKED_INTO = 200;  // scopes, for one picture of a scope

const known = new WeakMap();  // by source: a promise of each scope's

export function edgesFrom(edges) {
  const out = new Map();
  for (const edge of edges) {
    if (!out.has(edge.from)) out.set(edge.from, []);
    out.get(edge.from).push(edge);
  }
  return out;
}

// True for several tensors between two closed scopes: it is unknown where each of them leads.
export const isAmbiguous = ({from, to, count}, connectivity) =>
  count > 1 && connectivity.has(from) && connectivity.has(to);

// The edges that a path may take after `edge`: from an op all, from a closed scope those in its connectivity.
// `connectivity`: by item, from connectivityOf.
export function edgesAfter(edge, items, out, connectivity) {
  const next = out.get(edge.to) ?? [], through = connectivity.get(edge.to);
  if (!through) return next;
  if (isAmbiguous(edge, connectivity)) return [];
  const reached = through.sinks.get(items[edge.from]?.key);
  return next.filter(({to}) => reached?.has(items[to]?.key));
}

// {sinks: keys of sinks by key of a source, whole: true if these are all}. `budget`: {left}.
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

// The connectivity, by item, of those closed scopes in a view that `isWanted` and that paths lead through.
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
