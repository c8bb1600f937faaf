// The tab with the effects of each pass: the stages as a table, the rewrites of the selected stage
// with reasons, and missed rewrites with reasons. For a model without a run, a form that runs the
// passes.

import {commas, element, link, plural} from "./dom.js";
import {lifeOfNode} from "./node_life.js";
import {isFile, post} from "./source.js";
import {storyOf} from "./stories.js";
import {addTab} from "./tabs.js";

const COLUMNS = [
  "stage", "nodes", "edges", "in functions", "removed", "added", "changed", "replaced", "rewrites", "ms",
  "what became of nodes",
];
const TEXTS = ["stage", "what became of nodes"];
const MARKED = ["removed", "added", "changed", "replaced"];  // in the order of a diff's marks
const SHOWN = 8, MISSES_SHOWN = 60;
const FUSIONS = "remapper";  // listed first, because users look for fusions first

class PassesTab {
  constructor(root, page) {
    this.root = root;
    this.page = page;
    this.all = false;  // true: list stages that changed nothing too
    this.wishes = new Map();  // by run: the settings that it was started with
  }

  // The position in the tab: "all" if it lists stages that changed nothing too.
  get at() { return this.all ? "all" : undefined; }

  async show(at = this.at) {
    this.all = at === "all";
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const {models, index: chosen} = this.page, entry = models[chosen];
    if (entry.run === undefined) return this.root.replaceChildren(...this.offer(models, chosen));
    const table = await this.page.sourceOf(Number(entry.run)).get("passes");
    const stage = table.stages.find((other) => other.entry === chosen);
    const told = stage.rewrites > 0 ? await this.page.sourceOf(chosen).get("rewrites") : undefined;
    if (turn !== this.turn) return;
    const top = this.root.scrollTop;
    this.table = table;
    this.told = table.stages.filter(({entry: other}) => models[other].story === entry.story);
    this.story = storyOf(models, chosen);
    this.root.replaceChildren(...this.head(stage), this.stages(chosen), ...this.rewrites(stage, told),
      ...this.nearMisses(), ...this.question(entry));
    this.root.scrollTop = top;
  }

  // Promises elements for a node's panel: the effects of the stages on the node.
  async ofNode(model, body, id) {
    const {page} = this, {models, index} = page;
    if (models[index].run === undefined || page.source.model !== model) return [];
    const {summary, source} = page, {name} = await source.node(body, id);
    const full = body > 0 ? `${summary.bodies[body].name}/${name}` : name;
    return lifeOfNode(page, models[index].id, full);
  }

  // Returns, for a graph that is not a stage of a run, the form that starts a run of passes, or the
  // reason why there is none.
  offer(models, chosen) {
    const {title, opened} = models[chosen];
    if (isFile || !opened) {
      const why = isFile ? "A file runs nothing. " : "Passes run on a model, and this is not one. ";
      return [
        element("h2", {}, "Passes"),
        element("p", {}, why,
          element("code", {}, "grapnel serve MODEL"), " runs the passes from this tab; ",
          element("code", {}, "grapnel opt MODEL --dump-dir DIR"),
          " keeps every stage in a folder, which this page opens too."),
      ];
    }
    const field = (name, label, hint, value = "") => element("label", {}, `${label} `,
      element("input", {name, value, placeholder: hint, autocomplete: "off", spellcheck: "false"}));
    const choice = (name, label, options) => element("label", {}, `${label} `,
      element("select", {name}, ...options.map(([value, text]) => element("option", {value}, text))));
    this.status = element("p", {role: "status"});
    this.button = element("button", {type: "submit"}, "Run Grappler's passes");
    const form = element("form", {class: "ask", onsubmit: (event) => this.run(event, chosen)},
      field("fetch", "Fetches", "the model's, else outputs without readers"),
      field("feed", "Feeds", "besides placeholders"),
      field("device", "Device", "taken to be on /device:CPU:0"),
      field("signature", "Signature", "take feeds and fetches from this signature of a SavedModel"),
      field("passes", "Passes", "run just these, in this order, each once"),
      field("without", "Without", "leave out these passes and rules: remapper/fuse_bias"),
      field("rewriter_config", "RewriterConfig", "TensorFlow's RewriterConfig as text proto"),
      field("limit", "Limit", "stop after this many rewrites"),
      choice("onednn", "oneDNN", [["auto", "as TensorFlow decides on this processor"],
        ["on", "on: TensorFlow fuses more"], ["off", "off"]]),
      element("p", {class: "dim"},
        "A device that is given here is written into nodes without one. Else they are taken to be on the " +
        "CPU, where TensorFlow's placer would put them before Grappler runs, and stay as they are."),
      this.button);
    const ran = models.filter((other) => other.run !== undefined && other.group === title);
    const runs = [...new Set(ran.map(({run}) => Number(run)))];
    const wish = () => Object.fromEntries(new FormData(form));
    return [
      element("h2", {}, "Passes"),
      element("p", {},
        `Runs the passes of TensorFlow's Grappler on ${title}, one after another, on a copy in memory: ` +
        "no file changes. Each stage that changes something becomes a graph in the slider above, with " +
        "its changes highlighted; its rewrites are listed here with their reasons, and so is each rewrite " +
        "that nearly happened, with the condition that failed."),
      form,
      this.status,
      ...runs.map((run) =>
        element("p", {}, link("The stages of an earlier run", () => this.page.toModel(run)))),
      ...askAbout(chosen, wish),
    ];
  }

  // Returns, for a stage of a run, the form that asks why a node is not rewritten; nothing if the run's
  // model is not here.
  question({group, run}) {
    const {models} = this.page;
    const of = models.findIndex((other) => other.opened && other.title === group);
    return isFile || of < 0 ? [] : askAbout(of, () => this.wishes.get(Number(run)) ?? {});
  }

  async run(event, chosen) {
    event.preventDefault();
    const wish = Object.fromEntries(new FormData(event.target));
    this.button.disabled = true;
    this.status.className = "";
    this.status.textContent = "The passes run \u2026";
    try {
      const {entry} = await post(`${chosen}/passes`, JSON.stringify(wish));
      this.wishes.set(entry, wish);
      await this.ran(entry);
    } catch (error) {
      this.status.className = "problem";
      this.status.textContent = error.message;
    } finally {
      this.button.disabled = false;
    }
  }

  // Shows the first stage of a new run that changed something.
  async ran(entry) {
    await this.page.added(entry);
    const worked = this.page.models.findIndex(({run, same}, i) =>
      i > entry && Number(run) === entry && !same);
    if (worked > 0) await this.page.toModel(worked);
  }

  head(stage) {
    const {table} = this;
    const {line: own, title} = this.story ?? {line: stage.line, title: stage.line};
    const line = this.told.filter((other) => other.line === own);  // without partitions
    const first = line[0], last = line.at(-1);
    const rewrites = line.reduce((sum, other) => sum + (other.rewrites ?? 0), 0);
    const nodes = `${plural(first.nodes, "node")} became ${commas(last.nodes)}`;
    const parts = [`${nodes}, ${plural(first.edges, "edge")} ${commas(last.edges)}`];
    if (table.has_rewrites) parts.push(plural(rewrites, "rewrite"));
    const notes = [...table.notes];
    if (table.idle.length > 0) {
      const ms = table.has_times ? ` Stages without a change took ${table.idle_ms.toFixed(2)} ms.` : "";
      notes.push(`Found nothing to do: ${table.idle.join(", ")}.${ms}`);
    }
    const missed = [];
    if (table.near_miss_count > 0) {
      const misses = plural(table.near_miss_count, "near miss").replace("misss", "misses");
      const show = () => this.root.querySelector("#near-misses").scrollIntoView();
      missed.push("; ", link(misses, show, "What did not happen, and why"));
    }
    return [
      element("h2", {}, `What the passes did to ${title}`),
      element("p", {}, parts.join("; "), ...missed, "."),
      ...notes.map((note) => element("p", {class: "dim"}, note)),
    ];
  }

  stages(chosen) {
    const {has_rewrites: hasRewrites, has_times: hasTimes} = this.table, stages = this.told;
    const shown = stages.filter((stage) => this.all || !stage.same || stage.entry === chosen);
    const hidden = stages.filter((stage) => stage.same).length;
    const has = {rewrites: hasRewrites, ms: hasTimes, "in functions": this.hasLibrary()};
    const columns = COLUMNS.filter((name) => has[name] ?? true);
    const rows = [];
    let line = stages.every((stage) => stage.line === stages[0].line) ? stages[0].line : undefined;
    for (const stage of shown) {
      if (stage.line !== line) {
        line = stage.line;
        rows.push(element("tr", {}, element("th", {scope: "rowgroup", colspan: columns.length}, line)));
      }
      rows.push(this.stage(stage, stage.entry === chosen));
    }
    const heads = columns.map((name) =>
      element("th", {scope: "col", class: TEXTS.includes(name) ? undefined : "number"}, name));
    return element("div", {},
      hidden > 0 ? this.chooseAll(hidden) : undefined,
      element("table", {class: "list narrow stages"},
        element("thead", {}, element("tr", {}, ...heads)),
        element("tbody", {}, ...rows)));
  }

  hasLibrary() {
    return this.told.some((stage) => stage.library_nodes > 0);
  }

  chooseAll(hidden) {
    const onchange = ({target}) => this.page.openTab("passes", true, target.checked ? "all" : "");
    const box = element("input", {type: "checkbox", id: "all-stages", onchange});
    box.checked = this.all;
    return element("label", {}, box, ` also the ${plural(hidden, "stage")} that changed nothing`);
  }

  stage(stage, chosen) {
    const number = (what) => element("td", {class: "number"}, what ?? "");
    const size = (now, before) => {
      if (before === undefined || before === now) return number(commas(now));
      return number(`${commas(now)} (${now > before ? "+" : "\u2212"}${commas(Math.abs(now - before))})`);
    };
    const inFunctions = () => stage.library_nodes || stage.library_nodes_before
      ? size(stage.library_nodes, stage.library_nodes_before) : number();
    const counted = (name, i) => number(stage[name] > 0
      ? element("span", {class: `mark mark-${i}`}, commas(stage[name])) : undefined);
    return element("tr", {"aria-current": chosen ? "true" : undefined},
      element("td", {}, link(stage.title, () => this.page.toModel(stage.entry), "Move the slider there"),
        stage.same ? element("span", {class: "dim"}, " changed nothing") : undefined),
      size(stage.nodes, stage.nodes_before),
      size(stage.edges, stage.edges_before),
      ...(this.hasLibrary() ? [inFunctions()] : []),
      ...MARKED.map(counted),
      ...(this.table.has_rewrites ? [number(stage.rewrites > 0 ? commas(stage.rewrites) : undefined)] : []),
      ...(this.table.has_times ? [number(stage.ms?.toFixed(2))] : []),
      element("td", {class: "dim"}, stage.remark ?? ""));
  }

  rewrites(stage, told) {
    const heading = element("h3", {id: "stage-rewrites"}, stage.title);
    const toGraph = link("See it in the graph", () => this.page.goTo(stage.entry));
    const see = stage.same ? [] : [element("p", {}, toGraph)];
    const say = (...what) => [heading, element("p", {}, ...what), ...see];
    const begins = "Here it begins: each later stage is compared with the one before it.";
    if (stage.before === undefined) return say(begins);
    if (stage.same) return say("This stage changed nothing.");
    if (!this.table.has_rewrites) {
      return say(
        "There is no ledger that shows which rule did this, and why: grapnel writes one with its dumps, ",
        "by ",
        element("code", {}, "grapnel opt MODEL --dump-dir DIR"), " or with ",
        element("code", {}, "TF_DUMP_GRAPH_PREFIX=DIR"), ".");
    }
    if (!told) return say("No recorded rewrite did this.");
    const counted = `${stage.title}: ${plural(told.count, "rewrite")}`;
    const parts = [element("h3", {id: "stage-rewrites"}, counted), ...see];
    for (const [rule, list] of byRule(told.rewrites)) {
      const times = list.length > 1 ? ` (${commas(list.length)}\u00d7)` : undefined;
      parts.push(
        element("h4", {}, rule, why(list[0].why), times && element("span", {class: "dim"}, times)),
        several(list, (rewrite) => this.rewrite(stage.entry, rewrite), SHOWN * 4));
    }
    const left = told.count - told.rewrites.length;
    if (left > 0) {
      parts.push(element("p", {class: "dim"}, `and ${plural(left, "more rewrite")}`));
    }
    return parts;
  }

  // Returns the list item of a rewrite: "3. changed Cast; from Size".
  rewrite(entry, rewrite) {
    const number = element("span", {class: "dim", title: "Its number: opt --limit counts so"},
      `${commas(rewrite.number)}. `);
    const item = element("li", {}, number);
    const toNode = ([name, body, id]) => (id === undefined
      ? element("span", {class: "dim", title: "Came and went within this stage"}, name)
      : link(name, () => this.page.goTo(entry, body, id)));
    const add = (words, names, more = 0) => {
      if (!names || names.length === 0) return;
      item.append(item.childNodes.length > 1 ? "; " : "", `${words} `);
      names.slice(0, SHOWN).forEach((name, i) => item.append(i > 0 ? ", " : "", toNode(name)));
      const rest = names.length + more - SHOWN;
      if (rest > 0) item.append(` and ${plural(rest, "more node")}`);
    };
    add("removed", rewrite.removed, rewrite.removed_more);
    add("made", rewrite.made, rewrite.made_more);
    add("changed", rewrite.changed, rewrite.changed_more);
    add("from", rewrite.used, rewrite.used_more);
    if (rewrite.functions.length > 0) add("functions", rewrite.functions.map((name) => [name]));
    if (rewrite.function) item.append(element("span", {class: "dim"}, ` in function ${rewrite.function}`));
    if (item.childNodes.length === 1) item.append(`at ${rewrite.node ?? "no node"}`);
    if (rewrite.note) item.append(element("div", {class: "dim"}, rewrite.note));
    return item;
  }

  nearMisses() {
    const {near_misses: misses, near_miss_count: count} = this.table;
    if (!misses) return [];
    const head = element("h2", {id: "near-misses"}, "What did not happen, and why");
    const say = (text) => [head, element("p", {}, text)];
    if (count === 0) return say("No near miss: wherever a rule's pattern was found, it was rewritten.");
    const isFusion = (rule) => Number(rule.startsWith(FUSIONS));
    const order = [...byRule(misses)].sort(([a], [b]) => isFusion(b) - isFusion(a));
    const parts = say(`${plural(count, "time")} a rule's pattern was found and a condition failed.`);
    for (const [rule, list] of order) {
      parts.push(
        element("h4", {}, rule, why(list[0].help)),
        several(list, (miss) => this.nearMiss(miss), MISSES_SHOWN));
    }
    return parts;
  }

  nearMiss(miss) {
    const name = miss.function ? `${miss.function}/${miss.node}` : miss.node;
    const show = () => this.page.goTo(miss.entry, miss.body, miss.id);
    return element("li", {}, miss.id === undefined ? name : link(name, show), `: ${miss.reason}`);
  }
}

// Returns a form that asks why nodes are not rewritten, and the place of the answer. `wish` returns the
// settings of the run of passes that answers.
function askAbout(model, wish) {
  const name = element("input", {name: "node", placeholder: "a node, a layer or a pattern: */dense_1",
    autocomplete: "off", spellcheck: "false"});
  const answer = element("div", {class: "why-not", role: "status"});
  const ask = async (event) => {
    event.preventDefault();
    answer.replaceChildren("The passes run \u2026");
    try {
      const {nodes} = await post(`${model}/why_not`, JSON.stringify({...wish(), node: name.value}));
      answer.replaceChildren(...answers(nodes));
    } catch (error) {
      answer.replaceChildren(element("p", {class: "problem"}, error.message));
    }
  };
  return [
    element("h2", {}, "Why not this node?"),
    element("form", {class: "ask", onsubmit: ask},
      element("label", {}, "Node ", name), element("button", {type: "submit"}, "Ask")),
    answer,
  ];
}

// Returns the elements of an answer about nodes: a part for each, and a line with those that no rule came
// close to.
function answers(nodes) {
  const isPlain = ({became, closest}) => became === "unchanged" && closest.length === 0;
  const named = ({node, op}) => `${node} (${op})`;
  const parts = nodes.filter((node) => !isPlain(node)).map((node) => {
    const steps = node.changes.map(({kind, pass, rule, into, op, with: others}) => {
      const also = kind === "fused" ? ` with ${others.map(named).join(", ")}` : "";
      return `${kind} by ${pass}/${rule}${also}${into ? ` into ${into} (${op})` : ""}`;
    });
    const fate = steps.length > 0 ? steps.join("; then ") : node.became.replace("_", " ");
    return element("section", {}, element("h4", {}, named(node), why(fate)),
      element("ul", {class: "rewrites"}, ...node.closest.map(closeRule)));
  });
  const plain = nodes.filter(isPlain).map(named).join(", ");
  if (plain !== "") parts.push(element("p", {class: "dim"}, `Unchanged, and no rule came close: ${plain}.`));
  return parts;
}

function closeRule({pass, rule, also, help, nodes, reason, remedy}) {
  const rules = [`${pass}/${rule}`, ...also].join(", ");
  const would = nodes.length > 1
    ? `It would rewrite ${nodes.map(({node, op}) => `${node} (${op})`).join(", ")}: ${help}.` : undefined;
  return element("li", {}, element("strong", {}, rules), `: ${reason}`,
    remedy && element("div", {}, `To fix: ${remedy}.`), would && element("div", {class: "dim"}, would));
}

// Groups items, which have a pass and a rule, by "pass/rule", in the order of their first
// appearance.
function byRule(list) {
  const rules = new Map();
  for (const item of list) {
    const rule = `${item.pass}/${item.rule}`;
    if (!rules.has(rule)) rules.set(rule, []);
    rules.get(rule).push(item);
  }
  return rules;
}

const why = (text) => (text ? element("span", {class: "why"}, `: ${text}`) : undefined);

// Returns a list with the first `most` items, and a link that adds the others.
function several(list, make, most) {
  const items = element("ul", {class: "rewrites"}, ...list.slice(0, most).map(make));
  if (list.length > most) {
    const show = () => more.replaceWith(...list.slice(most).map(make));
    const more = element("li", {}, link(`${commas(list.length - most)} more`, show));
    items.append(more);
  }
  return items;
}

addTab({
  name: "passes", label: "Passes", param: "stages", tells: true,
  build: (root, page) => new PassesTab(root, page),
});
