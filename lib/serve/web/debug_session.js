// A run that the server debugs: its state, and the commands for it.

import {ask, fileUrl, post, sendLast} from "./source.js";

// Intervals in ms between polls while the run continues: at first and later.
const ASKED_EVERY = [15, 400];
const SEEN_EVERY = 20000;  // ms between polls that tell the server that the page is open

// Replaces the browser's error for an unreachable server (a TypeError) by a message for the user.
const inWords = (error) => (error instanceof TypeError ? new Error("grapnel has ended") : error);

// Dispatches the event "change" when `status` has changed.
export class DebugSession extends EventTarget {
  // Starts a session. `request`: from RunForm.debugRequest(). Errors have the server's messages.
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

  // Polls the server once.
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

  // Polls the server until the run stops or is over.
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

  // Sends a line for the prompt of `grapnel debug`; returns the output of the command, or
  // throws its error.
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
