// Straight on: the next task is held and loaded while this one is worked on, and put in its place at Submit. The answers
// go to the server beside it; the receipt is a line in the foot. Without a task at hand the engine submits as ever.
import { sendBeside, sendLeftovers } from "./outbox.js";
import { Trouble } from "./transport.js";

const SOON = 100; // ms after a task's start
const PATIENCE = 15_000;
const AGAIN = [5_000, 15_000, 60_000]; // ms until a page that could not be loaded is asked for again
const RECENT = 20; // tasks that the pace is taken from
const STALE = 60_000; // ms after which the server is asked again how many tasks there are
const NOTE = "pyramidion:note"; // for the next page that is loaded

// The same for every task, so only the first page brings them: as they were before any script filled them in.
const dialogs = [...document.querySelectorAll("#main dialog")].map((dialog) => dialog.cloneNode(true));
let underway = Promise.resolve(); // the submit before this task
let running = null;
let countedAt = 0; // when the server said how many tasks there are
const paces = []; // active seconds a task

export class NextTask {
  // `restart(root)` starts the task inside `root` in place of this one.
  constructor(engine, restart) {
    const { place, mode, urls } = engine.config;
    Object.assign(this, { engine, restart, texts: engine.texts, page: null, place });
    if (!running) this.greet();
    running = this;
    this.tell();
    if (mode !== "work" || !urls.ahead) return;
    engine.on("hand-in", () => this.handIn());
    this.later(SOON, 0);
  }

  // The first task on this page.
  greet() {
    countedAt = Date.now();
    if (this.place?.seconds) paces.push(...Array(RECENT / 2).fill(this.place.seconds)); // a median of many tasks
    sendLeftovers();
    const note = takeNote();
    if (note) this.line(note);
  }

  later(delay, tries) {
    const timer = setTimeout(() => this.load(tries), delay);
    this.engine.signal.addEventListener("abort", () => clearTimeout(timer));
  }

  async load(tries) {
    await underway; // until then this task itself is the one held ahead
    if (this.engine.done) return;
    try {
      const response = await this.ask();
      if (response.status === 200) this.page = parse(await response.text());
      else if (response.status !== 204) this.say((await response.json()).sentence);
      this.engine.form.dataset.next = this.page ? "ready" : "none";
    } catch {
      if (!tries) this.say(this.texts.noneAhead);
      if (tries < AGAIN.length) this.later(AGAIN[tries], tries + 1);
    }
  }

  ask() {
    const { transport, config } = this.engine;
    const body = JSON.stringify({ place: Date.now() - countedAt > STALE });
    return transport.request(config.urls.ahead, "POST", body, { signal: AbortSignal.timeout(PATIENCE) });
  }

  // true: the next task is on the page, and this one on its way.
  handIn() {
    const { engine, page } = this;
    const submission = engine.submission(engine.config.submitKey);
    if (!page || !submission.straight_on) return false;
    const next = this.counted(JSON.parse(page.config.textContent));
    paces.push(engine.attention.active);
    engine.localStore.sending(engine.config.submitKey);
    underway = this.send({ ...submission, ahead: next.key }, next);
    this.swap(page, next);
    return true;
  }

  // With its place: as the server has counted it, or one on from here.
  counted(next) {
    if (next.place) countedAt = Date.now();
    else if (this.place) {
      const number = this.place.number + 1;
      next.place = { number, of: Math.max(number, this.place.of) };
    }
    return next;
  }

  swap(page, next) {
    const { root: main, preferences } = this.engine;
    const now = next.now + Date.now() - page.at; // it was loaded a while ago
    page.config.textContent = JSON.stringify({ ...next, now, texts: this.texts, preferences: preferences.values });
    const copies = dialogs.map((dialog) => dialog.cloneNode(true));
    main.replaceChildren(...document.adoptNode(page.body).childNodes, ...copies);
    document.title = page.title;
    history.replaceState(null, "", next.urls.task);
    window.scrollTo(0, 0);
    main.focus({ preventScroll: true });
    const engine = this.restart(main);
    if (!preferences.isNew) return;
    engine.preferences.isNew = true; // chosen just now, and not saved yet
    engine.soon();
  }

  async send(submission, next) {
    const { config, localStore } = this.engine;
    try {
      const reply = await sendBeside(config, submission, () => running.line(this.texts.sentLater));
      localStore.forget();
      tellOtherTabs(config.key, reply.receipt);
      running.received(reply, config.urls, next.key);
    } catch (trouble) {
      if (!(trouble instanceof Trouble)) throw trouble;
      if (trouble.error === "AlreadySubmitted") return localStore.forget();
      localStore.sending(null); // what was answered is there when its page is opened
      running.line(this.texts.notTaken.replace("{sentence}", trouble.sentence), link(this.texts.openAgain, config.urls.task));
    }
  }

  // The server has the task before this one, and says which one is in hand now.
  received(reply, urls, expected) {
    if (reply.next_key === expected) return this.line(reply.line, ...this.ways(urls));
    if (reply.next) {
      keepNote(this.texts.takenMeanwhile);
      location.assign(reply.next);
    } else {
      this.engine.status.showBanner(`${reply.line} ${reply.why}`, "refusal", link(this.texts.receipt, reply.receipt));
    }
  }

  ways(urls) {
    const look = urls.revise ? [link(this.texts.lookAgain, urls.revise)] : [];
    return [...look, this.button(this.texts.takeBack, urls.undo)];
  }

  // A form of its own, because its answer is a page.
  button(text, address) {
    const form = Object.assign(document.createElement("form"), { method: "post", action: address });
    const token = Object.assign(document.createElement("input"), { type: "hidden", name: "csrfmiddlewaretoken" });
    token.value = this.engine.transport.token();
    const button = Object.assign(document.createElement("button"), { className: "button plain", textContent: text });
    form.append(token, button);
    return form;
  }

  line(text, ...ways) {
    const place = this.engine.root.querySelector("#receipt-line");
    if (!place) return;
    place.replaceChildren(text, ...ways.flatMap((way) => [" ", way]));
    place.hidden = false;
  }

  say(sentence) {
    if (sentence) this.line(sentence);
  }

  // "Task 58 of 72 · about 14 min left"
  tell() {
    const { place, texts } = this;
    if (!place || place.of < 2) return;
    this.show("#sitting", texts.place.replace("{n}", place.number).replace("{all}", place.of));
    if (!paces.length) return;
    const seconds = median(paces.slice(-RECENT)) * (place.of - place.number + 1);
    this.show("#time-left", texts.timeLeft.replace("{n}", Math.max(1, Math.ceil(seconds / 60))));
  }

  show(selector, text) {
    const place = this.engine.root.querySelector(selector);
    if (place) Object.assign(place, { textContent: text, hidden: false });
  }
}

function parse(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  return { title: page.title, body: page.body, config: page.getElementById("work-config"), at: Date.now() };
}

function link(text, address) {
  return Object.assign(document.createElement("a"), { href: address, textContent: text });
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}

function tellOtherTabs(key, receipt) {
  try {
    const channel = new BroadcastChannel(`pyramidion:${key}`);
    channel.postMessage({ kind: "submitted", receipt });
    channel.close();
  } catch {
    // Some browsers refuse it inside a frame.
  }
}

function keepNote(text) {
  try {
    sessionStorage.setItem(NOTE, text);
  } catch {
    // Then it is not said.
  }
}

function takeNote() {
  try {
    const note = sessionStorage.getItem(NOTE);
    sessionStorage.removeItem(NOTE);
    return note;
  } catch {
    return null;
  }
}
