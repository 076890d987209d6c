// The help dialog: opened by its button or by "?" (keyboard.js), closed by Escape or its own button.
export function help() {
  const dialog = document.getElementById("help");
  for (const button of document.querySelectorAll("[data-help]")) {
    button.hidden = false;
    button.addEventListener("click", () => dialog?.showModal());
  }
}
