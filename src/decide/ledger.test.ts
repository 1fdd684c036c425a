import { describe, expect, test } from "vitest";
import { aClaim, anAction, aNode, at, aWorld, t0 } from "../../test/builders.ts";
import type { Context, Proposal } from "./decision.ts";
import { actionName, actionSpec, isCounted, isDryRun, isOpen, nextAttempt, unstamped } from "./ledger.ts";

const proposal: Proposal = {
  node: { name: "a", uid: "a-uid" },
  claim: { name: "a", uid: "a-claim-uid" },
  action: "Repair",
  method: "Terminate",
  askedBy: { kind: "NodePool", name: "web" },
  message: "Node a is sick.",
  evidence: [{ kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown" }],
  dueAt: t0,
};

const world = aWorld({ nodes: [aNode("a")], claims: [aClaim("a", { pool: "web", zone: "z1" })] });
const context: Context = {
  picture: world,
  now: at("1h"),
  settings: { cluster: "c", dryRun: false, foreignClaims: "ignore" },
  epoch: 7,
};

test("an action is named after what is done to which node", () => {
  expect(actionName("Repair", "1-2")).toBe("repair-1-2");
  expect(actionName("GarbageCollection", "1-2")).toBe("garbage-collection-1-2");
  expect(actionName("ScaleDown", "1-2")).toBe("scale-down-1-2");
});

describe("a new entry", () => {
  test("says who asks, what was seen, where the node stands, and leaves the present time open", () => {
    const caps = [{ kind: "Default", path: "spec.caps.repair.cluster", allowed: 2, counted: 1 }];
    expect(actionSpec(proposal, context, { caps })).toEqual({
      node: { name: "a", uid: "a-uid" },
      claim: { name: "a", uid: "a-claim-uid" },
      nodePool: "web",
      zone: "z1",
      action: "Repair",
      method: "Terminate",
      askedBy: { kind: "NodePool", name: "web" },
      message: "Node a is sick.",
      evidence: [{ kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown", seenAt: unstamped }],
      caps,
      decidedAt: unstamped,
      epoch: 7,
    });
  });

  test.each<[string, Partial<Proposal>, string | undefined]>([
    ["graceful, no deadline", {}, undefined],
    ["graceful with a deadline", { deadline: at("2h") }, "2026-01-01T02:00:00Z"],
    ["by force: from when it was due", { termination: "Forceful", dueAt: at("30m") }, "2026-01-01T00:30:00Z"],
    [
      "by force, an earlier deadline stays",
      { termination: "Forceful", dueAt: at("30m"), deadline: at("10m") },
      "2026-01-01T00:10:00Z",
    ],
    [
      "by force, a later deadline does not help",
      { termination: "Forceful", dueAt: at("30m"), deadline: at("5h") },
      "2026-01-01T00:30:00Z",
    ],
  ])("%s", (_name, change, deadline) => {
    expect(actionSpec({ ...proposal, ...change }, context).deadline).toBe(deadline);
  });
});

test.each([
  ["Pending", true],
  ["WaitingForReplacement", true],
  ["Running", true],
  ["Done", false],
  ["Failed", false],
  ["Abandoned", false],
] as const)("an action in phase %s is open and counted: %s", (phase, expected) => {
  const action = anAction("x", { phase });
  expect([isOpen(action), isCounted(action)]).toEqual([expected, expected]);
});

test("a dry run is open and never counted, also before its phase is written", () => {
  const unwritten = anAction("x", { phase: "Pending", spec: { dryRun: true } });
  for (const action of [anAction("x", { phase: "DryRun" }), unwritten]) {
    expect([isDryRun(action), isOpen(action), isCounted(action)]).toEqual([true, true, false]);
  }
});

describe("the next attempt on the same node", () => {
  const attempts = (count: number, phase: "Abandoned" | "Failed" | "Done") =>
    Array.from({ length: count }, (_, index) =>
      anAction(index === 0 ? "repair-a-uid" : `repair-a-uid-${index + 1}`, {
        phase,
        spec: { action: "Repair" },
        status: { finishedAt: "2026-01-01T01:00:00Z" },
      }),
    );
  const next = (count: number, phase: "Abandoned" | "Failed" | "Done") =>
    nextAttempt(aWorld({ actions: attempts(count, phase) }), proposal, { dryRun: false });

  test("has the next free name", () => {
    expect(next(0, "Done").name).toBe("repair-a-uid");
    expect(next(1, "Done").name).toBe("repair-a-uid-2");
    expect(next(3, "Done").name).toBe("repair-a-uid-4");
  });

  test("never takes the name of a real one for a dry run", () => {
    expect(nextAttempt(aWorld({}), proposal, { dryRun: true }).name).toBe("repair-a-uid-dry-run");
  });

  test.each([
    [1, "1h1m"],
    [2, "1h2m"],
    [3, "1h4m"],
    [6, "1h32m"],
    [9, "1h32m"],
  ] as const)("waits after %s that were given up until %s", (count, expected) => {
    expect(next(count, "Abandoned").notBefore).toBe(at(expected));
    expect(next(count, "Failed").notBefore).toBe(at(expected));
    expect(next(count, "Done").notBefore).toBeUndefined();
  });

  test("by other means need not wait: a reboot that did not heal has taken its time", () => {
    const reboots = attempts(1, "Failed").map(action => ({
      ...action,
      spec: { ...action.spec, method: "Reboot" as const },
    }));
    const retried = (method: Proposal["method"]) =>
      nextAttempt(aWorld({ actions: reboots }), { ...proposal, method }, { dryRun: false });
    expect(retried("Terminate")).toMatchObject({ name: "repair-a-uid-2" });
    expect(retried("Terminate").notBefore).toBeUndefined();
    expect(retried("Reboot").notBefore).toBe(at("1h1m"));
  });
});
