// The keys that answer: those printed on the buttons, or what this annotator has chosen instead (in the help dialog).
const TAKEN = ["j", "k", "u", "?", "e", "f", "o", "c", "m", "r", "/", "[", "]", " "];

export function answerKeys(keyboard) {
  const { engine } = keyboard;
  const choices = choicesOf(keyboard.questions[0]);
  const own = () => engine.preferences.keysOf(engine.config.protocol);
  const bind = () => {
    const keys = choices.map(({ value, key, label }) => [own()[value] ?? key, value, label]);
    keyboard.answers = { ...Object.fromEntries(choices.map(({ value }) => [value, value])), ...Object.fromEntries(keys) };
    for (const [key, value, label] of keys) print(engine.root, value, key, label);
  };
  bind();
  const form = engine.root.querySelector("#own-keys");
  if (form && choices.length) offer(engine, form, choices, own, bind);
}

// What can be answered: the values, the usual keys and the words on the buttons of a question.
function choicesOf(question) {
  return [...(question?.querySelectorAll("input[type=radio]") ?? [])].map((radio) => ({
    value: radio.value,
    key: radio.dataset.key || radio.value,
    label: radio.dataset.label || radio.value,
  }));
}

// A key that the button reads already needs no second print.
function print(root, value, key, label) {
  for (const place of root.querySelectorAll(`[data-key-of="${CSS.escape(value)}"]`)) {
    place.textContent = key.toUpperCase();
    place.hidden = key === label;
  }
}

function offer(engine, form, choices, own, bind) {
  const template = form.querySelector("template");
  const problem = form.querySelector("[role=alert]");
  const fields = choices.map((choice) => field(template, choice));
  form.querySelector(".own-keys").replaceChildren(...fields);
  const inputs = fields.map((place) => place.querySelector("input"));
  const show = () => inputs.forEach((input, n) => (input.value = (own()[choices[n].value] ?? choices[n].key).toUpperCase()));
  show();
  form.hidden = false;
  form.addEventListener("input", () => {
    const keys = inputs.map((input) => input.value.trim().toLowerCase());
    const isGood = keys.every((key, n) => key.length === 1 && !TAKEN.includes(key) && keys.indexOf(key) === n);
    problem.textContent = isGood ? "" : engine.texts.keysTaken;
    if (!isGood) return;
    engine.preferences.setKeys(engine.config.protocol, Object.fromEntries(choices.map(({ value }, n) => [value, keys[n]])));
    bind();
  });
  form.querySelector("[data-usual]").addEventListener("click", () => {
    engine.preferences.setKeys(engine.config.protocol, {});
    problem.textContent = "";
    bind();
    show();
  });
}

function field(template, { label }) {
  const place = template.content.firstElementChild.cloneNode(true);
  place.querySelector("span").textContent = label;
  place.querySelector("input").addEventListener("focus", (event) => event.target.select());
  return place;
}
