// The whole from 0 to 100: a number and a slider that say the same.
export class Overall {
  constructor(engine, field, texts, field_of_marks) {
    Object.assign(this, { engine, field, texts });
    const { root } = engine;
    this.number = root.querySelector("#overall-number");
    this.slider = root.querySelector("#overall-range");
    this.box = this.number.closest("fieldset");
    this.slider.hidden = false;
    const early = this.number.value !== this.number.defaultValue ? this.number.value : null;
    this.show();
    if (engine.preview) return;
    if (early !== null) this.keep(early);
    this.number.addEventListener("input", () => this.keep(this.number.value));
    this.slider.addEventListener("input", () => this.keep(this.slider.value));
    this.box.addEventListener("focusin", () => engine.attention.at(field));
    this.box.addEventListener("focusout", () => engine.attention.at(field_of_marks));
    engine.on("remote", (changed) => changed === field && this.show());
  }

  get value() {
    return this.engine.get(this.field)?.value ?? "";
  }

  // One stretch of sliding or typing is undone as one.
  keep(value) {
    const isFirst = this.engine.undoable.at(-1)?.[0]?.[0] !== this.field;
    this.engine.set(this.field, { value: String(value).trim() }, { undo: isFirst });
    this.show();
  }

  show() {
    const { value } = this;
    if (this.number.value !== value) this.number.value = value;
    this.slider.value = value === "" ? 50 : value;
    this.slider.classList.toggle("unset", value === "");
    this.box.classList.toggle("missing", value !== "" && !this.isGood);
  }

  get isGood() {
    return /^\d{1,3}$/.test(this.value) && Number(this.value) <= 100;
  }

  problem() {
    return this.isGood ? null : this.texts.noOverall;
  }

  holdBack() {
    const problem = this.problem();
    this.box.classList.toggle("missing", Boolean(problem));
    if (problem) this.number.focus();
    return problem;
  }
}
