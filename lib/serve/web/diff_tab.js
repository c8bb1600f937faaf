// The tab that compares any two of the served graphs.

import {element} from "./dom.js";
import {post} from "./source.js";
import {storyOf} from "./stories.js";
import {addTab} from "./tabs.js";

// `made(entry)` is called with the number of the comparison's page, to show it.
function showDiff(root, models, chosen, made) {
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
  const select = (id, label, wanted) => element("label", {}, `${label} `, element("select", {id},
    ...graphs.map(([i, text], place) => element("option", {value: i, selected: place === wanted}, text))));
  const status = element("p", {role: "status"});
  const button = element("button", {type: "submit"}, "Compare");
  const compare = async (event) => {
    event.preventDefault();
    button.disabled = true;
    status.className = "";
    status.textContent = "Comparing \u2026";
    try {
      const [a, b] = ["diff-a", "diff-b"].map((id) => Number(form.elements[id].value));
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
    select("diff-a", "A", at === 0 ? 0 : at - 1),
    select("diff-b", "B", at === 0 ? 1 : at), button);
  root.replaceChildren(title, element("p", {},
    "The differences from A to B, node by node: the nodes of both " +
    "are matched by structure and name, and the comparison becomes a graph of its own, drawn as one or " +
    "side by side."), form, status);
}

addTab({
  name: "diff",
  label: "Diff",
  build: (root, page) => ({
    show: () => showDiff(root, page.models, page.index, (entry) => page.added(entry, "graph")),
  }),
});
