import { describe, expect, test } from "vitest";
import { aClaim, aCondition, aNode, anAction, aPod, aPool, at, aWorld, t0 } from "../../test/builders.ts";
import type { NodeActionSpec } from "../api/node-action.ts";
import type { Command, Outcome } from "../decide/decision.ts";
import type { ClaimView } from "../snapshot/views.ts";
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
      metric: "karpenter_nodeclaims_created_total",
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
        metric: "karpenter_nodeclaims_terminated_total",
        labels: { nodepool: "web", capacity_type: "spot", zone: "z1" },
      },
      { metric: "karpenter_nodeclaims_termination_duration_seconds", labels: { nodepool: "web" }, seconds: 60 },
      {
        metric: "karpenter_nodeclaims_instance_termination_duration_seconds",
        labels: { nodepool: "web" },
        seconds: 15,
      },
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
  expect(drained("Unknown")).toEqual(["karpenter_nodes_drained_total"]);
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
      { metric: "karpenter_nodes_created_total", labels: { nodepool: "web" } },
    ]);
    expect(effects(registers)).toEqual([]);
  });

  test("counts as terminated when its finalizer goes, with its life and its end", () => {
    expect(effects(update({ removeFinalizers: [finalizer] }))).toEqual([
      { metric: "karpenter_nodes_terminated_total", labels: { nodepool: "web" } },
      { metric: "karpenter_nodes_termination_duration_seconds", labels: { nodepool: "web" }, seconds: 50 },
      { metric: "karpenter_nodes_lifetime_duration_seconds", labels: { nodepool: "web" }, seconds: 60 },
    ]);
  });
});

describe("why a claim was taken away", () => {
  const start: Command = { kind: "start-action", action: { name: "x", uid: "x-action-uid" }, why };
  const reasonOf = (action: NodeActionSpec["action"], phase: "Running" | "Abandoned" = "Running") => {
    const picture = aWorld({ claims: [claim], actions: [anAction("x", { phase, spec: { action } })] });
    return effectsOfEnd(start, { result: "done" }, picture)
      .filter(({ metric }) => metric === "karpenter_nodeclaims_disrupted_total")
      .map(({ labels }) => labels["reason"]);
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
      {
        metric: "karpenter_nodeclaims_disrupted_total",
        labels: {
          reason,
          nodepool: "web",
          capacity_type: "spot",
          consolidation_policy: "",
          termination_mode: "graceful",
        },
      },
    ]);
  });
});

test.each([
  [undefined, "graceful"],
  ["0s", "forceful"],
  ["1h", "eventual"],
] as const)("a claim with a termination grace period of %s goes in mode %s", (terminationGracePeriod, mode) => {
  const spec = { ...claim.spec, ...(terminationGracePeriod && { terminationGracePeriod }) };
  const picture = aWorld({ claims: [{ ...claim, spec }], pools: [aPool("web")] });
  const [effect] = effects({ kind: "delete-claim", claim: target, resourceVersion: "1", why }, { picture });
  expect(effect?.labels).toMatchObject({ termination_mode: mode, consolidation_policy: "WhenUnderutilized" });
});

test("a repair counts by its condition, with the pods that it moves", () => {
  const evidence = [
    { ...anAction("x").spec.evidence[0], conditionType: "Ready", seenAt: "" },
  ] as NodeActionSpec["evidence"];
  const action = anAction("x", { node: "a", phase: "Running", spec: { action: "Repair", evidence } });
  const picture = aWorld({ claims: [claim], nodes: [aNode("a")], actions: [action], pods: [aPod("p", { on: "a" })] });
  const start: Command = { kind: "start-action", action: { name: "x", uid: action.uid }, why };
  expect(effectsOfEnd(start, { result: "done" }, picture).slice(1)).toEqual([
    {
      metric: "karpenter_nodeclaims_unhealthy_disrupted_total",
      labels: { condition: "Ready", nodepool: "web", capacity_type: "spot", image_id: "" },
    },
    { metric: "karpenter_pods_disruption_initiated_total", labels: { reason: "unhealthy" }, amount: 1 },
  ]);
});

test("a reboot takes no claim away", () => {
  const action = anAction("x", { node: "a", phase: "Running", spec: { action: "Repair", method: "Reboot" } });
  const picture = aWorld({ claims: [claim], nodes: [aNode("a")], actions: [action] });
  const start: Command = { kind: "start-action", action: { name: "x", uid: action.uid }, why };
  expect(effectsOfEnd(start, { result: "done" }, picture)).toEqual([]);
});

describe("a readinessTTL that ended", () => {
  const timeouts = (stage: string) => ({
    metric: "fettle_readiness_timeouts_total",
    labels: { nodepool: "web", stage },
  });

  test.each([
    ["before its launch", "new", "launch_timeout", "launch"],
    ["before its registration", "launched", "registration_timeout", "registration"],
  ] as const)("%s", (_, stage, reason, word) => {
    const picture = aWorld({ claims: [aClaim("a", { pool: "web", stage })] });
    const deletion = { kind: "delete-claim", claim: target, resourceVersion: "1", why } as const;
    const found = effects(deletion, { rule: "readiness", picture });
    expect(found).toMatchObject([{ labels: { reason } }, timeouts(word)]);
  });

  test("before its node was Ready: a repair of its own kind", () => {
    const evidence: NodeActionSpec["evidence"] = [{ kind: "NeverReady", message: "", seenAt: "" }];
    const action = anAction("x", { node: "a", phase: "Running", spec: { action: "Repair", evidence } });
    const picture = aWorld({ claims: [claim], nodes: [aNode("a")], actions: [action] });
    const start: Command = { kind: "start-action", action: { name: "x", uid: action.uid }, why };
    expect(effectsOfEnd(start, { result: "done" }, picture)).toContainEqual(timeouts("ready"));
  });
});

describe("how long a claim takes", () => {
  const young = aClaim("a", { pool: "web", stage: "new" });
  const picture = aWorld({ claims: [young] });
  const reached = (condition: string) => [
    { metric: "fettle_nodeclaims_reached_seconds", labels: { nodepool: "web", condition }, seconds: 60 },
  ];
  test("to be launched", () => {
    expect(effects({ kind: "launch-instance", claim: target, why }, { picture })).toEqual(reached("Launched"));
  });
  test.each(["Registered", "Initialized"])("to be %s, once", type => {
    const conditions = [{ type, status: "True", reason: type, message: "" }];
    const command: Command = { kind: "update-claim", claim: target, resourceVersion: "1", status: { conditions }, why };
    expect(effects(command, { picture })).toEqual(reached(type));
    const already = aWorld({ claims: [{ ...young, conditions: [aCondition(type, "True")] }] });
    expect(effects(command, { picture: already })).toEqual([]);
  });
});

describe("how long an action takes", () => {
  const end = (phase: "Done" | "Failed" | "Abandoned" | "Running", dryRun = false) => {
    const action = anAction("x", { spec: dryRun ? { dryRun } : {} });
    const command: Command = {
      kind: "update-action",
      action: { name: "x", uid: action.uid },
      resourceVersion: "1",
      progress: { phase },
      why,
    };
    return effects(command, { picture: aWorld({ actions: [action] }) });
  };
  test.each(["Done", "Failed", "Abandoned"] as const)("until it is %s", phase => {
    const labels = { action: "Deletion", phase };
    expect(end(phase)).toEqual([{ metric: "fettle_action_duration_seconds", labels, seconds: 60 }]);
  });
  test("not while it runs, and not of a dry run", () => {
    expect([...end("Running"), ...end("Abandoned", true)]).toEqual([]);
  });
});

describe("a pod that is moved", () => {
  const pod = { namespace: "default", name: "p", uid: "default-p-uid" };
  const drained = (command: Command, options: Parameters<typeof aPod>[1] = {}) => {
    const pods = [aPod("p", { on: "a", ...options })];
    const actions = [anAction("x", { node: "a", spec: { action: "Repair" } })];
    return effects(command, { picture: aWorld({ claims: [claim], nodes: [aNode("a")], pods, actions }) });
  };
  test.each<Command>([
    { kind: "evict-pod", pod, why },
    { kind: "delete-pod", pod, deadline: t0, why },
  ])("$kind counts by why its node goes", command => {
    const labels = { reason: "unhealthy" };
    expect(drained(command)).toEqual([{ metric: "karpenter_pods_drained_total", labels }]);
  });
  test("counts once", () => {
    expect(drained({ kind: "delete-pod", pod, deadline: t0, why }, { deletionAt: t0 })).toEqual([]);
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
    { metric: "karpenter_pods_eviction_requests_total", labels: { code } },
  ]);
});

test("a search for moves tells how long it took, one for places does not", () => {
  const search = { kind: "search", for: "disruption", askedAt: 0, why } as const;
  expect(effectsOfEnd(search, { result: "done", tookMs: 250 }, world)).toEqual([
    {
      metric: "karpenter_voluntary_disruption_decision_evaluation_duration_seconds",
      labels: { reason: "all", consolidation_type: "all" },
      seconds: 0.25,
    },
  ]);
  expect(effectsOfEnd({ ...search, for: "provisioning" }, { result: "done" }, world)).toEqual([]);
});

test("moves that Balanced pools have weighed are counted and measured, as Karpenter names them", () => {
  const search = { kind: "search", for: "disruption", askedAt: 0, why } as const;
  const scores = [
    { pool: "web", score: 1.5, isApproved: true },
    { pool: "web", score: 0.2, isApproved: false },
  ];
  const [, ...effects] = effectsOfEnd(search, { result: "done", tookMs: 250, scores }, world);
  const [approved, rejected] = ["approved", "rejected"].map(decision => ({
    decision,
    nodepool: "web",
    policy: "Balanced",
  }));
  expect(effects).toEqual([
    { metric: "karpenter_consolidation_score", labels: approved, seconds: 1.5 },
    { metric: "karpenter_consolidation_moves_total", labels: approved },
    { metric: "karpenter_consolidation_score", labels: rejected, seconds: 0.2 },
    { metric: "karpenter_consolidation_moves_total", labels: rejected },
  ]);
});

test("a search that ended before all were answered counts as a time-out", () => {
  const search = { kind: "search", for: "disruption", askedAt: 0, why } as const;
  const metrics = (isCutShort: boolean) =>
    effectsOfEnd(search, { result: "done", tookMs: 250, isCutShort }, world).map(({ metric }) => metric);
  const timeOut = "karpenter_voluntary_disruption_consolidation_timeouts_total";
  expect(metrics(true)).toContain(timeOut);
  expect(metrics(false)).not.toContain(timeOut);
});

test("other commands change no life", () => {
  expect(effects({ kind: "list-instances", why })).toEqual([]);
  expect(effectsOfEnd({ kind: "list-instances", why }, { result: "done" }, world)).toEqual([]);
});

describe("a plan", () => {
  const decisions = "karpenter_voluntary_disruption_decisions_total";
  const askedBy = { kind: "NodePool", name: "web" } as const;
  const specOf = (node: string, more: Partial<NodeActionSpec> = {}): NodeActionSpec =>
    anAction(`consolidation-${node}`, { node, spec: { action: "Consolidation", askedBy, batch: "c-1", ...more } }).spec;
  const opening = (spec: NodeActionSpec, phase: "Pending" | "DryRun" = "Pending"): Command => {
    return { kind: "open-action", name: "x", spec, phase, why };
  };
  const nodes = ["a", "b"].map(name => ({ name, uid: `${name}-uid` }));
  const claims = [aClaim("a", { pool: "web" }), aClaim("b", { pool: "batch" })];
  const planned = aWorld({ claims, nodes: [aNode("a"), aNode("b")] });
  planned.beginMoves();
  const price = { before: 2, after: 1 };
  const move = {
    batch: "c-1",
    action: "Consolidation",
    nodes,
    claims: [],
    podCount: 1,
    price,
    stuck: [],
    at: t0,
  } as const;
  const moves = [{ move, places: new Map(), poolVersions: new Map() }];
  planned.settleMoves({ at: t0, moves, stays: new Map(), unanswered: [] });
  const replacements = [{ name: "r" }];

  test.each<[string, Command, Record<string, string> | undefined]>([
    [
      "of several nodes counts with the first",
      opening(specOf("a", { replacements })),
      { decision: "replace", reason: "underutilized", consolidation_type: "multi" },
    ],
    ["of several nodes does not count with the others", opening(specOf("b", { replacements })), undefined],
    [
      "of one node",
      opening(specOf("a", { batch: "c-2" })),
      { decision: "delete", reason: "underutilized", consolidation_type: "single" },
    ],
    [
      "for an empty node",
      opening(specOf("a", { action: "Emptiness", batch: "" })),
      { decision: "delete", reason: "empty", consolidation_type: "empty" },
    ],
    [
      "for drift",
      opening(specOf("a", { action: "Drift", batch: "d", replacements })),
      { decision: "replace", reason: "drifted", consolidation_type: "" },
    ],
    ["that is only shown does not count", opening(specOf("a"), "DryRun"), undefined],
    ["is no repair", opening(specOf("a", { action: "Repair" })), undefined],
    [
      "is nobody else's wish",
      opening(specOf("a", { askedBy: { kind: "Controller", name: "replacement" } })),
      undefined,
    ],
  ])("%s", (_, command, expected) => {
    const found = effects(command, { picture: planned }).filter(({ metric }) => metric === decisions);
    expect(found.map(one => one.labels)).toEqual(expected === undefined ? [] : [expected]);
  });

  test("of nodes of several pools counts once for each of these, with the first node", () => {
    const byPool = (node: string) =>
      effects(opening(specOf(node)), { picture: planned })
        .filter(({ metric }) => metric.endsWith("decisions_by_nodepool_total"))
        .map(({ labels }) => labels);
    const common = { decision: "delete", reason: "underutilized", consolidation_type: "multi" };
    expect(byPool("a")).toEqual([
      { nodepool: "web", ...common },
      { nodepool: "batch", ...common },
    ]);
    expect(byPool("b")).toEqual([]);
  });

  test("that is given up before it began counts once as a failure, one that had begun does not", () => {
    const actions = ["a", "b"].map(node =>
      anAction(`consolidation-${node}`, { node, phase: "Pending", spec: specOf(node) }),
    );
    const ended = (name: string, picture = aWorld({ actions })) => {
      const progress = { phase: "Abandoned" } as const;
      const action = { name, uid: "u" };
      const command: Command = { kind: "update-action", action, resourceVersion: "1", progress, why };
      return effects(command, { picture }).filter(({ metric }) => metric.endsWith("queue_failures_total"));
    };
    const labels = { decision: "delete", reason: "underutilized", consolidation_type: "multi" };
    expect(["consolidation-a", "consolidation-b"].map(name => ended(name).map(one => one.labels))).toEqual([
      [labels],
      [],
    ]);
    const begun = actions.map(action => ({
      ...action,
      status: { ...action.status, startedAt: "2026-01-01T00:00:00Z" },
    }));
    expect(ended("consolidation-a", aWorld({ actions: begun }))).toEqual([]);
  });

  describe("that is given up", () => {
    const initialized = [aCondition("Initialized", "True")];
    const replaced = ["a", "b"].map(node =>
      anAction(`consolidation-${node}`, { node, phase: "Pending", spec: specOf(node, { replacements }) }),
    );
    const refuted = (name: string, claims: readonly ClaimView[], actions = replaced) => {
      const progress = { phase: "Abandoned" } as const;
      const action = { name, uid: "u" };
      const command: Command = { kind: "update-action", action, resourceVersion: "1", progress, why };
      const found = effects(command, { picture: aWorld({ actions, claims }) });
      return found.filter(({ metric }) => metric.endsWith("failed_validations_total")).map(({ labels }) => labels);
    };

    test("by the second look counts with each of its nodes", () => {
      const there = [aClaim("r", { conditions: initialized })];
      const multi = [{ consolidation_type: "multi" }];
      expect(["consolidation-a", "consolidation-b"].map(name => refuted(name, there))).toEqual([multi, multi]);
    });

    test.each<[string, readonly ClaimView[]]>([
      ["did not come up", [aClaim("r", { conditions: [aCondition("Initialized", "Unknown")] })]],
      ["is being deleted", [aClaim("r", { conditions: initialized, deletingSince: t0 })]],
      ["is not there", []],
    ])("since a replacement %s is no failed validation", (_, claims) => {
      expect(refuted("consolidation-a", claims)).toEqual([]);
    });
  });
});
