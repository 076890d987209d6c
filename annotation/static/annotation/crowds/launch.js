// The fields of the chosen market are shown and no others; a preset asks before it writes over what was typed.

const crowd = document.getElementById("crowd");
const form = document.getElementById("launch");

const showFields = () => {
  for (const part of document.querySelectorAll("[data-crowd]")) part.hidden = part.dataset.crowd !== crowd.value;
};

let isTyped = false;
form?.addEventListener("input", () => (isTyped = true));
crowd?.addEventListener("change", showFields);
if (crowd) showFields();

for (const preset of document.querySelectorAll("form[data-ask]")) {
  preset.addEventListener("submit", (event) => {
    const isFilled = isTyped || form?.elements.title?.value;
    if (isFilled && !window.confirm(preset.dataset.ask)) event.preventDefault();
  });
}
