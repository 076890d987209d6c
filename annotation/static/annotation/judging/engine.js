// The engine of a work page: keeps every change (here, then on the server), renews the lease, submits once.
// A protocol's script calls startEngine() and then set(field, content) for each change; `content` has "value" and more.
import { Attention } from "./attention.js";
import { LocalStore } from "./local_store.js";
import { deliver } from "./outbox.js";
import { Preferences } from "./preferences.js";
import { StatusLine } from "./status.js";
import { Transport, Trouble } from "./transport.js";

const SOON = 300; // ms from a change to its save
const HEARTBEAT = 30_000;
const IDLE = 5 * 60_000; // without a sign of life for so long, the lease runs out by itself
const LATE = 3_000; // ms that a save of the page before may still be under way
const SLOWEST = 8_000; // ms between two tries

// From this device's clock to the server's, which decides which change is later. A page that came slowly, or was loaded
// ahead, tells an old time: the largest difference is the nearest one.
let clock = -Infinity;

// `root` holds the whole task: the form, the dialogs, the configuration.
export function startEngine(root) {
  const config = JSON.parse(root.querySelector("#work-config").textContent);
  return new Engine(root, config);
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
  constructor(root, config) {
    this.root = root;
    this.config = config;
    this.running = new AbortController();
    this.signal = this.running.signal; // every listener that outlives the task's own elements is given it
    this.preview = config.mode === "preview"; // to look at: nothing is kept, sent or renewed
    this.texts = config.texts;
    clock = Math.max(clock, config.now - Date.now());
    this.version = config.version;
    this.answers = new Map(Object.entries(config.answers));
    this.listeners = new Map();
    this.localStore = new LocalStore(this.preview ? null : `${config.mode}:${config.key}`);
    this.transport = new Transport(config);
    this.attention = new Attention(this.signal);
    this.status = new StatusLine(root, config);
    this.undoable = [];
    this.aids = {}; // what helps the reader just now, by name: it is recorded with each answer
    this.tries = 0;
    this.preferences = new Preferences(this);
    if (this.preview) return;
    const mayBeOld = this.mayBeOld();
    this.pick();
    this.listen();
    if (mayBeOld) this.ask();
    else this.status.saved();
    if (this.localStore.submit) this.send(this.localStore.submit);
  }

  // Whether the server may have more than this page shows: a save of the page before may have been on its way, or the
  // lease had ended. An untouched task is as new as it looks.
  mayBeOld() {
    const { version, secondsLeft } = this.config;
    return version > 0 || secondsLeft === 0 || !this.localStore.isShared || !this.localStore.isEmpty;
  }

  // Without a copy on this device, what was on its way is asked for once more.
  ask() {
    this.status.saving();
    this.save(true);
    if (!this.localStore.isShared) this.later(LATE, () => this.save(true));
  }

  // What an earlier visit made is taken up again, as far as this page was rendered without it.
  pick() {
    this.localStore.settle(this.version);
    for (const [field, content] of Object.entries(this.localStore.changes)) {
      if (content.at >= (this.answers.get(field)?.at ?? 0)) this.answers.set(field, content);
      else this.localStore.drop(field, content.at);
    }
  }

  listen() {
    const { signal } = this;
    this.channel = channel(`pyramidion:${this.config.key}`);
    this.channel?.addEventListener("message", (event) => this.hear(event.data), { signal });
    window.addEventListener("online", () => this.soon(0), { signal });
    window.addEventListener("focus", () => this.status.troubled && this.soon(0), { signal });
    window.addEventListener("pageshow", (event) => event.persisted && this.save(true), { signal });
    document.addEventListener("visibilitychange", () => (document.hidden ? this.leave() : this.save(true)), { signal });
    window.addEventListener("pagehide", () => this.leave(), { signal });
    this.every(HEARTBEAT, () => this.beat());
    this.every(1000, () => this.status.tick(this.attention.active));
    this.form = this.root.querySelector("#task");
    this.form?.addEventListener("submit", (event) => this.onSubmit(event), { signal });
  }

  every(interval, action) {
    const timer = setInterval(action, interval);
    this.signal.addEventListener("abort", () => clearInterval(timer));
  }

  later(delay, action) {
    const timer = setTimeout(action, delay);
    this.signal.addEventListener("abort", () => clearTimeout(timer));
  }

  // Ends the task on this page: nothing of it listens, counts or sends any more.
  stop() {
    this.done = true;
    clearTimeout(this.timer);
    this.running.abort();
    this.channel?.close();
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

  set(field, content, options) {
    this.change({ [field]: content }, options);
  }

  // Several fields at once, by name: one step of undo.
  change(contents, { undo = true } = {}) {
    if (this.preview) return;
    const fields = Object.keys(contents);
    if (undo) this.undoable.push(fields.map((field) => [field, this.get(field)]));
    for (const field of fields) this.put(field, contents[field]);
    this.status.saving();
    this.soon();
  }

  put(field, content) {
    const { version, ...change } = content;
    // Later than what it replaces, whatever the clocks say: otherwise the server would keep the older one.
    change.at = Math.max(Date.now() + clock, (this.get(field)?.at ?? 0) + 1);
    this.answers.set(field, change);
    this.localStore.keep(field, change);
    this.attention.changed(field);
    this.channel?.postMessage({ kind: "change", field, content: change });
    this.emit("change", field, change);
  }

  // A field that wasn't there before has the value null afterwards.
  undo() {
    const step = this.undoable.pop();
    this.status.say(step ? this.texts.undone : this.texts.nothingToUndo);
    if (!step) return null;
    this.change(Object.fromEntries(step.map(([field, before]) => [field, before ?? { value: null }])), { undo: false });
    for (const [field] of step) this.emit("remote", field, this.get(field));
    return step[0][0];
  }

  // From another tab of this browser, or from the server: the later change of an item wins.
  take(field, content) {
    if (content.at <= (this.answers.get(field)?.at ?? 0)) return;
    this.answers.set(field, content);
    this.emit("remote", field, content, true);
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
    const changes = this.localStore.unsaved.map(([field, content]) => {
      const { at, ...rest } = content;
      return { field, content: rest, at };
    });
    const preferences = this.preferences.isNew ? this.preferences.values : undefined;
    return { changes, seen: this.version, signals: this.attention.totals(), preferences };
  }

  async save(anyway = false) {
    if (this.done) return;
    if (!anyway && !this.localStore.waiting() && !this.preferences.isNew) return this.status.saved(); // by another tab
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
    this.localStore.markSaved(draft.changes, reply.version);
    if (draft.preferences === this.preferences.values) this.preferences.isNew = false;
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
    if (this.emit("hand-in").some(Boolean)) return; // the next task is on the page, this one on its way (next_task.js)
    this.send(this.config.submitKey);
  }

  async send(submitKey) {
    this.sending = true;
    this.localStore.sending(submitKey);
    this.status.sending(true);
    try {
      this.sent(await deliver(this.transport, this.submission(submitKey), (trouble) => this.status.trouble(trouble, true)));
    } catch (trouble) {
      if (!(trouble instanceof Trouble)) throw trouble;
      if (trouble.error === "AlreadySubmitted") return this.sent({ receipt: this.config.urls.receipt });
      this.heldBack(trouble);
    }
  }

  submission(submitKey) {
    const answers = Object.fromEntries(
      [...this.answers].map(([field, { at, version, ...content }]) => [field, content]),
    );
    const straightOn = this.form?.elements.straight_on?.checked ?? true; // only people with an account are asked
    return { submit_key: submitKey, mode: this.config.mode, answers, signals: this.attention.totals(), straight_on: straightOn };
  }

  sent(reply) {
    this.localStore.forget();
    this.channel?.postMessage({ kind: "submitted", receipt: reply.receipt });
    this.finish(reply.next ?? reply.receipt, reply);
  }

  heldBack(trouble) {
    this.sending = false;
    this.localStore.sending(null);
    this.status.sending(false);
    this.status.refuse(trouble.sentence);
  }

  finish(address, reply = null) {
    if (this.done) return;
    this.done = true;
    clearTimeout(this.timer);
    this.localStore.forget();
    // A script that swaps tasks in place answers with true: then the page stays.
    if (!this.emit("finish", address, reply).some(Boolean)) location.assign(address);
  }
}
