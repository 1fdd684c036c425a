import { describe, expect, test } from "vitest";
import { aClaim, aNode, anAction, aPool, at, t0 } from "../../../test/builders.ts";
import { dayMs, formatTime } from "../../api/time.ts";
import type { PoolView } from "../../snapshot/views.ts";
import { HealthCounts } from "../brake-counts.ts";
import { ConditionMemory } from "../sickness-history.ts";
import { allowedOf, gateOf, gateSentence } from "./gate.ts";
import { aCheck, aCheckContext, aRemediation, type CheckWorld, someNodes } from "../../../test/check-builders.ts";

describe("how many nodes may be not healthy", () => {
  test.each([
    // Down, but not below one.
    { maxUnhealthy: "49%", nodes: 3, allowed: 1 },
    { maxUnhealthy: "40%", nodes: 3, allowed: 1 },
    { maxUnhealthy: "49%", nodes: 1, allowed: 1 },
    { maxUnhealthy: "75%", nodes: 10, allowed: 7 },
    { maxUnhealthy: "100%", nodes: 10, allowed: 10 },
    { maxUnhealthy: "0%", nodes: 10, allowed: 0 },
    { maxUnhealthy: 0, nodes: 10, allowed: 0 },
    { maxUnhealthy: 8, nodes: 10, allowed: 8 },
    { maxUnhealthy: 12, nodes: 10, allowed: 12 },
  ])("maxUnhealthy $maxUnhealthy of $nodes is $allowed", ({ maxUnhealthy, nodes, allowed }) => {
    expect(allowedOf(aCheck("web", { spec: { maxUnhealthy } }), nodes).allowed).toBe(allowed);
  });

  test.each([
    // So many must be healthy, rounded up.
    { minHealthy: 8, nodes: 10, allowed: 2 },
    { minHealthy: "80%", nodes: 10, allowed: 2 },
    { minHealthy: "75%", nodes: 10, allowed: 2 },
    { minHealthy: "0%", nodes: 10, allowed: 10 },
    { minHealthy: "100%", nodes: 10, allowed: 0 },
    { minHealthy: "51%", nodes: 3, allowed: 1 },
    { minHealthy: 12, nodes: 10, allowed: -2 },
  ])("minHealthy $minHealthy of $nodes leaves $allowed", ({ minHealthy, nodes, allowed }) => {
    expect(allowedOf(aCheck("web", { spec: { minHealthy } }), nodes).allowed).toBe(allowed);
  });

  test("a check that says neither allows 49%", () => {
    const check = aCheck("web", { spec: { minHealthy: 1 } });
    const effective = { ...check.effective, limit: { maxUnhealthy: "49%" } };
    expect(allowedOf({ ...check, effective }, 10)).toEqual({ allowed: 4, written: "spec.maxUnhealthy: 49%" });
  });
});

test("numeric strings as thresholds mean numbers", () => {
  expect(allowedOf(aCheck("web", { spec: { minHealthy: "3" } }), 5).allowed).toBe(2);
  expect(allowedOf(aCheck("web", { spec: { maxUnhealthy: "3" } }), 5).allowed).toBe(3);
});

function gate(world: CheckWorld) {
  const [check = aCheck("web")] = world.checks ?? [];
  return gateOf(check, aCheckContext({ checks: [check], ...world }));
}

describe("what the gate counts", () => {
  test("nodes that match for however short a time are not healthy", () => {
    const nodes = [aNode("a", { ready: "False", since: at("1h") }), aNode("b"), aNode("c")];
    expect(gate({ nodes })).toMatchObject({ nodes: 3, notHealthy: 1, allowed: 1, isOpen: true });
  });

  test("one more than allowed closes it, at the limit it is open", () => {
    const checks = [aCheck("web", { spec: { maxUnhealthy: 3 } })];
    expect(gate({ checks, nodes: someNodes(7, 3) }).isOpen).toBe(true);
    expect(gate({ checks, nodes: someNodes(7, 4) }).isOpen).toBe(false);
  });

  test("a limit greater than the selection is no error", () => {
    const checks = [aCheck("web", { spec: { maxUnhealthy: 12 } })];
    expect(gate({ checks, nodes: someNodes(3, 3) })).toMatchObject({ isOpen: true, allowed: 12 });
  });

  test("no selector means all nodes", () => {
    expect(gate({ nodes: someNodes(4, 0) }).nodes).toBe(4);
  });

  test("a selector leaves the others out of both numbers", () => {
    const checks = [aCheck("web", { spec: { selector: { matchLabels: { role: "worker" } } } })];
    const nodes = [aNode("a", { ready: "False" }), aNode("b", { ready: "False", labels: { role: "worker" } })];
    expect(gate({ checks, nodes })).toMatchObject({ nodes: 1, notHealthy: 1 });
  });

  test("a healthy node counts as not healthy until its remediation is really gone", () => {
    const check = aCheck("web");
    const remediations = [aRemediation({ of: check, on: "n0", deletingSince: at("30m"), finalizers: ["fence"] })];
    expect(gate({ checks: [check], nodes: someNodes(3, 0), remediations }).notHealthy).toBe(1);
  });

  test("a remediation of another check or of nobody does not count here", () => {
    const check = aCheck("web");
    const remediations = [aRemediation({ of: aCheck("other"), on: "n0" }), aRemediation({ on: "n1" })];
    expect(gate({ checks: [check], nodes: someNodes(3, 0), remediations }).notHealthy).toBe(0);
  });
});

describe("a node that a remediation took away", () => {
  const check = aCheck("web", { spec: { maxUnhealthy: 1 } });
  const taken = (name: string, more: Parameters<typeof anAction>[1] = {}) =>
    anAction(`remediation-${name}`, {
      node: name,
      phase: "Done",
      spec: {
        action: "Remediation",
        method: "Remediate",
        askedBy: { kind: "NodeHealthCheck", name: "web", uid: check.uid },
        decidedAt: formatTime(at("30m")),
        ...more.spec,
      },
      status: { startedAt: formatTime(at("31m")), finishedAt: formatTime(at("40m")), ...more.status },
    });

  test("stays in both numbers until a successor is Ready", () => {
    const nodes = someNodes(3, 0);
    const actions = [taken("old")];
    expect(gate({ checks: [check], nodes, actions })).toMatchObject({ nodes: 4, notHealthy: 1, taken: 1 });
    const booting = aNode("new", { createdAt: at("45m"), ready: "False" });
    expect(gate({ checks: [check], nodes: [...nodes, booting], actions })).toMatchObject({ nodes: 5, notHealthy: 2 });
    const ready = aNode("new", { createdAt: at("45m") });
    expect(gate({ checks: [check], nodes: [...nodes, ready], actions })).toMatchObject({ nodes: 4, notHealthy: 0 });
  });

  test("has been followed also by one that has failed since: that counts by itself, and once", () => {
    const memory = new ConditionMemory();
    const ready = aNode("new", { createdAt: at("45m"), since: at("46m") });
    const failed = aNode("new", { createdAt: at("45m"), ready: "Unknown", since: at("50m") });
    memory.observe({ after: ready }, at("46m"));
    memory.observe({ before: ready, after: failed }, at("50m"));
    const context = aCheckContext({ checks: [check], nodes: [...someNodes(2, 0), failed], actions: [taken("old")] });
    const remembered = { sight: memory, health: new HealthCounts() };
    expect(gateOf(check, { ...context, remembered })).toMatchObject({
      nodes: 3,
      notHealthy: 1,
      taken: 0,
      isOpen: true,
    });
    // Whoever has not seen it Ready cannot tell it from one that boots.
    expect(gateOf(check, context)).toMatchObject({ notHealthy: 2, taken: 1, isOpen: false });
  });

  test("does not open the gate for the next one", () => {
    const world = { checks: [check], nodes: someNodes(3, 1), actions: [taken("old")] };
    expect(gate(world)).toMatchObject({ notHealthy: 2, isOpen: false });
  });

  test("is not followed by a node that was there before", () => {
    const nodes = [...someNodes(3, 0), aNode("new", { createdAt: at("30m") - 1 })];
    expect(gate({ checks: [check], nodes, actions: [taken("old")] }).taken).toBe(1);
  });

  test("needs a successor of its own", () => {
    const nodes = [...someNodes(3, 0), aNode("new", { createdAt: at("45m") })];
    const actions = [taken("old"), taken("older")];
    expect(gate({ checks: [check], nodes, actions }).taken).toBe(1);
  });

  test("counts once while its remediation is still there", () => {
    const remediations = [aRemediation({ of: check, on: "old", takesNodeAway: true })];
    const world = { checks: [check], nodes: someNodes(3, 0), actions: [taken("old")], remediations };
    expect(gate(world)).toMatchObject({ nodes: 4, notHealthy: 1, taken: 1 });
  });

  test("is none where the remediation ended with the node still there", () => {
    const steps = [{ name: "ended", startedAt: formatTime(t0), finishedAt: formatTime(t0) }];
    const actions = [taken("old", { status: { steps } })];
    expect(gate({ checks: [check], nodes: someNodes(3, 0), actions }).taken).toBe(0);
  });

  test("is none where the action was given up before its start", () => {
    const action = taken("old");
    const { startedAt: _, ...status } = action.status;
    const actions = [{ ...action, status: { ...status, phase: "Abandoned" as const } }];
    expect(gate({ checks: [check], nodes: someNodes(3, 0), actions }).taken).toBe(0);
  });

  test.each([
    { now: at("55m") - 1, taken: 1 },
    { now: at("55m"), taken: 0 },
  ])("is waited for one readinessTTL where a pool follows its pods: at $now", ({ now, taken: count }) => {
    const pools = [aPool("web")];
    const world = {
      checks: [check],
      pools,
      nodes: someNodes(3, 1),
      actions: [taken("old", { spec: { nodePool: "web" } })],
    };
    const found = gate({ ...world, now });
    expect(found.taken).toBe(count);
    expect(found.opensAt).toBe(count === 0 ? undefined : at("55m"));
    expect(found.changesAt).toBe(count === 0 ? undefined : at("55m"));
  });

  describe("where the pool keeps its number", () => {
    const nodes = someNodes(3, 1);
    const claims = nodes.map(({ name }) => aClaim(name, { pool: "web" }));
    const counted = (pools: readonly PoolView[], more: CheckWorld = {}) => {
      const actions = [taken("old", { spec: { nodePool: "web" } })];
      return gate({ checks: [check], pools, nodes, claims, actions, now: at("100h"), ...more });
    };
    const wanting = (replicas: number) => [aPool("web", { spec: { replicas } })];

    test("is waited for without an end", () => {
      expect(counted(wanting(4))).toMatchObject({ taken: 1, isOpen: false });
    });

    test("counts no longer once the pool is scaled down to what it has, sick or not", () => {
      expect(counted(wanting(3))).toMatchObject({ taken: 0, isOpen: true });
      expect(counted(wanting(0)).taken).toBe(0);
    });

    test("is as many as the pool lacks", () => {
      const actions = ["old", "older"].map(name => taken(name, { spec: { nodePool: "web" } }));
      expect([6, 5, 4, 3].map(replicas => counted(wanting(replicas), { actions }).taken)).toEqual([2, 2, 1, 0]);
    });

    test.each<[string, Parameters<typeof aClaim>[1]]>([
      ["on its way", { stage: "registered" }],
      ["being deleted", { deletingSince: t0 }],
    ])("is lacking while a claim is %s", (_what, more) => {
      const other = aClaim("n2", { pool: "web", ...more });
      expect(counted(wanting(3), { claims: [...claims.slice(0, 2), other] }).taken).toBe(1);
    });

    test("counts no longer once the pool is deleted, or being deleted", () => {
      expect(counted([]).taken).toBe(0);
      expect(counted(wanting(4).map(pool => ({ ...pool, deletingSince: t0 }))).taken).toBe(0);
    });
  });

  test.each([
    { now: at("40m") + dayMs - 1, taken: 1 },
    { now: at("40m") + dayMs, taken: 0 },
  ])("is waited for a day where nobody of ours provisions: at $now", ({ now, taken: count }) => {
    const found = gate({ checks: [check], nodes: someNodes(3, 1), actions: [taken("old")], now });
    expect(found.taken).toBe(count);
    expect(found.opensAt).toBe(count === 0 ? undefined : at("40m") + dayMs);
  });

  test("is named in the sentence", () => {
    const world = { checks: [check], nodes: someNodes(3, 1), actions: [taken("old")] };
    expect(gateSentence(check, gate(world))).toBe(
      "2 of 4 nodes of NodeHealthCheck web are not healthy, 1 of them taken away and not followed by a Ready node yet, more than 1 (spec.maxUnhealthy: 1).",
    );
  });
});
