import { describe, expect, test } from "vitest";
import { EmbeddedExecution, resources, targetOf } from "../../test/embedded-execution.ts";
import type { KubeObject } from "../api/meta.ts";
import type { NodeAction, NodeActionSpec } from "../api/node-action.ts";
import { minuteMs, parseTime } from "../api/time.ts";
import type { Command } from "../decide/decision.ts";
import { joinLane, unstamped } from "../decide/ledger.ts";
import { leases } from "./resources.ts";

type Action = NodeAction & KubeObject;
const { actions, claims, nodes } = resources;
const time = "2026-01-01T00:00:00Z";
const name = "deletion-n";

/** A person has deleted the node, and since `time` its Ready is Unknown; its kubelet renewed the lease last at `renewTime`. */
async function aDrain(renewTime: string) {
  const execution = new EmbeddedExecution();
  const ready = { type: "Ready", status: "Unknown", lastTransitionTime: time, lastHeartbeatTime: time };
  const claim = await execution.create(claims, { metadata: { name: "c", finalizers: ["a/b"] }, spec: {} });
  const node = await execution.create(nodes, { metadata: { name: "n" }, spec: {}, status: { conditions: [ready] } });
  await execution.remove(claims, "c");
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "n" }, spec: { renewTime } };
  await execution.settle(execution.server.create(leases, { namespace: "kube-node-lease" }, lease));
  const spec: NodeActionSpec = {
    node: { name: "n", uid: node.metadata.uid },
    claim: { name: "c", uid: claim.metadata.uid },
    action: "Deletion",
    method: "Terminate",
    askedBy: { kind: "Person", name: "unknown" },
    message: "deleted",
    evidence: [],
    decidedAt: unstamped,
    epoch: 1,
  };
  await execution.execute({ kind: "open-action", name, spec, phase: "Pending", why: "" });
  const action = (await execution.get<Action>(actions, name)) as Action;
  const evidence = {
    kind: "Condition",
    conditionType: "Ready",
    conditionStatus: "Unknown",
    toleration: "30m",
    since: time,
  } as const;
  const asked = {
    action: "Repair",
    askedBy: { kind: "NodePool", name: "p" },
    at: unstamped,
    message: "silent",
  } as const;
  const joining: Command = {
    kind: "update-action",
    action: targetOf(action),
    resourceVersion: action.metadata.resourceVersion,
    looksFirst: true,
    spec: {
      joined: [{ ...asked, evidence: [{ ...evidence, seenAt: unstamped }] }],
      deadline: time,
      termination: "Forceful",
    },
    why: "silent",
  };
  const read = async () => (await execution.get<Action>(actions, name)) as Action;
  return { execution, joining, read };
}

describe("a reason of sickness that joins what has begun", () => {
  test("looks at node and lease first", async () => {
    const { execution, joining, read } = await aDrain("2025-12-31T23:59:00.000000Z");
    const calls: string[] = [];
    execution.interfere = call => void calls.push(call);
    expect(await execution.execute(joining)).toEqual({ result: "done" });
    expect(calls).toEqual(["get nodes n", "get leases n", "patch nodeactions"]);
    expect((await read()).spec).toMatchObject({ deadline: time, termination: "Forceful", joined: [{ at: time }] });
    expect(execution.picture.failure(joinLane(name))).toBeUndefined();
  });

  test("does not join while the kubelet beats; each time it waits for longer, and the drain stays gentle", async () => {
    const { execution, joining, read } = await aDrain("2026-01-01T00:00:00.000000Z");
    const start = parseTime(time);
    const now = start.ok ? start.value : 0;
    for (const [count, minutes] of [1, 2, 4].entries()) {
      execution.writes.length = 0;
      expect(await execution.execute(joining)).toEqual({ result: "stale" });
      expect(execution.writes).toEqual([]);
      expect(execution.picture.failure(joinLane(name))).toEqual({
        at: now,
        retryAt: now + minutes * minuteMs,
        count: count + 1,
        reason: "Repair",
        message: expect.stringContaining("the kubelet is alive"),
      });
    }
    expect((await read()).spec).not.toHaveProperty("joined");
  });

  test("is forgotten with the action", async () => {
    const { execution, joining } = await aDrain("2026-01-01T00:00:00.000000Z");
    await execution.execute(joining);
    await execution.execute({
      kind: "delete-action",
      action: joining.kind === "update-action" ? joining.action : { name, uid: "" },
      why: "",
    });
    expect(execution.picture.failure(joinLane(name))).toBeUndefined();
  });

  test("does not join an action that is another one by now", async () => {
    const { execution, joining } = await aDrain("2025-12-31T23:59:00.000000Z");
    const other = { ...joining, action: { name, uid: "other" } } as Command;
    expect(await execution.execute(other)).toEqual({ result: "stale" });
    expect(execution.picture.failure(joinLane(name))).toBeUndefined();
  });
});
