// What node itself is told where a command does better so.

/** Whether this Node can put another program in its own place. */
export const replaces = process.execve !== undefined && process.platform !== "win32";

// A simulated day makes gigabytes of garbage that is dead within a second: with a young generation of its size a tenth less
// time goes by.
const large = ["--min-semi-space-size=64", "--max-semi-space-size=64"];

// Node 24 lets the young generation grow to 134 MB in the first list of a large cluster and keeps it: a controller of 5,000
// nodes and 150,000 pods held 455 MB so, and holds 340 to 370. In quiet hours it shrinks it to what is in use: a burst then
// began with twenty collections, on the cores that the API server wanted too. Node 20 has the first of these sizes by itself,
// and could only start a child.
const steady = replaces ? ["--min-semi-space-size=16", "--max-semi-space-size=16"] : [];

export function nodeFlagsFor(command) {
  if (command === "simulate") return large;
  return command === "run" ? steady : [];
}
