import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { variableOf } from "./environment.ts";
import type { Io } from "./io.ts";
import { run } from "./program.ts";
import { runCommand } from "./run.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fettle-run-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function start(args: readonly string[], env: Io["env"] = {}) {
  const printed = { out: "", err: "" };
  const io: Io = {
    out: text => void (printed.out += text),
    err: text => void (printed.err += text),
    stdin: async () => new Uint8Array(),
    colour: false,
    env,
    signal: new AbortController().signal,
  };
  const code = await run(["run", ...args], io, "0");
  return { code, ...printed };
}

test("--help explains every flag and its twin", async () => {
  const { code, out } = await start(["--help"]);
  expect(code).toBe(0);
  const { options } = runCommand({} as Io, "0");
  for (const { long, description } of options) {
    expect(out).toContain(long);
    expect(description).not.toBe("");
  }
  expect(out).toContain("--log-level is FETTLE_LOG_LEVEL");
  expect(out).toContain("(default: 15s)");
  expect(new Set(options.map(variableOf)).size).toBe(options.length);
});

test("without a cluster it does not guess: exit 2", async () => {
  expect(await start([])).toMatchObject({
    code: 2,
    err: "fettle: which cluster? Name its kubeconfig with --kubeconfig, or set KUBECONFIG\n",
  });
});

test("a lease that cannot work is refused before anything is opened: exit 2", async () => {
  const args = ["--leader-elect-lease-duration=10s", "--leader-elect-renew-deadline=10s"];
  const { code, err } = await start(args);
  expect(code).toBe(2);
  expect(err).toBe(
    "fettle: --leader-elect-lease-duration must be whole seconds, longer than the renew deadline, which is longer than the retry period\n",
  );
});

test.each(["repair", "*,-ledger"])("--controllers=%s would begin what nobody ends: exit 2", async names => {
  const { code, err } = await start([`--controllers=${names}`]);
  expect(code).toBe(2);
  expect(err).toMatch(/^fettle: --controllers has \w+ and not ledger: [^\n]*; name ledger, too\n$/);
  expect((await start(["--controllers=repair,ledger"])).err).toMatch(/^fettle: which cluster\?/);
});

test("a cluster without a name that can be a label would own nothing: exit 2", async () => {
  const { code, err } = await start(["--cluster-name="]);
  expect([code, err]).toEqual([2, expect.stringMatching(/^fettle: --cluster-name=: it must be up to 63 letters/)]);
});

test("a catalogue is of no use to a provider without machines: exit 2", async () => {
  const { code, err } = await start(["--instance-types", "types.yaml"]);
  expect(code).toBe(2);
  expect(err).toBe("fettle: --instance-types needs --provider=simulated: no other provider has a catalogue\n");
});

test("who waits for more pods longer than pods wait at most would never be waited for: exit 2", async () => {
  const { code, err } = await start(["--batch-idle-duration", "11s"]);
  expect([code, err]).toEqual([2, "fettle: --batch-idle-duration must not be longer than --batch-max-duration\n"]);
});

test("a variable is as good as a flag, and named when it makes no sense", async () => {
  expect((await start([], { FETTLE_CONTROLLERS: "*,-nothing" })).err).toMatch(
    /^fettle: FETTLE_CONTROLLERS=\*,-nothing: there is no controller "nothing"/,
  );
  const { err } = await start([], { FETTLE_KUBECONFIG: join(folder, "absent") });
  expect(err).toMatch(/^fettle: cannot read the kubeconfig .*absent/);
});

test("a cluster that cannot be reached: one sentence, exit 1", async () => {
  const path = join(folder, "kubeconfig");
  const cluster = '{ name: x, cluster: { server: "http://127.0.0.1:1" } }';
  const context = "{ name: x, context: { cluster: x } }";
  await writeFile(path, `clusters: [${cluster}]\ncontexts: [${context}]\ncurrent-context: x\n`);
  const { code, err } = await start(["--kubeconfig", path]);
  expect(code).toBe(1);
  expect(err).toMatch(
    /^fettle: cannot reach the API server http:\/\/127\.0\.0\.1:1 \(context "x" of .*ECONNREFUSED.*Is it up,/,
  );
});

test.each([
  ["- { name: a", /is not valid YAML/],
  [
    "- { name: a }",
    /the file of --instance-types, .*types.yaml, cannot be used: entry 1, capacity: Required value; it must be a list as under/,
  ],
  ["a: b", /is no list; it must be a list as under spec.instanceTypes of a SimulatedNodeClass, such as/],
])("--instance-types %j: one sentence, exit 1", async (text, sentence) => {
  const file = join(folder, "types.yaml");
  await writeFile(file, text);
  const { code, err } = await start(["--provider=simulated", "--instance-types", file]);
  expect(code).toBe(1);
  expect(err).toMatch(sentence);
  expect(err.split("\n")).toHaveLength(2);
});
