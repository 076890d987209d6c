// The admin's page: annotators' SCUs side by side, and the final list in the making.
import { Editor } from "./editor.js";
import { FormStore } from "./form_store.js";

const config = JSON.parse(document.getElementById("scu-config").textContent);
const input = document.getElementById("plain-units").querySelector("textarea");
const token = () => document.querySelector("[name=csrfmiddlewaretoken]").value;
document.getElementById("plain-units").hidden = true;
document.getElementById("editor").hidden = false;
const store = new FormStore(input, document.getElementById("live"));
const editor = new Editor(store, { ...config, token });

for (const button of document.querySelectorAll("[data-take]")) {
  button.hidden = false;
  button.addEventListener("click", () => editor.add(JSON.parse(button.dataset.take)));
}
