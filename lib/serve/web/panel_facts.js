// The facts in the panel about the cost of a box and about a layer.

import {commas, element, link, plural} from "./dom.js";

const FEW = 12;  // weights that are listed

// Returns elements with the costs of a box and their shares of its body's costs. `batch`: the size
// of a batch that the FLOPs assume, if the model leaves it open.
export function costs({box, view}, batch) {
  const share = (key) => {
    const all = view[`all_${key}`];
    return all > box[key] ? `, ${Math.round((100 * box[key]) / all) || "less than 1"} % of the whole` : "";
  };
  const line = (key, words) => (box[key] > 0
    ? [element("p", {class: "dim"}, `${commas(box[key])} ${words}${share(key)}`)] : []);
  return [
    ...line("flops", `FLOPs, estimated by shapes${batch ? ` for a batch of ${batch}` : ""}`),
    ...line("bytes", "bytes of constants and variables"),
  ];
}

// Returns a row for a weight. A click on its name shows or hides what values(node) promises.
function weightRow([name, type, node], values) {
  let shown;
  const toggle = async () => {
    if (shown) {
      shown.remove();
      shown = undefined;
      return;
    }
    const cell = element("td", {colspan: "2"});
    shown = element("tr", {class: "values"}, cell);
    line.after(shown);
    try {
      cell.append(...await values(node));
    } catch (error) {
      cell.append(element("p", {class: "problem"}, error.message));
    }
  };
  const named = node === undefined ? name : link(name, toggle, "Show its values");
  const line = element("tr", {}, element("td", {}, named), element("td", {}, type));
  return line;
}

// Returns elements with a layer's output, parameters and weights, those of layers in it included.
// `values(node)` promises elements about the value of a weight, by its node in the main graph.
export function layerFacts(layers, path, values) {
  const layer = layers.find((one) => one.path === path);
  if (!layer) return [];
  const {outputs, parameters, trainable = parameters, open} = layer;
  const inside = layers.filter((one) => one === layer || one.path.startsWith(`${path}/`));
  const weights = new Map(inside.flatMap((one) => one.weights).map((weight) => [weight[0], weight]));
  const few = [...weights.values()].slice(0, FEW), rest = weights.size - few.length;
  return [
    ...outputs.length > 0 ? [element("p", {}, `Output ${outputs.join(", ")}`)] : [],
    element("p", {}, `${open ? "at least " : ""}${plural(parameters, "parameter")}`,
      trainable < parameters ? ` (${commas(trainable)} trainable)` : ""),
    ...few.length > 0 ? [element("table", {}, ...few.map((weight) => weightRow(weight, values)))] : [],
    ...rest > 0 ? [element("p", {class: "dim"}, `and ${plural(rest, "more weight")}`)] : [],
  ];
}
