// Numbers as text for users.

// Returns a number with commas: 1234567 -> "1,234,567". For whole numbers it avoids toLocaleString,
// whose first call takes tens of milliseconds.
export function grouped(number) {
  if (!Number.isSafeInteger(number)) return number.toLocaleString("en-US");
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}
