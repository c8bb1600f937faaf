// The tab with a plain, sortable list of all nodes.

import {commas, element, link, plural} from "./dom.js";
import {typesText} from "./node_list.js";
import {addTab} from "./tabs.js";

const SHOWN = 500;
const COLUMNS = ["name", "op", "output", "device", "function"];

// `wanted`: the op to list initially; `chose(op)` is called when the user chooses another op.
async function showNodes(root, {source, summary}, go, wanted, chose) {
  const rows = [];
  root.replaceChildren(element("p", {role: "status"}, "Reading the list \u2026"));
  for (let body = 0; body < summary.bodies.length; ++body) {
    const inside = body > 0 ? summary.bodies[body].name : "";
    await source.forEachList(body, (list) => {
      for (let row = 0; row < list.count; ++row) {
        const traits = list.traits(row), {op, device = ""} = traits;
        rows.push([list.names[row], op, typesText(traits), device, inside, body, list.ids[row]]);
      }
    });
  }
  const counts = new Map();
  for (const row of rows) counts.set(row[1], (counts.get(row[1]) ?? 0) + 1);
  const ops = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  let sorted = 0, down = true, shown = SHOWN, op = counts.has(wanted) ? wanted : "";
  const draw = () => {
    const chosen = op ? rows.filter((row) => row[1] === op) : rows;
    const compare = (a, b) => (a[sorted] < b[sorted] ? -1 : a[sorted] > b[sorted] ? 1 : 0);
    const order = [...chosen].sort((a, b) => compare(a, b) * (down ? 1 : -1));
    const sort = (i) => { [sorted, down] = [i, sorted === i ? !down : true]; draw(); };
    const way = (i, up, other) => (sorted === i ? (down ? up : other) : undefined);
    const head = COLUMNS.map((column, i) => element("th",
      {scope: "col", "aria-sort": way(i, "ascending", "descending")},
      element("button", {type: "button", onclick: () => sort(i)},
        `${column}${way(i, " \u25b4", " \u25be") ?? ""}`)));
    const body = order.slice(0, shown).map((row) => element("tr", {},
      element("td", {}, link(row[0], () => go(row[5], row[6]))),
      ...row.slice(1, 5).map((text) => element("td", {}, text))));
    const choose = ({target}) => { op = target.value; shown = SHOWN; draw(); chose(op); };
    const option = ([name, count]) =>
      element("option", {value: name, selected: name === op}, `${name} (${commas(count)})`);
    const filter = element("select", {"aria-label": "Only this op", onchange: choose},
      element("option", {value: ""}, "all ops"), ...ops.map(option));
    const counted = `${plural(chosen.length, "node")}, ${plural(ops.length, "op")} `;
    root.replaceChildren(element("p", {}, counted, filter),
      element("table", {class: "list"}, element("thead", {}, element("tr", {}, ...head)),
        element("tbody", {}, ...body)));
    if (order.length > shown) {
      const more = link("show more", () => { shown *= 4; draw(); });
      root.append(element("p", {}, `${commas(order.length - shown)} more: `, more));
    }
  };
  draw();
}

class NodesTab {
  constructor(root, page) {
    this.root = root;
    this.page = page;
  }

  // The op whose nodes are listed.
  get at() { return this.op; }

  show(op) {
    this.op = op;
    const chose = (other) => { this.op = other; this.page.toUrl(); };
    return showNodes(this.root, this.page, (body, node) => this.page.go(body, node), op, chose);
  }
}

addTab({name: "nodes", label: "Nodes", param: "op", build: (root, page) => new NodesTab(root, page)});
