// Exports the visible picture, and the text of its graph, as files.

import {dotText} from "./dot_text.js";
import {byId, element} from "./dom.js";
import {paintPicture, sizeOfPicture, svgOf} from "./picture.js";
import {isFile} from "./source.js";

const FINER = 2, LONGEST = 16000, MOST_PIXELS = 2 ** 27;  // of a PNG; browsers limit canvases
const WHY_NO_TEXT = "This page is a file, with the text of single nodes only: grapnel serve has all of it";

const KINDS = [
  {name: "SVG", suffix: "svg", title: "As it is drawn, all of it", make: ({view}, words) =>
    new Blob([svgOf(view.frame, view.look, words)], {type: "image/svg+xml"})},
  {name: "PNG", suffix: "png", title: "As it is drawn, all of it", make: ({view}, words) =>
    pngOf(view, words)},
  {name: "DOT", suffix: "dot", title: "Boxes and lines for Graphviz", make: ({view}, words) =>
    new Blob([dotText(view.frame, words.title)], {type: "text/vnd.graphviz"})},
  {name: "Text", suffix: "gtxt", title: "The body's nodes as a graph's text", server: true, make: textOf},
];

// `page`: the Page of page.js.
export function setUpExport(page) {
  const menu = byId("export"), list = menu.querySelector("div");
  for (const kind of KINDS) {
    const disabled = Boolean(kind.server && isFile);
    list.append(element("button", {type: "button", disabled, title: disabled ? WHY_NO_TEXT : kind.title,
      onclick: () => {
        menu.open = false;
        save(page, kind).catch((error) => page.fail(error));
      }}, kind.name));
  }
  addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

// Saves one file, or for graphs side by side one file for each graph.
async function save(page, kind) {
  for (const view of page.views()) {
    const {title} = view.summary, side = page.panes.on ? (view === page.panes.a.view ? ".a" : ".b") : "";
    const words = {title, header: headerOf(page, view), colors: colorsOf(page, view)};
    const blob = await kind.make({page, view}, words);
    const base = title.split("/").pop().replace(/[^\w.-]+/gu, "_") || "graph";
    const url = URL.createObjectURL(blob);
    element("a", {href: url, download: `${base}${side}.${kind.suffix}`}).click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  }
}

function headerOf(page, view) {
  const body = view.summary.bodies[view.body];
  return [...(body.name ? [`function ${body.name}`] : []), ...(view === page.view
    ? [byId("counts").textContent] : [])];
}

function colorsOf(page, view) {
  const {theme} = view.look, choice = byId("color").selectedOptions[0]?.textContent ?? "";
  const fillOf = (style) => {
    const [, kind, at] = /--(fill|mark)-(\d+)/u.exec(style) ?? [];
    return kind ? theme[`${kind}s`][at] : style;
  };
  return {title: `color: ${choice}`, swatches: page.swatches.map(({style, text}) => ({name: text,
    fill: fillOf(style)}))};
}

function pngOf(view, words) {
  const [w, h] = sizeOfPicture(view.frame, words);
  const scale = Math.min(FINER, LONGEST / w, LONGEST / h, Math.sqrt(MOST_PIXELS / (w * h)));
  const canvas = element("canvas", {width: Math.ceil(w * scale), height: Math.ceil(h * scale)});
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = view.look.theme.canvas;
  context.fillRect(0, 0, w, h);
  paintPicture(context, view.frame, view.look, words);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob)
    : reject(new Error("the browser has no room for a picture of this size"))), "image/png"));
}

async function textOf({view}) {
  const {text} = await view.source.get(`text/${view.body}/${view.frame.scope}`);
  return new Blob([text], {type: "text/plain"});
}
