// What is brought in sight of a picture that does not fit as a whole.

// Zoom at which all text can be read, and below which hardly any.
export const LEGIBLE = 0.85, TOO_SMALL = 0.7;

// What is open of a scope or (its outermost one) of a function, which may be small or far off: so large that
// it can be read.
export function lookAt(view, {body, scope}) {
  for (const {x, y, inner} of view.boxes) {
    const frame = inner?.frames.find((other) => other.body === body && other.scope === scope);
    if (!frame) continue;
    const box = {x: x + frame.x, y: y + frame.y, w: frame.w, h: frame.h};
    if (view.at.zoom >= LEGIBLE && view.isInSight(box)) return;
    view.moveTo(box, Math.max(LEGIBLE, Math.min(view.fitting(box), 1)));
    return;
  }
}

// What a reader looks for, as what a diff found, if none of it is in sight: the uppermost.
export function showMarked(view) {
  const marked = view.boxes.filter(({box, inner}) => box.marks && !inner);
  if (marked.length === 0 || marked.some((box) => view.isInSight(box))) return;
  view.moveTo(marked.reduce((first, box) => (box.y < first.y ? box : first)), view.at.zoom);
}
