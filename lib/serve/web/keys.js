// Keys on the canvas of a graph: the arrows select the next box, Enter opens it, Escape goes out of it.

import {boxKey} from "./frames.js";

const PAN = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

export function listenToKeys(view) {
  view.canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (press(view, event.key, event.shiftKey)) event.preventDefault();
  });
}

// Returns whether the view uses the key.
function press(view, key, shift) {
  const pan = PAN[key];
  if (pan && view.chosen && !shift) selectNext(view, ...pan);
  else if (pan) {
    view.at.x -= pan[0] * 60;
    view.at.y -= pan[1] * 60;
    view.paint();
  } else if (key === "Enter" || key === " ") {
    if (view.chosen) view.toggle(view.chosen);
    else if (view.boxes.length > 0) view.select(view.boxes[0]);
  } else if (key === "Escape" || key === "Backspace") view.select(view.chosen?.parent);
  else if (key === "+" || key === "=") view.zoomBy(1.25);
  else if (key === "-") view.zoomBy(0.8);
  else if (key === "f" || key === "0") view.fitAnew();
  else return false;
  return true;
}

// Selects the box nearest to the selected one in the direction dx, dy, if there is one. Distances
// across this direction count more.
function selectNext(view, dx, dy) {
  const middle = (box) => [box.x + box.w / 2, box.y + (box.inner ? 14 : box.h / 2)];
  const [x, y] = middle(view.boxes.find((box) => boxKey(box) === boxKey(view.chosen)) ?? view.chosen);
  let best, least = Infinity;
  for (const box of view.boxes) {
    if (boxKey(box) === boxKey(view.chosen)) continue;
    const [bx, by] = middle(box);
    const ahead = (bx - x) * dx + (by - y) * dy, aside = Math.abs((bx - x) * dy) + Math.abs((by - y) * dx);
    const cost = ahead + 2.5 * aside;
    if (ahead <= 1 || cost >= least) continue;
    [best, least] = [box, cost];
  }
  if (!best) return;
  view.select(best);
  view.keepInSight(boxKey(best));
}
