import { describe, expect, test } from "vitest";
import { aClaim, aCondition, aNode, anAction, at, aWorld, t0 } from "../../test/builders.ts";
import type { NodeActionSpec } from "../api/node-action.ts";
import type { Command, Outcome } from "../decide/decision.ts";
import { effectsOf, effectsOfEnd } from "./life-effects.ts";

const why = "Because.";
const finalizer = "karpenter.sh/termination";
const labels = { "karpenter.sh/capacity-type": "spot" };
const claim = aClaim("a", { pool: "web", zone: "z1", labels, deletingSince: t0 });
const world = aWorld({ claims: [claim], nodes: [aNode("a", { deletingSince: at("10s") })] });
const target = { name: "a", uid: claim.uid };
const effects = (command: Command, { rule = "lifecycle", picture = world } = {}) =>
  effectsOf({ rule, command, at: at("1m") }, picture);

test("a claim that is created counts for its pool, by the rule that asked", () => {
  const metadata = { name: "b", labels: { "karpenter.sh/nodepool": "web" } };
  const manifest = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata };
  expect(effects({ kind: "create-claim", manifest, why }, { rule: "replicas" })).toEqual([
    {
      metric: "nodeclaims_created_total",
      labels: { reason: "replicas", nodepool: "web", min_values_relaxed: "false" },
    },
  ]);
});

describe("the end of a claim", () => {
  const update: Command = {
    kind: "update-claim",
    claim: target,
    resourceVersion: "1",
    metadata: { removeFinalizers: [finalizer] },
    why,
  };
  test("is counted with how long it took", () => {
    const ending = aWorld({
      claims: [{ ...claim, conditions: [aCondition("InstanceTerminating", "True", { since: at("45s") })] }],
    });
    expect(effects(update, { picture: ending })).toEqual([
      {
        metric: "nodeclaims_terminated_total",
        labels: { nodepool: "web", capacity_type: "spot", zone: "z1" },
      },
      { metric: "nodeclaims_termination_duration_seconds", labels: { nodepool: "web" }, seconds: 60 },
      { metric: "nodeclaims_instance_termination_duration_seconds", labels: { nodepool: "web" }, seconds: 15 },
    ]);
  });

  test("a clock that is behind the server's makes nothing negative", () => {
    const ahead = aWorld({ claims: [{ ...claim, deletingSince: at("2m") }] });
    expect(effects(update, { picture: ahead }).map(({ seconds }) => seconds)).toEqual([undefined, 0]);
  });

  test("is counted for nobody where the claim is gone", () => {
    expect(effects(update, { picture: aWorld() })).toEqual([]);
  });
});

test("a drain counts when it comes to its end, once", () => {
  const drained = (before: string): readonly string[] => {
    const picture = aWorld({ claims: [{ ...claim, conditions: [aCondition("Drained", before)] }] });
    const conditions = [{ type: "Drained", status: "True", reason: "Drained", message: "" }];
    const command: Command = { kind: "update-claim", claim: target, resourceVersion: "1", status: { conditions }, why };
    return effects(command, { picture }).map(({ metric }) => metric);
  };
  expect(drained("Unknown")).toEqual(["nodes_drained_total"]);
  expect(drained("True")).toEqual([]);
});

describe("a node", () => {
  const update = (change: Extract<Command, { kind: "update-node" }>["change"]): Command => ({
    kind: "update-node",
    node: { name: "a", uid: "a-uid" },
    change,
    why,
  });
  test("counts as created when it registers, not again when it is written once more", () => {
    const registers = update({ labels: { "karpenter.sh/registered": "true" } });
    const fresh = aWorld({ claims: [claim], nodes: [{ ...aNode("a"), labels: {} }] });
    expect(effects(registers, { picture: fresh })).toEqual([
      { metric: "nodes_created_total", labels: { nodepool: "web" } },
    ]);
    expect(effects(registers)).toEqual([]);
  });

  test("counts as terminated when its finalizer goes, with its life and its end", () => {
    expect(effects(update({ removeFinalizers: [finalizer] }))).toEqual([
      { metric: "nodes_terminated_total", labels: { nodepool: "web" } },
      { metric: "nodes_termination_duration_seconds", labels: { nodepool: "web" }, seconds: 50 },
      { metric: "nodes_lifetime_duration_seconds", labels: { nodepool: "web" }, seconds: 60 },
    ]);
  });
});

describe("why a claim was taken away", () => {
  const start: Command = { kind: "start-action", action: { name: "x", uid: "x-action-uid" }, why };
  const reasonOf = (action: NodeActionSpec["action"], phase: "Running" | "Abandoned" = "Running") => {
    const picture = aWorld({ claims: [claim], actions: [anAction("x", { phase, spec: { action } })] });
    return effectsOfEnd(start, { result: "done" }, picture).map(({ labels }) => labels["reason"]);
  };
  test.each([
    ["Repair", "unhealthy"],
    ["Remediation", "remediated"],
    ["Expiration", "expired"],
    ["Drift", "drifted"],
    ["Emptiness", "empty"],
    ["Consolidation", "underutilized"],
    ["GarbageCollection", "garbage_collected"],
    ["ScaleDown", "scaled_down"],
    ["Deletion", "deleted"],
  ] as const)("%s is %s", (action, reason) => {
    expect(reasonOf(action)).toEqual([reason]);
  });

  test("an action that was abandoned at the last look took nothing away", () => {
    expect(reasonOf("Repair", "Abandoned")).toEqual([]);
  });

  test.each([
    ["InsufficientCapacity", "lifecycle", "insufficient_capacity"],
    ["NodeClassNotReady", "lifecycle", "nodeclass_not_ready"],
    ["AwaitingReconciliation", "garbage", "garbage_collected"],
    ["AwaitingReconciliation", "replicas", "scaled_down"],
  ])("a claim without a node: Launched says %s, rule %s", (launched, rule, reason) => {
    const conditions = [aCondition("Launched", "False", { reason: launched })];
    const picture = aWorld({ claims: [{ ...claim, conditions }] });
    expect(effects({ kind: "delete-claim", claim: target, resourceVersion: "1", why }, { rule, picture })).toEqual([
      { metric: "nodeclaims_disrupted_total", labels: { reason, nodepool: "web", capacity_type: "spot" } },
    ]);
  });
});

test.each<[Outcome, string]>([
  [{ result: "done" }, "201"],
  [{ result: "already-so" }, "404"],
  [{ result: "stale" }, "409"],
  [{ result: "retry", reason: "TooManyRequests", message: "" }, "429"],
  [{ result: "retry", reason: "InternalError", message: "" }, "500"],
  [{ result: "retry", reason: "", message: "", unknown: true }, "0"],
  [{ result: "refused", reason: "Invalid", message: "" }, "400"],
])("an eviction is counted by its answer: $result", (outcome, code) => {
  const pod = { namespace: "default", name: "p", uid: "p" };
  expect(effectsOfEnd({ kind: "evict-pod", pod, why }, outcome, world)).toEqual([
    { metric: "pods_eviction_requests_total", labels: { code } },
  ]);
});

test("other commands change no life", () => {
  expect(effects({ kind: "list-instances", why })).toEqual([]);
  expect(effectsOfEnd({ kind: "list-instances", why }, { result: "done" }, world)).toEqual([]);
});
