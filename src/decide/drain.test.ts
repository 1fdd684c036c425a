// Pods leave: in tiers, as their budgets allow, and by force only when the node's time runs out.

import { describe, expect, test } from "vitest";
import { aBudget, aCondition, anAction, aPod, aPool, at, type WorldOptions } from "../../test/builders.ts";
import { decided, deletedAt, leavingClaim, leavingNode, withConditions } from "../../test/termination-world.ts";
import type { PodView } from "../snapshot/views.ts";
import type { Decision } from "./decision.ts";

const now = at("11m");

function on(name: string, options: Partial<PodView> = {}): PodView {
  return aPod(name, { on: "a", ...options });
}

/** `evict default/web`, `delete default/web by <seconds after now>`. */
function asked({ commands }: Decision, from = now): string[] {
  return commands.flatMap(command => {
    if (command.kind === "evict-pod") return `evict ${command.pod.name}`;
    if (command.kind === "delete-pod") return `delete ${command.pod.name} by ${(command.deadline - from) / 1000}`;
    return [];
  });
}

function codes({ refusals }: Decision): string[] {
  return refusals.map(({ code }) => code);
}

function drainedIs({ commands }: Decision): string | undefined {
  const update = commands.find(({ kind }) => kind === "update-claim");
  const conditions = update?.kind === "update-claim" ? update.status?.conditions : undefined;
  return conditions?.find(({ type }) => type === "Drained")?.status;
}

/** With a claim whose time is up then. */
function until(terminationAt: number, world: WorldOptions): WorldOptions {
  return { claims: [leavingClaim({ terminationAt })], ...world };
}

describe("who is asked to leave", () => {
  test("a pod without an owner as any other", () => {
    const { ownerKind: _, ...pod } = on("bare");
    expect(asked(decided(now, { pods: [pod] }))).toEqual(["evict bare"]);
  });

  test("each with its uid, so that a new pod of the same name is safe", () => {
    const { commands } = decided(now, { pods: [on("web", { uid: "old" })] });
    expect(commands).toContainEqual(
      expect.objectContaining({ kind: "evict-pod", pod: { namespace: "default", name: "web", uid: "old" } }),
    );
  });

  test("each with how much it asks of a node: the largest go first where there is not room for all", () => {
    const needs = { spec: { containers: [{ name: "main", resources: { requests: { cpu: "2" } } }] } };
    const { commands } = decided(now, { pods: [on("web", { needs })] });
    expect(commands).toContainEqual(expect.objectContaining({ kind: "evict-pod", hardness: 2 }));
  });

  test.each<[string, Partial<PodView>]>([
    ["static", { isStatic: true }],
    ["tolerating the taint", { toleratesDisruption: true }],
    ["that has succeeded", { phase: "Succeeded" }],
    ["that has failed", { phase: "Failed" }],
  ])("not one %s, and nobody waits for it", (_what, options) => {
    const decision = decided(now, { pods: [on("p", options)] });
    expect(asked(decision)).toEqual([]);
    expect(codes(decision)).toEqual(["late-pods"]);
  });

  test("not one on another node", () => {
    expect(asked(decided(now, { pods: [aPod("p", { on: "b" })] }))).toEqual([]);
  });

  test("not one that is stopping already", () => {
    const decision = decided(now, { pods: [on("p", { deletionAt: at("11m20s") })] });
    expect(asked(decision)).toEqual([]);
    expect(decision.refusals).toMatchObject([
      { code: "pod-stopping", until: at("12m20s"), message: expect.stringContaining("default/p") },
    ]);
    expect(decision.wakeAt).toBe(at("12m20s"));
  });

  test("said on the pod", () => {
    expect(decided(now, { pods: [on("p")] }).notices).toMatchObject([
      { about: { kind: "Pod", name: "p", namespace: "default" }, type: "Normal", reason: "Evicted" },
    ]);
  });
});

describe("tiers", () => {
  const tiers = [
    on("w", { tier: "workload" }),
    on("d", { tier: "daemon" }),
    on("c", { tier: "critical" }),
    on("cd", { tier: "critical-daemon" }),
  ];

  test.each([
    { gone: 0, next: "evict w" },
    { gone: 1, next: "evict d" },
    { gone: 2, next: "evict c" },
    { gone: 3, next: "evict cd" },
  ])("after $gone of them: $next", ({ gone, next }) => {
    expect(asked(decided(now, { pods: tiers.slice(gone) }))).toEqual([next]);
  });

  test("the next one waits until the last pod of the one before is gone", () => {
    const stopping = on("w", { deletionAt: at("11m5s") });
    expect(asked(decided(now, { pods: [stopping, on("d", { tier: "daemon" })] }))).toEqual([]);
  });

  test("also while one of them is held", () => {
    const held = on("w", { doNotDisrupt: "true" });
    expect(asked(decided(now, { pods: [held, on("d", { tier: "daemon" })] }))).toEqual([]);
  });

  test("all of one tier at once", () => {
    expect(asked(decided(now, { pods: [on("x"), on("y"), on("z")] }))).toEqual(["evict x", "evict y", "evict z"]);
  });
});

describe("do-not-disrupt", () => {
  test("holds the pod and the node, and says who", () => {
    const decision = decided(now, { pods: [on("p", { doNotDisrupt: "true" })] });
    expect(asked(decision)).toEqual([]);
    expect(decision.refusals).toMatchObject([
      { code: "do-not-disrupt", message: expect.stringContaining("default/p") },
    ]);
    expect(decision.refusals[0]).not.toHaveProperty("until");
    expect(decision.wakeAt).toBeUndefined();
    expect(decision.notices).toMatchObject([{ about: { kind: "Node", name: "a" }, reason: "FailedDraining" }]);
  });

  test.each([
    { when: "10m59s999ms", expected: [] },
    { when: "11m", expected: ["evict p"] },
    { when: "11m0s1ms", expected: ["evict p"] },
  ])("for 11m: at $when $expected", ({ when, expected }) => {
    const decision = decided(at(when), { pods: [on("p", { doNotDisrupt: "11m" })] });
    expect(asked(decision)).toEqual(expected);
    if (expected.length === 0) expect(decision).toMatchObject({ wakeAt: at("11m"), refusals: [{ until: at("11m") }] });
  });

  test("no longer than the pool bears it", () => {
    const pools = [aPool("p", { spec: { disruption: { maxDoNotDisrupt: "11m" } } })];
    const world = { pools, claims: [leavingClaim({ pool: "p" })], pods: [on("p", { doNotDisrupt: "true" })] };
    expect(decided(now - 1, world).wakeAt).toBe(now);
    expect(asked(decided(now, world))).toEqual(["evict p"]);
  });

  test("that nobody can read holds like true and is told", () => {
    const decision = decided(now, { pods: [on("p", { doNotDisrupt: "soon" })] });
    expect(asked(decision)).toEqual([]);
    expect(decision.refusals).toMatchObject([{ code: "do-not-disrupt", message: expect.stringContaining('"soon"') }]);
    expect(decision.notices).toContainEqual(
      expect.objectContaining({ reason: "InvalidDoNotDisruptAnnotation", type: "Warning" }),
    );
  });

  test("does not hold a pod that is stopping already", () => {
    const decision = decided(now, { pods: [on("p", { doNotDisrupt: "true", deletionAt: at("11m5s") })] });
    expect(codes(decision)).toEqual(["pod-stopping"]);
  });

  test("on the node does not stop what has begun", () => {
    const nodes = [leavingNode({ annotations: { "karpenter.sh/do-not-disrupt": "true" } })];
    expect(asked(decided(now, { nodes, pods: [on("p")] }))).toEqual(["evict p"]);
  });
});

describe("budgets", () => {
  test("one that allows none holds the pod, by name", () => {
    const decision = decided(now, { pods: [on("p")], budgets: [aBudget("p")] });
    expect(asked(decision)).toEqual([]);
    expect(decision.refusals).toMatchObject([
      { code: "budget-allows-none", message: "PodDisruptionBudget p does not let pod default/p go now." },
    ]);
    expect(decision.notices).toMatchObject([{ reason: "FailedDraining" }]);
  });

  test("one that allows some is spent once", () => {
    const labels = { app: "web" };
    const pods = ["x", "y", "z"].map(name => on(name, { labels }));
    const decision = decided(now, { pods, budgets: [aBudget("web", { disruptionsAllowed: 2 })] });
    expect(asked(decision)).toEqual(["evict x", "evict y"]);
    expect(decision.refusals).toMatchObject([
      { code: "budget-allows-none", message: expect.stringContaining("default/z") },
      { code: "pods-asked" },
    ]);
  });

  test("two over one pod let nobody go, and are both named", () => {
    const selector = { matchLabels: { app: "p" } };
    const both = { selector, disruptionsAllowed: 5 };
    const decision = decided(now, { pods: [on("p")], budgets: [aBudget("one", both), aBudget("two", both)] });
    expect(asked(decision)).toEqual([]);
    expect(decision.refusals).toMatchObject([
      { code: "several-budgets", message: expect.stringContaining("(one, two)") },
    ]);
    expect(decision.notices).toMatchObject([
      { reason: "FailedDraining", message: expect.stringContaining("one, two") },
    ]);
  });

  test("one that has not been worked out since it was changed is not believed", () => {
    const budgets = [aBudget("p", { disruptionsAllowed: 3, isObserved: false })];
    const decision = decided(now, { pods: [on("p")], budgets });
    expect(asked(decision)).toEqual([]);
    expect(codes(decision)).toEqual(["budget-not-observed"]);
  });

  test("in another namespace says nothing", () => {
    const budgets = [aBudget("p", { namespace: "other" })];
    expect(asked(decided(now, { pods: [on("p")], budgets }))).toEqual(["evict p"]);
  });

  test.each<[string, Partial<PodView>]>([
    ["has not begun to run", { phase: "Pending", isReady: false }],
    ["is not ready", { isReady: false }],
  ])("a pod that %s may go beside it: the server is asked", (_what, options) => {
    expect(asked(decided(now, { pods: [on("p", options)], budgets: [aBudget("p")] }))).toEqual(["evict p"]);
  });

  test("of one that is not ready the budget's places are not spent", () => {
    const labels = { app: "web" };
    const pods = [on("x", { labels, isReady: false }), on("y", { labels })];
    const decision = decided(now, { pods, budgets: [aBudget("web", { disruptionsAllowed: 1 })] });
    expect(asked(decision)).toEqual(["evict x", "evict y"]);
  });
});

describe("an eviction that was refused", () => {
  const failure = {
    at: now - 1_000,
    retryAt: now + 2_000,
    count: 1,
    reason: "TooManyRequests",
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
  };
  const world: WorldOptions = {
    pods: [on("p")],
    budgets: [aBudget("p", { disruptionsAllowed: 1 })],
    failures: { "pod/default/p": failure },
  };

  test.each([
    { when: now, expected: [] },
    { when: now + 1_999, expected: [] },
    { when: now + 2_000, expected: ["evict p"] },
  ])("is tried again at its time: $when", ({ when, expected }) => {
    expect(asked(decided(when, world))).toEqual(expected);
  });

  test("is told with the budget and the server's words", () => {
    const decision = decided(now, world);
    expect(decision).toMatchObject({
      wakeAt: now + 2_000,
      refusals: [{ code: "eviction-refused", until: now + 2_000, message: expect.stringMatching(/Budget p.*violate/) }],
    });
  });

  test("is said in the same words while it is tried again: neither claim nor ledger is written with each try", () => {
    const again = decided(now + 2_000, world);
    const written = ({ commands }: Decision) => commands.filter(({ kind }) => kind !== "evict-pod");
    expect(written(again)).toEqual(written(decided(now, world)));
    expect(codes(again)).toEqual(["eviction-refused"]);
    expect(again.refusals[0]).not.toHaveProperty("until");
  });

  test("without an answer is told as that", () => {
    const decision = decided(now, { pods: [on("p")], failures: { "pod/default/p": { ...failure, message: "" } } });
    expect(decision.refusals[0]?.message).toContain("no answer came");
  });

  test("holds back no deletion by force", () => {
    const forced = { ...world, claims: [leavingClaim({ terminationAt: at("11m10s") })] };
    expect(asked(decided(now, forced))).toEqual(["delete p by 10"]);
  });
});

describe("pods that are stuck", () => {
  test.each([
    { when: at("12m") - 1, isWaitedFor: true },
    { when: at("12m"), isWaitedFor: false },
    { when: at("12m") + 1, isWaitedFor: false },
  ])("a minute beyond their grace: waited for at $when: $isWaitedFor", ({ when, isWaitedFor }) => {
    const decision = decided(when, { pods: [on("p", { deletionAt: at("11m") })] });
    expect(codes(decision)).toEqual([isWaitedFor ? "pod-stopping" : "late-pods"]);
  });

  test("no longer than the node's time, once their grace is over", () => {
    const world = until(at("11m10s"), { pods: [on("p", { deletionAt: at("11m") })] });
    expect(codes(decided(at("11m10s") - 1, world))).toEqual(["pod-stopping"]);
    expect(drainedIs(decided(at("11m10s"), world))).toBe("True");
  });

  test("but always for their grace", () => {
    const world = until(at("10m"), { pods: [on("p", { deletionAt: at("11m1s") })] });
    expect(codes(decided(at("11m1s") - 1, world))).toEqual(["pod-stopping"]);
    expect(drainedIs(decided(at("11m1s"), world))).toBe("True");
  });
});

describe("the node's time runs out", () => {
  test.each([
    { when: at("19m30s") - 1, expected: [] },
    { when: at("19m30s"), expected: ["delete p by 30"] },
    { when: at("19m30s") + 1, expected: ["delete p by 29.999"] },
  ])("a pod goes by force when its own grace just fits: $when", ({ when, expected }) => {
    const world = until(at("20m"), { pods: [on("p")], budgets: [aBudget("p")] });
    const decision = decided(when, world);
    expect(asked(decision, when)).toEqual(expected);
    if (expected.length === 0) expect(decision.wakeAt).toBe(at("19m30s"));
  });

  test("past budgets and do-not-disrupt, and says so", () => {
    const selector = { matchLabels: { app: "p" } };
    const decision = decided(
      now,
      until(at("11m10s"), {
        pods: [on("p", { doNotDisrupt: "true" })],
        budgets: [aBudget("one", { selector }), aBudget("two", { selector })],
      }),
    );
    expect(asked(decision)).toEqual(["delete p by 10"]);
    expect(decision.notices.map(({ reason }) => reason)).toEqual(["TerminationGracePeriodExpiring", "Disrupted"]);
  });

  test("not gated by tiers", () => {
    const pods = [
      on("w", { doNotDisrupt: "true", graceMs: 5_000 }),
      on("cd", { tier: "critical-daemon", graceMs: 600_000 }),
      on("d", { tier: "daemon", graceMs: 5_000 }),
    ];
    const decision = decided(now, until(at("12m"), { pods }));
    expect(asked(decision)).toEqual(["delete cd by 60"]);
    expect(decision.wakeAt).toBe(at("11m55s"));
  });

  test("a hold is told with the instant at which it ends by force", () => {
    const decision = decided(now, until(at("20m"), { pods: [on("p", { doNotDisrupt: "true" })] }));
    expect(decision.refusals).toMatchObject([{ code: "do-not-disrupt", until: at("19m30s") }]);
  });

  test("a pod that would stop too late is told to stop sooner", () => {
    const pods = [on("p", { deletionAt: at("15m"), graceMs: 300_000 })];
    const decision = decided(now, until(at("12m"), { pods }));
    expect(asked(decision)).toEqual(["delete p by 60"]);
  });

  test.each([at("12m") - 1_000, at("12m")])("one that stops in time is left alone: %d", deletionAt => {
    const pods = [on("p", { deletionAt, graceMs: 300_000 })];
    expect(asked(decided(now, until(at("12m"), { pods })))).toEqual([]);
  });

  test("nobody is told again who has only the shortest grace left", () => {
    const world = until(at("10m"), { pods: [on("p", { deletionAt: now + 1_000 })] });
    const early = decided(now - 1, world);
    expect(asked(early)).toEqual(["delete p by -60"]);
    expect(early.wakeAt).toBe(now);
    expect(asked(decided(now, world))).toEqual([]);
  });

  test("static and tolerating pods are left to the machine", () => {
    const pods = [on("s", { isStatic: true }), on("t", { toleratesDisruption: true })];
    expect(asked(decided(now, until(at("10m"), { pods })))).toEqual([]);
  });

  test.each<[string, Partial<PodView>, string[]]>([
    ["all pods at once", {}, ["delete p by -60"]],
    ["also with a grace of an hour", { graceMs: 3_600_000 }, ["delete p by -60"]],
  ])("by force from the start: %s", (_what, options, expected) => {
    expect(asked(decided(now, until(at("10m"), { pods: [on("p", options)] })))).toEqual(expected);
  });

  test("the deadline of an action that joined counts as the claim's own, once the claim says so", () => {
    const actions = [anAction("deletion-a-uid", { spec: { deadline: "2026-01-01T00:11:00Z" } })];
    expect(asked(decided(now, { actions, pods: [on("p")] }))).toEqual(["evict p"]);
    expect(asked(decided(now, until(at("11m"), { actions, pods: [on("p")] })))).toEqual(["delete p by 0"]);
  });
});

describe("the shortest drain", () => {
  const draining = (since: number) => withConditions(leavingClaim(), aCondition("Drained", "Unknown", { since }));

  test("begins when the taint is seen", () => {
    const decision = decided(now, {});
    expect(drainedIs(decision)).toBe("Unknown");
    expect(codes(decision)).toEqual(["late-pods"]);
    expect(decision.wakeAt).toBeUndefined();
  });

  test.each([
    { when: now + 4_999, status: undefined },
    { when: now + 5_000, status: "True" },
    { when: now + 5_001, status: "True" },
  ])("is five seconds: at $when $status", ({ when, status }) => {
    const decision = decided(when, { claims: [draining(now)] });
    expect(decision.refusals[0]?.code).toBe(status === undefined ? "late-pods" : "instance-terminating");
    if (status === undefined)
      expect(decision).toMatchObject({ wakeAt: now + 5_000, refusals: [{ until: now + 5_000 }] });
    else expect(drainedIs(decision)).toBe(status);
  });

  test("catches a pod that was bound before", () => {
    const decision = decided(now + 5_000, { claims: [draining(now)], pods: [on("late")] });
    expect(asked(decision)).toEqual(["evict late"]);
  });

  test("is not waited for by force", () => {
    const claims = [leavingClaim({ terminationAt: deletedAt })];
    expect(drainedIs(decided(now, { claims }))).toBe("True");
  });

  test("counts from the deletion where nobody says since when", () => {
    const { since: _, ...undated } = aCondition("Drained", "Unknown");
    const claims = [withConditions(leavingClaim(), undated)];
    expect(drainedIs(decided(deletedAt + 5_000, { claims }))).toBe("True");
  });
});

describe("a gentle repair of a node whose kubelet is silent", () => {
  const silence = { kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown", seenAt: "" } as const;
  const world = (evidence: readonly object[], ready: "Unknown" | "False" | "True" = "Unknown"): WorldOptions => ({
    nodes: [leavingNode({ ready })],
    pods: [on("w"), on("d", { tier: "daemon", doNotDisrupt: "true" })],
    budgets: [aBudget("w")],
    actions: [
      anAction("repair-a-uid", {
        phase: "Running",
        spec: { action: "Repair", termination: "Graceful", evidence: [...evidence] as never },
      }),
    ],
  });

  test("deletes its pods at once, whatever holds them: they run elsewhere", () => {
    const decision = decided(now, world([silence]));
    expect(asked(decision)).toEqual(["delete d by -60", "delete w by -60"]);
    expect(decision.notices.filter(({ reason }) => reason === "Disrupted")).toHaveLength(2);
  });

  test.each<[string, WorldOptions]>([
    ["it speaks again", world([silence], "True")],
    ["it says itself that it is not Ready", world([silence], "False")],
    [
      "something else stood beside it and may be all that was borne out",
      world([silence, { ...silence, conditionType: "Disk" }]),
    ],
    ["it was never Ready: no lease was asked about", world([{ ...silence, kind: "NeverReady" }])],
    ["nothing is given", world([])],
  ])("is as gentle as any if %s", (_what, scene) => {
    expect(asked(decided(now, scene))).toEqual([]);
    expect(codes(decided(now, scene))).toContain("budget-allows-none");
  });
});

describe("whoever holds it up is named", () => {
  test("the held before the stopping before the asked", () => {
    const pods = [
      on("asked"),
      on("held", { doNotDisrupt: "true" }),
      on("soon", { deletionAt: at("11m5s") }),
      on("later", { deletionAt: at("11m20s") }),
    ];
    const decision = decided(now, { pods });
    expect(codes(decision)).toEqual(["do-not-disrupt", "pod-stopping", "pods-asked"]);
    expect(decision.refusals[1]?.message).toContain("default/later");
  });

  test("on the claim's condition and in the ledger alike", () => {
    const { commands } = decided(now, { pods: [on("p")], budgets: [aBudget("p")] });
    const message = "PodDisruptionBudget p does not let pod default/p go now.";
    expect(commands).toMatchObject([
      { kind: "update-claim", status: { conditions: expect.arrayContaining([expect.objectContaining({ message })]) } },
      { kind: "update-action", progress: { waitingFor: { reason: "BudgetAllowsNone", message } } },
    ]);
  });
});
