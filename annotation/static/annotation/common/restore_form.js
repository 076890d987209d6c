// What was typed is there again when the session had ended, or the page was too old, as the form was sent.

const KEY = "typed";
const FIELDS = "textarea, select, input:not([type=hidden], [type=password], [type=file])";
const page = location.pathname + location.search;
const who = document.querySelector(".account a")?.textContent;
const between = document.querySelector("[data-between]"); // the sign-in, or the page that says it was too old
const fieldsOf = (form) => [...form.querySelectorAll(FIELDS)];

function bringBack(typed) {
  const form = document.forms[typed.form];
  const fields = form ? fieldsOf(form) : [];
  if (fields.map((field) => field.name).join() !== typed.names) return;
  fields.forEach((field, place) => {
    const [value, checked] = typed.values[place];
    field.value = value;
    field.checked = checked;
  });
  const note = document.createElement("div");
  note.className = "banner";
  note.tabIndex = -1;
  note.textContent = document.querySelector("[data-kept]").dataset.kept;
  form.prepend(note);
  note.focus();
  fields[0]?.dispatchEvent(new Event("input", { bubbles: true }));
}

function lookBack() {
  const typed = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  if (!typed) return;
  if (between) {
    sessionStorage.setItem(KEY, JSON.stringify({ ...typed, lost: true }));
    if (between.elements?.next) between.elements.next.value = typed.page;
    return;
  }
  sessionStorage.removeItem(KEY);
  if (typed.lost && typed.page === page && typed.who === who) bringBack(typed);
}

if (who || between) addEventListener("load", lookBack); // by then the scripts of the page listen
if (who) {
  addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post") return;
    const fields = fieldsOf(form);
    const names = fields.map((field) => field.name).join();
    const values = fields.map((field) => [field.value, field.checked]);
    const typed = { page, who, form: [...document.forms].indexOf(form), names, values };
    if (names) sessionStorage.setItem(KEY, JSON.stringify(typed));
  });
}
