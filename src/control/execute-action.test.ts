import { describe, expect, test } from "vitest";
import { EmbeddedExecution, resources, targetOf } from "../../test/embedded-execution.ts";
import type { KubeObject } from "../api/meta.ts";
import type { NodeAction, NodeActionSpec } from "../api/node-action.ts";
import type { NodeClaim } from "../api/node-claim.ts";
import type { Command } from "../decide/decision.ts";
import { unstamped } from "../decide/ledger.ts";
import { leases } from "./resources.ts";

type Action = NodeAction & KubeObject;
type Claim = NodeClaim & KubeObject;
const { actions, claims, nodes } = resources;
const time = "2026-01-01T00:00:00Z";

const aSpec = (more: Partial<NodeActionSpec> = {}): NodeActionSpec => ({
  node: { name: "n", uid: "n-uid" },
  action: "Repair",
  method: "Terminate",
  askedBy: { kind: "NodePool", name: "p" },
  message: "sick",
  evidence: [
    {
      kind: "Condition",
      conditionType: "Ready",
      conditionStatus: "False",
      toleration: "30m",
      since: time,
      seenAt: unstamped,
    },
  ],
  decidedAt: unstamped,
  epoch: 1,
  ...more,
});
const opening = (spec = aSpec(), phase: "Pending" | "DryRun" = "Pending"): Command => ({
  kind: "open-action",
  name: "repair-n",
  spec,
  phase,
  why: "",
});
const read = async (execution: EmbeddedExecution) => (await execution.get<Action>(actions, "repair-n")) as Action;

describe("open-action", () => {
  test("is one write, with the times that the decision left open", async () => {
    const execution = new EmbeddedExecution();
    expect(await execution.execute(opening())).toEqual({ result: "done" });
    expect(execution.writes).toEqual(["create nodeactions"]);
    expect(await read(execution)).toMatchObject({ spec: { decidedAt: time, evidence: [{ seenAt: time }] } });
    expect(execution.picture.openActionOn("n-uid")?.name).toBe("repair-n");
  });

  test("sent twice is one entry", async () => {
    const execution = new EmbeddedExecution();
    await execution.execute(opening());
    execution.writes.length = 0;
    expect(await execution.execute(opening())).toEqual({ result: "already-so" });
    expect(execution.writes).toEqual(["create nodeactions"]);
  });

  test("of a dry run says so in its phase; cut in between, the second time does", async () => {
    const execution = new EmbeddedExecution();
    const shown = opening(aSpec({ dryRun: true }), "DryRun");
    execution.interfere = call => {
      if (call === "patch-status nodeactions") throw new Error("killed");
    };
    expect(await execution.execute(shown)).toMatchObject({ result: "retry", unknown: true });
    expect(execution.picture.openActionOn("n-uid")).toBeUndefined();
    execution.interfere = () => {};
    execution.writes.length = 0;
    expect(await execution.execute(shown)).toEqual({ result: "already-so" });
    expect(execution.writes).toEqual(["create nodeactions", "patch-status nodeactions"]);
    expect((await read(execution)).status?.phase).toBe("DryRun");
    execution.writes.length = 0;
    expect(await execution.execute(shown)).toEqual({ result: "already-so" });
    expect(execution.writes).toEqual(["create nodeactions"]);
  });

  test("that is over does not begin again", async () => {
    const execution = new EmbeddedExecution();
    await execution.execute(opening());
    await execution.patch(actions, "repair-n", { status: { phase: "Done" } });
    expect(await execution.execute(opening())).toEqual({ result: "already-so" });
    expect(execution.picture.action("repair-n")?.status.phase).toBe("Done");
    expect(execution.picture.openActionOn("n-uid")).toBeUndefined();
  });

  test("about another node under the same name is none of ours", async () => {
    const execution = new EmbeddedExecution();
    await execution.execute(opening());
    const other = aSpec({ node: { name: "n", uid: "other" } });
    expect(await execution.execute(opening(other))).toEqual({ result: "stale" });
  });
});

describe("update-action", () => {
  test("writes spec and progress over the version that was decided on", async () => {
    const execution = new EmbeddedExecution();
    await execution.execute(opening());
    const action = await read(execution);
    const command: Command = {
      kind: "update-action",
      action: targetOf(action),
      resourceVersion: action.metadata.resourceVersion,
      spec: { epoch: 2, deadline: time },
      progress: { phase: "Running", waitingFor: { reason: "Pods", message: "web", until: execution.clock.now() } },
      why: "",
    };
    expect(await execution.execute(command)).toEqual({ result: "done" });
    const written = await read(execution);
    expect(written).toMatchObject({
      spec: { epoch: 2, deadline: time, action: "Repair" },
      status: { phase: "Running", startedAt: time, waitingFor: { reason: "Pods", since: time, until: time } },
    });
    expect(await execution.execute(command)).toEqual({ result: "stale" });

    const { resourceVersion } = written.metadata;
    const progress = { waitingFor: { reason: "Pods", message: "none known" } };
    const next: Command = { kind: "update-action", action: targetOf(action), resourceVersion, progress, why: "" };
    expect(await execution.execute(next)).toEqual({ result: "done" });
    expect((await read(execution)).status?.waitingFor).toEqual({ reason: "Pods", message: "none known", since: time });
  });

  test("of an older leader is refused by the kind itself", async () => {
    const execution = new EmbeddedExecution();
    await execution.execute(opening(aSpec({ epoch: 5 })));
    const action = await read(execution);
    const { resourceVersion } = action.metadata;
    const command: Command = {
      kind: "update-action",
      action: targetOf(action),
      resourceVersion,
      spec: { epoch: 4 },
      why: "",
    };
    expect(await execution.execute(command)).toMatchObject({ result: "refused", reason: "Invalid" });
  });
});

test("delete-action takes the entry that is meant, once", async () => {
  const execution = new EmbeddedExecution();
  await execution.execute(opening());
  const action = targetOf(await read(execution));
  expect(await execution.execute({ kind: "delete-action", action: { ...action, uid: "other" }, why: "" })).toEqual({
    result: "stale",
  });
  expect(await execution.execute({ kind: "delete-action", action, why: "" })).toEqual({ result: "done" });
  expect(execution.picture.action("repair-n")).toBeUndefined();
  expect(await execution.execute({ kind: "delete-action", action, why: "" })).toEqual({ result: "already-so" });
});

describe("start-action", () => {
  /** A sick node with its claim, and an open action on it. */
  async function aScene(more: Partial<NodeActionSpec> = {}, execution = new EmbeddedExecution()) {
    const ready = { type: "Ready", status: "False", reason: "Sick", lastTransitionTime: time, lastHeartbeatTime: time };
    const claim = await execution.create<Claim>(claims, {
      metadata: { name: "c", finalizers: ["karpenter.sh/termination"] },
      spec: {},
    });
    const node = await execution.create(nodes, { metadata: { name: "n" }, spec: {}, status: { conditions: [ready] } });
    const { name, uid } = claim.metadata;
    const spec = aSpec({ node: { name: "n", uid: node.metadata.uid }, claim: { name, uid }, ...more });
    await execution.execute(opening(spec));
    execution.writes.length = 0;
    const start: Command = { kind: "start-action", action: targetOf(await read(execution)), why: "" };
    return { execution, start, node, claim };
  }
  const readClaim = (execution: EmbeddedExecution) => execution.get<Claim>(claims, "c");
  const annotation = "karpenter.sh/nodeclaim-termination-timestamp";

  test("judges node and lease live, deletes the claim and says that it runs", async () => {
    const { execution, start } = await aScene();
    const calls: string[] = [];
    execution.interfere = call => void calls.push(call);
    expect(await execution.execute(start)).toEqual({ result: "done" });
    expect(calls).toEqual(["get nodes n", "get leases n", "delete nodeclaims", "patch-status nodeactions"]);
    expect((await readClaim(execution))?.metadata.deletionTimestamp).toBe(time);
    expect((await read(execution)).status).toMatchObject({ phase: "Running", startedAt: time });
    expect(execution.picture.claim("c")?.deletingSince).toBe(execution.clock.now());
  });

  test.each([
    [
      "the node is well again",
      async (execution: EmbeddedExecution) => {
        const node = (await execution.get(nodes, "n")) as KubeObject;
        const conditions = [{ type: "Ready", status: "True", lastTransitionTime: time, lastHeartbeatTime: time }];
        const body = { type: "merge", body: { status: { conditions } } } as const;
        await execution.settle(
          execution.server.patch(nodes, { name: node.metadata.name }, body, { subresource: "status" }),
        );
      },
      /Ready is True now/,
    ],
    [
      "the node is another one by now",
      async (execution: EmbeddedExecution) => {
        await execution.remove(nodes, "n");
        await execution.settle(
          execution.server.create(nodes, {}, { apiVersion: "v1", kind: "Node", metadata: { name: "n" } }),
        );
      },
      /node n .* is gone/,
    ],
    [
      "the claim is another one by now",
      async (execution: EmbeddedExecution) => {
        await execution.patch(claims, "c", { metadata: { finalizers: null } });
        await execution.remove(claims, "c");
        await execution.create(claims, { metadata: { name: "c" }, spec: {} });
      },
      /has no NodeClaim/,
    ],
  ] as const)("is given up when %s, with the reason, and deletes nothing", async (_, meanwhile, why) => {
    const { execution, start } = await aScene();
    await meanwhile(execution);
    expect(await execution.execute(start)).toEqual({ result: "done", note: expect.stringMatching(why) });
    const { status } = await read(execution);
    expect(status).toMatchObject({ phase: "Abandoned", finishedAt: time, outcome: expect.stringMatching(why) });
    expect((await readClaim(execution))?.metadata).not.toHaveProperty("deletionTimestamp");
  });

  test("is given up when a kubelet that is called Unknown renews its lease", async () => {
    const ready = {
      kind: "Condition",
      conditionType: "Ready",
      conditionStatus: "Unknown",
      since: time,
      seenAt: time,
    } as const;
    const { execution, start } = await aScene({ evidence: [ready] });
    const conditions = [{ type: "Ready", status: "Unknown", lastTransitionTime: time, lastHeartbeatTime: time }];
    const body = { type: "merge", body: { status: { conditions } } } as const;
    await execution.settle(execution.server.patch(nodes, { name: "n" }, body, { subresource: "status" }));
    const renewTime = "2026-01-01T00:00:00.000000Z";
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "n" }, spec: { renewTime } };
    await execution.settle(execution.server.create(leases, { namespace: "kube-node-lease" }, lease));
    expect(await execution.execute(start)).toMatchObject({ result: "done", note: expect.stringContaining("alive") });
    expect((await read(execution)).status).toMatchObject({
      phase: "Abandoned",
      outcome: expect.stringContaining("alive"),
    });
  });

  test.each([
    ["by force: now", { termination: "Forceful" } as const, undefined, time],
    ["with a deadline", { deadline: "2026-01-01T01:00:00Z" }, undefined, "2026-01-01T01:00:00Z"],
    [
      "with an earlier one that the claim has",
      { deadline: "2026-01-01T01:00:00Z" },
      "2026-01-01T00:30:00Z",
      "2026-01-01T00:30:00Z",
    ],
    [
      "with a nearer one than the claim has",
      { deadline: "2026-01-01T01:00:00Z" },
      "2026-01-01T02:00:00Z",
      "2026-01-01T01:00:00Z",
    ],
    ["without any", {}, undefined, undefined],
  ])("puts on the claim when what is left goes by force, before its deletion: %s", async (_, more, before, after) => {
    const { execution, start } = await aScene(more);
    const annotations = { [annotation]: before };
    if (before !== undefined) execution.see(claims, await execution.patch(claims, "c", { metadata: { annotations } }));
    let atDeletion: string | undefined;
    execution.interfere = async call => {
      if (call === "delete nodeclaims") atDeletion = (await readClaim(execution))?.metadata.annotations?.[annotation];
    };
    expect(await execution.execute(start)).toEqual({ result: "done" });
    expect(atDeletion).toBe(after);
  });

  test("of two scale-downs at once lets one go when the pool wants one more meanwhile", async () => {
    const execution = new EmbeddedExecution();
    const pool = { metadata: { name: "web" }, spec: { replicas: 2 } };
    await execution.create(resources.pools, pool);
    const starts: Command[] = [];
    for (const name of ["a", "b", "c"]) {
      const labels = { "karpenter.sh/nodepool": "web" };
      const metadata = { name, labels, finalizers: ["karpenter.sh/termination"] };
      const claim = await execution.create<Claim>(claims, { metadata, spec: {} });
      const node = await execution.create(nodes, { metadata: { name }, spec: {} });
      const spec = aSpec({ action: "ScaleDown", nodePool: "web", node: targetOf(node), claim: targetOf(claim) });
      const evidence: NodeActionSpec["evidence"] = [{ kind: "SurplusReplica", seenAt: unstamped }];
      if (name === "c") continue;
      await execution.execute({ ...opening({ ...spec, evidence }), name: `down-${name}` } as Command);
      const action = (await execution.get<Action>(actions, `down-${name}`)) as Action;
      starts.push({ kind: "start-action", action: targetOf(action), why: "" });
    }
    expect(await Promise.all(starts.map(start => execution.execute(start)))).toMatchObject([
      { result: "done" },
      { result: "done" },
    ]);
    const going = async (name: string) => (await execution.get<Claim>(claims, name))?.metadata.deletionTimestamp;
    expect([await going("a"), await going("b"), await going("c")]).toEqual([time, undefined, undefined]);
    const given = await execution.get<Action>(actions, "down-b");
    expect(given?.status).toMatchObject({ phase: "Abandoned", outcome: expect.stringContaining("for 2 replicas now") });
  });

  describe("of one that has waited", () => {
    async function waiting() {
      const scene = await aScene();
      const waitingFor = { reason: "ReplacementNotReady", message: "…", since: time };
      const status = { phase: "WaitingForReplacement", waitingFor };
      scene.execution.see(actions, await scene.execution.patch(actions, "repair-n", { status }));
      return scene;
    }

    test("takes nothing away when somebody has deleted it and nobody has seen that yet", async () => {
      const { execution, start } = await waiting();
      await execution.remove(actions, "repair-n");
      expect(await execution.execute(start)).toEqual({ result: "already-so" });
      expect((await readClaim(execution))?.metadata).not.toHaveProperty("deletionTimestamp");
      expect(execution.picture.action("repair-n")).toBeUndefined();
    });

    test("takes nothing away when somebody has given it up", async () => {
      const { execution, start } = await waiting();
      await execution.patch(actions, "repair-n", { status: { phase: "Abandoned" } });
      expect(await execution.execute(start)).toEqual({ result: "already-so" });
      expect((await readClaim(execution))?.metadata).not.toHaveProperty("deletionTimestamp");
    });

    test("goes on when it stands", async () => {
      const { execution, start } = await waiting();
      expect(await execution.execute(start)).toEqual({ result: "done" });
      expect((await readClaim(execution))?.metadata.deletionTimestamp).toBe(time);
    });
  });

  test("deletes only the version that was judged", async () => {
    const { execution, start } = await aScene();
    execution.interfere = async call => {
      if (call === "delete nodeclaims") await execution.patch(claims, "c", { metadata: { labels: { theirs: "1" } } });
    };
    expect(await execution.execute(start)).toEqual({ result: "stale" });
    expect((await readClaim(execution))?.metadata).not.toHaveProperty("deletionTimestamp");
    expect(await read(execution)).not.toHaveProperty("status");
  });

  test.each([{}, { termination: "Forceful" } as const])("deletes no claim that changed unseen: %o", async more => {
    const { execution, start } = await aScene(more);
    await execution.patch(claims, "c", { metadata: { annotations: { "karpenter.sh/do-not-repair": "true" } } });
    expect(await execution.execute(start)).toEqual({ result: "stale" });
    expect((await readClaim(execution))?.metadata).not.toHaveProperty("deletionTimestamp");
    expect(await read(execution)).not.toHaveProperty("status");
  });

  test.each(["patch nodeclaims", "delete nodeclaims", "patch-status nodeactions"])(
    "cut short at %s, goes on from there the next time",
    async write => {
      const { execution, start } = await aScene({ termination: "Forceful" });
      execution.interfere = call => {
        if (call === write) throw new Error("killed");
      };
      expect(await execution.execute(start)).toMatchObject({ result: "retry", unknown: true });
      execution.interfere = () => {};
      await execution.clock.runFor(5000);
      expect(await execution.execute(start)).toEqual({ result: "done" });
      const claim = await readClaim(execution);
      expect(claim?.metadata.deletionTimestamp).toBeDefined();
      // The first time that was written stays.
      const writtenAt = write === "patch nodeclaims" ? "2026-01-01T00:00:05Z" : time;
      expect(claim?.metadata.annotations?.[annotation]).toBe(writtenAt);
      expect((await read(execution)).status?.phase).toBe("Running");
    },
  );

  test("asks no more for a reason once the claim is being deleted", async () => {
    const { execution, start } = await aScene({ evidence: [] });
    await execution.remove(claims, "c");
    execution.see(claims, (await readClaim(execution)) as Claim);
    expect(await execution.execute(start)).toEqual({ result: "done" });
    expect((await read(execution)).status?.phase).toBe("Running");
  });

  test.each(["Done", "DryRun"] as const)("does nothing with an action that is %s", async phase => {
    const { execution, start } = await aScene();
    execution.see(actions, await execution.patch(actions, "repair-n", { status: { phase } }));
    execution.writes.length = 0;
    expect(await execution.execute(start)).toEqual({ result: "already-so" });
    expect(execution.writes).toEqual([]);
  });

  test("leaves a remediation to the rule that asks for it", async () => {
    const { execution, start } = await aScene({ method: "Remediate" });
    expect(await execution.execute(start)).toEqual({ result: "already-so" });
    expect(await read(execution)).not.toHaveProperty("status");
  });

  test.each([
    ["gone", "Running"],
    ["running", "Abandoned"],
  ] as const)("asks the provider again for an instance that is said to be gone: %s", async (state, phase) => {
    const get = async () =>
      state === "gone"
        ? ("gone" as const)
        : { providerID: "i", createdAt: 0, labels: {}, capacity: {}, allocatable: {}, state };
    const evidence = [{ kind: "InstanceGone", seenAt: time } as const];
    const { execution, start } = await aScene(
      { action: "GarbageCollection", evidence },
      new EmbeddedExecution({ get }),
    );
    execution.see(claims, await execution.patch(claims, "c", { status: { providerID: "i" } }));
    expect(await execution.execute(start)).toMatchObject({ result: "done" });
    expect((await read(execution)).status?.phase).toBe(phase);
  });

  test("waits with it while the provider cannot tell", async () => {
    const get = async () => ({ error: "Throttled", message: "slowly" }) as const;
    const evidence = [{ kind: "InstanceGone", seenAt: time } as const];
    const { execution, start } = await aScene(
      { action: "GarbageCollection", evidence },
      new EmbeddedExecution({ get }),
    );
    execution.see(claims, await execution.patch(claims, "c", { status: { providerID: "i" } }));
    expect(await execution.execute(start)).toMatchObject({ result: "retry", reason: "Throttled" });
    expect(await read(execution)).not.toHaveProperty("status");
  });
});
