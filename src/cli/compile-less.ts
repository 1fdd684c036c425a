// For commands that are over in seconds: V8's optimizing compiler is asked for the hottest code only. By default it took
// a third of the processor time of a simulated day of 100 nodes, and most of what it made was never used long enough.

import { setFlagsFromString } from "node:v8";

/** How many bytes of bytecode a function runs before it is optimized; V8's own default is 132 KiB. */
const optimizeAfterBytes = 1_000_000;

export function compileLess(): void {
  setFlagsFromString(`--interrupt-budget=${optimizeAfterBytes}`);
}
