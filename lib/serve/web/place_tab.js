// The tab that places the graph on devices that the user chooses, and reports the result. With a
// log of TensorFlow's placement, compares both placements.

import {commas, element, plural} from "./dom.js";
import {PlaceLog} from "./place_log.js";
import {post} from "./source.js";
import {addTab} from "./tabs.js";

class PlaceTab {
  constructor(root, page) {
    this.page = page;
    this.devices = element("input", {
      id: "place-devices", value: "cpu:1,gpu:1", size: 40, spellcheck: "false",
        "aria-describedby": "place-help",
    });
    this.hard = element("input", {id: "place-hard", type: "checkbox"});
    this.kernels = element("select", {id: "place-kernels"},
      ...["tensorflow", "tensorflow-2.16", "tensorflow-2.13", "grapnel"].map(
        (name) => element("option", {value: name}, name)));
    this.defaultDevice = element("input", {id: "place-default-device", size: 24, spellcheck: "false"});
    this.whatIf = element("input", {
      id: "place-what-if", size: 24, spellcheck: "false", placeholder: "cpu:1,hard",
    });
    this.button = element("button", {type: "submit", class: "main", id: "place-start"}, "Place");
    this.result = element("div", {class: "result"});
    const ask = (event) => { event.preventDefault(); this.place(); };
    const form = element("form", {onsubmit: ask}, element("h2", {}, "Devices"),
      element("p", {}, this.devices),
      element("p", {class: "dim", id: "place-help"}, "cpu:2 is two CPUs, gpu:1 one GPU; names like ",
        "/job:worker/task:1/device:GPU:0 work too, separated by commas. No device has to exist: this ",
        "follows TensorFlow's placer, and nothing runs."),
      element("p", {}, element("label", {}, this.hard,
        " hard: a request that cannot be met is an error, not replaced")),
      element("p", {}, element("label", {}, "kernels of ", this.kernels)),
      element("p", {}, element("label", {}, "default device: ", this.defaultDevice)),
      element("p", {}, element("label", {}, "what moves with other devices, or with hard or soft: ",
        this.whatIf)),
      element("p", {}, this.button));
    this.log = new PlaceLog(page, () => this.model, () => this.asked());
    const sections = [form, this.log.form, this.result, this.log.result];
    root.replaceChildren(element("div", {class: "work places"}, ...sections));
  }

  // Called when the graphs have changed: show() then discards the old result.
  forget() { this.model = undefined; }

  show() {
    const model = this.page.models[this.page.index].id;  // even if the stage changed nothing
    if (model !== this.model) {
      this.result.replaceChildren();
      this.log.clear();
    }
    this.model = model;
  }

  asked() {
    return {hard: this.hard.checked, kernels: this.kernels.value,
      default_device: this.defaultDevice.value.trim()};
  }

  async place() {
    this.button.disabled = true;
    try {
      const request = {...this.asked(), devices: this.devices.value, what_if: this.whatIf.value.trim()};
      this.draw(await post(`${this.model}/place`, JSON.stringify(request)));
    } catch (error) {
      this.result.replaceChildren(element("p", {class: "problem said", role: "alert"}, error.message));
    } finally {
      this.button.disabled = false;
    }
  }

  draw(placed) {
    if (placed.failure) {
      this.result.replaceChildren(element("h2", {class: "problem", role: "alert"}, "It cannot be placed"),
        element("div", {class: "said"}, ...placed.failure.map((line) => element("p", {}, line || " "))),
        ...this.text("What if", placed.moves));
      return;
    }
    const columns = ["device", "nodes", "weights", "other tensors at once"];
    const head = columns.map((text) => element("th", {scope: "col"}, text));
    const rows = placed.devices.map(({device, nodes, weights, peak}) =>
      element("tr", {}, element("td", {}, device),
      element("td", {}, commas(nodes)), element("td", {}, weights), element("td", {}, peak)));
    const total = placed.devices.reduce((sum, {nodes}) => sum + nodes, 0);
    const used = placed.devices.filter(({nodes}) => nodes > 0).length;
    const show = () => this.page.added(placed.entry, "graph");
    this.result.replaceChildren(element("h2", {}, `${plural(total, "node")} on ${plural(used, "device")}`),
      element("table", {class: "list"}, element("thead", {}, element("tr", {}, ...head)),
        element("tbody", {}, ...rows)),
      element("p", {}, placed.crossings),
      element("p", {}, element("button", {type: "button", id: "place-show", onclick: show},
        "Show the graph by devices")),
      element("p", {class: "dim"}, "There each node explains its device."),
      ...this.text("What if", placed.moves), ...this.text("What a run would take", placed.report));
  }

  // Returns elements with lines as a command prints them; none if there are no lines.
  text(title, lines) {
    return lines ? [element("h2", {}, title), element("pre", {}, lines.join("\n"))] : [];
  }
}

addTab({name: "place", label: "Placement", build: (root, page) => new PlaceTab(root, page)});
