// The process: hands its streams, signals and arguments to the program and leaves with its exit code.

import { readFileSync } from "node:fs";
import { isatty } from "node:tty";
import { type Io, systemSentence } from "./io.ts";
import { run } from "./program.ts";

/** Commands that never look at it are ended by a signal as any other program is. */
function endOnSignals(): AbortSignal {
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    // A second Ctrl-C means it: leave at once.
    process.on(signal, () => (ending.signal.aborted ? process.exit(130) : ending.abort()));
  }
  return ending.signal;
}
let signal: AbortSignal | undefined;

// `fettle crds | head` closes our output early; that is no error of ours. A full disk is one.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    unwritten = "";
    if (stream === process.stdout) process.stderr.write(`fettle: cannot print: ${systemSentence(error)}\n`);
    process.exit(1);
  });
}

// What is said in a row is written together: each write wakes who reads it, and a log of hundreds of lines in a second took
// as long as what it tells of.
const togetherMs = 50;
const unwrittenMax = 1 << 16;
let unwritten = "";
let writtenAt = Number.NEGATIVE_INFINITY;

function flush(): void {
  const text = unwritten;
  unwritten = "";
  if (text === "") return;
  writtenAt = performance.now();
  process.stdout.write(text);
}

function out(text: string): void {
  if (unwritten === "") setTimeout(flush, Math.max(writtenAt + togetherMs - performance.now(), 0));
  unwritten += text;
  if (unwritten.length > unwrittenMax) flush();
}
// For an end that comes at once; of what is written then a pipe takes only what it has room for.
process.on("exit", flush);

const io: Io = {
  out,
  err: text => {
    // In the order in which it was said.
    flush();
    process.stderr.write(text);
  },
  stdin: async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  },
  colour: isatty(1) && process.env["NO_COLOR"] === undefined,
  env: process.env,
  get signal() {
    signal ??= endOnSignals();
    return signal;
  },
};

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};
process.exitCode = await run(process.argv.slice(2), io, version);
