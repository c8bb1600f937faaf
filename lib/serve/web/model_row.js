// The row of models, if a server has several: shows one model at a time, each with its own tabs,
// stages and view, or all side by side, each as a page in a frame of this page.

import {byId, element} from "./dom.js";
import {opensAt} from "./stories.js";

export class ModelRow {
  // `page`: the Page of page.js.
  constructor(page) {
    Object.assign(this, {page, states: new Map(), frames: []});
    const own = new URLSearchParams(location.search).get("model");
    this.own = own === null ? undefined : Number(own);  // the model, if this page is in a frame
    document.documentElement.classList.toggle("framed", this.isFramed);
    addEventListener("message", (event) => this.heard(event));
  }

  get isFramed() { return this.own !== undefined; }
  get isBeside() { return this.frames.length > 0; }

  list(entries) {
    this.names = new Map();
    this.entries = entries;
    for (const {model = 0, file} of entries) if (!this.names.has(model)) this.names.set(model, file);
    byId("models").hidden = this.names.size < 2 || this.isFramed;
    const button = ([model, name]) => element("button", {type: "button", role: "tab", "data-model": model,
      onclick: () => this.choose(model)}, name);
    byId("model-tabs").replaceChildren(...[...this.names].map(button));
    this.mark();
  }

  // Returns the indices of a model's entries in the list of graphs.
  entriesOf(model) {
    return [...this.entries.keys()].filter((index) => (this.entries[index].model ?? 0) === model);
  }

  // Returns the index of the entry that a model shows first.
  firstOf(model) { return opensAt(this.entries, this.entriesOf(model)[0]); }
  get first() { return this.isFramed ? this.firstOf(this.own) : opensAt(this.entries, 0); }
  // Returns the heading of the page for entry `index`. In a frame, that is the file's name: the
  // list of stages there shows `title` already.
  titleOf(index, title) { return this.isFramed ? this.entries[index].file : title; }
  modelOf(index) { return this.entries[index]?.model ?? 0; }

  mark() {
    const shown = this.isBeside ? undefined : this.modelOf(this.page.index);
    for (const tab of byId("model-tabs").children) {
      tab.setAttribute("aria-selected", String(Number(tab.dataset.model) === shown));
    }
    byId("beside").setAttribute("aria-pressed", String(this.isBeside));
  }

  // Shows one model alone. Each model keeps its own state (open scopes, tab).
  async choose(model) {
    const {page} = this;
    if (this.isBeside) this.separate();
    else this.states.set(this.modelOf(page.index), page.state().toString());
    history.pushState(null, "", this.url(this.states.get(model) ?? `graph=${this.firstOf(model)}`));
    await page.fromUrl();
  }

  url(state) { return `${location.pathname}${location.search}#${state}`; }

  async toggle() {
    if (this.isBeside) return this.choose(this.before ?? 0);
    this.before = this.modelOf(this.page.index);
    this.states.set(this.before, this.page.state().toString());
    this.show();
    history.pushState(null, "", this.url(this.state()));
  }

  show() {
    const search = new URLSearchParams(location.search);
    this.frames = [...this.names].map(([model, name]) => {
      search.set("model", model);
      const state = this.states.get(model) ?? `graph=${this.firstOf(model)}`;
      const frame = element("iframe", {title: name, "data-model": model,
        src: `${location.pathname}?${search}#${state}`});
      frame.addEventListener("load", () => this.turnTheme());
      return frame;
    });
    byId("side-by-side").replaceChildren(...this.frames);
    this.arrange(true);
  }

  separate() {
    this.frames = [];
    byId("side-by-side").replaceChildren();
    this.arrange(false);
  }

  arrange(beside) {
    document.body.classList.toggle("beside", beside);
    byId("side-by-side").hidden = !beside;
    this.mark();
  }

  // Applies the user's choice of theme. A page in a frame asks the page around it to apply it to
  // all frames.
  askTheme(dark) {
    if (this.isFramed && parent !== window) parent.postMessage({dark}, location.origin);
    else this.page.turnTheme(dark);
  }

  // Sets the theme of the frames, dark or light, to that of this page.
  turnTheme() {
    const dark = document.documentElement.classList.contains("dark");
    for (const {contentWindow} of this.frames) contentWindow.grapnel?.turnTheme(dark);
  }

  // Sends the state of a framed page to the page around it, whose address contains the states of
  // all frames.
  tell(state) {
    if (this.isFramed && parent !== window) parent.postMessage({state: String(state)}, location.origin);
  }

  heard({origin, source, data}) {
    const frame = this.frames.find(({contentWindow}) => contentWindow === source);
    if (origin !== location.origin || !frame) return;
    if (typeof data?.dark === "boolean") this.page.turnTheme(data.dark);
    if (typeof data?.state !== "string") return;
    this.states.set(Number(frame.dataset.model), data.state);
    history.replaceState(null, "", this.url(this.state()));
  }

  state() {
    const state = new URLSearchParams({beside: 1});
    for (const model of this.names.keys()) state.append("of", this.states.get(model) ?? "");
    return state;
  }

  // If the address is for models side by side, shows them side by side and returns true.
  fromState(state) {
    if (!state.has("beside") || this.isFramed || this.names.size < 2) {
      if (this.isBeside) this.separate();
      return false;
    }
    const known = state.getAll("of");
    [...this.names.keys()].forEach((model, i) => {
      if (known[i]) this.states.set(model, known[i]);
    });
    this.show();
    return true;
  }
}
