// The tabs: each NAME_tab.js adds its own tab, and the server determines which tabs a graph has,
// and their order.

import {byId, element} from "./dom.js";

const known = new Map();

// `tab`: {name, label, build(root, page), param, tells}.
//   name    as in lib/serve/tabs/NAME.cpp, which sets the tab's position and which graphs have it
//   build   called when the tab is first opened, or before the first ofNode() if `tells`, with the
//           tab's element and the Page. Returns
//             show(at)            draws the tab for page.source, each time it is opened; may be
//                                 async. `at`: a position in the tab, as text; undefined: any
//             forget()            called when the graphs have changed
//             at                  the current position in the tab, for the address
//             colors(model)       additional colorings of boxes (run_colors.js)
//             ofNode(model, body, id)  promises elements for the panel of a node
//           of which only show is required
//   param   the name of `at` in the address
//   tells   true if ofNode is used even if the tab was never opened
export function addTab(tab) { known.set(tab.name, tab); }

// The row of tabs, and below it the element with the contents of each tab.
export class Tabs {
  constructor(page) {
    this.page = page;
    this.names = [];  // the names of the tabs of the shown graph
    this.built = new Map();
    this.buttons = new Map();
    for (const {name, label} of known.values()) {
      const id = `tab-${name}`;
      const panel = {id, class: "tab", role: "tabpanel", "aria-label": label, hidden: true};
      if (!byId(id)) byId("main").append(element("section", panel));
      this.buttons.set(name, element("button", {
        type: "button", role: "tab", id: `to-${name}`, "aria-controls": id, onclick: () => page.openTab(name),
      }, label));
    }
  }

  has(name) { return this.names.includes(name); }
  first() { return this.names[0]; }

  // Lists the tabs of another graph: `names`.
  list(names) {
    this.names = names.filter((name) => known.has(name));
    const others = [...this.buttons.keys()].filter((name) => !this.has(name));
    byId("tabs").replaceChildren(...[...this.names, ...others].map((name) => this.buttons.get(name)));
    for (const [name, button] of this.buttons) button.hidden = !this.has(name);
  }

  // Brings a tab to the front, without drawing it.
  choose(name) {
    this.chosen = name;
    for (const [other, button] of this.buttons) {
      byId(`tab-${other}`).hidden = other !== name;
      button.setAttribute("aria-selected", String(other === name));
    }
  }

  async show(name, at) { await this.tab(name).show(at); }

  tab(name) {
    if (!this.built.has(name)) this.built.set(name, known.get(name).build(byId(`tab-${name}`), this.page));
    return this.built.get(name);
  }

  forget() { for (const tab of this.built.values()) tab.forget?.(); }

  // Returns what colors(model) of the first tab with such colors returns (RunColors).
  colors(model) {
    for (const tab of this.built.values()) {
      const colors = tab.colors?.(model);
      if (colors) return colors;
    }
    return undefined;
  }

  async ofNode(model, body, id) {
    for (const name of this.names) if (known.get(name).tells) this.tab(name);
    const tabs = [...this.built.values()];
    return (await Promise.all(tabs.map((tab) => tab.ofNode?.(model, body, id) ?? []))).flat();
  }

  toState(state) {
    const {param} = known.get(this.chosen), at = this.built.get(this.chosen)?.at;
    if (this.chosen !== this.first()) state.set("tab", this.chosen);
    if (param && at) state.set(param, at);
  }

  // Returns [name, at]: the tab that the address names, and the position in it.
  ofState(state) {
    const name = this.has(state.get("tab")) ? state.get("tab") : this.first();
    return [name, state.get(known.get(name).param) ?? undefined];
  }
}
