import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aClaim, aCondition, aNode, aPool, aProvider, at, aWorld, t0, type WorldOptions } from "../../test/builders.ts";
import type { Repair } from "../api/repair.ts";
import type { Instant } from "../api/time.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import type { Subject } from "../snapshot/picture.ts";
import type { ClaimView, NodeView } from "../snapshot/views.ts";
import { brakeVeto, decideBlocked, repairBlocked } from "./brake.ts";
import { HealthCounts } from "./brake-counts.ts";
import type { Context, Proposal } from "./decision.ts";
import { RepairMemory, sickIn } from "./repair-memory.ts";

const provider = aProvider({
  repairStatements: [
    { conditionType: "Ready", conditionStatus: "False", toleration: 0 },
    { conditionType: "Ready", conditionStatus: "Unknown", toleration: 0 },
    { conditionType: "NetworkUnavailable", conditionStatus: "True", toleration: 0 },
  ],
});

type Size = { size: number; sick: number; pool?: string | undefined; repair?: Repair };

function pooled({ size, sick, pool, repair = {} }: Size): WorldOptions {
  const names = Array.from({ length: size }, (_, index) => `n${index}`);
  return {
    nodes: names.map((name, index) => aNode(name, { ready: index < sick ? "False" : "True" })),
    claims: names.map(name => aClaim(name, pool === undefined ? {} : { pool })),
    pools: pool === undefined ? [] : [aPool(pool, { spec: { repair } })],
    provider,
  };
}

function contextOf(picture: ClusterPicture, now: Instant = at("1h")): Context {
  return { picture, now, settings: { cluster: "c", dryRun: false, foreignClaims: "ignore" }, epoch: 1 };
}

function counted(context: Context): HealthCounts {
  const counts = new HealthCounts();
  for (const kind of ["pool", "node"] as const) {
    for (const subject of (context.picture as ClusterPicture).subjects(kind)) counts.recount(subject, context);
  }
  return counts;
}

function repairOf(name: string, more: Partial<Proposal> = {}): Proposal {
  return {
    node: { name, uid: `${name}-uid` },
    claim: { name, uid: `${name}-claim-uid` },
    action: "Repair",
    method: "Terminate",
    askedBy: { kind: "NodePool", name: "web" },
    message: "",
    evidence: [],
    dueAt: t0,
    ...more,
  };
}

function veto(world: WorldOptions, proposal: Proposal = repairOf("n0")) {
  const context = contextOf(aWorld(world));
  return brakeVeto(counted(context))(proposal, context);
}

describe("the brake", () => {
  test("H12 3 of 10 unhealthy in a pool: every one is blocked, and looked at again in five minutes", () => {
    const context = contextOf(aWorld(pooled({ size: 10, sick: 3, pool: "web" })), at("7m"));
    const health = counted(context);
    const proposals = ["n0", "n1", "n2"].map(name => repairOf(name, { dueAt: at("1m") }));
    expect(proposals.map(one => brakeVeto(health)(one, context)?.code)).toEqual(Array(3).fill("pool-too-unhealthy"));
    const blocked = decideBlocked(proposals, health, context);
    expect(blocked.wakeAt).toBe(at("11m"));
    expect(decideBlocked(proposals, health, { ...context, now: at("11m") - 1 })).toEqual(blocked);
    expect(decideBlocked(proposals, health, { ...context, now: at("11m") }).wakeAt).toBe(at("16m"));
  });

  test("H13 3 of 10 unhealthy, claims of no pool: the cluster's numbers block", () => {
    const scene = pooled({ size: 10, sick: 3 });
    expect(veto(scene)).toEqual({
      code: "cluster-too-unhealthy",
      message: "3 of 10 nodes of the cluster are unhealthy, more than 2 (spec.repair.maxUnhealthy: 20%).",
      liftedBy: "recovery of nodes",
    });
    // Nodes that nobody provisioned through us count there.
    const unmanaged = Array.from({ length: 5 }, (_, index) => aNode(`u${index}`, { providerID: "" }));
    expect(veto({ ...scene, nodes: [...(scene.nodes ?? []), ...unmanaged] })).toBeUndefined();
  });

  test("a stranger that says a claim's providerID fills no pool", () => {
    const { claims = [], ...scene } = pooled({ size: 4, sick: 2, pool: "web" });
    const bare = { ...aClaim("m", { pool: "web" }), status: {} };
    const stranger = aNode("m", { finalizers: [] });
    const joined = { ...scene, claims: [...claims, bare], nodes: [...(scene.nodes ?? []), stranger] };
    expect(veto(joined)?.message).toContain("2 of 4 nodes of NodePool web");
    const own = { ...joined, nodes: [...(scene.nodes ?? []), aNode("m")] };
    expect(veto({ ...own, claims: [...claims, bare] })?.message).toContain("2 of 5 nodes of NodePool web");
  });

  test("H14 1 of 3 unhealthy: repaired, for it rounds up", () => {
    expect(veto(pooled({ size: 3, sick: 1, pool: "web" }))).toBeUndefined();
  });

  test("is told on node, claim and pool, the numbers on the pool alone", () => {
    const context = contextOf(aWorld(pooled({ size: 3, sick: 2, pool: "web" })));
    const { notices } = decideBlocked([repairOf("n0"), repairOf("n1")], counted(context), context);
    expect(notices.map(({ about, reason, message }) => `${about.kind} ${about.name} ${reason}: ${message}`)).toEqual([
      "Node n0 NodeRepairBlocked: Node n0 is not repaired: too many nodes of NodePool web are unhealthy.",
      "NodeClaim n0 NodeRepairBlocked: Node n0 is not repaired: too many nodes of NodePool web are unhealthy.",
      "NodePool web NodeRepairBlocked: 2 of 3 nodes of NodePool web are unhealthy, more than 1 (spec.repair.maxUnhealthy: 20%).",
      "Node n1 NodeRepairBlocked: Node n1 is not repaired: too many nodes of NodePool web are unhealthy.",
      "NodeClaim n1 NodeRepairBlocked: Node n1 is not repaired: too many nodes of NodePool web are unhealthy.",
    ]);
    expect(decideBlocked([], counted(context), context)).toMatchObject({ notices: [], wakeAt: undefined });
  });

  test("has a condition on the pool", () => {
    const condition = (sick: number) => {
      const context = contextOf(aWorld(pooled({ size: 10, sick, pool: "web" })));
      const pool = context.picture.pool("web") ?? aPool("web");
      return repairBlocked(pool, counted(context), context);
    };
    expect(condition(2)).toEqual({ type: "RepairBlocked", status: "False", reason: "WithinLimit", message: "" });
    expect(condition(3)).toMatchObject({
      status: "True",
      reason: "TooManyUnhealthy",
      message: expect.stringMatching(/^3 of 10/),
    });
  });

  test.each([
    ["a count", 4, 4, undefined],
    ["a count, one more", 4, 5, "pool-too-unhealthy"],
    ["a percentage, rounded up", "41%", 5, undefined],
    ["none at all", 0, 1, "pool-too-unhealthy"],
    ["what cannot be read", "half", 1, "pool-too-unhealthy"],
    ["all", "100%", 10, undefined],
  ] as const)("is where the pool says: %s", (_what, maxUnhealthy, sick, code) => {
    expect(veto(pooled({ size: 10, sick, pool: "web", repair: { maxUnhealthy } }))?.code).toBe(code);
  });

  test("of one policy holds that policy alone", () => {
    const repair: Repair = {
      maxUnhealthy: "100%",
      policies: [{ conditionType: "Ready", toleration: "0s", maxUnhealthy: 1 }],
    };
    const policy = { kind: "NodePool", name: "web", path: "spec.repair.policies[0]" };
    const world = (sick: number) => pooled({ size: 10, sick, pool: "web", repair });
    expect(veto(world(1), repairOf("n0", { policy }))).toBeUndefined();
    expect(veto(world(2), repairOf("n0", { policy }))).toMatchObject({
      code: "policy-too-unhealthy",
      message: "2 of 10 nodes of NodePool web match spec.repair.policies[0], more than 1 (its maxUnhealthy: 1).",
    });
    expect(veto(world(2), repairOf("n0", { policy: { kind: "Provider", name: "test" } }))).toBeUndefined();
    const context = contextOf(aWorld(world(2)));
    const { notices } = decideBlocked([repairOf("n0", { policy })], counted(context), context);
    expect(notices.map(({ message }) => message)).toContain(
      "Node n0 is not repaired by spec.repair.policies[0]: too many nodes of NodePool web match it.",
    );
  });

  test("pauses planned disruption of the pool, and nothing else", () => {
    const scene = pooled({ size: 10, sick: 3, pool: "web" });
    for (const action of ["Drift", "Emptiness", "Consolidation", "Expiration"] as const) {
      expect(veto(scene, repairOf("n9", { action }))?.code).toBe("pool-too-unhealthy");
    }
    for (const action of ["Deletion", "Remediation", "GarbageCollection", "ScaleDown"] as const) {
      expect(veto(scene, repairOf("n9", { action }))).toBeUndefined();
    }
    expect(veto(pooled({ size: 10, sick: 9 }), repairOf("n9", { action: "Drift" }))).toBeUndefined();
  });

  test("who is repaired: pools of 1 to 30 nodes, most that may be unhealthy (caps and pace off)", () => {
    const rows = Array.from({ length: 30 }, (_, index) => {
      const size = index + 1;
      const context = contextOf(aWorld(pooled({ size, sick: 0, pool: "web" })));
      const counts = counted(context);
      const isRepaired = (sick: number) => {
        (context.picture as ClusterPicture).put("node", aNode(`n${sick - 1}`, { ready: "False" }));
        counts.recount(`node/n${sick - 1}`, context);
        return brakeVeto(counts)(repairOf("n0"), context) === undefined;
      };
      const allowed = Array.from({ length: size }, (_unused, before) => before + 1).filter(isRepaired);
      // Not one count above a blocked one is let through.
      expect(allowed).toEqual(Array.from({ length: allowed.length }, (_unused, before) => before + 1));
      return `${size}:${allowed.length}`;
    });
    expect(rows.join(" ")).toBe(
      "1:1 2:1 3:1 4:1 5:1 6:2 7:2 8:2 9:2 10:2 11:3 12:3 13:3 14:3 15:3 16:4 17:4 18:4 19:4 20:4 21:5 22:5 23:5 24:5 25:5 26:6 27:6 28:6 29:6 30:6",
    );
  });
});

describe("what counts", () => {
  const registeredAt = (since: Instant) => [
    aCondition("Launched", "True"),
    aCondition("Registered", "True", { since }),
  ];
  const count = (world: WorldOptions, now: Instant) => {
    const context = contextOf(aWorld({ pools: [aPool("web")], provider, ...world }), now);
    const { nodes, unhealthy } = counted(context).count("web");
    return `${unhealthy} of ${nodes}`;
  };
  const claim = (more: Parameters<typeof aClaim>[1] = {}) => aClaim("a", { pool: "web", ...more });

  test("a node that was never Ready: in neither number within its readinessTTL, in both from its end", () => {
    const claims = [claim({ stage: "registered", conditions: registeredAt(at("1m")), spec: { readinessTTL: "30m" } })];
    const nodes = [aNode("a", { ready: "Unknown" })];
    expect(count({ claims, nodes }, at("31m") - 1)).toBe("0 of 0");
    expect(count({ claims, nodes }, at("31m"))).toBe("1 of 1");
    expect(count({ claims, nodes: [aNode("a")] }, at("2m"))).toBe("0 of 1");
  });

  test.each<readonly [string, string, WorldOptions]>([
    [
      "a sick node that is going",
      "1 of 1",
      { claims: [claim({ deletingSince: t0 })], nodes: [aNode("a", { ready: "False", deletingSince: t0 })] },
    ],
    ["a well node that is going", "0 of 1", { claims: [claim({ deletingSince: t0 })], nodes: [aNode("a")] }],
    [
      "one that has not registered",
      "0 of 0",
      { claims: [claim({ stage: "launched" })], nodes: [aNode("a", { ready: "False" })] },
    ],
    ["a claim without a node", "0 of 0", { claims: [claim()] }],
    [
      "a node whose claim is in doubt",
      "0 of 0",
      { claims: [claim(), aClaim("b", { pool: "web", providerID: "test:///a" })], nodes: [aNode("a")] },
    ],
    [
      "a TTL that cannot be read",
      "0 of 0",
      {
        claims: [claim({ stage: "registered", spec: { readinessTTL: "soon" } })],
        nodes: [aNode("a", { ready: "False" })],
      },
    ],
  ])("%s: %s", (_what, expected, world) => {
    expect(count(world, at("9h"))).toBe(expected);
  });

  test("a new word of the pool counts at once", () => {
    const claims = [claim()];
    const nodes = [aNode("a", { conditions: [aCondition("Ready", "True"), aCondition("Disk", "True")] })];
    const context = contextOf(aWorld({ claims, nodes, pools: [aPool("web")], provider }));
    const counts = counted(context);
    expect(counts.count("web").unhealthy).toBe(0);
    const repair: Repair = { policies: [{ conditionType: "Disk", conditionStatus: "True", toleration: "1m" }] };
    (context.picture as ClusterPicture).put("pool", { ...aPool("web", { spec: { repair } }), generation: 2 });
    expect(counts.recount("pool/web", context)).not.toEqual([]);
    expect(counts.count("web").unhealthy).toBe(1);
    expect(counts.recount("pool/web", context)).toEqual([]);
  });
});

describe("counts that are kept are those of a look from scratch", () => {
  type Step = {
    node: number;
    ready: "True" | "False" | "Unknown";
    net: boolean;
    stage: "launched" | "registered" | "initialized";
    pool: string | undefined;
    gone: boolean;
  };
  const step: fc.Arbitrary<Step> = fc.record({
    node: fc.nat(5),
    ready: fc.constantFrom("True", "False", "Unknown"),
    net: fc.boolean(),
    stage: fc.constantFrom("launched", "registered", "initialized"),
    pool: fc.constantFrom("web", "db", undefined),
    gone: fc.nat(4).map(chance => chance === 0),
  });

  const nodeOf = ({ node, ready, net }: Step): NodeView =>
    aNode(`n${node}`, {
      conditions: [aCondition("Ready", ready), aCondition("NetworkUnavailable", net ? "True" : "False")],
    });
  const claimOf = ({ node, stage, pool }: Step): ClaimView => aClaim(`n${node}`, { stage, ...(pool ? { pool } : {}) });

  test("after any story", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), steps => {
        const picture = aWorld({ pools: [aPool("web"), aPool("db")], provider });
        const context = contextOf(picture, at("1m"));
        const memory = new RepairMemory();
        const refresh = (subjects: Iterable<Subject>) => {
          for (const subject of subjects) memory.recount(subject, context);
        };
        for (const one of steps) {
          if (one.gone) {
            picture.remove("node", nodeOf(one));
            picture.remove("claim", claimOf(one));
          } else {
            picture.put("claim", claimOf(one));
            picture.put("node", nodeOf(one));
          }
          refresh(picture.takeDirty());
        }
        const scratch = counted(context);
        for (const pool of ["web", "db", undefined]) expect(memory.health.count(pool)).toEqual(scratch.count(pool));
      }),
    );
  });
});

test("only what was Ready once turns sick for outbreaks and settling", () => {
  const sick = aCondition("Ready", "Unknown");
  const claims = [aClaim("a", { stage: "registered", pool: "web" }), aClaim("b", { pool: "web" })];
  const nodes = [aNode("a", { ready: "Unknown" }), aNode("b", { ready: "Unknown" }), aNode("c", { providerID: "" })];
  const isSick = sickIn(aWorld({ nodes, claims, pools: [aPool("web")], provider }));
  expect(nodes.map(node => isSick(node, sick))).toEqual([false, true, true]);
});
