import { describe, expect, test } from "vitest";
import { aClaim, aNode, anAction, aPool, aSafetyPolicy, at, t0 } from "../../test/builders.ts";
import { aCheck, aCheckContext, type CheckWorld, remediating, aRemediation } from "../../test/check-builders.ts";
import { launchRecordKey } from "../api/well-known.ts";
import { formatLaunchRecord } from "./launch-record.ts";
import { isSameReads, type Reads, type RememberedHolds, StartReads } from "./start-reads.ts";

const node = aNode("a");
const check = aCheck("web");
const pending = remediating(check, { node, phase: "Pending" });
const repair = anAction("repair", {
  node,
  phase: "Pending",
  spec: { action: "Repair", nodePool: "p", askedBy: { kind: "NodePool", name: "p", uid: "p-uid" } },
});
const pool = aPool("p");
const world: CheckWorld = {
  nodes: [node],
  claims: [aClaim("a", { pool: "p" })],
  pools: [pool],
  checks: [check],
};
const remembered: RememberedHolds = { outbreaks: new Map(), spreadCount: 0, brake: () => undefined };

function reads(action = pending, other: CheckWorld = {}, holds: Partial<RememberedHolds> = {}): Reads | undefined {
  const context = aCheckContext({ ...world, actions: [action], ...other });
  return new StartReads(context, { ...remembered, ...holds }).of(action);
}

describe("what could hold a start that is free", () => {
  test("is the same while nothing of it has changed, however late it is", () => {
    expect(isSameReads(reads(), reads(pending, { now: at("1h") }))).toBe(true);
    expect(isSameReads(reads(repair), reads(repair))).toBe(true);
  });

  const held = { code: "pool-too-unhealthy", message: "3 of 4", liftedBy: "" };
  test.each<[string, Reads | undefined]>([
    ["the node", reads(pending, { nodes: [aNode("a", { labels: { x: "y" } })] })],
    ["the action itself", reads({ ...pending, resourceVersion: "9" })],
    ["the claim", reads(pending, { claims: [aClaim("a", { pool: "p", zone: "z" })] })],
    ["the SafetyPolicy", reads(pending, { safety: aSafetyPolicy({ freeze: { reason: "audit" } }) })],
    ["what its check says", reads(pending, { checks: [aCheck("web", { spec: { pauseRequests: ["no"] } })] })],
    ["a remediation of its node", reads(pending, { remediations: [aRemediation({ of: check, on: "a" })] })],
    ["an outbreak", reads(pending, {}, { outbreaks: new Map() })],
    ["something that spreads", reads(pending, {}, { spreadCount: 1 })],
    ["the brake", reads(pending, {}, { brake: () => held })],
  ])("is another with %s", (_what, other) => {
    expect(other).toBeDefined();
    expect(isSameReads(reads(), other)).toBe(false);
  });

  test.each([0, 1])("is another once a budget of %i of the pool begins, by time alone", nodes => {
    const budgets = [{ nodes, schedule: "0 1 * * *", duration: "1h", action: "Repair" as const }];
    const closing = { pools: [aPool("p", { spec: { disruption: { budgets } } })] };
    const open = reads(repair, { ...closing, now: at("59m59s") });
    expect(isSameReads(open, reads(repair, { ...closing, now: at("59m59s") }))).toBe(true);
    expect(isSameReads(open, reads(repair, { ...closing, now: at("60m") }))).toBe(false);
  });

  test("is looked at once for all of a pool and a check", () => {
    let asked = 0;
    const brake = () => (asked++, undefined);
    const names = ["a", "b", "c"];
    const actions = names.map(name => ({
      ...repair,
      name,
      spec: { ...repair.spec, node: { name, uid: `${name}-uid` } },
    }));
    const context = aCheckContext({ ...world, nodes: names.map(name => aNode(name)), actions });
    const shared = new StartReads(context, { ...remembered, brake });
    for (const action of actions) expect(shared.of(action)).toBeDefined();
    expect(asked).toBe(1);
  });

  const failed = formatLaunchRecord({ of: "x", results: [{ at: t0, isGood: false, uid: "a" }] });
  test.each<[string, Reads | undefined]>([
    ["by a plan", reads(anAction("drift", { node, phase: "Pending", spec: { action: "Drift", nodePool: "p" } }))],
    ["by a person", reads(anAction("deletion", { node, phase: "Pending" }))],
    ["gently", reads({ ...repair, spec: { ...repair.spec, termination: "Graceful" } })],
    ["with others", reads({ ...repair, spec: { ...repair.spec, batch: "b" } })],
    ["of a node that is gone", reads(repair, { nodes: [] })],
    [
      "on the control plane",
      reads(pending, { nodes: [aNode("a", { labels: { "node-role.kubernetes.io/control-plane": "" } })] }),
    ],
    [
      "of a pool whose latest launch failed",
      reads(repair, { pools: [aPool("p", { annotations: { [launchRecordKey]: failed } })] }),
    ],
  ])("is not told of what goes %s: that is weighed each time", (_what, none) => {
    expect(none).toBeUndefined();
    expect(isSameReads(none, none)).toBe(false);
  });
});

describe("what many read alike", () => {
  const other = aNode("b");
  const later = remediating(check, { node: other, phase: "Pending" });
  const claims = [aClaim("a", { pool: "p" }), aClaim("b", { pool: "p" })];
  const context = aCheckContext({ ...world, nodes: [node, other], claims, actions: [pending, later] });
  const shared = new StartReads(context, remembered);

  test("is one list for those of one check, and another for those of a pool", () => {
    expect(shared.shared(pending)).toBeDefined();
    expect(shared.shared(later)).toBe(shared.shared(pending));
    expect(shared.shared(repair)).not.toBe(shared.shared(pending));
  });

  test("is part of what each reads, beside its own node", () => {
    const tail = (reads: Reads | undefined) => reads?.slice(-(shared.shared(pending)?.length ?? 0));
    expect(tail(shared.of(pending))).toEqual(shared.shared(pending));
    expect(isSameReads(shared.of(pending), shared.of(later))).toBe(false);
  });
});
