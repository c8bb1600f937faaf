// Records the calls of draw.js as lines of text, from which lib/render/engine/module/paint.cpp
// makes pixels.
//   size WIDTH HEIGHT
//   fill COLOR PATH
//   stroke COLOR OPACITY WIDTH DASH,DASH|- PATH
//   text COLOR SIZE BOLD MIDDLE STROKE X Y WORDS      STROKE: width of the letters' outline;
//                                                      0: letters are filled
// PATH is an SVG path of absolute M, L and Q, or Rx y w h radius.

import {number, SvgContext} from "./svg_context.js";

export class PaintContext extends SvgContext {
  begin() {}
  end() {}

  roundRect(x, y, w, h, radius) { this.shape = `R${[x, y, w, h, radius].map(number).join(" ")}`; }
  element() { return this.shape ?? this.path; }

  fill() {
    if (this.shadowBlur > 0) this.parts.push(`stroke ${this.shadowColor} 0.5 9 - ${this.element()}\n`);
    this.parts.push(`fill ${this.fillStyle} ${this.element()}\n`);
  }

  stroke() {
    const dash = this.dash.length > 0 ? this.dash.join(",") : "-";
    this.parts.push(`stroke ${this.strokeStyle} 1 ${number(this.lineWidth)} ${dash} ${this.element()}\n`);
  }

  words(text, x, y, color, stroke) {
    const [, weight, size] = /^(?:(\d+) )?([\d.]+)px/u.exec(this.font);
    const middle = this.textAlign === "center" ? 1 : 0;
    const numbers = [size, weight ? 1 : 0, middle, number(stroke), number(x), number(y)];
    this.parts.push(`text ${color} ${numbers.join(" ")} ${text.replaceAll("\n", " ")}\n`);
  }

  fillText(text, x, y) { this.words(text, x, y, this.fillStyle, 0); }
  strokeText(text, x, y) { this.words(text, x, y, this.strokeStyle, this.lineWidth); }

  document(w, h, font, background) {
    const [width, height] = [Math.ceil(w), Math.ceil(h)];
    return `size ${width} ${height}\nfill ${background} R0 0 ${width} ${height} 0\n${this.parts.join("")}`;
  }
}
