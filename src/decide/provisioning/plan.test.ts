import { expect, test } from "vitest";
import { aClassRef, aPool, at, t0 } from "../../../test/builders.ts";
import { instanceTypeKey, zoneKey } from "../../api/node.ts";
import type { Pod } from "../../api/pod.ts";
import type { Answer, NewNode } from "../packing/answer.ts";
import type { Offers } from "./offers.ts";
import { planOf } from "./plan.ts";

const amounts = (cpu: string) => ({ cpu, memory: "8Gi" });
const types = ["t4", "t8"].map(name => ({
  name,
  requirements: [],
  offerings: [],
  capacity: amounts(name.slice(1)),
  allocatable: amounts(name.slice(1)),
}));
const pod = (name: string): Pod => ({ metadata: { name, uid: name }, spec: { containers: [] } });

function newNode(pods: readonly Pod[], more: Partial<NewNode> = {}): NewNode {
  const requirements = [
    { key: zoneKey, operator: "In" as const, values: ["a"] },
    { key: "karpenter.sh/nodepool", operator: "In" as const, values: ["p"] },
    { key: "team", operator: "In" as const, values: ["x"] },
  ];
  return { pool: "p", instanceTypes: ["t4", "t8"], requirements, requests: { cpu: "3" }, price: 1, pods, ...more };
}

const view = aPool("p", {
  spec: {
    limits: { cpu: "100" },
    template: {
      metadata: { labels: { team: "x" } },
      spec: { requirements: [{ key: instanceTypeKey, operator: "Exists", minValues: 2 }] },
    },
  },
});
const offers: Offers = {
  pools: [],
  upcoming: [],
  offeredByName: new Map([["p", { view, nodeClass: aClassRef, types, limits: { cpu: "100" } }]]),
  held: [],
  lookAgainAt: undefined,
};

function plan(
  answer: Partial<Answer>,
  now = t0,
  more: Partial<Offers> = {},
  isTaken: (name: string) => boolean = () => false,
) {
  const whole = { placements: [], newNodes: [], unplaced: [], ...answer };
  const run = planOf(whole, { offers: { ...offers, ...more }, now, isTaken }, { work: 0 });
  for (;;) {
    const { done, value } = run.next();
    if (done === true) return value;
  }
}

test("a claim says which types it may become and where, and what its pods need, as the pool's rules allow", () => {
  const [claim] = plan({ newNodes: [newNode([pod("a")])] }).claims;
  expect(claim).toMatchObject({ pool: "p", pods: ["a"], capacity: { cpu: "8" }, at: t0 });
  expect(claim?.manifest).toMatchObject({
    kind: "NodeClaim",
    metadata: { labels: { "karpenter.sh/nodepool": "p", team: "x" } },
    spec: {
      resources: { requests: { cpu: "3" } },
      requirements: [
        { key: zoneKey, operator: "In", values: ["a"] },
        { key: instanceTypeKey, operator: "In", values: ["t4", "t8"], minValues: 2 },
      ],
    },
  });
});

test("its name is the same for the same pods, whoever asks and whenever, and never one that is taken", () => {
  const answer = { newNodes: [newNode([pod("a")]), newNode([pod("b")])] };
  const names = (now: number, isTaken?: (name: string) => boolean) =>
    plan(answer, now, {}, isTaken).claims.map(({ name }) => name);
  const first = names(t0);
  expect(new Set(first).size).toBe(2);
  expect(names(at("1s"))).toEqual(first);
  expect(names(t0, name => name === first[0])[0]).not.toBe(first[0]);
});

test("pods go to nodes, to claims on their way and to new ones, each by its own name", () => {
  const { placements, claims } = plan({
    newNodes: [newNode([pod("c")])],
    placements: [
      { pod: pod("a"), target: { kind: "existing", node: "n" }, relaxed: [] },
      { pod: pod("b"), target: { kind: "upcoming", claim: "u" }, relaxed: [] },
      { pod: pod("c"), target: { kind: "new", index: 0 }, relaxed: [] },
    ],
  });
  expect([...placements]).toEqual([
    ["a", { on: "node", name: "n", at: t0 }],
    ["b", { on: "claim", name: "u", at: t0 }],
    ["c", { on: "claim", name: claims[0]?.name, at: t0 }],
  ]);
});

test("a pod that can go nowhere learns of the pools that may not launch, too", () => {
  const unplaced = [{ pod: pod("a"), reason: { what: "no node and no pool can take the pod", branches: [] } }];
  const held = [
    { pool: "spot", code: "pool-backing-off", until: at("1m") },
    { pool: "odd", code: "pool-invalid" },
  ];
  const { placements, lookAgainAt } = plan({ unplaced }, t0, { held, lookAgainAt: at("1m") });
  expect(placements.get("a")).toMatchObject({
    on: "nothing",
    short:
      "no node and no pool can take the pod: pool spot (pool-backing-off until 2026-01-01T00:01:00Z); pool odd (pool-invalid)",
  });
  expect(lookAgainAt).toBe(at("1m"));
});
