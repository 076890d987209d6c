// Moving through a list of questions with the keyboard: j/k or arrows, one key per answer, Enter to go on.
const TYPING = "textarea, select, input:not([type=radio], [type=checkbox])";

export class Keyboard {
  // `questions`: fieldsets with radios, in reading order, each with data-field.
  constructor(engine, questions) {
    this.engine = engine;
    this.questions = questions;
    this.byArrow = false;
    document.addEventListener("keydown", (event) => this.onKey(event));
    for (const question of questions) this.follow(question);
    engine.on("remote", (field, content) => this.mirror(field, content));
    engine.on("change", () => this.count());
    engine.on("submit", () => this.holdBack());
    for (const question of questions) this.begin(question);
    this.count();
    this.outline();
  }

  keys = {};
  advance = true;
  begun = false; // whether a question has had the focus

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
    this.missing[0]?.classList.add("active");
  }

  activate(question) {
    this.begun = true;
    for (const other of this.questions) other.classList.toggle("active", other === question);
    this.engine.attention.at(question.dataset.field);
    this.engine.emit("active", question);
  }

  get current() {
    const inside = document.activeElement?.closest("[data-field]");
    if (this.questions.includes(inside)) return inside;
    return this.questions.find((question) => question.classList.contains("active")) ?? null;
  }

  value(question) {
    return question.querySelector("input[type=radio]:checked")?.value ?? "";
  }

  record(question, value) {
    if (this.engine.preview) return;
    question.classList.remove("missing");
    const { field } = question.dataset;
    this.engine.set(field, { ...this.engine.get(field), value });
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
    if (!this.advance) return;
    const place = this.questions.indexOf(question);
    const next = [...this.questions.slice(place + 1), ...this.questions.slice(0, place)].find((below) => !this.value(below));
    if (next) return this.focus(next);
    this.engine.status.say(this.engine.texts.allAnswered);
    document.getElementById("submit")?.focus();
  }

  focus(question) {
    (question.querySelector("input[type=radio]:checked") ?? question.querySelector("input[type=radio]")).focus({
      preventScroll: true,
    });
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
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.matches(TYPING) || document.querySelector("dialog[open]")) return;
    if (this.handle(event)) event.preventDefault();
  }

  handle(event) {
    const { key } = event;
    if (key === "j" || key === "ArrowDown") return this.step(1), true;
    if (key === "k" || key === "ArrowUp") return this.step(-1), true;
    if (key === "u") return this.undo();
    if (key === "?") return document.getElementById("help")?.showModal(), true;
    if (key === "Enter") return this.enter(event);
    return this.keys[key]?.(this.current) ?? false;
  }

  // Enter goes on; on the button, on a link or in the summary it does what it always does.
  enter(event) {
    if (event.target.closest("button, a, summary, [data-words]")) return false;
    if (!this.current || !this.begun) this.step(0);
    else if (this.questions.some((question) => !this.value(question))) this.goOn(this.current);
    else document.getElementById("submit")?.focus();
    return true;
  }

  undo() {
    const field = this.engine.undo();
    const question = this.questions.find((question) => question.dataset.field === field);
    if (question) this.focus(question);
    return true;
  }

  mirror(field, content) {
    const question = this.questions.find((question) => question.dataset.field === field);
    if (!question || !content) return;
    for (const radio of question.querySelectorAll("input[type=radio]")) {
      radio.checked = radio.value === String(content.value ?? "");
    }
    this.count();
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
