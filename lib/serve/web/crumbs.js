// The path from the main graph to the body that is shown.

import {element, link} from "./dom.js";

// Returns links to the bodies on the way to a body, and to the nodes that call the next body, unless
// these do nothing else.
export function crumbsOf(page, body) {
  const {bodies} = page.summary, way = [], seen = new Set();
  for (let at = body; at > 0 && !seen.has(at);) {
    seen.add(at);
    const {name, caller: [from = 0, node, op, caller] = []} = bodies[at], inner = at;
    way.unshift(at === body ? element("strong", {}, `\u0192 ${name}`)
      : link(`\u0192 ${name}`, () => page.enter(inner)));
    const isCall = op === undefined || op === name || op.endsWith("PartitionedCall");
    if (!isCall) way.unshift(link(`${op} ${caller}`, () => page.go(from, node)));
    at = from;
  }
  way.unshift(body === 0 ? element("strong", {}, "main") : link("main", () => page.enter(0)));
  return way.flatMap((part, i) => (i > 0 ? [" \u25b8 ", part] : [part]));
}
