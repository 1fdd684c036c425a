// Less work beside the thread that does it: V8's optimizing compilers are asked for hot code only, and garbage is collected
// by one thread. By default both took a third of the processor time of a simulated day of 100 nodes, and of a controller
// that makes its first 150 nodes; most of what was compiled was never used long enough.

import { setFlagsFromString } from "node:v8";

/** `brief`: for commands that are over in seconds; `lasting`: for one that runs for long, with bursts of work. */
type Run = "brief" | "lasting";

/** Up to V8 11 (Node 20): after how many bytes of bytecode a function is optimized; its own default is 66 KiB. */
const afterBytes = { brief: ["--interrupt-budget=1000000"], lasting: ["--interrupt-budget=400000"] };

/** Since V8 12 (Node 22): after how many calls it goes to which compiler; V8's own defaults are 400 and 3,000. */
const afterCalls = {
  brief: ["--invocation-count-for-maglev=1000", "--invocation-count-for-turbofan=10000"],
  lasting: ["--invocation-count-for-maglev=4000", "--invocation-count-for-turbofan=30000"],
};

/** Where a process lasts: garbage by one thread. */
const lean = ["--no-parallel-scavenge"];

export function compileLess(run: Run): void {
  for (const flag of flagsFor(run, process.versions.v8)) setFlagsFromString(flag);
}

/** V8 says so on the terminal where it does not know a flag. */
export function flagsFor(run: Run, v8: string): readonly string[] {
  const hot = Number.parseInt(v8, 10) < 12 ? afterBytes : afterCalls;
  return run === "lasting" ? [...hot[run], ...lean] : hot[run];
}
