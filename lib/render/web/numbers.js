// Numbers as a reader sees them.

// 1234567 -> "1,234,567". Of whole numbers without the browser's tables of languages, which take tens of
// milliseconds when they are first asked.
export function grouped(number) {
  if (!Number.isSafeInteger(number)) return number.toLocaleString("en-US");
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}
