// Mouse and touch on the canvas of a graph: drag, pinch, wheel, click, double click.

import {isEmbedded} from "./dom.js";

const DOUBLE_CLICK = 500;  // ms

export function listenToPointer(view) {
  const {canvas} = view;
  const pointers = new Map();
  let moved = 0, pressed;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
    moved = 0;
    pressed = {x: event.offsetX, y: event.offsetY};
  });
  canvas.addEventListener("pointermove", (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) return view.hover(event);
    if (pointers.size === 2) {
      const [other] = [...pointers.values()].filter((p) => p.pointerId !== event.pointerId);
      const distance = (p) => Math.hypot(p.offsetX - other.offsetX, p.offsetY - other.offsetY);
      view.zoomAt(other.offsetX, other.offsetY, distance(event) / Math.max(distance(last), 1));
    } else {
      view.at.x += event.offsetX - last.offsetX;
      view.at.y += event.offsetY - last.offsetY;
      moved += Math.abs(event.offsetX - last.offsetX) + Math.abs(event.offsetY - last.offsetY);
      view.paint();
    }
    pointers.set(event.pointerId, event);
  });
  const release = (event) => {
    pointers.delete(event.pointerId);
    if (moved > 4 || event.type === "pointercancel" || !pressed) return;
    view.click(pressed.x, pressed.y);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("dblclick", (event) => {
    // Do nothing if the first click of this double click was on the triangle, and so has opened or
    // closed the box already.
    if (performance.now() - (view.toggledAt ?? -Infinity) < DOUBLE_CLICK) return;
    const box = view.boxAt(event.offsetX, event.offsetY);
    if (box) view.toggle(box);
  });
  canvas.addEventListener("wheel", (event) => {
    // If this page is embedded in another page, the wheel scrolls that page until the user clicks
    // here.
    if (isEmbedded && !document.hasFocus()) return;
    event.preventDefault();
    if (event.shiftKey) {
      view.at.x -= event.deltaX + event.deltaY;
      view.paint();
    } else {
      view.zoomAt(event.offsetX, event.offsetY, Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)));
    }
  }, {passive: false});
}
