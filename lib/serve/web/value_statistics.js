// Shows the value of a constant or a variable, in numbers.

import {commas, element} from "./dom.js";

const BARS = "▁▂▃▄▅▆▇█";
const short = (number) => String(Number(number.toPrecision(4)));

// Returns elements with statistics of a tensor's numbers: a histogram of the finite numbers between
// their minimum and maximum, their mean, and the counts of NaNs, infinities and zeros.
export function valueStatistics(s) {
  const finite = s.elements - s.nan - s.positive_infinite - s.negative_infinite;
  const rows = [["elements", commas(s.elements)]];
  if (finite > 0) {
    const mean = `${short(s.mean)} ± ${short(s.deviation)}`;
    rows.push(["min", short(s.min)], ["mean", mean], ["max", short(s.max)]);
  }
  const others = [["zero", s.zero], ["NaN", s.nan], ["+inf", s.positive_infinite],
    ["−inf", s.negative_infinite]];
  for (const [name, count] of others) if (count > 0) rows.push([name, commas(count)]);
  const line = ([name, text]) => element("tr", {class: /NaN|inf/u.test(name) ? "bad" : ""},
    element("td", {}, name), element("td", {}, text));
  const parts = [element("table", {class: "statistics"}, ...rows.map(line))];
  if (finite > 0 && s.max > s.min) {
    const most = Math.max(...s.histogram);
    const height = (count) => Math.min(BARS.length - 1, Math.floor((count / most) * BARS.length));
    const bars = s.histogram.map((count) => (count === 0 ? " " : BARS[height(count)])).join("");
    const title = `of ${commas(finite)} finite numbers, from ${short(s.min)} to ${short(s.max)}`;
    parts.unshift(element("p", {class: "histogram", title}, bars));
  }
  return parts;
}

// Returns elements with the value of a constant or a variable: its first elements, and statistics.
export const valueOf = ({value, statistics}) => [element("p", {class: "value"}, value),
  ...statistics ? valueStatistics(statistics) : []];
