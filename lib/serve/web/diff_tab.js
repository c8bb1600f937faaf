// The tab that compares any two of the served graphs.

import {element} from "./dom.js";
import {post} from "./source.js";
import {storyOf} from "./stories.js";
import {addTab} from "./tabs.js";

// `wanted`: the pair of graphs to propose, "A,B", as indices in the list of all graphs. chose(pair)
// is called when the user chooses another pair, and made(entry) with the number of the comparison's
// page, to show it.
function showDiff(root, models, chosen, {wanted, chose, made}) {
  const named = models.map(({group, title}, i) => [i,
    [storyOf(models, i)?.title ?? group, title].filter(Boolean).join(": ")]);
  const graphs = named.filter(([i]) => models[i].module && (!models[i].same || i === chosen));
  const title = element("h2", {}, "Compare two graphs");
  if (graphs.length < 2) {
    root.replaceChildren(title, element("p", {}, "There is only one graph to compare: ",
      element("code", {}, "grapnel serve A B"), " opens two, and the tab Passes makes more."));
    return;
  }
  const at = Math.max(graphs.findIndex(([i]) => i === chosen), 0);
  const places = (wanted ?? "").split(",").map((index) => graphs.findIndex(([i]) => String(i) === index));
  const first = places.length === 2 && !places.includes(-1) ? places
    : [at === 0 ? 0 : at - 1, at === 0 ? 1 : at];
  const pair = () => ["diff-a", "diff-b"].map((id) => Number(form.elements[id].value));
  const select = (id, label, place) => element("label", {}, `${label} `,
    element("select", {id, onchange: () => chose(pair().join(","))}, ...graphs.map(([i, text], other) =>
      element("option", {value: i, selected: other === place}, text))));
  const status = element("p", {role: "status"});
  const button = element("button", {type: "submit"}, "Compare");
  const compare = async (event) => {
    event.preventDefault();
    button.disabled = true;
    status.className = "";
    status.textContent = "Comparing \u2026";
    try {
      const [a, b] = pair();
      const {entry} = await post(`${a}/diff`, JSON.stringify({with: b}));
      await made(entry);
      status.textContent = "";
    } catch (error) {
      status.className = "problem";
      status.textContent = error.message;
    } finally {
      button.disabled = false;
    }
  };
  const form = element("form", {class: "ask", onsubmit: compare},
    select("diff-a", "A", first[0]), select("diff-b", "B", first[1]), button);
  root.replaceChildren(title, element("p", {},
    "The differences from A to B, node by node: the nodes of both " +
    "are matched by structure and name, and the comparison becomes a graph of its own, drawn as one or " +
    "side by side."), form, status);
}

class DiffTab {
  constructor(root, page) {
    this.root = root;
    this.page = page;
  }

  // The pair of graphs that the user chose; undefined for those that the tab proposes.
  get at() { return this.pair; }

  show(pair) {
    const {page} = this;
    this.pair = pair;
    const chose = (other) => { this.pair = other; page.toUrl(); };
    showDiff(this.root, page.models, page.index,
      {wanted: pair, chose, made: (entry) => page.added(entry, "graph")});
  }
}

addTab({name: "diff", label: "Diff", param: "compare", build: (root, page) => new DiffTab(root, page)});
