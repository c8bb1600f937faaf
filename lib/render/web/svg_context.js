// A context that writes SVG, with the methods of a canvas that draw.js uses.

const escapes = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"};
export const escaped = (text) => text.replace(/[&<>"]/gu, (letter) => escapes[letter]);
export const number = (x) => String(Math.round(x * 100) / 100);

export class SvgContext {
  constructor() {
    this.parts = [];
    this.dash = [];
    Object.assign(this, {fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: "13px sans-serif",
      textAlign: "left", shadowBlur: 0});
  }

  // Begins a group, with a tooltip, of everything that is drawn until end().
  begin(title) { this.parts.push(title ? `<g><title>${escaped(title)}</title>` : "<g>"); }
  end() { this.parts.push("</g>\n"); }

  beginPath() { this.path = ""; this.shape = undefined; }
  moveTo(x, y) { this.path += `M${number(x)} ${number(y)}`; }
  lineTo(x, y) { this.path += `L${number(x)} ${number(y)}`; }
  quadraticCurveTo(ax, ay, x, y) { this.path += `Q${number(ax)} ${number(ay)} ${number(x)} ${number(y)}`; }

  roundRect(x, y, w, h, radius) {
    this.shape = `<rect x="${number(x)}" y="${number(y)}" width="${number(w)}" height="${number(h)}" rx="${
      number(radius)}"`;
  }

  element() { return this.shape ?? `<path d="${this.path}"`; }
  setLineDash(dash) { this.dash = dash; }

  fill() {
    if (this.shadowBlur > 0) {  // draws a glow from shapes that every viewer supports
      const glow = `stroke="${this.shadowColor}" stroke-opacity="0.5" stroke-width="9"`;
      this.parts.push(`${this.element()} fill="none" ${glow}/>`);
    }
    this.parts.push(`${this.element()} fill="${this.fillStyle}"/>`);
  }

  stroke() {
    const dash = this.dash.length > 0 ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    const width = this.lineWidth === 1 ? "" : ` stroke-width="${number(this.lineWidth)}"`;
    this.parts.push(`${this.element()} fill="none" stroke="${this.strokeStyle}"${width}${dash}/>`);
  }

  text(x, y, text, paint) {
    const [, weight, size] = /^(?:(\d+) )?([\d.]+)px/u.exec(this.font);
    const bold = weight ? " font-weight=\"bold\"" : "";
    const middle = this.textAlign === "center" ? " text-anchor=\"middle\"" : "";
    this.parts.push(`<text x="${number(x)}" y="${number(y)}" font-size="${size}"${bold}${middle} ${paint}>${
      escaped(text)}</text>`);
  }

  fillText(text, x, y) { this.text(x, y, text, `fill="${this.fillStyle}"`); }

  strokeText(text, x, y) {
    const width = number(this.lineWidth);
    this.text(x, y, text, `fill="none" stroke="${this.strokeStyle}" stroke-width="${width}"`);
  }

  // Returns the SVG file, with its size in pixels.
  document(w, h, font, background, title) {
    const [width, height] = [Math.ceil(w), Math.ceil(h)], family = escaped(font.replaceAll("\"", "'"));
    const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
    return ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
      `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${family}" xml:space="preserve">`,
      `<title>${escaped(title)}</title>`, `<rect width="${width}" height="${height}" fill="${background}"/>`,
      `${this.parts.join("")}</svg>\n`].join("\n");
  }
}
