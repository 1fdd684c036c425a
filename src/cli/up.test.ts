import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { checkScenario } from "../sim/simulation/scenario.ts";
import type { Io } from "./io.ts";
import { run } from "./program.ts";

const root = join(import.meta.dirname, "../..");
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fettle-up-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** The command in progress; `said` waits for a text in what it prints. */
function running(...args: string[]) {
  const ending = new AbortController();
  const waiting = new Map<string, () => void>();
  let out = "";
  let errors = "";
  const io: Io = {
    out: text => {
      out += text;
      for (const [wanted, found] of waiting) if (out.includes(wanted)) found();
    },
    err: text => (errors += text),
    stdin: async () => new Uint8Array(),
    colour: false,
    env: {},
    signal: ending.signal,
  };
  const code = run(["up", ...args], io, "0.0.0");
  return {
    code,
    said: (text: string) =>
      new Promise<void>(resolve => {
        if (out.includes(text)) resolve();
        else waiting.set(text, resolve);
      }),
    end: () => ending.abort(),
    out: () => out,
    errors: () => errors,
  };
}

async function story(timeline: string): Promise<string> {
  const file = join(folder, "story.yaml");
  const pool = "{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: web }, spec: { replicas: 2 } }";
  await writeFile(file, `title: Two nodes\nuntil: 5m\ncluster:\n  manifests: [${pool}]\ntimeline:\n${timeline}`);
  return file;
}

test("a story is told as it happens, and nothing is left behind", async () => {
  const file = await story(
    "  - at: 2m\n    note: Somebody has enough.\n    do: { delete: { kind: NodeClaim, selector: karpenter.sh/nodepool=web, count: 1 } }\n",
  );
  const up = running("--speed", "60", "--story", file);
  await up.said("leaving (Deletion)");
  await up.said(": gone.");
  up.end();
  expect(await up.code).toBe(0);
  expect(up.errors()).toBe("");
  const path = /^Its kubeconfig: (.*)$/m.exec(up.out())?.[1] ?? "";
  expect(path).not.toBe("");
  expect(existsSync(dirname(path))).toBe(false);
  expect(up.out()).toMatch(/asked for\. Pool web wants 2 nodes \(spec\.replicas\) and lacks 2\./);
  expect(up.out()).toMatch(
    /\+00:02:\d\d {2}▶ Somebody has enough\.\n\+00:02:\d\d {2}▶ Somebody deletes NodeClaim\/web-/,
  );
});

test("planned disruption takes part", async () => {
  const file = join(folder, "disruption.yaml");
  const head = "title: One too many\nuntil: 5m\n";
  const pool = "{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: web }, spec: {} }";
  const claim = `{ apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: idle, labels: { karpenter.sh/nodepool: web } }, spec: { nodeClassRef: { group: fettle.dev, kind: SimulatedNodeClass, name: default }, requirements: [] } }`;
  await writeFile(file, `${head}cluster:\n  manifests: [${pool}, ${claim}]\n`);
  const up = running("--speed", "60", "--story", file);
  await up.said("leaving (Emptiness)");
  up.end();
  expect(await up.code).toBe(0);
});

test("the story that comes with it is one that it can play", async () => {
  const checked = checkScenario(parse(await readFile(join(root, "scenarios/story.yaml"), "utf8")));
  expect(checked.ok && checked.scenario.timeline?.every(({ note = "x", do: act }) => note !== "" && !act.crash)).toBe(
    true,
  );
});

test.each([
  ["  - { at: 1m, do: { crash: {} } }\n", 'the story has "crash" at 1m, which only fettle simulate can play'],
  [
    "  - { at: 1m, every: 1m, do: { cordon: { kind: Node, name: a } } }\n",
    'the story has "every" at 1m, which only fettle simulate can play',
  ],
])("what only a simulation can do is refused: exit 2", async (timeline, sentence) => {
  const up = running("--story", await story(timeline));
  expect(await up.code).toBe(2);
  expect(up.errors()).toBe(`fettle: ${sentence}\n`);
});

test.each(["0", "121", "fast"])("--speed %s makes no sense: exit 2", async speed => {
  const up = running("--speed", speed);
  expect(await up.code).toBe(2);
  expect(up.errors()).toContain("it must be from 1 to 120.");
});
