import { describe, expect, test } from "vitest";
import {
  aCondition,
  aClaim,
  aNode,
  aPool,
  aSafetyPolicy,
  at,
  aWorld,
  type WorldOptions,
  t0,
} from "../../test/builders.ts";
import { type Instant, minuteMs } from "../api/time.ts";
import { doNotRepairKey } from "../api/well-known.ts";
import type { ClaimView } from "../snapshot/views.ts";
import { type Context, nothing } from "./decision.ts";
import { decideReadiness, hasBeenReady, readyBy } from "./readiness.ts";

function decide(world: WorldOptions, now: Instant) {
  const settings: Context["settings"] = { cluster: "c", dryRun: false, foreignClaims: "ignore" };
  return decideReadiness("a", { picture: aWorld(world), now, settings, epoch: 1 });
}

const spec = { readinessTTL: "30m" };
/** As the claim's lifecycle writes when it first sees it. */
const awaited = (claim: ClaimView, since = t0): ClaimView => {
  const registered = aCondition("Registered", "Unknown", { reason: "AwaitingReconciliation", since });
  return { ...claim, conditions: [...claim.conditions, registered] };
};
const unregistered = (more: Parameters<typeof aClaim>[1] = {}) =>
  awaited(aClaim("a", { stage: "launched", pool: "gpu", spec, ...more }));
const madeByHand = awaited(aClaim("a", { stage: "launched", spec }));
const world = (claim: ClaimView, more: WorldOptions = {}): WorldOptions => ({
  claims: [claim],
  pools: [aPool("gpu")],
  ...more,
});
const codes = (of: { refusals: readonly { code: string }[] }) => of.refusals.map(({ code }) => code);

describe("a claim that never registered", () => {
  test("is looked at again when its TTL ends, one millisecond before, and goes at that instant", () => {
    const before = decide(world(unregistered()), at("30m") - 1);
    expect(before).toMatchObject({ commands: [], refusals: [], wakeAt: at("30m") });
    const due = decide(world(unregistered()), at("30m"));
    const why = "Claim a brought no node within its readinessTTL of 30m, until 2026-01-01T00:30:00Z.";
    expect(due).toEqual({
      commands: [{ kind: "delete-claim", claim: { name: "a", uid: "a-claim-uid" }, resourceVersion: "1", why }],
      proposals: [],
      refusals: [],
      notices: [
        {
          about: { kind: "NodeClaim", name: "a", uid: "a-claim-uid" },
          type: "Warning",
          reason: "ReadinessTTLExceeded",
          message: why,
        },
      ],
      wakeAt: undefined,
    });
    expect(decide(world(unregistered()), at("9h"))).toEqual(due);
  });

  test("has 15 minutes where nobody says otherwise, launched or not", () => {
    const claim = awaited(aClaim("a", { stage: "new", pool: "gpu" }));
    expect(decide(world(claim), at("15m") - 1)).toMatchObject({ commands: [], wakeAt: at("15m") });
    const [command] = decide(world(claim), at("15m")).commands;
    expect(command).toMatchObject({ kind: "delete-claim", why: expect.stringContaining("was not launched") });
  });

  test("has its time by our own clock, however far that is ahead of the server's", () => {
    const claim = aClaim("a", { stage: "new", pool: "gpu", spec });
    expect(decide(world(claim), at("1h"))).toEqual(nothing);
    const seen = awaited(claim, at("1h"));
    expect(decide(world(seen), at("1h30m") - 1)).toMatchObject({ commands: [], wakeAt: at("1h30m") });
    expect(decide(world(seen), at("1h30m")).commands).toHaveLength(1);
    // Behind it, the server's counts.
    expect(decide(world(awaited(claim, t0 - 1)), at("30m") - 1)).toMatchObject({ commands: [], wakeAt: at("30m") });
  });

  test("goes whatever the mode of repair: nothing runs on it", () => {
    const pools = [aPool("gpu", { spec: { repair: { mode: "Disabled" } } })];
    expect(decide(world(unregistered(), { pools }), at("30m")).commands).toHaveLength(1);
    expect(decide({ claims: [awaited(aClaim("a", { stage: "launched", spec }))] }, at("30m")).commands).toHaveLength(1);
  });

  test.each([
    ["has gone for another reason", unregistered({ deletingSince: at("1m") })],
    ["is only asked for yet", unregistered({ isProvisional: true })],
    [
      "is another controller's",
      unregistered({ spec: { ...spec, nodeClassRef: { group: "x", kind: "Y", name: "z" } } }),
    ],
    [
      "could not be launched, and goes by that",
      unregistered({ conditions: [aCondition("Launched", "False", { reason: "InsufficientCapacity" })] }),
    ],
  ])("is left alone if it %s", (_what, claim) => {
    expect(decide(world(claim), at("9h"))).toMatchObject({ commands: [], refusals: [], wakeAt: undefined });
  });

  test.each<readonly [string, string, ClaimView, WorldOptions]>([
    ["a node is there after all", "node-not-registered", unregistered(), { nodes: [aNode("a")] }],
    ["the claim says so", "do-not-repair", unregistered({ annotations: { [doNotRepairKey]: "true" } }), {}],
    [
      "the pool says so",
      "do-not-repair",
      unregistered(),
      { pools: [aPool("gpu", { annotations: { [doNotRepairKey]: "true" } })] },
    ],
    ["the pool is in dry run", "dry-run", unregistered(), { pools: [aPool("gpu", { spec: { dryRun: true } })] }],
    ["everything is in dry run", "dry-run", unregistered(), { safety: aSafetyPolicy({ dryRun: true }) }],
    ["everything is, made by hand", "dry-run", madeByHand, { safety: aSafetyPolicy({ dryRun: true }) }],
    ["the picture is stale", "picture-stale", unregistered(), { staleness: { resource: "nodes", message: "old" } }],
    [
      "everything is frozen",
      "frozen",
      unregistered(),
      { safety: aSafetyPolicy({ freeze: { reason: "audit", scope: "Everything" } }) },
    ],
    ["its TTL cannot be read", "readiness-ttl-unreadable", unregistered({ spec: { readinessTTL: "soon" } }), {}],
  ])("stays if %s", (_what, code, claim, more) => {
    const held = decide(world(claim, more), at("9h"));
    expect(held.commands).toEqual([]);
    expect(codes(held)).toEqual([code]);
    expect(held.refusals[0]).toMatchObject({ subject: "claim/a", message: expect.stringMatching(/\.$|audit$|old$/) });
  });

  test("stays while our clock is off, by which every boot would have taken too long", () => {
    const picture = aWorld(world(unregistered()));
    picture.setClockAhead(60 * minuteMs);
    const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" } as const;
    const held = decideReadiness("a", { picture, now: at("9h"), settings, epoch: 1 });
    expect([held.commands, codes(held)]).toEqual([[], ["clock-off"]]);
  });

  test("stays until the time that do-not-repair names, and goes at it", () => {
    const claim = unregistered({ annotations: { [doNotRepairKey]: "2026-01-01T02:00:00Z" } });
    expect(decide(world(claim), at("2h") - 1)).toMatchObject({ commands: [], wakeAt: at("2h") });
    expect(decide(world(claim), at("2h")).commands).toHaveLength(1);
  });
});

describe("seed 001", () => {
  const registered = (more: Parameters<typeof aClaim>[1] = {}) => {
    const conditions = [aCondition("Launched", "True"), aCondition("Registered", "True", { since: at("1m") })];
    return aClaim("a", { stage: "registered", pool: "gpu", spec, conditions, ...more });
  };

  test("Timeout Flow: registered at T+1m, its TTL of 30m ends at T+31m", () => {
    expect(readyBy(registered())).toEqual({ since: at("1m"), ttl: "30m", dueAt: at("31m") });
    expect(hasBeenReady(registered(), aNode("a", { ready: "Unknown" }))).toBe(false);
    // The node's, not the claim's affair.
    expect(decide(world(registered(), { nodes: [aNode("a", { ready: "Unknown" })] }), at("9h"))).toMatchObject({
      commands: [],
      refusals: [],
    });
  });

  test("Normal Flow: once Ready, ever after", () => {
    expect(hasBeenReady(registered(), aNode("a", { ready: "True" }))).toBe(true);
    const recorded = registered({ status: { firstReadyTime: "2026-01-01T00:25:00Z" } });
    expect(hasBeenReady(recorded, aNode("a", { ready: "Unknown" }))).toBe(true);
  });

  test("a foreign claim has no record of ours: it was Ready if it is initialized", () => {
    expect(hasBeenReady(aClaim("a"), aNode("a", { ready: "False" }))).toBe(true);
  });

  test("a node's own label proves nothing", () => {
    const node = aNode("a", { ready: "False", labels: { "karpenter.sh/initialized": "true" } });
    expect(hasBeenReady(registered(), node)).toBe(false);
  });

  test("Ready but not initialized past the TTL is told, and stays", () => {
    const taint = { message: "Node a still has the startup taint x.", reason: "StartupTaintsExist" };
    const conditions = [...registered().conditions, aCondition("Initialized", "Unknown", taint)];
    const nodes = [aNode("a")];
    const claim = registered({ conditions });
    expect(decide(world(claim, { nodes }), at("31m") - 1)).toMatchObject({
      refusals: [],
      notices: [],
      wakeAt: at("31m"),
    });
    const told = decide(world(claim, { nodes }), at("31m"));
    expect(codes(told)).toEqual(["not-initialized"]);
    expect(told).toMatchObject({ commands: [], proposals: [], notices: [{ reason: "NotInitialized" }] });
    expect(told.refusals[0]?.message).toContain("still has the startup taint x.");
  });

  test("one that has just become Ready, too late, is about to be looked at", () => {
    const last = aCondition("Initialized", "Unknown", { reason: "NodeNotReady" });
    const claim = registered({ conditions: [...registered().conditions, last] });
    expect(decide(world(claim, { nodes: [aNode("a")] }), at("9h")).refusals).toEqual([]);
  });

  test("one that is initialized, or whose node is not there, is not told of", () => {
    expect(decide(world(aClaim("a", { pool: "gpu", spec }), { nodes: [aNode("a")] }), at("9h")).refusals).toEqual([]);
    expect(decide(world(registered()), at("9h")).refusals).toEqual([]);
    expect(decide({}, t0)).toMatchObject({ refusals: [], wakeAt: undefined });
  });
});

describe("a claim whose node has vanished", () => {
  const gone = (name: string, since: Instant = at("1h"), more: Parameters<typeof aClaim>[1] = {}): ClaimView => {
    const claim = aClaim(name, { pool: "gpu", spec, status: { nodeName: name }, ...more });
    const ready = aCondition("Ready", "False", { reason: "NodeNotFound", since });
    return { ...claim, conditions: [...claim.conditions.filter(({ type }) => type !== "Ready"), ready] };
  };

  test("has its whole readinessTTL to see it again, and then goes", () => {
    expect(decide(world(gone("a")), at("90m") - 1)).toEqual({ ...nothing, wakeAt: at("90m") });
    const due = decide(world(gone("a")), at("90m"));
    const why =
      "Claim a lost a at 2026-01-01T01:00:00Z, and it has not come back within the readinessTTL of 30m, until 2026-01-01T01:30:00Z.";
    expect(due.commands).toMatchObject([{ kind: "delete-claim", claim: { name: "a", uid: "a-claim-uid" }, why }]);
    expect(due.notices).toMatchObject([{ reason: "ReadinessTTLExceeded" }]);
  });

  test("stays when the node is back, before the claim says so", () => {
    expect(decide(world(gone("a"), { nodes: [aNode("a")] }), at("9h"))).toEqual(nothing);
  });

  test("stays when it is not the only one of its pool: then it is objects that were lost, not machines", () => {
    const claims = [gone("a"), gone("b", at("80m"))];
    const decision = decide({ ...world(gone("a")), claims }, at("90m"));
    expect([decision.commands, codes(decision)]).toEqual([[], ["nodes-vanished"]]);
    expect(decision.refusals[0]?.message).toContain("pool gpu whose node has vanished (a, b)");
  });

  describe("stays when it is not the only one of the cluster", () => {
    const { pool: _, ...byHand } = gone("a");
    const well = (count: number) => Array.from({ length: count }, (_, index) => aClaim(`well-${index}`));
    const outcome = (claims: readonly ClaimView[]) => codes(decide({ ...world(gone("a")), claims }, at("90m")));

    test("and those are more than 5 % of all claims, however many pools they are of", () => {
      const lost = [gone("a"), gone("b", t0, { pool: "web" })];
      expect(outcome([...lost, ...well(37)])).toEqual(["nodes-vanished"]);
      expect(outcome([...lost, ...well(38)])).toEqual([]);
      const held = decide({ ...world(gone("a")), claims: lost }, at("90m"));
      expect(held.refusals[0]?.message).toContain("Claim a is not the only one whose node has vanished (a, b)");
    });

    test("also one that was made by hand", () => {
      expect(outcome([byHand, gone("b"), ...well(37)])).toEqual(["nodes-vanished"]);
      expect(outcome([byHand, gone("b"), ...well(38)])).toEqual([]);
      const { pool: __, ...other } = gone("b");
      expect(outcome([byHand, other, ...well(98)])).toEqual(["nodes-vanished"]);
    });
  });

  test.each<[string, WorldOptions, string]>([
    ["a freeze", { safety: aSafetyPolicy({ freeze: { reason: "a launch" } }) }, "frozen"],
    ["a picture that is too old", { staleness: { resource: "nodes", message: "silent" } }, "picture-stale"],
    ["its pool's dry run", { pools: [aPool("gpu", { spec: { dryRun: true } })] }, "dry-run"],
  ])("stays by %s", (_, more, code) => {
    const decision = decide(world(gone("a"), more), at("90m"));
    expect([decision.commands, codes(decision)]).toEqual([[], [code]]);
  });

  test("stays when its readinessTTL cannot be read", () => {
    expect(codes(decide(world(gone("a", t0, { spec: { readinessTTL: "soon" } })), at("9h")))).toEqual([
      "readiness-ttl-unreadable",
    ]);
  });
});
