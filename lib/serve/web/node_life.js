// A part of a node's panel: the effects of a run's stages on the node, trace by trace.

import {element, link, plural} from "./dom.js";
import {isFile, post} from "./source.js";

const code = (text) => element("code", {}, text);

// Promises the elements of this part. `stage`: the id of the current stage, whose trace comes
// first; `name`: NODE or FUNCTION/NODE.
export async function lifeOfNode(page, stage, name) {
  const heading = element("h3", {}, "Through the stages");
  if (isFile) {
    return [heading, element("p", {class: "dim"}, "This page is a file, which does not hold it: ",
      code("grapnel serve DIR"), " shows it here, ", code("grapnel timeline DIR --node NODE"),
      " prints it.")];
  }
  const blocks = await post(`${stage}/life`, name);
  if (blocks.length === 0) return [];
  const [first, ...others] = blocks, {title, line} = first;
  const own = others.filter((block) => block.function === first.function);
  const rest = others.filter((block) => block.function !== first.function);
  const folded = (block) => element("details", {class: "life"},
    element("summary", {title: block.line}, `${block.title}: ${plural(block.events.length, "event")}`),
    events(page, block, name));
  const parts = [heading, element("div", {class: "life", title: line},
    others.length === 0 ? undefined : element("p", {class: "line"}, element("strong", {}, title)),
    events(page, first, name)), ...own.map(folded)];
  if (rest.length > 0) {
    parts.push(element("details", {class: "life"},
      element("summary", {}, `A node of that name in ${plural(rest.length, "graph")} of other functions`),
      ...rest.map(folded)));
  }
  return parts;
}

// Shows the node of that name in another stage; if there is no such node, only the stage.
async function goTo(page, entry, name) {
  await page.toModel(entry);
  const found = await page.source.find(name).catch(() => undefined);
  if (found) await page.go(found.body, found.node);
}

function events(page, block, name) {
  const item = ({entry, stage, text, line}) => element("li", {},
    link(stage, () => goTo(page, entry, name), line ? `Of the partition ${line}` : "See it there"),
    line ? element("span", {class: "dim"}, " of the partition") : undefined,
    element("div", {}, text));
  return element("ul", {}, ...block.events.map(item));
}
