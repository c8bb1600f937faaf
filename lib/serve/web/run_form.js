// The form for a run: input values, fetched tensors, watched nodes, devices, breakpoints.

import {BreakpointList} from "./debug_breakpoints.js";
import {element} from "./dom.js";
import {post} from "./source.js";

const KINDS = [["case", "from the case"], ["text", "typed"], ["zeros", "zeros"], ["ones", "ones"],
  ["normal", "random normal"], ["file", "a .npy file"]];
const MOST_NAMES = 30;

// One input in the form: a choice of the kind of value, and the fields for that kind.
class Feed {
  constructor(input, model, index) {
    this.input = input;
    this.model = model;
    const id = (what) => `feed-${index}-${what}`;
    const kinds = KINDS.filter(([kind]) => (kind !== "case" || input.case)
      && (kind !== "normal" || !input.text));
    this.kind = element("select", {id: id("kind"), "aria-label": `How ${input.tensor} gets its value`,
      onchange: () => this.choose()},
      ...kinds.map(([kind, text]) => element("option", {value: kind}, text)));
    this.kind.value = input.case ? "case" : "zeros";
    this.text = element("textarea", {id: id("text"), rows: 2, "aria-label": `Value of ${input.tensor}`,
      spellcheck: "false",
      placeholder: input.text ? '["a", "b"]' : "[[1, 2.5], [-3, nan]], or one number for all elements"});
    this.shape = element("input", {id: id("shape"), value: input.shape, size: 12, spellcheck: "false",
      placeholder: "a scalar"});
    this.seed = element("input", {id: id("seed"), type: "number", value: 0});
    this.file = element("input", {id: id("file"), type: "file", accept: ".npy",
      "aria-label": `File for ${input.tensor}`, onchange: () => this.upload()});
    this.told = element("span", {class: "dim", role: "status"});
    this.fields = {
      text: element("div", {}, this.text), shape: element("label", {}, "shape ", this.shape),
        seed: element("label", {}, "seed ", this.seed),
      file: element("div", {}, this.file, " ", this.told),
    };
    const name = input.key ? `${input.key} = ${input.tensor}` : input.tensor;
    this.root = element("div", {class: "feed"}, element("strong", {}, name), " ",
      element("span", {class: "dim"}, input.type),
      element("div", {class: "row"}, this.kind, this.fields.shape, this.fields.seed), this.fields.text,
        this.fields.file);
    this.choose();
  }

  choose() {
    const kind = this.kind.value;
    this.fields.text.hidden = kind !== "text";
    this.fields.shape.hidden = kind === "case" || kind === "file";
    this.fields.seed.hidden = kind !== "normal";
    this.fields.file.hidden = kind !== "file";
  }

  async upload() {
    this.uploaded = undefined;
    const [file] = this.file.files;
    if (!file) return;
    this.told.className = "dim";
    this.told.textContent = "sending \u2026";
    try {
      const {file: number, type} = await post(`${this.model}/feed`, file);
      this.uploaded = number;
      this.told.textContent = type;
    } catch (error) {
      this.told.className = "problem";
      this.told.textContent = error.message;
    }
  }

  request() {
    if (this.kind.value === "file"
      && this.uploaded === undefined) throw new Error(`feed ${this.input.tensor}: choose a .npy file first`);
    return {tensor: this.input.tensor, kind: this.kind.value, text: this.text.value, shape: this.shape.value,
      seed: Number(this.seed.value), file: this.uploaded};
  }
}

export class RunForm {
  // `source`: the model's documents, to complete names; `form`: the document "run"; `breakpoints`:
  // a Set with the texts of breakpoints for the next run; run() and debug() start a run.
  constructor(source, form, breakpoints, run, debug) {
    this.breakpoints = breakpoints;
    this.breakpointList = new BreakpointList("run-break", {
      add: (text) => this.listBreakpoints(breakpoints.add(text)),
      remove: ({text}) => this.listBreakpoints(breakpoints.delete(text)),
    });
    this.listBreakpoints();
    this.source = source;
    this.form = form;
    this.feeds = [];
    this.feedList = element("div");
    this.fetchList = element("ul", {class: "chips", "aria-label": "Tensors to fetch"});
    this.signature = element("select", {id: "run-signature", "aria-label": "Signature",
      onchange: () => this.choose()},
      ...form.signatures.map(({name}) => element("option", {value: name}, name)),
        element("option", {value: ""}, "none: all placeholders"));
    this.mode = element("select", {id: "run-mode", "aria-label": "What is watched"},
      element("option", {value: ""}, "nothing"),
      ...form.modes.map((mode) => element("option", {value: mode}, mode)));
    this.mode.value = "FULL_HEALTH";
    this.taps = element("input", {id: "run-taps", value: "*", size: 14, spellcheck: "false",
      "aria-label": "Names of nodes to watch: globs separated by commas"});
    this.devices = element("input", {id: "run-devices", size: 14, spellcheck: "false", autocomplete: "off",
      placeholder: "cpu:4, gpu:2, or names"});
    this.button = element("button", {type: "submit", class: "main", id: "run-start"}, "Run");
    this.debugButton = element("button", {type: "button", id: "debug-start", onclick: debug,
      title: "Stops before the first node, and goes on step by step"}, "Debug");
    this.root = element("form", {onsubmit: (event) => { event.preventDefault(); run(); }},
      form.signatures.length > 0 ? element("label", {class: "row"}, "Signature ", this.signature) : undefined,
      element("h2", {}, "Inputs"), this.feedList, element("h2", {}, "Outputs"), this.fetchList,
        this.adder(),
      element("h2", {}, "Watched nodes"),
      element("div", {class: "row"}, this.mode, element("label", {}, "of nodes ", this.taps)),
      element("h2", {}, "Devices"), element("label", {class: "row"}, this.devices,
        element("span", {class: "dim"},
          " place the graph on these CPUs and GPUs, which may be simulated, and run the parts side by side")),
      element("h2", {}, "Breakpoints"), this.breakpointList.root,
      element("p", {class: "row"}, this.button, this.debugButton,
        element("span", {class: "dim"}, "Debug stops before the first node, and at breakpoints")));
    const usual = form.signatures.find(({name}) =>
      name === "serving_default") ?? form.signatures.find(({inputs}) => inputs.length > 0);
    this.signature.value = usual?.name ?? "";
    this.choose();
  }

  listBreakpoints() { this.breakpointList.draw([...this.breakpoints].map((text) => ({text}))); }

  choose() {
    const {inputs, fetches} = this.form.signatures.find(({name}) =>
      name === this.signature.value) ?? this.form;
    this.feeds = inputs.map((input, i) => new Feed(input, this.source.model, i));
    this.feedList.replaceChildren(...(inputs.length > 0 ? this.feeds.map((feed) => feed.root)
      : [element("p", {class: "dim"}, "Nothing: there is no placeholder.")]));
    this.fetches = [...fetches];
    this.listFetches();
  }

  listFetches() {
    this.fetchList.replaceChildren(...this.fetches.map((name) => element("li", {}, name, " ",
      element("button", {type: "button", "aria-label": `Do not fetch ${name}`, title: "Do not fetch it",
        onclick: () => {
        this.fetches = this.fetches.filter((other) => other !== name);
        this.listFetches();
      }}, "\u00d7"))));
  }

  // Returns the row in which the user adds a tensor to the fetches: a field that completes names of
  // the main graph's nodes, and the button Add.
  adder() {
    const names = element("datalist", {id: "run-names"});
    const field = element("input", {id: "run-fetch", list: "run-names",
      placeholder: "another tensor, like dense/BiasAdd:0", "aria-label": "Another tensor to fetch",
      spellcheck: "false", autocomplete: "off"});
    const add = () => {
      const name = field.value.trim();
      if (name && !this.fetches.includes(name)) this.fetches.push(name);
      field.value = "";
      this.listFetches();
    };
    field.addEventListener("input", async () => {
      const text = field.value.toLowerCase(), found = [];
      await this.source.forEachList(0, ({names}) => {
        for (const name of names) {
          if (found.length < MOST_NAMES && name.toLowerCase().includes(text)) found.push(name);
        }
        return found.length < MOST_NAMES;
      });
      names.replaceChildren(...found.map((name) => element("option", {value: name})));
    });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      add();
    });
    return element("div", {class: "row"}, field, names, element("button",
      {type: "button", id: "run-add", onclick: add}, "Add"));
  }

  // Returns the request for a debugged run, which has breakpoints but no taps (patterns of nodes
  // whose tensors are watched).
  debugRequest() {
    return {feeds: this.feeds.map((feed) => feed.request()), fetches: this.fetches,
      devices: this.devices.value, breakpoints: [...this.breakpoints]};
  }

  request() {
    return {feeds: this.feeds.map((feed) => feed.request()), fetches: this.fetches, mode: this.mode.value,
      taps: this.taps.value, devices: this.devices.value};
  }
}
