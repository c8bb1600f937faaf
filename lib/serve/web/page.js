// The page: the current graph and view, the URL, and all parts of the page that no single tab owns.

import {showAddress, stateOf} from "./address.js";
import {colorBy, colorChoices, drawLegend} from "./colors.js";
import {crumbsOf} from "./crumbs.js";
import {byId, commas, element, isEmbedded, plural} from "./dom.js";
import {boxKey} from "./frames.js";
import {GraphView} from "./graph_view.js";
import {waysFrom} from "./node_ways.js";
import {ModelRow} from "./model_row.js";
import {inWords, Panel} from "./panel.js";
import {Panes} from "./panes.js";
import {followFiles} from "./reload.js";
import {setUpSearch} from "./search.js";
import {models, Source} from "./source.js";
import {StageList} from "./stage_list.js";
import {StoryList, storyOf} from "./stories.js";
import {Tabs} from "./tabs.js";
import {FilterPanel} from "./filter_panel.js";
import {Visibility} from "./visibility.js";
import {followTheme, setUpTools} from "./tools.js";
import {Values} from "./values.js";

// Tabs use, among others: models (the list of graphs), index (of the shown graph), source and
// summary (the shown graph's documents), and
//   go(body, node), enter(body)     show a node, or a function, of this graph
//   goTo(index, body, node)         shows a node of any graph; without a node, only the graph
//   openTab(name), added(index)     show a tab, or a graph that the server has just made
//   listColors(wish)                colors by `wish`, if the graph has that choice
//   toUrl(step), fail(error)
class Page {
  async start() {
    followTheme(this);
    this.models = await models();
    this.view = new GraphView(byId("canvas"));
    this.tabs = new Tabs(this);
    this.panel = new Panel(byId("panel"), {
      go: (body, node) => this.go(body, node),
      enter: (body) => this.enter(body),
      toggle: (placed) => this.view.toggle(placed),
      card: (card) => this.openTab("debugger", true, card),
      find: (text) => this.find(text),
      ways: (body, node) => waysFrom(this, body, node),
      more: async (body, node) => [...this.values.ofNode(body, node.id),
        ...await this.tabs.ofNode(this.source.model, body, node.id)],
      numbers: (placed) => this.values.ofScope(placed, (body, one) => this.go(body, one.id)),
    });
    for (const event of ["click", "focus"]) byId("panel").addEventListener(event, () => this.tell(true));
    this.panes = new Panes(byId("panes"), byId("panel"), {
      color: (view) => this.paintAs(view),
      filter: (view) => this.filtering.follow(view),
      changed: () => this.toUrl(),
      fail: (error) => this.fail(error),
      panel: () => this.panel.showModel(),
    });
    this.values = new Values(this);
    await this.values.start();
    this.reading = true;
    this.row = new ModelRow(this);
    this.stages = new StageList((index) => this.toModel(index), () => this.index);
    this.stories = new StoryList((index) => this.toModel(index), () => this.index);
    this.row.list(this.models);
    setUpTools(this);
    this.filtering = new Visibility(this);
    this.filterPanel = new FilterPanel(this, this.filtering);
    this.find = setUpSearch(() => this, () => this.view.boxes, (body, node) => this.go(body, node),
      (layer) => this.goLayer(layer));
    this.view.addEventListener("select", ({box}) => this.chosen(box));
    this.view.addEventListener("change", () => this.changed());
    this.view.addEventListener("error", ({error}) => this.fail(error));
    this.openTab("graph", false);
    await this.fromUrl();
    addEventListener("popstate", () => this.fromUrl());
    followFiles(() => this.reload(), (text) => this.fail(new Error(text)));
    performance.mark("ready");
    document.documentElement.dataset.ready = "yes";
  }

  get tab() { return this.tabs.chosen; }

  // Loads the entry `index` of the list of graphs. For a stage that changed nothing, loads the
  // graph of the last stage that changed something.
  async load(index) {
    this.index = index;
    const entries = this.row.entriesOf(this.row.modelOf(index));
    this.stages.list(this.models, this.stories.list(this.models, entries, index));
    this.row.mark();
    const shown = this.models[index].shows ?? index;
    const source = this.sourceOf(shown);
    this.tabs.list(this.models[index].tabs);
    byId("how").hidden = !this.hasPanes((this.shownEntry = shown));
    this.stages.mark(index);
    const summary = await source.summary();
    if (index !== this.index) return;  // the user has chosen another entry
    this.source = source;
    this.summary = summary;
    this.source.markKinds = this.summary.marks?.kinds ?? [];
    const title = [storyOf(this.models, index)?.title, this.summary.title].filter(Boolean).join(": ");
    document.title = `${title} - grapnel`;
    byId("title").textContent = byId("title").title = this.row.titleOf(index, title);
    this.view.setModel(this.source, this.summary);
    this.panel.summary = this.summary;
    this.panel.source = this.source;
    this.listColors(this.summary.marks && !this.values.setOf(byId("color").value) ? this.firstColor
      : byId("color").value);
  }

  sourceOf(index) {
    this.sources ??= new Map();
    if (!this.sources.has(index)) this.sources.set(index, new Source(this.models[index].id));
    return this.sources.get(index);
  }

  // Shows the first of the graphs that the server has just made.
  async added(entry, tab = this.tab) {
    this.models = await models();
    this.tabs.choose(tab);
    this.row.list(this.models);
    await this.toModel(entry);
  }

  async toModel(index) {
    if (index < 0 || index >= this.models.length) return;
    const turn = (this.modelTurn = (this.modelTurn ?? 0) + 1);
    try {
      const {group, tabs} = this.models[this.index], paths = this.view.openPaths();
      const told = storyOf(this.models, this.index)?.function;
      await this.load(index);
      if (turn !== this.modelTurn) return;  // the slider has moved on
      // leads: the first tab of the new entry is a special one (such as that of a debug folder),
      // but that of the entry before was another; so show it.
      const first = this.tabs.first(), leads = first !== "graph" && first !== tabs[0];
      if (!this.tabs.has(this.tab)) this.tabs.choose(first);
      await this.step(async () => {
        await this.view.show(0);
        if (turn !== this.modelTurn) return;
        if (group === undefined || !this.isAlike(index, group, told)) return;
        await this.view.openByPath(paths);  // opens the scopes that were open before
        this.view.see();
      }, this.tab === "passes" ? "passes" : "graph");
      if (turn !== this.modelTurn) return;
      this.panel.showModel();
      await this.setPanes(this.sideBySide);
      this.openTab(leads ? first : this.tab, false);
      this.shown = index;
    } catch (error) {
      this.fail(error);
    }
  }

  // True if entry `index` belongs with the entry shown before: it is in the same group of the list,
  // `group`, or a stage of the same function, `told`.
  isAlike(index, group, told) {
    if (group === this.models[index].group) return true;
    return told !== undefined && told === storyOf(this.models, index)?.function;
  }

  fail(error) {
    byId("counts").textContent = error.message;
    byId("counts").classList.add("problem");
  }

  // Opens a tab. `at`: a position in the tab, in the tab's own format (tabs.js).
  openTab(name, remember = true, at = undefined) {
    this.tabs.choose(name);
    if (!this.summary) return;
    this.tabs.show(name, at).catch((error) => this.fail(error));
    if (remember) this.toUrl();
  }

  async enter(body) {
    await this.step(() => this.view.show(body));
    this.panel.showModel();
  }

  // Shows a node of any entry; without a node, only the entry's graph.
  async goTo(entry, body = undefined, id = undefined) {
    this.tabs.choose("graph");
    await (entry === this.index ? this.openTab("graph") : this.toModel(entry));
    if (id !== undefined) await this.go(body, id);
  }

  // True if the entry is a comparison, which can be shown as one graph or as two side by side.
  hasPanes(index) { return Boolean(this.models[index].panes); }
  allViews() { return [this.view, this.panes?.a?.view, this.panes?.b?.view].filter(Boolean); }
  views() { return this.panes.on ? this.panes.views() : [this.view]; }

  async setPanes(on, state = undefined) {
    const was = this.panes.on;
    this.sideBySide = on;  // the user's preference, kept for entries without a comparison
    on &&= this.hasPanes(this.shownEntry);
    await this.panes.show(on, this.models[this.shownEntry].id, state);
    if (was !== on) this.boxless = undefined;
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
      const found = await this.view.reveal(body, node.reader?.id ?? id, node.around);
      if (found && !node.folded) return;
      this.showBoxless(body, node);
      if (!found && this.filtering.filter.on) this.panel.showHidden(() => this.showHidden(body, id));
    });
  }

  // Shows the box of a layer; see searchLayers.
  async goLayer({body, scope, node}) {
    if (this.panes.on || scope < 0) return this.go(body, node);
    const {around} = await this.source.node(body, node);
    let found;
    await this.step(async () => {
      found = await this.view.reveal(body, scope, around.slice(0, around.indexOf(scope)), {key: "scope"});
    });
    if (!found) await this.go(body, node);  // a filter hides the box
  }

  // Shows a node without a box of its own in the panel.
  showBoxless(body, node) {
    this.turn = (this.turn ?? 0) + 1;  // the panel no longer shows the selected box
    this.boxless = `${body}/${node.id}`;
    this.tell(true);
    this.panel.showNode(body, node, undefined);
  }

  async showHidden(body, id) {
    await this.filtering.all();
    await this.go(body, id);
  }

  // Opens a tab, calls `move`, and adds the result to the browser's history as one step.
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

  // In a narrow window the panel takes room only while it tells about a selection (`on`).
  tell(on) {
    const {view} = this, {isWhole, canvas} = view, width = canvas.clientWidth;
    byId("tab-graph").classList.toggle("told", on);
    if (canvas.clientWidth === width) return;
    if (isWhole) view.fit();
    else if (view.chosen) view.keepInSight(boxKey(view.chosen));
  }

  async chosen(placed) {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    this.boxless = undefined;
    this.tell(Boolean(placed));
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

  // Updates the text around the picture: the path to the body, counts, colors.
  async changed() {
    const {body} = this.view, {nodes, data_inputs: data, control_inputs: control} = this.summary.bodies[body];
    byId("crumbs").replaceChildren(...crumbsOf(this, body));
    const {counts} = await this.source.scope(body, undefined);
    const shown = this.view.boxes.filter((box) => !box.inner).length;
    const parts = [`${plural(nodes, "op")}: ${plural(shown, "box")}`.replace("boxs", "boxes")];
    const hidden = await this.filtering.filter.of(this.source, body);
    const constants = counts.constants - (hidden?.foldedConstants ?? 0);
    if (constants > 0) parts.push(`${plural(constants, "constant")} folded into their readers`);
    if (counts.no_ops > 0) parts.push(`${plural(counts.no_ops, "NoOp")} folded`);
    if (counts.invariants > 0)
      parts.push(`${plural(counts.invariants, "argument")} and results that do not change left out`);
    parts.push(`${commas(data + control)} inputs, ${commas(counts.drawn)} as lines, ` +
      `${commas(counts.folded)} inside boxes`);
    if (counts.dangling > 0) parts.push(`${plural(counts.dangling, "input")} not found`);
    byId("counts").replaceChildren(`${parts.join("; ")}. Data flows down.`, ...await this.filtering.line());
    byId("counts").classList.remove("problem");
    this.color();
    this.toUrl();
  }

  // Lists the choices for coloring and selects `wish` if it is one of them, else the default.
  listColors(wish) {
    this.runColors = this.tabs.colors(this.source.model);
    const choices = colorChoices(this.summary, this.runColors, this.values.choices());
    byId("color").replaceChildren(...choices.map(([id, text]) => element("option", {value: id}, text)));
    byId("color").value = choices.some(([id]) => id === wish) ? wish : this.firstColor;
    this.color();
  }

  // The choice for coloring that is the default.
  get firstColor() {
    const {marks} = this.summary;
    return marks ? (marks.by_device ? "device" : "marks") : this.values.first ?? "op";
  }

  color(by = byId("color").value) {
    const {look} = this.view, total = (cost) => this.view.frame?.view[`all_${cost}`];
    this.swatches = this.values.color(this.view, by)
      ?? colorBy(by, look, this.summary, this.runColors, total);
    drawLegend(byId("legend"), this.swatches, {byDevice: look.byDevice, through: this.filtering.filter.on,
      grouped: this.view.boxes.some(({box}) => box.made_up), beside: this.values.legend(by)});
    this.view.paint();
    this.panes.follow();
  }

  // Gives the view of a side of a comparison the colors of the merged picture.
  paintAs(view) {
    const {fillOf, byDevice} = this.view.look;
    if (!this.values.color(view, byId("color").value)) Object.assign(view.look, {fillOf, byDevice});
  }

  // Sets the theme, dark or light. `isChosen`: by the user, or by the page around this one.
  turnTheme(dark, isChosen = true) {
    this.hasChosenTheme ||= isChosen;
    document.documentElement.classList.toggle("dark", dark);
    for (const shown of this.allViews()) shown.themeChanged();
    if (this.summary) this.color();
    this.row?.turnTheme();
  }

  // Reloads the graphs, keeping the viewport and, as far as they still exist, the open scopes and
  // the selected box.
  async reload() {
    const {view, tab} = this, {path} = view.chosen?.box ?? {}, {x, y, zoom} = view.at;
    const body = this.summary.bodies[view.body].name, paths = view.openPaths();
    this.models = await models();
    this.sources = new Map();
    this.tabs.forget();
    await this.values.start();
    this.row.list(this.models);
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
    this.openTab(this.tabs.has(tab) ? tab : this.tabs.first(), false);
    view.paint();
    byId("announce").textContent = "The files have changed and were read again.";
  }

  // Writes the state of the page, such as graph, tab, open scopes, filter and selection, into the
  // URL. `step`: true to add a step to the browser's history.
  toUrl(step = false) {
    if (this.reading || this.row.isBeside || isEmbedded) return;
    const state = this.state(), url = this.row.url(state);
    this.row.tell(state);
    if (url === `${location.pathname}${location.search}${location.hash}`) return;
    if (step) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
  }

  state() { return stateOf(this); }

  async fromUrl() {
    this.reading = true;
    try {
      await showAddress(this);
    } finally {
      this.reading = false;
    }
  }
}

const page = new Page();
globalThis.grapnel = page;  // for the browser's console, and for tests
page.start().catch((error) => {
  byId("counts").textContent = `This cannot be shown: ${error.message}`;
  byId("counts").classList.add("problem");
});
