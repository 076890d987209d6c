// The task on this page. A protocol's script says how one is started; another can be put in its place without a new page.
import { NextTask } from "./next_task.js";

let begin = null;
let engine = null;

// `start(root)` starts the task inside `root` and gives its engine, whose stop() takes back every listener and timer.
export function run(start) {
  begin = start;
  return restart(document.getElementById("main"));
}

export function restart(root) {
  engine?.stop();
  engine = begin(root);
  new NextTask(engine, restart);
  return engine;
}
