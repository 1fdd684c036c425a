import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Io } from "./io.ts";
import { run } from "./program.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fettle-simulate-"));
});
afterAll(() => rm(folder, { recursive: true }));

const scenario = (count: number) => `title: One claim
until: 5m
cluster:
  manifests:
    - { apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: one }, spec: {} }
expect:
  - count: { kind: Node, is: ${count} }
`;

async function simulate(text: string, ...args: string[]) {
  const file = join(folder, "scenario.yaml");
  await writeFile(file, text);
  const printed = { out: "", err: "" };
  const io = {
    out: (part: string) => (printed.out += part),
    err: (part: string) => (printed.err += part),
    colour: false,
    env: {},
  };
  const code = await run(["simulate", file, ...args], io as unknown as Io, "0");
  return { code, file, ...printed };
}

test("prints the journal and that all held", async () => {
  const { code, out } = await simulate(scenario(1));
  expect(code).toBe(0);
  expect(out).toMatch(/^One claim\nseed 1\n\n\+00:00:00 {2}/);
  expect(out).toMatch(/claim\/one {2}launch-instance {2}done: Claim one has no instance\.\n/);
  expect(out.endsWith("\n\nAll held.\n")).toBe(true);
});

test("what did not hold is said last, and the answer is no", async () => {
  const { code, out, err } = await simulate(scenario(7));
  expect(code).toBe(1);
  expect(out).toMatch(/\nFailed: \+00:05:00 expected 7, found 1: [^\n]*\n$/);
  expect(err).toBe("");
});

test("--until and --seed go before the scenario's own, and one seed is one journal", async () => {
  const short = await simulate(scenario(0), "--until", "1s", "--seed", "7");
  expect(short).toMatchObject({ code: 0 });
  expect(short.out).toContain("\nseed 7\n");
  expect((await simulate(scenario(0), "--until", "1s", "--seed", "7")).out).toBe(short.out);
  expect((await simulate(scenario(0), "--until", "1s", "--seed", "8")).out).not.toBe(short.out);
});

test("a kind that nobody serves is told in a sentence, and all else is judged", async () => {
  const text = `${scenario(7)}  - { at: 1m, count: { kind: Nodez } }\n`;
  const { code, out } = await simulate(text);
  expect(code).toBe(1);
  expect(out).toMatch(
    /\nFailed: \+00:01:00 the cluster serves no kind Nodez\nFailed: \+00:05:00 expected 7, [^\n]*\n$/,
  );
});

test("what must hold after a shorter end was not judged, and so has not held", async () => {
  const text = `${scenario(1)}  - { at: 4m, unharmed: { kind: Node } }\n`;
  expect((await simulate(text)).code).toBe(0);
  const { code, out } = await simulate(text, "--until", "3m");
  expect(code).toBe(1);
  expect(out).toMatch(/\nFailed: \+00:03:00 what must hold at 4m was not judged: the run ends before\n$/);
});

test("a manifest that no server would take is a sentence with its line, of whatever kind it is", async () => {
  const pool = (size: number) =>
    `{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: web }, spec: { replicas: ${size} } }`;
  const ours = await simulate(`title: A pool\nuntil: 5m\ncluster:\n  manifests:\n    - ${pool(-1)}\n`);
  expect([ours.code, ours.err]).toEqual([
    2,
    expect.stringContaining(`${ours.file}:5: cluster.manifests[0].spec.replicas: `),
  ]);
  const later = await simulate(`title: A pool\nuntil: 5m\ntimeline:\n  - at: 1m\n    do: { apply: ${pool(-1)} }\n`);
  expect(later.err).toContain(`${later.file}:5: timeline[0].do.apply.spec.replicas: `);
  const other = "{ apiVersion: example.com/v1, kind: Omen, metadata: { name: a } }";
  const others = await simulate(`title: An omen\nuntil: 5m\nworkloads:\n  - ${other}\n`);
  expect([others.code, others.out]).toEqual([
    1,
    expect.stringMatching(
      /Failed: .*an object of the scenario is refused: the cluster serves no Omen of example.com\/v1\n$/,
    ),
  ]);
});

test("the same as JSON, for programs", async () => {
  const { code, out } = await simulate(scenario(1), "-o", "json");
  expect(code).toBe(0);
  const parsed = JSON.parse(out) as { entries: unknown[] };
  expect(parsed).toMatchObject({ title: "One claim", seed: 1, verdict: { ok: true, problems: [] } });
  expect(parsed.entries.length).toBeGreaterThan(5);
});

test("a scenario that makes no sense is refused by its line: exit 2", async () => {
  const { code, err, file } = await simulate("title: x\nuntil: 5m\nworkload: []\n");
  expect(code).toBe(2);
  expect(err).toBe(`fettle: ${file}:3: workload: there is no such field\n`);
});

test("a file that is not there: one sentence, exit 1", async () => {
  const printed = { err: "" };
  const io = { out: () => {}, err: (part: string) => (printed.err += part), env: {} };
  expect(await run(["simulate", join(folder, "absent.yaml")], io as unknown as Io, "0")).toBe(1);
  expect(printed.err).toMatch(
    /^fettle: cannot read the scenario .*absent\.yaml: there is no such file or directory\n$/,
  );
});
