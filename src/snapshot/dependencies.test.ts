import { describe, expect, test } from "vitest";
import { formatTime } from "../api/time.ts";
import {
  aBudget,
  aClaim,
  aCondition,
  anAction,
  anAttachment,
  aNode,
  aPod,
  aPool,
  aSafetyPolicy,
  at,
  aWorld,
  t0,
  type WorldOptions,
} from "../../test/builders.ts";
import type { ClusterPicture } from "./cluster-picture.ts";
import type { Subject } from "./picture.ts";
import type { ActionView } from "./views.ts";

/** Two pools; a is going, b and c stay, h was made by hand, n has no instance yet, and u is nobody's node. */
const world: WorldOptions = {
  pools: [aPool("p", { spec: { replicas: 3 } }), aPool("q")],
  claims: [
    aClaim("a", { pool: "p", deletingSince: t0 }),
    aClaim("b", { pool: "p" }),
    aClaim("c", { pool: "q" }),
    aClaim("h"),
    aClaim("n", { pool: "p", stage: "new" }),
  ],
  nodes: [aNode("a"), aNode("b"), aNode("c"), aNode("h"), aNode("u", { providerID: "" })],
  pods: [
    aPod("web", { on: "a", volumeClaims: ["data"] }),
    aPod("web", { on: "b", namespace: "other" }),
    aPod("api", { on: "c", namespace: "other" }),
  ],
  actions: [anAction("going", { node: "a", spec: { nodePool: "p" } })],
  budgets: [aBudget("web")],
  attachments: [anAttachment("v", { on: "b" })],
  volumeClaims: [{ namespace: "default", name: "data", volume: "v" }],
};

const failure = { at: t0, retryAt: at("1s"), count: 1, reason: "Timeout", message: "no answer" };

const lost = (name: string, pool: string) =>
  aClaim(name, {
    pool,
    conditions: [
      ...aClaim(name).conditions.filter(({ type }) => type !== "Ready"),
      aCondition("Ready", "False", { reason: "NodeNotFound" }),
    ],
  });

const cases: [string, (picture: ClusterPicture) => void, Subject[]][] = [
  ["a node's taint: itself and its claim", p => p.put("node", aNode("b", { isCordoned: true })), ["node/b", "claim/b"]],
  [
    "a node that turns sick: the cluster too",
    p => p.put("node", aNode("b", { ready: "False" })),
    ["node/b", "claim/b", "cluster"],
  ],
  [
    "another condition of a node is not the cluster's affair",
    p => p.put("node", aNode("b", { conditions: [aCondition("Ready", "True"), aCondition("DiskPressure", "True")] })),
    ["node/b", "claim/b"],
  ],
  [
    "a node with an action: the action",
    p => p.put("node", aNode("a", { isCordoned: true })),
    ["node/a", "claim/a", "action/going"],
  ],
  [
    "a new node that nobody made: itself and the cluster",
    p => p.put("node", aNode("v", { providerID: "" })),
    ["node/v", "cluster"],
  ],
  [
    "a node that takes another's providerID: both claims, and whoever cannot be told from it any more",
    p => p.put("node", aNode("b", { providerID: "test:///c" })),
    ["node/b", "node/c", "claim/b", "claim/c", "cluster"],
  ],
  [
    "a node under a known name is another node: the old one's action",
    p => p.put("node", aNode("a", { uid: "new" })),
    ["node/a", "claim/a", "action/going", "cluster"],
  ],
  [
    "a claim: itself and its node",
    p => p.put("claim", aClaim("c", { pool: "q", generation: 2 })),
    ["claim/c", "node/c"],
  ],
  [
    "how much a claim has: its pool too",
    p => p.put("claim", aClaim("c", { pool: "q", status: { capacity: { cpu: "4" } } })),
    ["claim/c", "node/c", "pool/q"],
  ],
  [
    "how the launch of a claim ended: its pool too",
    p => p.put("claim", aClaim("n", { pool: "p", stage: "new", conditions: [aCondition("Launched", "False")] })),
    ["claim/n", "pool/p", "cluster"],
  ],
  [
    "why a claim is not launched: its pool too",
    p => p.put("claim", aClaim("n", { pool: "p", stage: "new", conditions: [aCondition("Launched", "Unknown")] })),
    ["claim/n", "pool/p", "cluster"],
  ],
  [
    "a claim whose node vanished: the others that say so too, of whatever pool",
    p => {
      p.put("claim", lost("d", "elsewhere"));
      p.takeDirty();
      p.put("claim", lost("c", "q"));
    },
    ["claim/c", "claim/d", "node/c"],
  ],
  [
    "one more claim: those whose nodes vanished, which are a smaller part of all now",
    p => {
      p.put("claim", lost("d", "elsewhere"));
      p.takeDirty();
      p.put("claim", aClaim("e", { pool: "q" }));
    },
    ["claim/d", "claim/e", "pool/q", "cluster"],
  ],
  [
    "a freeze: those whose nodes vanished, which may go without an action",
    p => {
      p.put("claim", lost("c", "q"));
      p.takeDirty();
      p.put("safety-policy", aSafetyPolicy({ freeze: { reason: "audit" } }));
    },
    ["claim/c", "claim/n", "pool/p", "pool/q", "cluster", "action/going"],
  ],
  [
    "a claim that is launched: its pool, which counts it, and the cluster",
    p => p.put("claim", aClaim("n", { pool: "p", stage: "launched" })),
    ["claim/n", "pool/p", "cluster"],
  ],
  [
    "a claim that starts to go: what is to begin in its pool by choice, whose surplus is another; not its repairs",
    p => {
      p.put("action", anAction("surplus", { node: "c", spec: { action: "ScaleDown", nodePool: "p" } }));
      const begun = { action: "ScaleDown", nodePool: "p" } as const;
      p.put("action", anAction("begun", { node: "d", spec: begun, status: { startedAt: formatTime(t0) } }));
      p.takeDirty();
      p.put("claim", aClaim("b", { pool: "p", deletingSince: t0 }));
    },
    ["claim/b", "pool/p", "node/b", "cluster", "action/surplus"],
  ],
  [
    "a claim with an action: the action",
    p => p.put("claim", aClaim("a", { pool: "p", deletingSince: t0, terminationAt: at("1m") })),
    ["claim/a", "node/a", "action/going"],
  ],
  [
    "a second claim of one instance: the first one too",
    p => p.put("claim", aClaim("x", { providerID: "test:///c" })),
    ["claim/x", "claim/c", "node/c", "cluster"],
  ],
  ["a pod: its node and the claim", p => p.put("pod", aPod("new", { on: "c" })), ["claim/c", "node/c"]],
  [
    "a pod where a pool has replicas: the claim, and not the node, which nobody would choose for its pods",
    p => p.put("pod", aPod("new", { on: "b" })),
    ["claim/b"],
  ],
  [
    "the same on one that has drifted: the node too",
    p => {
      p.put("claim", aClaim("b", { pool: "p", conditions: [aCondition("Drifted", "True")] }));
      p.takeDirty();
      p.put("pod", aPod("new", { on: "b" }));
    },
    ["claim/b", "node/b"],
  ],
  [
    "what a pod asks for: the claim of its node, and not the node, which it does not hold by that",
    p => p.put("pod", { ...(p.pod("default", "web") ?? aPod("web")), volumeClaims: ["other"] }),
    ["claim/a"],
  ],
  [
    "a pod that gets ready: the node, and not its claim",
    p => p.put("pod", { ...aPod("api", { on: "c", namespace: "other" }), isReady: false }),
    ["node/c"],
  ],
  [
    "the same on a node that is going: its claim too",
    p => p.put("pod", { ...(p.pod("default", "web") ?? aPod("web")), isReady: false }),
    ["claim/a", "node/a"],
  ],
  [
    "a pod that has ended: node and claim",
    p => p.put("pod", aPod("api", { on: "c", namespace: "other", phase: "Succeeded" })),
    ["claim/c", "node/c"],
  ],
  [
    "a pod that is being deleted: node and claim",
    p => p.put("pod", aPod("api", { on: "c", namespace: "other", deletionAt: at("1m") })),
    ["claim/c", "node/c"],
  ],
  ["a pod that nobody has placed: nobody", p => p.put("pod", aPod("new")), []],
  ["a pod on a node without a claim: nobody", p => p.put("pod", aPod("new", { on: "u" })), []],
  [
    "a pod that goes from a node that is going: node and claim, and the search for another node",
    p => p.remove("pod", aPod("web", { on: "a" })),
    ["claim/a", "node/a", "cluster", "pod/default/web"],
  ],
  ["the same pod once more: nobody", p => p.put("pod", p.pod("default", "web") ?? aPod("web")), []],
  [
    "a budget that lets pods go again: drains that it held up, and the nodes of its pods",
    p => p.put("disruption-budget", aBudget("web", { disruptionsAllowed: 1 })),
    ["claim/a", "node/a"],
  ],
  [
    "a budget over pods elsewhere: of a pool with replicas nobody goes by choice, unless it has drifted",
    p => {
      for (const on of ["b", "c", "u"]) p.put("pod", aPod(`api-${on}`, { on, labels: { app: "api" } }));
      p.put("disruption-budget", aBudget("api"));
      p.takeDirty();
      p.put("disruption-budget", aBudget("api", { disruptionsAllowed: 1 }));
    },
    ["claim/a", "node/c"],
  ],
  [
    "a budget over pods of one that has drifted: its node too",
    p => {
      p.put("pod", aPod("api", { on: "b", labels: { app: "api" } }));
      p.put("claim", aClaim("b", { pool: "p", conditions: [aCondition("Drifted", "True")] }));
      p.put("disruption-budget", aBudget("api"));
      p.takeDirty();
      p.put("disruption-budget", aBudget("api", { disruptionsAllowed: 1 }));
    },
    ["claim/a", "node/b"],
  ],
  [
    "how many more a budget lets go: drains that it may hold up",
    p => {
      p.put("disruption-budget", aBudget("web", { disruptionsAllowed: 1 }));
      p.takeDirty();
      p.put("disruption-budget", aBudget("web", { disruptionsAllowed: 2 }));
    },
    ["claim/a"],
  ],
  [
    "a budget of a namespace where nothing is drained: nobody",
    p => p.put("disruption-budget", aBudget("w", { namespace: "other" })),
    [],
  ],
  [
    "an attachment: the claim of its node",
    p => p.put("attachment", anAttachment("v", { on: "b", deletingSince: t0 })),
    ["claim/b"],
  ],
  [
    "an attachment on another node: both",
    p => p.put("attachment", anAttachment("v", { on: "c" })),
    ["claim/b", "claim/c"],
  ],
  [
    "a volume claim: drains of pods that use it",
    p => p.put("volume-claim", { namespace: "default", name: "data" }),
    ["claim/a"],
  ],
  ["a volume claim that nobody uses: nobody", p => p.put("volume-claim", { namespace: "default", name: "other" }), []],
  [
    "what a pool says: the pool, its claims and nodes, its open actions, the cluster",
    p => p.put("pool", aPool("p", { spec: { replicas: 1 }, generation: 2 })),
    ["pool/p", "claim/a", "claim/b", "claim/n", "node/a", "node/b", "action/going", "cluster"],
  ],
  [
    "a pool that is not to be repaired: the same",
    p => p.put("pool", aPool("p", { spec: { replicas: 3 }, annotations: { "karpenter.sh/do-not-repair": "true" } })),
    ["pool/p", "claim/a", "claim/b", "claim/n", "node/a", "node/b", "action/going", "cluster"],
  ],
  [
    "what a pool counts: the pool alone",
    p => p.put("pool", aPool("p", { spec: { replicas: 3 }, status: { nodes: 3 } })),
    ["pool/p"],
  ],
  [
    "how a pool's launches go: those that wait for one",
    p =>
      p.put(
        "pool",
        aPool("p", {
          spec: { replicas: 3 },
          status: { launchBackoff: { failures: 1, until: "2026-01-01T00:01:00Z" } },
        }),
      ),
    ["pool/p", "claim/n"],
  ],
  [
    "an action: itself, its node, claim and pool, the cluster",
    p => p.put("action", anAction("going", { node: "a", phase: "Done", spec: { nodePool: "p" } })),
    ["action/going", "node/a", "claim/a", "pool/p", "cluster"],
  ],
  ["a claim that an action waits for: the action", p => replacing(p), ["claim/r", "node/r", "cluster", "action/drift"]],
  [
    "the safety policy: the cluster, every pool, what is open and claims that have not registered",
    p => p.put("safety-policy", aSafetyPolicy({ dryRun: true })),
    ["cluster", "pool/p", "pool/q", "action/going", "claim/n"],
  ],
  [
    "the provider: pools and claims, which may have drifted",
    p => p.providerChanged(),
    ["cluster", "pool/p", "pool/q", "claim/a", "claim/b", "claim/c", "claim/h", "claim/n"],
  ],
  [
    "an instance: its claim and node, the action on it, the cluster",
    p => p.setInstance({ providerID: "test:///a", state: "gone", seenAt: t0 }),
    ["cluster", "claim/a", "node/a", "action/going"],
  ],
  ["the list of instances: the cluster", p => p.setInstanceList({ at: t0, instances: [] }), ["cluster"]],
  [
    "a stale picture: whatever is destructive",
    p => p.setStaleness({ resource: "nodes", message: "silent" }),
    ["cluster", "action/going", "claim/a", "claim/n"],
  ],
  ["a picture that is as fresh as before: nobody", p => p.setStaleness(undefined), []],
  ["a failure on a claim: claim and pool", p => p.setFailure("claim/b", failure), ["claim/b", "pool/p"]],
  ["on a claim that is gone: that name", p => p.setFailure("claim/gone", failure), ["claim/gone"]],
  ["on a node: node and claim", p => p.setFailure("node/b", failure), ["node/b", "claim/b"]],
  [
    "on a node that is under an action: the action too",
    p => p.setFailure("node/a", failure),
    ["node/a", "claim/a", "action/going"],
  ],
  ["on a pod: the claim of its node", p => p.setFailure("pod/default/web", failure), ["claim/a"]],
  [
    "on an instance: its claim and node, and the cluster",
    p => p.setFailure("instance/test:///c", failure),
    ["claim/c", "node/c", "cluster"],
  ],
  [
    "on an action: as if it had changed",
    p => p.setFailure("action/going", failure),
    ["action/going", "node/a", "claim/a", "pool/p", "cluster"],
  ],
  [
    "one of several actions that go together: the others, and what replaces them",
    p => p.put("action", { ...together(p), resourceVersion: "2", status: { phase: "Abandoned" } }),
    ["action/move-y", "action/move-z", "node/z", "claim/r", "cluster"],
  ],
  [
    "a node that was to go with others: what is to replace them may be wanted no more",
    p => {
      together(p);
      p.put("node", aNode("z"));
    },
    ["action/move-y", "action/move-z", "node/z", "claim/r", "cluster"],
  ],
  ["on a pool: the pool", p => p.setFailure("pool/q", failure), ["pool/q"]],
  ["on the safety policy or the list: the cluster", p => p.setFailure("instances", failure), ["cluster"]],
  ["a failure that was none: nobody", p => p.setFailure("claim/b", undefined), []],
];

/** Nodes y and z go together, r comes first, which the action on y names. */
function together(picture: ClusterPicture): ActionView {
  const of = (node: string, spec: Partial<ActionView["spec"]>) =>
    anAction(`move-${node}`, { node, spec: { batch: "b", claim: { name: node, uid: node }, ...spec } });
  const z = of("z", {});
  picture.put("action", of("y", { replacements: [{ name: "r" }] }));
  picture.put("action", z);
  picture.takeDirty();
  return z;
}

function replacing(picture: ClusterPicture): void {
  const spec = { replacements: [{ name: "r" }] };
  picture.put("action", anAction("drift", { node: "elsewhere", spec: { ...spec, claim: { name: "e", uid: "e" } } }));
  picture.put("node", aNode("r"));
  picture.takeDirty();
  picture.put("claim", aClaim("r"));
}

describe("who is looked at again after", () => {
  test.each(cases)("%s", (_, change, expected) => {
    const picture = aWorld(world);
    change(picture);
    expect([...picture.takeDirty()].sort()).toEqual(expected.sort());
    expect(picture.takeDirty()).toEqual(new Set());
  });
});

describe("while a pool has more claims than replicas, it is looked at again after", () => {
  test.each<[string, (picture: ClusterPicture) => void, Subject[]]>([
    ["a pod on its nodes", p => p.put("pod", aPod("new", { on: "b" })), ["claim/b", "pool/p"]],
    ["a taint of a node", p => p.put("node", aNode("b", { isCordoned: true })), ["node/b", "claim/b", "pool/p"]],
    [
      "any change of a claim",
      p => p.put("claim", aClaim("b", { pool: "p", annotations: { a: "b" } })),
      ["claim/b", "node/b", "pool/p"],
    ],
  ])("%s", (_, change, expected) => {
    const picture = aWorld({ ...world, pools: [aPool("p", { spec: { replicas: 1 } })] });
    change(picture);
    expect(picture.takeDirty()).toEqual(new Set(expected));
  });
});

test.each([
  ["one that is not of age: nobody", "57m", []],
  ["one that is, by a clock that may have been a little ahead: its node", "59m", ["node/b"]],
])("a budget over pods of a pool with replicas, on %s", (_, age, expected) => {
  const expiring = aClaim("b", { pool: "p" });
  const picture = aWorld({
    pools: [aPool("p", { spec: { replicas: 3 } })],
    claims: [{ ...expiring, spec: { ...expiring.spec, expireAfter: "1h" } }],
    nodes: [aNode("b")],
    pods: [aPod("web", { on: "b", labels: { app: "web" } })],
    budgets: [aBudget("web")],
    now: () => at(age),
  });
  picture.put("disruption-budget", aBudget("web", { disruptionsAllowed: 1 }));
  expect([...picture.takeDirty()]).toEqual(expected);
});

test("a claim whose instance is not listed is the cluster's affair in all that it says", () => {
  const picture = aWorld(world);
  picture.setInstanceList({ at: at("1m"), instances: [] });
  picture.takeDirty();
  picture.put("claim", aClaim("c", { pool: "q", generation: 2 }));
  expect(picture.takeDirty()).toEqual(new Set(["claim/c", "node/c", "cluster"]));
});

test("with another provider everything is looked at again", () => {
  const picture = aWorld(world);
  picture.setProvider({ ...picture.provider, name: "other" });
  const kinds = ["claim", "node", "pool", "action", "cluster"] as const;
  expect(picture.takeDirty()).toEqual(new Set(kinds.flatMap(kind => picture.subjects(kind))));
});
