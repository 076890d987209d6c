// The SCU editor: a reference to select words in, and a list of SCUs beside it. `store` keeps the list: draft_units.js on
// an annotator's page, form_store.js on an admin's.
import { Picker } from "./picker.js";
import * as list from "./units.js";

const WAIT = 500; // ms from the last change to asking for advice

export class Editor {
  constructor(store, { most, texts, adviceUrl, token }) {
    Object.assign(this, { store, most, texts, adviceUrl, token });
    this.items = document.getElementById("units");
    this.template = document.getElementById("unit-template");
    this.bar = document.getElementById("unit-tools");
    this.active = 0;
    this.advice = [];
    const reference = document.getElementById("reference-words");
    const { signal } = store;
    this.picker = new Picker(reference, { onChange: () => this.picked(), onEnter: () => this.enter(), signal });
    this.signs = Array.from(reference.dataset.plain); // places count characters, as Python does, not UTF-16 units
    this.listen();
    this.render();
    this.picked();
  }

  get units() {
    return this.store.units;
  }

  said([start, end]) {
    return this.signs.slice(start, end).join("");
  }

  say(text, facts = {}) {
    this.store.status.say(text.replace(/\{(\w+)\}/g, (_, name) => facts[name] ?? ""));
  }

  listen() {
    this.items.addEventListener("input", (event) => this.typed(event));
    this.items.addEventListener("focusin", (event) => this.activate(this.placeOf(event.target)));
    this.items.addEventListener("keydown", (event) => this.onKey(event));
    this.bar.addEventListener("click", (event) => this.tool(event.target.closest("[data-tool]")?.dataset.tool));
    document.getElementById("new-unit").addEventListener("click", () => this.tool("new"));
    document.getElementById("make-unit").addEventListener("click", () => this.make());
    document.getElementById("clear-words").addEventListener("click", () => this.picker.clear());
    document.addEventListener("keydown", (event) => this.onPageKey(event), { signal: this.store.signal });
    this.store.signal?.addEventListener("abort", () => clearTimeout(this.timer));
    this.store.onRemote(() => this.render());
  }

  // Changes

  keep(units, { undo = true } = {}) {
    this.store.keep(units, { undo });
  }

  change(units, focus = this.active, caret = null) {
    this.typing = null;
    this.keep(units);
    this.render();
    this.focus(Math.max(0, Math.min(focus, units.length - 1)), caret);
  }

  typed(event) {
    const place = this.placeOf(event.target);
    const text = event.target.value.replace(/\s*\n\s*/g, " ");
    if (text !== event.target.value) event.target.value = text;
    const { id } = this.units[place];
    // One stretch of typing is undone as one.
    this.keep(list.change(this.units, place, { text }), { undo: this.typing !== id });
    this.typing = id;
    this.fit(event.target);
    this.shade();
    this.ask();
  }

  make() {
    const spans = this.picker.spans();
    if (!spans.length) return this.say(this.texts.selectFirst);
    if (this.full()) return;
    const pieces = spans.map((span) => this.said(span));
    const stop = this.picker.words[[...this.picker.chosen][0]].parentElement.dataset.stop;
    const units = this.units;
    const unit = { text: list.fromWords(pieces, stop), spans: list.union(spans) };
    // In the order of the reference, unless the list was put into another.
    const later = units.findIndex((other) => other.spans.length && other.spans[0][0] > spans[0][0]);
    const place = later < 0 ? units.length : later;
    this.picker.clear();
    this.change(list.insert(units, place, unit), place);
    this.say(this.texts.made, { n: place + 1 });
  }

  add(unit) {
    if (!this.full()) this.change(list.insert(this.units, this.units.length, unit), this.units.length);
  }

  full() {
    const full = this.units.length >= this.most;
    if (full) {
      this.say(this.texts.full, { most: this.most });
      document.getElementById("full").hidden = false;
    }
    return full;
  }

  tool(name) {
    const units = this.units;
    const place = this.active;
    if (name === "new") return this.full() || this.change(list.insert(units, units.length, { text: "", spans: [] }), units.length);
    if (name === "undo") return this.undo();
    if (!units[place]) return this.say(this.texts.noneYet);
    const area = this.items.querySelectorAll("textarea")[place];
    const tools = {
      up: () => this.change(list.move(units, place, -1), Math.max(0, place - 1)),
      down: () => this.change(list.move(units, place, 1), Math.min(units.length - 1, place + 1)),
      split: () => this.split(units, place, area),
      merge: () => this.merge(units, place),
      delete: () => (this.change(list.remove(units, place), place), this.say(this.texts.deleted)),
      source: () => this.source(units, place),
    };
    tools[name]?.();
  }

  split(units, place, area) {
    if (this.full()) return;
    const at = area.selectionStart;
    if (at === 0 || at >= area.value.length) return this.say(this.texts.splitWhere);
    this.change(list.split(units, place, at), place + 1, 0);
    this.say(this.texts.split);
  }

  merge(units, place) {
    if (place >= units.length - 1) return this.say(this.texts.mergeLast);
    this.change(list.merge(units, place), place, units[place].text.trim().length);
    this.say(this.texts.merged);
  }

  source(units, place) {
    const spans = list.union(this.picker.spans());
    if (!spans.length) return this.say(this.texts.selectFirst);
    this.picker.clear();
    this.change(list.change(units, place, { spans }), place);
    this.say(this.texts.sourced, { n: place + 1 });
  }

  undo() {
    this.typing = null;
    this.store.undo();
  }

  // In a preview everything can be read and nothing changed.
  switchOff() {
    for (const button of document.querySelectorAll("#editor button:not([data-fold])")) button.disabled = true;
  }

  // Keys

  onKey(event) {
    if (!(event.target instanceof HTMLTextAreaElement)) return;
    const area = event.target;
    const place = this.placeOf(area);
    const units = this.units;
    const caret = area.selectionStart === area.selectionEnd ? area.selectionStart : -1;
    const command = event.ctrlKey || event.metaKey;
    if (command && event.key === "Enter") this.tool("split");
    else if (command && event.key.toLowerCase() === "z" && !event.shiftKey) this.undo();
    else if (event.altKey && event.key === "ArrowUp") this.tool("up");
    else if (event.altKey && event.key === "ArrowDown") this.tool("down");
    else if (command || event.altKey) return;
    else if (event.key === "Enter") this.onward(place, units);
    else if (event.key === "Escape") this.picker.focus();
    else if (event.key === "Backspace" && !area.value && units.length) this.change(list.remove(units, place), place - 1);
    else if (event.key === "Backspace" && caret === 0 && place > 0) this.merge(units, place - 1);
    else if (event.key === "Delete" && caret === area.value.length && place < units.length - 1) this.merge(units, place);
    else if (event.key === "ArrowDown" && caret === area.value.length && units[place + 1]) this.focus(place + 1);
    else if (event.key === "ArrowUp" && caret === 0 && place) this.focus(place - 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  onward(place, units) {
    if (place < units.length - 1) this.focus(place + 1);
    else this.picker.focus();
  }

  // Enter in the reference: an SCU from the selected words; without any, on to the button.
  enter() {
    if (this.picker.chosen.size) this.make();
    else if (this.units.length) document.getElementById("submit").focus();
    else this.say(this.texts.selectFirst);
  }

  onPageKey(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("textarea, input, select") || document.querySelector("dialog[open]")) return;
    const keys = {
      u: () => this.undo(),
      n: () => this.tool("new"),
      e: () => this.focus(this.active),
      r: () => this.picker.focus(),
      "?": () => document.getElementById("help")?.showModal(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  // Showing

  placeOf(element) {
    return [...this.items.children].indexOf(element.closest("li"));
  }

  activate(place) {
    if (place < 0) return;
    this.active = place;
    [...this.items.children].forEach((item, n) => item.classList.toggle("active", n === place));
    document.getElementById("active-unit").textContent = this.texts.unit.replace("{n}", place + 1);
    this.shade();
  }

  focus(place, caret = null) {
    const area = this.items.querySelectorAll("textarea")[place];
    if (!area) return this.picker.focus();
    area.focus();
    const at = caret ?? area.value.length;
    area.setSelectionRange(at, at);
    area.scrollIntoView({ block: "nearest" });
  }

  // Every SCU keeps its own row, so that a change from elsewhere moves neither the cursor nor what is being typed.
  render() {
    const units = this.units;
    const rows = new Map([...this.items.children].map((row) => [row.dataset.id, row]));
    const focused = this.items.contains(document.activeElement) ? document.activeElement : null;
    const caret = focused?.selectionStart ?? null;
    const active = this.items.children[this.active]?.dataset.id;
    const next = units.map((unit, place) => this.row(rows.get(unit.id), unit, place));
    if (next.some((row, place) => row !== this.items.children[place]) || next.length !== this.items.children.length) {
      this.items.replaceChildren(...next);
    }
    document.getElementById("no-units").hidden = units.length > 0;
    document.getElementById("full").hidden = units.length < this.most;
    this.items.querySelectorAll("textarea").forEach((area) => this.fit(area));
    const place = units.findIndex(({ id }) => id === active);
    this.active = Math.max(0, Math.min(place < 0 ? this.active : place, units.length - 1));
    if (units.length) this.activate(this.active);
    if (focused && focused !== document.activeElement) this.focus(this.active, caret);
    this.shade();
    this.showAdvice();
    this.ask();
  }

  row(existing, unit, place) {
    const row = existing ?? this.template.content.firstElementChild.cloneNode(true);
    const area = row.querySelector("textarea");
    row.dataset.id = unit.id;
    row.querySelector(".unit-number").textContent = place + 1;
    if (area.value !== unit.text) area.value = unit.text;
    area.setAttribute("aria-label", this.texts.unit.replace("{n}", place + 1));
    area.setAttribute("aria-describedby", `advice-${place}`);
    row.querySelector(".advice").id = `advice-${place}`;
    return row;
  }

  fit(area) {
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight + 2}px`;
  }

  picked() {
    const spans = this.picker.spans();
    const words = spans.map((span) => this.said(span)).join(" … ");
    const place = document.getElementById("selected-words");
    place.textContent = words || this.texts.nothingSelected;
    place.classList.toggle("quiet", !words);
    for (const id of ["make-unit", "clear-words"]) document.getElementById(id).disabled = !words || this.store.preview;
  }

  shade() {
    const units = this.units;
    const inside = (word, spans) => spans.some(([start, end]) => word.start >= start && word.end <= end);
    let covered = 0;
    let content = 0;
    for (const element of this.picker.words) {
      const word = { start: Number(element.dataset.start), end: Number(element.dataset.end) };
      const is = units.some(({ text, spans }) => text.trim() && inside(word, spans));
      element.classList.toggle("covered", is);
      element.classList.toggle("own", inside(word, units[this.active]?.spans ?? []));
      if (is) element.setAttribute("aria-describedby", "is-covered");
      else element.removeAttribute("aria-describedby");
      if ("content" in element.dataset) {
        content += 1;
        covered += is;
      }
    }
    this.showCoverage(covered, content);
    this.store.status.counted?.(this.texts.count.replace("{n}", units.length));
  }

  showCoverage(covered, content) {
    const percent = content ? Math.round((100 * covered) / content) : 0;
    const bar = document.getElementById("coverage");
    bar.max = content || 1;
    bar.value = covered;
    const text = this.texts.coverage.replace("{percent}", percent).replace("{n}", covered).replace("{all}", content);
    document.getElementById("coverage-text").textContent = text;
  }

  // Advice comes from the server, so that there is one set of rules; without it the page works as well.

  ask() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fetchAdvice(), WAIT);
  }

  async fetchAdvice() {
    if (!this.adviceUrl) return;
    const texts = this.units.map(({ text }) => text);
    const body = JSON.stringify({ units: texts });
    if (body === this.asked) return;
    try {
      const headers = { "Content-Type": "application/json", "X-CSRFToken": this.token() };
      const answer = await fetch(this.adviceUrl, { method: "POST", body, headers });
      if (!answer.ok) return;
      this.asked = body;
      this.advice = (await answer.json()).advice;
      this.showAdvice();
    } catch {
      // Offline: the advice waits.
    }
  }

  showAdvice() {
    [...this.items.children].forEach((item, place) => {
      const lines = (this.advice[place] ?? []).map((sentence) => {
        const line = document.createElement("li");
        line.textContent = sentence;
        return line;
      });
      item.querySelector(".advice").replaceChildren(...lines);
    });
  }
}
