import { describe, expect, test } from "vitest";
import {
  aBudget,
  aClaim,
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
import { formatTime } from "../api/time.ts";
import { ClusterPicture } from "./cluster-picture.ts";
import type { NodeView } from "./views.ts";

describe("which claim and which node belong together", () => {
  const node = aNode("a");

  test("is said by the providerID", () => {
    const picture = aWorld({ nodes: [node], claims: [aClaim("a"), aClaim("b")] });
    expect(picture.claimOf(node)?.name).toBe("a");
    expect(picture.nodesOf(aClaim("a"))).toEqual([node]);
    expect(picture.nodesOf(aClaim("b"))).toEqual([]);
  });

  test("is nobody's if two claims have it", () => {
    const picture = aWorld({ nodes: [node], claims: [aClaim("a"), aClaim("b", { providerID: "test:///a" })] });
    expect(picture.claimOf(node)).toBeUndefined();
  });

  test("may be several nodes", () => {
    const twin = aNode("twin", { providerID: "test:///a" });
    const picture = aWorld({ nodes: [twin, node], claims: [aClaim("a", { pool: "p" })] });
    expect(picture.nodesOf(aClaim("a"))).toEqual([node, twin]);
    expect(picture.nodesOfPool("p")).toEqual([node, twin]);
  });

  test("is nobody where there is no providerID on either side", () => {
    const bare = aNode("bare", { providerID: "" });
    const picture = aWorld({ nodes: [bare], claims: [aClaim("new", { stage: "new" })] });
    expect(picture.claimOf(bare)).toBeUndefined();
    expect(picture.nodesOf(aClaim("new", { stage: "new" }))).toEqual([]);
  });

  test("follows a providerID that comes later, and one that moves", () => {
    const picture = aWorld({ nodes: [node], claims: [aClaim("a", { stage: "new" })] });
    expect(picture.claimOf(node)).toBeUndefined();
    picture.put("claim", aClaim("a", { stage: "launched" }));
    expect(picture.claimOf(node)?.name).toBe("a");
    picture.put("node", aNode("a", { providerID: "test:///other" }));
    expect(picture.nodesOf(aClaim("a"))).toEqual([]);
  });
});

describe("what the server has answered to us", () => {
  const metadata = (resourceVersion: string) => {
    return { name: "x", uid: "u", resourceVersion, creationTimestamp: formatTime(t0) };
  };
  const raw = (resourceVersion: string, phase: string) => {
    const object = { apiVersion: "fettle.dev/v1alpha1", kind: "NodeAction", metadata: metadata(resourceVersion) };
    return { ...object, spec: anAction("x").spec, status: { phase } };
  };

  test("is no news when the watch brings it, and stays the same view; what comes after it is", () => {
    const picture = aWorld();
    const { project, handlers } = picture.feed("action");
    picture.answered("action", raw("1", "Pending"));
    picture.answered("action", raw("2", "Running"));
    const shown = picture.action("x");
    picture.takeDirty();
    const first = project(raw("1", "Pending"), undefined);
    handlers.added(first);
    const second = project(raw("2", "Running"), first);
    handlers.updated(second);
    expect(picture.takeDirty()).toEqual(new Set());
    expect([second, picture.action("x")]).toEqual([shown, shown]);
    expect(second).toBe(shown);
    handlers.updated(project(raw("3", "Done"), second));
    expect(picture.takeDirty()).toContain("action/x");
  });

  test("of a pool's status leaves what its spec means as it is", () => {
    const pool = { apiVersion: "karpenter.sh/v1", kind: "NodePool", spec: { replicas: 3 } };
    const picture = aWorld();
    picture.answered("pool", { ...pool, metadata: { ...metadata("1"), generation: 1 } });
    const { effective } = picture.pool("x") ?? {};
    picture.answered("pool", { ...pool, metadata: { ...metadata("2"), generation: 1 }, status: { nodes: 1 } });
    expect(picture.pool("x")?.status.nodes).toBe(1);
    expect(picture.pool("x")?.effective).toBe(effective);
    const other = { ...pool, spec: { replicas: 4 }, metadata: { ...metadata("3"), generation: 2 } };
    picture.answered("pool", other);
    expect(picture.pool("x")?.effective.replicas).toBe(4);
  });
});

describe("the zone of a node", () => {
  test("is its claim's word before its own label", () => {
    const picture = aWorld({
      nodes: [aNode("a", { zone: "lie" }), aNode("b", { zone: "z2" })],
      claims: [aClaim("a", { zone: "z1" }), aClaim("b")],
    });
    expect(["lie", "z1", "z2"].map(zone => picture.nodeCountIn(zone))).toEqual([0, 1, 1]);
  });

  test("moves with the claim", () => {
    const picture = aWorld({ nodes: [aNode("a", { zone: "label" })], claims: [aClaim("a", { zone: "z1" })] });
    picture.remove("claim", aClaim("a"));
    expect(["label", "z1"].map(zone => picture.nodeCountIn(zone))).toEqual([1, 0]);
    picture.remove("node", aNode("a"));
    expect(picture.nodeCountIn("label")).toBe(0);
  });
});

describe("the ledger", () => {
  const going = (options: WorldOptions) => aWorld(options).departures();
  const deletedNode = aNode("a", { deletingSince: t0 });
  const deletedClaim = aClaim("a", { deletingSince: t0, pool: "p", zone: "z" });

  test.each<[string, WorldOptions]>([
    ["its own deletion", { nodes: [deletedNode], claims: [aClaim("a")] }],
    ["its claim's deletion", { nodes: [aNode("a")], claims: [deletedClaim] }],
    ["an open action", { nodes: [aNode("a")], claims: [aClaim("a")], actions: [anAction("x")] }],
    ["all of them at once", { nodes: [deletedNode], claims: [deletedClaim], actions: [anAction("x"), anAction("y")] }],
    ["an action on a node that is gone", { actions: [anAction("x")] }],
    ["an action and a deleted claim of a node that is gone", { claims: [deletedClaim], actions: [anAction("x")] }],
    ["a deleted claim whose node cannot be seen", { claims: [deletedClaim] }],
    [
      "the deletion of one of two claims that have it",
      { nodes: [aNode("a")], claims: [deletedClaim, aClaim("b", { providerID: "test:///a" })] },
    ],
  ])("counts a node once: %s", (_, options) => expect(going(options)).toHaveLength(1));

  test.each<[string, WorldOptions]>([
    ["a node that stays", { nodes: [aNode("a")], claims: [aClaim("a")] }],
    [
      "an action that is over",
      {
        nodes: [aNode("a")],
        actions: [
          anAction("x", { phase: "Done" }),
          anAction("y", { phase: "Failed" }),
          anAction("z", { phase: "Abandoned" }),
        ],
      },
    ],
    [
      "a dry run",
      {
        nodes: [aNode("a")],
        actions: [anAction("x", { phase: "DryRun" }), anAction("y", { phase: "Pending", spec: { dryRun: true } })],
      },
    ],
    ["a claim that goes and never had a node", { claims: [aClaim("a", { stage: "launched", deletingSince: t0 })] }],
    [
      "an action on another node of that name",
      { nodes: [aNode("a")], claims: [aClaim("a")], actions: [anAction("x", { phase: "Done" })] },
    ],
  ])("counts none: %s", (_, options) => expect(going(options)).toEqual([]));

  test("says whose node it is and who takes it", () => {
    const action = anAction("x");
    expect(going({ nodes: [aNode("a")], claims: [deletedClaim], actions: [action] })).toEqual([
      { node: { name: "a", uid: "a-uid" }, claim: deletedClaim, pool: "p", zone: "z", action },
    ]);
  });

  test("knows a node that cannot be seen by its claim", () => {
    expect(going({ claims: [deletedClaim] })).toEqual([
      { node: { name: "a", uid: "a-claim-uid" }, claim: deletedClaim, pool: "p", zone: "z" },
    ]);
  });

  test("believes the action where nobody else knows pool and zone", () => {
    const action = anAction("x", { spec: { nodePool: "p", zone: "z" } });
    expect(going({ actions: [action] })).toEqual([{ node: { name: "a", uid: "a-uid" }, pool: "p", zone: "z", action }]);
  });

  test("counts a node of the same name with another uid as another node", () => {
    const picture = aWorld({ nodes: [aNode("a")], actions: [anAction("x")] });
    picture.remove("node", aNode("a"));
    picture.put("node", aNode("a", { uid: "successor" }));
    expect(picture.departures().map(({ node }) => node.uid)).toEqual(["a-uid"]);
    expect(picture.openActionOn("successor")).toBeUndefined();
  });

  test("lets a node go once its action is over and nothing is left of it", () => {
    const picture = aWorld({ nodes: [deletedNode], claims: [deletedClaim], actions: [anAction("x")] });
    picture.remove("node", deletedNode);
    picture.remove("claim", deletedClaim);
    expect(picture.departureCount).toBe(1);
    picture.put("action", anAction("x", { phase: "Done" }));
    expect(picture.departureCount).toBe(0);
  });
});

describe("actions", () => {
  test("of several open ones on a node the oldest has it", () => {
    const picture = aWorld({ actions: [anAction("b", { createdAt: at("1s") }), anAction("c", { createdAt: t0 })] });
    expect(picture.openActionOn("a-uid")?.name).toBe("c");
  });

  test("without a phase yet is open", () => {
    const { status: _, ...rest } = anAction("x");
    expect(aWorld({ actions: [{ ...rest, status: {} }] }).openActions()).toHaveLength(1);
  });

  test("dry runs stand apart, until they are closed", () => {
    const run = anAction("x", { phase: "DryRun", spec: { dryRun: true } });
    const closed = anAction("y", { phase: "Abandoned", spec: { dryRun: true } });
    const picture = aWorld({ actions: [run, closed] });
    expect(picture.dryRunsOn("a-uid")).toEqual([run]);
    expect(picture.finishedSince(0)).toEqual([]);
  });

  test("finished ones come by the time they finished, from that very instant on", () => {
    const done = (name: string, finished: string) =>
      anAction(name, { phase: "Done", status: { finishedAt: formatTime(at(finished)) } });
    const picture = aWorld({ actions: [done("late", "3m"), done("early", "1m"), done("b", "2m"), done("a", "2m")] });
    const since = (after: number) => picture.finishedSince(after).map(({ name }) => name);
    expect(since(0)).toEqual(["early", "a", "b", "late"]);
    expect(since(at("2m"))).toEqual(["a", "b", "late"]);
    expect(since(at("2m") + 1)).toEqual(["late"]);
    picture.remove("action", done("a", "2m"));
    expect(since(at("1m") + 1)).toEqual(["b", "late"]);
  });

  test("one that is over at no time that can be read ended when it was made", () => {
    const picture = aWorld({
      actions: [anAction("x", { phase: "Done", createdAt: at("5m"), status: { finishedAt: "late" } })],
    });
    expect(picture.finishedSince(at("5m"))).toHaveLength(1);
    expect(picture.finishedSince(at("5m") + 1)).toHaveLength(0);
  });
});

describe("pods", () => {
  test("lie on their node, in the order of their uids, whoever came first", () => {
    const picture = aWorld({
      pods: [aPod("c", { on: "a" }), aPod("a", { on: "a" }), aPod("b", { on: "b" }), aPod("waiting")],
    });
    expect(picture.podsOn("a").map(({ name }) => name)).toEqual(["a", "c"]);
    picture.put("pod", aPod("waiting", { on: "a" }));
    expect(picture.podsOn("a").map(({ name }) => name)).toEqual(["a", "c", "waiting"]);
  });

  test("of the same name one after another are two", () => {
    const picture = aWorld({ pods: [aPod("web-0", { on: "a" })] });
    picture.put("pod", aPod("web-0", { on: "b", uid: "second" }));
    expect(picture.podsOn("a")).toEqual([]);
    expect(picture.podsOn("b").map(({ uid }) => uid)).toEqual(["second"]);
    picture.remove("pod", aPod("web-0", { on: "a" }));
    expect(picture.pod("default", "web-0")?.uid).toBe("second");
  });

  test("are under the budgets of their namespace that select them", () => {
    const budgets = [
      aBudget("web"),
      aBudget("all", { selector: {} }),
      aBudget("other", { selector: { matchLabels: { app: "db" } } }),
      aBudget("web", { namespace: "elsewhere", uid: "e" }),
    ];
    const picture = aWorld({ budgets: [...budgets, { ...aBudget("none"), selector: undefined }] });
    expect(picture.budgetsOver(aPod("web")).map(({ name }) => name)).toEqual(["all", "web"]);
    picture.remove("disruption-budget", aBudget("all", { selector: {} }));
    expect(picture.budgetsOver(aPod("web")).map(({ name }) => name)).toEqual(["web"]);
  });
});

test("volumes are known by claim, attachments by node", () => {
  const picture = aWorld({
    attachments: [anAttachment("v2", { on: "a" }), anAttachment("v1", { on: "a" })],
    volumeClaims: [{ namespace: "n", name: "data", volume: "v1" }],
  });
  expect(picture.attachmentsOn("a").map(({ name }) => name)).toEqual(["v1", "v2"]);
  expect(picture.volumeOf("n", "data")).toBe("v1");
  expect(picture.volumeOf("m", "data")).toBeUndefined();
});

test("without a SafetyPolicy its defaults hold, and again when it goes", () => {
  const picture = aWorld();
  expect(picture.safety.meta).toBeUndefined();
  expect(picture.safety.policy.caps.repair.cluster).toBe("10%");
  picture.put("safety-policy", aSafetyPolicy({ dryRun: true }));
  expect(picture.safety.policy.dryRun).toBe(true);
  picture.remove("safety-policy", aSafetyPolicy());
  expect(picture.safety.policy.dryRun).toBe(false);
});

test("pools, and claims by pool", () => {
  const picture = aWorld({
    pools: [aPool("q"), aPool("p")],
    claims: [aClaim("b", { pool: "p" }), aClaim("a", { pool: "p" }), aClaim("c")],
  });
  expect(picture.pools().map(({ name }) => name)).toEqual(["p", "q"]);
  expect(picture.claimsOfPool("p").map(({ name }) => name)).toEqual(["a", "b"]);
  picture.put("claim", aClaim("a", { pool: "q" }));
  expect([picture.claimCountOfPool("p"), picture.claimCountOfPool("q")]).toEqual([1, 1]);
});

test("an answer can be walked twice, and is not changed by what comes later", () => {
  const picture = aWorld({ nodes: [aNode("b"), aNode("a")] });
  const nodes: readonly NodeView[] = picture.nodes();
  picture.put("node", aNode("c"));
  expect(nodes.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(picture.nodes().map(({ name }) => name)).toEqual(["a", "b", "c"]);
});

describe("what is not forgotten by anybody is forgotten here", () => {
  const failure = { at: t0, retryAt: t0, count: 1, reason: "", message: "" };

  test("the last failure on an object goes with it", () => {
    const pod = aPod("web", { on: "a" });
    const picture = aWorld({
      pods: [pod],
      claims: [aClaim("a")],
      failures: { "pod/default/web": failure, "claim/a": failure },
    });
    picture.remove("pod", pod);
    picture.wroteGone("claim", "a", "a-claim-uid");
    expect(picture.failure("pod/default/web")).toBeUndefined();
    expect(picture.failure("claim/a")).toBeUndefined();
  });

  test("an instance without a claim is known until a later list has it no more", () => {
    const gone = (name: string, seenAt: number) => ({ providerID: `test:///${name}`, state: "gone", seenAt }) as const;
    const picture = aWorld({ claims: [aClaim("a")], instances: [gone("a", t0), gone("b", t0), gone("c", at("2m"))] });
    picture.setInstanceList({ at: at("1m"), instances: [] });
    expect(["a", "b", "c"].map(name => picture.instance(`test:///${name}`) !== undefined)).toEqual([true, false, true]);
  });

  test("that an instance was gone does not outlive a later list that has it", () => {
    const said = (name: string, state: "gone" | "terminating", seenAt: number) =>
      ({ providerID: `test:///${name}`, state, seenAt }) as const;
    const all = [said("a", "gone", t0), said("b", "gone", at("2m")), said("c", "terminating", t0)];
    const picture = aWorld({ claims: ["a", "b", "c"].map(name => aClaim(name)), instances: all });
    picture.takeDirty();
    const instances = all.map(({ providerID }) => ({ providerID, createdAt: t0 }));
    picture.setInstanceList({ at: at("1m"), instances });
    expect(all.map(({ providerID }) => picture.instance(providerID)?.state)).toEqual([
      undefined,
      "gone",
      "terminating",
    ]);
    expect(picture.takeDirty()).toContain("claim/a");
  });

  test("a picture made anew knows the same of instances, also where the clock was set back after the list", () => {
    const picture = aWorld({ claims: [aClaim("a")] });
    const providerID = "test:///a";
    picture.setInstanceList({ at: at("2m"), instances: [{ providerID, createdAt: t0 }] });
    picture.setInstance({ providerID, state: "gone", seenAt: at("1m") });
    expect(ClusterPicture.rebuilt(picture).instance(providerID)).toEqual(picture.instance(providerID));
  });
});
