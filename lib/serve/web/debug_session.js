// A run that the server can stop: its state, and the commands for it.

import {ask, fileUrl, post, sendLast} from "./source.js";

const ASKED_EVERY = [15, 400];  // ms while the run continues, at first and later
const SEEN_EVERY = 20000;  // ms: tells the server that the page is still open

// Replaces the browser's own message for an unreachable server.
const inWords = (error) => (error instanceof TypeError ? new Error("grapnel has ended") : error);

// Events: "change": `status` has changed.
export class DebugSession extends EventTarget {
  // `request`: as for a run, and breakpoints. Errors have the server's messages.
  static async begin(model, request) {
    const {session} = await post(`${model}/debug-run`, JSON.stringify(request));
    const made = new DebugSession(model, session);
    await made.follow();
    return made;
  }

  constructor(model, number) {
    super();
    this.path = (what) => `${model}/${what}/${number}`;
    this.seen = setInterval(() => this.look().catch(() => {}), SEEN_EVERY);
    this.leave = () => sendLast(this.path("debug-end"));
    addEventListener("pagehide", this.leave);
  }

  get at() { return this.status?.at; }
  get stop() { return this.at?.stop; }
  get isOver() { return this.status?.state === "over"; }
  get runs() { return this.status && !this.at && !this.isOver; }

  // Polls once.
  async look() {
    let status;
    try {
      status = await ask(this.path("debug-run"));
    } catch (error) {
      status = {state: "over", turn: Infinity, printed: [], why: inWords(error).message};
    }
    if (status.turn === this.status?.turn && status.state === this.status.state) return;
    this.status = status;
    if (this.isOver) this.forget();
    this.dispatchEvent(new Event("change"));
  }

  async tell(what, body) {
    try {
      return await post(this.path(what), body);
    } catch (error) {
      throw inWords(error);
    }
  }

  // Polls until the run stops or is over.
  follow() {
    this.following ??= (async () => {
      for (let wait = ASKED_EVERY[0];; wait = Math.min(ASKED_EVERY[1], wait * 1.5)) {
        await this.look();
        if (!this.runs) break;
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
      this.following = undefined;
    })();
    return this.following;
  }

  // Sends a line for the prompt of `grapnel debug`; returns its output. Throws its error.
  async command(line) {
    const {text, error} = await this.tell("debug-command", line);
    await this.follow();
    if (error) throw new Error(text + error);
    return text;
  }

  value(request) { return this.tell("debug-value", JSON.stringify(request)); }
  fileOf({of, index}) { return fileUrl(`${this.path("debug-npy")}/${of}/${index}`); }
  pause() { return post(this.path("debug-pause"), ""); }

  async end() {
    this.forget();
    if (!this.isOver) await post(this.path("debug-end"), "").catch(() => {});
  }

  forget() {
    clearInterval(this.seen);
    removeEventListener("pagehide", this.leave);
  }
}
