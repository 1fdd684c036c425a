import { describe, expect, test } from "vitest";
import {
  aClaim,
  aClassRef,
  aNode,
  anAction,
  aPod,
  aPool,
  aProvider,
  aSafetyPolicy,
  aWorld,
  at,
  t0,
  type WorldOptions,
} from "../../test/builders.ts";
import type { NodePoolSpec } from "../api/node-pool.ts";
import { formatTime, type Instant } from "../api/time.ts";
import type { ClaimView, PoolView } from "../snapshot/views.ts";
import { type Decision, nothing } from "./decision.ts";
import { replicas } from "./replicas.ts";

const settings = { cluster: "test", dryRun: false, foreignClaims: "ignore" } as const;
const decide = (world: WorldOptions, now = at("1h")): Decision =>
  replicas.decide("web", { picture: aWorld(world), now, settings, epoch: 1 });

const web = (count: number, options: { spec?: NodePoolSpec } & Partial<PoolView> = {}) =>
  aPool("web", { ...options, spec: { ...options.spec, replicas: count } });
const members = (...names: string[]) => names.map(name => aClaim(name, { pool: "web" }));

function created(decision: Decision) {
  return decision.commands.flatMap(command => (command.kind === "create-claim" ? [command.manifest] : []));
}
const namesOf = (decision: Decision) => created(decision).map(({ metadata }) => metadata.name);
const codes = (decision: Decision) => decision.refusals.map(({ code }) => code);

describe("a pool that lacks nodes", () => {
  test("gets as many claims as it lacks; those that go do not count, those that wait do", () => {
    const claims = [
      ...members("a"),
      aClaim("b", { pool: "web", deletingSince: t0 }),
      aClaim("c", { pool: "web", stage: "new" }),
      aClaim("d", { pool: "db" }),
    ];
    const decision = decide({ pools: [web(4)], claims });
    expect(namesOf(decision)).toHaveLength(2);
    expect(decision.commands[0]?.why).toBe("Pool web wants 4 nodes (spec.replicas) and lacks 2.");
  });

  test("asks for 50 at once at most, the next when those are there, and lacks no less by that", () => {
    const first = decide({ pools: [web(120)] });
    expect(new Set(namesOf(first)).size).toBe(50);
    expect([first.commands[0]?.why, codes(first)]).toEqual([
      "Pool web wants 120 nodes (spec.replicas) and lacks 120.",
      [],
    ]);
    const made = namesOf(first).map(name => aClaim(name, { pool: "web", stage: "new" }));
    const next = decide({ pools: [web(120)], claims: made });
    expect(new Set([...namesOf(first), ...namesOf(next)]).size).toBe(100);
    const limited = decide({ pools: [web(120, { spec: { limits: { nodes: "70" } } })], claims: made });
    expect([namesOf(limited).length, codes(limited)]).toEqual([20, ["node-limit"]]);
  });

  test("asks for claims with all that its template says", () => {
    const spec: NodePoolSpec = {
      template: {
        metadata: { labels: { team: "a" }, annotations: { note: "b" } },
        spec: {
          taints: [{ key: "t", effect: "NoSchedule" }],
          startupTaints: [{ key: "s", effect: "NoExecute" }],
          requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }],
          terminationGracePeriod: "1h",
          expireAfter: "48h",
          readinessTTL: "5m",
        },
      },
    };
    const [manifest] = created(decide({ pools: [web(1, { spec })] }));
    expect(manifest).toEqual({
      apiVersion: "karpenter.sh/v1",
      kind: "NodeClaim",
      metadata: {
        name: expect.stringMatching(/^web-[0-9a-z]{5}$/),
        labels: { team: "a", "karpenter.sh/nodepool": "web", "fettle.dev/simulatednodeclass": "default" },
        annotations: {
          note: "b",
          "karpenter.sh/nodepool-hash": expect.stringMatching(/^[0-9a-f]{8}$/),
          "karpenter.sh/nodepool-hash-version": "fettle-v1",
        },
        finalizers: ["karpenter.sh/termination"],
        ownerReferences: [
          {
            apiVersion: "karpenter.sh/v1",
            kind: "NodePool",
            name: "web",
            uid: "web-pool-uid",
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: { ...spec.template?.spec, nodeClassRef: aClassRef },
    });
  });

  test("gives its claims the readinessTTL in force, also where it says none", () => {
    const [manifest] = created(decide({ pools: [web(1)] }));
    expect(manifest?.["spec"]).toMatchObject({ readinessTTL: "15m", expireAfter: "720h" });
  });

  test("is left alone when it has none to keep, is gone, goes, or is another controller's", () => {
    const nodeClassRef = { group: "x", kind: "EC2NodeClass", name: "x" };
    expect(decide({ pools: [aPool("web")] })).toEqual(nothing);
    expect(decide({})).toEqual(nothing);
    expect(decide({ pools: [web(3, { deletingSince: t0 })] })).toEqual(nothing);
    expect(decide({ pools: [web(3, { spec: { template: { spec: { nodeClassRef } } } })] })).toEqual(nothing);
    expect(decide({ pools: [web(2)], claims: members("a", "b") })).toEqual(nothing);
  });
});

describe("the names of new claims", () => {
  test("are the same whenever the same is asked for, so that a lost answer doubles nothing", () => {
    const names = namesOf(decide({ pools: [web(3)] }));
    expect(new Set(names).size).toBe(3);
    expect(namesOf(decide({ pools: [web(3)] }, at("2h")))).toEqual(names);
  });

  test("stay the same for those that are still missing when others have come", () => {
    const [first = "", second = "", third] = namesOf(decide({ pools: [web(3)] }));
    expect(namesOf(decide({ pools: [web(3)], claims: members(second) }))).toEqual([first, third]);
    expect(namesOf(decide({ pools: [web(3)], claims: members(first, second) }))).toEqual([third]);
  });

  test("pass over one that is taken, also by a claim of nobody's or by one that goes", () => {
    const [first = ""] = namesOf(decide({ pools: [web(1)] }));
    for (const claim of [aClaim(first), aClaim(first, { pool: "web", deletingSince: t0 })]) {
      const [name] = namesOf(decide({ pools: [web(1)], claims: [claim] }));
      expect(name).not.toBe(first);
    }
  });

  test("are others after each launch, so that a successor does not bear the name of one that failed", () => {
    const annotations = { "fettle.dev/launch-record": `1/1; -; ${formatTime(t0)} bad x` };
    expect(namesOf(decide({ pools: [web(1, { annotations })] }))).not.toEqual(namesOf(decide({ pools: [web(1)] })));
  });

  test("are another pool's own, even under the same name", () => {
    expect(namesOf(decide({ pools: [web(1, { uid: "later" })] }))).not.toEqual(namesOf(decide({ pools: [web(1)] })));
  });
});

describe("nothing is created", () => {
  test.each<[string, WorldOptions, string]>([
    ["while the pool cannot be understood", { pools: [web(2, { invalid: "odd" })] }, "pool-invalid"],
    [
      "while its class is not ready",
      { pools: [web(2)], provider: aProvider({ nodeClass: () => ({ state: "NotReady", message: "no image" }) }) },
      "node-class-not-ready",
    ],
    ["in dry run", { pools: [web(2, { spec: { dryRun: true } })] }, "dry-run"],
  ])("%s", (_, world, code) => {
    const decision = decide(world);
    expect([decision.commands, codes(decision)]).toEqual([[], [code]]);
    expect(decision.refusals[0]?.subject).toBe("pool/web");
  });

  test.each([
    ["one millisecond before the end", at("2m") - 1, 0],
    ["at the end", at("2m"), 2],
  ])("while the pool backs off: %s", (_, now, count) => {
    const status = { launchBackoff: { failures: 1, until: formatTime(at("2m")) } };
    const decision = decide({ pools: [web(2, { status })] }, now);
    expect(created(decision)).toHaveLength(count);
    expect([codes(decision), decision.wakeAt]).toEqual(count > 0 ? [[], undefined] : [["pool-backing-off"], at("2m")]);
  });

  describe("after a launch that failed, until the pool says for how long the next are held back:", () => {
    const failed = aClaim("old", {
      pool: "web",
      stage: "launched",
      deletingSince: at("15m"),
      spec: { readinessTTL: "15m" },
    });
    const record = `1/1; -; ${formatTime(at("15m"))} bad ${failed.uid}`;
    const status = { launchBackoff: { failures: 1, until: formatTime(at("16m")) } };
    const launchRecord = { annotations: { "fettle.dev/launch-record": record } };

    test.each<[string, Parameters<typeof web>[1], Instant, string[]]>([
      ["nothing is written yet", {}, at("15m"), ["launch-not-recorded"]],
      ["the record is written, the status is not", launchRecord, at("15m"), ["launch-not-recorded"]],
      ["both are", { ...launchRecord, status }, at("16m") - 1, ["pool-backing-off"]],
      ["and the time is over", { ...launchRecord, status }, at("16m"), []],
    ])("%s", (_, written, now, expected) => {
      const decision = decide({ pools: [web(1, written)], claims: [failed] }, now);
      expect([codes(decision), created(decision).length]).toEqual([expected, expected.length === 0 ? 1 : 0]);
    });
  });

  test.each<[string, number | string, string[], number]>([
    ["as far as there is room", 3, ["a", "b"], 1],
    ["none without room", "2", ["a", "b"], 0],
    ["none, if the limit is below what is there", 1, ["a", "b"], 0],
    ["none, if nobody can read the limit", "many", [], 0],
  ])("beyond limits.nodes: %s", (_, nodes, names, count) => {
    const decision = decide({ pools: [web(5, { spec: { limits: { nodes } } })], claims: members(...names) });
    expect(created(decision)).toHaveLength(count);
    expect(codes(decision)).toEqual(["node-limit"]);
  });

  test("beyond limits.nodes, in which those that go count until they are gone", () => {
    const claims = [...members("a"), aClaim("b", { pool: "web", deletingSince: t0 })];
    const decision = decide({ pools: [web(2, { spec: { limits: { nodes: 2 } } })], claims });
    expect(created(decision)).toEqual([]);
    expect(decision.refusals[0]?.message).toBe(
      "Pool web lacks 1 of its 2 nodes: its limit is 2, and 2 are here, 1 of them going away.",
    );
  });
});

describe("a pool with too many nodes", () => {
  const claim = (name: string, options: Parameters<typeof aClaim>[1] = {}) => aClaim(name, { pool: "web", ...options });
  const proposed = (decision: Decision) => decision.proposals.map(({ node }) => node.name);
  const deleted = (decision: Decision) =>
    decision.commands.flatMap(command => (command.kind === "delete-claim" ? [command.claim.name] : []));

  test("says itself that a freeze keeps its surplus, also of claims with a node, which are proposed all the same", () => {
    const until = at("2h");
    const safety = aSafetyPolicy({ freeze: { reason: "a launch", until: formatTime(until) } });
    const decision = decide({
      pools: [web(1)],
      claims: [claim("a"), claim("b")],
      nodes: [aNode("a"), aNode("b")],
      safety,
    });
    expect(proposed(decision)).toEqual(["a"]);
    expect(decision.wakeAt).toBe(until);
    expect(decision.refusals).toMatchObject([{ subject: "pool/web", code: "frozen", until }]);
    expect(decision.refusals[0]?.message).toMatch(/^Pool web keeps 1 too many: SafetyPolicy default freezes/);
  });

  test("deletes no claim without a node either while a freeze holds", () => {
    const world = { pools: [web(0)], claims: [claim("a", { stage: "launched" })] };
    expect(deleted(decide(world))).toEqual(["a"]);
    const until = at("2h");
    const frozen = { ...world, safety: aSafetyPolicy({ freeze: { reason: "a launch", until: formatTime(until) } }) };
    const held = decide(frozen);
    expect([deleted(held), codes(held), held.wakeAt]).toEqual([[], ["frozen"], until]);
    expect(deleted(decide(frozen, until))).toEqual(["a"]);
  });

  test("proposes a node that is too many, with its evidence", () => {
    const decision = decide({
      pools: [web(1, { generation: 4 })],
      claims: [claim("a"), claim("b", { createdAt: at("5m") })],
      nodes: [aNode("a"), aNode("b")],
    });
    const message = "Pool web has 1 more than its spec.replicas of 1; node a is empty.";
    expect(decision).toEqual({
      ...nothing,
      proposals: [
        {
          node: { name: "a", uid: "a-uid" },
          claim: { name: "a", uid: "a-claim-uid" },
          action: "ScaleDown",
          method: "Terminate",
          termination: "Graceful",
          askedBy: { kind: "NodePool", name: "web", uid: "web-pool-uid" },
          policy: { kind: "NodePool", name: "web", path: "spec.replicas", generation: 4 },
          message,
          evidence: [{ kind: "SurplusReplica", message }],
          dueAt: at("5m"),
        },
      ],
    });
  });

  const everyKind: { claims: ClaimView[]; nodes: ReturnType<typeof aNode>[]; pods: ReturnType<typeof aPod>[] } = {
    claims: [
      claim("minds-by-node"),
      claim("minds-by-pod"),
      claim("busy-old"),
      claim("busy-young", { createdAt: at("1m") }),
      claim("empty"),
      claim("unregistered", { stage: "launched" }),
      claim("joining", { stage: "launched", createdAt: at("1m") }),
      claim("unlaunched", { stage: "new", createdAt: at("2m") }),
    ],
    nodes: [
      aNode("minds-by-node", { annotations: { "karpenter.sh/do-not-disrupt": "true" } }),
      ...["minds-by-pod", "busy-old", "busy-young", "empty", "joining"].map(name => aNode(name)),
    ],
    pods: [
      aPod("p1", { on: "minds-by-node" }),
      aPod("p2", { on: "minds-by-pod", doNotDisrupt: "10m" }),
      aPod("p3", { on: "busy-old", doNotDisrupt: "false" }),
      aPod("p4", { on: "busy-young" }),
      aPod("p5", { on: "empty", tier: "daemon" }),
      aPod("p6", { on: "empty", tier: "critical-daemon" }),
      aPod("p7", { on: "empty", isStatic: true }),
      aPod("p8", { on: "empty", phase: "Succeeded" }),
      aPod("p9", { on: "empty", deletionAt: at("1m") }),
    ],
  };

  test.each<[number, string[], string[]]>([
    [7, ["unlaunched"], []],
    [6, ["unlaunched", "unregistered"], []],
    [5, ["unlaunched", "unregistered"], ["joining"]],
    [4, ["unlaunched", "unregistered"], ["joining", "empty"]],
    [3, ["unlaunched", "unregistered"], ["joining", "empty", "busy-old"]],
    [2, ["unlaunched", "unregistered"], ["joining", "empty", "busy-old", "busy-young"]],
    [1, ["unlaunched", "unregistered"], ["joining", "empty", "busy-old", "busy-young", "minds-by-node"]],
    [
      0,
      ["unlaunched", "unregistered"],
      ["joining", "empty", "busy-old", "busy-young", "minds-by-node", "minds-by-pod"],
    ],
  ])("at %i replicas lets those go that are missed least, and the oldest of them first", (count, gone, asked) => {
    const decision = decide({ pools: [web(count)], ...everyKind });
    expect([deleted(decision), proposed(decision)]).toEqual([gone, asked]);
    expect(decision.refusals).toEqual([]);
  });

  test.each<[string, ReturnType<typeof aPod>[]]>([
    ["the fewest pods", [aPod("p1", { on: "old" }), aPod("p2", { on: "old" }), aPod("p3", { on: "young" })]],
    ["pods that mind least", [aPod("p1", { on: "old", evictionCost: 10 }), aPod("p2", { on: "young" })]],
    [
      "pods that would rather go, however many",
      [aPod("p1", { on: "old" }), ...["p2", "p3"].map(name => aPod(name, { on: "young", evictionCost: 0.25 }))],
    ],
  ])("of nodes in use lets the one go first with %s, and not the oldest", (_, pods) => {
    const decision = decide({
      pools: [web(1)],
      claims: [claim("old"), claim("young", { createdAt: at("1m") })],
      nodes: [aNode("old"), aNode("young")],
      pods,
    });
    expect(proposed(decision)).toEqual(["young"]);
  });

  test("waits for the pod of a StatefulSet that is ending: its node is not empty", () => {
    const decision = decide({
      pools: [web(1)],
      claims: [claim("a"), claim("b")],
      nodes: [aNode("a"), aNode("b")],
      pods: [aPod("p", { on: "a", ownerKind: "StatefulSet", deletionAt: at("1m") })],
    });
    expect(proposed(decision)).toEqual(["b"]);
  });

  test("counts those that go already, and no other in their place", () => {
    const pools = [web(1)];
    const claims = [claim("a"), claim("b"), claim("c", { deletingSince: t0 })];
    const nodes = [aNode("a"), aNode("b"), aNode("c")];
    const going = anAction("x", { node: "b", phase: "Pending", spec: { action: "ScaleDown" } });
    expect(decide({ pools, claims, nodes, actions: [going] })).toEqual(nothing);
    expect(proposed(decide({ pools: [web(0)], claims, nodes, actions: [going] }))).toEqual(["a"]);
  });

  test("does not count twice what replaces one that drifts: as many stay, whichever of the two is there", () => {
    const nodes = ["a", "b"].map(name => aNode(name));
    const spec = { action: "Drift", batch: "drift-1" } as const;
    const drifting = anAction("drift", {
      node: "a",
      phase: "WaitingForReplacement",
      spec: { ...spec, replacements: [{ name: "r" }] },
    });
    const replacement = aClaim("r", { pool: "web", stage: "new" });
    const scene = { pools: [web(2)], nodes, actions: [drifting] };
    for (const claims of [members("a", "b"), [...members("a", "b"), replacement]]) {
      expect(decide({ ...scene, claims })).toEqual(nothing);
    }
    const gone = [aClaim("a", { pool: "web", deletingSince: t0 }), ...members("b"), replacement];
    expect(decide({ ...scene, claims: gone })).toEqual(nothing);
    // Given up: what was made for nothing is what would be missed least.
    const over = anAction("drift", { node: "a", phase: "Abandoned", spec: { ...spec, replacements: [{ name: "r" }] } });
    const { commands } = decide({ ...scene, claims: [...members("a", "b"), replacement], actions: [over] });
    expect(commands).toMatchObject([{ kind: "delete-claim", claim: { name: "r" } }]);
  });

  test("does not take a reboot for going, nor a dry run", () => {
    const world = { pools: [web(0)], claims: [claim("a")], nodes: [aNode("a")] };
    const reboot = anAction("x", { node: "a", spec: { action: "Repair", method: "Reboot" } });
    const dry = anAction("y", { node: "a", phase: "DryRun", spec: { dryRun: true } });
    expect(proposed(decide({ ...world, actions: [reboot] }))).toEqual(["a"]);
    expect(proposed(decide({ ...world, actions: [dry] }))).toEqual(["a"]);
  });

  test("leaves a claim alone of which nobody can tell what runs on it, and says so", () => {
    const claims = [claim("lost"), claim("twice"), { ...claim("asked-for"), uid: "", isProvisional: true as const }];
    const nodes = [aNode("twice"), aNode("other", { providerID: "test:///twice" })];
    const decision = decide({ pools: [web(1)], claims, nodes });
    expect([decision.commands, decision.proposals, codes(decision)]).toEqual([[], [], ["surplus-in-doubt"]]);
    expect(decision.refusals[0]?.message).toContain("asked-for, lost, twice");
  });

  test("in dry run proposes in dry run and deletes nothing", () => {
    const claims = [claim("a"), claim("b", { stage: "new" })];
    const decision = decide({ pools: [web(0, { spec: { dryRun: true } })], claims, nodes: [aNode("a")] });
    expect(decision.proposals.map(({ dryRun }) => dryRun)).toEqual([true]);
    expect([decision.commands, codes(decision)]).toEqual([[], ["dry-run"]]);
  });
});
