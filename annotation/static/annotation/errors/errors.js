// The page of marked errors: words of the summary, what is wrong with them, and the whole from 0 to 100.
import { startEngine } from "../judging/engine.js";
import { run } from "../judging/running.js";
import { tools } from "../judging/tools.js";
import { DraftMarks } from "./draft_marks.js";
import { Editor } from "./editor.js";
import { Overall } from "./overall.js";

export function start(root) {
  const engine = startEngine(root);
  const config = JSON.parse(root.querySelector("#errors-config").textContent);
  const plain = root.querySelector("#plain-errors");
  plain.hidden = true;
  for (const id of ["marking", "marked"]) root.querySelector(`#${id}`).hidden = false;
  const field = plain.querySelector("[data-field]").dataset.field;
  const editor = new Editor(engine, new DraftMarks(engine), config);
  const overall = config.overall ? new Overall(engine, config.overall, config.errorTexts, field) : null;
  engine.attention.at(field); // time counts for the marks as a whole
  engine.on("submit", () => editor.holdBack() ?? overall?.holdBack() ?? null);
  const show = () => engine.status.stillMissing(editor.problem() ?? overall?.problem() ?? null);
  engine.on("change", show);
  engine.on("remote", show);
  tools(engine);
  return engine;
}

run(start);
