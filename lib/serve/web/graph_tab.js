// The picture, which always exists: this tab brings it to the front.

import {addTab} from "./tabs.js";

addTab({name: "graph", label: "Graph", build: (root, page) => ({show: () => page.view.paint()})});
