// The tab with the picture. The picture always exists, so this tab only brings it to the front.

import {addTab} from "./tabs.js";

addTab({name: "graph", label: "Graph", build: (root, page) => ({show: () => page.view.paint()})});
