// The state of the page in its address: graph, tab, open scopes, filter, selection, colors. All that
// the user chooses to see belongs here, except the theme and the viewport.

import {byId} from "./dom.js";
import {lookAt} from "./viewport.js";

// Returns the parameters of the address for the current state of the Page of page.js.
export function stateOf(page) {
  const state = new URLSearchParams();
  const {story} = page.models[page.index], isFirst = page.index === page.row.first;
  if (!isFirst || story !== undefined || page.row.isFramed) state.set("graph", page.index);
  page.tabs.toState(state);
  if (page.view.body !== page.view.home) state.set("body", page.view.body);
  page.filtering.toState(state);
  state.set("open", [...page.view.open].join(","));
  const color = byId("color");
  if (color.value !== page.firstColor) state.set("color", color.value);
  page.values.toState(state);
  if (page.view.look.selected) state.set("chosen", page.view.look.selected);
  if (page.boxless && !page.panes.on) state.set("node", page.boxless);
  if (page.panes.on) page.panes.toState(state);
  return state;
}

// Shows what the address describes. Without an address, the page opens as the graph's documents say.
export async function showAddress(page) {
  const address = location.hash.slice(1) || page.models[0].address;
  const state = new URLSearchParams(address ?? "");
  page.row.fromState(state);
  page.modelTurn = (page.modelTurn ?? 0) + 1;  // cancels the slider's pending work
  const index = Number(state.get("graph") ?? page.row.first);
  await page.load(index < page.models.length ? index : page.row.first);
  const body = Number(state.get("body") ?? page.view.home);
  if (state.has("open")) page.view.restore(state.get("open").split(",").filter(Boolean), body);
  const {part, problem} = await page.filtering.fromState(state);
  // Scopes that the command line requested stay open. (`fold` closes scopes until the text is
  // readable.)
  const asked = page.summary.asked && !state.has("open");
  const fold = !state.has("open") && !asked;
  if (!part) await page.view.show(body < page.summary.bodies.length ? body : 0, fold);
  if (!part && asked && page.summary.viewport) lookAt(page.view, page.summary.viewport);
  page.values.fromState(state);
  page.listColors(state.get("color") ?? page.firstColor);
  page.panel.showModel();
  const chosen = state.get("chosen");
  const box = chosen && page.view.boxes.find((other) => `${other.instance}|${other.box.key}` === chosen);
  await page.setPanes(state.has("side"), state);
  if (box && !page.panes.on) {
    page.view.select(box);
    page.view.keepInSight(chosen);
  }
  if (state.has("node") && !page.panes.on) {
    const [of, id] = state.get("node").split("/").map(Number);
    const node = await page.source.node(of, id).catch(() => undefined);
    // In a file, the document for a number without a node has no name.
    if (node?.name) page.showBoxless(of, node);
  }
  const [tab, at] = page.tabs.ofState(state);
  page.openTab(tab, false, at);
  page.shown = page.index;
  if (problem) page.fail(problem);
}
