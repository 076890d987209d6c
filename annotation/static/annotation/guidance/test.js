// The qualification test: what is ticked is a draft, here and on the server, until the test is handed in.
import { startEngine } from "../judging/engine.js";

const engine = startEngine(document.getElementById("main"));
const form = document.getElementById("practice");
const inputs = [...form.querySelectorAll("input[type=radio]")];
const fieldOf = (input) => input.name.replace("answer:", "");

function show() {
  for (const input of inputs) {
    const content = engine.get(fieldOf(input));
    if (content) input.checked = input.value === String(content.value ?? "");
  }
}

show();
engine.on("remote", show);
form.addEventListener("change", (event) => engine.set(fieldOf(event.target), { value: event.target.value }));
