import { describe, expect, test } from "vitest";
import { aClaim, aCondition, aNode, aProvider, aSafetyPolicy, at, aWorld, t0 } from "../../test/builders.ts";
import type { SafetyPolicySpec } from "../api/safety-policy.ts";
import type { IsSick } from "./correlated.ts";
import type { Context, Proposal } from "./decision.ts";
import { SafetyMemory } from "./safety-memory.ts";

const provider = aProvider({
  repairStatements: [{ conditionType: "Ready", conditionStatus: "Unknown", toleration: 0 }],
});

function contextAt(now: number, safety: SafetyPolicySpec = {}): Context {
  const names = ["a", "b", "c"];
  const many = Array.from({ length: 13 }, (_, index) => `n${index}`);
  const picture = aWorld({
    nodes: [...names, "x"].map(name => aNode(name)),
    claims: [...names, ...many].map(name => aClaim(name, { pool: name === "c" ? "db" : "web" })),
    safety: aSafetyPolicy(safety),
    provider,
  });
  return { picture, now, settings: { cluster: "c", dryRun: false, foreignClaims: "ignore" }, epoch: 1 };
}

type Sickening = readonly [name: string, at: number];

/** What is remembered after these have turned sick, in this order. */
function after(sickenings: readonly Sickening[], safety: SafetyPolicySpec = {}): SafetyMemory {
  const memory = new SafetyMemory();
  for (const [name, now] of sickenings) {
    memory.observe({ before: aNode(name), after: aNode(name, { ready: "Unknown" }) }, contextAt(now, safety));
  }
  return memory;
}

function proposal(pool: string, more: Partial<Proposal> = {}): Proposal {
  return {
    node: { name: "a", uid: "a-uid" },
    action: "Repair",
    method: "Terminate",
    askedBy: { kind: "NodePool", name: pool },
    message: "",
    evidence: [{ kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown" }],
    dueAt: t0,
    ...more,
  };
}

const veto = (memory: SafetyMemory, asked: Proposal, now: number, safety: SafetyPolicySpec = {}) =>
  memory
    .vetoes(contextAt(now, safety))
    .map(one => one(asked, contextAt(now, safety)))
    .find(one => one !== undefined);

const everyFiveSeconds = (count: number) =>
  Array.from({ length: count }, (_, index): Sickening => [`n${index}`, t0 + index * 5_000]);

const uncorrelated: SafetyPolicySpec = { correlatedFailure: { mode: "Disabled" } };

describe("repair of a pool waits while sickness spreads in it", () => {
  test("until nothing has newly turned sick for ten seconds, to the millisecond", () => {
    const memory = after([
      ["a", t0],
      ["b", at("6s")],
    ]);
    expect(veto(memory, proposal("web"), at("15.999s"))).toEqual({
      code: "settling",
      message:
        "A node of NodePool/web turned sick at 2026-01-01T00:00:06Z; whether more follow is known at 2026-01-01T00:00:16Z.",
      until: at("16s"),
      liftedBy: "time",
    });
    expect(veto(memory, proposal("web"), at("16s"))).toBeUndefined();
  });

  test("at most a minute in all, however it goes on", () => {
    const memory = after(everyFiveSeconds(12));
    expect(veto(memory, proposal("web"), at("59.999s"), uncorrelated)?.until).toBe(at("1m"));
    expect(veto(memory, proposal("web"), at("1m"), uncorrelated)).toBeUndefined();
  });

  test("one that turns sick when the bound has passed has a wait of its own", () => {
    const memory = after(everyFiveSeconds(13));
    expect(veto(memory, proposal("web"), at("1m"), uncorrelated)?.until).toBe(at("1m10s"));
  });

  test("a node that comes and goes counts once a minute: it neither holds up the pool nor uses up the wait of others", () => {
    const flaps = Array.from({ length: 10 }, (_, index): Sickening => ["a", t0 + index * 6_000]);
    expect(veto(after(flaps), proposal("web"), at("10s"))).toBeUndefined();
    expect(veto(after([...flaps, ["a", at("1m") - 1]]), proposal("web"), at("1m"))).toBeUndefined();
    expect(veto(after([...flaps, ["a", at("1m")]]), proposal("web"), at("1m"))?.until).toBe(at("1m10s"));
    const later = [...flaps, ["b", at("1m30s")], ["a", at("1m31s")], ["a", at("1m36s")]] as const;
    expect(veto(after(later), proposal("web"), at("1m36s"))?.until).toBe(at("1m41s"));
  });

  test("one that was not Ready in time counts when its time is over, and once", () => {
    const memory = new SafetyMemory();
    for (const now of [t0, at("9s")]) memory.noteOverdue(aNode("a", { ready: "False" }), contextAt(now));
    expect(veto(memory, proposal("web"), at("9.999s"))?.until).toBe(at("10s"));
    memory.noteOverdue(aNode("b", { ready: "False" }), contextAt(at("9s")));
    expect(veto(memory, proposal("web"), at("10s"))?.until).toBe(at("19s"));
  });

  test("anew after a quiet time", () => {
    const memory = after([
      ["a", t0],
      ["b", at("10s")],
    ]);
    expect(veto(memory, proposal("web"), at("19.999s"))?.until).toBe(at("20s"));
    const later = after([
      ["a", t0],
      ["b", at("10s")],
      ["a", at("5m")],
    ]);
    expect(veto(later, proposal("web"), at("5m"))?.until).toBe(at("5m10s"));
  });

  test("a full quiet time ends the wait, and the bound counts anew", () => {
    const again = Array.from({ length: 12 }, (_, index): Sickening => [`n${index}`, at("10s") + index * 5_000]);
    expect(veto(after([["a", t0], ...again]), proposal("web"), at("1m5s"), uncorrelated)?.until).toBe(at("1m10s"));
  });

  test("and not another pool, nor what is planned", () => {
    const memory = after([["a", t0]]);
    expect(veto(memory, proposal("db"), t0)).toBeUndefined();
    expect(veto(memory, proposal("web", { action: "Drift" }), t0)).toBeUndefined();
  });

  test.each(["x", "a"])(
    "claims of no pool wait for every node of the cluster, over which they are counted: %s",
    name => {
      const asked = proposal("", { askedBy: { kind: "Controller", name: "repair" } });
      expect(veto(after([[name, t0]]), asked, t0)?.code).toBe("settling");
    },
  );

  test("also where only the reason changes, and makes it sick", () => {
    const gpu = (reason: string) => aNode("a", { conditions: [aCondition("GpuHealthy", "False", { reason })] });
    const memory = new SafetyMemory();
    const isSick: IsSick = (_node, { reason }) => reason.startsWith("Xid");
    memory.observe({ before: gpu("Starting"), after: gpu("Xid79") }, { ...contextAt(t0), isSick });
    memory.observe({ before: gpu("Xid79"), after: gpu("Xid48") }, { ...contextAt(at("5s")), isSick });
    expect(veto(memory, proposal("web"), at("5s"))?.until).toBe(at("10s"));
  });

  test("a check that selects the node waits too", () => {
    const seen = { before: aNode("a"), after: aNode("a", { ready: "Unknown" }) };
    const memory = new SafetyMemory();
    memory.observe(seen, { ...contextAt(t0), checks: ["NodeHealthCheck/workers"] });
    const asked = proposal("", { action: "Remediation", askedBy: { kind: "NodeHealthCheck", name: "workers" } });
    expect(veto(memory, asked, t0)?.code).toBe("settling");
  });

  test("is not told by what stays sick, recovers, goes, or is no sickness", () => {
    const sick = aNode("a", { ready: "Unknown" });
    const context = contextAt(t0);
    for (const seen of [
      { before: sick, after: { ...sick, isCordoned: true } },
      { before: sick, after: aNode("a") },
      { before: sick },
      { after: aNode("a", { conditions: [aCondition("Ready", "True"), aCondition("MemoryPressure", "True")] }) },
    ]) {
      const memory = new SafetyMemory();
      memory.observe(seen, context);
      expect(veto(memory, proposal("web"), t0)).toBeUndefined();
    }
  });

  test("0s turns it off", () => {
    const safety: SafetyPolicySpec = { settle: { quiet: "0s" } };
    expect(veto(after([["a", t0]], safety), proposal("web"), t0, safety)).toBeUndefined();
  });

  test("what cannot be read is waited for as long as may be", () => {
    const quiet: SafetyPolicySpec = { settle: { quiet: "soon" } };
    expect(veto(after([["a", t0]], quiet), proposal("web"), at("1m") - 1, quiet)?.code).toBe("settling");
    expect(veto(after([["a", t0]], quiet), proposal("web"), at("1m"), quiet)).toBeUndefined();
    const both: SafetyPolicySpec = { settle: { quiet: "soon", max: "later" } };
    expect(veto(after([["a", t0]], both), proposal("web"), at("100h"), both)?.code).toBe("settling");
  });
});

describe("a clock that is set back leaves nothing that lies ahead", () => {
  test("what spreads is waited for from now on", () => {
    const memory = after([["a", at("1h")]], uncorrelated);
    memory.setBack(t0);
    expect(veto(memory, proposal("web"), t0, uncorrelated)?.until).toBe(t0 + 10_000);
    expect(veto(memory, proposal("web"), t0 + 10_000, uncorrelated)).toBeUndefined();
  });

  test("an outbreak that is below its bound is over as long after that as ever", () => {
    const names = ["n0", "n1", "n2", "n3", "n4"];
    const memory = after(names.map((name): Sickening => [name, at("1h")]));
    const later = at("1h1m");
    expect(veto(memory, proposal("web"), later)?.code).toBe("correlated-failure");
    for (const name of names) {
      memory.observe({ before: aNode(name, { ready: "Unknown" }), after: aNode(name) }, contextAt(later));
    }
    expect(veto(memory, proposal("web"), later)?.until).toBe(later + 300_000);
    memory.setBack(t0);
    expect(veto(memory, proposal("web"), t0)?.until).toBe(t0 + 300_000);
    expect(veto(memory, proposal("web"), t0 + 300_000)).toBeUndefined();
  });
});

test("an outbreak is found by the look before the arbiter", () => {
  const safety: SafetyPolicySpec = {
    settle: { quiet: "0s" },
    correlatedFailure: { cluster: { nodes: 2, share: "40%" } },
  };
  const one = after([["a", t0]], safety);
  const two = after(
    [
      ["a", t0],
      ["b", t0],
    ],
    safety,
  );
  expect(two.outbreaks.size).toBe(0);
  expect(veto(one, proposal("web"), t0, safety)).toBeUndefined();
  expect(veto(two, proposal("web"), t0, safety)?.code).toBe("correlated-failure");
  expect(two.outbreaks.size).toBe(1);
});
