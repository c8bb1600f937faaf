((name, height, packed) => {
  // True if the notebook's theme is dark: by the declared theme, else by the background behind the cell, else by the system's setting.
  const isDark = (node) => {
    const kind = document.body.dataset.vscodeThemeKind;
    if (kind) return kind.includes("dark") || kind === "vscode-high-contrast";
    for (; node; node = node.parentElement) {
      const [r, g, b, a = 1] = (getComputedStyle(node).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
      if (b !== undefined && a > 0) return 0.3 * r + 0.59 * g + 0.11 * b < 128;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const places = [...document.querySelectorAll(`.${name}`)];
  // The picture is not taller than the frame that replaces it, since nbclassic adds a scroll bar to tall outputs.
  for (const place of places) place.style.maxHeight = `${height}px`;
  const open = (place, page) => {
    if (!place.isConnected) return;  // another cell with the same graph has opened the page
    const frame = document.createElement("iframe");
    frame.title = place.title || place.textContent;
    frame.style = `box-sizing:border-box;width:100%;height:${height}px;border:1px solid #8888;border-radius:6px;visibility:hidden`;
    const turn = () => frame.contentWindow?.grapnel?.turnTheme(isDark(frame.parentElement));
    frame.addEventListener("load", () => {
      turn();
      frame.style.visibility = "visible";
    });
    const watch = new MutationObserver(() => (frame.isConnected ? setTimeout(turn, 200) : watch.disconnect()));
    for (const node of [document.body, document.documentElement]) watch.observe(node, {attributes: true});
    frame.srcdoc = page;
    place.replaceWith(frame);
  };
  const unpack = async () => {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  };
  unpack().then((page) => places.forEach((place) => open(place, page)), () => {
    for (const place of places) place.style.maxHeight = "";
  });
})
