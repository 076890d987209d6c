// Keeps the list of SCUs in a form, where there is no work engine. Undo is by this page's memory.
import { identify, read, write } from "./units.js";

export class FormStore {
  constructor(input, live) {
    this.input = input;
    this.units = identify(read(input.value));
    this.before = [];
    this.listeners = [];
    this.status = { say: (text) => (live.textContent = text) };
  }

  keep(units, { undo = true } = {}) {
    if (undo) this.before.push(this.units);
    this.show(identify(units));
  }

  show(units) {
    this.units = units;
    this.input.value = write(units);
  }

  undo() {
    if (!this.before.length) return;
    this.show(this.before.pop());
    for (const listener of this.listeners) listener();
  }

  onRemote(listener) {
    this.listeners.push(listener);
  }
}
