import { existsSync, statSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Agent, request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Io } from "./io.ts";
import { run } from "./program.ts";

type Kubeconfig = {
  clusters: { cluster: { server: string; "certificate-authority-data": string } }[];
  users: { user: { token: string } }[];
};

/** A command in progress: what it has said so far, and the wait for the line that ends its announcement. */
function running(...args: string[]) {
  const ending = new AbortController();
  let said = "";
  let errors = "";
  let announced = () => {};
  const ready = new Promise<void>(resolve => (announced = resolve));
  const io: Io = {
    out: text => {
      said += text;
      if (said.includes("Ctrl-C")) announced();
    },
    err: text => (errors += text),
    stdin: async () => new Uint8Array(),
    colour: false,
    env: {},
    signal: ending.signal,
  };
  const code = run(["cluster", ...args], io, "0.0.0");
  return { code, ready, end: () => ending.abort(), said: () => said, errors: () => errors };
}

const kubeconfigPath = (said: string) => /^Its kubeconfig: (.*)$/m.exec(said)?.[1] ?? "";

async function get(path: string, kubeconfig: string) {
  const { clusters, users } = parse(kubeconfig) as Kubeconfig;
  const { server, "certificate-authority-data": ca } = clusters[0]!.cluster;
  const dispatcher = new Agent({ connect: { ca: Buffer.from(ca, "base64") } });
  const headers = { authorization: `Bearer ${users[0]!.user.token}` };
  const { body } = await request(`${server}${path}`, { headers, dispatcher });
  const answer = (await body.json()) as { items: { metadata: { name: string } }[] };
  await dispatcher.close();
  return answer.items.map(item => item.metadata.name);
}

describe("fettle cluster", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fettle-test-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test("serves Fettle's kinds and the usual namespaces, and leaves nothing behind", async () => {
    const command = running();
    await command.ready;
    const path = kubeconfigPath(command.said());
    expect(command.said()).toContain(`Try: kubectl --kubeconfig ${path} explain nodepool.spec.repair`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const kubeconfig = await readFile(path, "utf8");
    expect(await get("/api/v1/namespaces", kubeconfig)).toEqual([
      "default",
      "kube-node-lease",
      "kube-public",
      "kube-system",
    ]);
    const definitions = await get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kubeconfig);
    expect(definitions).toContain("nodepools.karpenter.sh");
    expect(await get("/apis/karpenter.sh/v1/nodepools", kubeconfig)).toEqual([]);

    command.end();
    expect(await command.code).toBe(0);
    expect(existsSync(dirname(path))).toBe(false);
    expect(command.errors()).toBe("");
  });

  test("a kubeconfig that was asked for stays, readable by its owner alone", async () => {
    const path = join(folder, "kubeconfig");
    await writeFile(path, "", { mode: 0o644 });
    // The second start finds the file of the first.
    for (let start = 1; start <= 2; start++) {
      const command = running("--kubeconfig", path);
      await command.ready;
      command.end();
      expect(await command.code).toBe(0);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
    expect(await readFile(path, "utf8")).toContain("current-context: fettle");
  });

  test("a port that is taken: one sentence, exit 1", async () => {
    const other = createServer();
    await new Promise<void>(resolve => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    const command = running("--port", String(port));
    expect(await command.code).toBe(1);
    expect(command.errors()).toBe(
      `fettle: port ${port} is taken: choose another with --port, or leave it out for any free one\n`,
    );
    await new Promise(resolve => other.close(resolve));
  });

  test("a file of somebody else is not replaced", async () => {
    const path = join(folder, "mine");
    await writeFile(path, "apiVersion: v1\nkind: Config\n");
    const command = running("--kubeconfig", path);
    expect(await command.code).toBe(1);
    expect(command.errors()).toMatch(
      /mine exists and was not written by fettle cluster: name another file, or remove it/,
    );
    expect(await readFile(path, "utf8")).toBe("apiVersion: v1\nkind: Config\n");
  });

  test("a kubeconfig that cannot be written: one sentence, exit 1, and the port is free again", async () => {
    const command = running("--kubeconfig", join(folder, "absent", "kubeconfig"));
    expect(await command.code).toBe(1);
    expect(command.errors()).toMatch(/^fettle: cannot write the kubeconfig .*: there is no such file or directory\n$/);
  });

  test.each(["x", "-1", "65536", "1.5"])("--port %s makes no sense: exit 2", async port => {
    const command = running(`--port=${port}`);
    expect(await command.code).toBe(2);
    expect(command.errors()).toContain("a number from 0 to 65535");
  });
});
