// How a text will look, while it is being written. The server renders it, so that the preview is what workers get.

const WAIT = 400;

function csrfToken(form) {
  return form.querySelector("[name=csrfmiddlewaretoken]").value;
}

async function show(section, textarea, preview) {
  const body = new FormData();
  body.set("body", textarea.value);
  try {
    const answer = await fetch(section.dataset.preview, {
      method: "POST",
      body,
      headers: { "X-CSRFToken": csrfToken(textarea.form) },
    });
    if (answer.ok) preview.innerHTML = await answer.text(); // made safe by annotation/common/markdown.py
  } catch {
    // The preview waits for the next change; the text itself is in the form.
  }
}

for (const section of document.querySelectorAll("[data-preview]")) {
  const textarea = section.querySelector("textarea");
  const preview = section.querySelector(".preview");
  let timer = 0;
  textarea.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => show(section, textarea, preview), WAIT);
  });
}

// A text that was changed is not left behind without a question, be it for another page or for its neighbour's form.
const texts = [...document.querySelectorAll("[data-preview] textarea")];
let sent = null;

addEventListener("submit", (event) => {
  sent = event.target;
});
addEventListener("beforeunload", (event) => {
  if (texts.some((text) => text.form !== sent && text.value !== text.defaultValue)) event.preventDefault();
  sent = null;
});
