// Converts numbers to colors, by the file's scale, else by the theme's, which ends in orange.

import {commas} from "./dom.js";
import {channels} from "./ink.js";

const STEPS = 5;  // entries of a legend

// Returns a number as text: "115,605,504", "4,407" for 4406.8, "0.03512".
export function numberText(value) {
  const size = Math.abs(value);
  if (size < 1e15 && (size >= 1000 || Number.isInteger(value))) {
    return commas(Math.round(value));
  }
  return String(Number(value.toPrecision(4)));
}

const hexOf = (numbers) => `#${numbers.map((n) => Math.round(n).toString(16).padStart(2, "0")).join("")}`;

function between(a, b, part) {
  const from = channels(a), to = channels(b);
  return hexOf(from.map((channel, i) => channel + (to[i] - channel) * part));
}

function onGradient(steps, place) {
  const next = steps.findIndex(({at}) => at >= place);
  if (next < 0) return steps.at(-1).fill;
  if (next === 0) return steps[0].fill;
  const [a, b] = [steps[next - 1], steps[next]];
  return between(a.fill, b.fill, (place - a.at) / (b.at - a.at));
}

export class ValueScale {
  // `set`: one of the sets from node_data.js; numbers range from `least` to `largest`.
  constructor(set, least, largest) { Object.assign(this, {set, least, largest}); }

  get byThresholds() { return this.set.gradient.length === 0 && this.set.thresholds.length > 0; }

  // Returns a number's color, "#rrggbb"; undefined if it is above the last threshold.
  fill(value, theme) {
    if (this.byThresholds) return this.set.thresholds.find(({at}) => value <= at)?.fill;
    const heat = theme.heat.map((fill, i) => ({at: i / (theme.heat.length - 1), fill}));
    const {least, largest, set: {gradient}} = this;
    const place = largest > least ? (value - least) / (largest - least) : 1;
    return onGradient(gradient.length > 0 ? gradient : heat, Math.min(1, Math.max(0, place)));
  }

  // Returns the entries of the legend, a list of {style, text}.
  legend(theme) {
    const {least, largest, set: {thresholds}} = this;
    if (this.byThresholds) {
      return thresholds.map(({at, fill}, i) => ({style: fill, text: i === 0 ? `up to ${numberText(at)}`
        : `to ${numberText(at)}`}));
    }
    const count = largest > least ? STEPS : 1;
    return Array.from({length: count}, (_, i) => largest - (largest - least) * ((count - 1 - i) /
      Math.max(1, count - 1))).map((value) => ({style: this.fill(value, theme), text: numberText(value)}));
  }
}
