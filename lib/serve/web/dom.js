// Elements from descriptions. Text is always a text node: a graph's names are data, never markup.

import {grouped} from "./numbers.js";

// True in a frame whose text is in another page (srcdoc, as in a notebook): it has no address of
// its own.
export const isEmbedded = location.protocol === "about:";

export const byId = (id) => document.getElementById(id);

// element("li", {class: "x", onclick: f}, "text", otherElement)
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
