// Folding a text away: its button says what it will do.
export function folds(engine) {
  for (const button of document.querySelectorAll("[data-fold]")) {
    const target = document.getElementById(button.dataset.fold);
    button.hidden = false;
    button.addEventListener("click", () => fold(button, target, engine));
  }
}

export function fold(button, target, engine, folded = !target.classList.contains("folded")) {
  target.classList.toggle("folded", folded);
  button.setAttribute("aria-expanded", String(!folded));
  button.querySelector("span").textContent = folded ? engine.texts.unfold : engine.texts.fold;
}
