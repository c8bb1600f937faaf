// What lib/render/draw_picture.cpp calls, where there is no browser.

import {pictureSvg} from "./picture.js";

globalThis.pictureFile = (picture, css) => pictureSvg(JSON.parse(picture), css);
