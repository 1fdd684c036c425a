import { describe, expect, test } from "vitest";
import { aCondition, aNode, at, t0 } from "../../../test/builders.ts";
import type { NodeHealthCheckSpec } from "../../api/node-health-check.ts";
import type { NodeView } from "../../snapshot/views.ts";
import { formatTime, type Instant, minuteMs, secondMs } from "../../api/time.ts";
import type { RemediationView } from "../../snapshot/check-views.ts";
import type { Decision } from "../decision.ts";
import { HealthCounts } from "../brake-counts.ts";
import { ConditionMemory } from "../sickness-history.ts";
import { decideCheckedNode } from "./node.ts";
import {
  aCheck,
  aCheckContext,
  aLease,
  apiVersion,
  aRemediation,
  aTemplate,
  type CheckWorld,
  remediating,
  resourceOf,
  someNodes,
  templateRef,
  running,
  web,
  decideOn as decide,
  codesOn as codes,
} from "../../../test/check-builders.ts";

describe("when a node is unhealthy", () => {
  const since = at("1h");
  const world = (now: Instant): CheckWorld => ({
    nodes: [aNode("n0", { ready: "False", since }), aNode("b"), aNode("c")],
    now,
  });

  test.each([
    { at: "one ms before its duration has passed", now: since + 5 * minuteMs - 1, asked: 0, code: "soon-unhealthy" },
    { at: "when it has passed", now: since + 5 * minuteMs, asked: 1, code: undefined },
    { at: "one ms after", now: since + 5 * minuteMs + 1, asked: 1, code: undefined },
  ])("$at", ({ now, asked, code }) => {
    const { proposals, refusals, wakeAt } = decide(world(now));
    expect(proposals.length).toBe(asked);
    expect(refusals[0]?.code).toBe(code);
    expect(wakeAt).toBe(code === undefined ? undefined : since + 5 * minuteMs);
  });

  test("it is asked for with what was seen, for whom, and since when it is due", () => {
    const [proposal] = decide(world(at("2h"))).proposals;
    expect(proposal).toMatchObject({
      node: { name: "n0", uid: "n0-uid" },
      action: "Remediation",
      method: "Remediate",
      askedBy: { kind: "NodeHealthCheck", name: "web", uid: web.uid },
      policy: { kind: "NodeHealthCheck", name: "web", path: "spec.unhealthyConditions[0]", generation: 1 },
      dueAt: since + 5 * minuteMs,
    });
    expect(proposal?.evidence).toMatchObject([
      { kind: "Condition", conditionType: "Ready", conditionStatus: "False", clock: "Reporter", toleration: "5m0s" },
    ]);
  });

  test("of several conditions one is enough, and the first that is due counts", () => {
    const spec: NodeHealthCheckSpec = {
      unhealthyConditions: [
        { type: "Ready", status: "False", duration: "300s" },
        { type: "DiskBroken", status: "True", duration: "10s" },
      ],
    };
    const node = aNode("n0", {
      conditions: [aCondition("Ready", "False", { since }), aCondition("DiskBroken", "True", { since })],
    });
    const asked = (now: Instant) => decide({ checks: [aCheck("web", { spec })], nodes: [node, aNode("b")], now });
    expect(asked(since + 10 * secondMs - 1).proposals).toEqual([]);
    const first = asked(since + 10 * secondMs);
    expect(first.proposals[0]?.evidence.map(({ conditionType }) => conditionType)).toEqual(["DiskBroken"]);
    expect(first.wakeAt).toBe(since + 5 * minuteMs);
    expect(asked(since + 5 * minuteMs).proposals[0]?.evidence.length).toBe(2);
  });

  test("a condition that is not there never matches", () => {
    const spec = { unhealthyConditions: [{ type: "DiskBroken", status: "True", duration: "0s" }] };
    const found = decide({ checks: [aCheck("web", { spec })] });
    expect([...found.proposals, ...found.refusals, ...found.commands]).toEqual([]);
  });

  test("a back-dated condition gains nothing on a young node", () => {
    const node = aNode("n0", { ready: "False", since: t0, createdAt: at("58m") });
    expect(decide({ nodes: [node, aNode("b")] }).wakeAt).toBe(at("63m"));
  });

  test("a back-dated condition gains nothing where we were watching", () => {
    const memory = new ConditionMemory();
    const before = aNode("n0");
    const after = aNode("n0", { ready: "False", since: t0 });
    memory.observe({ after: before }, at("50m"));
    memory.observe({ before, after }, at("59m"));
    const context = aCheckContext({ checks: [web], nodes: [after, aNode("b")] });
    const remembered = { sight: memory, health: new HealthCounts() };
    const found = decideCheckedNode("n0", { ...context, remembered });
    expect(found.refusals).toMatchObject([{ code: "soon-unhealthy", until: at("64m") }]);
    expect(decideCheckedNode("n0", context).proposals.length).toBe(1);
  });

  test("a condition without a time is never due, and says so", () => {
    const { since: _, ...timeless } = aCondition("Ready", "False");
    expect(codes({ nodes: [aNode("n0", { conditions: [timeless] }), aNode("b")] })).toEqual(["due-time-unknown"]);
  });

  test("nodes created already unhealthy are seen at once", () => {
    const context = aCheckContext({ checks: [web] });
    context.checks.replaceNode({ before: undefined, after: aNode("n0", { ready: "False" }) });
    expect([...context.checks.takeDirty()].sort()).toEqual(["check/web", "cluster", "node/n0"]);
  });
});

describe("what is not asked for", () => {
  test("an excluded node", () => {
    const excluded = (value: string) => ({
      nodes: someNodes(3, 1, { labels: { "remediation.medik8s.io/exclude-from-remediation": value } }),
    });
    expect(codes(excluded("true"))).toEqual(["excluded"]);
    expect(decide(excluded("true")).notices).toMatchObject([{ about: { name: "web" }, reason: "RemediationSkipped" }]);
    expect(decide(excluded("false")).proposals.length).toBe(1);
    const empty = decide(excluded(""));
    expect(empty.proposals.length).toBe(1);
    expect(empty.notices.map(({ reason }) => reason)).toContain("InvalidNodeLabel");
  });

  test("a node whose lease another holds, until it runs out", () => {
    const lease = aLease("n0", { holder: "node-maintenance", durationMs: 3600 * secondMs, renewedAt: at("30m") });
    const held = decide({ leases: [lease] });
    expect(held.refusals).toMatchObject([{ code: "lease-held", until: at("90m") }]);
    expect(held.wakeAt).toBe(at("90m"));
    expect(decide({ leases: [lease], now: at("90m") }).proposals.length).toBe(1);
  });

  test("a node that its cloud takes back, where OpenShift's own check minds it", () => {
    const conditions = [aCondition("Ready", "False", { since: t0 }), aCondition("Terminating", "True")];
    const context = aCheckContext({ checks: [web], nodes: [{ ...aNode("n0"), conditions }, aNode("b"), aNode("c")] });
    const asked = () => decideCheckedNode("n0", context);
    expect(asked().proposals.length).toBe(1);
    context.checks.setMachineChecks({ conflicting: [], mindsTerminating: true });
    expect(asked()).toMatchObject({ proposals: [], refusals: [{ code: "left-to-machine-check" }] });
  });

  test("anything of a check that is disabled or being deleted", () => {
    expect(codes({ templates: [] })).toEqual(["check-disabled"]);
    expect(codes({ checks: [aCheck("web", { deletingSince: t0 })] })).toEqual([]);
  });

  test("anything by a check that cannot be understood", () => {
    const check = aCheck("web", { spec: { remediationTemplate: { ...templateRef(), kind: "Nonsense" } } });
    expect(decide({ checks: [check] }).proposals).toEqual([]);
    expect(check.selector).toBeUndefined();
  });

  test("anything that is only shown", () => {
    const [proposal] = decide({ checks: [aCheck("web", { spec: { dryRun: true } })] }).proposals;
    expect(proposal?.dryRun).toBe(true);
  });
});

describe("one owner at a time", () => {
  test("two checks on one node both ask; the arbiter gives it to one", () => {
    const found = decide({ checks: [web, aCheck("zoo")] });
    expect(found.proposals.map(({ askedBy }) => askedBy.name)).toEqual(["web", "zoo"]);
  });

  test("the other check does not touch what the first one runs", () => {
    const zoo = aCheck("zoo");
    const world = {
      checks: [web, zoo],
      actions: [running(web)],
      remediations: [aRemediation({ of: web, on: "n0", createdAt: at("50m") })],
      leases: [aLease("n0")],
    };
    const found = decide(world);
    expect(found.commands.filter(({ kind }) => kind !== "update-action")).toEqual([]);
    expect(found.refusals).toMatchObject([
      { code: "lease-held", message: expect.stringContaining("NodeHealthCheck-web") as string },
    ]);
    // On the check itself too, in the same words however often the lease is renewed.
    const renewed = decide({ ...world, leases: [aLease("n0", { renewedAt: at("59m") })] });
    expect(renewed.notices).toEqual(found.notices);
    expect(found.notices).toMatchObject([
      { about: { name: "zoo" }, reason: "RemediationSkipped", message: expect.stringContaining("-web") as string },
    ]);
  });
});

describe("a node that somebody deletes", () => {
  const [sick, ...others] = someNodes(3, 1);
  const nodes = [{ ...sick, deletingSince: at("50m") } as NodeView, ...others];

  test("is not asked for", () => {
    const found = decide({ nodes });
    expect(found.proposals).toEqual([]);
    expect(found.refusals.map(({ code }) => code)).toEqual(["node-going"]);
  });

  test("is taken over: the entry of a remediation that runs ends, and none is written anew", () => {
    const remediations = [aRemediation({ of: web, on: "n0" })];
    const world = { nodes, remediations, leases: [aLease("n0")] };
    const found = decide({ ...world, actions: [running(web)] });
    expect(found.commands.filter(({ kind }) => kind === "update-action")).toMatchObject([
      { progress: { phase: "Done", outcome: "Node n0 is being deleted.", waitingFor: null } },
    ]);
    expect(decide(world).proposals).toEqual([]);
  });

  test("has been begun with once its remediation is made, though the entry does not know it yet", () => {
    const remediations = [aRemediation({ of: web, on: "n0" })];
    const found = decide({ nodes, remediations, leases: [aLease("n0")], actions: [remediating(web)] });
    expect(found.commands.filter(({ kind }) => kind === "update-action")).toMatchObject([
      { progress: { phase: "Done", outcome: "Node n0 is being deleted." } },
    ]);
  });
});

describe("what is not seen whole", () => {
  test("is not taken for gone: after a restart nothing ends because its kind is not listed yet", () => {
    const world: CheckWorld = {
      actions: [running(web)],
      leases: [aLease("n0")],
      kinds: { FenceRemediation: { state: "Listing" } },
    };
    const found = decide(world);
    expect(found.commands).toEqual([]);
    expect(found.refusals.map(({ code }) => code)).toEqual(["check-disabled"]);
  });

  describe("because one kind of several may not be read", () => {
    const steps = ["fence", "wipe"].map((name, order) => ({
      remediationTemplate: templateRef(name, name === "fence" ? "FenceRemediationTemplate" : "WipeRemediationTemplate"),
      order,
      timeout: "10m",
    }));
    const two = aCheck("web", { spec: { escalatingRemediations: steps } });
    const world: CheckWorld = {
      checks: [two],
      templates: [aTemplate("fence"), aTemplate("wipe", { kind: "WipeRemediationTemplate" })],
      kinds: { WipeRemediation: { state: "Forbidden", verb: "list", resource: resourceOf("WipeRemediation") } },
      leases: [aLease("n0")],
    };
    const made = (more: Partial<RemediationView> = {}) =>
      aRemediation({ of: two, on: "n0", createdAt: at("55m"), ...more });
    const kinds = (found: Decision) => found.commands.map(({ kind }) => kind);

    test("what is seen of it is removed when its node is well, and the entry waits for the rest", () => {
      const nodes = someNodes(3, 0);
      expect(kinds(decide({ ...world, nodes, remediations: [made()], actions: [running(two)] }))).toEqual([
        "delete-remediation",
      ]);
      expect(kinds(decide({ ...world, nodes, actions: [running(two)] }))).toEqual([]);
    });

    test("a step that is seen has its time, and the one that is hidden does not begin", () => {
      const late = decide({ ...world, remediations: [made({ createdAt: at("50m") })], actions: [running(two)] });
      expect(late.commands).toMatchObject([{ kind: "annotate-remediation" }]);
      const timedOut = made({ createdAt: at("50m"), timedOut: formatTime(at("1h")) });
      const next = decide({ ...world, remediations: [timedOut], actions: [running(two)] });
      expect([kinds(next), next.refusals.map(({ code }) => code)]).toEqual([[], ["check-disabled"]]);
    });

    test("that a step was begun is written down, so that it is not given up as never taken up", () => {
      const found = decide({ ...world, remediations: [made()], actions: [remediating(two)] });
      expect(found.commands).toContainEqual(expect.objectContaining({ kind: "update-action" }));
    });

    test("of a check that was edited since: nothing is asked for beside what may run unseen", () => {
      const resource = { apiVersion, kind: "WipeRemediation", name: "n0", uid: "u" };
      const started = formatTime(t0);
      const status = { unhealthyNodes: [{ name: "n0", remediations: [{ resource, started }] }] };
      const edited = aCheck("web", { status });
      expect(decide({ ...world, checks: [edited], leases: [] }).proposals).toEqual([]);
      expect(codes({ ...world, checks: [edited], leases: [] })).toEqual(["remediations-unseen"]);
    });
  });

  test("leaves the remediations of a check that cannot be understood as they are", () => {
    const broken = aCheck("web", { spec: { remediationTemplate: { ...templateRef(), kind: "Nonsense" } } });
    const { madeUnder: _, ...made } = aRemediation({ of: broken, on: "n0" });
    expect(decide({ checks: [broken], nodes: someNodes(3, 0), remediations: [made] }).commands).toEqual([]);
  });
});

test("a remediation that is two days old is worth a word", () => {
  const remediations = [aRemediation({ of: web, on: "n0" })];
  const world = { actions: [running(web)], leases: [aLease("n0", { renewedAt: at("48h") })], remediations };
  const reasons = (now: Instant) => decide({ ...world, now }).notices.map(({ reason }) => reason);
  expect(reasons(at("48h") - 1)).not.toContain("OldRemediation");
  expect(reasons(at("48h"))).toContain("OldRemediation");
});

test("a node that nobody checks is nobody's", () => {
  expect(decide({ checks: [] })).toEqual({ commands: [], proposals: [], refusals: [], notices: [], wakeAt: undefined });
  expect(decide({}, "nobody").commands).toEqual([]);
});
