import { describe, expect, test } from "vitest";
import {
  aClaim,
  aCondition,
  aNode,
  aPool,
  aProvider,
  aSafetyPolicy,
  aWorld,
  at,
  t0,
  type WorldOptions,
} from "../../test/builders.ts";
import { formatTime, type Instant } from "../api/time.ts";
import type { ClaimView, PoolView } from "../snapshot/views.ts";
import { type Decision, nothing } from "./decision.ts";
import { pool } from "./pool.ts";

const settings = { cluster: "test", dryRun: false, foreignClaims: "ignore" } as const;
const decide = (world: WorldOptions, now: Instant = at("1h")): Decision =>
  pool.decide("web", { picture: aWorld({ pools: [aPool("web")], ...world }), now, settings, epoch: 1 });

function changeOf(decision: Decision) {
  const [command] = decision.commands;
  return command?.kind === "update-pool" ? command : undefined;
}

const conditionOf = (decision: Decision, type: string) =>
  changeOf(decision)?.status?.conditions?.find(condition => condition.type === type);

/** The pool after its own command. */
function after(view: PoolView, decision: Decision): PoolView {
  const { metadata, status: { conditions = [], ...status } = {} } = changeOf(decision) ?? {};
  return {
    ...view,
    annotations: { ...view.annotations, ...(metadata?.annotations as Record<string, string>) },
    status: { ...view.status, ...status },
    conditions: conditions.map(condition => ({ since: t0, ...condition })),
  };
}

describe("a pool says", () => {
  const claims = [
    aClaim("a", { pool: "web", status: { capacity: { cpu: "4", memory: "8Gi" } } }),
    aClaim("b", { pool: "web", status: { capacity: { cpu: "4", memory: "8Gi", "example.com/gpu": 1 } } }),
    aClaim("c", { pool: "web", stage: "launched", status: { capacity: { cpu: "500m" } } }),
    aClaim("going", { pool: "web", deletingSince: t0, status: { capacity: { cpu: "4" } } }),
    aClaim("new", { pool: "web", stage: "new" }),
    aClaim("other", { pool: "db", status: { capacity: { cpu: "4" } } }),
  ];

  test("what it has: of claims that were launched and stay", () => {
    const { status } = changeOf(decide({ claims })) ?? {};
    expect(status?.nodes).toBe(3);
    expect(status?.resources).toEqual({ cpu: "8500m", memory: "16Gi", "example.com/gpu": "1", nodes: "3" });
  });

  test("nothing of what it no longer has, nor of what nobody can read", () => {
    const view = aPool("web", { status: { nodes: 1, resources: { cpu: "4", nodes: "1", "example.com/gpu": "1" } } });
    const odd = aClaim("a", { pool: "web", status: { capacity: { cpu: "4", disk: "lots" } } });
    expect(changeOf(decide({ pools: [view], claims: [odd] }))?.status?.resources).toEqual({
      cpu: "4",
      disk: "0",
      nodes: "1",
    });
  });

  test("that it is ready, and of which class it speaks", () => {
    const decision = decide({ provider: aProvider({ nodeClass: () => ({ state: "Ready", generation: 7 }) }) });
    const { status } = changeOf(decision) ?? {};
    expect(status?.nodeClassObservedGeneration).toBe(7);
    expect(status?.conditions?.map(one => `${one.type}=${one.status}`)).toEqual([
      "ValidationSucceeded=True",
      "NodeClassReady=True",
      "NodeRegistrationHealthy=Unknown",
      "Ready=True",
    ]);
    expect(decision.refusals).toEqual([]);
  });

  test("it once: afterwards there is nothing to say", () => {
    const decision = decide({ claims });
    expect(decide({ claims, pools: [after(aPool("web"), decision)] })).toEqual(nothing);
  });

  test.each<[string, Partial<PoolView>]>([
    ["its count", { status: { nodes: 1 } }],
    ["its resources", { status: { resources: { cpu: "8500m", memory: "16Gi", "example.com/gpu": "2", nodes: "3" } } }],
    ["what it has no more", { status: { resources: { cpu: "8500m", memory: "16Gi", disk: "1", nodes: "3" } } }],
    ["its class", { status: { nodeClassObservedGeneration: 9 } }],
    ["its conditions", { conditions: [] }],
    ["its record", { annotations: {} }],
  ])("it again when %s is not as it should be", (_, wrong) => {
    const said = after(aPool("web"), decide({ claims }));
    const view = { ...said, ...wrong, status: { ...said.status, ...wrong.status } };
    expect(changeOf(decide({ claims, pools: [view] }))).toBeDefined();
  });

  test("and leaves other conditions as they are", () => {
    const blocked = aCondition("RepairBlocked", "True", { since: at("5m") });
    expect(conditionOf(decide({ pools: [aPool("web", { conditions: [blocked] })] }), "RepairBlocked")).toEqual(blocked);
  });

  test.each<[string, Parameters<typeof aPool>[1]]>([
    ["is being deleted", { deletingSince: t0 }],
    [
      "is another controller's",
      { spec: { template: { spec: { nodeClassRef: { group: "x", kind: "EC2NodeClass", name: "x" } } } } },
    ],
  ])("nothing when it %s", (_, options) => {
    expect(decide({ pools: [aPool("web", options)], claims })).toEqual(nothing);
  });

  test("nothing when it is gone", () => {
    expect(decide({ pools: [], claims })).toEqual(nothing);
  });
});

describe("a pool that cannot launch says why", () => {
  test("when it cannot be understood", () => {
    const decision = decide({ pools: [aPool("web", { invalid: "budgets[0].schedule is no cron." })] });
    expect(conditionOf(decision, "ValidationSucceeded")).toMatchObject({
      status: "False",
      reason: "NodePoolValidationFailed",
      message: "budgets[0].schedule is no cron.",
    });
    expect(conditionOf(decision, "Ready")).toMatchObject({ status: "False" });
    expect(decision.refusals).toMatchObject([{ subject: "pool/web", code: "pool-invalid" }]);
  });

  test("when its class is not ready; the class it speaks of stays", () => {
    const provider = aProvider({ nodeClass: () => ({ state: "NotFound", message: "there is none" }) });
    const decision = decide({ provider });
    expect(conditionOf(decision, "NodeClassReady")).toMatchObject({
      status: "False",
      reason: "NodeClassNotFound",
      message: "SimulatedNodeClass default is not ready: there is none",
    });
    expect(decision.refusals).toMatchObject([{ subject: "pool/web", code: "node-class-not-ready" }]);
    expect(changeOf(decision)?.status).not.toHaveProperty("nodeClassObservedGeneration");
  });

  test("when it names no class and the provider has no default", () => {
    const decision = decide({ provider: aProvider({ defaultClass: undefined }) });
    expect([decision.commands, decision.refusals.map(({ code }) => code)]).toEqual([[], ["no-node-class"]]);
  });

  test.each<[string, Instant, boolean]>([
    ["one millisecond before the end", at("2m") - 1, true],
    ["at the end", at("2m"), false],
  ])("while it backs off: %s", (_, now, isHeld) => {
    const view = aPool("web", { status: { launchBackoff: { failures: 1, until: formatTime(at("2m")) } } });
    const { refusals, wakeAt } = decide({ pools: [view] }, now);
    expect(refusals.map(({ code, until }) => [code, until])).toEqual(isHeld ? [["pool-backing-off", at("2m")]] : []);
    expect(wakeAt).toBe(isHeld ? at("2m") : undefined);
  });
});

describe("failed launches", () => {
  const failed = (name: string, since: Instant) =>
    aClaim(name, { stage: "new", pool: "web", conditions: [aCondition("Launched", "False", { since })] });

  test("are noted on the pool with the backoff, so that neither their claims' end nor a restart forgets them", () => {
    const first = decide({ claims: [failed("a", at("1m"))] }, at("1m"));
    expect(changeOf(first)).toMatchObject({
      metadata: {
        annotations: {
          "fettle.dev/launch-record": expect.stringMatching(
            /^[0-9a-f]{8}\/1; -; 2026-01-01T00:01:00Z bad a-claim-uid$/,
          ) as string,
        },
      },
      status: { launchBackoff: { failures: 1, until: "2026-01-01T00:02:00Z" } },
    });
    const noted = after(aPool("web"), first);
    const second = decide({ pools: [noted], claims: [failed("b", at("2m"))] }, at("2m"));
    expect(changeOf(second)?.status?.launchBackoff).toEqual({ failures: 2, until: "2026-01-01T00:04:00Z" });
    expect(conditionOf(second, "NodeRegistrationHealthy")).toMatchObject({
      status: "False",
      reason: "RegistrationFailed",
    });
    // For information: a pool whose nodes fail to register is ready to launch others.
    expect(conditionOf(second, "Ready")).toMatchObject({ status: "True" });
  });

  const labelled = { template: { metadata: { labels: { team: "a" } }, spec: {} } };

  test.each<[string, Partial<PoolView>, number]>([
    ["the template", aPool("web", { generation: 2, spec: labelled }), 1],
    ["its class", {}, 2],
  ])("are forgotten when %s changes", (_, { generation = 1, effective }, classGeneration) => {
    const noted = after(aPool("web"), decide({ claims: [failed("a", at("1m")), failed("b", at("1m"))] }));
    expect(noted.status.launchBackoff?.failures).toBe(1);
    const provider = aProvider({ nodeClass: () => ({ state: "Ready", generation: classGeneration }) });
    const changed = { ...noted, generation, ...(effective && { effective }) };
    const decision = decide({ pools: [changed], provider });
    expect(changeOf(decision)?.status?.launchBackoff).toEqual({ failures: 0, until: "2026-01-01T00:01:00Z" });
    expect(conditionOf(decision, "NodeRegistrationHealthy")).toMatchObject({ status: "Unknown" });
  });

  test("are those too whose node came and was never Ready; what ends the waiting is one that was", () => {
    const registered = (name: string, more: object = {}) =>
      aClaim(name, { pool: "web", stage: "registered", createdAt: t0, ...more });
    const view = aPool("web");
    const boots = decide({ claims: [registered("a")] }, at("1m"));
    expect(conditionOf(boots, "NodeRegistrationHealthy")?.status).toBe("Unknown");
    const went = decide({ pools: [view], claims: [registered("a", { deletingSince: at("15m") })] }, at("15m"));
    expect(changeOf(went)?.status?.launchBackoff).toEqual({ failures: 1, until: "2026-01-01T00:16:00Z" });
    const noted = after(view, went);
    const next = registered("b", { status: { firstReadyTime: formatTime(at("17m")) } });
    const ready = { ...next, conditions: [aCondition("Registered", "True", { since: at("16m30s") })] };
    const up = decide({ pools: [noted], claims: [ready] }, at("17m"));
    expect(changeOf(up)?.status?.launchBackoff).toEqual({ failures: 0, until: "2026-01-01T00:17:00Z" });
    expect(conditionOf(up, "NodeRegistrationHealthy")?.status).toBe("True");
  });

  describe("and good ones", () => {
    const good = (name: string, time: string) => {
      const conditions = [aCondition("Registered", "True", { since: at(time) })];
      const status = { firstReadyTime: formatTime(at(time)) };
      return aClaim(name, { pool: "web", stage: "registered", status, conditions });
    };
    const first = good("a", "1m");
    const noted = after(aPool("web"), decide({ claims: [first] }, at("1m")));
    const recordAt = (claims: ClaimView[], now: Instant) => {
      const decision = decide({ pools: [noted], claims }, now);
      return { record: changeOf(decision)?.metadata?.annotations?.["fettle.dev/launch-record"], ...decision };
    };

    test.each([
      ["one millisecond before", at("1m") + 9_999, false],
      ["at", at("1m") + 10_000, true],
      ["one millisecond after", at("1m") + 10_001, true],
    ])("after good ones are noted ten seconds after the last: %s", (_, now, isNoted) => {
      const { record, wakeAt } = recordAt([first, good("b", "1m2s")], now);
      expect(record?.includes("good b-claim-uid") ?? false).toBe(isNoted);
      expect(wakeAt).toBe(isNoted ? undefined : at("1m") + 10_000);
    });

    test("do not keep a failure from being noted at once", () => {
      const { record } = recordAt([first, good("b", "1m2s"), failed("c", at("1m3s"))], at("1m3s"));
      expect(record).toContain("bad c-claim-uid");
    });

    test("nobody looks again where nothing is left to note", () => {
      expect(recordAt([first], at("1m1s")).wakeAt).toBeUndefined();
    });
  });

  test("are not forgotten when the pool shall have more nodes", () => {
    const noted = after(aPool("web"), decide({ claims: [failed("a", at("1m"))] }));
    const { effective } = aPool("web", { spec: { limits: { nodes: 7 }, weight: 3 } });
    const changed = { ...noted, generation: 2, effective };
    expect(changeOf(decide({ pools: [changed] }))).toBeUndefined();
  });

  test("are not forgotten while the class is away", () => {
    const noted = after(aPool("web"), decide({ claims: [failed("a", at("1m"))] }));
    const provider = aProvider({ nodeClass: () => ({ state: "NotReady", message: "no image" }) });
    const decision = decide({ pools: [noted], provider });
    expect(changeOf(decision)?.metadata).toBeUndefined();
    expect(changeOf(decision)?.status?.launchBackoff).toEqual(noted.status.launchBackoff);
  });
});

describe("a pool with replicas", () => {
  const claims = [aClaim("a", { pool: "web" }), aClaim("b", { pool: "web" })];
  const world = { pools: [aPool("web", { spec: { replicas: 1 } })], claims, nodes: [aNode("a"), aNode("b")] };
  const freeze = { reason: "a launch", until: formatTime(at("2h")) };

  test("says what keeps it from its count, when that ends, and that it is over", () => {
    const held = decide({ ...world, safety: aSafetyPolicy({ freeze }) });
    const condition = conditionOf(held, "ScalingHeld");
    expect(condition).toMatchObject({ status: "True", reason: "Frozen" });
    expect(condition?.message).toContain("Pool web keeps 1 too many: SafetyPolicy default freezes");
    expect(held.wakeAt).toBe(at("2h"));
    const pools = world.pools.map(view => after(view, held));
    expect(conditionOf(decide({ ...world, pools }), "ScalingHeld")).toMatchObject({
      status: "False",
      reason: "NotHeld",
    });
  });

  test("says of which claims nobody can tell what runs on them", () => {
    expect(conditionOf(decide({ ...world, nodes: [] }), "ScalingHeld")).toMatchObject({
      reason: "SurplusInDoubt",
      message: expect.stringContaining("a, b") as string,
    });
  });

  test("says nothing of it where nothing ever held it", () => {
    expect(conditionOf(decide(world), "ScalingHeld")).toBeUndefined();
  });
});

test("a launch that waits for a person is told on its pool, and is over with it", () => {
  const conditions = [aCondition("Launched", "Unknown", { reason: "Invalid", message: "no such zone" })];
  const told = decide({ claims: [aClaim("a", { pool: "web", stage: "new", conditions })] });
  expect(conditionOf(told, "NodeRegistrationHealthy")).toMatchObject({
    status: "False",
    reason: "Invalid",
    message: "Claim a is not launched, and trying again is not enough: no such zone",
  });
  const pools = [after(aPool("web"), told)];
  expect(conditionOf(decide({ pools, claims: [] }), "NodeRegistrationHealthy")).toMatchObject({ status: "Unknown" });
});
