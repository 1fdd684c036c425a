// Ten nodes and more of which several may go: what the rule asks for and the arbiter grants, together, under budgets.

import { describe, expect, test } from "vitest";
import { aClaim, aCondition, anAction, aNode, aPod, aPool, at, aWorld, t0 } from "../../../test/builders.ts";
import type { NodePoolSpec } from "../../api/node-pool.ts";
import type { ClusterPicture } from "../../snapshot/cluster-picture.ts";
import type { Move } from "../../snapshot/moves.ts";
import type { ActionView, PodView } from "../../snapshot/views.ts";
import { arbitrate } from "../arbitrate.ts";
import { HealthCounts } from "../brake-counts.ts";
import { budgetLimits } from "../budget-limits.ts";
import { disruption } from "./disruption.ts";
import { surplusVeto } from "./surplus.ts";

const now = at("3h");
const settings = { cluster: "test", dryRun: false, foreignClaims: "ignore" } as const;
const empty = aCondition("Consolidatable", "True", { since: at("1m") });
const driftedAt = (minutes: number) =>
  aCondition("Drifted", "True", { since: at("1h") + minutes * 60_000, reason: "NodePoolDrifted", message: "" });

type Cluster = {
  /** Nodes by pool. */
  sizes: Record<string, number>;
  nodes?: string;
  is: (index: number) => ReturnType<typeof aCondition>[];
  inUse?: (index: number) => boolean;
  /** Nodes of which no pod finds a place. */
  stuck?: readonly string[];
  action?: Move["action"];
  actions?: readonly ActionView[];
  replicas?: number;
  /** A node that a pod which wants one is to come to. */
  expects?: string;
};

/** The nodes that begin to go, in the order in which they are granted; and why the others do not. */
function decided({ sizes, nodes: budget = "100%", is, inUse, stuck = [], action = "Drift", ...more }: Cluster) {
  const { actions = [], replicas, expects } = more;
  const spec: NodePoolSpec = {
    disruption: { budgets: [{ nodes: budget }], consolidateAfter: "15s" },
    ...(replicas === undefined ? {} : { replicas }),
  };
  const named = Object.entries(sizes).flatMap(([pool, count]) =>
    Array.from({ length: count }, (_, index) => ({ name: `${pool}-${index}`, pool, index })),
  );
  const claims = named.map(({ name, pool, index }) => {
    const claim = aClaim(name, { pool });
    return { ...claim, conditions: [...claim.conditions, ...is(index)] };
  });
  const pods: PodView[] = named.flatMap(({ name, index }) => (inUse?.(index) ? aPod(name, { on: name }) : []));
  const picture = aWorld({
    pools: Object.keys(sizes).map(pool => aPool(pool, { spec })),
    claims,
    nodes: named.map(({ name }) => aNode(name)),
    pods,
    actions: [...actions],
    now: () => now,
  });
  picture.beginMoves();
  const moves = pods.map(({ name }) => ({
    move: moveOf(name, action, stuck.includes(name)),
    places: new Map<string, string>(),
    poolVersions: new Map<string, string>(),
  }));
  picture.settleMoves({ at: now, moves, stays: new Map(), unanswered: [] });
  if (expects !== undefined) {
    picture.put("pod", aPod("waits", { phase: "Pending", isUnschedulable: true }));
    const placements = new Map(
      picture.unplacedPods().map(({ uid }) => [uid, { on: "node", name: expects, at: now } as const]),
    );
    picture.settleSearch({ at: now, claims: [], placements });
  }
  return granted(picture);
}

function moveOf(name: string, action: Move["action"], isStuck: boolean): Move {
  return {
    batch: `batch-${name}`,
    action,
    nodes: [{ name, uid: `${name}-uid` }],
    claims: [],
    podCount: 1,
    price: { before: 1, after: 0 },
    stuck: isStuck ? [{ pod: `default/${name}`, short: "no room" }] : [],
    at: t0,
  };
}

function granted(picture: ClusterPicture) {
  const context = { picture, now, settings, epoch: 1 };
  const asked = [...picture.subjects("node")].map(subject => ({
    subject,
    ...disruption.decide(subject.slice("node/".length), context),
  }));
  const proposals = asked.flatMap(one =>
    one.proposals.map(proposal => ({ subject: one.subject, rule: disruption.name, proposal })),
  );
  const limits = budgetLimits(picture.pools(), { ...context, health: HealthCounts.from(context) });
  const { commands, refusals } = arbitrate({ proposals, context, gates: { limits, vetoes: [surplusVeto()] } });
  const opened = commands.flatMap(command => (command.kind === "open-action" ? [command.spec] : []));
  return {
    gone: opened.map(({ node }) => node.name),
    actions: [...new Set(opened.map(({ action }) => action))],
    refused: [...asked.flatMap(one => one.refusals), ...refusals].map(({ code }) => code),
    sentences: refusals.map(({ message }) => message),
  };
}

describe("empty nodes", () => {
  const ten: Cluster = { sizes: { web: 10 }, is: () => [empty] };
  test.each<[string, Cluster, number]>([
    ["E2 all at once under 100%", ten, 10],
    ["E3 none under 0%", { ...ten, nodes: "0%" }, 0],
    ["E4 three of ten under 30%", { ...ten, nodes: "30%" }, 3],
    ["E5 two of each of ten pools", { ...ten, sizes: tenPools(3), nodes: "2" }, 20],
    ["E6 all of all pools", { ...ten, sizes: tenPools(3) }, 30],
  ])("%s", (_, cluster, count) => {
    const { gone, actions } = decided(cluster);
    expect([gone.length, actions]).toEqual([count, count === 0 ? [] : ["Emptiness"]]);
  });

  test("E14 not one that a pod which wants a node needs", () => {
    const { gone, refused } = decided({ ...ten, expects: "web-4" });
    expect([gone.length, gone.includes("web-4"), refused]).toEqual([9, false, ["pods-expected"]]);
  });

  test("E8 one that has drifted too goes, as drifted", () => {
    expect(decided({ ...ten, is: () => [driftedAt(0), empty] })).toMatchObject({
      gone: Array.from({ length: 10 }, (_, index) => `web-${index}`),
      actions: ["Drift"],
      refused: [],
    });
  });
});

describe("drifted nodes", () => {
  const ten: Cluster = { sizes: { web: 10 }, nodes: "30%", is: index => [driftedAt(10 - index)], inUse: () => true };

  test("D2 D18 as many as the budget allows, those first that drifted first", () => {
    const { gone, refused } = decided(ten);
    expect(gone).toEqual(["web-9", "web-8", "web-7"]);
    expect(refused).toEqual(Array.from({ length: 7 }, () => "budget-spent"));
  });

  test("D3 those that are under way count", () => {
    const actions = [anAction("drift-x", { node: "web-9", spec: { action: "Drift", nodePool: "web" } })];
    expect(decided({ ...ten, actions }).gone).toEqual(["web-8", "web-7"]);
  });

  test("B19 where more are under way than the budget allows by now, none may go and no number is negative", () => {
    const actions = ["web-9", "web-8", "web-7"].map(node =>
      anAction(`drift-${node}`, { node, spec: { action: "Drift", nodePool: "web" } }),
    );
    const { gone, refused } = decided({ ...ten, nodes: "1", actions });
    expect([gone, new Set(refused)]).toEqual([[], new Set(["budget-spent"])]);
  });

  test.each<[string, Record<string, number>, string, number]>([
    ["a count", { web: 10 }, "4", 4],
    ["a share", { web: 10 }, "30%", 3],
    ["several pools", { web: 4, db: 4 }, "1", 2],
    ["none", { web: 10 }, "0", 0],
  ])("D19 of pools with replicas too: %s", (_, sizes, nodes, count) => {
    const { gone, actions } = decided({ ...ten, sizes, nodes, replicas: 10 });
    expect([gone.length, actions]).toEqual([count, count === 0 ? [] : ["Drift"]]);
  });

  const scaledDown = (name: string) =>
    anAction(`down-${name}`, { node: name, spec: { action: "ScaleDown", nodePool: "web" } });
  test.each<[string, Partial<Cluster>, number, string[]]>([
    ["as many as its replicas", { replicas: 10 }, 4, ["budget-spent"]],
    ["fewer", { replicas: 11 }, 4, ["budget-spent"]],
    ["one too many", { replicas: 9 }, 0, ["surplus-first"]],
    ["one too many, which is going", { replicas: 9, actions: [scaledDown("web-0")] }, 3, ["budget-spent"]],
    ["two too many, of which one is going", { replicas: 8, actions: [scaledDown("web-0")] }, 0, ["surplus-first"]],
    ["replicas of 0", { replicas: 0 }, 0, ["surplus-first"]],
  ])("D19 of a pool with replicas none is exchanged before those too many are gone: %s", (_, more, count, refused) => {
    const found = decided({ ...ten, nodes: "4", ...more });
    expect([found.gone.length, [...new Set(found.refused)]]).toEqual([count, refused]);
  });

  test("D19 says how many are too many", () => {
    const { sentences } = decided({ ...ten, sizes: { web: 2 }, replicas: 1 });
    expect(sentences).toEqual(
      ["web-1", "web-0"].map(
        name => `NodePool web has 1 more than its replicas of 1, and those go before node ${name} is exchanged.`,
      ),
    );
  });

  test("D19 where the pools are their own concern one that has too many holds only its own", () => {
    const { gone } = decided({ ...ten, sizes: { web: 4, db: 3 }, nodes: "1", replicas: 3 });
    expect(gone).toEqual(["db-2"]);
  });

  test("D19 not where the condition is False", () => {
    const is = () => [{ ...driftedAt(0), status: "False" as const }];
    expect(decided({ ...ten, is, replicas: 10 }).gone).toEqual([]);
  });

  test("D4 each pool by its own budget", () => {
    const { gone } = decided({ ...ten, sizes: { web: 10, db: 3 } });
    expect(gone.filter(name => name.startsWith("web"))).toHaveLength(3);
    expect(gone.filter(name => name.startsWith("db"))).toHaveLength(1);
  });

  test("D5 whoever has no place for its pods keeps nobody from going", () => {
    const { gone, refused } = decided({ ...ten, stuck: ["web-9"] });
    expect(gone).toEqual(["web-8", "web-7", "web-6"]);
    expect(refused).toContain("pods-without-place");
  });

  test("D14 D15 empty ones first, also where nothing is consolidated", () => {
    const { gone } = decided({ ...ten, inUse: index => index !== 4 });
    expect(gone[0]).toBe("web-4");
  });
});

test.each<[string, Record<string, number>, string, number]>([
  ["three of ten", { web: 10 }, "3", 3],
  ["two of each pool", { web: 5, db: 5 }, "2", 4],
  ["none", { web: 10 }, "0", 0],
])("C nodes whose pods have a cheaper place go as the budget allows: %s", (_, sizes, nodes, count) => {
  const { gone, actions } = decided({ sizes, nodes, is: () => [empty], inUse: () => true, action: "Consolidation" });
  expect([gone.length, actions]).toEqual([count, count === 0 ? [] : ["Consolidation"]]);
});

function tenPools(size: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`p${index}`, size]));
}
