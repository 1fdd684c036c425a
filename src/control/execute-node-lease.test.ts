import { beforeEach, describe, expect, test } from "vitest";
import { EmbeddedExecution, resources, targetOf } from "../../test/embedded-execution.ts";
import type { KubeObject } from "../api/meta.ts";
import type { Command } from "../decide/decision.ts";
import { leases, namespaces } from "./resources.ts";

type Lease = KubeObject & { spec?: Record<string, unknown> };
type Taking = Extract<Command, { kind: "take-node-lease" }>;

const lease = { name: "node-n", namespace: "medik8s-leases" };
const begun = "2026-01-01T00:00:00.000000Z";
const minuteLater = "2026-01-01T00:01:00.000000Z";

describe("the lease on a node", () => {
  let execution: EmbeddedExecution;
  let node: { name: string; uid: string };
  beforeEach(async () => {
    execution = new EmbeddedExecution();
    node = targetOf(await execution.create(resources.nodes, { metadata: { name: "n" } }));
    execution.writes.length = 0;
  });

  const taking = (more: Partial<Taking> = {}): Taking => {
    const holder = "NodeHealthCheck-web";
    return { kind: "take-node-lease", lease, node, holder, durationSeconds: 660, why: "", ...more };
  };
  const read = () => execution.settle(execution.server.get<Lease>(leases, lease).catch(() => undefined));
  const seen = () => execution.picture.checks.lease("n");
  const over = async () => {
    const { metadata } = (await read()) as Lease;
    return { uid: metadata.uid, resourceVersion: metadata.resourceVersion };
  };

  /** Somebody has it, and the picture does not know yet. */
  async function another(holderIdentity = "node-maintenance"): Promise<void> {
    await execution.execute(taking());
    const body = { spec: { holderIdentity } };
    await execution.settle(execution.server.patch(leases, lease, { type: "merge", body }));
    execution.writes.length = 0;
  }

  test("is taken, with its namespace where that is missing, and goes with its node", async () => {
    expect(await execution.execute(taking())).toEqual({ result: "done" });
    expect(execution.writes).toEqual(["create leases", "create namespaces", "create leases"]);
    expect(await read()).toMatchObject({
      metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: node.uid }] },
      spec: {
        holderIdentity: "NodeHealthCheck-web",
        leaseDurationSeconds: 660,
        acquireTime: begun,
        renewTime: begun,
      },
    });
    expect(seen()).toMatchObject({ holder: "NodeHealthCheck-web", durationMs: 660_000 });
  });

  test("is taken where another makes the namespace at the same time", async () => {
    execution.interfere = async call => {
      if (call !== "create namespaces") return;
      const { kind } = namespaces;
      await execution.server.create(namespaces, {}, { apiVersion: "v1", kind, metadata: { name: lease.namespace } });
    };
    expect(await execution.execute(taking())).toEqual({ result: "done" });
  });

  test("is not taken from whoever was quicker, and the picture learns who that is", async () => {
    await another();
    expect(await execution.execute(taking())).toEqual({ result: "stale" });
    expect(seen()?.holder).toBe("node-maintenance");
    expect((await read())?.spec?.["holderIdentity"]).toBe("node-maintenance");
  });

  test("is renewed over the version that was seen: since when it is held stays", async () => {
    await execution.execute(taking());
    await execution.clock.runFor(60_000);
    const renewal = taking({ over: await over(), durationSeconds: 360 });
    expect(await execution.execute(renewal)).toEqual({ result: "done" });
    expect((await read())?.spec).toMatchObject({
      acquireTime: begun,
      renewTime: minuteLater,
      leaseDurationSeconds: 360,
    });
    expect(seen()?.renewedAt).toBe(execution.clock.now());
    expect(await execution.execute(renewal)).toEqual({ result: "stale" });
  });

  test("is taken over with a time of its own", async () => {
    await execution.execute(taking({ holder: "NodeHealthCheck-gone" }));
    await execution.clock.runFor(60_000);
    expect(await execution.execute(taking({ over: await over() }))).toEqual({ result: "done" });
    expect((await read())?.spec).toMatchObject({ holderIdentity: "NodeHealthCheck-web", acquireTime: minuteLater });
  });

  test("is not renewed once it is gone", async () => {
    await execution.execute(taking());
    const seenVersion = await over();
    await execution.settle(execution.server.delete(leases, lease));
    expect(await execution.execute(taking({ over: seenVersion }))).toEqual({ result: "already-so" });
    expect(seen()).toBeUndefined();
  });

  describe("given back", () => {
    const giving = async (more = {}): Promise<Command> => {
      const { uid, resourceVersion } = { ...(await over()), ...more };
      return { kind: "release-node-lease", lease: { ...lease, uid }, resourceVersion, why: "" };
    };

    test("is gone, and twice is once", async () => {
      await execution.execute(taking());
      const command = await giving();
      expect(await execution.execute(command)).toEqual({ result: "done" });
      expect([await read(), seen()]).toEqual([undefined, undefined]);
      expect(await execution.execute(command)).toEqual({ result: "already-so" });
    });

    test("stays where somebody has written it since", async () => {
      await execution.execute(taking());
      const command = await giving();
      await another();
      expect(await execution.execute(command)).toEqual({ result: "stale" });
      expect((await read())?.spec?.["holderIdentity"]).toBe("node-maintenance");
    });
  });
});
