// Numbers from files, shown on the picture: the sets of the files on the command line and of those
// that the user opens, the set that colors the boxes, and the texts in legend and panel.

import {byId, commas, element, link, plural} from "./dom.js";
import {inkOn} from "./ink.js";
import {readNodeData} from "./node_data.js";
import {AGGREGATES, NodeValues} from "./node_values.js";
import {ask} from "./source.js";
import {numberText, ValueScale} from "./value_scale.js";

const LISTED = 8;  // nodes that the panel lists
const PREFIX = "values-";
// Aggregates that grow with the number of nodes in a box: for them, colors range over the numbers
// of the visible boxes.
const OF_WHOLES = ["sum", "count"];
const WORDS = {max: "max", min: "min", mean: "mean", sum: "sum", count: "number"};

export class Values {
  // `page`: the Page of page.js.
  constructor(page) {
    Object.assign(this, {page, sets: [], given: 0, how: "max", known: new WeakMap()});
    const input = byId("values-file"), take = (files) => {
      this.open(files).catch((error) => page.fail(error));
    };
    byId("open-values").addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      take([...input.files]);
      input.value = "";  // so that the user can choose the same file again
    });
    const stage = document.querySelector(".stage");
    stage.addEventListener("dragover", (event) => event.preventDefault());
    stage.addEventListener("drop", (event) => {
      event.preventDefault();
      take([...event.dataTransfer.files]);
    });
  }

  // Loads the files that the command line names. Their sets come before the sets of files that the
  // user opened on the page. Called again after the files change.
  async start() {
    const opened = this.sets.slice(this.given), files = await ask("node-data");
    this.sets = [];
    for (const {file, text} of files) this.add(text, file);
    this.given = this.sets.length;
    this.sets.push(...opened);
  }

  add(text, file) {
    const sets = readNodeData(text, file).map((set) => ({...set, file}));
    this.sets.push(...sets);
    return sets;
  }

  // Adds the sets of files, and colors by the first of these. If a file cannot be read, or no name
  // in a set is a node, throws and adds none.
  async open(files) {
    const before = this.sets.length, {source} = this.page;
    try {
      for (const file of files) {
        for (const set of this.add(await file.text(), file.name)) {
          const values = await this.of(set, source);
          if (values.found.length === 0) throw new Error(this.missing(values));
        }
      }
    } catch (error) {
      this.sets.length = before;
      throw error;
    }
    this.page.listColors(PREFIX + before);
    this.page.toUrl();
    this.told();
  }

  choices() {
    const isAlone = ({name}) => this.sets.filter((set) => set.name === name).length === 1;
    return this.sets.map((set, i) => [PREFIX + i, isAlone(set) ? `by ${set.name}`
      : `by ${set.name} (${set.file})`]);
  }

  setOf(by) { return by.startsWith(PREFIX) ? this.sets[Number(by.slice(PREFIX.length))] : undefined; }
  // The initial choice for coloring, if the page has no marks (of a comparison, for example): the
  // first set of the command line's files.
  get first() { return this.given > 0 ? `${PREFIX}0` : undefined; }

  of(set, source) {
    if (!this.known.has(source)) this.known.set(source, new Map());
    const known = this.known.get(source);
    if (!known.has(set)) {
      const promise = NodeValues.of(set, source).then((values) => (promise.values = values));
      promise.catch(() => known.delete(set));
      known.set(set, promise);
    }
    return known.get(set);
  }

  // Returns the NodeValues of a set on a graph; undefined while they load. When they are loaded,
  // updates the page.
  now(set, source) {
    const promise = this.of(set, source);
    if (!promise.values && !promise.awaited) {
      promise.awaited = true;
      promise.then(() => {
        if (this.page.views().some((view) => view.source === source)) this.told();
      }).catch((error) => this.page.fail(error));
    }
    return promise.values;
  }

  told() {
    const {page} = this, {chosen} = page.view;
    page.color();
    if (!page.panes.on) (chosen ? page.chosen(chosen) : page.panel.showModel());
  }

  // Colors a view by a set and returns the legend's entries; undefined if the choice `by` is not a
  // set.
  color(view, by) {
    const set = this.setOf(by), {look} = view;
    const values = set && view.source ? this.now(set, view.source) : undefined;
    look.inkOf = undefined;
    this.note(view, values && `${by} ${this.how}`, values);
    if (!set) return undefined;
    Object.assign(look, {fillOf: () => undefined, byDevice: false, glows: undefined});
    if (!values || values.found.length === 0) return [];
    const scale = new ValueScale(set, ...this.range(set));
    look.fillOf = (placed) => {
      const summary = values.of(placed);
      if (!summary) return undefined;
      if (summary.fill && placed.box.kind !== "scope") return summary.fill;
      return scale.fill(summary[this.how], look.theme);
    };
    look.inkOf = (placed) => {
      const fill = look.fillOf(placed);
      return fill && inkOn(fill);
    };
    return scale.legend(look.theme);
  }

  // Returns the range of the colors: that of all nodes' numbers; for sums and counts, that of the
  // visible closed boxes and 0. Graphs side by side share one range.
  range(set) {
    const ranges = this.page.views().flatMap((view) => {
      const values = view.source && this.now(set, view.source);
      if (!(values?.found.length > 0)) return [];
      if (!OF_WHOLES.includes(this.how)) return [values.all.min, values.all.max];
      const seen = view.boxes.filter(({inner}) => !inner).flatMap((placed) => values.of(placed) ?? []);
      return [0, ...seen.map((summary) => summary[this.how])];
    });
    return ranges.length > 0 ? [Math.min(...ranges), Math.max(...ranges)] : [0, 0];
  }

  // Writes the numbers into the view's boxes and lays out the picture again, unless `key` says that
  // the boxes have these numbers already.
  note(view, key, values) {
    if (view.notesKey === key) return;
    view.notesKey = key;
    view.notes = values && ((body, box) => {
      const summary = values.of({box, body});
      if (!summary) return undefined;
      const text = numberText(summary[this.how]);
      return summary.count > 1 || box.kind === "scope" ? `${WORDS[this.how]} ${text}` : text;
    });
    if (!view.frame) return;
    const {isWhole} = view;
    view.update(view.look.selected).then(() => isWhole && view.fit());
  }

  // Returns the elements that the legend has next to its colors: the choice of the aggregate, or
  // that the set is not ready or has no node; none if the choice `by` is not a set.
  legend(by) {
    const set = this.setOf(by), values = set && this.now(set, this.page.source);
    if (!set) return [];
    if (!values) return [element("span", {class: "dim"}, "Looking for its nodes \u2026")];
    if (values.found.length === 0) return [element("span", {class: "problem"}, this.missing(values))];
    const choose = ({target}) => {
      this.how = target.value;
      this.page.color();
      this.page.toUrl();
    };
    const select = element("select", {id: "values-how", "aria-label": "Closed boxes have", onchange: choose},
      ...AGGREGATES.map(([value, text]) => element("option", {value, selected: value === this.how}, text)));
    const told = [];
    if (values.missing > 0) {
      told.push(" ", link(`${plural(values.missing, "name")} not found`, () => {
        this.page.view.select(undefined);
        byId("panel").querySelector(".missing")?.scrollIntoView();
      }, this.missing(values)));
    }
    return [element("label", {}, "closed boxes: ", select), ...told];
  }

  missing({set, near, found}) {
    const names = near.map(({node}) => `'${node}'`).join(", "), [first] = near;
    const count = set.entries.length - found.length, {length} = set.entries;
    const meant = first?.near.length > 0 ? `; did you mean ${first.near.map((name) =>
      `'${name}'`).join(", ")}?` : "";
    const which = found.length === 0 ? `none of its ${plural(length, "name")} is a node here`
      : `${commas(count)} of ${plural(length, "name")} ${count === 1 ? "is not a node"
        : "are not nodes"} here`;
    return `${set.file}: ${which}: ${names}${count > near.length ? ", \u2026" : ""}${meant}`;
  }

  ofNode(body, id) {
    const rows = this.sets.flatMap((set) => {
      const one = this.now(set, this.page.source)?.ofNode(body, id);
      return one ? [element("tr", {}, element("td", {}, set.name), element("td", {}, numberText(one.value)))]
        : [];
    });
    return rows.length > 0 ? [element("h3", {}, "Values"), element("table", {}, ...rows)] : [];
  }

  // Returns elements for the panel of a scope; of the whole graph if `placed` is undefined.
  ofScope(placed, go) { return this.sets.flatMap((set) => this.ofSet(set, placed, go)); }

  ofSet(set, placed, go) {
    const values = this.now(set, this.page.source), summary = placed ? values?.of(placed) : values?.all;
    if (!(summary?.count > 0)) return [];
    const row = ([key, name]) => element("tr", {}, element("td", {}, name),
      element("td", {}, numberText(summary[key])));
    const dim = (text) => element("p", {class: "dim"}, text), parts = [
      element("h3", {}, `${set.name} of ${plural(summary.count, "node")}`),
      element("table", {}, ...AGGREGATES.filter(([key]) => key !== "count").map(row))];
    if (set.notNumbers > 0 && !placed) {
      parts.push(dim(`${plural(set.notNumbers, "value")} in ${set.file} ${set.notNumbers === 1
        ? "is not a number" : "are not numbers"}`));
    }
    if (summary.count > 1) {
      const highest = values.highest(LISTED, placed?.body, placed?.box.scope);
      parts.push(dim("the highest"), highestList(highest, go));
    }
    if (values.missing > 0 && !placed && this.sets.find(({file}) => file === set.file) === set) {
      parts.push(element("p", {class: "problem missing"}, this.missing(values)));
    }
    return parts;
  }

  toState(state) { if (this.how !== "max") state.set("values", this.how); }
  fromState(state) {
    const how = state.get("values") ?? "max";
    if (AGGREGATES.some(([known]) => known === how)) this.how = how;
  }
}

function highestList([highest, others], go) {
  const item = (one) => element("li", {},
    link(one.name, () => go(one.body, one), `${one.op} ${one.name}`), " ",
    element("span", {class: "dim"}, numberText(one.value)));
  const list = element("ul", {}, ...highest.map(item));
  if (others > 0) list.append(element("li", {class: "dim"}, `and ${plural(others, "other")}`));
  return list;
}
