// Finds the cycles of a graph.

// Returns a number for each of `count` members; members have the same number if and only if they are
// on a cycle together. `edges`: [{from, to}]. Takes time linear in members and edges.
export function cyclesOf(count, edges) {
  const into = Array.from({length: count}, () => []), out = Array.from({length: count}, () => []);
  for (const {from, to} of edges) {
    out[from].push(to);
    into[to].push(from);
  }
  const cycles = new Array(count).fill(-1);
  for (const start of postorder(out).reverse()) {
    if (cycles[start] >= 0) continue;
    const stack = [start];
    cycles[start] = start;
    while (stack.length > 0) {
      for (const from of into[stack.pop()]) {
        if (cycles[from] >= 0) continue;
        cycles[from] = start;
        stack.push(from);
      }
    }
  }
  return cycles;
}

// Returns all members in postorder of a depth-first walk.
function postorder(out) {
  const order = [], seen = new Uint8Array(out.length), next = new Uint32Array(out.length);
  for (let root = 0; root < out.length; ++root) {
    const path = seen[root] ? [] : [root];
    seen[root] = 1;
    while (path.length > 0) {
      const member = path.at(-1);
      if (next[member] === out[member].length) {
        order.push(path.pop());
        continue;
      }
      const to = out[member][next[member]++];
      if (!seen[to]) path.push(to);
      seen[to] = 1;
    }
  }
  return order;
}
