// Keeps one field in a form: what the SCU editor needs where there is no work engine. Undo is by this page's memory.
export class FormStore {
  constructor(input, live) {
    this.input = input;
    this.before = [];
    this.listeners = [];
    this.status = { say: (text) => (live.textContent = text) };
  }

  get() {
    return { value: this.input.value };
  }

  set(field, content, { undo = true } = {}) {
    if (undo) this.before.push(this.input.value);
    this.input.value = content.value;
  }

  undo() {
    if (!this.before.length) return;
    this.input.value = this.before.pop();
    for (const listener of this.listeners) listener(this.input.name);
  }

  on(name, listener) {
    if (name === "remote") this.listeners.push(listener);
  }
}
