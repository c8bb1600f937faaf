// Makes elements from descriptions. Text always becomes a text node, so that a graph's names are
// never parsed as markup.

import {grouped} from "./numbers.js";

// True in a frame whose HTML is an attribute of another page (srcdoc, as in a notebook): the frame
// has no address of its own.
export const isEmbedded = location.protocol === "about:";

export const byId = (id) => document.getElementById(id);

// Makes an element: element("li", {class: "x", onclick: f}, "text", otherElement).
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

export const link = (text, onclick, title) => element("button",
  {class: "link", type: "button", onclick, title}, text);

export const commas = grouped;
export const plural = (count, noun) => `${commas(count)} ${noun}${count === 1 ? "" : "s"}`;
