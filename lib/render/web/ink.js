// Text colors that are readable on a fill, "#rrggbb".

const INKS = ["#eef1f5", "#14181f"], DARK = 0.42, PALE = 0.7;  // DARK, PALE: lightness of a fill

export const channels = (fill) => [1, 3, 5].map((at) => Number.parseInt(fill.slice(at, at + 2), 16));

// Returns the perceived lightness of a fill, roughly, from 0 for black to 1 for white.
function lightness(fill) {
  const [r, g, b] = channels(fill).map((channel) => (channel / 255) ** 2.2);
  return Math.sqrt(0.2126 * r + 0.7152 * g + 0.0722 * b);
}

export const inkOn = (fill) => INKS[Number(lightness(fill) > DARK)];
// Returns undefined without a fill, and for pale fills, on which all text colors of a light theme
// are readable.
export const inkOnStrong = (fill) => (fill && lightness(fill) < PALE ? inkOn(fill) : undefined);
