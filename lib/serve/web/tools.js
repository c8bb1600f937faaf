// The buttons next to the picture, and the keys.

import {byId} from "./dom.js";
import {setUpExport} from "./export.js";

const HIGH = 600, WIDE = 700;  // the smallest window, in pixels, with room for the legend

// `page`: the Page of page.js.
export function setUpTools(page) {
  const each = (act) => () => page.views().forEach(act);
  byId("fit").addEventListener("click", each((shown) => shown.fitAnew()));
  byId("zoom-in").addEventListener("click", each((shown) => shown.zoomBy(1.25)));
  byId("zoom-out").addEventListener("click", each((shown) => shown.zoomBy(0.8)));
  byId("close-all").addEventListener("click", each((shown) => shown.closeAll()));
  for (const id of ["how-merged", "how-side"]) {
    byId(id).addEventListener("click", () => page.setPanes(id === "how-side").catch((error) =>
      page.fail(error)));
  }
  setUpExport(page);
  byId("legend-box").open = innerHeight > HIGH && innerWidth > WIDE;
  byId("color").addEventListener("change", () => {
    page.color();
    page.toUrl();
  });
  byId("help-button").addEventListener("click", () => byId("help").showModal());
  byId("theme").addEventListener("click", () => {
    page.row.askTheme(!document.documentElement.classList.contains("dark"));
  });
  byId("beside").addEventListener("click", () => page.row.toggle().catch((error) => page.fail(error)));
  addEventListener("keydown", (event) => {
    if (pressed(page, event)) event.preventDefault();
  });
}

// Uses the system's theme, dark or light, and follows its changes until the user chooses a theme.
export function followTheme(page) {
  const wish = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.documentElement.classList.toggle("dark", wish.matches);
  follow();
  wish.addEventListener("change", () => {
    if (!page.hasChosenTheme) page.turnTheme(wish.matches, false);
  });
}

// Executes the function of a key; returns true if the key has one.
function pressed(page, event) {
  if (event.target.closest("input, select, textarea, dialog")) return false;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const chosen = page.views().find((view) => view.chosen)?.chosen, tab = page.tabs.names[event.key - 1];
  if (event.key === "/") byId("search").focus();
  else if (event.key === "?") byId("help").showModal();
  else if (event.key === "h") byId("filter").click();
  else if (event.key === "c" && chosen) navigator.clipboard?.writeText(chosen.box.path);
  else if (event.key === "[") page.stages.step(-1);
  else if (event.key === "]") page.stages.step(1);
  else if (/^[1-9]$/u.test(event.key) && tab) page.openTab(tab);
  else return false;
  return true;
}
