// Two graphs A and B side by side: what the user selects, opens or navigates to on one side is
// mirrored on the other side.

import {canOpen} from "./box_lines.js";
import {Columns} from "./columns.js";
import {byId, element, link, plural} from "./dom.js";
import {boxKey, openKey} from "./frames.js";
import {GraphView} from "./graph_view.js";
import {startAtTop, TOO_SMALL} from "./viewport.js";
import {inWords, Panel} from "./panel.js";
import {Source} from "./source.js";

const keyOf = (body, id) => `${body}/${id}`;
const bodyAndId = (key) => key.split("/").map(Number);

// Returns the pairs of nodes, as [key, key in the merged graph], from the table of Panes::MatchTable
// (lib/serve/pages/panes.h).
function pairsOf(columns, name) {
  const [there, shown] = ["body", "node"].map((what) => columns.numbers(`${name} merged ${what}`));
  const ids = columns.numbers(`${name} node`), bodies = columns.numbers(`${name} body`);
  return Array.from(ids, (id, row) => [keyOf(bodies[row], id), keyOf(there[row], shown[row])]);
}

// One of the two graphs that are shown side by side, with its view and panel.
class Side {
  constructor(canvas, panel, name) {
    Object.assign(this, {name, panel, view: new GraphView(canvas), known: new Map()});
  }

  async load(model) {
    this.source = new Source(`${model}/${this.name}`);
    this.summary = await this.source.summary();
    this.source.markKinds = this.summary.marks?.kinds ?? [];
    this.panel.summary = this.summary;
    this.panel.source = this.source;
    this.view.setModel(this.source, this.summary);
  }

  // Sets which node of the merged graph corresponds to each node of this side. `pairs`: as of
  // pairsOf().
  match(pairs) {
    this.merged = new Map(pairs);
    this.own = new Map();
    for (const [own, shown] of pairs) if (!this.own.has(shown)) this.own.set(shown, own);
  }
}

export class Panes {
  // `actions`: color(view) and filter(view) give a view the page's colors and filter; changed() puts
  // what the panes show into the page's URL; fail(error) reports an error; panel() describes the
  // model in the panel, as no box is chosen.
  constructor(root, panel, actions) {
    this.root = root;
    this.panelRoot = panel;
    this.actions = actions;
    this.on = false;
  }

  views() { return this.on ? [this.a.view, this.b.view] : []; }
  other(side) { return side === this.a ? this.b : this.a; }

  setUp() {
    const make = (name) => {
      const canvas = element("canvas", {tabindex: "0", role: "application", id: `canvas-${name}`,
        "aria-label": `Graph ${name.toUpperCase()}. Arrow keys choose boxes, Enter opens and closes.`});
      const counts = element("span", {class: "dim"});
      this.root.append(element("div", {class: "pane"}, element("p", {class: "pane-title"},
        element("strong", {}, name.toUpperCase()), " ", counts), canvas));
      const card = element("section", {"aria-label": name.toUpperCase()});
      const panel = new Panel(card, {go: (body, node) => this.goOn(side, body, node),
        enter: (body) => this.enter(side, body), toggle: (placed) => side.view.toggle(placed)});
      const side = Object.assign(new Side(canvas, panel, name), {card, counts});
      side.view.addEventListener("select", ({box}) => {
        if (!this.led?.includes(side)) this.run(() => this.chosen(side, box), [this.other(side)]);
      });
      side.view.addEventListener("toggle", ({box, open}) => this.run(() => this.toggled(side, box, open),
        [this.other(side)]));
      side.view.addEventListener("change", () => this.changed(side));
      side.view.addEventListener("error", ({error}) => this.actions.fail(error));
      return side;
    };
    this.a = make("a");
    this.b = make("b");
  }

  // Runs `work` after earlier work is done. While it runs, it may select boxes on the sides in
  // `led`; these selections are not mirrored to the other side.
  run(work, led = [this.a, this.b]) {
    this.last = Promise.resolve(this.last).then(async () => {
      this.led = led;
      try {
        await work();
      } catch (error) {
        this.actions.fail(error);
      } finally {
        this.led = undefined;
      }
      this.actions.changed();
    });
    return this.last;
  }

  // If `on`, shows the two graphs A and B of the comparison `model` side by side, else their merged
  // picture. `state`: the page's state from the URL, or undefined.
  async show(on, model, state) {
    this.on = on;
    this.root.hidden = !on;
    byId("canvas").hidden = byId("crumbs").hidden = byId("counts").hidden = on;
    byId("how-merged").setAttribute("aria-pressed", String(!on));
    byId("how-side").setAttribute("aria-pressed", String(on));
    if (!on) return;
    if (!this.a) this.setUp();
    await this.run(async () => {
      let paths;  // the open scopes, to keep them open in another stage
      if (this.model !== model) {
        if (this.model !== undefined) paths = this.b.view.openPaths();
        const [match] = await Promise.all([new Source(model).table("match"), this.a.load(model),
          this.b.load(model)]);
        this.setMatch(new Columns(match));
        this.model = model;
      }
      this.follow();
      await this.place(state, paths);
    });
  }

  setMatch(columns) {
    this.a.match(pairsOf(columns, "a"));
    this.b.match(pairsOf(columns, "b"));
    this.aliases = new Map(pairsOf(columns, "alias"));
    const of_b = columns.numbers("of b"), bodies = columns.numbers("scope body");
    this.a.bodies = new Map([[0, 0], ...Array.from(columns.numbers("of a"), (of_a, i) => [of_a, of_b[i]])]);
    this.b.bodies = new Map([...this.a.bodies].map(([a, b]) => [b, a]));
    const paths = columns.texts("scope in a"), there = columns.texts("scope in b");
    this.a.paths = new Map(paths.map((path, i) => [`${bodies[i]}|${path}`, there[i]]));
    this.b.paths = new Map(paths.map((path, i) => [`${this.a.bodies.get(bodies[i])}|${there[i]}`, path]));
  }

  // Opens on each side the scopes that `state` names. Otherwise B opens its initially open scopes
  // and those of `paths`, and A the counterparts of those open in B. Then selects the box that
  // `state` names.
  async place(state, paths) {
    const body = Number(state?.get("body_b") ?? 0);
    const [of_a, of_b] = this.b.bodies.has(body) ? [this.b.bodies.get(body), body] : [0, 0];
    const wish = (side) => state?.has(`open_${side.name}`)
      && state.get(`open_${side.name}`).split(",").filter(Boolean);
    for (const [side, which] of [[this.b, of_b], [this.a, of_a]]) {
      const open = wish(side);
      if (open) side.view.restore(open, which);
      else if (side === this.a) side.view.open.clear();
      await side.view.show(which, !open);
      if (!open && side === this.b && paths) await side.view.openByPath(paths);
      if (!open && side === this.a) await this.openAlike(this.b, this.a);
    }
    const chosen = state?.get("chosen_b") ?? state?.get("chosen_a"), side = state?.has("chosen_b") ? this.b
      : this.a;
    const box = chosen && side.view.boxes.find((other) => boxKey(other) === chosen);
    if (box) {
      side.view.select(box);
      side.view.keepInSight(chosen);
      await this.chosen(side, box);
    } else {
      this.actions.panel();
    }
  }

  toState(state) {
    state.set("side", "1");
    for (const side of [this.a, this.b]) {
      state.set(`open_${side.name}`, [...side.view.open].join(","));
      if (side.view.look.selected) state.set(`chosen_${side.name}`, side.view.look.selected);
    }
    if (this.b.view.body !== 0) state.set("body_b", this.b.view.body);
  }

  // Gives both views the colors and the filter of the merged picture.
  follow() {
    for (const view of this.views()) {
      this.actions.color(view);
      this.actions.filter(view);
      view.paint();
    }
  }

  partner(side, body, id) {
    const shown = side.merged.get(keyOf(body, id));
    const {own} = this.other(side);
    const found = own.get(shown) ?? own.get(this.aliases.get(shown));
    return found && bodyAndId(found);
  }

  // Returns the instance of the other side that corresponds to an instance of `side`; undefined if
  // there is none. An instance such as "0>n45.1" names the calls that lead to a body by the ids of
  // the calling nodes, which differ between the sides.
  instance(side, instance) {
    const [root, ...calls] = instance.split(">n");
    let body = Number(root), at = root, there = side.bodies.get(body);
    if (there === undefined) return undefined;
    there = String(there);
    for (const call of calls) {
      const [id, which] = call.split(".").map(Number);
      const match = this.partner(side, body, id);
      const caller = side.view.boxes.find((box) => box.instance === at && box.box.kind !== "scope"
        && box.box.id === id);
      if (!match || !caller) return undefined;
      there += `>n${match[1]}.${which}`;
      at += `>n${call}`;
      body = caller.box.calls[which].body;
    }
    return there;
  }

  // Returns the other side's counterpart of a box, if it is visible.
  counterpart(side, {box, body, instance}) {
    const there = this.instance(side, instance), {boxes} = this.other(side).view;
    if (box.kind === "scope") {
      const path = side.paths.get(`${body}|${box.path}`) ?? box.path;
      return boxes.find((other) => other.instance === there && other.box.kind === "scope"
        && other.box.path === path);
    }
    const match = this.partner(side, body, box.id);
    return match && boxes.find((other) => other.instance === there && other.box.kind !== "scope"
      && other.box.id === match[1]);
  }

  // Opens on the side `to` the counterparts of the boxes that are open on the side `from`, outer
  // boxes first, and then zooms both sides alike.
  async openAlike(from, to) {
    for (;;) {
      const closed = from.view.boxes.filter((box) => box.inner).map((box) =>
        this.counterpart(from, box)).filter((box) => box && canOpen(box.box) && !box.inner);
      if (closed.length === 0) break;
      for (const box of closed) to.view.open.add(openKey(box.instance, box.box));
      await to.view.update();
    }
    const small = this.views().some((view) => view.zoomToFit() < TOO_SMALL);
    for (const view of this.views()) if (small) startAtTop(view); else view.fit();
  }

  async toggled(side, placed, open) {
    const there = this.counterpart(side, placed);
    if (there && canOpen(there.box) && Boolean(there.inner) !== open) this.other(side).view.setOpen(there,
      open);
  }

  async chosen(side, placed) {
    const other = this.other(side);
    if (!placed) {
      other.view.select(undefined);
      return this.actions.panel();
    }
    byId("announce").textContent = `${side.name.toUpperCase()}: ${inWords(placed)}`;
    if (placed.box.kind === "scope") {
      const there = this.counterpart(side, placed);
      other.view.select(there);
      if (there) other.view.keepInSight(boxKey(there));
      return this.cards((which) => {
        const box = which === side ? placed : there;
        if (box) which.panel.showScope(box);
        else which.card.replaceChildren(element("p", {class: "dim"},
          `${which.name.toUpperCase()} shows no such scope: open it, ` +
            "and choose a node to see its counterpart."));
      });
    }
    await this.showPartner(side, placed.body, placed.box.id, placed.instance);
  }

  // Brings the counterpart of a node, if it has one, into view on the other side, and shows both
  // nodes in the panel.
  async showPartner(side, body, id, instance) {
    const other = this.other(side), match = this.partner(side, body, id);
    const docs = new Map([[side, [body, await side.source.node(body, id)]]]);
    if (match) {
      const node = await other.source.node(...match);
      docs.set(other, [match[0], node]);
      await other.view.reveal(...match, node.around,
        {instance: instance && this.instance(side, instance)});
    } else {
      other.view.select(undefined);
    }
    this.cards((which) => {
      if (docs.has(which)) which.panel.showNode(...docs.get(which), which.view.chosen);
      else this.missing(which);
    });
  }

  missing(side) {
    side.card.replaceChildren(element("p", {class: "dim"},
      `${side.name.toUpperCase()} has no counterpart of the chosen node.`));
  }

  cards(draw) {
    for (const side of [this.a, this.b]) draw(side);
    this.panelRoot.classList.add("cards");
    this.panelRoot.replaceChildren(...[this.a, this.b].map((side) =>
      element("div", {class: "card"}, element("p", {class: "pane-title"},
      element("strong", {}, side.name.toUpperCase())), side.card)));
  }

  goOn(side, body, id) {
    return this.run(async () => {
      const node = await side.source.node(body, id);
      await side.view.reveal(body, id, node.around);
      await this.showPartner(side, body, id);
    });
  }

  // Shows a node of the merged graph on both sides.
  async go(body, id) {
    const shown = keyOf(body, id);
    for (const side of [this.b, this.a]) {
      const own = side.own.get(shown) ?? side.own.get(this.aliases.get(shown));
      if (own) return this.goOn(side, ...bodyAndId(own));
    }
  }

  // Shows a function on its side, and the function's counterpart, if any, on the other side.
  enter(side, body) {
    return this.run(async () => {
      const there = side.bodies.get(body);
      await side.view.show(body);
      if (there !== undefined) await this.other(side).view.show(there);
      this.actions.panel();
    });
  }

  changed(side) {
    const {body} = side.view, {nodes, name} = side.summary.bodies[body];
    side.counts.replaceChildren(...(body === 0 ? [plural(nodes, "op")]
      : [link("main", () => this.enter(side, 0)), ` \u25b8 \u0192 ${name}, ${plural(nodes, "op")}`]));
    if (!this.led) this.actions.changed();
  }
}
