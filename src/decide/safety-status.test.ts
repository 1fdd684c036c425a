import { expect, test } from "vitest";
import {
  aClaim,
  aCondition,
  anAction,
  aNode,
  aSafetyPolicy,
  at,
  aWorld,
  t0,
  type WorldOptions,
} from "../../test/builders.ts";
import { formatTime } from "../api/time.ts";
import type { SafetyView } from "../snapshot/views.ts";
import type { Context } from "./decision.ts";
import { SafetyMemory } from "./safety-memory.ts";
import { safetyStatus, type StatusMemory } from "./safety-status.ts";

const world: WorldOptions = {
  nodes: ["a", "b", "c", "d"].map(name => aNode(name)),
  claims: [aClaim("a", { zone: "z1" }), aClaim("b", { zone: "z1", deletingSince: t0 }), aClaim("c", { zone: "z0" })],
  actions: [
    anAction("gone", {
      node: "old",
      phase: "Done",
      spec: { action: "Repair" },
      status: { finishedAt: formatTime(t0) },
    }),
  ],
};
const status = {
  observedGeneration: 1,
  nodes: 4,
  goingAway: 1,
  goneInWindow: 1,
  zones: [
    { name: "z0", nodes: 1, goingAway: 0 },
    { name: "z1", nodes: 2, goingAway: 1 },
  ],
  correlatedFailures: [],
};

function at1m(safety: SafetyView | undefined, memory: StatusMemory = new SafetyMemory(), now = at("1m")) {
  const picture = aWorld({ ...world, ...(safety ? { safety } : {}) });
  const context: Context = {
    picture,
    now,
    settings: { cluster: "c", dryRun: false, foreignClaims: "ignore" },
    epoch: 1,
  };
  return safetyStatus(memory, context);
}

test("the policy says how many nodes there are, go and have gone, in all and by zone, and that it is in force", () => {
  const memory = new SafetyMemory();
  const decision = at1m(aSafetyPolicy(), memory);
  expect(decision.commands).toEqual([
    {
      kind: "update-safety-policy",
      why: "What the SafetyPolicy says of the cluster has changed.",
      policy: { name: "default", uid: "default-uid" },
      status: { ...status, conditions: [{ type: "Ready", status: "True", reason: "InForce", message: "" }] },
    },
  ]);
  expect(memory.statusAt).toBe(at("1m"));
});

const written = { status, conditions: [aCondition("Ready", "True", { reason: "InForce" })] };

test("nothing is written that stands there already; the next look is when a node drops out of the window", () => {
  const memory = new SafetyMemory();
  const decision = at1m(aSafetyPolicy({}, written), memory);
  expect([decision.commands, decision.wakeAt]).toEqual([[], at("1h1s")]);
  expect(memory.statusAt).toBeUndefined();
});

test("the order in which the server keeps a list's fields is no change", () => {
  const zones = status.zones.map(({ name, nodes, goingAway }) => ({ goingAway, nodes, name }));
  expect(at1m(aSafetyPolicy({}, { ...written, status: { ...status, zones } })).commands).toEqual([]);
});

test("it is not written more often than every ten seconds", () => {
  const memory = new SafetyMemory();
  memory.statusAt = at("55s");
  const early = at1m(aSafetyPolicy(), memory, at("1m4.999s"));
  expect([early.commands, early.wakeAt]).toEqual([[], at("1m5s")]);
  expect(at1m(aSafetyPolicy(), memory, at("1m5s")).commands).toHaveLength(1);
});

test("a policy that cannot be understood says so, with its reason", () => {
  const decision = at1m(aSafetyPolicy({}, { ...written, invalid: "spec.freeze: no end" }));
  expect(decision.commands).toMatchObject([
    { status: { conditions: [{ type: "Ready", status: "False", reason: "Invalid", message: "spec.freeze: no end" }] } },
  ]);
});

test("an outbreak is shown with its breadth and its beginning, and looked at again when it may be over", () => {
  const outbreak = {
    conditionType: "Ready",
    conditionStatus: "Unknown",
    zone: "z1",
    nodes: 3,
    since: t0,
    belowSince: at("30s"),
  };
  const decision = at1m(aSafetyPolicy({}, written), { outbreaks: new Map([["k", outbreak]]), statusAt: undefined });
  expect(decision.commands).toMatchObject([
    {
      status: {
        correlatedFailures: [
          { conditionType: "Ready", conditionStatus: "Unknown", zone: "z1", nodes: 3, since: formatTime(t0) },
        ],
      },
    },
  ]);
  expect(decision.wakeAt).toBe(at("5m30s"));
});

test("where there is no policy nothing is written", () => {
  expect(at1m(undefined).commands).toEqual([]);
});
