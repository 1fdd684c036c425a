// The laws of the core on random worlds, for the rules of a node's life: a decision stands until its wakeAt, deciding
// changes nothing, and nothing that takes something away is decided without a doubt's being looked at first.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  aClaim,
  aCondition,
  aNode,
  anAction,
  aPod,
  aPool,
  aProvider,
  aSafetyPolicy,
  aWorld,
  type Stage,
  t0,
  type WorldOptions,
} from "../../test/builders.ts";
import { formatTime, type Instant } from "../api/time.ts";
import type { ClaimView, InstanceView, NodeView } from "../snapshot/views.ts";
import type { Decision, Rule } from "./decision.ts";
import { garbage } from "./garbage.ts";
import { lifecycle } from "./lifecycle.ts";
import { pool } from "./pool.ts";
import { replicas } from "./replicas.ts";

const names = ["a", "b", "c"] as const;
const settings = { cluster: "test", dryRun: false, foreignClaims: "ignore" } as const;

const instants = fc.integer({ min: 0, max: 7_200 }).map(second => t0 + second * 1_000);
const sometimes = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const claimOf = (name: string): fc.Arbitrary<ClaimView> =>
  fc
    .record({
      stage: fc.constantFrom<Stage>("new", "launched", "registered", "initialized"),
      pool: fc.constantFrom("web", undefined),
      createdAt: instants,
      deletingSince: sometimes(instants),
      launchFailed: sometimes(fc.constantFrom("InsufficientCapacity", "NodeClassNotReady", "LaunchFailed")),
      failedAt: instants,
      hasFinalizer: fc.boolean(),
      isForeign: fc.boolean(),
    })
    .map(({ stage, pool: ofPool, deletingSince, launchFailed, failedAt, hasFinalizer, isForeign, createdAt }) =>
      aClaim(name, {
        stage,
        createdAt,
        ...(ofPool === undefined ? {} : { pool: ofPool }),
        ...(deletingSince === undefined ? {} : { deletingSince }),
        ...(hasFinalizer ? {} : { finalizers: [] }),
        ...(stage === "new" && launchFailed !== undefined
          ? { conditions: [aCondition("Launched", "False", { reason: launchFailed, since: failedAt })] }
          : {}),
        spec: {
          startupTaints: [{ key: "network", effect: "NoExecute" }],
          ...(isForeign ? { nodeClassRef: { group: "x", kind: "Other", name: "x" } } : {}),
        },
      }),
    );

const nodeOf = (name: string): fc.Arbitrary<NodeView> =>
  fc
    .record({
      ready: fc.constantFrom<"True" | "False" | "Unknown">("True", "False", "Unknown"),
      since: instants,
      isRegistered: fc.boolean(),
      isTainted: fc.boolean(),
      sharesInstance: fc.boolean(),
    })
    .map(({ ready, since, isRegistered, isTainted, sharesInstance }) =>
      aNode(name, {
        ready,
        since,
        ...(isRegistered ? {} : { labels: { "karpenter.sh/registered": "", "karpenter.sh/initialized": "" } }),
        ...(isTainted ? { taints: [{ key: "network", effect: "NoExecute" }] } : {}),
        ...(sharesInstance && name === "b" ? { providerID: "test:///a" } : {}),
      }),
    );

const poolOf: fc.Arbitrary<WorldOptions["pools"]> = fc
  .record({
    replicas: sometimes(fc.integer({ min: 0, max: 5 })),
    limit: sometimes(fc.integer({ min: 0, max: 4 })),
    failures: fc.integer({ min: 0, max: 3 }),
    until: instants,
    invalid: sometimes(fc.constant("odd")),
    dryRun: fc.boolean(),
  })
  .map(({ replicas: count, limit, failures, until, invalid, dryRun }) => [
    aPool("web", {
      spec: {
        dryRun,
        ...(count === undefined ? {} : { replicas: count }),
        ...(limit === undefined ? {} : { limits: { nodes: limit } }),
      },
      status: { launchBackoff: { failures, until: formatTime(until) } },
      ...(invalid === undefined ? {} : { invalid }),
    }),
  ]);

const instanceOf = (name: string): fc.Arbitrary<InstanceView> =>
  fc
    .record({
      state: fc.constantFrom<InstanceView["state"]>("running", "terminating", "gone"),
      goneSince: instants,
      for: instants,
    })
    .map(({ state, goneSince, for: seen }) => ({
      providerID: `test:///${name}`,
      state,
      seenAt: Math.max(goneSince, seen),
      ...(state === "gone" ? { goneSince } : {}),
    }));

const some = <T>(of: (name: string) => fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.tuple(...names.map(name => sometimes(of(name)))).map(all => all.filter(one => one !== undefined));

const worlds: fc.Arbitrary<WorldOptions> = fc
  .record({
    claims: some(claimOf),
    nodes: some(nodeOf),
    pools: poolOf,
    instances: some(instanceOf),
    listedAt: sometimes(instants),
    listed: fc.uniqueArray(fc.constantFrom("a", "b", "c", "stray")),
    launchedAt: instants,
    retryAt: sometimes(instants),
    freezeUntil: sometimes(instants),
    isStale: fc.boolean(),
    classIsReady: fc.boolean(),
    isGoing: fc.boolean(),
  })
  .map(world => ({
    claims: world.claims,
    nodes: world.nodes,
    pools: world.pools ?? [],
    instances: world.instances,
    pods: [aPod("p", { on: "a" })],
    actions: world.isGoing ? [anAction("x", { node: "c", phase: "Pending" })] : [],
    ...(world.listedAt === undefined
      ? {}
      : {
          instanceList: {
            at: world.listedAt,
            instances: world.listed.map(name => ({
              providerID: `test:///${name}`,
              createdAt: world.launchedAt,
              cluster: "test",
              claimUid: `${name}-claim-uid`,
            })),
          },
        }),
    ...(world.retryAt === undefined
      ? {}
      : {
          failures: Object.fromEntries(
            ["claim/a", "instances"].map(lane => [
              lane,
              { at: t0, retryAt: world.retryAt ?? t0, count: 1, reason: "Throttled", message: "slow down" },
            ]),
          ),
        }),
    ...(world.freezeUntil === undefined
      ? {}
      : { safety: aSafetyPolicy({ freeze: { reason: "audit", until: formatTime(world.freezeUntil) } }) }),
    ...(world.isStale ? { staleness: { resource: "nodes", message: "silent" } } : {}),
    provider: world.classIsReady
      ? aProvider()
      : aProvider({ nodeClass: () => ({ state: "NotReady", message: "no image" }) }),
  }));

const asked: readonly (readonly [Rule, string])[] = [
  ...names.map(name => [lifecycle, name] as const),
  [pool, "web"],
  [replicas, "web"],
  [garbage, "cluster"],
];

function decideAt(world: WorldOptions, now: Instant): readonly Decision[] {
  const picture = aWorld(world);
  return asked.map(([rule, name]) => rule.decide(name, { picture, now, settings, epoch: 1 }));
}

describe("the rules of a node's life, on random worlds", () => {
  test("decide the same at any instant before they ask to be woken", () => {
    fc.assert(
      fc.property(worlds, instants, fc.double({ min: 0, max: 1, noNaN: true }), (world, now, share) => {
        const picture = aWorld(world);
        for (const [rule, name] of asked) {
          const decision = rule.decide(name, { picture, now, settings, epoch: 1 });
          const { wakeAt = now + 100 * 3_600_000 } = decision;
          expect(wakeAt).toBeGreaterThan(now);
          const later = now + Math.floor((wakeAt - 1 - now) * share);
          expect(rule.decide(name, { picture, now: later, settings, epoch: 1 })).toEqual(decision);
          expect(rule.decide(name, { picture, now: wakeAt - 1, settings, epoch: 1 })).toEqual(decision);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("decide the same on the same world built again", () => {
    fc.assert(
      fc.property(worlds, instants, (world, now) => {
        const turned = { ...world, claims: world.claims?.toReversed() ?? [], nodes: world.nodes?.toReversed() ?? [] };
        expect(decideAt(turned, now)).toEqual(decideAt(world, now));
      }),
    );
  });

  test("never ask for two things of one object at once, nor touch what is another controller's or on its way out", () => {
    fc.assert(
      fc.property(worlds, instants, (world, now) => {
        const claims = new Map(world.claims?.map(claim => [claim.name, claim]));
        for (const { commands, proposals } of decideAt(world, now)) {
          const targets = commands.map(command => JSON.stringify(targetOf(command)));
          expect(new Set(targets).size).toBe(targets.length);
          const touched = [
            ...commands.flatMap(command => ("claim" in command && command.claim ? [command.claim] : [])),
            ...proposals.flatMap(({ claim }) => claim ?? []),
          ].flatMap(({ name, uid }) => {
            expect(claims.get(name)?.uid).toBe(uid);
            return claims.get(name) ?? [];
          });
          expect(touched.filter(({ deletingSince }) => deletingSince !== undefined)).toEqual([]);
        }
      }),
    );
  });

  test("delete no instance that a claim knows or a Ready node runs on, and nothing of garbage on a stale picture", () => {
    fc.assert(
      fc.property(worlds, instants, (world, now) => {
        const commands = decideAt(world, now).at(-1)?.commands ?? [];
        for (const command of commands) {
          if (command.kind !== "delete-instance") continue;
          const { providerID } = command;
          const isKnown = (claim: ClaimView) =>
            claim.providerID === providerID || `test:///${claim.name}` === providerID;
          expect(world.claims?.filter(isKnown)).toEqual([]);
          const isReady = (node: NodeView) =>
            node.conditions.some(one => one.type === "Ready" && one.status === "True");
          expect(world.nodes?.filter(node => node.providerID === providerID && isReady(node))).toEqual([]);
        }
        const destructive = commands.filter(({ kind }) => kind === "delete-instance" || kind === "delete-claim");
        if (world.staleness !== undefined) expect(destructive).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test("keep a pool with replicas at its count: what is there, what is created and what goes add up", () => {
    fc.assert(
      fc.property(worlds, instants, (world, now) => {
        const [view] = world.pools ?? [];
        const wanted = view?.effective.replicas;
        if (wanted === undefined) return;
        const all = world.claims?.filter(claim => claim.pool === "web") ?? [];
        const staying = all.filter(({ deletingSince }) => deletingSince === undefined).length;
        const { commands, proposals, refusals } = decideAt(world, now).at(-2) ?? {
          commands: [],
          proposals: [],
          refusals: [],
        };
        const created = commands.filter(({ kind }) => kind === "create-claim").length;
        const gone = commands.length - created + proposals.length;
        expect(Math.min(created, gone)).toBe(0);
        expect(staying + created).toBeLessThanOrEqual(Math.max(wanted, staying));
        expect(staying - gone).toBeGreaterThanOrEqual(Math.min(wanted, staying));
        const limit = Number(view?.effective.limits["nodes"] ?? Number.POSITIVE_INFINITY);
        expect(all.length + created).toBeLessThanOrEqual(Math.max(limit, all.length));
        // Whoever is short or over and does nothing says why; a node that goes already is reason enough.
        if (staying < wanted && created < wanted - staying) expect(refusals).not.toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

function targetOf(command: Decision["commands"][number]): unknown {
  if (command.kind === "create-claim") return command.manifest.metadata.name;
  if ("claim" in command && command.claim) return command.claim;
  if ("node" in command) return command.node;
  return "providerID" in command ? command.providerID : command.kind;
}
