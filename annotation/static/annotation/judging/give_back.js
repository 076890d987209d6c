// A task that was given back doesn't come again: with answers in it, the page asks once more.
export function giveBack(engine) {
  const form = document.getElementById("release");
  const dialog = document.getElementById("give-back");
  if (!form || !dialog) return;
  form.addEventListener("submit", (event) => {
    if (!engine.answers.size || dialog.open) return;
    event.preventDefault();
    dialog.showModal();
  });
}
