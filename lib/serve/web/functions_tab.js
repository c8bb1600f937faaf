// The function library: who calls whom as a tree, and a table of all.

import {commas, element, link, plural} from "./dom.js";
import {addTab} from "./tabs.js";

const DEEPEST = 12;

function showFunctions(root, summary, enter) {
  const {bodies} = summary;
  if (bodies.length === 1) {
    root.replaceChildren(element("p", {}, "This graph has no functions: its library is empty."));
    return;
  }
  const callers = bodies.map(() => []);
  bodies.forEach((body, i) => body.calls.forEach((callee) => callers[callee].push(i)));
  const name = (i) => (i === 0 ? "main" : bodies[i].name);
  const row = (i, path) => {
    const again = path.includes(i), deep = path.length >= DEEPEST;
    const size = [plural(bodies[i].nodes, "op"), again ? ", calls itself: see above" : ""];
    const item = element("li", {}, link(name(i), () => enter(i), "Go into it"), " ",
      element("span", {class: "dim"}, ...size));
    if (!again && !deep && bodies[i].calls.length > 0) {
      item.append(element("ul", {}, ...bodies[i].calls.map((callee) => row(callee, [...path, i]))));
    }
    return item;
  };
  const unused = bodies.map((_, i) => i).filter((i) => i > 0 && callers[i].length === 0);
  const head = ["function", "ops", "called by", "calls"].map((text, i) =>
    element("th", {scope: "col", class: i === 1 ? "number" : undefined}, text));
  const rows = bodies.map((body, i) => i === 0 ? undefined : element("tr", {},
    element("td", {}, link(body.name, () => enter(i))), element("td", {class: "number"}, commas(body.nodes)),
    element("td", {}, callers[i].map(name).join(", ") || "nobody"),
    element("td", {}, body.calls.map(name).join(", "))));
  const table = element("table", {class: "list"}, element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...rows.filter(Boolean)));
  root.replaceChildren(
    element("h2", {}, plural(bodies.length - 1, "function")), element("h3", {}, "Who calls whom"),
    element("ul", {}, row(0, [])),
    ...(unused.length > 0 ? [element("h3", {}, "Called by nobody")] : []),
    ...(unused.length > 0 ? [element("ul", {}, ...unused.map((i) => row(i, [])))] : []),
    element("h3", {}, "All"), table);
}

addTab({
  name: "functions",
  label: "Functions",
  build: (root, page) => ({show: () => showFunctions(root, page.summary, (body) => page.enter(body))}),
});
