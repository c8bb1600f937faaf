// The list from which the user selects one of a model's graphs: those of a file, the stages of a
// folder of dumps, or graphs that were made from these.

import {byId, element} from "./dom.js";

export class StageList {
  // choose(index) shows an entry, an index in the list of all models; chosen() returns the current
  // entry.
  constructor(choose, chosen) {
    Object.assign(this, {choose, chosen, numbers: []});
    byId("stage-list").addEventListener("change", ({target}) => choose(Number(target.value)));
    byId("stage-slider").addEventListener("input", ({target}) => choose(this.numbers[target.value]));
    byId("stage-back").addEventListener("click", () => this.step(-1));
    byId("stage-next").addEventListener("click", () => this.step(1));
  }

  step(by) {
    const next = this.numbers[this.numbers.indexOf(this.chosen()) + by];
    if (next !== undefined) this.choose(next);
  }

  // Lists a model's graphs, except those that the server no longer keeps. `numbers`: the entries of
  // the model.
  list(models, numbers) {
    Object.assign(this, {models, numbers});
    byId("stages").hidden = numbers.length < 2;
    byId("stage-slider").max = numbers.length - 1;
    byId("stage-list").replaceChildren();
    const groups = new Map();
    numbers.forEach((i) => {
      const {title, group, same, forgotten} = models[i];
      if (forgotten) return;
      const key = group ?? "";
      if (!groups.has(key)) groups.set(key, key ? element("optgroup", {label: key}) : byId("stage-list"));
      groups.get(key).append(element("option", {value: i}, `${title}${same ? " (changes nothing)" : ""}`));
    });
    for (const made of groups.values()) if (made !== byId("stage-list")) byId("stage-list").append(made);
  }

  // Marks the current entry.
  mark(index) {
    const {title, group, note, same} = this.models[index];
    const place = this.numbers.indexOf(index);
    byId("stage-slider").value = place;
    byId("stage-list").value = index;
    const words = [`${place + 1} of ${this.numbers.length}`, same ? "changes nothing" : note];
    byId("stage-note").textContent = words.filter(Boolean).join(": ");
    byId("stage-note").title = [group, title, note].filter(Boolean).join(": ");
  }
}
