// The words that filter nodes. As in `grapnel view --hide` (lib/render/hidden_nodes.h): op:GLOB,
// name:GLOB, /REGEX/ for names. For the lists of the filter's panel also device:, job:, task:,
// cluster: and function:, each with a literal text.

// Words that hide not nodes, but edges, their shapes, lines in boxes, or (main) the main graph.
export const FIXED = ["control", "resources", "constants", "shapes", "main"];
const EXACT = ["device", "job", "task", "cluster", "function"];

// Returns a function that matches a glob, with the syntax of lib/support/glob.h.
export function globOf(glob) {
  let pattern = "";
  for (let i = 0; i < glob.length; ++i) {
    const letter = glob[i], end = glob.indexOf("]", i + 2);
    if (letter === "*") pattern += ".*";
    else if (letter === "?") pattern += ".";
    else if (letter === "[" && end > 0) {
      const set = glob.slice(i + 1, end).replace(/^[!^]/u, "^").replace(/[\\[]/gu, "\\$&");
      pattern += `[${set}]`;
      i = end;
    } else {
      if (letter === "\\") ++i;
      pattern += (glob[i] ?? "").replace(/[.*+?^${}()|[\]\\/-]/gu, "\\$&");
    }
  }
  return new RegExp(`^${pattern}$`, "su");
}

// Parses a word into {field, fits(text)}. Throws for an invalid regular expression, or an invalid
// range in a glob.
export function parseWord(word) {
  if (word.length > 1 && word.startsWith("/") && word.endsWith("/")) {
    const regex = new RegExp(word.slice(1, -1), "u");
    return {field: "name", fits: (text) => regex.test(text)};
  }
  const at = word.indexOf(":"), field = word.slice(0, at), rest = word.slice(at + 1);
  if (EXACT.includes(field)) return {field, fits: (text) => text === rest};
  const glob = globOf(rest);
  return {field: field === "op" ? "op" : "name", fits: (text) => text === rest || glob.test(text)};
}

// Returns the word for a user's text: the text if it is a word already, op:TEXT if it matches an
// op, else a pattern for names.
export function wordOf(text, ops) {
  if (FIXED.includes(text) || /^(?:op|name|device|job|task|cluster|function):./u.test(text)) return text;
  if (/^\/.+\/$/u.test(text)) return text;
  const glob = globOf(text);
  if (ops.some((op) => glob.test(op))) return `op:${text}`;
  return /[*?[]/u.test(text) ? `name:${text}` : `name:*${text}*`;
}
