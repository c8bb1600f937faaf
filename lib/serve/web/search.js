// Search over all nodes of all bodies: words are parts of names; op:, shape:, type:, device: and
// attr: look elsewhere. All must hold.

import {byId, commas, element} from "./dom.js";

const MOST = 200;
const FIELDS = {op: 2, device: 3, shape: 4, type: 4, dtype: 4, attr: 5};

function parse(text) {
  return text.trim().split(/\s+/u).filter(Boolean).map((word) => {
    const [, field, rest] = /^(op|device|shape|type|dtype|attr):(.*)$/u.exec(word) ?? [];
    return field ? {field: FIELDS[field], text: rest.toLowerCase(), exact: false}
      : {field: 1, text: word.toLowerCase()};
  });
}

const TABLES = {2: "ops", 3: "devices", 4: "types", 5: "attributes"};

// For each page of the index: which texts fit is decided once a text, not once a node.
function matcher(page, terms) {
  const checks = terms.map(({field, text}) => {
    if (field === 1) return (node) => node[1].toLowerCase().includes(text)
      || page.ops[node[2]].toLowerCase() === text;
    const fits = page[TABLES[field]].map((entry) => entry.toLowerCase().includes(text));
    return (node) => fits[node[field]];
  });
  return (node) => checks.every((check) => check(node));
}

// `visit({body, node, page})` for each that fits, in the graph's order; false stops. The number of
// nodes looked at comes back.
export async function search(source, summary, text, visit) {
  const terms = parse(text);
  for (let body = 0; body < summary.bodies.length; ++body) {
    let going = true;
    await source.forEachIndexPage(body, (page) => {
      const fits = matcher(page, terms);
      for (const node of page.nodes) {
        if (fits(node) && visit({body, node, page}) === false) going = false;
        if (!going) break;
      }
      return going;
    });
    if (!going) return;
  }
}

// `model()` gives {source, summary} of what is searched now.
export function setUpSearch(model, go) {
  const input = byId("search"), box = byId("results");
  let turn = 0, chosen = -1, answered = "";  // what the list answers
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
    const {source, summary} = model(), found = [];
    let more = 0;
    await search(source, summary, text, (hit) => {
      if (mine !== turn) return false;
      if (found.length < MOST) found.push(hit);
      else ++more;
      return more < 100000;
    });
    if (mine !== turn) return;
    const item = ({body, node, page}) => element("div", {role: "option", tabindex: "-1",
      onclick: () => { close(); go(body, node[0]); }},
      element("span", {}, `${page.ops[node[2]]}  ${node[1]}`),
      element("div", {class: "where"}, [body > 0 ? `in ${summary.bodies[body].name}`
        : "", page.types[node[4]], page.devices[node[3]]].filter(Boolean).join("  ")));
    box.replaceChildren(...found.map(item));
    if (found.length === 0) {
      box.append(element("p", {},
        "No node fits. Words are parts of names; op:Conv2D, shape:[?,28], dtype:half, device:GPU and " +
          "attr:SAME look elsewhere."));
    }
    if (more > 0) box.append(element("p", {class: "dim"}, `and ${commas(more)} more`));
    box.hidden = false;
    answered = text;
  };
  let timer;
  // Whoever types fast has not seen the list of the last letters yet.
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
}
