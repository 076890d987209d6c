// Moving through a list of questions with the keyboard: j/k or arrows, one key per answer, Enter to go on.
export const TYPING = "textarea, select, input:not([type=radio], [type=checkbox])";
const BY_ALT = ["[", "]", "/", "?"]; // on many keyboards these need Alt or AltGr

export class Keyboard {
  // `questions`: fieldsets with radios, in reading order, each with data-field.
  constructor(engine, questions) {
    this.engine = engine;
    this.questions = questions;
    this.byArrow = false;
    this.button = engine.root.querySelector("#submit");
    document.addEventListener("keydown", (event) => this.onKey(event), { signal: engine.signal });
    for (const question of questions) this.follow(question);
    engine.on("remote", (field, content, isElsewhere) => this.onRemote(field, content, isElsewhere));
    engine.on("change", () => this.count());
    engine.on("submit", () => this.holdBack());
    for (const question of questions) this.begin(question);
    this.count();
    this.outline();
  }

  answers = {}; // what a key answers
  keys = {}; // what other keys do
  begun = false; // whether a question has had the focus
  decided = null; // the question just answered, until one moves by oneself
  isLocked = false; // while something else has the keys, such as marking evidence

  follow(question) {
    question.addEventListener("focusin", () => this.activate(question));
    // An arrow key inside a group only looks around; the pointer, Space or an answer key decides.
    question.addEventListener("keydown", (event) => (this.byArrow = event.key.startsWith("Arrow")));
    question.addEventListener("pointerdown", () => (this.byArrow = false));
    question.addEventListener("change", (event) => {
      if (event.target.type !== "radio") return;
      this.record(question, event.target.value);
      if (!this.byArrow) this.goOn(question);
    });
  }

  // What was answered before this script ran counts like any other answer; the rest shows what is kept.
  begin(question) {
    const early = [...question.querySelectorAll("input[type=radio]:checked")].find((radio) => !radio.defaultChecked);
    if (early) this.record(question, early.value);
    else this.mirror(question.dataset.field, this.engine.get(question.dataset.field));
  }

  // The first open question is outlined, so that its keys work at once; the focus stays where reading begins.
  outline() {
    if (this.engine.preview) return;
    const [first] = this.missing;
    for (const question of this.questions) question.classList.toggle("active", question === first);
  }

  activate(question) {
    this.begun = true;
    if (!this.isGoingOn && question !== this.decided) this.decided = null;
    for (const other of this.questions) other.classList.toggle("active", other === question);
    this.engine.attention.at(question.dataset.field);
    this.engine.emit("active", question);
  }

  get current() {
    const inside = document.activeElement?.closest("[data-field]");
    if (this.questions.includes(inside)) return inside;
    return this.questions.find((question) => question.classList.contains("active")) ?? null;
  }

  // What a remark or evidence is about: the question just answered, though the outline has gone on.
  get subject() {
    return this.decided && this.value(this.decided) ? this.decided : this.current;
  }

  value(question) {
    return question.querySelector("input[type=radio]:checked")?.value ?? "";
  }

  record(question, value) {
    if (this.engine.preview) return;
    question.classList.remove("missing");
    this.decided = question;
    const { field } = question.dataset;
    this.engine.set(field, { ...this.engine.get(field), ...this.engine.aids, value });
    this.engine.emit("answered", question);
  }

  answer(question, value) {
    if (this.engine.preview) return false;
    const radio = question.querySelector(`input[type=radio][value="${CSS.escape(value)}"]`);
    if (!radio) return false;
    radio.checked = true;
    this.record(question, value);
    this.goOn(question);
    return true;
  }

  // To the next question without an answer: first those below, then those above; at the end, to the button.
  goOn(question) {
    const place = this.questions.indexOf(question);
    const others = [...this.questions.slice(place + 1), ...this.questions.slice(0, place)];
    const next = others.find((other) => !this.value(other));
    if (next) return this.goTo(next);
    this.button?.focus();
    this.engine.status.say(this.engine.texts.allAnswered);
  }

  focus(question) {
    this.activate(question); // a tab in the background hears of its focus only later
    const radio = question.querySelector("input[type=radio]:checked") ?? question.querySelector("input[type=radio]");
    radio.focus({ preventScroll: true });
    this.reveal(question);
  }

  // Back to where one was, as if one had gone on by itself.
  goTo(question) {
    this.isGoingOn = true;
    this.focus(question);
    this.isGoingOn = false;
  }

  reveal(question) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    question.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
  }

  step(by) {
    const here = this.questions.indexOf(this.current);
    if (!this.begun && here >= 0) return this.focus(this.current);
    const place = here < 0 ? 0 : Math.min(this.questions.length - 1, Math.max(0, here + by));
    this.focus(this.questions[place]);
  }

  onKey(event) {
    const withAlt = event.altKey && !event.metaKey && BY_ALT.includes(event.key);
    if (event.defaultPrevented || (!withAlt && (event.ctrlKey || event.metaKey || event.altKey))) return;
    if (event.target.matches(TYPING) || document.querySelector("dialog[open]") || this.isLocked) return;
    if (this.handle(event)) event.preventDefault();
  }

  // Caps Lock makes no difference. A key that is held down moves on and on, but does everything else once.
  handle(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "j" || key === "ArrowDown") return this.step(1), true;
    if (key === "k" || key === "ArrowUp") return this.step(-1), true;
    const action = this.action(key);
    if (!action) return false;
    return event.repeat || action(event);
  }

  action(key) {
    if (key in this.answers) return () => Boolean(this.current) && this.answer(this.current, this.answers[key]);
    if (key === "u") return () => this.undo();
    if (key === "?") return () => (this.engine.root.querySelector("#help")?.showModal(), true);
    if (key === "Enter") return (event) => this.enter(event);
    return this.keys[key] && (() => this.keys[key]());
  }

  // Enter goes on; on the button, on a link or in the summary it does what it always does.
  enter(event) {
    if (event.target.closest("button, a, summary, [data-words]")) return false;
    if (!this.current || !this.begun) this.step(0);
    else if (this.questions.some((question) => !this.value(question))) this.goOn(this.current);
    else this.button?.focus();
    return true;
  }

  undo() {
    const field = this.engine.undo();
    const question = this.questions.find((question) => question.dataset.field === field);
    if (question) this.focus(question);
    return true;
  }

  // Answered in another tab or on another device: the outline goes on, so that the next key answers an open question.
  onRemote(field, content, isElsewhere) {
    const question = this.mirror(field, content);
    if (!isElsewhere || !question || question !== this.current || !this.value(question)) return;
    if (!this.begun) this.outline();
    else if (!document.activeElement.matches(TYPING)) this.goOn(question);
  }

  mirror(field, content) {
    const question = this.questions.find((question) => question.dataset.field === field);
    if (!question || !content) return null;
    for (const radio of question.querySelectorAll("input[type=radio]")) {
      radio.checked = radio.value === String(content.value ?? "");
    }
    this.count();
    return question;
  }

  get missing() {
    return this.questions.filter((question) => !this.value(question));
  }

  count() {
    const { missing, questions } = this;
    this.engine.status.progress(questions.length - missing.length, questions.length);
    this.engine.status.stillMissing(missing.length ? this.tell(missing.length) : null);
  }

  holdBack() {
    const { missing } = this;
    for (const question of this.questions) question.classList.toggle("missing", missing.includes(question));
    if (!missing.length) return null;
    this.focus(missing[0]);
    return this.tell(missing.length);
  }

  tell(missing) {
    const { missing: many, missingOne } = this.engine.texts;
    return (missing === 1 ? missingOne : many).replace("{n}", missing).replace("{all}", this.questions.length);
  }
}
