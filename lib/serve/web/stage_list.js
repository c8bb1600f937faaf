// Which of several graphs is shown: models, or the stages of a folder of dumps.

import {byId, element} from "./dom.js";

export class StageList {
  // `choose(index)` goes to a graph, `chosen()` is the one that is shown.
  constructor(choose, chosen) {
    for (const [id, event] of [["stage-list", "change"], ["stage-slider", "input"]]) {
      byId(id).addEventListener(event, ({target}) => choose(Number(target.value)));
    }
    byId("stage-back").addEventListener("click", () => choose(chosen() - 1));
    byId("stage-next").addEventListener("click", () => choose(chosen() + 1));
  }

  list(models) {
    this.models = models;
    byId("stages").hidden = models.length < 2;
    byId("stage-slider").max = models.length - 1;
    byId("stage-list").replaceChildren();
    const groups = new Map();
    models.forEach(({title, group, same, forgotten}, i) => {
      if (forgotten) return;
      const key = group ?? "";
      if (!groups.has(key)) groups.set(key, key ? element("optgroup", {label: key}) : byId("stage-list"));
      groups.get(key).append(element("option", {value: i}, `${title}${same ? " (changes nothing)" : ""}`));
    });
    for (const made of groups.values()) if (made !== byId("stage-list")) byId("stage-list").append(made);
  }

  // Says which one is shown.
  mark(index) {
    const {title, group, note, same} = this.models[index];
    byId("stage-slider").value = index;
    byId("stage-list").value = index;
    const words = [`${index + 1} of ${this.models.length}`, same ? "changes nothing" : note];
    byId("stage-note").textContent = words.filter(Boolean).join(": ");
    byId("stage-note").title = [group, title].filter(Boolean).join(": ");
  }
}
