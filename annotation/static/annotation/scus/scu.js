// The SCU extraction page of an annotator.
import { startEngine } from "../judging/engine.js";
import { run } from "../judging/running.js";
import { tools } from "../judging/tools.js";
import { DraftUnits } from "./draft_units.js";
import { Editor } from "./editor.js";

export function start(root) {
  const engine = startEngine(root);
  const config = JSON.parse(root.querySelector("#scu-config").textContent);
  root.querySelector("#plain-units").hidden = true;
  root.querySelector("#editor").hidden = false;
  const adviceUrl = engine.config.urls.advice;
  const units = new DraftUnits(engine, config.field);
  const editor = new Editor(units, { ...config, adviceUrl, token: () => engine.transport.token() });
  engine.attention.at(config.field);
  engine.on("submit", () => refusal(units.units, config));
  tools(engine);
  begin(engine, editor);
  return engine;
}

// A sentence that holds a submit back, if anything does.
function refusal(units, { texts, most }) {
  const written = units.filter(({ text }) => text.trim());
  if (!written.length) return texts.noneYet;
  return written.length > most ? texts.full.replace("{most}", most) : null;
}

// Everything by keyboard: the first word has the focus, unless there is a draft to go on with.
function begin(engine, editor) {
  if (engine.preview) editor.switchOff();
  else if (!editor.units.length) editor.picker.focus();
  else editor.focus(editor.units.length - 1);
}

run(start);
