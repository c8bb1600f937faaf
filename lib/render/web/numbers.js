// Numbers as text for users.

// 1234567 -> "1,234,567", for whole numbers. Avoids the browser's language tables, whose first use
// takes tens of milliseconds.
export function grouped(number) {
  if (!Number.isSafeInteger(number)) return number.toLocaleString("en-US");
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}
