// The functions that lib/render/draw_picture.cpp calls in an engine without a browser.

import {PaintContext} from "./paint_context.js";
import {drawPicture} from "./picture.js";
import {SvgContext} from "./svg_context.js";

globalThis.pictureFile = (picture, css) => drawPicture(new SvgContext(), JSON.parse(picture), css);
globalThis.picturePaint = (picture, css) => drawPicture(new PaintContext(), JSON.parse(picture), css);
