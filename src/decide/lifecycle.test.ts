import { describe, expect, test } from "vitest";
import {
  aClaim,
  aClassRef,
  aCondition,
  aNode,
  aPool,
  aProvider,
  aWorld,
  at,
  t0,
  type WorldOptions,
} from "../../test/builders.ts";
import { formatTime, type Instant } from "../api/time.ts";
import type { ClaimView } from "../snapshot/views.ts";
import type { Command, Decision } from "./decision.ts";
import { nothing } from "./decision.ts";
import { lifecycle } from "./lifecycle.ts";

const settings = { cluster: "test", dryRun: false, foreignClaims: "ignore" } as const;
const decide = (world: WorldOptions, now: Instant = at("1h")): Decision =>
  lifecycle.decide("a", { picture: aWorld(world), now, settings, epoch: 1 });

const classKey = "fettle.dev/simulatednodeclass";
const awaiting = (type: string) => ({ type, status: "Unknown", reason: "AwaitingReconciliation", message: "" });
const failed = (reason: string, message = "none left") =>
  aClaim("a", { stage: "new", pool: "web", conditions: [aCondition("Launched", "False", { reason, message })] });

function only<K extends Command["kind"]>(decision: Decision, kind: K): Extract<Command, { kind: K }> {
  expect(kinds(decision)).toEqual([kind]);
  return decision.commands[0] as Extract<Command, { kind: K }>;
}

function written(decision: Decision, type: string) {
  const { status } = only(decision, "update-claim");
  return status?.conditions?.find(condition => condition.type === type);
}

const kinds = (decision: Decision) => decision.commands.map(({ kind }) => kind);
const codes = (decision: Decision) => decision.refusals.map(({ code }) => code);

test("a class whose name is too long for a label does not keep its claim from beginning", () => {
  const claim = aClaim("a", {
    stage: "new",
    finalizers: [],
    spec: { nodeClassRef: { ...aClassRef, name: "c".repeat(64) } },
  });
  const label = only(decide({ claims: [claim] }), "update-claim").metadata?.labels?.[classKey] ?? "";
  expect(label).toMatch(/^c{54}-[0-9a-f]{8}$/);
});

describe("a claim that is new", () => {
  const claim = aClaim("a", { stage: "new", finalizers: [] });

  test("gets its finalizer before anything else, with its class and the conditions to come", () => {
    const command = only(decide({ claims: [claim] }), "update-claim");
    expect(command).toMatchObject({ claim: { name: "a", uid: claim.uid }, resourceVersion: claim.resourceVersion });
    expect(command.metadata).toEqual({
      addFinalizers: ["karpenter.sh/termination"],
      labels: { [classKey]: "default" },
    });
    expect(command.status?.conditions).toEqual([
      awaiting("Launched"),
      awaiting("Registered"),
      awaiting("Initialized"),
      {
        type: "Ready",
        status: "Unknown",
        reason: "ReconcilingDependents",
        message: "Launched=Unknown, Registered=Unknown, Initialized=Unknown",
      },
    ]);
  });

  test("keeps the class label that somebody gave it", () => {
    const labelled = { ...claim, labels: { [classKey]: "mine" } };
    const { metadata } = only(decide({ claims: [labelled] }), "update-claim");
    expect(metadata).toEqual({ addFinalizers: ["karpenter.sh/termination"] });
  });

  test("is launched once it has the finalizer", () => {
    const command = only(decide({ claims: [aClaim("a", { stage: "new" })] }), "launch-instance");
    expect(command.claim).toEqual({ name: "a", uid: claim.uid });
  });

  test.each<[string, WorldOptions]>([
    ["is not there", {}],
    ["is only asked for yet", { claims: [{ ...claim, uid: "", isProvisional: true }] }],
    ["is being deleted", { claims: [{ ...claim, deletingSince: t0 }] }],
    [
      "is of a class that another controller serves",
      {
        claims: [
          aClaim("a", { spec: { nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "x" } } }),
        ],
      },
    ],
  ])("is left alone when it %s", (_, world) => {
    expect(decide(world)).toEqual(nothing);
  });

  test("says so when it names no class and the provider has no default", () => {
    const provider = aProvider({ defaultClass: undefined });
    const decision = decide({ claims: [claim], provider });
    expect([decision.commands, codes(decision)]).toEqual([[], ["no-node-class"]]);
    expect(decision.refusals[0]?.message).toBe("Claim a names no node class, and the provider test has no default.");
  });
});

describe("a launch is held", () => {
  const claim = aClaim("a", { stage: "new", pool: "web" });
  const backingOff = aPool("web", { status: { launchBackoff: { failures: 2, until: formatTime(at("10m")) } } });

  test.each<[string, WorldOptions, string, string]>([
    [
      "its pool is being deleted",
      { pools: [aPool("web", { deletingSince: t0 })] },
      "pool-deleting",
      "NodePoolTerminating",
    ],
    [
      "its pool cannot be understood",
      { pools: [aPool("web", { invalid: "spec.x is odd" })] },
      "pool-invalid",
      "NodePoolValidationFailed",
    ],
    [
      "its class is not found",
      { provider: aProvider({ nodeClass: () => ({ state: "NotFound", message: "there is none" }) }) },
      "node-class-not-ready",
      "NodeClassNotFound",
    ],
    [
      "its class is being deleted",
      { provider: aProvider({ nodeClass: () => ({ state: "Terminating", message: "it goes" }) }) },
      "node-class-not-ready",
      "NodeClassTerminating",
    ],
    [
      "its class is not ready",
      { provider: aProvider({ nodeClass: () => ({ state: "NotReady", message: "no image" }) }) },
      "node-class-not-ready",
      "NodeClassNotReady",
    ],
  ])("while %s", (_, world, code, reason) => {
    const decision = decide({ pools: [aPool("web")], ...world, claims: [claim] });
    expect(codes(decision)).toEqual([code]);
    expect(written(decision, "Launched")).toMatchObject({ status: "Unknown", reason });
    expect(decision.refusals[0]?.message).toBe(written(decision, "Launched")?.message);
    expect(decision.wakeAt).toBeUndefined();
  });

  test.each<[string, Instant, boolean]>([
    ["one millisecond before its end", at("10m") - 1, true],
    ["at its end", at("10m"), false],
    ["one millisecond after", at("10m") + 1, false],
  ])("while its pool backs off: %s", (_, now, isHeld) => {
    const decision = decide({ claims: [claim], pools: [backingOff] }, now);
    expect(kinds(decision)).toEqual([isHeld ? "update-claim" : "launch-instance"]);
    if (!isHeld) return;
    expect(decision.refusals[0]).toMatchObject({
      code: "pool-backing-off",
      message: "Launches for pool web are held back until 2026-01-01T00:10:00Z after 2 that failed in a row.",
      until: at("10m"),
    });
    expect(decision.wakeAt).toBe(at("10m"));
    expect(written(decision, "Launched")).toMatchObject({ status: "Unknown", reason: "LaunchBackoff" });
  });

  test("and said once: the condition is not written again", () => {
    const first = decide({ claims: [claim], pools: [backingOff] }, at("1m"));
    const conditions = only(first, "update-claim").status?.conditions?.map(one => ({ since: t0, ...one })) ?? [];
    const again = decide({ claims: [{ ...claim, conditions }], pools: [backingOff] }, at("1m"));
    expect([again.commands, codes(again)]).toEqual([[], ["pool-backing-off"]]);
  });

  test("but not for a claim without a pool, nor for one whose pool is gone", () => {
    expect(kinds(decide({ claims: [aClaim("a", { stage: "new" })], pools: [backingOff] }, at("1m")))).toEqual([
      "launch-instance",
    ]);
    expect(kinds(decide({ claims: [claim] }, at("1m")))).toEqual(["launch-instance"]);
  });
});

describe("a launch that failed", () => {
  const failure = { at: t0, retryAt: at("4s"), count: 3, reason: "QuotaExceeded", message: "32 of 32 vCPU used" };

  test.each<[string, Instant, boolean]>([
    ["one millisecond before the next try", at("4s") - 1, true],
    ["at the next try", at("4s"), false],
  ])("is tried again after its backoff: %s", (_, now, waits) => {
    const decision = decide({ claims: [aClaim("a", { stage: "new" })], failures: { "claim/a": failure } }, now);
    expect(kinds(decision)).toEqual(waits ? [] : ["launch-instance"]);
    if (!waits) return;
    expect(decision.wakeAt).toBe(at("4s"));
    expect(decision.refusals[0]).toMatchObject({
      code: "launch-failed",
      message:
        "The last try for claim a failed (QuotaExceeded): 32 of 32 vCPU used; the next is at 2026-01-01T00:00:04Z.",
      until: at("4s"),
    });
  });

  test.each([
    ["InsufficientCapacity", ["InsufficientCapacityError"]],
    ["NodeClassNotReady", []],
  ])("for good (%s) ends the claim: nothing runs for it", (reason, reasons) => {
    const claim = { ...failed(reason), pool: "gone" };
    const decision = decide({ claims: [claim] });
    expect(only(decision, "delete-claim")).toMatchObject({
      claim: { name: "a", uid: claim.uid },
      resourceVersion: claim.resourceVersion,
      why: "Claim a could not be launched: none left",
    });
    expect(decision.notices.map(notice => notice.reason)).toEqual(reasons);
  });

  test("for good ends the claim only once its pool has noted it, or the pool would try again at once", () => {
    const decision = decide({ claims: [failed("InsufficientCapacity")], pools: [aPool("web")] });
    expect([decision.commands, codes(decision)]).toEqual([[], ["failure-not-recorded"]]);
    const noted = `1/1; -; ${formatTime(t0)} bad a-claim-uid`;
    const pools = [aPool("web", { annotations: { "fettle.dev/launch-record": noted } })];
    expect(kinds(decide({ claims: [failed("InsufficientCapacity")], pools }))).toEqual(["delete-claim"]);
  });

  test.each<[string, Parameters<typeof aPool>[1]]>([
    ["is being deleted", { deletingSince: t0 }],
    [
      "is another controller's",
      { spec: { template: { spec: { nodeClassRef: { group: "x", kind: "EC2NodeClass", name: "x" } } } } },
    ],
  ])("for good does not wait for a pool that %s and notes nothing", (_, pool) => {
    expect(kinds(decide({ claims: [failed("InsufficientCapacity")], pools: [aPool("web", pool)] }))).toEqual([
      "delete-claim",
    ]);
  });

  test("in another way is no reason to end the claim", () => {
    expect(kinds(decide({ claims: [failed("LaunchFailed")] }))).toEqual(["launch-instance"]);
  });
});

describe("a claim with an instance", () => {
  test("is launched, whatever its condition said", () => {
    const conditions = [aCondition("Launched", "Unknown", { reason: "LaunchFailed" })];
    const decision = decide({ claims: [aClaim("a", { stage: "launched", conditions })] });
    expect(written(decision, "Launched")).toEqual({
      type: "Launched",
      status: "True",
      reason: "Launched",
      message: "",
    });
  });

  test("waits for its node, and says so in both conditions to come", () => {
    const decision = decide({ claims: [aClaim("a", { stage: "launched" })] });
    expect(decision.refusals).toEqual([
      {
        subject: "claim/a",
        code: "node-not-found",
        message: "No node has the providerID test:///a.",
        liftedBy: "the node joining the cluster",
      },
    ]);
    expect(written(decision, "Registered")).toMatchObject({ status: "Unknown", reason: "NodeNotFound" });
    expect(written(decision, "Initialized")).toMatchObject({ status: "Unknown", reason: "NodeNotFound" });
  });

  const claim = aClaim("a", { status: { nodeName: "a", firstReadyTime: formatTime(t0) } });

  test("that has come all the way has nothing more to do, also when its node falls sick, unless nobody can tell its node", () => {
    expect(decide({ claims: [claim], nodes: [aNode("a")] })).toEqual(nothing);
    expect(decide({ claims: [claim], nodes: [aNode("a", { ready: "Unknown" })] })).toEqual(nothing);
    const shared = decide({ claims: [claim], nodes: [aNode("a"), aNode("b", { providerID: "test:///a" })] });
    expect(written(shared, "Ready")).toMatchObject({ status: "False", reason: "MultipleNodesFound" });
  });

  test("says that it is not ready when its node has vanished; nothing else is done, and a new one heals it", () => {
    const lost = decide({ claims: [claim] });
    expect(codes(lost)).toEqual(["node-not-found"]);
    const { status } = only(lost, "update-claim");
    const message = "No node has the providerID test:///a any more; a is gone.";
    const unready = { type: "Ready", status: "False", reason: "NodeNotFound", message };
    expect(status?.conditions?.find(({ type }) => type === "Ready")).toEqual(unready);
    for (const part of ["Launched", "Registered", "Initialized"]) {
      expect(status?.conditions?.find(({ type }) => type === part)).toMatchObject({ status: "True" });
    }
    const said = { ...claim, conditions: claim.conditions.map(one => (one.type === "Ready" ? unready : one)) };
    expect(decide({ claims: [said] }).commands).toEqual([]);
    expect(written(decide({ claims: [said], nodes: [aNode("a")] }), "Ready")).toMatchObject({ status: "True" });
  });
});

test("a claim whose node cannot be written says all the same what is known of it", () => {
  const claim = aClaim("a", { stage: "launched" });
  const node = aNode("a", { labels: { "karpenter.sh/initialized": "" } });
  expect(kinds(decide({ claims: [claim], nodes: [node] }))).toEqual(["update-node"]);
  const failure = { at: t0, retryAt: at("4s"), count: 1, reason: "Forbidden", message: "a webhook says no" };
  expect(kinds(decide({ claims: [claim], nodes: [node], failures: { "node/a": failure } }))).toEqual([
    "update-node",
    "update-claim",
  ]);
});

describe("what a launch has found", () => {
  const fields = { providerID: "test:///a", capacity: { cpu: "4" } };
  const base = aClaim("a", { stage: "launched" });
  const waiting = decide({ claims: [base] }).commands[0];
  const found = waiting?.kind === "update-claim" ? (waiting.status?.conditions ?? []) : [];
  const conditions = found.map(({ since = t0, ...condition }) => ({ ...condition, since }));
  const unwritten = { since: t0, status: fields };
  const claim = { ...base, conditions, unwritten };

  test.each([
    ["one millisecond before", at("4999ms"), 0, at("5s")],
    ["at", at("5s"), 1, undefined],
    ["one millisecond after", at("5001ms"), 1, undefined],
  ])("is written when no node has come for five seconds: %s", (_, now, writes, wakeAt) => {
    const decision = decide({ claims: [claim] }, now);
    expect(decision.wakeAt).toBe(wakeAt);
    expect(decision.commands).toHaveLength(writes);
    for (const command of decision.commands) expect(command).toMatchObject({ kind: "update-claim", status: fields });
  });

  test("is written with what the node shows as soon as that is registered", () => {
    const { commands } = decide({ claims: [claim], nodes: [aNode("a")] }, at("1s"));
    expect(commands).toMatchObject([{ kind: "update-claim", status: { ...fields, nodeName: "a" } }]);
  });

  test("waits for a node that comes up, but no longer", () => {
    const taints = [{ key: "karpenter.sh/unregistered", effect: "NoExecute" as const }];
    const labels = { "karpenter.sh/registered": "" };
    const node = aNode("a", { ready: "False", finalizers: [], taints, labels, createdAt: at("4s") });
    const before = decide({ claims: [claim], nodes: [node] }, at("4500ms"));
    expect(before).toMatchObject({ commands: [], wakeAt: at("5s") });
    const due = decide({ claims: [claim], nodes: [node] }, at("5s"));
    expect(due).toMatchObject({ commands: [{ kind: "update-claim", status: fields }], wakeAt: at("9s") });
  });
});

test("from its creation to its end each command leads to the next, and after the last there is nothing to do", () => {
  const node = aNode("n", {
    providerID: "test:///a",
    labels: { "karpenter.sh/registered": "", "karpenter.sh/initialized": "" },
    finalizers: [],
    taints: [{ key: "karpenter.sh/unregistered", effect: "NoExecute" }],
  });
  const world = { claim: aClaim("a", { stage: "new", finalizers: [] }), node };
  const steps: string[] = [];
  for (let step = 0; step < 20; step++) {
    const { commands } = decide({ claims: [world.claim], nodes: [world.node] });
    if (commands.length === 0) break;
    for (const command of commands) apply(command, world);
    steps.push(commands.map(({ kind }) => kind).join("+"));
  }
  expect(steps).toEqual([
    "update-claim", // the finalizer
    "launch-instance",
    "update-node", // registration and initialization
    "update-claim", // which says both
  ]);
  expect(world.claim.conditions.map(({ type, status }) => `${type}=${status}`)).toEqual([
    "Launched=True",
    "Registered=True",
    "Initialized=True",
    "Ready=True",
  ]);
  expect(world.claim.status).toMatchObject({ nodeName: "n", firstReadyTime: formatTime(t0) });
  expect(world.node.taints).toEqual([]);
  expect(world.node.labels).toMatchObject({ [classKey]: aClassRef.name, "karpenter.sh/initialized": "true" });
});

/** What the executor does with the commands of a claim's life, on views. */
function apply(command: Command, world: { claim: ClaimView; node: ReturnType<typeof aNode> }): void {
  const { claim, node } = world;
  if (command.kind === "launch-instance") world.claim = { ...claim, providerID: "test:///a" };
  if (command.kind === "update-node") {
    const { labels, addFinalizers = [], removeTaints = [] } = command.change;
    const taints = node.taints.filter(({ key }) => !removeTaints.some(taint => taint.key === key));
    const finalizers = [...node.finalizers, ...addFinalizers];
    world.node = { ...node, taints, finalizers, labels: { ...node.labels, ...(labels as Record<string, string>) } };
  }
  if (command.kind === "update-claim") {
    const { conditions = [], ...status } = command.status ?? {};
    world.claim = {
      ...claim,
      labels: { ...claim.labels, ...(command.metadata?.labels as Record<string, string>) },
      finalizers: [...claim.finalizers, ...(command.metadata?.addFinalizers ?? [])],
      conditions: conditions.map(condition => ({ since: t0, ...condition })),
      status: { ...claim.status, ...status },
    };
  }
}
