// The manifests that a page shows, and what `fettle validate` says of them.

import { run } from "../src/cli/program.ts";

export type Example = { readonly title: string; readonly text: string };

/** Those whose first line is a comment: that is their title. */
export function examplesOn(page: string): Example[] {
  return [...page.matchAll(/^```yaml\n(#[^\n]*)\n([^]*?)^```/gm)].map(([, title = "", text = ""]) => ({ title, text }));
}

export async function validated({ text }: Example): Promise<{ exitCode: number; said: string }> {
  const said: string[] = [];
  const io = {
    out: (line: string) => void said.push(line),
    err: (line: string) => void said.push(line),
    stdin: async () => Buffer.from(text),
    colour: false,
    env: {},
    signal: new AbortController().signal,
  };
  return { exitCode: await run(["validate", "-"], io, "0"), said: said.join("") };
}
