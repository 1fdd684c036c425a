import { describe, expect, test } from "vitest";
import { aClaim, aClassRef, aCondition, anAction, aNode, aPod, aPool, at, aWorld, t0 } from "../../../test/builders.ts";
import type { NodePoolSpec } from "../../api/node-pool.ts";
import { formatTime, type Instant } from "../../api/time.ts";
import { doNotDisruptKey } from "../../api/well-known.ts";
import type { ActionView, ClaimView, PodView } from "../../snapshot/views.ts";
import type { ConditionChange, Decision } from "../decision.ts";
import { candidacy } from "./conditions.ts";
import { hashAnnotations } from "./drift-hash.ts";

const minute: NodePoolSpec = { disruption: { consolidateAfter: "1m" } };
const stamp = hashAnnotations(aPool("web"), aClassRef);
const theirs = { "karpenter.sh/nodepool-hash": "123", "karpenter.sh/nodepool-hash-version": "v3" };

type Case = {
  claim?: Partial<ClaimView>;
  spec?: NodePoolSpec;
  pods?: readonly PodView[];
  actions?: readonly ActionView[];
  now?: Instant;
};

function aMade(options: Partial<ClaimView> = {}): ClaimView {
  return aClaim("a", { pool: "web", annotations: stamp, ...options });
}

function decide({ claim, spec = minute, pods = [], actions = [], now = at("1m") }: Case): Decision {
  const picture = aWorld({
    actions,
    pools: [aPool("web", { spec })],
    claims: [aMade(claim)],
    nodes: [aNode("a")],
    pods,
    now: () => now,
  });
  return candidacy.decide("a", { picture, now, settings, epoch: 1 });
}
const settings = { cluster: "test", dryRun: false, foreignClaims: "ignore" } as const;

function written(decision: Decision) {
  const [command] = decision.commands;
  if (command === undefined) return undefined;
  if (command.kind !== "update-claim") throw new Error(command.kind);
  const { conditions, ...fields } = command.status ?? {};
  return {
    ...fields,
    ...(conditions && { types: conditions.map(({ type }) => type) }),
    annotations: command.metadata?.annotations,
  };
}
const standing = (type: string, more: Partial<ConditionChange> = {}) => ({
  conditions: [...aMade().conditions, aCondition(type, "True", { message: "", ...more })],
});

describe("Consolidatable is written", () => {
  const late = at("3m");
  const otherwise: Partial<ClaimView> = { annotations: { ...stamp, [doNotDisruptKey]: "true" } };
  const bears: NodePoolSpec = { disruption: { consolidateAfter: "1m", maxDoNotDisrupt: "1h" } };
  test.each<[string, Case, Instant | undefined]>([
    ["two minutes after consolidateAfter has passed", { now: late }, undefined],
    ["a millisecond before that not", { now: late - 1 }, late],
    ["after it", { now: late + 1 }, undefined],
    ["at once with whatever else is", { claim: otherwise, spec: bears }, undefined],
    [
      "not with that before consolidateAfter has passed",
      { claim: otherwise, spec: bears, now: at("1m") - 1 },
      at("1m"),
    ],
  ])("%s", (_, one, wakeAt) => {
    const isTrue = wakeAt === undefined;
    const decision = decide(one);
    expect(written(decision)?.types?.includes("Consolidatable") ?? false).toBe(isTrue);
    expect(decision.wakeAt).toBe(wakeAt);
  });

  const whole = (wakeAt: Instant | undefined) => wakeAt && wakeAt + (late - at("1m"));
  test.each<[string, Case, Instant | undefined]>([
    ["from a pod that came", { pods: [aPod("web", { on: "a", startedAt: at("30s") })] }, at("1m30s")],
    ["from what the claim remembers", { claim: { status: { lastPodEventTime: formatTime(at("40s")) } } }, at("1m40s")],
    ["not from a daemon", { pods: [aPod("log", { on: "a", startedAt: at("30s"), ownerKind: "DaemonSet" })] }, at("1m")],
    ["for ever with Never", { spec: { disruption: { consolidateAfter: "Never" } } }, undefined],
    ["for ever in a pool with replicas", { spec: { ...minute, replicas: 1 } }, undefined],
    ["while it is not initialized", { claim: aClaim("a", { stage: "registered" }) }, undefined],
    [
      "for an empty node by the wait of Emptiness",
      { spec: { disruption: { consolidateAfter: "1h", actionControls: { Emptiness: { disruptAfter: "2m" } } } } },
      at("2m"),
    ],
    [
      "for one in use by that of Consolidation",
      {
        spec: { disruption: { consolidateAfter: "1h", actionControls: { Consolidation: { disruptAfter: "3m" } } } },
        pods: [aPod("web", { on: "a" })],
      },
      at("3m"),
    ],
  ])("its wait counts %s", (_, one, endsAt) => {
    const decision = decide({ ...one, now: at("59s") });
    expect(decision.wakeAt).toBe(whole(endsAt));
    expect(written(decision)?.types ?? []).not.toContain("Consolidatable");
  });

  test("once", () => {
    expect(decide({ claim: standing("Consolidatable") }).commands).toEqual([]);
  });

  test("and taken away at once with the time of the pod that ended it, for whoever comes after us", () => {
    const pods = [aPod("web", { on: "a", startedAt: at("59s") })];
    const decision = decide({ claim: standing("Consolidatable"), pods, now: at("1m") });
    expect(written(decision)).toEqual({
      types: ["Launched", "Registered", "Initialized", "Ready"],
      lastPodEventTime: formatTime(at("59s")),
      annotations: undefined,
    });
    expect(decision.wakeAt).toBe(at("1m59s"));
  });

  test("and taken away when the pool wants it no more", () => {
    const decision = decide({ claim: standing("Consolidatable"), spec: { disruption: { consolidateAfter: "Never" } } });
    expect(written(decision)?.types).not.toContain("Consolidatable");
  });
});

describe("the time of the last pod is written", () => {
  const came = (when: string) => [aPod("web", { on: "a", startedAt: at(when) })];
  const hour: NodePoolSpec = { disruption: { consolidateAfter: "1h" } };
  const none: NodePoolSpec = { disruption: { consolidateAfter: "0s" } };
  const never: NodePoolSpec = { disruption: { consolidateAfter: "Never" } };
  const told = (when: string) => ({ status: { lastPodEventTime: formatTime(at(when)) } });
  test.each<[string, Case, string | undefined]>([
    ["not for the first pods of a new node", { pods: came("4m59s"), spec: hour, now: at("5m") }, undefined],
    ["from five minutes on", { pods: came("5m"), spec: hour, now: at("5m") }, formatTime(at("5m"))],
    ["also with Never, which need not stay", { pods: came("5m"), spec: never, now: at("5m") }, formatTime(at("5m"))],
    ["not in a pool with replicas", { pods: came("5m"), spec: { ...hour, replicas: 1 }, now: at("5m") }, undefined],
    [
      "not within five minutes of the last",
      { pods: came("9m59s"), spec: hour, claim: told("5m"), now: at("10m") },
      undefined,
    ],
    ["with the condition", { pods: came("20s"), now: at("20m") }, formatTime(at("20s"))],
    ["not with the condition if it is known", { pods: came("20s"), claim: told("20s"), now: at("20m") }, undefined],
    [
      "not with every pod where no wait is asked for",
      { pods: came("9s"), spec: none, claim: standing("Consolidatable"), now: at("9s") },
      undefined,
    ],
  ])("%s", (_, one, time) => {
    expect(written(decide(one))?.lastPodEventTime).toBe(time);
  });

  test("not if it is only assumed after a restart: it would be assumed anew from there", () => {
    const now = at("1h");
    const pools = [aPool("web", { spec: { disruption: { consolidateAfter: "2h" } } })];
    const picture = aWorld({ pools, claims: [aMade()], nodes: [aNode("a")], now: () => now });
    picture.podEvents.listed();
    expect(candidacy.decide("a", { picture, now, settings, epoch: 1 }).commands).toEqual([]);
  });
});

describe("Drifted", () => {
  const changed = { ...minute, template: { metadata: { labels: { team: "b" } } } };
  const soon = at("10s");

  test("comes with its reason and without a time of its own", () => {
    const [command] = decide({ spec: changed, now: soon }).commands;
    expect(command).toMatchObject({
      kind: "update-claim",
      claim: { name: "a", uid: "a-claim-uid" },
      resourceVersion: "1",
    });
    const conditions = command?.kind === "update-claim" ? command.status?.conditions : [];
    const drifted = conditions?.find(({ type }) => type === "Drifted");
    expect(drifted).toMatchObject({ status: "True", reason: "NodePoolDrifted" });
    expect(drifted).not.toHaveProperty("since");
  });

  test("goes when it is healed", () => {
    const decision = decide({ claim: standing("Drifted", { reason: "NodePoolDrifted" }), now: soon });
    expect(written(decision)?.types).toEqual(["Launched", "Registered", "Initialized", "Ready"]);
  });

  test("goes from a claim that is not launched", () => {
    const conditions = [aCondition("Drifted", "True")];
    const claim = aClaim("a", { stage: "new", annotations: stamp, pool: "web", conditions });
    expect(written(decide({ claim, now: soon }))?.types).toEqual([]);
  });

  test("another reason replaces the first and keeps its time", () => {
    const [command] = decide({
      spec: changed,
      claim: standing("Drifted", { reason: "ImageDrifted" }),
      now: soon,
    }).commands;
    const conditions = command?.kind === "update-claim" ? command.status?.conditions : [];
    expect(conditions).toContainEqual(expect.objectContaining({ reason: "NodePoolDrifted", since: t0 }));
  });
});

describe("a claim without our hash", () => {
  test.each([
    ["none", {}],
    ["the peer's", theirs],
  ])("%s: is taken as made from the template of now, not as drifted", (_, annotations) => {
    const spec = { ...minute, template: { metadata: { labels: { team: "b" } } } };
    const decision = decide({ claim: { annotations }, spec, now: at("10s") });
    expect(written(decision)).toEqual({ annotations: hashAnnotations(aPool("web", { spec }), aClassRef) });
  });

  test("that the peer found drifted stays drifted and unstamped", () => {
    const claim = { ...standing("Drifted", { reason: "NodePoolDrifted" }), annotations: theirs };
    expect(decide({ claim, now: at("10s") }).commands).toEqual([]);
  });
});

describe("nothing is said of", () => {
  test.each<[string, Partial<ClaimView>, Partial<Parameters<typeof aPool>[1]>]>([
    ["a claim that goes", { deletingSince: t0 }, {}],
    ["a claim that is only expected", { isProvisional: true }, {}],
    [
      "a claim of another provider",
      { spec: { ...aMade().spec, nodeClassRef: { group: "x", kind: "Y", name: "z" } } },
      {},
    ],
    ["a pool that cannot be understood", {}, { invalid: "no" }],
    ["a pool that goes", {}, { deletingSince: t0 }],
  ])("%s", (_, claim, pool) => {
    const picture = aWorld({
      pools: [aPool("web", pool)],
      claims: [aMade({ annotations: {}, ...claim })],
      nodes: [aNode("a")],
    });
    expect(candidacy.decide("a", { picture, now: at("1h"), settings, epoch: 1 }).commands).toEqual([]);
  });

  test("a claim whose pool is gone", () => {
    const picture = aWorld({ claims: [aMade(standing("Drifted"))], nodes: [aNode("a")] });
    expect(candidacy.decide("a", { picture, now: at("1h"), settings, epoch: 1 }).commands).toEqual([]);
  });
});

describe("DoNotDisrupt", () => {
  const asks = { annotations: { ...stamp, [doNotDisruptKey]: "true" } };
  const bounded: NodePoolSpec = { disruption: { consolidateAfter: "Never", maxDoNotDisrupt: "4h" } };

  test("is written where the pool bears it for a time only, and stamped by whoever writes it", () => {
    const [command] = decide({ claim: asks, spec: bounded }).commands;
    const status = command?.kind === "update-claim" ? command.status : undefined;
    expect(status?.conditions?.at(-1)).toEqual({
      type: "DoNotDisrupt",
      status: "True",
      reason: "Annotated",
      message: "NodeClaim a asks for it; NodePool web bears it for 4h.",
    });
    expect(decide({ claim: asks, spec: { disruption: { consolidateAfter: "Never" } } }).commands).toEqual([]);
  });

  test("keeps its time as long as it is asked for, and goes with the annotation", () => {
    const message = "NodeClaim a asks for it; NodePool web bears it for 4h.";
    const said = standing("DoNotDisrupt", { reason: "Annotated", message });
    expect(decide({ claim: { ...asks, ...said }, spec: bounded }).commands).toEqual([]);
    expect(written(decide({ claim: said, spec: bounded }))?.types).not.toContain("DoNotDisrupt");
  });
});

describe("DisruptionReason", () => {
  const plan = (spec: Partial<ActionView["spec"]>, phase: ActionView["status"]["phase"] = "Pending") =>
    anAction("plan", { node: "a", phase, spec: { batch: "b", message: "Why.", ...spec } });
  const saidOf = (decision: Decision) => {
    const [command] = decision.commands;
    const { conditions = [] } = (command?.kind === "update-claim" && command.status) || {};
    return conditions.find(({ type }) => type === "DisruptionReason");
  };
  const never: NodePoolSpec = { disruption: { consolidateAfter: "Never" } };

  test.each([
    ["Consolidation", "Underutilized"],
    ["Emptiness", "Empty"],
    ["Drift", "Drifted"],
    ["Expiration", "Expired"],
  ] as const)("while replacements come for %s: %s", (action, reason) => {
    const said = saidOf(decide({ spec: never, actions: [plan({ action }, "WaitingForReplacement")] }));
    expect(said).toEqual({ type: "DisruptionReason", status: "True", reason, message: "Why." });
  });

  test("the highest of several", () => {
    const joined: ActionView["spec"]["joined"] = [
      { action: "Expiration", askedBy: { kind: "NodePool", name: "web" }, at: "", message: "Old.", evidence: [] },
    ];
    const said = saidOf(decide({ spec: never, actions: [plan({ action: "Consolidation", joined })] }));
    expect(said).toMatchObject({ reason: "Expired", message: "Old." });
  });

  test.each<[string, ActionView]>([
    ["it goes by no plan", plan({ action: "Repair" })],
    ["nothing is to come first", anAction("plan", { node: "a", spec: { action: "Emptiness" } })],
    ["it is only shown", plan({ action: "Drift", dryRun: true })],
  ])("nothing is said where %s", (_, action) => {
    expect(decide({ spec: never, actions: [action] }).commands).toEqual([]);
  });

  test("what was given up says so no more", () => {
    const claim = standing("DisruptionReason", { reason: "Drifted", message: "Why." });
    const held = { claim, spec: never };
    expect(decide({ ...held, actions: [plan({ action: "Drift" })] }).commands).toEqual([]);
    const over = decide({ ...held, actions: [plan({ action: "Drift" }, "Abandoned")] });
    expect(written(over)?.types).not.toContain("DisruptionReason");
  });
});
