// Measures, one part after another, each in a process of its own: npm run bench [-- part [arguments of the part …]]
import { spawnSync } from "node:child_process";
import { nodeFlagsFor } from "../bin/node-flags.mjs";

/** With what node needs for it. */
const parts = {
  store: ["--expose-gc"],
  http: [],
  packing: [],
  turn: ["--expose-gc"],
  simulation: nodeFlagsFor("simulate"),
  controller: [],
  repair: [],
  "health-check": [],
  provisioning: [],
  disruption: [],
};

const [part, ...rest] = process.argv.slice(2);
if (part !== undefined && !(part in parts)) {
  console.error(`bench: there is no part ${part}; there are ${Object.keys(parts).join(", ")}`);
  process.exit(2);
}
for (const name of part === undefined ? Object.keys(parts) : [part]) {
  console.log(`\n── ${name}`);
  const args = ["scripts/run.mjs", ...parts[name], `bench/${name}.ts`, ...rest];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
