// The engine of a work page: keeps every change (here, then on the server), renews the lease, submits once.
// A protocol's script calls start() and then set(field, content) for each change; `content` has "value" and more.
import { Attention } from "./attention.js";
import { giveBack } from "./give_back.js";
import { LocalStore } from "./local_store.js";
import { StatusLine } from "./status.js";
import { Transport, Trouble } from "./transport.js";

const SOON = 300; // ms from a change to its save
const HEARTBEAT = 30_000;
const IDLE = 5 * 60_000; // without a sign of life for so long, the lease runs out by itself
const SLOWEST = 8_000; // ms between two tries

export function start() {
  const config = JSON.parse(document.getElementById("work-config").textContent);
  return new Engine(config);
}

// To other tabs of this browser; some refuse it inside a frame, as they refuse storage.
function channel(name) {
  try {
    return new BroadcastChannel(name);
  } catch {
    return null;
  }
}

class Engine {
  constructor(config) {
    this.config = config;
    this.preview = config.mode === "preview"; // to look at: nothing is kept, sent or renewed
    this.texts = config.texts;
    this.clock = config.now - Date.now(); // the server's clock decides which change is later
    this.version = config.version;
    this.answers = new Map(Object.entries(config.answers));
    this.listeners = new Map();
    this.localStore = new LocalStore(this.preview ? null : `${config.mode}:${config.key}`);
    this.transport = new Transport(config);
    this.attention = new Attention();
    this.status = new StatusLine(config);
    this.undoable = [];
    this.tries = 0;
    if (this.preview) return;
    this.pick();
    this.listen();
    this.status.saved();
    if (this.localStore.waiting()) this.soon(0);
    else if (config.secondsLeft === 0) this.save(true); // the lease had ended: ask for the place again
    if (this.localStore.submit) this.send(this.localStore.submit);
  }

  // What an earlier visit could not send any more is taken up again.
  pick() {
    for (const [field, content] of Object.entries(this.localStore.changes)) {
      if (content.at >= (this.answers.get(field)?.at ?? 0)) this.answers.set(field, content);
      else this.localStore.drop(field, content.at);
    }
  }

  listen() {
    this.channel = channel(`pyramidion:${this.config.key}`);
    this.channel?.addEventListener("message", (event) => this.hear(event.data));
    window.addEventListener("online", () => this.soon(0));
    window.addEventListener("focus", () => this.status.troubled && this.soon(0));
    window.addEventListener("pageshow", (event) => event.persisted && this.save(true));
    document.addEventListener("visibilitychange", () => (document.hidden ? this.leave() : this.save(true)));
    window.addEventListener("pagehide", () => this.leave());
    setInterval(() => this.beat(), HEARTBEAT);
    setInterval(() => this.status.tick(this.attention.active), 1000);
    this.form = document.getElementById("task");
    this.form?.addEventListener("submit", (event) => this.onSubmit(event));
    giveBack(this);
  }

  on(name, listener) {
    this.listeners.set(name, [...(this.listeners.get(name) ?? []), listener]);
  }

  emit(name, ...facts) {
    return (this.listeners.get(name) ?? []).map((listener) => listener(...facts));
  }

  get(field) {
    return this.answers.get(field) ?? null;
  }

  set(field, content, { undo = true } = {}) {
    if (this.preview) return;
    const before = this.answers.get(field) ?? null;
    if (undo) this.undoable.push({ field, before });
    const change = { ...content, at: Date.now() + this.clock };
    delete change.version;
    this.answers.set(field, change);
    this.localStore.keep(field, change);
    this.attention.changed(field);
    this.channel?.postMessage({ kind: "change", field, content: change });
    this.emit("change", field, change);
    this.status.saving();
    this.soon();
  }

  undo() {
    const last = this.undoable.pop();
    this.status.say(last ? this.texts.undone : this.texts.nothingToUndo);
    if (!last) return null;
    this.set(last.field, last.before ?? { value: "" }, { undo: false });
    this.emit("remote", last.field, this.get(last.field));
    return last.field;
  }

  // From another tab of this browser, or from the server: the later change of an item wins.
  take(field, content) {
    if (content.at <= (this.answers.get(field)?.at ?? 0)) return;
    this.answers.set(field, content);
    this.emit("remote", field, content);
    this.emit("change", field, content);
  }

  hear(message) {
    if (message.kind === "change") this.take(message.field, message.content);
    if (message.kind === "submitted") this.finish(message.receipt);
  }

  soon(delay = SOON) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(this.status.troubled), delay);
  }

  beat() {
    if (!document.hidden && this.attention.idle() < IDLE) this.save(true);
  }

  leave() {
    this.attention.pause();
    if (!this.done) this.transport.sendOnLeave(this.draft());
  }

  draft() {
    const changes = Object.entries(this.localStore.changes).map(([field, content]) => {
      const { at, ...rest } = content;
      return { field, content: rest, at };
    });
    return { changes, seen: this.version, signals: this.attention.totals() };
  }

  async save(anyway = false) {
    if (this.done || (!anyway && !this.localStore.waiting())) return;
    if (this.busy) return this.soon();
    this.busy = true;
    const draft = this.draft();
    if (draft.changes.length) this.status.saving();
    try {
      this.arrived(draft, await this.transport.put(draft));
    } catch (trouble) {
      this.failed(trouble);
    } finally {
      this.busy = false;
    }
  }

  arrived(draft, reply) {
    this.tries = 0;
    for (const change of draft.changes) this.localStore.drop(change.field, change.at);
    this.version = Math.max(this.version, reply.version);
    for (const [field, content] of Object.entries(reply.items)) this.take(field, content);
    this.status.lease(reply, this.config.mode);
    if (this.localStore.waiting()) this.soon();
    else this.status.saved();
    const over = reply.state === "submitted" || reply.state === "surplus";
    if (over && this.config.mode === "work" && !this.sending) this.finish(this.config.urls.receipt);
  }

  failed(trouble) {
    if (!(trouble instanceof Trouble)) throw trouble;
    this.status.trouble(trouble);
    if (trouble.again) this.soon(Math.min(SLOWEST, 500 * 2 ** this.tries++));
  }

  onSubmit(event) {
    event.preventDefault();
    if (this.sending) return;
    const refused = this.emit("submit").find(Boolean); // a protocol's script answers with a sentence to hold it back
    if (refused) return this.status.holdBack(refused);
    this.send(this.config.submitKey);
  }

  async send(submitKey) {
    this.sending = true;
    this.localStore.sending(submitKey);
    this.status.sending(true);
    for (let tries = 0; ; tries += 1) {
      try {
        const reply = await this.transport.post(this.submission(submitKey));
        return this.sent(reply);
      } catch (trouble) {
        if (!(trouble instanceof Trouble)) throw trouble;
        if (trouble.error === "AlreadySubmitted") return this.sent({ receipt: this.config.urls.receipt });
        if (!trouble.again) return this.heldBack(trouble);
        this.status.trouble(trouble, true);
        await this.pause(Math.min(SLOWEST, 500 * 2 ** tries));
      }
    }
  }

  pause(delay) {
    return new Promise((resolve) => {
      setTimeout(resolve, delay);
      window.addEventListener("online", resolve, { once: true });
    });
  }

  submission(submitKey) {
    const answers = Object.fromEntries(
      [...this.answers].map(([field, { at, version, ...content }]) => [field, content]),
    );
    const straightOn = this.form?.elements.straight_on?.checked; // only people with an account are asked
    return { submit_key: submitKey, mode: this.config.mode, answers, signals: this.attention.totals(), straight_on: straightOn };
  }

  sent(reply) {
    this.localStore.forget();
    this.channel?.postMessage({ kind: "submitted", receipt: reply.receipt });
    this.finish(reply.next ?? reply.receipt);
  }

  heldBack(trouble) {
    this.sending = false;
    this.localStore.sending(null);
    this.status.sending(false);
    this.status.refuse(trouble.sentence);
  }

  finish(address) {
    if (this.done) return;
    this.done = true;
    clearTimeout(this.timer);
    this.localStore.forget();
    location.assign(address);
  }
}
