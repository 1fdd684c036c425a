import { describe, expect, test } from "vitest";
import { aBudget, aNode, anAction, aPod, aSafetyPolicy, at, t0 } from "../../../test/builders.ts";
import type { NodeHealthCheckStatus } from "../../api/node-health-check.ts";
import { dayMs, formatTime, type Instant } from "../../api/time.ts";
import type { UpgradeView } from "../../snapshot/check-views.ts";
import { arbitrate } from "../arbitrate.ts";
import type { Proposal } from "../decision.ts";
import { controlPlaneLimits, remediationVeto } from "./holds.ts";
import { decideCheckedNode } from "./node.ts";
import {
  aCheck,
  aCheckContext,
  aRemediation,
  aTemplate,
  type CheckWorld,
  someNodes,
  templateRef,
} from "../../../test/check-builders.ts";

const unlimited = { cluster: "100%", zone: "100%", perWindow: { nodes: 1_000, duration: "1h" } };
const safety = aSafetyPolicy({ caps: { repair: unlimited } });

/** Every node is asked about, and the arbiter judges what is asked for. */
function starts(world: CheckWorld) {
  const context = aCheckContext({ checks: [aCheck("web")], safety, ...world });
  const proposals = [...context.picture.nodes()].flatMap(({ name }) =>
    decideCheckedNode(name, context).proposals.map(proposal => ({
      subject: `node/${name}` as const,
      rule: "checks",
      proposal,
    })),
  );
  const asked = proposals.map(({ proposal }) => proposal);
  const gates = { limits: controlPlaneLimits(asked, context), vetoes: [remediationVeto(context)] };
  const { commands, refusals, wakeAt } = arbitrate({ proposals, context, gates });
  const started = commands.flatMap(command => (command.kind === "open-action" ? [command.spec.node.name] : []));
  return { started, refusals, codes: refusals.map(({ code }) => code), wakeAt };
}

describe("the gate", () => {
  const checks = [aCheck("web", { spec: { maxUnhealthy: 3 } })];

  test("open, it lets all that are unhealthy start, the oldest failure first", () => {
    const nodes = [
      aNode("young", { ready: "False", since: at("40m") }),
      aNode("old", { ready: "False", since: at("20m") }),
      ...someNodes(4, 0),
    ];
    expect(starts({ checks, nodes }).started).toEqual(["old", "young"]);
  });

  test("closed, it lets none start: 4 of 7 at 3", () => {
    const found = starts({ checks, nodes: someNodes(7, 4) });
    expect(found.started).toEqual([]);
    expect(found.refusals).toMatchObject(
      Array.from({ length: 4 }, () => ({
        code: "too-many-unhealthy",
        message: "4 of 7 nodes of NodeHealthCheck web are not healthy, more than 3 (spec.maxUnhealthy: 3).",
      })),
    );
  });

  test("closed, what runs is only written down", () => {
    const [check = aCheck("web")] = checks;
    const remediations = [aRemediation({ of: check, on: "n0", createdAt: at("50m") })];
    const found = starts({ checks, nodes: someNodes(7, 4), remediations });
    expect(found.started).toEqual(["n0"]);
  });

  describe("closed, what has begun is written down all the same:", () => {
    const escalatingRemediations = ["Fence", "Reboot"].map((kind, order) => {
      return {
        order,
        timeout: "5m",
        remediationTemplate: templateRef(kind.toLowerCase(), `${kind}RemediationTemplate`),
      };
    });
    const check = aCheck("web", { spec: { maxUnhealthy: 3, escalatingRemediations } });
    const templates = [aTemplate(), aTemplate("reboot", { kind: "RebootRemediationTemplate" })];
    const made = aRemediation({ of: check, on: "n0", createdAt: at("59m") });
    const over = { ...made, timedOut: formatTime(at("59m")) };
    const { madeUnder: _, ...byAnother } = over;

    test.each([
      { what: "what runs under the spec of before", one: { ...made, madeUnder: "before" }, started: ["n0"] },
      { what: "what is over and has a step after it", one: over, started: ["n0"] },
      { what: "so too where medik8s made it", one: byAnother, started: ["n0"] },
      { what: "not a step that was added since", one: { ...over, madeUnder: "before" }, started: [] },
    ])("$what", ({ one, started }) => {
      const found = starts({ checks: [check], templates, nodes: someNodes(7, 4), remediations: [one] });
      expect(found.started).toEqual(started);
    });
  });

  test("counts nodes that will be unhealthy soon", () => {
    const fresh = { ready: "False" as const, since: at("1h") };
    const nodes = [...someNodes(4, 1), aNode("x", fresh), aNode("y", fresh), aNode("z", fresh)];
    expect(starts({ checks, nodes }).started).toEqual([]);
  });
});

test("a pause stops new remediation and says who asked", () => {
  const checks = [aCheck("web", { spec: { pauseRequests: ["CHG-7: new switches"] } })];
  const found = starts({ checks, nodes: someNodes(3, 1) });
  expect(found.started).toEqual([]);
  expect(found.refusals).toMatchObject([
    { code: "paused", message: "NodeHealthCheck web is paused: CHG-7: new switches" },
  ]);
});

describe("an upgrade of the cluster", () => {
  const nodes = someNodes(3, 1);
  const upgrade = (more: Partial<UpgradeView>): UpgradeView => ({ isOpenShift: true, progressing: [], ...more });

  test("by a ClusterVersion that progresses", () => {
    const progressing = [{ name: "version", message: "Working towards 4.20" }];
    expect(starts({ nodes, upgrade: upgrade({ progressing }) }).codes).toEqual(["cluster-upgrading"]);
    expect(starts({ nodes, upgrade: upgrade({}) }).started).toEqual(["n0"]);
  });

  test("that cannot be told holds", () => {
    const failure = "clusterversions is forbidden";
    const found = starts({ nodes, upgrade: upgrade({ failure }) });
    expect(found.refusals).toMatchObject([
      { code: "upgrade-unknown", message: expect.stringContaining(failure) as string },
    ]);
  });

  describe("that cannot be told, with --upgrade-unknown=proceed", () => {
    const settings = { upgradeUnknown: "proceed" } as const;
    const failure = "clusterversions is forbidden";

    test("holds nothing", () => {
      expect(starts({ nodes, settings, upgrade: upgrade({ failure }) }).started).toEqual(["n0"]);
    });

    test("holds nothing either where the last that was seen of it was an upgrade: nobody could see it end", () => {
      const progressing = [{ name: "version", message: "Working towards 4.20" }];
      expect(starts({ nodes, settings, upgrade: upgrade({ failure, progressing }) }).started).toEqual(["n0"]);
      expect(starts({ nodes, settings, upgrade: upgrade({ progressing }) }).codes).toEqual(["cluster-upgrading"]);
    });
  });

  test("by a node that gets another machine configuration, on OpenShift: elsewhere any node could say so", () => {
    const configured = (desired: string) =>
      someNodes(3, 1, {
        annotations: {
          "machineconfiguration.openshift.io/currentConfig": "a",
          "machineconfiguration.openshift.io/desiredConfig": desired,
        },
      });
    expect(starts({ nodes: configured("b"), upgrade: upgrade({}) }).codes).toEqual(["cluster-upgrading"]);
    expect(starts({ nodes: configured("a"), upgrade: upgrade({}) }).started).toEqual(["n0"]);
    expect(starts({ nodes: configured("b") }).started).toEqual(["n0"]);
  });

  test.each([
    { now: at("2h") - 1, started: [] },
    { now: at("2h"), started: ["n0"] },
  ])("by the annotation, until its deadline: $now", ({ now, started }) => {
    const policy = aSafetyPolicy({ caps: { repair: unlimited } });
    const meta = { ...policy.meta!, annotations: { "fettle.dev/cluster-upgrade": formatTime(at("2h")) } };
    const found = starts({ nodes, safety: { ...policy, meta }, now });
    expect(found.started).toEqual(started);
    if (started.length === 0) expect(found.wakeAt).toBe(at("2h"));
  });

  test("by an annotation that nobody can read", () => {
    const policy = aSafetyPolicy({ caps: { repair: unlimited } });
    const meta = { ...policy.meta!, annotations: { "fettle.dev/cluster-upgrade": "tomorrow" } };
    expect(starts({ nodes, safety: { ...policy, meta } }).codes).toEqual(["cluster-upgrading"]);
  });
});

describe("a storm", () => {
  const stormy = (active: string, cooling: string, since: Instant): NodeHealthCheckStatus => ({
    conditions: [
      {
        type: "StormActive",
        status: active,
        reason: "HealthyNodeThresholdChange",
        message: "",
        lastTransitionTime: formatTime(since),
      },
      {
        type: "StormCooldownActive",
        status: cooling,
        reason: "HealthyNodeThresholdChange",
        message: "",
        lastTransitionTime: formatTime(since),
      },
    ],
  });
  const check = (status: NodeHealthCheckStatus) =>
    aCheck("web", { spec: { maxUnhealthy: 3, stormCooldownDuration: "10m" }, status });

  test("that is written down holds starts though the gate is open again", () => {
    const found = starts({ checks: [check(stormy("True", "False", t0))], nodes: someNodes(7, 1) });
    expect(found.codes).toEqual(["storm-cooldown"]);
  });

  test.each([
    { now: at("20m") - 1, started: [] },
    { now: at("20m"), started: ["n0"] },
  ])("cools down for its time: $now", ({ now, started }) => {
    const found = starts({ checks: [check(stormy("True", "True", at("10m")))], nodes: someNodes(7, 1), now });
    expect(found.started).toEqual(started);
    if (started.length === 0) expect(found.wakeAt).toBe(at("20m"));
  });

  test("means nothing without a cooldown", () => {
    const calm = aCheck("web", { spec: { maxUnhealthy: 3 }, status: stormy("True", "True", t0) });
    expect(starts({ checks: [calm], nodes: someNodes(7, 1) }).started).toEqual(["n0"]);
  });
});

describe("the control plane", () => {
  const labels = { "node-role.kubernetes.io/control-plane": "" };
  const masters = (sick: number) => someNodes(3, sick, { labels });
  const generous = (name: string, template = templateRef()) =>
    aCheck(name, { spec: { maxUnhealthy: "100%", remediationTemplate: template } });

  test("one at a time, and workers beside it", () => {
    const nodes = [...masters(2), aNode("worker", { ready: "False" })];
    const found = starts({ checks: [generous("web")], nodes });
    expect(found.started.sort()).toEqual(["n0", "worker"]);
    expect(found.codes).toEqual(["cap-spent"]);
  });

  test("two checks with different templates never remediate two control-plane nodes at once", () => {
    const other = templateRef("reboot", "RebootRemediationTemplate");
    const first = generous("a");
    const split = [
      { ...first, selector: [{ key: "half", operator: "=" as const, values: ["a"] }] },
      { ...generous("b", other), selector: [{ key: "half", operator: "=" as const, values: ["b"] }] },
    ];
    const nodes = ["a", "b", "c"].map(half =>
      aNode(half, { ready: half === "c" ? "True" : "False", labels: { ...labels, half } }),
    );
    const templates = [aTemplate(), aTemplate("reboot", { kind: "RebootRemediationTemplate" })];
    expect(starts({ checks: split, nodes, templates }).started.length).toBe(1);
    // Also when the first one's object is there, whoever made it, and while it is being deleted.
    const remediations = [aRemediation({ on: "a", isOfControlPlane: true, deletingSince: at("50m") })];
    expect(starts({ checks: split, nodes: nodes.slice(1), templates, remediations }).started).toEqual([]);
  });

  test("not while another of its nodes lacks after all was tried on it, and that one is named", () => {
    const check = generous("web");
    const timedOut = formatTime(at("30m"));
    const spent = aRemediation({ of: check, on: "n0", isOfControlPlane: true, timedOut });
    const found = starts({ checks: [check], nodes: masters(2), remediations: [spent] });
    expect(found.started).toEqual([]);
    expect(found.refusals.map(({ subject, message }) => `${subject}: ${message}`)).toContainEqual(
      expect.stringMatching(/^node\/n1: 1 node is of the control plane .* \(n0\); at most 1 may be/),
    );
  });

  test("that one may be taken by another check: it lacks already", () => {
    const [first, second] = [generous("a"), generous("b", templateRef("reboot", "RebootRemediationTemplate"))];
    const timedOut = formatTime(at("30m"));
    const spent = aRemediation({ of: first, on: "n0", isOfControlPlane: true, timedOut });
    const templates = [aTemplate(), aTemplate("reboot", { kind: "RebootRemediationTemplate" })];
    const found = starts({ checks: [first, second], nodes: masters(2), templates, remediations: [spent] });
    expect(found.started).toEqual(["n0"]);
  });

  test("but not while a third one goes away", () => {
    const [first, second] = [generous("a"), generous("b", templateRef("reboot", "RebootRemediationTemplate"))];
    const timedOut = formatTime(at("30m"));
    const spent = aRemediation({ of: first, on: "n0", isOfControlPlane: true, timedOut });
    const templates = [aTemplate(), aTemplate("reboot", { kind: "RebootRemediationTemplate" })];
    const actions = [anAction("repair-n2", { node: "n2", spec: { action: "Repair" } })];
    const found = starts({ checks: [first, second], nodes: masters(3), templates, remediations: [spent], actions });
    expect(found.started).toEqual([]);
    expect(found.codes).toContain("cap-spent");
  });

  describe("one of which a remediation took away", () => {
    const check = generous("web");
    const caps = [
      { kind: "Default" as const, path: "one node of the control plane at a time", allowed: 1, counted: 0 },
    ];
    const askedBy = { kind: "NodeHealthCheck" as const, name: "web", uid: check.uid };
    const over = { startedAt: formatTime(at("31m")), finishedAt: formatTime(at("40m")) };
    const entry = (method: "Remediate" | "Terminate", more: Parameters<typeof anAction>[1] = {}) =>
      anAction(`${method}-old`, {
        node: "old",
        phase: "Done",
        ...more,
        spec: { action: "Remediation", method, askedBy, decidedAt: formatTime(at("30m")), ...more.spec },
        status: { ...over, ...more.status },
      });
    const ended = [{ name: "ended", startedAt: over.startedAt, finishedAt: over.finishedAt }];
    // As a check leaves it: its own entry is over with the node still there, and our remediator's takes it away.
    const actions = [entry("Remediate", { spec: { caps }, status: { steps: ended } }), entry("Terminate")];
    const world = { checks: [check], nodes: masters(1), actions };

    test("waits for a Ready one in its place, by whichever check", () => {
      const found = starts({ ...world, checks: [generous("another")] });
      expect(found.started).toEqual([]);
      expect(found.refusals).toMatchObject([
        {
          code: "cap-spent",
          message: expect.stringContaining("gone without a Ready successor (old)") as string,
          until: at("40m") + dayMs,
        },
      ]);
      const coming = aNode("new", { createdAt: at("45m"), labels, ready: "False", since: at("59m") });
      expect(starts({ ...world, nodes: [...masters(1), coming] }).started).toEqual([]);
      const worker = aNode("worker", { createdAt: at("45m") });
      expect(starts({ ...world, nodes: [...masters(1), worker] }).started).toEqual([]);
    });

    test.each<[string, CheckWorld]>([
      ["is there", { nodes: [...masters(1), aNode("new", { createdAt: at("45m"), labels })] }],
      ["has not come for a day", { now: at("40m") + dayMs }],
      ["is not asked for: it was no node of the control plane", { actions: [entry("Terminate")] }],
    ])("and no longer once that %s", (_how, more) => {
      expect(starts({ ...world, ...more }).started).toEqual(["n0"]);
    });

    test("has been followed where the one in its place was taken away since, and that one has", () => {
      const second = entry("Remediate", { node: "second", spec: { caps, decidedAt: formatTime(at("50m")) } });
      const again = { ...second, name: "Remediate-second", uid: "another" };
      const all = { ...world, actions: [...actions, again] };
      expect(starts(all).refusals[0]?.message).toContain("(second)");
      expect(
        starts({ ...all, nodes: [...masters(1), aNode("third", { createdAt: at("55m"), labels })] }).started,
      ).toEqual(["n0"]);
    });

    test("may be taken up again under its name: it is what lacks", () => {
      const again = aNode("old", { uid: "another", createdAt: at("45m"), labels, ready: "False", since: at("46m") });
      const found = starts({ ...world, nodes: [...masters(1), again] });
      expect([found.started, found.codes]).toEqual([["old"], ["cap-spent"]]);
    });

    test("also between the end of the node and that of its entry", () => {
      const going = entry("Terminate", { phase: "Running", spec: { caps }, status: { startedAt: over.startedAt } });
      expect(starts({ ...world, actions: [going] }).codes).toEqual(["cap-spent"]);
    });
  });

  test("not while another of its nodes goes away for another reason", () => {
    const actions = [anAction("repair-n2", { node: "n2", spec: { action: "Repair" } })];
    expect(starts({ checks: [generous("web")], nodes: masters(1), actions }).codes).toEqual(["cap-spent"]);
  });

  describe("with a PodDisruptionBudget over etcd", () => {
    const guarded = (disruptionsAllowed: number, isReady: boolean | undefined, more = {}) => {
      const namespace = "openshift-etcd";
      const pod = aPod("etcd-guard", { namespace, on: "n0", ...(isReady === undefined ? {} : { isReady }) });
      const budgets = [aBudget("etcd-guard", { namespace, disruptionsAllowed, ...more })];
      const pods = isReady === undefined ? [] : [pod];
      return starts({ checks: [generous("web")], nodes: masters(1), pods, budgets });
    };

    test("that allows none and a member that serves: not", () => {
      expect(guarded(0, true).refusals).toMatchObject([
        { code: "etcd-quorum", message: expect.stringContaining("openshift-etcd/etcd-guard") as string },
      ]);
    });

    test("whose word is of before its last edit: not", () => {
      expect(guarded(1, true, { isObserved: false }).codes).toEqual(["etcd-quorum"]);
    });

    test.each([
      { allowed: 1, isReady: true },
      { allowed: 0, isReady: false },
      { allowed: 0, isReady: undefined },
    ])("that allows $allowed, with a member that is ready: $isReady", ({ allowed, isReady }) => {
      expect(guarded(allowed, isReady).started).toEqual(["n0"]);
    });

    test("for what a person wants of our own remediators, too", () => {
      const pods = [aPod("etcd-guard", { namespace: "openshift-etcd", on: "n0" })];
      const budgets = [aBudget("etcd-guard", { namespace: "openshift-etcd", disruptionsAllowed: 0 })];
      const context = aCheckContext({ nodes: masters(0), pods, budgets });
      const asked = { action: "Remediation", askedBy: { kind: "Controller", name: "remediators" } } as const;
      const on = (name: string) => ({ ...asked, node: { name, uid: `${name}-uid` } }) as unknown as Proposal;
      expect(remediationVeto(context)(on("n0"), context)?.code).toBe("etcd-quorum");
      expect(remediationVeto(context)(on("n1"), context)).toBeUndefined();
      const repair = { ...on("n0"), action: "Repair" } as const;
      expect(remediationVeto(context)(repair, context)).toBeUndefined();
    });

    test("for what our own remediators begin for a check, however long ago that asked", () => {
      const check = generous("web");
      const pods = [aPod("etcd-guard", { namespace: "openshift-etcd", on: "n0" })];
      const budgets = [aBudget("etcd-guard", { namespace: "openshift-etcd", disruptionsAllowed: 0 })];
      const remediations = [aRemediation({ of: check, on: "n0" })];
      const context = aCheckContext({ checks: [check], nodes: masters(1), pods, budgets, remediations });
      const askedBy = { kind: "NodeHealthCheck", name: "web", uid: check.uid };
      const by = (method: Proposal["method"]) => {
        const asked = { action: "Remediation", method, askedBy, node: { name: "n0", uid: "n0-uid" } };
        return remediationVeto(context)(asked as unknown as Proposal, context)?.code;
      };
      expect([by("Terminate"), by("Reboot"), by("Remediate")]).toEqual(["etcd-quorum", "etcd-quorum", undefined]);
    });

    test("on a plain cluster too, by the label of its static pod", () => {
      const pods = [aPod("etcd-n0", { namespace: "kube-system", on: "n0", labels: { component: "etcd" } })];
      const budgets = [aBudget("etcd", { namespace: "kube-system", selector: { matchLabels: { component: "etcd" } } })];
      expect(starts({ checks: [generous("web")], nodes: masters(1), pods, budgets }).codes).toEqual(["etcd-quorum"]);
    });
  });
});

test("two checks that select one node: one remediation, and the other is told why it waits", () => {
  const found = starts({ checks: [aCheck("a"), aCheck("b")], nodes: someNodes(3, 1) });
  expect(found.started).toEqual(["n0"]);
  expect(found.refusals).toMatchObject([
    { code: "outranked", message: "Remediation (asked for by NodeHealthCheck a) comes first on node n0." },
  ]);
});

test("an edit of selector or remediations while something runs holds new starts until that is over", () => {
  const before = aCheck("web");
  const after = aCheck("web", {
    spec: { selector: { matchExpressions: [{ key: "no", operator: "DoesNotExist" }] } },
    generation: 2,
  });
  const world = { checks: [after], nodes: someNodes(7, 2), remediations: [aRemediation({ of: before, on: "n0" })] };
  const found = starts(world);
  expect(found.refusals).toMatchObject([
    { code: "edited-while-remediating", message: expect.stringContaining("node n0") as string },
  ]);
  expect(starts({ ...world, remediations: [] }).started.length).toBe(2);
});

test("a node with repair of its pool pending belongs to the repair", () => {
  const actions = [anAction("repair-n0", { node: "n0", spec: { action: "Repair" } })];
  expect(starts({ nodes: someNodes(3, 1), actions }).codes).toEqual(["already-going"]);
});
