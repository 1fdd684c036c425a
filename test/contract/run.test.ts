// The commands as people type them, each a process of its own: a cluster, its machines and the controller. What the
// controller does with nodes is told by the stories; here it is how it starts, answers and ends.

import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { nodeClaims } from "../../src/api/node-claim.ts";
import { formatMicroTime } from "../../src/api/time.ts";
import { clusterConfig } from "../../src/cli/kube-access.ts";
import { nodes } from "../../src/control/resources.ts";
import { type Connection, connect } from "../../src/kube/client.ts";
import { type Lease, LEASES } from "../../src/kube/lease.ts";
import { systemClock as clock } from "../../src/kube/system-clock.ts";
import { buildFettle, FettleProcess } from "../spine/fettle-process.ts";
import { processWorld, quickMachines } from "../spine/process-world.ts";

describe("fettle run", () => {
  let folder: string;
  let kubeconfig: string;
  let cluster: FettleProcess;
  let machines: FettleProcess;
  let api: Connection;
  let controller: FettleProcess | undefined;
  const account = () => controller?.lines ?? [];
  const until = <T>(what: string, look: () => Promise<T | undefined>) =>
    processWorld({ name: "the box", api, account, stop: async () => {}, waitMaxMs: 60_000 }).until(what, look);
  const said = (from: FettleProcess, text: string) =>
    until(`"${text}"`, async () => from.lines.find(line => line.includes(text)));
  const start = (...flags: string[]) => {
    controller = new FettleProcess("run", "--kubeconfig", kubeconfig, "--provider=simulated", ...flags);
    return controller;
  };

  beforeAll(async () => {
    await buildFettle();
    folder = await mkdtemp(join(tmpdir(), "fettle-run-"));
    kubeconfig = join(folder, "kubeconfig");
    cluster = new FettleProcess("cluster", "--kubeconfig", kubeconfig);
    await said(cluster, "Ctrl-C ends it.");
    api = connect(await clusterConfig({ kubeconfig }, {}), { clock });
    await quickMachines(api);
    machines = new FettleProcess("machines", "--kubeconfig", kubeconfig);
    await said(machines, "Playing the machines of https://127.0.0.1:");
  });
  afterEach(() => controller?.kill());
  afterAll(async () => {
    await machines?.stop();
    await cluster?.stop();
    await api?.close();
    await rm(folder, { recursive: true });
  });

  test("a claim becomes a node and is taken away; told to end, the process gives its lease back", async () => {
    const port = await freePort();
    const process = start(`--metrics-bind-address=127.0.0.1:${port}`);
    const get = async (path: string) => {
      const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`);
      return { code: statusCode, text: await body.text() };
    };
    await until("readiness", async () =>
      (await get("/readyz").catch(() => undefined))?.code === 200 ? true : undefined,
    );
    expect(await get("/healthz")).toEqual({ code: 200, text: "ok\n" });

    const { resource } = nodeClaims;
    const manifest = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name: "one" }, spec: {} };
    await api.create(resource, {}, manifest);
    // Nobody in this cluster takes the taints off a node that is Ready: it is registered, and that is as far as it gets.
    await until("the node", async () =>
      (await api.list(nodes)).items.find(({ metadata }) => metadata.labels?.["karpenter.sh/registered"] === "true"),
    );
    await api.delete(resource, { name: "one" });
    await until("its end", async () => ((await api.list(nodes)).items.length === 0 ? true : undefined));
    await until("the claim's end", async () => ((await api.list(resource)).items.length === 0 ? true : undefined));

    const metrics = (await get("/metrics")).text;
    for (const line of [
      "fettle_leader 1",
      'karpenter_nodes_created_total{nodepool=""} 1',
      'karpenter_nodes_terminated_total{nodepool=""} 1',
      'fettle_commands_total{kind="launch-instance",result="done"} 1',
    ]) {
      expect(metrics).toContain(line);
    }
    expect(metrics).toMatch(/^fettle_turn_duration_seconds_count [1-9]/m);

    expect(await process.stop()).toBe(0);
    const lease = await api.get<Lease>(LEASES, { name: "fettle", namespace: "kube-system" });
    expect(lease.spec?.holderIdentity).toBeUndefined();
    expect(JSON.parse(process.lines.at(-1) ?? "")).toMatchObject({ level: "info", message: "Stopped." });
  });

  test("beside another controller of the karpenter.sh kinds it only shows what it would do, until told otherwise", async () => {
    const key = { name: "karpenter-leader-election", namespace: "kube-system" };
    const spec = { holderIdentity: "karpenter-7", leaseDurationSeconds: 15, renewTime: formatMicroTime(clock.now()) };
    const manifest = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: key, spec };
    await api.create(LEASES, { namespace: key.namespace }, manifest);
    const { resource } = nodeClaims;
    const claim = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name: "two" }, spec: {} };

    const shy = start("--metrics-bind-address=0");
    await said(
      shy,
      "Another controller of the karpenter.sh kinds is alive (karpenter-7, lease in kube-system): dry run until it is gone",
    );
    await said(shy, '"event":"leading"');
    await api.create(resource, {}, claim);
    await said(shy, "Would update claim/two");
    expect((await api.get(resource, { name: "two" })).metadata.finalizers).toBeUndefined();
    expect(await shy.stop()).toBe(0);

    const bold = start("--metrics-bind-address=0", "--take-over", "--log-format=text");
    await said(bold, "acting beside it, as --take-over says");
    await until("its finalizer", async () => (await api.get(resource, { name: "two" })).metadata.finalizers);
    await api.delete(resource, { name: "two" });
    await until("the claim's end", async () => ((await api.list(resource)).items.length === 0 ? true : undefined));
    expect(await bold.stop()).toBe(0);
    await api.delete(LEASES, key);
  });

  test("an address that is taken ends it before it begins: one sentence, exit 1", async () => {
    const other = createServer();
    await new Promise<void>(resolve => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    const process = start(`--metrics-bind-address=127.0.0.1:${port}`);
    expect(await process.ended).toBe(1);
    expect(process.lines.at(-1)).toMatch(
      /^fettle: cannot serve metrics on port \d+: .*EADDRINUSE.*--metrics-bind-address/,
    );
    await new Promise(resolve => other.close(resolve));
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise(resolve => server.close(resolve));
  return port;
}
