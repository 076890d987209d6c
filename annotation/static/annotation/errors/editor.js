// Marking errors: select words, choose a kind, say how bad; evidence from the article, if one likes.
import { TYPING } from "../judging/keyboard.js";
import { fold } from "../judging/tools.js";
import { MarkList } from "./mark_list.js";
import { RangePicker } from "./range_picker.js";

const MINOR = "minor";
const MAJOR = "major";

export class Editor {
  constructor(engine, marks, { kinds, most, errorTexts }) {
    Object.assign(this, { engine, marks, kinds, most, texts: errorTexts });
    const { root, signal } = engine;
    this.place = (id) => root.querySelector(`#${id}`);
    this.active = null; // the mark that keys are about
    this.evidenceOf = null; // the mark that words of the article are chosen for
    const words = this.place("summary-words");
    this.summary = new RangePicker(words, { onChange: () => this.picked(), onEnter: () => this.toKinds(), signal });
    this.article = new RangePicker(this.place("article-text"), { onChange: () => {}, onEnter: () => this.takeEvidence(), signal });
    this.list = new MarkList(this, this.place("marks"), this.place("mark-template"));
    if (engine.preview) this.switchOff();
    else this.listen();
    this.render();
    this.picked();
  }

  listen() {
    const { root, signal } = this.engine;
    const on = (selector, action) => root.querySelector(selector).addEventListener("click", action);
    for (const button of root.querySelectorAll("[data-kind]")) button.addEventListener("click", () => this.mark(button.dataset.kind));
    on("[data-clear]", () => this.summary.clear());
    on("[data-undo]", () => this.undo());
    on("[data-take-evidence]", () => this.takeEvidence());
    on("[data-end-evidence]", () => this.endEvidence());
    this.none = root.querySelector("#no-error input");
    this.none.addEventListener("change", () => (this.marks.isNone = this.none.checked));
    this.place("article-text").addEventListener("keydown", (event) => this.onArticleKey(event), { capture: true });
    document.addEventListener("keydown", (event) => this.onKey(event), { signal });
    this.marks.onChange(() => this.render());
  }

  // To look at: nothing can be marked.
  switchOff() {
    for (const control of this.engine.root.querySelectorAll("#marking button, #marked button")) control.disabled = true;
  }

  say(text, facts = {}) {
    this.engine.status.say(this.filled(text, facts));
  }

  filled(text, facts) {
    return text.replace(/\{(\w+)\}/g, (_, name) => facts[name] ?? "");
  }

  kind(name) {
    return this.kinds.find((kind) => kind.name === name);
  }

  title(mark) {
    return this.kind(mark.kind)?.title ?? mark.kind;
  }

  said({ start, end }) {
    return start === null ? this.texts.noPlace : this.summary.said([start, end]);
  }

  // Selecting

  picked() {
    const { span } = this.summary;
    const words = span ? this.summary.said(span) : "";
    this.place("selected-words").textContent = words ? this.filled(this.texts.selected, { words }) : this.texts.nothingSelected;
  }

  toKinds() {
    if (this.summary.span) this.engine.root.querySelector("[data-kind]").focus();
    else this.engine.root.querySelector("#submit").focus();
  }

  // Marks

  mark(name) {
    const kind = this.kind(name);
    const { span } = this.summary;
    if (!kind || this.engine.preview) return;
    if (kind.placed && !span) return this.point(this.texts.selectFirst);
    if (this.marks.list.length >= this.most) return this.point(this.filled(this.texts.full, { most: this.most }));
    const [start, end] = kind.placed ? span : [null, null];
    this.active = this.marks.add({ kind: name, start, end });
    this.summary.clear();
    this.list.focus(this.active);
    this.say(this.texts.made, { kind: kind.title, words: this.said({ start, end }) });
  }

  point(sentence) {
    this.place("selected-words").textContent = sentence;
    this.say(sentence);
  }

  setSeverity(id, severity) {
    const mark = this.marks.list.find((other) => other.id === id);
    if (!mark) return;
    this.marks.change(id, { severity });
    this.say(this.texts.set, { kind: this.title(mark), severity: this.texts[severity], words: this.said(mark) });
  }

  remove(id) {
    this.marks.remove(id);
    this.say(this.texts.removed);
    this.summary.focus();
  }

  undo() {
    this.marks.undo();
  }

  activate(id) {
    if (this.active === id) return;
    this.active = id;
    this.shade();
  }

  // Evidence

  startEvidence(id) {
    const mark = this.marks.list.find((other) => other.id === id);
    if (!mark) return this.say(this.texts.evidenceWhich);
    this.evidenceOf = id;
    fold(this.engine, this.engine.root.querySelector("[data-fold=article]"), false);
    const sentence = this.filled(this.texts.evidenceFor, { words: this.said(mark) });
    this.place("evidence-for").textContent = sentence;
    this.place("evidence-bar").hidden = false;
    this.article.focus();
    this.say(sentence);
    this.shade();
  }

  takeEvidence() {
    const { span } = this.article;
    const mark = this.marks.list.find((other) => other.id === (this.evidenceOf ?? this.active));
    if (!mark || !span) return this.say(mark ? this.texts.selectFirst : this.texts.evidenceWhich);
    const isNew = !mark.evidence.some((other) => String(other) === String(span));
    if (isNew) this.marks.change(mark.id, { evidence: [...mark.evidence, span] });
    this.article.clear();
    this.say(this.texts.evidenceKept, { words: this.article.said(span) });
  }

  dropEvidence(id, span) {
    const mark = this.marks.list.find((other) => other.id === id);
    this.marks.change(id, { evidence: mark.evidence.filter((other) => String(other) !== String(span)) });
  }

  endEvidence() {
    const id = this.evidenceOf;
    this.evidenceOf = null;
    this.place("evidence-bar").hidden = true;
    this.article.clear();
    this.shade();
    if (id) this.list.focus(id);
  }

  // Keys

  onArticleKey(event) {
    if (event.key !== "Escape" || !this.evidenceOf || this.article.chosen.size) return;
    event.preventDefault();
    event.stopPropagation();
    this.endEvidence();
  }

  onKey(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches(TYPING) || document.querySelector("dialog[open]")) return;
    const action = this.action(event.key.length === 1 ? event.key.toLowerCase() : event.key);
    if (!action) return;
    event.preventDefault();
    if (!event.repeat) action();
  }

  action(key) {
    if (/^[1-9]$/.test(key) && this.kinds[key - 1]) return () => this.mark(this.kinds[key - 1].name);
    return {
      "-": () => this.decide(MINOR),
      "−": () => this.decide(MINOR),
      "+": () => this.decide(MAJOR),
      "=": () => this.decide(MAJOR), // the same key without Shift
      u: () => this.undo(),
      e: () => this.startEvidence(this.active),
      r: () => this.summary.focus(),
      f: () => this.engine.root.querySelector("[data-fold=article]").click(),
      "?": () => this.engine.root.querySelector("#help")?.showModal(),
      Escape: this.evidenceOf ? () => this.endEvidence() : null,
    }[key];
  }

  // How bad the mark is, by key; then on with the words.
  decide(severity) {
    if (!this.active) return;
    this.setSeverity(this.active, severity);
    this.summary.focus();
  }

  // What is shown

  render() {
    const marks = this.marks.list;
    if (!marks.some(({ id }) => id === this.active)) this.active = null;
    if (!marks.some(({ id }) => id === this.evidenceOf)) {
      this.evidenceOf = null;
      this.place("evidence-bar").hidden = true;
    }
    this.list.show(marks);
    const none = this.engine.root.querySelector("#no-error");
    none.hidden = marks.length > 0;
    none.querySelector("input").checked = this.marks.isNone;
    this.engine.status.counted(this.filled(this.texts.marks, { n: marks.length }));
    this.shade();
  }

  shade() {
    const marks = this.marks.list;
    for (const word of this.summary.words) {
      const own = marks.filter(({ start, end }) => start !== null && start < Number(word.dataset.end) && end > Number(word.dataset.start));
      word.dataset.depth = Math.min(own.length, 3);
      word.classList.toggle("major", own.some(({ severity }) => severity === MAJOR));
      word.classList.toggle("current", own.some(({ id }) => id === this.active));
      word.title = own.map((mark) => [this.title(mark), this.texts[mark.severity]].filter(Boolean).join(", ")).join("; ");
    }
    const evidence = marks.find(({ id }) => id === (this.evidenceOf ?? this.active))?.evidence ?? [];
    for (const word of this.article.words) {
      const isMarked = evidence.some(([start, end]) => start < Number(word.dataset.end) && end > Number(word.dataset.start));
      word.classList.toggle("evidence", isMarked);
    }
  }

  // What holds a submit back

  problem() {
    const marks = this.marks.list;
    if (marks.some(({ kind }) => !this.kind(kind))) return this.texts.noKind;
    if (marks.some(({ severity }) => !severity)) return this.texts.noSeverity;
    return marks.length || this.marks.isNone ? null : this.texts.nothingMarked;
  }

  holdBack() {
    const problem = this.problem();
    const first = this.marks.list.find(({ kind, severity }) => !this.kind(kind) || !severity);
    if (problem && first) this.list.focus(first.id);
    else if (problem) this.none.focus();
    return problem;
  }
}
