// The page: tabs, what the URL holds, and what belongs to no tab alone.

import {colourBy, colourChoices, drawLegend} from "./colours.js";
import {byId, commas, element, link, plural} from "./dom.js";
import {DebuggerTab} from "./debugger_tab.js";
import {showDiff} from "./diff_tab.js";
import {showFunctions} from "./functions_tab.js";
import {GraphView} from "./graph_view.js";
import {showNodes} from "./nodes_tab.js";
import {inWords, Panel} from "./panel.js";
import {Panes} from "./panes.js";
import {PassesTab} from "./passes_tab.js";
import {PlaceTab} from "./place_tab.js";
import {followFiles} from "./reload.js";
import {RunTab} from "./run_tab.js";
import {setUpSearch} from "./search.js";
import {isFile, models, Source} from "./source.js";

const TABS = [["debugger", "Debugger"], ["graph", "Graph"], ["functions", "Functions"], ["nodes", "Nodes"], ["passes", "Passes"], ["diff", "Diff"], ["place", "Placement"],
  ["run", "Run"]];
const WIDE = 800;  // pixels of the picture, where the legend does not stand in its way
const SERVED = ["run", "place"];  // tabs of graphs that were opened from a file, with a server behind them

class Page {
  async start() {
    const wish = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => document.documentElement.classList.toggle("dark", wish.matches);
    follow();
    wish.addEventListener("change", () => {
      follow();
      for (const view of this.allViews()) view.themeChanged();
    });
    this.models = await models();
    this.view = new GraphView(byId("canvas"));
    this.panel = new Panel(byId("panel"), {
      go: (body, node) => this.go(body, node), enter: (body) => this.enter(body), toggle: (placed) => this.view.toggle(placed),
      card: (card) => this.openTab("debugger", true, card), more: (body, node) => this.runTab.ofNode(this.source.model, body, node.id),
    });
    this.runTab = new RunTab(byId("tab-run"), {
      go: (body, node) => this.go(body, node), done: () => this.listColours("run-health"),
      showGraph: () => this.openTab("graph"),
    });
    this.placeTab = new PlaceTab(byId("tab-place"), {showEntry: (entry) => this.added(entry, "graph")});
    this.passes = new PassesTab(byId("tab-passes"), {toStage: (entry) => this.toModel(entry), goTo: (...place) => this.goTo(...place), ran: (entry) => this.ran(entry)});
    this.panes = new Panes(byId("panes"), byId("panel"), {
      look: () => this.view.look, changed: () => this.toUrl(), fail: (error) => this.fail(error), panel: () => this.panel.showModel(),
    });
    this.reading = true;
    this.setUpTabs();
    this.setUpTools();
    this.setUpStages();
    setUpSearch(() => this, (body, node) => this.go(body, node));
    this.view.addEventListener("select", ({box}) => this.chosen(box));
    this.view.addEventListener("change", () => this.changed());
    this.view.addEventListener("error", ({error}) => this.fail(error));
    await this.fromUrl();
    addEventListener("popstate", () => this.fromUrl());
    followFiles(() => this.reload(), (text) => this.fail(new Error(text)));
    performance.mark("ready");
    document.documentElement.dataset.ready = "yes";
  }

  // --- Several graphs: models, or the stages of a folder of dumps.
  // Shows the entry `index` of the list. A stage that changed nothing shows the last one that did.
  async load(index) {
    this.index = index;
    let shown = index;
    while (this.models[shown].same && shown > 0) --shown;
    const source = this.sourceOf(shown);
    this.isDebug = this.models[index].kind === "debug";
    for (const [id] of TABS) {
      byId(`to-${id}`).hidden = SERVED.includes(id) ? isFile || !this.models[index].opened
        : id === "debugger" ? !this.isDebug : id === "diff" ? isFile || this.isDebug : id === "passes" && this.isDebug;
    }
    byId("how").hidden = !this.hasPanes((this.shownEntry = shown));
    this.sayWhere(index);
    const summary = await source.summary();
    if (index !== this.index) return;  // another one was asked for meanwhile
    this.source = source;
    this.summary = summary;
    this.source.markKinds = this.summary.marks?.kinds ?? [];
    document.title = `${this.summary.title} - grapnel`;
    byId("title").textContent = this.summary.title;
    this.view.setModel(this.source, this.summary);
    this.panel.summary = this.summary;
    this.panel.source = this.source;
    this.listColours();
  }

  sourceOf(index) {
    this.sources ??= new Map();
    if (!this.sources.has(index)) this.sources.set(index, new Source(this.models[index].id));
    return this.sources.get(index);
  }

  // What the page opens on: of a debug folder the first cause.
  firstTab() { return this.isDebug ? "debugger" : "graph"; }

  sayWhere(index) {
    const {title, group, note, same} = this.models[index];
    byId("stage-slider").value = index;
    byId("stage-list").value = index;
    byId("stage-note").textContent = [`${index + 1} of ${this.models.length}`, same ? "changes nothing" : note].filter(Boolean).join(": ");
    byId("stage-note").title = [group, title].filter(Boolean).join(": ");
  }

  setUpStages() {
    this.listStages();
    byId("stage-list").addEventListener("change", (event) => this.toModel(Number(event.target.value)));
    byId("stage-slider").addEventListener("input", (event) => this.toModel(Number(event.target.value)));
    byId("stage-back").addEventListener("click", () => this.toModel(this.index - 1));
    byId("stage-next").addEventListener("click", () => this.toModel(this.index + 1));
  }

  listStages() {
    byId("stages").hidden = this.models.length < 2;
    byId("stage-slider").max = this.models.length - 1;
    byId("stage-list").replaceChildren();
    const groups = new Map();
    this.models.forEach(({title, group, same}, i) => {
      const key = group ?? "";
      if (!groups.has(key)) groups.set(key, key ? element("optgroup", {label: key}) : byId("stage-list"));
      groups.get(key).append(element("option", {value: i}, `${title}${same ? " (changes nothing)" : ""}`));
    });
    for (const made of groups.values()) if (made !== byId("stage-list")) byId("stage-list").append(made);
  }

  // The server has made graphs; goes to the first of them.
  async added(entry, tab = this.tab) {
    this.models = await models();
    this.tab = tab;
    this.listStages();
    await this.toModel(entry);
  }

  // The stages of a run are there: the first that did something is shown.
  async ran(entry) {
    await this.added(entry);
    const worked = this.models.findIndex(({run, same}, i) => i > entry && Number(run) === entry && !same);
    if (worked > 0) await this.toModel(worked);
  }

  async toModel(index) {
    if (index < 0 || index >= this.models.length) return;
    const turn = (this.modelTurn = (this.modelTurn ?? 0) + 1);
    try {
      const {group, kind} = this.models[this.index], paths = this.view.openPaths();
      await this.load(index);
      if (turn !== this.modelTurn) return;  // the slider has moved on
      if (byId(`to-${this.tab}`).hidden) this.tab = this.firstTab();
      await this.step(async () => {
        await this.view.show(0);
        if (group === undefined || group !== this.models[index].group) return;
        await this.view.openByPath(paths);  // a stage of the same graph: what was open stays open
        this.view.fit();
      }, this.tab === "passes" ? "passes" : "graph");
      if (turn !== this.modelTurn) return;
      this.panel.showModel();
      await this.setPanes(this.sideBySide);
      this.openTab(this.isDebug && kind !== "debug" ? this.firstTab() : this.tab, false);
      this.shown = index;
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error) {
    byId("counts").textContent = error.message;
    byId("counts").classList.add("problem");
  }

  // --- Tabs.
  setUpTabs() {
    TABS.forEach(([id, text]) => {
      byId("tabs").append(element("button", {type: "button", role: "tab", id: `to-${id}`, "aria-controls": `tab-${id}`, onclick: () => this.openTab(id)}, text));
    });
    this.openTab("graph", false);
  }

  // `card`: of the debugger's.
  openTab(id, remember = true, card = undefined) {
    this.tab = id;
    for (const [other] of TABS) {
      byId(`tab-${other}`).hidden = other !== id;
      byId(`to-${other}`).setAttribute("aria-selected", String(other === id));
    }
    if (id === "debugger" && this.isDebug) this.openDebugger(card);
    if (!this.summary) return;
    if (id === "functions") showFunctions(byId("tab-functions"), this.summary, (body) => this.enter(body));
    if (id === "nodes") showNodes(byId("tab-nodes"), this.source, this.summary, (body, node) => this.go(body, node));
    if (id === "run") this.runTab.show(this.source).catch((error) => this.fail(error));
    if (id === "place") this.placeTab.show(this.source);
    if (id === "passes") this.passes.show(this.models, this.index, (entry) => this.sourceOf(entry)).catch((error) => this.fail(error));
    if (id === "diff") showDiff(byId("tab-diff"), this.models, this.index, (entry) => this.added(entry, "graph"));
    if (id === "graph") this.view.paint();
    if (remember) this.toUrl();
  }

  openDebugger(card) {
    const other = this.debugger?.source !== this.source;
    if (other) {
      const chosen = (shown, step) => this.toUrl(step);
      this.debugger = new DebuggerTab(byId("tab-debugger"), this.source, {go: (body, node) => this.go(body, node), chosen});
    }
    if (other || (card && card !== this.debugger.shown)) this.debugger.show(card).catch((error) => this.fail(error));
  }

  // --- Going to places.
  async enter(body) {
    await this.step(() => this.view.show(body));
    this.panel.showModel();
  }

  // A node of any entry; without one, the entry's graph.
  async goTo(entry, body = undefined, id = undefined) {
    this.tab = "graph";
    await (entry === this.index ? this.openTab("graph") : this.toModel(entry));
    if (id !== undefined) await this.go(body, id);
  }

  // --- Both graphs of a comparison as one, or side by side.
  hasPanes(index) { return Boolean(this.models[index].panes) && !(isFile && this.models[index].run !== undefined); }
  allViews() { return [this.view, this.panes?.a?.view, this.panes?.b?.view].filter(Boolean); }
  views() { return this.panes.on ? this.panes.views() : [this.view]; }

  async setPanes(on, state = undefined) {
    const was = this.panes.on;
    this.sideBySide = on;  // a wish, kept where nothing is to compare
    on &&= this.hasPanes(this.shownEntry);
    await this.panes.show(on, this.models[this.shownEntry].id, state);
    if (was && !on) {
      this.panel.showModel();
      this.view.paint();
    }
    this.toUrl();
  }

  async go(body, id) {
    if (this.panes.on) {
      this.openTab("graph", false);
      return this.panes.go(body, id);
    }
    const node = await this.source.node(body, id);
    await this.step(async () => {
      const found = await this.view.reveal(body, id, node.around);
      if (!found) this.panel.showNode(body, node, undefined);
    });
  }

  // What `move` does is one step back in the browser's history.
  async step(move, tab = "graph") {
    this.openTab(tab, false);
    this.reading = true;
    try {
      await move();
    } finally {
      this.reading = false;
    }
    this.toUrl(true);
  }

  async chosen(placed) {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    this.toUrl();
    if (!placed) return this.panel.showModel();
    const {box, body} = placed;
    byId("announce").textContent = inWords(placed);
    if (box.kind === "scope") return this.panel.showScope(placed);
    try {
      const node = await this.source.node(body, box.id);
      if (turn === this.turn) this.panel.showNode(body, node, placed);
    } catch (error) {
      this.fail(error);
    }
  }

  // --- The lines around the picture.
  async changed() {
    const {body} = this.view, {nodes, data_inputs: data, control_inputs: control} = this.summary.bodies[body];
    const name = (i) => (i === 0 ? "main" : this.summary.bodies[i].name);
    byId("crumbs").replaceChildren(...(body === 0 ? [element("strong", {}, "main")]
      : [link("main", () => this.enter(0)), " \u25b8 ", element("strong", {}, `\u0192 ${name(body)}`)]));
    const {counts} = await this.source.scope(body, undefined);
    const shown = this.view.boxes.filter((box) => !box.inner).length;
    const parts = [`${plural(nodes, "op")}: ${plural(shown, "box")}`.replace("boxs", "boxes")];
    if (counts.constants > 0) parts.push(`${plural(counts.constants, "constant")} folded into their readers`);
    if (counts.no_ops > 0) parts.push(`${plural(counts.no_ops, "NoOp")} folded`);
    parts.push(`${commas(data + control)} inputs, ${commas(counts.drawn)} as lines, ${commas(counts.folded)} inside boxes`);
    if (counts.dangling > 0) parts.push(`${plural(counts.dangling, "input")} not found`);
    byId("counts").textContent = `${parts.join("; ")}. Data flows down.`;
    byId("counts").classList.remove("problem");
    this.colour();
    this.toUrl();
  }

  setUpTools() {
    const {view} = this;
    const each = (act) => () => this.views().forEach(act);
    const zoom = (view, factor) => view.zoomAt(view.canvas.clientWidth / 2, view.canvas.clientHeight / 2, factor);
    byId("fit").addEventListener("click", each((shown) => shown.fit()));
    byId("zoom-in").addEventListener("click", each((shown) => zoom(shown, 1.25)));
    byId("zoom-out").addEventListener("click", each((shown) => zoom(shown, 0.8)));
    byId("close-all").addEventListener("click", each((shown) => shown.closeAll()));
    for (const id of ["how-merged", "how-side"]) byId(id).addEventListener("click", () => this.setPanes(id === "how-side").catch((error) => this.fail(error)));
    byId("control").addEventListener("change", (event) => {
      view.look.hideControl = !event.target.checked;
      view.paint();
      this.panes.follow();
    });
    byId("legend-box").open = view.canvas.clientWidth > WIDE;
    byId("color").addEventListener("change", (event) => this.colour(event.target.value));
    byId("help-button").addEventListener("click", () => byId("help").showModal());
    byId("theme").addEventListener("click", () => {
      document.documentElement.classList.toggle("dark");
      for (const shown of this.allViews()) shown.themeChanged();
    });
    addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.target.closest("input, select, textarea, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
    const chosen = this.views().find((view) => view.chosen)?.chosen;
    if (event.key === "/") byId("search").focus();
    else if (event.key === "?") byId("help").showModal();
    else if (event.key === "c" && chosen) navigator.clipboard?.writeText(chosen.box.path);
    else if (event.key === "[") this.toModel(this.index - 1);
    else if (event.key === "]") this.toModel(this.index + 1);
    else if (/^[1-9]$/u.test(event.key) && this.tabsShown()[event.key - 1]) this.openTab(this.tabsShown()[event.key - 1]);
    else return;
    event.preventDefault();
  }

  // `wish`: what is coloured by from now on, if there is such a choice.
  listColours(wish = byId("color").value) {
    this.runColours = this.runTab.coloursOf(this.source.model);
    const choices = colourChoices(this.summary, this.runColours), {marks} = this.summary;
    byId("color").replaceChildren(...choices.map(([id, text]) => element("option", {value: id}, text)));
    const kept = !marks && choices.some(([id]) => id === wish);
    if (marks?.by_device) byId("color").value = "device";
    else if (wish.startsWith("run-") ? this.runColours : kept) byId("color").value = wish;
    this.colour();
  }

  colour(by = byId("color").value) {
    const {look} = this.view;
    const swatches = colourBy(by, look, this.summary, this.runColours, (cost) => this.view.frame?.view[`all_${cost}`]);
    drawLegend(byId("legend"), swatches, look.byDevice);
    this.view.paint();
    this.panes.follow();
  }

  // --- Files that change.
  // The graphs as they are now, with the same things open and chosen.
  async reload() {
    const {view} = this, {path} = view.chosen?.box ?? {}, {x, y, zoom} = view.at, {tab} = this;
    const body = this.summary.bodies[view.body].name, paths = view.openPaths();
    this.models = await models();
    this.sources = new Map();
    this.debugger = undefined;
    for (const tab of [this.runTab, this.placeTab]) tab.forget();
    this.listStages();
    await this.load(Math.min(this.index, this.models.length - 1));
    const again = this.summary.bodies.findIndex((other) => other.name === body);
    this.reading = true;
    await view.show(Math.max(again, 0));
    await view.openByPath(paths);
    Object.assign(view.at, {x, y, zoom});
    this.reading = false;
    const box = view.boxes.find((other) => other.box.path === path);
    if (path && box) view.select(box);
    else this.panel.showModel();
    await this.setPanes(this.sideBySide);
    this.openTab(byId(`to-${tab}`).hidden ? this.firstTab() : tab, false);
    view.paint();
    byId("announce").textContent = "The files have changed and were read again.";
  }

  // --- The URL holds the view.
  toUrl(step = false) {
    if (this.reading) return;
    const state = new URLSearchParams();
    if (this.index !== 0) state.set("graph", this.index);
    if (this.tab !== this.firstTab()) state.set("tab", this.tab);
    if (this.tab === "debugger" && this.debugger?.shown) state.set("card", this.debugger.shown);
    if (this.view.body !== 0) state.set("body", this.view.body);
    state.set("open", [...this.view.open].join(","));
    if (this.view.look.selected) state.set("chosen", this.view.look.selected);
    if (this.panes.on) this.panes.toState(state);
    const url = `${location.pathname}${location.search}#${state}`;
    if (url === `${location.pathname}${location.search}${location.hash}`) return;
    if (step) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
  }

  async fromUrl() {
    const state = new URLSearchParams(location.hash.slice(1));
    this.reading = true;
    const index = Number(state.get("graph") ?? 0);
    await this.load(index < this.models.length ? index : 0);
    if (state.has("open")) this.view.open = new Set(state.get("open").split(",").filter(Boolean));
    const body = Number(state.get("body") ?? 0);
    await this.view.show(body < this.summary.bodies.length ? body : 0, !state.has("open"));
    this.panel.showModel();
    const chosen = state.get("chosen");
    const box = chosen && this.view.boxes.find((other) => `${other.instance}|${other.box.key}` === chosen);
    await this.setPanes(state.has("side"), state);
    this.reading = false;
    if (box && !this.panes.on) {
      this.view.select(box);
      this.view.keepInSight(chosen);
    }
    const tab = TABS.some(([id]) => id === state.get("tab") && !byId(`to-${id}`).hidden) ? state.get("tab") : this.firstTab();
    this.openTab(tab, false, state.get("card") ?? undefined);
  }
}

const page = new Page();
globalThis.grapnel = page;  // for the console, and for tests
page.start().catch((error) => {
  byId("counts").textContent = `This cannot be shown: ${error.message}`;
  byId("counts").classList.add("problem");
});
