// Less work beside the thread that does it: V8's optimizing compiler is asked for hot code only, and garbage is collected by
// one thread. By default both took a third of the processor time of a simulated day of 100 nodes, and of a controller that
// makes its first 150 nodes; most of what was compiled was never used long enough.

import { setFlagsFromString } from "node:v8";

/** How many bytes of bytecode a function runs before it is optimized; V8's own default is 66 KiB. */
const optimizeAfterBytes = { brief: 1_000_000, lasting: 400_000 } as const;

/** `brief`: for commands that are over in seconds; `lasting`: for one that runs for long, with bursts of work. */
export function compileLess(run: keyof typeof optimizeAfterBytes): void {
  setFlagsFromString(`--interrupt-budget=${optimizeAfterBytes[run]}`);
  if (run === "lasting") setFlagsFromString("--no-parallel-scavenge");
}
