// Reads the tables of columns that lib/render/columns.h writes.

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const CODES = new Uint8Array(128);
[...LETTERS].forEach((letter, code) => { CODES[letter.charCodeAt(0)] = code; });

export function bytesOfBase64(text) {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  for (let from = 0, to = 0; from < text.length; from += 4, to += 3) {
    const code = (CODES[text.charCodeAt(from)] << 18) | (CODES[text.charCodeAt(from + 1)] << 12)
      | (CODES[text.charCodeAt(from + 2)] << 6) | CODES[text.charCodeAt(from + 3)];
    bytes[to] = code >> 16;
    bytes[to + 1] = code >> 8;  // a store beyond the end, where the padding is, does nothing
    bytes[to + 2] = code;
  }
  return bytes;
}

// Returns the text of UTF-8 bytes. The bytes must be valid.
function textOf(bytes, begin, end) {
  let text = "";
  for (let at = begin; at < end;) {
    const codes = [];
    for (const stop = Math.min(end, at + 4096); at < stop;) {
      const first = bytes[at++];
      if (first < 128) {
        codes.push(first);
        continue;
      }
      const more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
      let code = first & (0x3f >> more);
      for (let i = 0; i < more; ++i) code = (code << 6) | (bytes[at++] & 0x3f);
      if (code < 0x10000) codes.push(code);
      else codes.push(0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
    }
    text += String.fromCharCode(...codes);
  }
  return text;
}

class Reader {
  constructor(bytes, at) { Object.assign(this, {bytes, at}); }

  // Returns the next number, as 32 bits without a sign.
  next() {
    const {bytes} = this;
    let byte = bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let shift = 7; byte >= 128; shift += 7) {
      byte = bytes[this.at++];
      value |= (byte & 127) << shift;
    }
    return value >>> 0;
  }
}

export class Columns {
  constructor(bytes) {
    this.bytes = bytes;
    this.places = new Map();  // by name: the column's kind, and where its values begin and end
    for (let at = 0; at < bytes.length;) {
      const end = at + 1 + bytes[at], name = textOf(bytes, at + 1, end);
      const reader = new Reader(bytes, end + 1), size = reader.next();
      this.places.set(name, {kind: String.fromCharCode(bytes[end]), begin: reader.at, end: reader.at + size});
      at = reader.at + size;
    }
  }

  // Returns a column of numbers; `count` zeros if there is no such column.
  numbers(name, count = 0) {
    const place = this.places.get(name);
    if (!place) return new Int32Array(count);
    let size = 0;
    for (let at = place.begin; at < place.end; ++at) if (this.bytes[at] < 128) ++size;
    const values = new Int32Array(size), reader = new Reader(this.bytes, place.begin);
    for (let i = 0; i < size; ++i) {
      const code = reader.next();
      values[i] = (code >>> 1) ^ -(code & 1);
    }
    if (place.kind === "s") for (let i = 1; i < size; ++i) values[i] += values[i - 1];
    return values;
  }

  // Returns a column of texts; `count` empty texts if there is no such column.
  texts(name, count = 0) {
    const place = this.places.get(name);
    if (!place) return new Array(count).fill("");
    const reader = new Reader(this.bytes, place.begin), size = reader.next();
    const common = Array.from({length: size}, () => reader.next());
    const rest = Array.from({length: size}, () => reader.next());
    const all = textOf(this.bytes, reader.at, place.end);
    let at = 0, before = "";
    return common.map((units, i) => {
      before = before.slice(0, units) + all.slice(at, at + rest[i]);
      at += rest[i];
      return before;
    });
  }
}
