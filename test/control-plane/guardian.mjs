// Owns the processes and the directory of one control plane, and outlives nothing: when its standard input ends,
// because its parent asked or died in any way, it kills them all and removes the directory.
// In: one JSON line a program, {name, file, args, log}. Out: {name, code} when one ends by itself.
// argv: the directory to remove. Plain JavaScript, because Node 20 runs it without a build step.

import { spawn } from "node:child_process";
import { openSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";

const directory = process.argv[2];
const running = new Set();
let ending = false;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, end);
process.stdout.on("error", () => {}); // The parent is gone; the end of standard input says so as well.

createInterface({ input: process.stdin })
  .on("line", line => start(JSON.parse(line)))
  .on("close", end);

function start({ name, file, args, log }) {
  const output = openSync(log, "a");
  const child = spawn(file, args, { stdio: ["ignore", output, output], cwd: directory });
  const ended = code => {
    running.delete(child);
    if (ending) finish();
    else process.stdout.write(`${JSON.stringify({ name, code })}\n`);
  };
  running.add(child);
  child.on("error", () => ended(-1));
  child.on("exit", code => ended(code ?? -1));
}

// No grace: nothing that these processes hold is worth keeping, and an API server without etcd takes a minute to go.
function end() {
  if (ending) return;
  ending = true;
  for (const child of running) child.kill("SIGKILL");
  finish();
}

function finish() {
  if (running.size > 0) return;
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}
