import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aCondition, aNode, aSafetyPolicy, at, aWorld, t0 } from "../../test/builders.ts";
import { zoneKey } from "../api/node.ts";
import type { SafetyPolicySpec } from "../api/safety-policy.ts";
import type { NodeView, SafetyView } from "../snapshot/views.ts";
import { CorrelatedFailures, correlatedVeto, type IsSick, nextClearing } from "./correlated.ts";
import type { Context, Proposal } from "./decision.ts";

const isSick = (_node: NodeView, { type, status }: { type: string; status: string }) =>
  type === "Ready" ? status !== "True" : status === "True";

const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
const zoneOf = (name: string) => `z${Number(name.slice(1)) % 2}`;
const well = (name: string) => aNode(name, { zone: zoneOf(name) });
const silent = (name: string, since = t0) => aNode(name, { zone: zoneOf(name), ready: "Unknown", since });

/** Twenty nodes, half of them in each zone; what is remembered of them by and by. */
class Cluster {
  readonly failures = new CorrelatedFailures();
  readonly #nodes = new Map(names.map(name => [name, well(name)]));
  readonly #safety: SafetyView;

  constructor(safety: SafetyPolicySpec = {}) {
    this.#safety = aSafetyPolicy(safety);
  }

  context(now: number): Context {
    const picture = aWorld({ nodes: [...this.#nodes.values()], safety: this.#safety });
    return { picture, now, settings: { cluster: "c", dryRun: false, foreignClaims: "ignore" }, epoch: 1 };
  }

  /** One node after the other, then one look. */
  see(now: number, ...nodes: readonly (NodeView | string)[]): this {
    for (const seen of nodes) {
      const name = typeof seen === "string" ? seen : seen.name;
      const before = this.#nodes.get(name);
      if (typeof seen === "string") this.#nodes.delete(name);
      else this.#nodes.set(name, seen);
      const change = { ...(before ? { before } : {}), ...(typeof seen === "string" ? {} : { after: seen }) };
      this.failures.observe(change, { ...this.context(now), isSick });
    }
    return this.review(now);
  }

  review(now: number): this {
    this.failures.review(this.context(now));
    return this;
  }

  veto(node: string, now: number, more: Partial<Proposal> = {}) {
    return correlatedVeto(this.failures.outbreaks, proposal(node, more), this.context(now));
  }
}

function proposal(node: string, more: Partial<Proposal>): Proposal {
  return {
    node: { name: node, uid: `${node}-uid` },
    action: "Repair",
    method: "Terminate",
    askedBy: { kind: "NodePool", name: "web" },
    message: "",
    evidence: [{ kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown" }],
    dueAt: t0,
    ...more,
  };
}

const first = (count: number) => names.slice(0, count);
const inZone = (count: number) => names.filter(name => zoneOf(name) === "z0").slice(0, count);

describe("the same condition at about the same time", () => {
  test.each([
    ["6 of 20 are not more than 30 %", first(6), false],
    ["7 of 20 are", first(7), true],
  ])("%s of the cluster", (_name, sick, expected) => {
    // The zone's share is put out of reach.
    const cluster = new Cluster({ correlatedFailure: { zone: { share: "100%" } } });
    cluster.see(at("1m"), ...sick.map(name => silent(name)));
    expect(cluster.veto("n0", at("1m")) !== undefined).toBe(expected);
  });

  test("4 of 12 are a third, but fewer than five nodes", () => {
    const cluster = new Cluster({ correlatedFailure: { zone: { share: "100%" } } });
    cluster.see(t0, ...names.slice(12)).see(at("1m"), ...first(4).map(name => silent(name)));
    expect(cluster.failures.outbreaks.size).toBe(0);
    cluster.see(at("1m"), silent("n5"));
    expect(cluster.failures.outbreaks.size).toBe(1);
  });

  test.each([
    ["6 of 10 are not more than 60 %", inZone(6), 0],
    ["7 of 10 are", inZone(7), 1],
  ])("%s of a zone", (_name, sick, expected) => {
    const cluster = new Cluster({ correlatedFailure: { cluster: { share: "100%" } } });
    cluster.see(at("1m"), ...sick.map(name => silent(name)));
    expect([...cluster.failures.outbreaks.values()].map(({ zone }) => zone)).toEqual(Array(expected).fill("z0"));
    expect(cluster.veto("n0", at("1m"))?.code).toBe(expected === 1 ? "correlated-failure" : undefined);
    expect(cluster.veto("n1", at("1m"))).toBeUndefined();
  });

  test.each([
    ["within five minutes", at("5m"), true],
    ["a millisecond more apart", at("5m") + 1, false],
  ])("%s", (_name, last, expected) => {
    const cluster = new Cluster();
    cluster.see(t0, silent("n0"));
    cluster.see(
      last,
      ...first(7)
        .slice(1)
        .map(name => silent(name)),
    );
    expect(cluster.veto("n3", last) !== undefined).toBe(expected);
  });

  test("counts by our own eyes where we saw it begin, whatever it says of itself", () => {
    const cluster = new Cluster();
    cluster.see(at("9h"), ...first(7).map((name, index) => silent(name, at("1h") - index * 3_600_000)));
    expect(cluster.veto("n0", at("9h"))?.code).toBe("correlated-failure");
  });

  test("counts from when its reason made it sick, however long its status has been the same", () => {
    const failures = new CorrelatedFailures();
    const context = new Cluster().context(at("9h"));
    const isXid: IsSick = (_node, { reason }) => reason === "Xid";
    for (const [index, name] of first(7).entries()) {
      const gpu = (reason: string) =>
        aNode(name, { conditions: [aCondition("GpuHealthy", "False", { reason, since: t0 + index * 3_600_000 })] });
      failures.observe({ before: gpu("Starting"), after: gpu("Xid") }, { ...context, isSick: isXid });
    }
    failures.review(context);
    expect([...failures.outbreaks.keys()]).toEqual(["GpuHealthy=False"]);
  });

  test("counts by its own word on first sight: old failures are no outbreak after a restart", () => {
    const failures = new CorrelatedFailures();
    const context = new Cluster().context(at("9h"));
    for (const [index, name] of first(7).entries()) {
      const after = silent(name, t0 + index * 3_600_000);
      failures.observe({ after }, { ...context, isSick });
    }
    failures.review(context);
    expect(failures.outbreaks.size).toBe(0);
  });

  test("holds repair and remediation for it, and nothing else", () => {
    const cluster = new Cluster().see(at("1m"), ...names.map(name => silent(name)));
    const evidence = (conditionType: string, conditionStatus: string) =>
      ({ kind: "Condition", conditionType, conditionStatus }) as const;
    const held = (more: Partial<Proposal>) => cluster.veto("n0", at("1m"), more) !== undefined;
    expect(held({})).toBe(true);
    expect(held({ action: "Remediation" })).toBe(true);
    expect(held({ action: "Drift" })).toBe(false);
    expect(held({ evidence: [evidence("Ready", "False")] })).toBe(false);
    expect(held({ evidence: [evidence("DiskFull", "True")] })).toBe(false);
    expect(held({ evidence: [evidence("DiskFull", "True"), evidence("Ready", "Unknown")] })).toBe(true);
  });

  test("says which, where and since when", () => {
    const cluster = new Cluster().see(at("1m"), ...names.map(name => silent(name)));
    expect(cluster.veto("n0", at("2m"))).toEqual({
      code: "correlated-failure",
      message:
        "Ready=Unknown came over so many nodes of the cluster at once (seen at 2026-01-01T00:01:00Z) that its cause is held to lie elsewhere.",
      liftedBy: "recovery of the nodes, or spec.correlatedFailure of SafetyPolicy default",
    });
  });

  test("can be switched off", () => {
    const cluster = new Cluster({ correlatedFailure: { mode: "Disabled" } }).see(
      at("1m"),
      ...names.map(name => silent(name)),
    );
    expect(cluster.veto("n0", at("1m"))).toBeUndefined();
  });
});

describe("it is over", () => {
  const outbreak = () => new Cluster().see(at("1m"), ...names.map(name => silent(name)));

  test("when the share has been below for five minutes, to the millisecond", () => {
    const cluster = outbreak().see(at("10m"), ...names.slice(3).map(well));
    expect(cluster.veto("n0", at("14m59.999s"))).toMatchObject({ until: at("15m") });
    expect(nextClearing(cluster.failures.outbreaks, aSafetyPolicy())).toBe(at("15m"));
    expect(cluster.veto("n0", at("15m"))).toBeUndefined();
    expect(cluster.review(at("15m")).failures.outbreaks.size).toBe(0);
  });

  test("never, and without a time, where nobody can read after how long", () => {
    const cluster = new Cluster({ correlatedFailure: { clearAfter: "soon" } });
    cluster.see(at("1m"), ...names.map(name => silent(name))).see(at("10m"), ...names.slice(3).map(well));
    expect(cluster.veto("n0", at("100h"))).toMatchObject({ code: "correlated-failure" });
    expect(cluster.veto("n0", at("100h"))?.until).toBeUndefined();
    expect(nextClearing(cluster.failures.outbreaks, aSafetyPolicy({ correlatedFailure: { clearAfter: "soon" } }))).toBe(
      undefined,
    );
  });

  test("not if it comes back in between", () => {
    const cluster = outbreak().see(at("10m"), ...names.slice(3).map(well));
    cluster.see(at("12m"), ...names.slice(3).map(name => silent(name)));
    expect(cluster.veto("n0", at("20m"))).toMatchObject({ code: "correlated-failure" });
    expect(cluster.veto("n0", at("20m"))?.until).toBeUndefined();
    cluster.see(at("21m"), ...names.slice(3).map(well));
    expect(cluster.veto("n0", at("21m"))?.until).toBe(at("26m"));
  });

  test("also when the nodes are gone", () => {
    const cluster = outbreak().see(at("10m"), ...names);
    expect(cluster.failures.having("Ready", "Unknown")).toEqual([]);
    expect(cluster.review(at("15m")).failures.outbreaks.size).toBe(0);
  });

  test("not because a new node came that is well, unless the share falls", () => {
    const cluster = new Cluster({ correlatedFailure: { zone: { share: "100%" } } });
    cluster.see(at("1m"), ...first(7).map(name => silent(name)));
    cluster.see(at("2m"), aNode("n20"), aNode("n21"), aNode("n22"), aNode("n23"));
    expect([...cluster.failures.outbreaks.values()]).toMatchObject([{ nodes: 7, belowSince: at("2m") }]);
  });
});

test("what is remembered does not depend on how it came about", () => {
  const step = fc.record({
    name: fc.constantFrom(...first(5)),
    status: fc.constantFrom("True", "Unknown", "False", "gone"),
    zone: fc.constantFrom("z0", "z1"),
    disk: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), steps => {
      const cluster = new Cluster();
      const last = new Map<string, NodeView>();
      let now = t0;
      for (const { name, status, zone, disk } of steps) {
        const conditions = [aCondition("Ready", status), ...(disk ? [aCondition("DiskFull", "True")] : [])];
        const node = aNode(name, { zone, conditions });
        cluster.see((now += 1_000), status === "gone" ? name : node);
        if (status === "gone") last.delete(name);
        else last.set(name, node);
      }
      for (const [type, status] of [
        ["Ready", "Unknown"],
        ["Ready", "False"],
        ["DiskFull", "True"],
      ] as const) {
        const expected = [...last.values()].flatMap(({ name, labels, conditions }) =>
          conditions.some(one => one.type === type && one.status === status) ? [`${name}-uid ${labels[zoneKey]}`] : [],
        );
        const found = cluster.failures.having(type, status);
        expect(found.map(({ uid, zone }) => `${uid} ${zone}`).sort()).toEqual(expected.sort());
        const times = found.map(({ at: began }) => began);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
      }
    }),
  );
});
