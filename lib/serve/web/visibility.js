// The visible part of the graph: the filter of all views, its description in the line above the
// picture, and its place in the address.

import {byId, commas, link, plural} from "./dom.js";
import {Filter, SHOWN} from "./filter.js";
import {boxKey} from "./frames.js";

const LISTED = 6;      // ops in the line above the picture
const MOST_OPEN = 60;  // a part with more nodes has only some scopes opened automatically

const words = (text) => (text ? text.split(",").filter(Boolean) : []);

// Returns the number of hidden scopes in open frames of which it is unknown which input leads to
// which output.
function untoldIn(frame) {
  const inner = (frame?.boxes ?? []).flatMap((placed) => placed.inner?.frames ?? []);
  return inner.reduce((sum, other) => sum + untoldIn(other), frame?.view.unknown?.size ?? 0);
}

export class Visibility {
  constructor(page) {
    this.page = page;
    this.filter = new Filter();
    for (const [id, word] of [["control", "control"], ["handles", "resources"]]) {
      byId(id).addEventListener("change", ({target}) => this.hide(word, !target.checked));
    }
  }

  // Hides what a word of the filter names, or shows it again. Like every change of the filter, this
  // is a step in the browser's history; errors are shown above the picture.
  hide(word, on = true) {
    const others = this.filter.hide.filter((other) => other !== word);
    return this.set({hide: on ? [...others, word] : others});
  }

  only(word, on = true) {
    const others = this.filter.only.filter((other) => other !== word);
    return this.set({only: on ? [...others, word] : others});
  }

  all() { return this.set({hide: [], only: [], around: "", path: ""}); }
  around(name, hops = 2) { return this.set({around: name, hops, path: ""}); }

  // Shows the paths from one node to the other or, if there are none, the paths in the opposite
  // direction.
  async paths(from, to) {
    const tries = [`${from}..${to}`, `${to}..${from}`];
    for (const [i, path] of tries.entries()) {
      const filter = this.filter.with({path, around: ""});
      try {
        const {body} = await filter.place(this.page.source);
        await filter.of(this.page.source, body);
        return await this.set({path, around: ""});
      } catch (error) {
        if (i > 0 || !error.message.startsWith("there is no path")) throw error;
      }
    }
    return undefined;
  }

  async set(change) {
    try {
      await this.use(this.filter.with(change));
    } catch (error) {
      this.page.fail(error);
    }
  }

  async use(filter) {
    const {page} = this, {view} = page, other = filter.around !== this.filter.around
      || filter.path !== this.filter.path || filter.hops !== this.filter.hops;
    const place = await filter.place(page.source), {body} = place ?? view;
    await filter.of(page.source, body);  // may throw, before anything changes
    await page.step(async () => {
      this.apply(filter);
      if (place && other) await this.openPart(place);
      else if (other) await this.leavePart();
      else for (const shown of page.allViews()) await shown.update();
      if (other) view.fit();
    }, page.tab);
    this.changed?.();
  }

  apply(filter) {
    this.filter = filter;
    byId("control").checked = !filter.has("control");
    byId("handles").checked = !filter.has("resources");
    byId("filter").setAttribute("aria-pressed", String(filter.on || filter.hide.length > 0));
    for (const view of this.page.allViews()) this.follow(view);
  }

  // Sets the filter of a view, without redrawing the view.
  follow(view) {
    const {filter} = this;
    view.filter = filter;
    Object.assign(view.look, {hideControl: filter.has("control"), hideHandles: filter.has("resources"),
      hideShapes: filter.has("shapes")});
  }

  // Opens the scopes around the nodes of the selected part; for a large part, only those around the
  // nodes that the filter names.
  async openPart({body, nodes}) {
    const {view, source} = this.page;
    this.before ??= {body: view.body, open: new Set(view.open)};
    const hidden = await this.filter.of(source, body), few = hidden.total - hidden.cut <= MOST_OPEN;
    const seen = few ? [...hidden.nodes.keys()].filter((id) => hidden.nodes[id] === SHOWN) : nodes;
    const found = await Promise.all(seen.map((id) => source.node(body, id).catch(() => undefined)));
    view.open = new Set(found.flatMap((node) => node?.around.map((scope) => `${body}|${scope}`) ?? []));
    await view.show(body, false);
    view.keepKnownOpen();
    const first = view.boxes.find(({box}) => box.kind !== "scope" && box.id === nodes[0]);
    if (!first) return;
    view.select(first);
    view.keepInSight(boxKey(first));
  }

  async leavePart() {
    const {view} = this.page, {before} = this;
    this.before = undefined;
    view.open = before?.open ?? new Set();
    if (!before) view.openAsFirst(String(view.body), view.body);
    await view.show(before?.body ?? view.body, !before);
  }

  async line() {
    const {filter, page} = this, {view} = page, parts = [];
    const hidden = filter.on ? await filter.of(page.source, view.body) : undefined;
    const ops = [...hidden?.ops ?? []].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const told = ops.slice(0, LISTED).map(([op, count]) => `${commas(count)} ${op}`);
    if (ops.length > LISTED) told.push(`${plural(ops.length - LISTED, "other kind")} of ops`);
    if (filter.has("control")) told.push("control edges");
    if (filter.has("resources")) told.push("edges of resources");
    if (filter.has("constants")) told.push("constants in boxes");
    if (filter.has("shapes")) told.push("shapes");
    if (told.length > 0) {
      const show = link("show", () => this.set({hide: [], only: []}), "Show all that is hidden");
      parts.push(` Hidden: ${told.join(", ")} \u2013 `, show, ".");
    }
    const unknown = untoldIn(view.frame);
    if (unknown > 0) {
      parts.push(` Some lines through ${plural(unknown, "hidden scope")} are left out: ` +
        "it is not known what leads where.");
    }
    if (filter.isPart && hidden?.cut > 0) parts.push(...this.partLine(hidden));
    return parts;
  }

  partLine({total, cut}) {
    const {around, hops, path} = this.filter;
    const size = `${commas(total - cut)} of ${plural(total, "op")}`;
    const every = link("all", () => this.set({around: "", path: ""}), "Show the whole graph");
    if (path) return [` Only paths ${path.replace("..", " \u2192 ")}: ${size} \u2013 `, every, "."];
    const other = (text, to) => link(text, () => this.around(around, to));
    return [` Only within ${plural(hops, "edge")} of ${around}: ${size} \u2013 `,
      ...(hops > 1 ? [other("fewer", hops - 1), ", "] : []), other("more", hops + 1), ", ", every, "."];
  }

  toState(state) {
    const {hide, only, around, hops, path} = this.filter;
    if (hide.length > 0) state.set("hide", hide.join(","));
    if (only.length > 0) state.set("only", only.join(","));
    if (around) state.set("around", around);
    if (around) state.set("hops", hops);
    if (path) state.set("path", path);
  }

  // Applies the filter in the address. Promises {part: true if it selects a part of the graph and
  // the address has no open scopes: the part is then shown; problem: an error, after which nothing
  // is filtered}.
  async fromState(state) {
    const {source} = this.page;
    this.before = undefined;
    try {
      const filter = new Filter({hide: words(state.get("hide")), only: words(state.get("only")),
        around: state.get("around") ?? "", hops: Number(state.get("hops") ?? 2),
        path: state.get("path") ?? ""});
      const place = await filter.place(source);
      await filter.of(source, place?.body ?? 0);
      this.apply(filter);
      if (!place || state.has("open")) return {};
      await this.openPart(place);
      this.before = undefined;  // leavePart() has no earlier view to restore
      return {part: true};
    } catch (problem) {
      this.apply(new Filter());
      return {problem};
    }
  }
}
