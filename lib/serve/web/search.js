// Searches all nodes of all bodies. Words are parts of names or whole ops, globs with * or ?, or
// /REGEX/ for names; op: is a whole op or a glob of it; shape:, type:, dtype:, device: and attr: match
// parts of other properties, and model.py:12 finds the nodes that this source line made. All words must
// match. Layers come first. Then come nodes that have a box, then others of the bodies that are shown:
// the server finds them (lib/render/node_query.h); a page in a file searches itself, by the same rules.

import {byId, commas, element} from "./dom.js";
import {typesText} from "./node_list.js";
import {isFile} from "./source.js";

const MOST = 200, MOST_SEEN = 1000, RANKS = 10;
const LINE = /^[^\s:]+\.\w+:\d+$/u;  // a source line, "model.py:12"
const FIELDS = {
  op: ({op}) => op, device: ({device = ""}) => device, shape: typesText, type: typesText, dtype: typesText,
  attr: ({attributes = ""}) => attributes};

function globOf(text) {
  const plain = text.replace(/[.+^${}()|\\]/gu, "\\$&");
  return new RegExp(`^${plain.replace(/\*/gu, ".*").replace(/\?/gu, ".")}$`, "u");
}

function fitsOp(text) {
  const glob = /[*?]/u.test(text) ? globOf(text) : undefined;
  return (op) => (glob ? glob.test(op) : op === text);
}

// Returns the regular expression that a word is, "/conv.*bias/"; undefined if it is another word.
function regexOf(word) {
  if (word.length < 2 || !word.startsWith("/") || !word.endsWith("/")) return undefined;
  try {
    return new RegExp(word.slice(1, -1), "iu");
  } catch {
    return undefined;  // it is a part of a name
  }
}

function parse(text) {
  return text.trim().split(/\s+/u).filter(Boolean).map((word) => {
    const [, field, rest] = /^(op|device|shape|type|dtype|attr):(.*)$/u.exec(word) ?? [];
    if (field === "op") return {field: FIELDS.op, fits: fitsOp(rest.toLowerCase())};
    if (field) return {field: FIELDS[field], text: rest.toLowerCase()};
    if (LINE.test(word)) return {isLine: true, text: word.toLowerCase()};
    const lower = word.toLowerCase(), regex = regexOf(word);
    if (regex) return {isName: true, regex};
    return {isName: true, text: lower, glob: /[*?]/u.test(word) ? globOf(lower) : null};
  });
}

// Returns the rank of a name, where 0 is best; -1 if it does not match.
function rankOfName({text, glob, regex}, name, op) {
  const last = name.slice(name.lastIndexOf("/") + 1);
  if (regex) return regex.test(last) ? 1 : regex.test(name) ? 4 : -1;
  if (glob) {
    if (glob.test(name)) return 0;
    for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) {
      const rest = name.slice(at + 1);
      if (glob.test(rest)) return rest.includes("/") ? 4 : 1;
    }
    return -1;
  }
  if (op !== text && !name.includes(text)) return -1;
  if (name === text) return 0;
  if (last === text) return 1;
  if (op === text) return 2;
  return last.startsWith(text) ? 3 : 4;
}

// Returns a function from a list (node_list.js) and a row to the node's rank. Matches the traits
// that nodes share only once.
function matcher(terms) {
  const checks = terms.map((term) => {
    if (term.isName) {
      return (list, row) => rankOfName(term, list.names[row].toLowerCase(),
        list.traits(row).op.toLowerCase());
    }
    if (term.isLine) {
      const isThere = (line) => line === term.text || line.endsWith(`/${term.text}`);
      return (list, row) => (isThere(list.line(row).toLowerCase()) ? 0 : -1);
    }
    const known = new WeakMap();
    return (list, row) => {
      const traits = list.traits(row);
      const holds = () => {
        const text = term.field(traits).toLowerCase();
        return term.fits ? term.fits(text) : text.includes(term.text);
      };
      if (!known.has(traits)) known.set(traits, holds() ? 0 : -1);
      return known.get(traits);
    };
  });
  const decides = Math.max(0, terms.findIndex(({isName}) => isName));
  return (list, row) => {
    const ranks = checks.map((check) => check(list, row));
    return ranks.includes(-1) ? -1 : 2 * ranks[decides] + Number(list.traits(row).op === "_Arg");
  };
}

async function searchFile(source, summary, text, seen, goesOn) {
  const rankOf = matcher(parse(text)), isSeen = new Set(seen);
  const shown = new Set(seen.map((place) => Number.parseInt(place, 10)));  // bodies
  const ranks = Array.from({length: 3 * RANKS}, () => []);
  let count = 0;
  for (let body = 0; body < summary.bodies.length && goesOn(); ++body) {
    await source.forEachList(body, (list) => {
      for (let row = 0; row < list.count; ++row) {
        let rank = rankOf(list, row);
        if (rank < 0) continue;
        ++count;
        if (!isSeen.has(`${body}.${list.ids[row]}`)) rank += (shown.has(body) ? 1 : 2) * RANKS;
        if (ranks[rank].length >= MOST) continue;
        const traits = list.traits(row), {op, device = ""} = traits;
        ranks[rank].push({body, node: list.ids[row], name: list.names[row], op, device,
          types: typesText(traits)});
      }
      return goesOn();
    });
  }
  const hits = ranks.flat().slice(0, MOST);
  return {hits, more: count - hits.length};
}

// Promises {hits: [{body, node, name, op, device, types}], more: the number of further hits}, first
// those of the placed `boxes`, then those in the same bodies; of each the best matches first.
export function search(source, summary, text, boxes = [], goesOn = () => true) {
  const ops = boxes.filter(({box}) => box.kind === "op").slice(0, MOST_SEEN);
  const seen = ops.map(({body, box}) => `${body}.${box.id}`);
  return isFile ? searchFile(source, summary, text, seen, goesOn) : source.search(text, seen);
}

// Promises [{layer, body, scope, node}]: the layers whose names or paths fit all words, the best ones
// first; a layer is where `body` shows it or, if that does not, the first of its other bodies.
// {scope, node}: see GraphPage::LayersJson.
async function searchLayers(source, summary, text, body) {
  const terms = parse(text);
  if (terms.length === 0 || !terms.every(({isName}) => isName)) return [];
  const {layers, boxes} = await source.layers(), order = [body, summary.first ?? 0];
  const isLess = (a, b) => order.indexOf(b) - order.indexOf(a) || Number(a === 0) - Number(b === 0) || a - b;
  const hits = layers.flatMap((layer, index) => {
    const ranks = terms.map((term) =>
      rankOfName(term, layer.path.toLowerCase(), (layer.class ?? "").toLowerCase()));
    if (ranks.includes(-1)) return [];
    const own = boxes.filter(([of]) => of === index), [there] = own.map((box) => box[1]).sort(isLess);
    return own.filter((box) => box[1] === there)
      .map(([, , scope, node]) => ({layer, rank: ranks[0], body: there, scope, node}));
  });
  return hits.sort((a, b) => a.rank - b.rank).slice(0, MOST);
}

// `model()` returns {source, summary, view} of the graph to search, `boxes()` the placed boxes.
// `go(body, node)` shows a node, `goLayer({body, scope, node})` the box of a layer.
export function setUpSearch(model, boxes, go, goLayer) {
  const input = byId("search"), box = byId("results");
  let turn = 0, chosen = -1, answered = "";  // `answered`: the query whose results are listed
  const options = () => [...box.querySelectorAll("[role=option]")];
  const choose = (index) => {
    const all = options();
    if (all.length === 0) return;
    chosen = (index + all.length) % all.length;
    all.forEach((option, i) => option.setAttribute("aria-selected", String(i === chosen)));
    all[chosen].scrollIntoView({block: "nearest"});
  };
  const close = () => { box.hidden = true; };
  const run = async () => {
    const mine = ++turn, text = input.value;
    chosen = -1;
    if (!text.trim() || !model().summary) return close();
    const {source, summary, view} = model();
    const [layers, {hits, more}] = await Promise.all([searchLayers(source, summary, text, view.body),
      search(source, summary, text, boxes(), () => mine === turn)]);
    if (mine !== turn) return;
    const place = (body) => (body > 0 ? `in ${summary.bodies[body].name}` : "");
    const layerItem = (hit) => element("div", {role: "option", tabindex: "-1",
      onclick: () => { close(); goLayer(hit); }},
      element("span", {}, `${hit.layer.class ?? "Layer"}  ${hit.layer.path}`),
      element("div", {class: "where"}, [place(hit.body), ...hit.layer.outputs].filter(Boolean).join("  ")));
    const item = ({body, node, name, op, device, types}) => element("div", {role: "option", tabindex: "-1",
      onclick: () => { close(); go(body, node); }},
      element("span", {}, `${op}  ${name}`),
      element("div", {class: "where"}, [place(body), types, device].filter(Boolean).join("  ")));
    box.replaceChildren(...layers.map(layerItem), ...hits.map(item));
    if (layers.length + hits.length === 0) {
      box.append(element("p", {},
        "No node fits. Words are parts of names, globs (block_*/conv) or regular expressions " +
          "(/conv.*bias/); op:Conv2D (all of it; op:*conv* for a part), shape:[?,28], dtype:half, " +
          "device:GPU and attr:SAME look elsewhere, and model.py:12 is what a line of the program made."));
    }
    if (more > 0) box.append(element("p", {class: "dim"}, `and ${commas(more)} more`));
    box.hidden = false;
    answered = text;
  };
  let timer;
  // Opens the chosen result. If the list still shows results of an earlier text, because the user
  // typed fast, searches first.
  const take = async () => {
    clearTimeout(timer);
    if (!input.value.trim()) return;
    if (answered !== input.value || box.hidden) await run();
    options()[Math.max(chosen, 0)]?.click();
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(run, 80);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Escape") { close(); input.blur(); }
    else if (event.key === "Enter") take();
    else return;
    event.preventDefault();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest(".search")) close();
  });
  // Returns a function that searches for a text as if the user had typed it.
  return (text) => {
    input.value = text;
    input.focus();
    return run();
  };
}
