// Brings parts of a picture into view, for a picture that does not fit as a whole.

// The zoom from which all text is readable, and the zoom below which words on lines have less than
// nine pixels.
export const LEGIBLE = 0.85;
export const TOO_SMALL = 0.82;
export const MARGIN = 8;  // around a picture that fits

// Brings an open scope (for a function, its outermost scope) into view, large enough to read.
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

// Shows the beginning of the picture, the inputs, in a readable size.
export function startAtTop(view) {
  const {at, frame} = view, [w] = view.size(), least = w - MARGIN - frame.w * LEGIBLE;
  const first = view.boxes.find(({box, parent}) => box.input && parent === undefined);
  const middle = first ? first.x + first.w / 2 : frame.w / 2;
  at.zoom = LEGIBLE;
  at.x = least > MARGIN ? (least + MARGIN) / 2
    : Math.max(least, Math.min(MARGIN, w / 2 - middle * LEGIBLE));
  at.y = 0;
  view.paint();
}

// Shows the topmost closed box with a marked node, such as a difference, if none is in view.
export function showMarked(view) {
  const marked = view.boxes.filter(({box, inner}) => box.marks && !inner);
  if (marked.length === 0 || marked.some((box) => view.isInSight(box))) return;
  view.moveTo(marked.reduce((first, box) => (box.y < first.y ? box : first)), view.at.zoom);
}

// Keeps the whole picture in view, or its beginning, when its place changes, unless the user has moved
// it. Divides it into other columns if the window's size changes, or if the text would become too
// small; but not because of a chosen box, which may make the panel wider: that moves no box.
export function refit(view) {
  const {fitted, begun, at, chosen} = view, isAt = (place) => place && ["zoom", "x", "y"].every((key) =>
    at[key] === place[key]);
  const isSame = view.window === windowSize() && (chosen || view.zoomToFit() >= LEGIBLE);
  if (isAt(fitted)) (isSame ? view.fit() : view.fitAnew());
  else if (isAt(begun) && !chosen) view.seeAnew();
  else view.paint();
}

export const windowSize = () => `${innerWidth} ${innerHeight}`;
