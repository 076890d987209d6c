// The marked errors as a list: each with its words, its kind, how bad it is, and its evidence. Rows stay where they are, so
// that the focus does.
export class MarkList {
  constructor(editor, place, template) {
    Object.assign(this, { editor, place, template });
    this.rows = new Map();
  }

  show(marks) {
    const ids = marks.map(({ id }) => id);
    for (const [id, row] of this.rows) if (!ids.includes(id)) (row.remove(), this.rows.delete(id));
    for (const mark of marks) this.update(this.row(mark.id), mark);
    const rows = ids.map((id) => this.rows.get(id));
    if (rows.some((row, n) => this.place.children[n] !== row)) this.place.replaceChildren(...rows);
  }

  row(id) {
    if (!this.rows.has(id)) this.rows.set(id, this.make(id));
    return this.rows.get(id);
  }

  make(id) {
    const { editor } = this;
    const row = this.template.content.firstElementChild.cloneNode(true);
    const radios = [...row.querySelectorAll("input[type=radio]")];
    for (const radio of radios) {
      radio.name = `severity-${id}`;
      radio.addEventListener("change", () => editor.setSeverity(id, radio.value));
    }
    row.querySelector("select").addEventListener("change", (event) => editor.marks.change(id, { kind: event.target.value }));
    row.querySelector("[data-remove]").addEventListener("click", () => editor.remove(id));
    row.querySelector("[data-evidence]").addEventListener("click", () => editor.startEvidence(id));
    row.addEventListener("focusin", () => editor.activate(id));
    row.addEventListener("pointerenter", () => editor.activate(id));
    return row;
  }

  update(row, mark) {
    const { editor } = this;
    const legend = row.querySelector("legend");
    const words = editor.said(mark);
    if (legend.textContent !== words) legend.textContent = words;
    this.choose(row.querySelector("select"), mark);
    for (const radio of row.querySelectorAll("input[type=radio]")) radio.checked = radio.value === mark.severity;
    row.querySelector("fieldset").classList.toggle("missing", !mark.severity || !editor.kind(mark.kind));
    const chips = mark.evidence.map((span) => this.chip(mark.id, span));
    row.querySelector(".marks").replaceChildren(...chips);
  }

  // A placed mark can't become one without words, nor the other way round; a kind that is gone asks for another.
  choose(select, { kind, start }) {
    const { editor } = this;
    for (const option of select.options) {
      const known = editor.kind(option.value);
      option.hidden = option.disabled = Boolean(known) && known.placed !== (start !== null);
    }
    const isKnown = Boolean(editor.kind(kind));
    let gone = select.querySelector("[data-gone]");
    if (!isKnown && !gone) {
      gone = document.createElement("option");
      gone.dataset.gone = "";
      select.prepend(gone);
    }
    if (gone && isKnown) gone.remove();
    if (!isKnown) Object.assign(gone, { value: kind, textContent: `${kind}: ${editor.texts.unknown}` });
    select.value = kind;
  }

  chip(id, span) {
    const { editor } = this;
    const chip = document.createElement("button");
    const words = editor.article.said(span);
    Object.assign(chip, { type: "button", className: "mark", dir: "auto", textContent: words });
    chip.setAttribute("aria-label", editor.filled(editor.texts.evidenceRemove, { words }));
    chip.addEventListener("click", () => editor.dropEvidence(id, span));
    return chip;
  }

  focus(id) {
    const row = this.rows.get(id);
    if (!row) return;
    (row.querySelector("input:checked") ?? row.querySelector("input[type=radio]")).focus();
    row.scrollIntoView({ block: "nearest" });
  }
}
