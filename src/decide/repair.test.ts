import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  aClaim,
  aCondition,
  aNode,
  anAction,
  aPool,
  aProvider,
  at,
  aWorld,
  t0,
  type WorldOptions,
} from "../../test/builders.ts";
import { checkManifest } from "../api/check.ts";
import type { Repair } from "../api/repair.ts";
import { formatTime, type Instant, minuteMs } from "../api/time.ts";
import { doNotRepairKey } from "../api/well-known.ts";
import type { ActionView, ClaimView, NodeView } from "../snapshot/views.ts";
import type { Context, Decision } from "./decision.ts";
import { actionSpec, deadlineOf } from "./ledger.ts";
import { decideRepair } from "./repair.ts";
import { ConditionMemory } from "./sickness-history.ts";

// As upstream's suites: BadNode=False is borne for 30 minutes.
const provider = aProvider({
  repairStatements: [
    { conditionType: "BadNode", conditionStatus: "False", toleration: 30 * minuteMs },
    { conditionType: "ValidUnhealthy", conditionStatus: "False", toleration: 60 * minuteMs },
  ],
});
const ready = aCondition("Ready", "True");
const sickNode = (more: Parameters<typeof aNode>[1] = {}): NodeView =>
  aNode("a", { conditions: [ready, aCondition("BadNode", "False")], ...more });

type Scene = WorldOptions & {
  node?: NodeView;
  claim?: ClaimView;
  repair?: Repair;
  foreignClaims?: "ignore" | "repair";
};

function contextOf(scene: Scene, now: Instant): Context {
  const { node = sickNode(), claim = aClaim("a", { pool: "web" }), repair, foreignClaims = "ignore", ...world } = scene;
  const pools = [aPool("web", { spec: repair === undefined ? {} : { repair } })];
  const picture = aWorld({ nodes: [node], claims: [claim], pools, provider, ...world });
  return { picture, now, settings: { cluster: "c", dryRun: false, foreignClaims }, epoch: 1 };
}

const decide = (scene: Scene, now: Instant): Decision =>
  decideRepair("a", contextOf(scene, now), new ConditionMemory());
const codes = ({ refusals }: Decision) => refusals.map(({ code }) => code);
const nothingToSay = { commands: [], proposals: [], refusals: [], notices: [] };

describe("node/health as upstream tests it", () => {
  test("H1 H5 a condition older than its toleration: the node is proposed, by force, from the instant it was due", () => {
    const decision = decide({}, at("60m"));
    const [proposal] = decision.proposals;
    expect(proposal).toMatchObject({
      node: { name: "a", uid: "a-uid" },
      claim: { name: "a", uid: "a-claim-uid" },
      action: "Repair",
      method: "Terminate",
      termination: "Forceful",
      askedBy: { kind: "NodePool", name: "web", uid: "web-pool-uid" },
      policy: { kind: "Provider", name: "test" },
      evidence: [{ kind: "Condition", conditionType: "BadNode", conditionStatus: "False", clock: "Reporter" }],
      dueAt: at("30m"),
    });
    expect(proposal && deadlineOf(proposal)).toBe(at("30m"));
    expect(decision.refusals).toEqual([]);
  });

  test.each([
    ["H2 another condition type", aCondition("FakeHealthyNode", "False")],
    ["H3 the right type in another status", aCondition("BadNode", "True")],
    ["H3 the same, Unknown", aCondition("BadNode", "Unknown")],
  ])("%s: nothing", (_what, condition) => {
    const node = sickNode({ conditions: [ready, condition] });
    expect(decide({ node }, at("60m"))).toMatchObject({ ...nothingToSay, wakeAt: undefined });
  });

  test("H4 H9 at 20 and 27 of 30 minutes: not yet, and looked at again when it is due", () => {
    for (const now of [at("20m"), at("27m"), at("30m") - 1]) {
      const decision = decide({}, now);
      expect(decision).toMatchObject({ proposals: [], wakeAt: at("30m") });
      expect(decision.refusals).toMatchObject([{ subject: "node/a", code: "tolerated", until: at("30m") }]);
    }
    expect(decide({}, at("30m")).proposals).toHaveLength(1);
    expect(decide({}, at("30m") + 1)).toEqual(decide({}, at("30m")));
  });

  test("H6 H7 the claim's termination time is not the rule's to look at: force is force", () => {
    for (const terminationAt of [at("10h"), t0]) {
      const claim = aClaim("a", { pool: "web", terminationAt, spec: { terminationGracePeriod: "5h" } });
      const [proposal] = decide({ claim }, at("60m")).proposals;
      expect(proposal && deadlineOf(proposal)).toBe(at("30m"));
    }
  });

  test("H8 of two matching conditions the one that is due first counts", () => {
    const conditions = [ready, aCondition("ValidUnhealthy", "False"), aCondition("BadNode", "False")];
    const node = sickNode({ conditions });
    expect(decide({ node }, at("27m"))).toMatchObject({ proposals: [], wakeAt: at("30m") });
    const first = decide({ node }, at("30m"));
    expect(first.proposals).toMatchObject([{ dueAt: at("30m"), evidence: [{ conditionType: "BadNode" }] }]);
    expect(first.wakeAt).toBe(at("60m"));
    // All that are due are in the evidence; the earliest goes on to decide.
    const both = decide({ node }, at("60m"));
    expect(both.proposals[0]?.evidence.map(({ conditionType }) => conditionType)).toEqual([
      "BadNode",
      "ValidUnhealthy",
    ]);
    expect(both).toMatchObject({ proposals: [{ dueAt: at("30m") }], wakeAt: undefined });
  });

  test("H11 do-not-disrupt does not stop repair", () => {
    const annotations = { "karpenter.sh/do-not-disrupt": "true" };
    const scene = { node: sickNode({ annotations }), claim: aClaim("a", { pool: "web", annotations }) };
    expect(decide(scene, at("60m")).proposals).toHaveLength(1);
  });

  test("a claim that is already going is proposed too, so that repair can join", () => {
    const claim = aClaim("a", { pool: "web", deletingSince: at("1m") });
    expect(decide({ claim }, at("60m")).proposals).toHaveLength(1);
  });

  test("two policies of one type: the first that matches", () => {
    const repair: Repair = {
      policies: [
        { conditionType: "BadNode", toleration: "10m", priority: 7 },
        { conditionType: "BadNode", toleration: "1m" },
      ],
    };
    expect(decide({ repair }, at("10m") - 1).proposals).toEqual([]);
    expect(decide({ repair }, at("10m")).proposals).toMatchObject([
      { priority: 7, policy: { path: "spec.repair.policies[0]" } },
    ]);
  });

  test("a toleration of 0s is due at once", () => {
    const repair: Repair = { policies: [{ conditionType: "BadNode", toleration: "0s" }] };
    expect(decide({ repair }, t0).proposals).toMatchObject([{ dueAt: t0 }]);
  });

  test("a node of no claim is nobody's to repair; one whose claim is in doubt says so", () => {
    const unmanaged = sickNode({ finalizers: [] });
    expect(decide({ node: unmanaged, claims: [] }, at("60m"))).toMatchObject(nothingToSay);
    const claims = [aClaim("a"), aClaim("b", { providerID: "test:///a" })];
    expect(codes(decide({ claims }, at("60m")))).toEqual(["no-single-claim"]);
  });

  test("claims of no pool are repaired by the provider's word, and asked for by the controller", () => {
    const claim = aClaim("a");
    expect(decide({ claim }, at("30m")).proposals).toMatchObject([{ askedBy: { kind: "Controller", name: "repair" } }]);
  });
});

describe("who may say no", () => {
  const held = (scene: Scene) => decide(scene, at("60m"));
  const annotated = (value: string) => ({ annotations: { [doNotRepairKey]: value } });

  test.each<readonly [string, Scene]>([
    ["repair-disabled", { repair: { mode: "Disabled" } }],
    ["pool-invalid", { pools: [aPool("web", { invalid: "no such time zone" })] }],
    ["pool-missing", { pools: [] }],
    [
      "foreign-claim",
      { claim: aClaim("a", { pool: "web", spec: { nodeClassRef: { group: "x", kind: "Y", name: "z" } } }) },
    ],
    ["do-not-repair", { node: sickNode(annotated("true")) }],
    ["do-not-repair", { claim: aClaim("a", { pool: "web", ...annotated("true") }) }],
    ["do-not-repair", { pools: [aPool("web", annotated("true"))] }],
    ["do-not-repair", { node: sickNode(annotated("perhaps")) }],
    ["due-time-unknown", { repair: { policies: [{ conditionType: "BadNode", toleration: "soon" }] } }],
  ])("%s", (code, scene) => {
    const decision = held(scene);
    expect(decision).toMatchObject({ commands: [], proposals: [] });
    expect(decision.refusals).toMatchObject([{ subject: "node/a", code, message: expect.stringMatching(/\S/) }]);
  });

  test("what lifts it is the word that holds it: the pool's, or the policy's own", () => {
    const lifted = (repair: Repair) => held({ repair }).refusals[0]?.liftedBy;
    const policy = { conditionType: "BadNode", toleration: "30m" } as const;
    expect(lifted({ mode: "Disabled", policies: [policy] })).toBe("another spec.repair.mode");
    expect(lifted({ policies: [{ ...policy, mode: "Disabled" }] })).toBe("another spec.repair.policies[0].mode");
  });

  test("a node that only boots is not called sick for want of its pool, until its readinessTTL ends", () => {
    const claim = aClaim("a", { pool: "web", conditions: [aCondition("Registered", "True", { since: t0 })] });
    const node = sickNode({ conditions: [aCondition("Ready", "False"), aCondition("BadNode", "False")] });
    const booting = (now: Instant) => decide({ pools: [], claim, node }, now);
    expect(booting(at("15m") - 1)).toEqual({ ...nothingToSay, wakeAt: at("15m") });
    expect(codes(booting(at("15m")))).toEqual(["pool-missing"]);
    expect(decide({ pools: [], claim: { ...claim, conditions: [] }, node }, at("9h"))).toEqual(nothingToSay);
  });

  test("foreign claims are repaired where that was chosen", () => {
    const claim = aClaim("a", { pool: "web", spec: { nodeClassRef: { group: "x", kind: "Y", name: "z" } } });
    const repair: Repair = { action: "Reboot" };
    // Their machines are not ours to reboot.
    expect(decide({ claim, repair, foreignClaims: "repair" }, at("60m")).proposals).toMatchObject([
      { method: "Terminate" },
    ]);
  });

  test.each(["false", undefined])("do-not-repair %j does not hold", value => {
    expect(held({ node: sickNode(value === undefined ? {} : annotated(value)) }).proposals).toHaveLength(1);
  });

  test("do-not-repair holds until the time that it names; of several the longest", () => {
    const node = sickNode(annotated("2026-01-01T02:00:00Z"));
    const claim = aClaim("a", { pool: "web", ...annotated("2026-01-01T03:00:00+00:00") });
    for (const now of [at("1h"), at("2h"), at("3h") - 1]) {
      expect(decide({ node, claim }, now)).toMatchObject({
        proposals: [],
        refusals: [{ code: "do-not-repair", until: at("3h"), message: expect.stringContaining("NodeClaim a") }],
        wakeAt: at("3h"),
      });
    }
    expect(decide({ node, claim }, at("3h")).proposals).toHaveLength(1);
    const forEver = aClaim("a", { pool: "web", ...annotated("true") });
    expect(decide({ node, claim: forEver }, at("1h")).refusals).toMatchObject([
      { message: "NodeClaim a says karpenter.sh/do-not-repair." },
    ]);
  });

  test("a disabled policy neither repairs nor hides another that is meant", () => {
    const repair: Repair = {
      policies: [
        { conditionType: "BadNode", toleration: "1m", mode: "Disabled" },
        { conditionType: "ValidUnhealthy", toleration: "10m" },
      ],
    };
    const node = sickNode({
      conditions: [ready, aCondition("BadNode", "False"), aCondition("ValidUnhealthy", "False")],
    });
    const disabled = decide({ node, repair }, at("5m"));
    expect(codes(disabled)).toEqual(["repair-disabled"]);
    expect(disabled.wakeAt).toBe(at("10m"));
    const [proposal] = decide({ node, repair }, at("10m")).proposals;
    expect(proposal?.evidence.map(({ conditionType }) => conditionType)).toEqual(["ValidUnhealthy"]);
  });

  test("what is only shown is marked so, and gives way to what is meant", () => {
    const repair: Repair = {
      mode: "DryRun",
      policies: [{ conditionType: "ValidUnhealthy", toleration: "40m", mode: "Enabled" }],
    };
    const node = sickNode({
      conditions: [ready, aCondition("BadNode", "False"), aCondition("ValidUnhealthy", "False")],
    });
    expect(decide({ node, repair }, at("30m")).proposals).toMatchObject([{ dryRun: true }]);
    const [meant] = decide({ node, repair }, at("40m")).proposals;
    expect(meant?.dryRun).toBeUndefined();
    expect(meant?.evidence).toMatchObject([{ conditionType: "ValidUnhealthy" }]);
  });
});

describe("how a node goes", () => {
  test("gracefully where the pool or the policy says so, with no deadline but the claim's own", () => {
    const [proposal] = decide({ repair: { termination: "Graceful" } }, at("60m")).proposals;
    expect(proposal?.termination).toBe("Graceful");
    expect(proposal && deadlineOf(proposal)).toBeUndefined();
  });

  test("what is written can be judged again by its evidence", () => {
    const context = contextOf({}, at("60m"));
    const [proposal] = decideRepair("a", context, new ConditionMemory()).proposals;
    expect(proposal && actionSpec(proposal, context)).toMatchObject({
      nodePool: "web",
      deadline: "2026-01-01T00:30:00Z",
      evidence: [{ since: "2026-01-01T00:00:00Z", toleration: "30m0s", dueAt: "2026-01-01T00:30:00Z" }],
    });
  });

  test("whatever a node writes, the ledger takes it", () => {
    const reason = "x".repeat(100_000);
    const conditions = Array.from({ length: 200 }, (_, index) => aCondition(`Bad${index}`, "False", { reason }));
    const repairStatements = conditions.map(({ type }) => ({
      conditionType: type,
      conditionStatus: "False",
      toleration: 0,
    }));
    const booting = aClaim("a", { pool: "web", stage: "registered" });
    const scenes: Scene[] = [
      { node: sickNode({ conditions }), provider: aProvider({ repairStatements }) },
      { node: sickNode({ conditions: [aCondition("Ready", "Unknown", { reason })] }), claim: booting },
    ];
    for (const scene of scenes) {
      const context = contextOf(scene, at("60m"));
      const [proposal] = decideRepair("a", context, new ConditionMemory()).proposals;
      if (proposal === undefined) throw new Error("it is due");
      const written = actionSpec(proposal, context);
      const stamp = formatTime(at("60m"));
      const spec = { ...written, decidedAt: stamp, evidence: written.evidence.map(one => ({ ...one, seenAt: stamp })) };
      const manifest = { apiVersion: "fettle.dev/v1alpha1", kind: "NodeAction", metadata: { name: "repair-a" }, spec };
      expect(checkManifest(manifest)).toMatchObject({ findings: [] });
    }
  });

  test("one that is under repair, or joined by it, is not asked for again", () => {
    const spec = { action: "Repair", termination: "Forceful" } as const;
    expect(decide({ actions: [anAction("repair-a-uid", { spec })] }, at("60m"))).toMatchObject(nothingToSay);
    const joined = [
      {
        action: "Repair" as const,
        askedBy: { kind: "NodePool", name: "web" } as const,
        at: "",
        message: "",
        evidence: [],
      },
    ];
    expect(
      decide({ actions: [anAction("deletion-a-uid", { spec: { ...spec, action: "Deletion", joined } })] }, at("60m")),
    ).toMatchObject(nothingToSay);
    expect(decide({ actions: [anAction("deletion-a-uid")] }, at("60m")).proposals).toHaveLength(1);
  });
});

describe("a gentle repair that is under way", () => {
  const policies = [
    { conditionType: "BadNode", toleration: "30m", termination: "Graceful" },
    { conditionType: "ValidUnhealthy", toleration: "60m", termination: "Forceful" },
  ] as const;
  const both = ["BadNode", "ValidUnhealthy"].map(type => aCondition(type, "False"));
  const node = sickNode({ conditions: [ready, ...both] });
  const gentle = (more: object = {}) =>
    anAction("repair-a-uid", { phase: "Running", spec: { action: "Repair", termination: "Graceful", ...more } });
  const meets = (action: ActionView, now: Instant, repair: Repair = { policies: [...policies] }) =>
    decide({ node, repair, actions: [action] }, now);

  test("is asked to hurry when something is due for which nobody need be gentle, not before", () => {
    expect(meets(gentle(), at("60m") - 1)).toMatchObject({ ...nothingToSay, wakeAt: at("60m") });
    expect(meets(gentle(), at("60m")).proposals).toMatchObject([
      { termination: "Forceful", dueAt: at("60m"), evidence: [{ conditionType: "ValidUnhealthy" }] },
    ]);
  });

  test("is asked to hurry when its pool is edited", () => {
    const repair: Repair = { termination: "Forceful" };
    expect(meets(gentle(), at("31m"), repair).proposals).toMatchObject([{ termination: "Forceful", dueAt: at("30m") }]);
  });

  test.each([
    ["it goes by force already", { termination: "Forceful" }],
    ["it ends sooner anyway", { deadline: formatTime(at("59m")) }],
    ["it is a reboot", { method: "Reboot" }],
  ])("is left alone if %s", (_what, spec) => {
    expect(meets(gentle(spec), at("60m"))).toMatchObject(nothingToSay);
  });

  describe("is told once that its kubelet is silent, so that nobody waits for its pods", () => {
    const silent = sickNode({ conditions: [aCondition("Ready", "Unknown"), ...both] });
    const repair: Repair = {
      termination: "Graceful",
      policies: [{ conditionType: "Ready", conditionStatus: "Unknown", toleration: "40m" }],
    };
    const startedAt = formatTime(at("31m"));
    const begun = { startedAt, steps: [{ name: "taint", startedAt }] };
    const told = (spec: object, now = at("40m"), status: object = begun) =>
      decide(
        { node: silent, repair, claim: ofAge, actions: [{ ...gentle(spec), status: { phase: "Running", ...status } }] },
        now,
      );
    const ofAge = aClaim("a", { pool: "web", status: { firstReadyTime: formatTime(t0) } });
    const silence = { kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown", seenAt: "" } as const;
    const joined = [
      { action: "Repair", askedBy: { kind: "NodePool", name: "web" }, at: "", message: "", evidence: [silence] },
    ];

    test("when that is due, not before", () => {
      expect(told({}, at("40m") - 1)).toMatchObject({ ...nothingToSay, wakeAt: at("40m") });
      expect(told({}).proposals).toMatchObject([
        {
          termination: "Graceful",
          dueAt: at("40m"),
          evidence: [{ conditionType: "Ready", conditionStatus: "Unknown" }],
        },
      ]);
      expect(told({}).proposals[0]?.evidence).toHaveLength(1);
    });

    test("also where it was among other reasons, which the live look may have borne out alone", () => {
      const disk = { ...silence, conditionType: "BadNode", conditionStatus: "False" };
      expect(told({ evidence: [silence, disk] }).proposals).toHaveLength(1);
      expect(told({ evidence: [silence] })).toMatchObject(nothingToSay);
      expect(told({ joined })).toMatchObject(nothingToSay);
    });

    test("not what goes by force, nor before it has begun", () => {
      expect(told({ termination: "Forceful" })).toMatchObject(nothingToSay);
      expect(told({}, at("40m"), {})).toMatchObject(nothingToSay);
    });
  });

  test("is left alone by what is only shown", () => {
    const repair: Repair = { policies: policies.map(policy => ({ ...policy, mode: "DryRun" })) };
    expect(meets(gentle(), at("60m"), repair)).toMatchObject(nothingToSay);
  });

  test("is not hurried while the node is not to be repaired", () => {
    const held = { ...node, annotations: { [doNotRepairKey]: "true" } };
    const scene: Scene = { node: held, repair: { policies: [...policies] }, actions: [gentle()] };
    expect(codes(decide(scene, at("60m")))).toEqual(["do-not-repair"]);
  });
});

describe("reboot first", () => {
  const repair: Repair = { action: "Reboot", attempts: 2 };
  const reboot = (attempt: number, more: Parameters<typeof anAction>[1] = {}): ActionView => {
    const spec = { action: "Repair", method: "Reboot" } as const;
    const status = { startedAt: "2026-01-01T00:31:00Z", finishedAt: "2026-01-01T00:41:00Z" };
    return anAction(attempt === 1 ? "repair-a-uid" : `repair-a-uid-${attempt}`, {
      phase: "Failed",
      spec,
      status,
      ...more,
    });
  };
  const method = (...actions: ActionView[]) => decide({ repair, actions }, at("2h")).proposals[0]?.method;

  test("as often as the pool says, then the node is replaced", () => {
    expect(method()).toBe("Reboot");
    expect(method(reboot(1))).toBe("Reboot");
    expect(method(reboot(1), reboot(2))).toBe("Terminate");
    const { proposals } = decide({ repair, actions: [reboot(1), reboot(2)] }, at("2h"));
    expect(proposals).toMatchObject([
      { termination: "Forceful", message: expect.stringMatching(/ 2 of 2 reboots did not heal it\.$/) },
    ]);
  });

  test("a reboot that healed the node begins the count anew; one that never began is none", () => {
    expect(method(reboot(1), reboot(2, { phase: "Done" }), reboot(3))).toBe("Reboot");
    expect(method(reboot(1), reboot(2, { phase: "Abandoned", status: {} }))).toBe("Reboot");
  });

  describe("a reboot that failed", () => {
    const badSince = (since: Instant) => sickNode({ conditions: [ready, aCondition("BadNode", "False", { since })] });
    const actions = [reboot(1), reboot(2)];
    const methodFor = (since: Instant, sight = new ConditionMemory()) =>
      decideRepair("a", contextOf({ repair, actions, node: badSince(since) }, at("9h")), sight).proposals[0]?.method;

    test("before the node was well again was for another sickness", () => {
      expect(methodFor(at("41m"))).toBe("Terminate");
      expect(methodFor(at("41m1s"))).toBe("Reboot");
    });

    test("counts as long as the node has not been seen without its sickness since, whatever that says of its time", () => {
      const sight = new ConditionMemory();
      sight.observe({ after: badSince(t0) }, at("1m"));
      sight.observe({ before: badSince(t0), after: badSince(at("3h")) }, at("3h"));
      expect(methodFor(at("3h"), sight)).toBe("Terminate");
    });

    test("counts for what comes and goes", () => {
      const well = sickNode({ conditions: [ready, aCondition("BadNode", "True", { since: at("2h") })] });
      const sight = new ConditionMemory();
      sight.observe({ after: badSince(at("90m")) }, at("90m"));
      sight.observe({ before: badSince(at("90m")), after: well }, at("2h"));
      sight.observe({ before: well, after: badSince(at("2h1m")) }, at("2h1m"));
      expect(methodFor(at("2h1m"), sight)).toBe("Terminate");
    });
  });

  test("a reboot has no way of ending, but a time to heal the node", () => {
    const [proposal] = decide({ repair: { ...repair, escalateAfter: "7m" } }, at("2h")).proposals;
    expect([proposal?.termination, proposal?.timeout]).toEqual([undefined, "7m"]);
  });

  test("not of a node that goes anyway: its drain is escalated", () => {
    expect(method(anAction("drift-a-uid", { spec: { action: "Drift" } }))).toBe("Terminate");
    expect(method(anAction("remediation-a-uid", { spec: { action: "Remediation", method: "Reboot" } }))).toBe("Reboot");
    const going = { deletingSince: at("1h") };
    const methodOf = (scene: Scene) => decide({ repair, ...scene }, at("2h")).proposals[0]?.method;
    expect(methodOf({ claim: aClaim("a", { pool: "web", ...going }) })).toBe("Terminate");
    expect(methodOf({ node: sickNode(going) })).toBe("Terminate");
  });

  test("not where no boot id could tell what came of it", () => {
    const { bootID: _, ...silent } = sickNode();
    expect(decide({ repair, node: silent }, at("2h")).proposals[0]?.method).toBe("Terminate");
  });
});

describe("a node that was never Ready", () => {
  const conditions = [aCondition("Launched", "True"), aCondition("Registered", "True", { since: at("1m") })];
  const claim = aClaim("a", { stage: "registered", pool: "web", conditions, spec: { readinessTTL: "30m" } });
  const booting = (status?: string) =>
    sickNode({
      conditions:
        status === undefined ? [] : [aCondition("Ready", status, { reason: "R" }), aCondition("BadNode", "False")],
    });

  test.each(["False", "Unknown", undefined])(
    "seed 001, Timeout Flow: with Ready=%s it is due at T+31m and not before",
    status => {
      const scene = { claim, node: booting(status) };
      expect(decide(scene, at("31m") - 1)).toMatchObject({ ...nothingToSay, wakeAt: at("31m") });
      const [proposal] = decide(scene, at("31m")).proposals;
      expect(proposal).toMatchObject({
        action: "Repair",
        method: "Terminate",
        termination: "Forceful",
        policy: { kind: "NodeClaim", name: "a", path: "spec.readinessTTL" },
        evidence: [
          { kind: "NeverReady", since: "2026-01-01T00:01:00Z", toleration: "30m", dueAt: "2026-01-01T00:31:00Z" },
        ],
        dueAt: at("31m"),
      });
      expect(proposal?.evidence[0]?.conditionStatus).toBe(status);
      expect(decide(scene, at("9h"))).toEqual(decide(scene, at("31m")));
    },
  );

  test("seed 001, Normal Flow: Ready in time, and from then on its conditions count", () => {
    const readyNow = sickNode({ conditions: [aCondition("Ready", "True", { since: at("25m") })] });
    expect(decide({ claim, node: readyNow }, at("9h"))).toMatchObject({ ...nothingToSay, wakeAt: undefined });
    const recorded = { ...claim, status: { ...claim.status, firstReadyTime: "2026-01-01T00:25:00Z" } };
    const sickLater = sickNode({ conditions: [aCondition("BadNode", "False", { since: at("40m") })] });
    expect(decide({ claim: recorded, node: sickLater }, at("50m"))).toMatchObject({ proposals: [], wakeAt: at("70m") });
  });

  describe("as far as anybody knows", () => {
    const silent = (since: Instant) =>
      sickNode({
        conditions: [aCondition("Ready", "Unknown", { reason: "R", since }), aCondition("BadNode", "False")],
      });

    test("has its readinessTTL from when it ceased to be what nobody saw: it may have been Ready until then", () => {
      const scene = { claim, node: silent(at("20m")) };
      expect(decide(scene, at("50m") - 1)).toMatchObject({ ...nothingToSay, wakeAt: at("50m") });
      // The brake counts it from the end of its TTL, whoever's it is.
      expect(decide(scene, at("30m")).wakeAt).toBe(at("31m"));
      const [proposal] = decide(scene, at("50m")).proposals;
      expect(proposal).toMatchObject({
        message:
          "Node a was not Ready within 30m of 2026-01-01T00:20:00Z, before which it may have been Ready unseen, until 2026-01-01T00:50:00Z: Ready is Unknown (R).",
        evidence: [{ kind: "NeverReady", since: "2026-01-01T00:20:00Z", dueAt: "2026-01-01T00:50:00Z" }],
      });
    });

    test("has it from its registration where we watched: from False to Unknown it was not Ready", () => {
      const sight = new ConditionMemory();
      sight.observe({ after: booting("False") }, t0);
      sight.observe({ before: booting("False"), after: silent(at("20m")) }, at("20m"));
      const context = contextOf({ claim, node: silent(at("20m")) }, at("31m"));
      expect(decideRepair("a", context, sight).proposals).toMatchObject([
        { dueAt: at("31m"), message: expect.stringContaining("within 30m of its registration") },
      ]);
    });

    test("has it from what we saw first, however often its time is rewritten after", () => {
      const sight = new ConditionMemory();
      sight.observe({ after: silent(at("20m")) }, at("25m"));
      sight.observe({ before: silent(at("20m")), after: silent(at("40m")) }, at("40m"));
      const context = contextOf({ claim, node: silent(at("40m")) }, at("50m"));
      expect(decideRepair("a", context, sight).proposals).toMatchObject([{ dueAt: at("50m") }]);
    });
  });

  test("is replaced even where sick nodes are rebooted, and left alone where repair is off", () => {
    expect(decide({ claim, node: booting("False"), repair: { action: "Reboot" } }, at("31m")).proposals).toMatchObject([
      { method: "Terminate" },
    ]);
    const off = decide({ claim, node: booting("False"), repair: { mode: "Disabled" } }, at("31m"));
    expect(codes(off)).toEqual(["repair-disabled"]);
  });

  test("has its claim to speak for it until it registers", () => {
    const unregistered = aClaim("a", { stage: "launched", pool: "web" });
    expect(decide({ claim: unregistered, node: booting("False") }, at("9h"))).toMatchObject({
      ...nothingToSay,
      wakeAt: undefined,
    });
  });

  test("stays if its TTL cannot be read", () => {
    const unread = { ...claim, spec: { ...claim.spec, readinessTTL: "soon" } };
    expect(codes(decide({ claim: unread, node: booting("False") }, at("9h")))).toEqual(["due-time-unknown"]);
  });
});

test("a decision stands until its wakeAt", () => {
  const instant = fc.integer({ min: -60, max: 180 }).map(minutes => t0 + minutes * minuteMs);
  const status = fc.constantFrom("True", "False", "Unknown");
  const condition = (type: string) =>
    fc.record({ type: fc.constant(type), status, reason: fc.constantFrom("x", "y"), since: instant });
  const looks = fc.array(fc.tuple(condition("Ready"), condition("BadNode"), condition("ValidUnhealthy")), {
    minLength: 1,
    maxLength: 4,
  });
  const repair: Repair = {
    policies: [{ conditionType: "Ready", conditionStatus: "Unknown", toleration: "7m", mode: "DryRun" }],
    flappingWindow: "45m",
  };
  fc.assert(
    fc.property(
      looks,
      fc.boolean(),
      fc.integer({ min: 0, max: 120 }),
      fc.integer({ min: 1, max: 1_000_000 }),
      (all, wasReady, wait, more) => {
        const memory = new ConditionMemory();
        const nodes = all.map(conditions => sickNode({ conditions: conditions.map(one => ({ ...one, message: "" })) }));
        nodes.forEach((after, index) => {
          const before = nodes[index - 1];
          memory.observe({ ...(before ? { before } : {}), after }, at("1h") + index * 10 * minuteMs);
        });
        const node = nodes.at(-1) ?? sickNode();
        const claim = aClaim("a", { pool: "web", stage: wasReady ? "initialized" : "registered" });
        const now = at("1h") + all.length * 10 * minuteMs + wait * minuteMs;
        const context = contextOf({ node, claim, repair }, now);
        const decision = decideRepair("a", context, memory);
        expect(decision.wakeAt ?? Number.POSITIVE_INFINITY).toBeGreaterThan(now);
        const later = Math.min(now + more, (decision.wakeAt ?? Number.POSITIVE_INFINITY) - 1);
        expect(decideRepair("a", { ...context, now: later }, memory)).toEqual(decision);
      },
    ),
    { numRuns: 500 },
  );
});

describe("that a node is repaired is told on it and its claim", () => {
  const spec = { action: "Repair", method: "Terminate", termination: "Forceful", message: "Node a is sick." } as const;
  const entry = (status: Partial<ActionView["status"]>, more: object = {}) => ({
    ...anAction("x", { spec: { ...spec, ...more } }),
    status: { ...status },
  });
  const told = (action: ActionView) => decide({ actions: [action] }, at("60m")).notices;
  const started = { phase: "Running", startedAt: formatTime(at("31m")) } as const;
  const step = { name: "taint", startedAt: formatTime(at("31m")) };

  test("when it has begun, and only then: the live look may still say no", () => {
    expect(told(entry({ phase: "Pending" }))).toEqual([]);
    expect(told(entry(started))).toMatchObject([
      { about: { kind: "Node", name: "a", uid: "a-uid" }, type: "Warning", reason: "NodeRepairStarted" },
      { about: { kind: "NodeClaim", name: "a", uid: "a-claim-uid" }, reason: "NodeRepairStarted" },
    ]);
    expect(told(entry(started))[0]?.message).toBe("Is replaced by NodeAction x. Node a is sick.");
    expect(told(entry(started, { method: "Reboot" }))[0]?.message).toContain("Is rebooted by NodeAction x.");
  });

  test("once: not when its first step is written, nor of what only joined a person's delete", () => {
    expect(told(entry({ ...started, steps: [step] }))).toEqual([]);
    const joined = [
      { action: "Repair", askedBy: { kind: "NodePool", name: "web" }, at: "", message: "", evidence: [] },
    ];
    expect(told(entry(started, { action: "Deletion", joined }))).toEqual([]);
  });
});

test("a stranger that only says a claim's providerID is not repaired, and neither is the claim's machine ended for it", () => {
  const claim = { ...aClaim("a", { pool: "web" }), status: {} };
  const stranger = sickNode({ finalizers: [] });
  expect(decide({ node: stranger, claim }, at("60m"))).toEqual({ ...nothingToSay, wakeAt: undefined });
  const named = { ...claim, status: { nodeName: "a" } };
  expect(decide({ node: stranger, claim: named }, at("60m")).proposals).toHaveLength(1);
});
