// Suggestions for a mistyped name ("did you mean"), by simpler rules than those of
// lib/support/suggest.h.

const MOST = 3;
const lastOf = (name) => name.slice(name.lastIndexOf("/") + 1);

// Returns the edit distance of two names; `most` + 1 if it is greater than `most`.
function distance(a, b, most) {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before = Array.from({length: b.length + 1}, (_, i) => i);
  for (let i = 1; i <= a.length; ++i) {
    const row = [i];
    for (let j = 1; j <= b.length; ++j) {
      row.push(Math.min(before[j] + 1, row[j - 1] + 1, before[j - 1] + Number(a[i - 1] !== b[j - 1])));
    }
    if (Math.min(...row) > most) return most + 1;
    before = row;
  }
  return before[b.length];
}

// Returns up to three of `names` that are most similar to `text`, by the whole name, else by the
// last component.
export function nearNames(text, names) {
  for (const part of [(name) => name, lastOf]) {
    const wanted = part(text).toLowerCase(), most = Math.max(1, Math.min(4, Math.floor(wanted.length / 4)));
    const found = [];
    for (const name of names) {
      const far = distance(wanted, part(name).toLowerCase(), most);
      if (far <= most) found.push([far, name]);
    }
    if (found.length > 0) {
      return found.sort((a, b) => a[0] - b[0] || a[1].length - b[1].length).slice(0, MOST).map(([, name]) =>
        name);
    }
  }
  return [];
}
