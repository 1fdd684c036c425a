import { describe, expect, test } from "vitest";
import { aClaim, anAction, aNode, aPool, aProvider, at } from "../../../test/builders.ts";
import {
  aCheck,
  aCheckContext,
  aLease,
  aRemediation,
  type CheckWorld,
  commandsOf,
} from "../../../test/check-builders.ts";
import { rebootRemediations, replaceRemediations } from "../../api/remediation.ts";
import { formatTime } from "../../api/time.ts";
import type { RemediationView } from "../../snapshot/check-views.ts";
import { stillHolds } from "../actions.ts";
import { type Context, nothing } from "../decision.ts";
import { decideOwnRemediations, remediationFinalizer } from "./remediators.ts";

const apiVersion = "fettle.dev/v1alpha1";
const web = aCheck("web");

function ours(kind: "ReplaceRemediation" | "RebootRemediation", more: Partial<RemediationView> = {}): RemediationView {
  const own = { spec: {}, status: {}, conditions: [], ...more.own };
  const base = aRemediation({ on: "n", kind, createdAt: at("30m"), finalizers: [remediationFinalizer], ...more });
  return { ...base, apiVersion, namespace: "", own };
}

function contextOf(world: CheckWorld): Context {
  const context = aCheckContext(world);
  for (const { resource } of [replaceRemediations, rebootRemediations]) {
    context.checks.setKind({ apiVersion, kind: resource.kind }, { state: "Served", resource });
  }
  return context;
}

function decide(world: CheckWorld, settings: Partial<Context["settings"]> = {}) {
  const context = contextOf({ nodes: [aNode("n", { ready: "False" })], claims: [aClaim("n")], ...world });
  return decideOwnRemediations("n", { ...context, settings: { ...context.settings, ...settings } });
}

const excluding = { "remediation.medik8s.io/exclude-from-remediation": "true" };
/** Its pool leaves it to the check. */
const unrepaired: CheckWorld = {
  claims: [aClaim("n", { pool: "web" })],
  pools: [aPool("web", { spec: { repair: { mode: "Disabled" } } })],
};

/** What is said of it: Succeeded, and why. */
function verdict(world: CheckWorld) {
  const [update] = commandsOf(decide(world), "update-remediation");
  const succeeded = update?.status?.conditions?.find(({ type }) => type === "Succeeded");
  return succeeded && `${succeeded.status} ${succeeded.reason}`;
}

function anActionOf(method: "Terminate" | "Reboot", more: Parameters<typeof anAction>[1]) {
  return anAction("remediation-n-uid", {
    node: "n",
    createdAt: at("31m"),
    ...more,
    spec: { action: "Remediation", method, askedBy: { kind: "Controller", name: "remediators" } },
  });
}

describe("both", () => {
  test("nothing is asked for before the object holds our finalizer", () => {
    const decision = decide({ remediations: [ours("ReplaceRemediation", { finalizers: [] })] });
    expect(decision.proposals).toEqual([]);
    const [update] = commandsOf(decision, "update-remediation");
    expect(update?.metadata).toEqual({ addFinalizers: [remediationFinalizer] });
    expect(update?.status?.nodeUID).toBe(aNode("n").uid);
  });

  test("what has had its last word is left alone", () => {
    const succeeded = { type: "Succeeded", status: "False", reason: "TimedOut", message: "" } as const;
    expect(decide({ remediations: [ours("RebootRemediation", { succeeded })] })).toEqual(nothing);
  });

  test("what a check made is asked for only while the check holds the node for unhealthy, with its evidence", () => {
    const made = ours("ReplaceRemediation", { checkUid: web.uid });
    const [proposal] = decide({ ...unrepaired, checks: [web], remediations: [made] }).proposals;
    expect(proposal).toMatchObject({
      askedBy: { kind: "NodeHealthCheck", name: "web" },
      evidence: [{ kind: "Condition" }],
    });
    expect(decide({ checks: [web], remediations: [made], nodes: [aNode("n")] }).proposals).toEqual([]);
  });

  test("what a check would only show by now is proposed as such", () => {
    const checks = [aCheck("web", { spec: { dryRun: true } })];
    const made = ours("ReplaceRemediation", { checkUid: web.uid });
    expect(decide({ ...unrepaired, checks, remediations: [made] }).proposals).toMatchObject([{ dryRun: true }]);
  });

  const policies = [{ conditionType: "Ready", conditionStatus: "False", toleration: "30m" }];
  const repairing = { mode: "Enabled", policies } as const;
  test.each<[string, string, CheckWorld]>([
    ["the node is excluded", "excluded", { nodes: [aNode("n", { ready: "False", labels: excluding })] }],
    ["the pool repairs it", "left-to-repair", { pools: [aPool("web", { spec: { repair: repairing } })] }],
    ["another works on it", "lease-held", { leases: [aLease("n", { holder: "other" })] }],
    ["its check is gone", "check-gone", { checks: [] }],
  ])(
    "what a check would not ask for now is held, if %s (%s), and taken back if it has not begun",
    (_what, code, more) => {
      const remediations = [ours("ReplaceRemediation", { checkUid: web.uid })];
      const world = { ...unrepaired, checks: [web], remediations, ...more };
      const found = decide(world);
      expect([found.proposals, found.refusals.map(one => one.code)]).toEqual([[], [code]]);
      const [told] = commandsOf(found, "update-remediation");
      const processing = told?.status?.conditions?.find(({ type }) => type === "Processing");
      expect(processing).toMatchObject({ status: "True", message: found.refusals[0]?.message });
      const asked = anActionOf("Terminate", { phase: "Pending" });
      const askedBy = { kind: "NodeHealthCheck", name: "web", uid: web.uid } as const;
      const written = { ...asked, spec: { ...asked.spec, askedBy } };
      const progress = { phase: "Abandoned", waitingFor: null, outcome: "ReplaceRemediation n asks no longer." };
      expect(decide({ ...world, actions: [written] }).commands).toMatchObject([
        {},
        { kind: "update-action", progress },
      ]);
      const begun = { ...written, status: { ...written.status, startedAt: formatTime(at("32m")) } };
      expect(decide({ ...world, actions: [begun] }).commands.map(({ kind }) => kind)).not.toContain("update-action");
    },
  );

  const unrepairable = { "karpenter.sh/do-not-repair": "true" };
  test.each<[string, string, CheckWorld]>([
    ["its node is excluded", "excluded", { nodes: [aNode("n", { ready: "False", labels: excluding })] }],
    ["its node is not to be repaired", "do-not-repair", { nodes: [aNode("n", { annotations: unrepairable })] }],
  ])("what a person or another controller asks for is held too, if %s (%s)", (_what, code, more) => {
    for (const kind of ["ReplaceRemediation", "RebootRemediation"] as const) {
      const found = decide({ remediations: [ours(kind)], ...more });
      expect([found.proposals, found.refusals.map(one => one.code)]).toEqual([[], [code]]);
      expect(verdict({ remediations: [ours(kind)], ...more })).toMatch(/^Unknown (Excluded|DoNotRepair)$/);
    }
  });

  test("what was done for it is known, also when the entry before was deleted", () => {
    const reboot = anActionOf("Reboot", { phase: "Done" });
    const second = { ...reboot, name: `${reboot.name}-2` };
    expect(verdict({ remediations: [ours("RebootRemediation")], actions: [second] })).toBe("True Rebooted");
  });

  test.each<[string, readonly RemediationView[], boolean]>([
    ["stands", [ours("ReplaceRemediation")], true],
    ["is being removed", [ours("ReplaceRemediation", { deletingSince: at("40m") })], false],
    ["had its time", [ours("ReplaceRemediation", { timedOut: formatTime(at("40m")) })], false],
    ["is gone, whoever took its finalizer away", [], false],
  ])("what is written down begins only while its object %s", (_how, remediations, holds) => {
    const node = aNode("n", { ready: "False" });
    const sick = { kind: "Condition", conditionType: "Ready", conditionStatus: "False", seenAt: "" } as const;
    const evidence = [{ ...sick, since: formatTime(at("0s")) }];
    const { spec } = anActionOf("Terminate", { phase: "Pending" });
    const written = { ...spec, policy: { kind: "ReplaceRemediation", name: "n" }, evidence };
    const context = contextOf({ nodes: [node], claims: [aClaim("n")], remediations });
    const live = { node, claim: aClaim("n") };
    expect(stillHolds(written, live, context).holds).toBe(holds);
    const { askedBy, message } = spec;
    const another = { action: "GarbageCollection", askedBy, message, evidence, at: "" } as const;
    expect(stillHolds({ ...written, joined: [another] }, live, context).holds).toBe(true);
  });

  test.each<[string, boolean, Parameters<typeof aNode>[1]]>([
    ["nobody keeps it back", true, {}],
    ["it is excluded", false, { labels: excluding }],
    ["it is not to be repaired", false, { annotations: unrepairable }],
  ])("what is written down begins only while of its node, as it is read then, %s", (_how, holds, more) => {
    const { spec } = anActionOf("Terminate", { phase: "Pending" });
    const evidence = [{ kind: "RemediationObject", message: "m", since: formatTime(at("30m")), seenAt: "" }] as const;
    const written = { ...spec, policy: { kind: "ReplaceRemediation", name: "n" }, evidence: [...evidence] };
    const context = contextOf({
      nodes: [aNode("n")],
      claims: [aClaim("n")],
      remediations: [ours("ReplaceRemediation")],
    });
    expect(stillHolds(written, { node: aNode("n", more), claim: aClaim("n") }, context).holds).toBe(holds);
  });

  test("one that is due later is asked for then", () => {
    const made = ours("ReplaceRemediation", { checkUid: web.uid });
    const nodes = [aNode("n", { ready: "False", since: at("58m") })];
    const decision = decide({ checks: [web], remediations: [made], nodes });
    expect(decision.proposals).toEqual([]);
    expect(decision.wakeAt).toBe(at("63m"));
  });

  test.each([
    ["gone", []],
    ["another one, which came after the remediation", [aNode("n", { createdAt: at("40m") })]],
  ])("a node is %s: replaced where it had been seen, else there was none", (_how, nodes) => {
    const own = { spec: {}, status: { nodeUID: "n-uid-before" }, conditions: [] };
    const said = (kind: "ReplaceRemediation" | "RebootRemediation", more = {}) =>
      verdict({ remediations: [ours(kind, more)], nodes });
    expect(said("ReplaceRemediation", { own })).toBe("True NodeGone");
    expect(said("RebootRemediation", { own })).toBe("False NodeGone");
    expect(said("ReplaceRemediation")).toBe("False NodeNotFound");
    expect(said("RebootRemediation")).toBe("False NodeNotFound");
  });
});

describe("Replace", () => {
  test("asks for the end of the claim, by force unless it says otherwise", () => {
    const termination = (spec: object) =>
      decide({ remediations: [ours("ReplaceRemediation", { own: { spec: { ...spec }, status: {}, conditions: [] } })] })
        .proposals[0];
    expect(termination({})).toMatchObject({ method: "Terminate", termination: "Forceful", claim: { name: "n" } });
    expect(termination({ termination: "Graceful" })).toMatchObject({ termination: "Graceful" });
  });

  test.each<[string, CheckWorld]>([
    ["False NoNodeClaim", { claims: [] }],
    // Only its providerID says that it is the claim's.
    [
      "False NoNodeClaim",
      { nodes: [aNode("n", { ready: "False", finalizers: [] })], claims: [{ ...aClaim("n"), status: {} }] },
    ],
    ["Unknown Terminating", { claims: [aClaim("n", { deletingSince: at("59m") })] }],
    ["Unknown Replacing", {}],
  ])("says %s", (said, world) => {
    expect(verdict({ remediations: [ours("ReplaceRemediation")], ...world })).toBe(said);
  });

  test("leaves the claim of another controller alone, unless such claims are to be repaired", () => {
    const nodeClassRef = { group: "other.io", kind: "OtherClass", name: "x" };
    const world = { remediations: [ours("ReplaceRemediation")], claims: [aClaim("n", { spec: { nodeClassRef } })] };
    expect(verdict(world)).toBe("False ForeignClaim");
    expect(decide(world).proposals).toEqual([]);
    expect(decide(world, { foreignClaims: "repair" }).proposals).toHaveLength(1);
  });

  test("of a claim that is gone before its node is seen to be: it goes on", () => {
    const entry = anActionOf("Terminate", { phase: "Running", status: { startedAt: formatTime(at("31m")) } });
    const begun = { ...entry, spec: { ...entry.spec, claim: { name: "c", uid: "c-uid" } } };
    const world = { remediations: [ours("ReplaceRemediation")], claims: [], actions: [begun] };
    expect(verdict(world)).toBe("Unknown Terminating");
    expect(commandsOf(decide(world), "update-remediation")[0]?.why).toContain("NodeClaim c is being deleted");
  });

  test("that has had its time withdraws what has not begun", () => {
    const remediations = [ours("ReplaceRemediation", { timedOut: "2026-01-01T00:50:00Z" })];
    const actions = [anActionOf("Terminate", { phase: "Pending" })];
    const decision = decide({ remediations, actions });
    expect(verdict({ remediations, actions })).toBe("False TimedOut");
    expect(decision.commands).toContainEqual(
      expect.objectContaining({ kind: "update-action", progress: expect.objectContaining({ phase: "Abandoned" }) }),
    );
  });

  test("is let go of when it is removed, whatever has begun", () => {
    const remediations = [ours("ReplaceRemediation", { deletingSince: at("59m") })];
    const [update] = commandsOf(decide({ remediations }), "update-remediation");
    expect(update?.metadata).toEqual({ removeFinalizers: [remediationFinalizer] });
  });
});

describe("Reboot", () => {
  const remediations = [ours("RebootRemediation")];

  test("asks for a reboot within its time", () => {
    const own = { spec: { timeout: "7m" }, status: {}, conditions: [] };
    const [proposal] = decide({ remediations: [ours("RebootRemediation", { own })] }).proposals;
    expect(proposal).toMatchObject({ method: "Reboot", timeout: "7m0s" });
  });

  test.each<[string, CheckWorld]>([
    ["False NodeNotFound", { nodes: [] }],
    ["False NotSupported", { provider: { ...aProvider(), canReboot: false } }],
    ["False NoProviderID", { nodes: [aNode("n", { ready: "False", providerID: "" })], claims: [] }],
    ["False NodeGoing", { claims: [aClaim("n", { deletingSince: at("59m") })] }],
    ["True Rebooted", { actions: [anActionOf("Reboot", { phase: "Done" })] }],
    ["False RebootFailed", { actions: [anActionOf("Reboot", { phase: "Failed" })] }],
    ["Unknown Rebooting", {}],
  ])("says %s", (said, world) => {
    expect(verdict({ remediations, ...world })).toBe(said);
    if (!said.startsWith("Unknown")) expect(decide({ remediations, ...world }).proposals).toEqual([]);
  });

  describe("of a node that nobody provisioned through us", () => {
    const liar = aNode("n", { ready: "False", owners: [], finalizers: [], providerID: "test://victim" });

    test("goes by its own providerID", () => {
      expect(verdict({ remediations, nodes: [liar], claims: [] })).toBe("Unknown Rebooting");
    });

    test.each<[string, CheckWorld]>([
      ["NodeClaim victim", { claims: [aClaim("victim", { providerID: "test://victim" })] }],
      ["node victim", { nodes: [liar, aNode("victim", { providerID: "test://victim" })], claims: [] }],
    ])("never by that of another, %s: it may have written anything", (whose, world) => {
      const seen = { remediations, nodes: [liar], ...world };
      expect(verdict(seen)).toBe("False ForeignProviderID");
      expect(commandsOf(decide(seen), "update-remediation")[0]?.why).toContain(`the providerID of ${whose}`);
    });
  });

  test("without a boot id is not tried", () => {
    const { bootID: _, ...node } = aNode("n", { ready: "False" });
    expect(verdict({ remediations, nodes: [node] })).toBe("False NoBootID");
  });

  test("is tried as often as it says", () => {
    const own = { spec: { attempts: 2 }, status: {}, conditions: [] };
    const actions = [anActionOf("Reboot", { phase: "Failed" })];
    expect(decide({ remediations: [ours("RebootRemediation", { own })], actions }).proposals).toHaveLength(1);
  });

  test("keeps its object until our word is off the node that it is out of service", () => {
    const removed = [ours("RebootRemediation", { deletingSince: at("59m") })];
    const annotations = { "fettle.dev/out-of-service-by": "remediation-n-uid" };
    const nodes = [aNode("n", { annotations })];
    expect(decide({ remediations: removed, nodes })).toEqual(nothing);
    expect(decide({ remediations: removed, nodes: [aNode("n")] }).commands).toHaveLength(1);
  });

  test("is seen to its end before its object goes", () => {
    const removed = [ours("RebootRemediation", { deletingSince: at("59m") })];
    const actions = [anActionOf("Reboot", { phase: "Running", status: { startedAt: "2026-01-01T00:31:00Z" } })];
    expect(decide({ remediations: removed, actions })).toMatchObject({
      commands: [],
      refusals: [{ subject: "node/n", code: "reboot-running" }],
    });
  });
});
