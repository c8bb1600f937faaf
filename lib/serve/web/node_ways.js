// Makes links that show only a node's neighborhood, or the paths between the node and another node.

import {element, link} from "./dom.js";
import {search} from "./search.js";

const fullName = (summary, body, name) => (body > 0 ? `${summary.bodies[body].name}/${name}` : name);

// Returns an element with these links for the panel of a node.
export function waysFrom(page, body, node) {
  const {summary, filtering} = page, name = fullName(summary, body, node.name);
  const ways = element("p", {class: "ways"},
    link("neighbors", () => filtering.around(name), "Show only what is within two edges of it"), " \u00b7 ",
    link("paths to \u2026", () => {
      if (!ways.querySelector("form")) ways.append(pathForm(page, body, name));
      ways.querySelector("input").focus();
    }, "Show only what is on paths between it and another node"));
  return ways;
}

function pathForm(page, body, name) {
  const problem = element("p", {class: "problem", hidden: true});
  const input = element("input", {type: "search", placeholder: "a node's name, or words as in the search",
    "aria-label": "The other end of the paths", autocomplete: "off", spellcheck: "false"});
  const go = async (event) => {
    event.preventDefault();
    try {
      await page.filtering.paths(name, await nameOf(page, body, input.value.trim()));
    } catch (error) {
      problem.hidden = false;
      problem.textContent = error.message;
    }
  };
  return element("form", {class: "row", onsubmit: go}, input, element("button", {type: "submit"}, "Show"),
    problem);
}

// Promises the full name of the node of that name, else of the first search result in the body.
async function nameOf({source, summary, filtering}, body, text) {
  if (!text) throw new Error("expected a node's name");
  const full = fullName(summary, body, text);
  if (await filtering.filter.find(source, full).catch(() => undefined)) return full;
  const {hits} = await search(source, summary, text), hit = hits.find((other) => other.body === body);
  if (!hit) throw new Error(`no node of this graph matches '${text}'`);
  return fullName(summary, body, hit.name);
}
