// Flags: telling the researchers that an item is broken, or something about the whole task. A flag is a draft like any
// answer, so that it is kept offline; it changes no answer.
import { TYPING } from "./keyboard.js";

const PREFIX = "flag:";
const TASK = "task";

export function flags(engine) {
  const { root } = engine;
  const dialog = root.querySelector("#flag");
  const button = root.querySelector("[data-flag]");
  if (!dialog || !button || engine.preview) return;
  const form = new FlagForm(engine, dialog);
  button.hidden = false;
  button.addEventListener("click", () => form.open());
  const onKey = (event) => {
    if (!isFlagKey(event)) return;
    event.preventDefault();
    form.open();
  };
  document.addEventListener("keydown", onKey, { signal: engine.signal });
}

function isFlagKey({ key, target, repeat }) {
  return key === "!" && !repeat && !target.matches(TYPING) && !document.querySelector("dialog[open]");
}

class FlagForm {
  constructor(engine, dialog) {
    Object.assign(this, { engine, dialog });
    this.items = [...engine.root.querySelectorAll(".item[data-field]")];
    this.place = dialog.querySelector("select");
    this.note = dialog.querySelector("textarea");
    this.remove = dialog.querySelector("[data-unflag]");
    for (const item of this.items) this.place.append(this.option(item));
    this.place.addEventListener("change", () => this.show());
    this.remove.addEventListener("click", () => this.keep(""));
    dialog.querySelector("[data-send]").addEventListener("click", () => this.keep("1"));
    engine.on("remote", () => this.mark());
    this.mark();
  }

  option(item) {
    const option = document.createElement("option");
    option.value = item.dataset.field;
    option.textContent = item.querySelector("legend").textContent.trim().replace(/\s+/g, " ");
    return option;
  }

  content(field = this.place.value) {
    const content = this.engine.get(PREFIX + field);
    return content?.value ? content : null;
  }

  open() {
    const active = this.engine.root.querySelector(".item.active");
    this.place.value = active?.dataset.field ?? TASK;
    this.show();
    this.dialog.showModal();
    this.note.focus();
  }

  show() {
    const content = this.content();
    this.note.value = content?.note ?? "";
    this.remove.hidden = !content;
  }

  keep(value) {
    this.engine.set(PREFIX + this.place.value, { value, note: this.note.value }, { undo: false });
    this.engine.status.say(value ? this.engine.texts.flagged : this.engine.texts.unflagged);
    this.mark();
  }

  mark() {
    for (const item of this.items) item.classList.toggle("flagged", Boolean(this.content(item.dataset.field)));
  }
}
