// A plain list of all nodes, to sort and to read.

import {commas, element, link, plural} from "./dom.js";

const SHOWN = 500;
const COLUMNS = ["name", "op", "output", "device", "function"];

export async function showNodes(root, source, summary, go) {
  const rows = [];
  root.replaceChildren(element("p", {role: "status"}, "Reading the list \u2026"));
  for (let body = 0; body < summary.bodies.length; ++body) {
    await source.forEachIndexPage(body, (page) => {
      for (const [id, name, op, device, type] of page.nodes) {
        rows.push([name, page.ops[op], page.types[type], page.devices[device], body > 0 ? summary.bodies[body].name : "", body, id]);
      }
    });
  }
  const counts = new Map();
  for (const row of rows) counts.set(row[1], (counts.get(row[1]) ?? 0) + 1);
  const ops = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  let sorted = 0, down = true, shown = SHOWN, op = "";
  const draw = () => {
    const chosen = op ? rows.filter((row) => row[1] === op) : rows;
    const order = [...chosen].sort((a, b) => (a[sorted] < b[sorted] ? -1 : a[sorted] > b[sorted] ? 1 : 0) * (down ? 1 : -1));
    const sort = (i) => { [sorted, down] = [i, sorted === i ? !down : true]; draw(); };
    const head = COLUMNS.map((column, i) => element("th", {scope: "col", "aria-sort": sorted === i ? (down ? "ascending" : "descending") : undefined},
      element("button", {type: "button", onclick: () => sort(i)}, `${column}${sorted === i ? (down ? " \u25b4" : " \u25be") : ""}`)));
    const body = order.slice(0, shown).map((row) => element("tr", {},
      element("td", {}, link(row[0], () => go(row[5], row[6]))), ...row.slice(1, 5).map((text) => element("td", {}, text))));
    const filter = element("select", {"aria-label": "Only this op", onchange: (event) => { op = event.target.value; shown = SHOWN; draw(); }},
      element("option", {value: ""}, "all ops"),
      ...ops.map(([name, count]) => element("option", {value: name, selected: name === op}, `${name} (${commas(count)})`)));
    root.replaceChildren(element("p", {}, `${plural(chosen.length, "node")}, ${plural(ops.length, "op")} `, filter),
      element("table", {class: "list"}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)));
    if (order.length > shown) {
      root.append(element("p", {}, `${commas(order.length - shown)} more: `, link("show more", () => { shown *= 4; draw(); })));
    }
  };
  draw();
}
