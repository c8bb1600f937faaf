// The page: tabs, what the URL holds, and what belongs to no tab alone.

import {byId, commas, element, link, plural} from "./dom.js";
import {DebuggerTab} from "./debugger_tab.js";
import {showFunctions} from "./functions_tab.js";
import {GraphView} from "./graph_view.js";
import {showNodes} from "./nodes_tab.js";
import {Panel} from "./panel.js";
import {PlaceTab} from "./place_tab.js";
import {RunTab} from "./run_tab.js";
import {setUpSearch} from "./search.js";
import {isFile, models, Source} from "./source.js";

const TABS = [["graph", "Graph"], ["functions", "Functions"], ["nodes", "Nodes"], ["debugger", "Debugger"], ["run", "Run"], ["place", "Placement"]];
const SERVED = ["run", "place"];  // tabs of graphs that were opened from a file, with a server behind them
const COLOURS = [["op", "by kind of op"], ["device", "by device"], ["none", "none"]];
const SEVERAL = 4;  // the fill of a scope with marks of several kinds

class Page {
  async start() {
    const wish = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => document.documentElement.classList.toggle("dark", wish.matches);
    follow();
    wish.addEventListener("change", () => {
      follow();
      this.view?.themeChanged();
    });
    this.models = await models();
    this.view = new GraphView(byId("canvas"));
    this.panel = new Panel(byId("panel"), {
      go: (body, node) => this.go(body, node), enter: (body) => this.enter(body), toggle: (placed) => this.view.toggle(placed),
      more: (body, node) => this.runTab.ofNode(this.source.model, body, node.id),
    });
    this.runTab = new RunTab(byId("tab-run"), {
      go: (body, node) => this.go(body, node), done: () => this.listColours("run-health"),
      showGraph: () => this.openTab("graph"),
    });
    this.placeTab = new PlaceTab(byId("tab-place"), {showEntry: (entry) => this.showAdded(entry)});
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
    performance.mark("ready");
    document.documentElement.dataset.ready = "yes";
  }

  // --- Several graphs: models, or the stages of a folder of dumps.
  // Shows the entry `index` of the list. A stage that changed nothing shows the last one that did.
  async load(index) {
    this.index = index;
    let shown = index;
    while (this.models[shown].same && shown > 0) --shown;
    this.sources ??= new Map();
    if (!this.sources.has(shown)) this.sources.set(shown, new Source(this.models[shown].id));
    const source = this.sources.get(shown);
    this.isDebug = this.models[index].kind === "debug";
    for (const [id] of TABS) {
      byId(`to-${id}`).hidden = SERVED.includes(id) ? isFile || !this.models[index].opened : (id === "debugger") !== this.isDebug;
    }
    byId("search").disabled = this.isDebug;
    this.sayWhere(index);
    if (this.isDebug) return this.loadDebug(source, this.models[index]);
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

  loadDebug(source, {title}) {
    this.source = source;
    this.summary = undefined;
    document.title = `${title} - grapnel`;
    byId("title").textContent = title;
  }

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
    byId("stage-list").replaceChildren();
    byId("stage-slider").max = this.models.length - 1;
    const groups = new Map();
    this.models.forEach(({title, group, same}, i) => {
      const key = group ?? "";
      if (!groups.has(key)) groups.set(key, key ? element("optgroup", {label: key}) : byId("stage-list"));
      groups.get(key).append(element("option", {value: i}, `${title}${same ? " (changes nothing)" : ""}`));
    });
    for (const made of groups.values()) if (made !== byId("stage-list")) byId("stage-list").append(made);
  }

  // An entry that the server has made since.
  async showAdded(index) {
    this.models = await models();
    this.listStages();
    this.tab = "graph";
    await this.toModel(index);
  }

  async toModel(index) {
    if (index < 0 || index >= this.models.length) return;
    const turn = (this.modelTurn = (this.modelTurn ?? 0) + 1);
    try {
      const {group} = this.models[this.index], paths = this.view.openPaths();
      await this.load(index);
      if (turn !== this.modelTurn) return;  // the slider has moved on
      if (this.isDebug) return this.openTab("debugger");
      if (byId(`to-${this.tab}`).hidden) this.tab = "graph";
      await this.step(async () => {
        await this.view.show(0);
        if (group === undefined || group !== this.models[index].group) return;
        await this.view.openByPath(paths);  // a stage of the same graph: what was open stays open
        this.view.fit();
      });
      if (turn !== this.modelTurn) return;
      this.panel.showModel();
      this.openTab(this.tab, false);
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

  openTab(id, remember = true) {
    this.tab = id;
    for (const [other] of TABS) {
      byId(`tab-${other}`).hidden = other !== id;
      byId(`to-${other}`).setAttribute("aria-selected", String(other === id));
    }
    if (id === "debugger" && this.isDebug) new DebuggerTab(byId("tab-debugger"), this.source).show().catch((error) => this.fail(error));
    if (!this.summary) return;
    if (id === "functions") showFunctions(byId("tab-functions"), this.summary, (body) => this.enter(body));
    if (id === "nodes") showNodes(byId("tab-nodes"), this.source, this.summary, (body, node) => this.go(body, node));
    if (id === "run") this.runTab.show(this.source).catch((error) => this.fail(error));
    if (id === "place") this.placeTab.show(this.source);
    if (id === "graph") this.view.paint();
    if (remember) this.toUrl();
  }

  // --- Going to places.
  async enter(body) {
    await this.step(() => this.view.show(body));
    this.panel.showModel();
  }

  async go(body, id) {
    const node = await this.source.node(body, id);
    await this.step(async () => {
      const found = await this.view.reveal(body, id, node.around);
      if (!found) this.panel.showNode(body, node, undefined);
    });
  }

  // What `move` does is one step back in the browser's history.
  async step(move) {
    this.openTab("graph", false);
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
    const words = box.kind === "scope" ? `scope ${box.path}, ${plural(box.ops, "op")}` : `${box.op} ${box.name}`;
    byId("announce").textContent = `${words}${placed.inner ? ", open" : ""}`;
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
    this.toUrl();
  }

  setUpTools() {
    const {view} = this;
    byId("fit").addEventListener("click", () => view.fit());
    byId("zoom-in").addEventListener("click", () => view.zoomAt(view.canvas.clientWidth / 2, view.canvas.clientHeight / 2, 1.25));
    byId("zoom-out").addEventListener("click", () => view.zoomAt(view.canvas.clientWidth / 2, view.canvas.clientHeight / 2, 0.8));
    byId("close-all").addEventListener("click", () => view.closeAll());
    byId("control").addEventListener("change", (event) => {
      view.look.hideControl = !event.target.checked;
      view.paint();
    });
    byId("color").addEventListener("change", (event) => this.colour(event.target.value));
    byId("help-button").addEventListener("click", () => byId("help").showModal());
    byId("theme").addEventListener("click", () => {
      document.documentElement.classList.toggle("dark");
      view.themeChanged();
    });
    addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.target.closest("input, select, textarea, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") byId("search").focus();
    else if (event.key === "?") byId("help").showModal();
    else if (event.key === "c" && this.view.chosen) navigator.clipboard?.writeText(this.view.chosen.box.path);
    else if (event.key === "[") this.toModel(this.index - 1);
    else if (event.key === "]") this.toModel(this.index + 1);
    else if (/^[1-9]$/u.test(event.key) && TABS[event.key - 1] && !byId(`to-${TABS[event.key - 1][0]}`).hidden) this.openTab(TABS[event.key - 1][0]);
    else return;
    event.preventDefault();
  }

  // `wish`: what is coloured by from now on, if there is such a choice.
  listColours(wish = byId("color").value) {
    const marks = this.summary.marks ? [["marks", this.summary.marks.title]] : [];
    this.runColours = this.runTab.coloursOf(this.source.model);
    const choices = [...marks, ...COLOURS, ...(this.runColours?.choices() ?? [])];
    byId("color").replaceChildren(...choices.map(([id, text]) => element("option", {value: id}, text)));
    if (this.summary.marks?.by_device) byId("color").value = "device";
    else if (wish.startsWith("run-") && this.runColours) byId("color").value = wish;
    this.colour(byId("color").value);
  }

  colour(by) {
    const {look} = this.view;
    const devices = new Map();
    const run = by.startsWith("run-") ? this.runColours : undefined;
    look.byDevice = by === "device";
    look.glows = by === "run-health" ? (placed) => run.glows(placed) : undefined;
    look.fillOf = by === "op" ? ({box}) => (box.kind === "op" ? look.theme.fills[box.group] : undefined)
      : by === "none" ? () => undefined
      : run ? (placed) => run.fill(by, placed, look.theme)
      : by === "marks" ? ({box}) => this.markFill(box)
      : ({box}) => {
          const names = box.kind === "op" ? [box.device].filter(Boolean) : Object.keys(box.devices ?? {});
          return names.length === 1 && devices.has(names[0]) ? look.theme.fills[devices.get(names[0])] : undefined;
        };
    const swatches = [];
    if (by === "op") this.summary.groups.forEach((text, i) => swatches.push([i, text]));
    if (by === "device") {
      (this.summary.devices ?? []).slice(0, 8).forEach((text, i) => {
        devices.set(text, i + 1);
        swatches.push([i + 1, text]);
      });
      if (swatches.length === 0) swatches.push([0, "no node asks for a device"]);
    }
    if (by === "marks") {
      this.summary.marks.kinds.forEach((text, i) => swatches.push([i, text]));
      swatches.push([SEVERAL, "several of these"]);
    }
    if (run) swatches.push(...run.legend(by));
    const items = swatches.map(([fill, text]) => {
      const item = element("li", {}, element("i"), text);
      item.firstChild.style.background = `var(--${by === "marks" || run ? "mark" : "fill"}-${fill})`;
      return item;
    });
    if (run) items.splice(swatches.length, 0, element("li", {}, element("i"), by === "run-health" ? "did not run" : "less, or did not run"));
    if (by === "device") items.push(element("li", {}, element("i", {class: "line crossing"}), "crosses between devices"));
    items.push(element("li", {}, element("i", {class: "line"}), "data, down"), element("li", {}, element("i", {class: "line dashed"}), "control"));
    byId("legend").replaceChildren(element("ul", {}, ...items));
    this.view.paint();
  }

  markFill(box) {
    const kinds = (box.marks ?? []).flatMap((count, i) => (count > 0 ? [i] : []));
    return kinds.length === 0 ? undefined : this.view.look.theme.marks[kinds.length === 1 ? kinds[0] : SEVERAL];
  }

  // --- The URL holds the view.
  toUrl(step = false) {
    if (this.reading) return;
    const state = new URLSearchParams();
    if (this.index !== 0) state.set("graph", this.index);
    if (this.tab !== "graph") state.set("tab", this.tab);
    if (this.view.body !== 0) state.set("body", this.view.body);
    if (!this.isDebug) state.set("open", [...this.view.open].join(","));
    if (this.view.look.selected) state.set("chosen", this.view.look.selected);
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
    if (this.isDebug) {
      this.reading = false;
      return this.openTab("debugger", false);
    }
    if (state.has("open")) this.view.open = new Set(state.get("open").split(",").filter(Boolean));
    const body = Number(state.get("body") ?? 0);
    await this.view.show(body < this.summary.bodies.length ? body : 0, !state.has("open"));
    this.panel.showModel();
    const chosen = state.get("chosen");
    const box = chosen && this.view.boxes.find((other) => `${other.instance}|${other.box.key}` === chosen);
    this.reading = false;
    if (box) {
      this.view.select(box);
      this.view.keepInSight(chosen);
    }
    this.openTab(TABS.some(([id]) => id === state.get("tab") && !byId(`to-${id}`).hidden) ? state.get("tab") : "graph", false);
  }
}

const page = new Page();
globalThis.grapnel = page;  // for the console, and for tests
page.start().catch((error) => {
  byId("counts").textContent = `This cannot be shown: ${error.message}`;
  byId("counts").classList.add("problem");
});
