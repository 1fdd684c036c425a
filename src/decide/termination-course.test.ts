// Whole terminations: decided, carried out, decided again, until nothing is left. Also when the process dies in between.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aBudget, aClaim, anAttachment, aNode, aPod, at, type WorldOptions } from "../../test/builders.ts";
import { deletedAt, leavingClaim, type Nature, providerID, TerminationWorld } from "../../test/termination-world.ts";
import { unregisteredTaint } from "../api/well-known.ts";
import { isTrue } from "./conditions.ts";
import type { Command, Decision } from "./decision.ts";
import { termination } from "./termination.ts";

const roundMax = 400;
/** An hour of looking whether there is still an instance, and of nothing else. */
const looksMax = 60;

function told(command: Command): string {
  switch (command.kind) {
    case "update-claim":
      return `claim ${[
        ...Object.values(command.metadata?.annotations ?? {}),
        ...(command.metadata?.removeFinalizers ?? []).map(one => `-${one}`),
        ...(command.status?.conditions ?? []).slice(4).map(({ type, status }) => `${type}=${status}`),
      ].join(" ")}`;
    case "update-node":
      return `node ${command.node.name} ${command.change.removeFinalizers ? "released" : "tainted"}`;
    case "update-action":
      return `ledger ${command.progress?.phase ?? command.progress?.steps?.at(-1)?.name} ${command.progress?.waitingFor?.reason ?? ""}`.trim();
    case "evict-pod":
    case "delete-pod":
      return `${command.kind} ${command.pod.name}`;
    case "delete-node":
      return `delete-node ${command.node.name}`;
    default:
      return command.kind;
  }
}

type Run = { journal: string[]; writeCount: number; last: Decision; proposalCount: number };

/** Until all is gone or nothing more will happen by itself. */
function run(world: TerminationWorld, { killAfter }: { killAfter?: number } = {}): Run {
  const journal: string[] = [];
  let [writeCount, proposalCount, sentAt, lookCount] = [0, 0, 0, 0];
  let sent = new Set<string>();
  for (let round = 0; round < roundMax; round++) {
    const decision = world.decide();
    if (world.isOver || lookCount > looksMax) return { journal, writeCount, last: decision, proposalCount };
    if (sentAt !== world.now) [sent, sentAt] = [new Set(), world.now];
    const fresh = decision.commands.filter(command => !sent.has(JSON.stringify(command)));
    // What has been carried out is not asked for again, unless nothing came of it and time has passed.
    expect(fresh).toEqual(decision.commands);
    const writes = world.writes(decision);
    if (writes.length > 0) lookCount = decision.commands.every(isLook) ? lookCount + 1 : 0;
    if (writes.length === 0 && !world.passOn(decision)) return { journal, writeCount, last: decision, proposalCount };
    for (const [index, write] of writes.entries()) {
      const command = decision.commands[index - decision.proposals.length];
      if (command === undefined) proposalCount++;
      else {
        assertSafe(command, world);
        sent.add(JSON.stringify(command));
        journal.push(`+${(world.now - deletedAt) / 1000} ${told(command)}`);
      }
      write();
      if (++writeCount !== killAfter) continue;
      world.restart();
      sent = new Set();
      break;
    }
  }
  throw new Error(`no end after ${roundMax} rounds:\n${journal.slice(-20).join("\n")}`);
}

function isLook({ kind }: Command): boolean {
  return kind === "look-up-instance";
}

/** Said anew, and from the world itself: when is a command of no return allowed? */
function assertSafe(command: Command, world: TerminationWorld): void {
  const claim = world.claims.get("/a");
  const action = world.actions.get("/deletion-a-uid");
  if (world.nodes.size > 0) expect(action?.status.phase === "Running" || command.kind === "update-action").toBe(true);
  const { terminationAt = Number.POSITIVE_INFINITY } = claim ?? {};
  switch (command.kind) {
    case "evict-pod":
      expect(world.nodes.get("/a")?.taints).not.toEqual([]);
      break;
    case "delete-pod": {
      const pod = world.pods.get(`default/${command.pod.name}`);
      const isLate = pod !== undefined && (pod.deletionAt ?? world.now + pod.graceMs) >= terminationAt;
      expect(isLate || world.instances.get(providerID)?.state === "gone").toBe(true);
      break;
    }
    case "delete-instance": {
      expect(claim?.deletingSince).toBeDefined();
      const waited = [...world.pods.values()].filter(
        pod => !pod.isStatic && !pod.toleratesDisruption && pod.phase !== "Succeeded" && pod.deletionAt === undefined,
      );
      if (claim !== undefined && isTrue(claim.conditions, "Registered")) expect(waited).toEqual([]);
      break;
    }
    case "update-node":
      if (command.change.removeFinalizers) expect(world.instances.get(providerID)?.state).toBe("gone");
      break;
    case "update-claim":
      if (command.metadata?.removeFinalizers) expect(world.nodes.size).toBe(0);
      break;
    default:
  }
}

const fresh = { claims: [leavingClaim()], nodes: [aNode("a")] };

describe("the course of a termination", () => {
  test("a node with two tiers, a budget, a volume and a static pod", () => {
    const world = new TerminationWorld({
      ...fresh,
      pods: [
        aPod("db", { on: "a", volumeClaims: ["data"] }),
        aPod("web", { on: "a", graceMs: 2_000 }),
        aPod("proxy", { on: "a", tier: "critical-daemon", graceMs: 2_000 }),
        aPod("static", { on: "a", isStatic: true }),
      ],
      budgets: [aBudget("db", { disruptionsAllowed: 1 })],
      attachments: [anAttachment("data", { on: "a" })],
    });
    expect(run(world).journal).toMatchInlineSnapshot(`
      [
        "+0 ledger Running",
        "+0 node a tainted",
        "+0 ledger taint",
        "+0 claim Drained=Unknown",
        "+0 delete-node a",
        "+0 evict-pod db",
        "+0 evict-pod web",
        "+0 ledger drain PodsAsked",
        "+0 claim Drained=Unknown",
        "+0 ledger drain PodStopping",
        "+30 claim Drained=Unknown",
        "+30 evict-pod proxy",
        "+30 ledger drain PodsAsked",
        "+30 claim Drained=Unknown",
        "+30 ledger drain PodStopping",
        "+32 claim Drained=True VolumesDetached=True InstanceTerminating=True",
        "+32 ledger instance InstanceTerminating",
        "+32 delete-instance",
        "+37 delete-instance",
        "+42 delete-instance",
        "+42 node a released",
        "+42 ledger finalize",
        "+42 claim -karpenter.sh/termination",
      ]
    `);
    expect([...world.pods.values()].map(({ name }) => name)).toEqual(["static"]);
  });

  test("a node that somebody deleted by hand", () => {
    const world = new TerminationWorld({ claims: [aClaim("a")], nodes: [aNode("a", { deletingSince: deletedAt })] });
    const { proposalCount } = run(world);
    expect({ proposalCount, isOver: world.isOver }).toEqual({ proposalCount: 1, isOver: true });
  });

  test("by force, on a machine that does not answer: in seconds, whatever holds the pods", () => {
    const world = new TerminationWorld(
      {
        claims: [leavingClaim({ terminationAt: deletedAt })],
        nodes: [aNode("a", { ready: "Unknown" })],
        pods: [aPod("db", { on: "a", doNotDisrupt: "true" }), aPod("web", { on: "a", graceMs: 600_000 })],
        budgets: [aBudget("db"), aBudget("web")],
      },
      { deadKubelets: ["a"], endsAfterMs: 0 },
    );
    run(world);
    expect(world.isOver).toBe(true);
    expect(world.now - deletedAt).toBeLessThanOrEqual(2_000);
  });

  test("gracefully, on a machine that does not answer: a minute beyond the pods' grace", () => {
    const nodes = [aNode("a", { ready: "Unknown" })];
    const pods = [aPod("web", { on: "a" })];
    const world = new TerminationWorld({ ...fresh, nodes, pods }, { deadKubelets: ["a"], endsAfterMs: 0 });
    run(world);
    expect(world.isOver).toBe(true);
    expect(world.now - deletedAt).toBe(90_000);
  });

  test("held for ever, it says by whom and writes nothing more", () => {
    const world = new TerminationWorld({ ...fresh, pods: [aPod("db", { on: "a" })], budgets: [aBudget("db")] });
    const { last } = run(world);
    expect(last).toMatchObject({ commands: [], wakeAt: undefined, refusals: [{ code: "budget-allows-none" }] });
  });

  test("two nodes of one instance", () => {
    const world = new TerminationWorld({ ...fresh, nodes: [aNode("a"), aNode("b", { providerID })] });
    expect(run(world).proposalCount).toBe(2);
    expect(world.isOver).toBe(true);
  });
});

const someNodeState = fc.record({
  ready: fc.constantFrom("True", "False", "Unknown"),
  isDead: fc.boolean(),
  isRegistered: fc.boolean(),
});
const somePod = fc.record({
  options: fc.record({
    tier: fc.constantFrom("workload", "daemon", "critical", "critical-daemon"),
    graceMs: fc.constantFrom(0, 1_000, 5_000, 30_000, 600_000),
    phase: fc.constantFrom("Running", "Running", "Running", "Pending", "Succeeded"),
    isReady: fc.boolean(),
    isStatic: fc.constantFrom(false, false, false, true),
    toleratesDisruption: fc.constantFrom(false, false, false, true),
  }),
  doNotDisrupt: fc.constantFrom(undefined, undefined, "true", "11m", "10m7s", "nonsense"),
  stopsAfterMs: fc.constantFrom(undefined, undefined, undefined, -90_000, 500, 40_000, 900_000),
  allowed: fc.constantFrom(undefined, undefined, 0, 1),
  hasVolume: fc.boolean(),
});
const someWorld = fc.record({
  node: someNodeState,
  pods: fc.array(somePod, { maxLength: 6 }),
  grace: fc.constantFrom(undefined, "0s", "7s", "1m", "20m"),
  endsAfterMs: fc.constantFrom(0, 3_000, 17_000),
});
const unregistered = { finalizers: [], taints: [unregisteredTaint] };
type Some<A> = A extends fc.Arbitrary<infer V> ? V : never;

function worldOf({ node, pods, grace, endsAfterMs }: Some<typeof someWorld>): TerminationWorld {
  const views = pods.map(({ options, doNotDisrupt, stopsAfterMs, hasVolume }, index) =>
    aPod(`p${index}`, {
      on: "a",
      ...options,
      volumeClaims: hasVolume ? [`v${index}`] : [],
      ...(doNotDisrupt === undefined ? {} : { doNotDisrupt }),
      ...(stopsAfterMs === undefined ? {} : { deletionAt: deletedAt + stopsAfterMs }),
    }),
  );
  const spec = grace === undefined ? {} : { terminationGracePeriod: grace };
  const world: WorldOptions = {
    claims: [leavingClaim({ spec, stage: node.isRegistered ? "initialized" : "launched" })],
    nodes: [aNode("a", { ready: node.ready, ...(node.isRegistered ? {} : unregistered) })],
    pods: views,
    budgets: pods.flatMap(({ allowed }, index) =>
      allowed === undefined ? [] : aBudget(`p${index}`, { disruptionsAllowed: allowed }),
    ),
    volumeClaims: pods.map((_, index) => ({ namespace: "default", name: `v${index}`, volume: `v${index}` })),
    attachments: pods.flatMap(({ hasVolume }, index) => (hasVolume ? anAttachment(`v${index}`, { on: "a" }) : [])),
  };
  const nature: Nature = { endsAfterMs, ...(node.isDead ? { deadKubelets: ["a"] } : {}) };
  return new TerminationWorld(world, nature);
}

describe("in any world", () => {
  test("it comes to its end, or says what it waits for; with a grace period it always ends", () => {
    fc.assert(
      fc.property(someWorld, some => {
        const world = worldOf(some);
        const { last, proposalCount } = run(world);
        expect(proposalCount).toBe(1);
        if (some.grace !== undefined) expect(world.isOver).toBe(true);
        if (!world.isOver) expect(last.refusals.length).toBeGreaterThan(0);
      }),
    );
  });

  test("a process that dies after any write is followed by one that comes to the same end", () => {
    fc.assert(
      fc.property(someWorld, some => {
        const whole = worldOf(some);
        const { writeCount } = run(whole);
        for (let killAfter = 1; killAfter <= writeCount; killAfter++) {
          const world = worldOf(some);
          const { proposalCount } = run(world, { killAfter });
          expect(proposalCount).toBe(1);
          expect(world.isOver).toBe(whole.isOver);
          expect([...world.pods.keys()]).toEqual([...whole.pods.keys()]);
        }
      }),
      { numRuns: 12 },
    );
  });

  test("a decision stands until its time, wherever the termination is", () => {
    const later = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
    fc.assert(
      fc.property(someWorld, fc.nat(40), later, (some, killAfter, share) => {
        const world = worldOf(some);
        for (let round = 0; round < killAfter && !world.isOver; round++) {
          const decision = world.decide();
          const writes = world.writes(decision);
          if (writes.length === 0 && !world.passOn(decision)) break;
          writes[round % writes.length]?.();
        }
        const { context } = world;
        const decision = termination.decide("a", context);
        const end = decision.wakeAt ?? context.now + 86_400_000;
        expect(end).toBeGreaterThan(context.now);
        const now = context.now + Math.floor((end - context.now) * share);
        expect(termination.decide("a", { ...context, now })).toEqual(decision);
        expect(termination.decide("a", { ...context, now: end - 1 })).toEqual(decision);
      }),
      { numRuns: 150 },
    );
  });

  test("instants before the deletion change nothing of that", () => {
    const world = new TerminationWorld(fresh);
    world.now = at("1m");
    expect(run(world).proposalCount).toBe(1);
  });
});
