// A list of SCUs: plain data and what can be done to it. Nothing here touches the page. Each SCU has an id of its own
// on this page and in drafts; what is stored has none.

// From a draft: JSON as this page writes it, or lines as a page without script does.
export function read(value) {
  if (!value) return [];
  if (!value.trimStart().startsWith("[")) {
    return value.split("\n").filter((line) => line.trim()).map((text) => ({ text, spans: [] }));
  }
  try {
    return JSON.parse(value).map(({ text = "", spans = [] }) => ({ text, spans }));
  } catch {
    return [];
  }
}

export function write(units) {
  return JSON.stringify(units.map(({ text, spans }) => ({ text, spans })));
}

export function union(spans) {
  const sorted = spans.map((span) => [...span]).sort((a, b) => a[0] - b[0]);
  const merged = [];
  for (const [start, end] of sorted) {
    const last = merged.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

const END = /[.!?。؟۔…]$/u;

// The words as they stand, with a capital and the sentence's own full stop: a start for editing.
export function fromWords(pieces, stop) {
  const text = pieces.join(" ").trim();
  if (!text) return "";
  const capital = text.replace(/^\p{Ll}/u, (letter) => letter.toLocaleUpperCase());
  return END.test(capital) || !END.test(stop) ? capital : capital + stop;
}

export function insert(units, place, unit) {
  return units.toSpliced(place, 0, unit);
}

export function remove(units, place) {
  return units.toSpliced(place, 1);
}

export function move(units, place, by) {
  const goal = place + by;
  if (goal < 0 || goal >= units.length) return units;
  return units.toSpliced(place, 1).toSpliced(goal, 0, units[place]);
}

export function change(units, place, news) {
  return units.with(place, { ...units[place], ...news });
}

// Both halves stand on the same words until somebody says otherwise.
export function split(units, place, at) {
  const { text, spans } = units[place];
  const [before, after] = [text.slice(0, at).trim(), text.slice(at).trim()];
  return units.toSpliced(place, 1, { ...units[place], text: before }, { text: after, spans });
}

export function merge(units, place) {
  const [one, other] = [units[place], units[place + 1]];
  if (!one || !other) return units;
  const text = [one.text.trim(), other.text.trim()].filter(Boolean).join(" ");
  return units.toSpliced(place, 2, { ...one, text, spans: union([...one.spans, ...other.spans]) });
}

// An id for those that have none; later ones sort behind earlier ones.
export function identify(units) {
  return units.map((unit) => (unit.id ? unit : { ...unit, id: Date.now().toString(36) + random() }));
}

function random() {
  return Math.floor(Math.random() * 36 ** 4).toString(36).padStart(4, "0");
}
