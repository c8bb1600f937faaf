// The list from which the user selects a function of a folder of dumps. Each trace of a function
// has a story of its own: the stages of its graph and of the partitions made from that graph.

import {byId, commas, element, plural} from "./dom.js";

// Returns all stories of the run that an entry is a stage of; empty if the run has one story, or the
// entry is not a stage.
export function storiesOf(models, index) {
  const {run} = models[index];
  return run === undefined ? [] : models[Number(run)]?.stories ?? [];
}

export const storyOf = (models, index) => storiesOf(models, index)[models[index].story];

// Sorts stories by size, the largest first.
const bySize = (list) => [...list].sort((a, b) => b.nodes - a.nodes || b.changed - a.changed);

// Returns the entry that is shown first of a model whose entries begin at `index`: for a folder of
// dumps, a stage of its largest function.
export const opensAt = (models, index) => models[index].opens ?? index;

const sizeText = ({nodes, stages, changed}) =>
  `${plural(nodes, "node")}, ${commas(changed)} of ${plural(stages, "stage")} changed something`;

export class StoryList {
  // `choose` and `chosen` are as for StageList (stage_list.js).
  constructor(choose, chosen) {
    Object.assign(this, {choose, chosen});
    byId("story-list").addEventListener("change", ({target}) => this.turnTo(Number(target.value)));
  }

  // Returns those of a model's `entries` that the list of stages has while entry `index` is shown.
  // Of a run with several stories, these are the stages of one story; entries that are not of the
  // run stay.
  list(models, entries, index) {
    this.models = models;
    const shown = models[index].story === undefined ? opensAt(models, entries[0]) : index;
    const stories = storiesOf(models, shown), {run, story} = models[shown];
    byId("story-list").hidden = stories.length === 0;
    if (stories.length === 0) return entries;
    if (this.stories !== stories) this.fill(stories);
    byId("story-list").value = story;
    byId("story-list").title = `${stories[story].line}: ${sizeText(stories[story])}`;
    return entries.filter((i) => models[i].run !== run || models[i].story === story);
  }

  fill(stories) {
    this.stories = stories;
    const groups = new Map();
    for (const story of bySize(stories)) {
      const {function: label, title, line} = story;
      if (!groups.has(label)) groups.set(label, element("optgroup", {label}));
      groups.get(label).append(element("option", {value: stories.indexOf(story), title: line},
        `${title}: ${sizeText(story)}`));
    }
    byId("story-list").replaceChildren(...groups.values());
  }

  // Shows another function: its stage with the same name as the current stage or, if it has none,
  // its first stage.
  turnTo(number) {
    const {entry} = this.stories[number], {title} = this.models[this.chosen()];
    const {run} = this.models[entry];
    const same = this.models.findIndex((other) => other.run === run && other.story === number
      && other.title === title);
    this.choose(same < 0 ? entry : same);
  }
}
