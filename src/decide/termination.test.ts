// From the taint to the last finalizer: each step only when the one before is over.

import { describe, expect, test } from "vitest";
import { aCondition, aClaim, anAction, aNode, anAttachment, aPod, aProvider, at } from "../../test/builders.ts";
import type { WorldOptions } from "../../test/builders.ts";
import {
  closed,
  decided,
  leavingClaim,
  leavingNode,
  providerID,
  withConditions,
} from "../../test/termination-world.ts";
import {
  disruptedTaint,
  registeredKey,
  terminationFinalizer,
  terminationTimestampKey,
  unregisteredTaint,
} from "../api/well-known.ts";
import type { ActionView, ClaimView, NodeView } from "../snapshot/views.ts";
import { type Command, type Decision, nothing } from "./decision.ts";

const now = at("11m");
const codes = ({ refusals }: Decision) => refusals.map(({ code }) => code);
const kinds = ({ commands }: Decision) => commands.map(({ kind }) => kind);

function of<K extends Command["kind"]>({ commands }: Decision, kind: K): Extract<Command, { kind: K }>[] {
  return commands.filter((command): command is Extract<Command, { kind: K }> => command.kind === kind);
}

const ending = aCondition("InstanceTerminating", "True", {
  since: now,
  message: "Instance test:///a is being ended; the provider has not said yet that it is gone.",
});

/** Drained, detached and, where `isEnding`, with the provider asked. */
function empty({ isEnding = false, ...options }: Parameters<typeof leavingClaim>[0] & { isEnding?: boolean } = {}) {
  const conditions = [aCondition("Drained", "True"), aCondition("VolumesDetached", "True")];
  return withConditions(leavingClaim(options), ...conditions, ...(isEnding ? [ending] : []));
}

const gone = [{ providerID, state: "gone", seenAt: now }] as const;

describe("whose claims", () => {
  test.each<[string, WorldOptions]>([
    ["one that does not exist", { claims: [] }],
    ["one that nobody deleted", { claims: [aClaim("a")] }],
    ["one without our finalizer", { claims: [leavingClaim({ finalizers: ["somebody/else"] })] }],
    ["one of another's class", { provider: aProvider({ serves: () => false }) }],
    [
      "one that names another's class",
      { claims: [leavingClaim({ spec: { nodeClassRef: { group: "other.sh", kind: "NodeClass", name: "x" } } })] },
    ],
    ["one without a class where there is no default", { provider: aProvider({ defaultClass: undefined }) }],
  ])("not %s", (_what, world) => {
    expect(decided(now, { actions: [], ...world })).toEqual(nothing);
  });

  test("none on an old picture", () => {
    const staleness = { resource: "pods", message: "No word of pods since 2026-01-01T00:09:00Z." };
    const decision = decided(now, { staleness });
    expect(decision).toMatchObject({ commands: [], proposals: [], refusals: [{ code: "picture-stale" }] });
  });

  test("none whose node has a second claim", () => {
    const claims = [leavingClaim(), aClaim("b", { providerID })];
    const decision = decided(now, { claims });
    expect(decision).toMatchObject({ proposals: [], refusals: [{ code: "node-shared" }] });
    const [told, ...others] = decision.commands;
    expect([told, others]).toMatchObject([{ kind: "update-claim", claim: { name: "a" } }, []]);
    const conditions = told?.kind === "update-claim" ? (told.status?.conditions ?? []) : [];
    const message = "Node a has the providerID of more than one claim, a among them: none of them is ended.";
    expect(conditions.at(-1)).toEqual({ type: "Ready", status: "False", reason: "NodeShared", message });
    const said = leavingClaim({ conditions });
    expect(decided(now, { claims: [said, ...claims.slice(1)] }).commands).toEqual([]);
  });
});

describe("taint", () => {
  test("first nobody new comes, then the object is deleted, and the drain begins beside that", () => {
    const first = decided(now, { nodes: [aNode("a")] });
    expect(of(first, "update-node")).toMatchObject([
      { node: { name: "a", uid: "a-uid" }, change: { addTaints: [disruptedTaint], labels: closed } },
    ]);
    expect(kinds(first)).toEqual(["update-node", "update-action"]);
    const second = decided(now, { nodes: [aNode("a", { taints: [disruptedTaint], labels: closed })] });
    expect(kinds(second)).toEqual(["update-claim", "delete-node", "update-action"]);
  });

  test("a node without our finalizer gets it before it is deleted, else its pods would go with it", () => {
    const nodes = [aNode("a", { finalizers: [], taints: [disruptedTaint], labels: closed })];
    expect(of(decided(now, { nodes }), "update-node")).toMatchObject([
      { change: { addFinalizers: [terminationFinalizer] } },
    ]);
    expect(kinds(decided(now, { nodes }))).not.toContain("delete-node");
  });

  test("a node that is being deleted cannot get one", () => {
    const nodes = [leavingNode({ finalizers: ["somebody/else"], taints: [] })];
    expect(of(decided(now, { nodes }), "update-node")[0]?.change).toEqual({ addTaints: [disruptedTaint] });
  });

  test("no pod is asked before it is seen", () => {
    const decision = decided(now, { nodes: [aNode("a")], pods: [aPod("p", { on: "a" })] });
    expect(kinds(decision)).not.toContain("evict-pod");
  });

  test("the pods of a silent node that is repaired for that go at once, beside the taint", () => {
    const silent = { kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown", seenAt: "" } as const;
    const actions = [anAction("repair-a-uid", { spec: { action: "Repair", evidence: [silent] } })];
    const nodes = [aNode("a", { ready: "Unknown" })];
    const decision = decided(now, { nodes, actions, pods: [aPod("p", { on: "a" })] });
    expect(kinds(decision)).toEqual(expect.arrayContaining(["update-node", "delete-pod"]));
    expect(kinds(decision)).not.toContain("delete-node");
  });

  test("every node of the instance", () => {
    const nodes = [aNode("a"), aNode("b", { providerID })];
    expect(of(decided(now, { nodes }), "update-node").map(({ node }) => node.name)).toEqual(["a", "b"]);
  });

  test("a taint of another value is the same taint", () => {
    const nodes = [leavingNode({ taints: [{ ...disruptedTaint, value: "x" }] })];
    expect(kinds(decided(now, { nodes }))).not.toContain("update-node");
  });
});

describe("the time by which it goes by force", () => {
  const written = (decision: Decision) =>
    of(decision, "update-claim")[0]?.metadata?.annotations?.[terminationTimestampKey];
  const withDeadline = (deadline: string) => [anAction("deletion-a-uid", { spec: { deadline } })];

  test.each<[string, WorldOptions, string | undefined]>([
    ["none, without a grace period", {}, undefined],
    [
      "the deletion and the grace period",
      { claims: [leavingClaim({ spec: { terminationGracePeriod: "5m" } })] },
      "2026-01-01T00:15:00Z",
    ],
    ["at once", { claims: [leavingClaim({ spec: { terminationGracePeriod: "0s" } })] }, "2026-01-01T00:10:00Z"],
    [
      "what is written stays, also if it is later",
      { claims: [leavingClaim({ spec: { terminationGracePeriod: "5m" }, terminationAt: at("1h") })] },
      undefined,
    ],
    ["an action's deadline", { actions: withDeadline("2026-01-01T00:30:00Z") }, "2026-01-01T00:30:00Z"],
    [
      "an action's deadline that is nearer than the grace period",
      {
        claims: [leavingClaim({ spec: { terminationGracePeriod: "1h" } })],
        actions: withDeadline("2026-01-01T00:30:00Z"),
      },
      "2026-01-01T00:30:00Z",
    ],
    [
      "an action's deadline that is nearer than what is written",
      { claims: [leavingClaim({ terminationAt: at("1h") })], actions: withDeadline("2026-01-01T00:11:00Z") },
      "2026-01-01T00:11:00Z",
    ],
    [
      "not an action's deadline that is later",
      { claims: [leavingClaim({ terminationAt: at("20m") })], actions: withDeadline("2026-01-01T00:30:00Z") },
      undefined,
    ],
    [
      "what has come already stays as it is",
      { claims: [leavingClaim({ terminationAt: at("11m") })], actions: withDeadline("2026-01-01T00:05:00Z") },
      undefined,
    ],
  ])("%s", (_what, world, expected) => {
    expect(written(decided(now, world))).toBe(expected);
  });

  test("one that has not come is brought nearer until it has", () => {
    const world = { claims: [leavingClaim({ terminationAt: now })], actions: withDeadline("2026-01-01T00:05:00Z") };
    expect(written(decided(now - 1, world))).toBe("2026-01-01T00:05:00Z");
    expect(decided(now - 1, world).wakeAt).toBe(now);
  });
});

describe("a dead node", () => {
  const nodes = [leavingNode({ ready: "Unknown" })];
  const pods = [aPod("p", { on: "a", doNotDisrupt: "true" }), aPod("s", { on: "a", isStatic: true })];
  const attachments = [anAttachment("v", { on: "a" })];

  test("whose instance is gone is not drained: its pods are told, and the finalizer goes", () => {
    const decision = decided(now, { nodes, pods, attachments, instances: gone });
    expect(of(decision, "delete-pod")).toMatchObject([{ pod: { name: "p" }, isMachineGone: true }]);
    expect(of(decision, "update-node")).toMatchObject([{ change: { removeFinalizers: [terminationFinalizer] } }]);
    expect(of(decision, "update-claim")).toEqual([]);
    expect(of(decision, "update-action")[0]?.progress?.steps).toMatchObject([
      { name: "taint", isFinished: true, message: expect.stringContaining("Not needed") },
      { name: "drain", isFinished: true, message: expect.stringContaining("Not needed") },
      { name: "volumes", isFinished: true, message: expect.stringContaining("Not needed") },
      { name: "instance", isFinished: true },
      { name: "finalize", isFinished: false },
    ]);
  });

  test("whose instance is gone takes along those that were told to stop and cannot: their owners may wait for that", () => {
    const stopping = [aPod("p", { on: "a", deletionAt: now - 1 }), aPod("q", { on: "a", phase: "Succeeded" })];
    const world = { claims: [empty({ isEnding: true })], nodes, pods: stopping };
    const ended = decided(now, { ...world, instances: gone });
    expect(of(ended, "delete-pod")).toMatchObject([{ pod: { name: "p" }, isMachineGone: true }]);
    const instances = [{ providerID, state: "terminating", seenAt: now }] as const;
    expect(of(decided(now, { ...world, instances }), "delete-pod")).toEqual([]);
  });

  test("also before it was tainted", () => {
    const decision = decided(now, { nodes: [aNode("a", { ready: "False" })], instances: gone });
    expect(kinds(decision)).toEqual(["delete-node", "update-action"]);
  });

  test("whose instance is gone but which is Ready is drained as any other", () => {
    const decision = decided(now, { pods: [aPod("p", { on: "a" })], instances: gone });
    expect(kinds(decision)).toContain("evict-pod");
    expect(kinds(decision)).not.toContain("update-node");
  });

  test("whose instance runs is drained", () => {
    const instances = [{ providerID, state: "running", seenAt: now }] as const;
    expect(kinds(decided(now, { nodes, pods: [aPod("p", { on: "a" })], instances }))).toContain("evict-pod");
  });

  test("is not dead while another node of its instance is Ready", () => {
    const both = [...nodes, leavingNode({ name: "b" })];
    expect(kinds(decided(now, { nodes: both, instances: gone }))).not.toContain("update-node");
  });

  test.each([
    { instances: [], isAsked: true, wakeAt: undefined },
    { instances: [{ providerID, state: "running", seenAt: now - 59_999 }], isAsked: false, wakeAt: now + 1 },
    { instances: [{ providerID, state: "running", seenAt: now - 60_000 }], isAsked: true, wakeAt: undefined },
  ] as const)("is looked for once a minute: $isAsked", ({ instances, isAsked, wakeAt }) => {
    const decision = decided(now, { nodes, pods: [aPod("p", { on: "a" })], instances });
    expect(kinds(decision).includes("look-up-instance")).toBe(isAsked);
    expect(decision.wakeAt).toBe(wakeAt);
  });

  test("is not looked for while the provider wants to be left alone", () => {
    const failure = { at: now, retryAt: now + 5_000, count: 1, reason: "Throttled", message: "slow down" };
    const decision = decided(now, { nodes, failures: { [`instance/${providerID}`]: failure } });
    expect(kinds(decision)).not.toContain("look-up-instance");
    expect(decision.wakeAt).toBe(now + 5_000);
  });

  test("a Ready one is not looked for", () => {
    expect(kinds(decided(now))).not.toContain("look-up-instance");
  });
});

describe("instance", () => {
  test("it is written that there is no way back before the provider is asked", () => {
    const decision = decided(now, { claims: [empty()] });
    expect(kinds(decision)).toEqual(["update-claim", "update-action"]);
    expect(of(decision, "update-claim")[0]?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "InstanceTerminating", status: "True", reason: "InstanceTerminating" }),
    );
  });

  test("then the provider is asked", () => {
    const decision = decided(now, { claims: [empty({ isEnding: true })] });
    expect(of(decision, "delete-instance")).toMatchObject([{ providerID, claim: { name: "a", uid: "a-claim-uid" } }]);
    expect(codes(decision)).toEqual(["instance-terminating"]);
  });

  test.each([
    { seenAt: now - 4_999, isAsked: false },
    { seenAt: now - 5_000, isAsked: true },
    { seenAt: now - 5_001, isAsked: true },
  ])("and asked again after five seconds: $isAsked", ({ seenAt, isAsked }) => {
    const instances = [{ providerID, state: "terminating", seenAt }] as const;
    const decision = decided(now, { claims: [empty({ isEnding: true })], instances });
    expect(kinds(decision).includes("delete-instance")).toBe(isAsked);
    expect(decision.wakeAt).toBe(isAsked ? undefined : seenAt + 5_000);
  });

  test.each([
    { what: "a minute: every six seconds", takenMs: 60_000, pauseMs: 6_000 },
    { what: "an hour, and for days: every minute", takenMs: 3_600_000, pauseMs: 60_000 },
  ])("more rarely where it has taken $what", ({ takenMs, pauseMs }) => {
    const claims = [withConditions(empty(), { ...ending, since: now - takenMs })];
    const instances = [{ providerID, state: "terminating", seenAt: now }] as const;
    const before = decided(now + pauseMs - 1, { claims, instances });
    expect([kinds(before).includes("delete-instance"), before.wakeAt]).toEqual([false, now + pauseMs]);
    expect(kinds(decided(now + pauseMs, { claims, instances }))).toContain("delete-instance");
  });

  test("one that was just seen running is asked to end at once", () => {
    const instances = [{ providerID, state: "running", seenAt: now }] as const;
    expect(kinds(decided(now, { claims: [empty({ isEnding: true })], instances }))).toContain("delete-instance");
  });

  test.each([
    { retryAt: now + 1, isAsked: false },
    { retryAt: now, isAsked: true },
  ])("a provider that fails is named and asked at its time: $isAsked", ({ retryAt, isAsked }) => {
    const failure = { at: now - 1_000, retryAt, count: 3, reason: "Unknown", message: "the cloud is away" };
    const failures = { [`instance/${providerID}`]: failure };
    const decision = decided(now, { claims: [empty({ isEnding: true })], failures });
    expect(kinds(decision).includes("delete-instance")).toBe(isAsked);
    expect(decision.refusals).toMatchObject([
      { code: "instance-not-ended", until: retryAt, message: expect.stringContaining("the cloud is away") },
    ]);
  });

  test("nothing leads back to the pods", () => {
    const world = { claims: [empty({ isEnding: true })], pods: [aPod("late", { on: "a" })] };
    expect(kinds(decided(now, world))).toEqual(["delete-instance", "update-action"]);
  });

  test("a late pod before that is still moved", () => {
    const decision = decided(now, { claims: [empty()], pods: [aPod("late", { on: "a" })] });
    expect(kinds(decision)).toContain("evict-pod");
    expect(of(decision, "update-claim")[0]?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Drained", status: "Unknown", reason: "Draining" }),
    );
  });
});

test.each([
  ["Emptiness", "Empty"],
  ["Repair", undefined],
] as const)("a claim that goes for %s gives the reason %s", (action, reason) => {
  const actions = [anAction("x", { node: "a", phase: "Running", spec: { action, message: "Why." } })];
  const [update] = of(decided(now, { actions, pods: [aPod("web", { on: "a" })] }), "update-claim");
  const said = update?.status?.conditions?.find(({ type }) => type === "DisruptionReason");
  expect(said?.reason).toBe(reason);
});

test.each<["Emptiness" | "Repair", Partial<ActionView["status"]>, string[]]>([
  ["Emptiness", {}, ["Node a", "NodeClaim a"]],
  ["Emptiness", { steps: [{ name: "taint", startedAt: "2026-01-01T00:00:00Z" }] }, []],
  ["Repair", {}, []],
])("that it goes for %s is told on node and claim once, before its first step %o", (action, status, told) => {
  const actions = [anAction("x", { node: "a", phase: "Running", spec: { action, message: "Why." }, status })];
  const { notices } = decided(now, { actions, pods: [aPod("web", { on: "a" })] });
  const said = notices.filter(({ reason }) => reason === "DisruptionTerminating");
  expect(said.map(({ about }) => `${about.kind} ${about.name}`)).toEqual(told);
  expect(new Set(said.map(({ message }) => message))).toEqual(
    new Set(told.length === 0 ? [] : ["Is taken away by NodeAction x (Empty). Why."]),
  );
});

describe("a claim that never got far", () => {
  test("never launched: the finalizer goes, the provider is not asked", () => {
    const decision = decided(now, { claims: [leavingClaim({ stage: "new" })], nodes: [] });
    expect(decision.commands).toMatchObject([
      { kind: "update-claim", resourceVersion: "1", metadata: { removeFinalizers: [terminationFinalizer] } },
    ]);
  });

  test("launched and not registered: the instance goes, no node is touched", () => {
    const claims = [withConditions(leavingClaim({ stage: "launched" }), ending)];
    const nodes = [aNode("a", { finalizers: [], taints: [unregisteredTaint] })];
    const world = { claims, nodes, pods: [aPod("p", { on: "a" })] };
    const decision = decided(now, world);
    expect(kinds(decision)).toEqual(["delete-instance", "update-action"]);
    expect(of(decision, "update-action")[0]?.progress?.steps?.[1]).toMatchObject({
      name: "drain",
      message: "Not needed: the node had not registered.",
    });
    // What stood for the instance follows it.
    expect(kinds(decided(now, { ...world, instances: gone }))).toEqual(["delete-node", "update-action"]);
  });

  test("launched and without a node: no entry is needed", () => {
    const claims = [withConditions(leavingClaim({ stage: "launched" }), ending)];
    expect(kinds(decided(now, { claims, nodes: [] }))).toEqual(["delete-instance"]);
  });
});

describe("a node that has the claim's providerID and nothing of ours", () => {
  const theirs = aNode("theirs", { providerID, finalizers: [] });
  const owner = (uid: string) => ({ apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: "a", uid });
  const deletionOf = (claims: readonly ClaimView[], nodes: readonly NodeView[], more: WorldOptions = {}) => {
    const actions = [anAction("deletion-a-uid", {})];
    return decided(now, { claims: [...claims], nodes: [...nodes], actions, ...more });
  };

  test.each<[string, Partial<NodeView>, Partial<ClaimView["status"]>, boolean]>([
    ["nothing else", {}, {}, false],
    [
      "the label of a registered one, which a kubelet may bring along",
      { labels: { [registeredKey]: "true" } },
      {},
      false,
    ],
    ["another claim as its owner", { owners: [owner("another-uid")] }, {}, false],
    ["the claim as its owner", { owners: [owner("a-claim-uid")] }, {}, true],
    ["the name that the claim says", {}, { nodeName: "theirs" }, true],
    ["our finalizer", { finalizers: [terminationFinalizer] }, {}, true],
    ["the taint of one that is not registered yet", { taints: [unregisteredTaint] }, {}, true],
  ])("is the claim's own with %s", (_, node, status, isOwn) => {
    const claims = [leavingClaim({ stage: "launched", status })];
    const decision = decided(now, { claims, nodes: [{ ...theirs, labels: {}, ...node }], actions: [] });
    expect(decision.proposals.map(proposal => proposal.node.name)).toEqual(isOwn ? ["theirs"] : []);
    expect(of(decision, "delete-node")).toEqual([]);
  });

  test("holds the instance while it is Ready; the claim's own node is drained all the same", () => {
    const decision = deletionOf([empty()], [leavingNode(), theirs]);
    expect(kinds(decision)).toEqual(["update-claim", "update-action"]);
    const message =
      "Node theirs has the providerID of claim a, is Ready and was not registered for it: neither it nor the instance is touched.";
    expect(decision.refusals).toEqual([
      expect.objectContaining({ subject: "claim/a", code: "node-not-ours", message }),
    ]);
    const [update] = of(decision, "update-claim");
    expect(update?.status?.conditions).toContainEqual({
      type: "InstanceTerminating",
      status: "Unknown",
      reason: "NodeNotOurs",
      message,
    });
    const pods = [aPod("p", { on: "a" }), aPod("q", { on: "theirs" })];
    const draining = deletionOf([leavingClaim()], [leavingNode(), theirs], { pods });
    expect(of(draining, "evict-pod").map(({ pod }) => pod.name)).toEqual(["p"]);
  });

  test.each([
    [at("11m") - 1, ["node-not-ours"]],
    [at("11m"), ["instance-terminating"]],
  ])("holds it no longer than the claim has time: %d", (instant, codes) => {
    const claims = [{ ...empty(), terminationAt: at("11m") }];
    const world = { claims, nodes: [leavingNode(), theirs], actions: [anAction("deletion-a-uid", {})] };
    const decision = decided(instant, world);
    expect(decision.refusals.map(({ code }) => code)).toEqual(codes);
    if (instant < at("11m")) expect(decision.wakeAt).toBe(at("11m"));
  });

  test("is left behind when it is not Ready", () => {
    const silent = aNode("theirs", { providerID, finalizers: [], ready: "Unknown" });
    expect(deletionOf([empty()], [leavingNode(), silent]).refusals).toMatchObject([{ code: "instance-terminating" }]);
    const last = decided(now, { claims: [empty({ isEnding: true })], nodes: [silent], actions: [], instances: gone });
    expect(of(last, "update-claim")[0]?.metadata).toEqual({ removeFinalizers: [terminationFinalizer] });
    expect(kinds(last)).toEqual(["update-claim"]);
  });
});

describe("finalize", () => {
  const ended = { claims: [empty({ isEnding: true })], instances: gone };

  test("first the node's finalizer", () => {
    const decision = decided(now, ended);
    expect(of(decision, "update-node")).toMatchObject([
      { node: { uid: "a-uid" }, change: { removeFinalizers: [terminationFinalizer] } },
    ]);
    expect(of(decision, "update-claim")).toEqual([]);
  });

  test("a node that fell silent as its machine ended was drained all the same", () => {
    const decision = decided(now, { ...ended, nodes: [leavingNode({ ready: "Unknown" })] });
    const [update] = of(decision, "update-action");
    expect(update?.progress?.steps?.map(({ message }) => message)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("then, when no node is left, the claim's", () => {
    expect(decided(now, { ...ended, nodes: [] }).commands).toMatchObject([
      { kind: "update-claim", metadata: { removeFinalizers: [terminationFinalizer] } },
    ]);
  });

  test("a node that somebody else holds is waited for, and who holds it is told", () => {
    const nodes = [leavingNode({ finalizers: ["storage.example/wipe"] })];
    const decision = decided(now, { ...ended, nodes });
    expect(kinds(decision)).toEqual(["update-action"]);
    expect(decision.refusals).toMatchObject([
      { code: "foreign-finalizer", message: expect.stringContaining("storage.example/wipe") },
    ]);
  });

  test("all nodes of the instance", () => {
    const nodes = [leavingNode(), leavingNode({ name: "b" })];
    expect(of(decided(now, { ...ended, nodes }), "update-node").map(({ node }) => node.name)).toEqual(["a", "b"]);
  });
});

describe("what fails is told", () => {
  test.each<[string, WorldOptions, string]>([
    ["the node's taint", { nodes: [aNode("a")] }, "node/a"],
    ["the claim's condition", {}, "claim/a"],
    [
      "a deletion by force",
      { claims: [empty({ terminationAt: at("10m") })], pods: [aPod("p", { on: "a" })] },
      "pod/default/p",
    ],
  ])("%s", (_what, world, lane) => {
    const failure = { at: now, retryAt: now + 60_000, count: 9, reason: "Forbidden", message: "a webhook says no" };
    const decision = decided(now, { ...world, failures: { [lane]: failure } });
    expect(decision.refusals[0]).toMatchObject({
      code: "write-failed",
      until: now + 60_000,
      message: expect.stringContaining("a webhook says no"),
    });
    // The next try is too fleeting for the ledger.
    expect(of(decision, "update-action")[0]?.progress?.waitingFor).not.toHaveProperty("until");
  });

  test("an eviction that a budget refused is not told of a pod that is deleted by force now", () => {
    const world = {
      claims: [leavingClaim({ terminationAt: now - 1 })],
      nodes: [leavingNode()],
      pods: [aPod("p", { on: "a" })],
    };
    const failed = (reason: string) => ({ at: now - 1, retryAt: now, count: 1, reason, message: "it says no" });
    const codes = (reason: string) =>
      decided(now, { ...world, failures: { "pod/default/p": failed(reason) } }).refusals.map(({ code }) => code);
    expect(of(decided(now, world), "delete-pod")).toHaveLength(1);
    expect(codes("TooManyRequests")).not.toContain("write-failed");
    expect(codes("Forbidden")).toContain("write-failed");
  });

  test("a very long answer is cut", () => {
    const failure = { at: now, retryAt: now, count: 1, reason: "Invalid", message: "x".repeat(10_000) };
    const decision = decided(now, { nodes: [aNode("a")], failures: { "node/a": failure } });
    expect(decision.refusals[0]?.message.length).toBeLessThan(400);
  });
});
