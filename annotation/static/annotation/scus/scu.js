// The SCU extraction page of an annotator.
import { start } from "../judging/engine.js";
import { folds } from "../judging/folds.js";
import { help } from "../judging/help.js";
import { Editor } from "./editor.js";
import { read } from "./units.js";

const engine = start();
const config = JSON.parse(document.getElementById("scu-config").textContent);
document.getElementById("plain-units").hidden = true;
document.getElementById("editor").hidden = false;
const adviceUrl = engine.config.urls.advice;
const editor = new Editor(engine, { ...config, adviceUrl, token: () => engine.transport.token() });
engine.attention.at(config.field);
engine.on("submit", () => {
  const units = read(engine.get(config.field)?.value ?? "").filter(({ text }) => text.trim());
  if (!units.length) return config.texts.noneYet;
  return units.length > config.most ? config.texts.full.replace("{most}", config.most) : null;
});
help();
folds(engine);
// Everything by keyboard: the first word has the focus, unless there is a draft to go on with.
if (engine.preview) editor.switchOff();
else if (!read(engine.get(config.field)?.value ?? "").length) editor.picker.focus();
else editor.focus(editor.units.length - 1);
