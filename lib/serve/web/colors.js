// The colors of boxes, and their legend.

import {element} from "./dom.js";
import {fillOfKind, markFill, SEVERAL} from "./draw.js";

const CHOICES = [["op", "by kind of op"], ["device", "by device"], ["cluster", "by XLA cluster"],
  ["flops", "by FLOPs, estimated"],
  ["bytes", "by bytes of constants, variables"], ["none", "none"]];
const TEXT_FILLS = 8;
const COSTS = {flops: "of the FLOPs", bytes: "of the bytes"};
// Classes of boxes by their share of the total cost: [smallest share, number of the color (a mark
// of the style sheet), name].
export const SHARES = [[0.2, 0, "a fifth"], [0.05, 2, "a twentieth"], [0.01, 3, "a hundredth"]];

export const shareMark = (value, total) => SHARES.find(([least]) => value > 0 && value >= least * total)?.[1];

// Returns the choices for coloring, [id, text] each. `run`: the colors of the last run, or
// undefined; `values`: the choices from files with numbers.
export function colorChoices(summary, run, values) {
  const choices = CHOICES.filter(([id]) => id !== "cluster" || summary.clusters);
  return [...(summary.marks ? [["marks", summary.marks.title]] : []), ...choices, ...(run?.choices() ?? []),
    ...values];
}

// Sets the colors in `look` for the choice `by`, and returns the legend, a list of {style, text}.
// `total(cost)` returns the sum of that cost ("flops" or "bytes") for the body that is shown.
export function colorBy(by, look, summary, run, total) {
  const ran = by.startsWith("run-") ? run : undefined;
  look.byDevice = by === "device";
  look.glows = by === "run-health" ? (placed) => ran.glows(placed) : undefined;
  const swatch = (kind, fill, text) => ({style: `var(--${kind}-${fill})`, text});
  if (by === "op") {
    look.fillOf = ({box}) => look.theme.fills[box.group];  // of ops and layers
    return summary.groups.map((text, i) => swatch("fill", i, text));
  }
  if (by === "marks") {
    look.fillOf = ({box}) => markFill(box, look.theme);
    return [...summary.marks.kinds.map((text, i) => swatch("mark", fillOfKind(i), text)),
      swatch("mark", SEVERAL, "several of these")];
  }
  if (ran) {
    look.fillOf = (placed) => ran.fill(by, placed, look.theme);
    return ran.legend(by).map(([mark, text]) => swatch("mark", mark, text));
  }
  if (by in COSTS) {
    look.fillOf = ({box, view}) => look.theme.marks[shareMark(box[by], view[`all_${by}`])];
    if (!total(by)) return [swatch("fill", 0, by === "flops" ? "no op with known FLOPs"
      : "no constant, no variable")];
    return SHARES.map(([, mark, share], i) => swatch("mark", mark,
      `${share} ${i === 0 ? COSTS[by] : ""} or more`.replace("  ", " ")));
  }
  if (by === "device") return byText(look, "device", summary.devices ?? [], swatch);
  if (by === "cluster") return byText(look, "cluster", summary.clusters ?? [], swatch);
  look.fillOf = () => undefined;
  return [];
}

// Colors boxes by `what`, "device" or "cluster", and returns the legend. If there are more names
// than colors, the colors repeat.
function byText(look, what, names, swatch) {
  const fills = new Map(names.map((name, i) => [name, (i % TEXT_FILLS) + 1]));
  look.fillOf = ({box}) => {
    const here = box.kind === "op" ? [box[what]].filter(Boolean) : Object.keys(box[`${what}s`] ?? {});
    return here.length === 1 && fills.has(here[0]) ? look.theme.fills[fills.get(here[0])] : undefined;
  };
  if (names.length === 0) return [swatch("fill", 0, "no node asks for a device")];
  const listed = [...fills].slice(0, TEXT_FILLS).map(([name, fill]) => swatch("fill", fill, name));
  const more = names.length - TEXT_FILLS;
  return more > 0 ? [...listed, swatch("fill", 1, `${more} more, in these colors again`)] : listed;
}

export function drawLegend(root, swatches, {byDevice, through, grouped, beside}) {
  const items = swatches.map(({style, text}) => {
    const item = element("li", {}, element("i"), text);
    item.firstChild.style.background = style;
    return item;
  });
  if (byDevice) items.push(element("li", {}, element("i", {class: "line crossing"}),
    "crosses between devices"));
  items.push(element("li", {}, element("i", {class: "line"}), "data, down"),
    element("li", {}, element("i", {class: "line dashed"}), "control"));
  if (through) items.push(element("li", {}, element("i", {class: "line through"}), "through hidden ops"));
  if (grouped) items.push(element("li", {}, element("i", {class: "grouped"}), "grouped by grapnel"));
  root.replaceChildren(element("ul", {}, ...items), ...beside);
}
