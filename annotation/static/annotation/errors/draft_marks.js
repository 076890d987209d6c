// The marks in a draft: an entry for each, so that two devices at one summary lose nothing to each other.
// `annotation/protocols/errors.py` reads them the same way.
const SPAN = "span:";
const NO_ERROR = "no-error";

export class DraftMarks {
  constructor(engine) {
    this.engine = engine;
  }

  get list() {
    return [...this.engine.answers]
      .filter(([field, { value }]) => field.startsWith(SPAN) && value !== null && value !== undefined)
      .map(([field, { value, severity, start, end, evidence }]) => ({
        id: field.slice(SPAN.length),
        kind: value,
        severity: severity ?? null,
        start: start ?? null,
        end: end ?? null,
        evidence: evidence ?? [],
      }))
      .sort((a, b) => (a.start ?? Infinity) - (b.start ?? Infinity) || (a.end ?? 0) - (b.end ?? 0) || (a.id < b.id ? -1 : 1));
  }

  get isNone() {
    return this.engine.get(NO_ERROR)?.value === "1";
  }

  set isNone(isNone) {
    this.engine.set(NO_ERROR, { value: isNone ? "1" : null });
  }

  // A new mark; that there is none doesn't hold any more.
  add(mark) {
    const id = Date.now().toString(36) + Math.floor(Math.random() * 36 ** 4).toString(36).padStart(4, "0");
    const contents = { [SPAN + id]: content(mark) };
    if (this.isNone) contents[NO_ERROR] = { value: null };
    this.engine.change(contents);
    return id;
  }

  change(id, news) {
    const mark = this.list.find((other) => other.id === id);
    if (mark) this.engine.set(SPAN + id, content({ ...mark, ...news }));
  }

  remove(id) {
    this.engine.set(SPAN + id, { value: null });
  }

  undo() {
    this.engine.undo();
  }

  // Marks changed, here or elsewhere.
  onChange(listener) {
    const isOurs = (field) => field.startsWith(SPAN) || field === NO_ERROR;
    for (const name of ["change", "remote"]) this.engine.on(name, (field) => isOurs(field) && listener());
  }
}

function content({ kind, severity = null, start = null, end = null, evidence = [] }) {
  return { value: kind, severity, start, end, evidence };
}
