import { describe, expect, test } from "vitest";
import type { InstanceType } from "../../../src/api/instance-type.ts";
import { capacityTypeKey, hostnameKey, instanceTypeKey, zoneKey } from "../../../src/api/node.ts";
import type { NodeRequirement } from "../../../src/api/node-selector.ts";
import type { Pod, PodAffinityTerm, PodSpec, TopologySpreadConstraint } from "../../../src/api/pod.ts";
import type { Answer, NewNode, Target } from "../../../src/decide/packing/answer.ts";
import { emptyProblem, type ExistingNode, type Pool, type Problem } from "../../../src/decide/packing/problem.ts";
import { verify } from "./verify.ts";

const cpu = (amount: string) => ({ containers: [{ name: "main", resources: { requests: { cpu: amount } } }] });

function aPod(name: string, spec: Partial<PodSpec> = {}, labels: Record<string, string> = { app: "web" }): Pod {
  return { metadata: { name, namespace: "default", labels }, spec: { ...cpu("1"), ...spec } };
}

function aNode(name: string, zone: string, change: Partial<ExistingNode["node"]> = {}): ExistingNode {
  const labels = { [hostnameKey]: name, [zoneKey]: zone };
  return { node: { metadata: { name, labels }, status: { allocatable: { cpu: "4", pods: "10" } }, ...change } };
}

const isIn = (key: string, ...values: string[]): NodeRequirement => ({ key, operator: "In", values });

function aType(name: string, size: number, zones: readonly string[] = ["a", "b"]): InstanceType {
  const amounts = { cpu: `${size}`, pods: "10" };
  return {
    name,
    requirements: [isIn(instanceTypeKey, name), isIn(zoneKey, ...zones), isIn(capacityTypeKey, "spot")],
    offerings: zones.map(zone => ({
      requirements: [isIn(zoneKey, zone), isIn(capacityTypeKey, "spot")],
      price: size / 10,
      available: true,
    })),
    capacity: amounts,
    allocatable: amounts,
  };
}

const aPool = (change: Partial<Pool> = {}): Pool => ({
  name: "general",
  requirements: [],
  instanceTypes: [aType("small", 2), aType("large", 8)],
  ...change,
});

const aNewNode = (pods: readonly Pod[], change: Partial<NewNode> = {}): NewNode => ({
  pool: "general",
  instanceTypes: ["small", "large"],
  requirements: [],
  requests: {},
  price: 0.2,
  pods,
  ...change,
});

const on = (node: string): Target => ({ kind: "existing", node });
const onNew = (index: number): Target => ({ kind: "new", index });

type Put = readonly [Pod, Target];

function answerOf(puts: readonly Put[], rest: Partial<Answer> = {}): Answer {
  return {
    placements: puts.map(([pod, target]) => ({ pod, target, relaxed: [] })),
    newNodes: [],
    unplaced: [],
    ...rest,
  };
}

/** Two nodes in two zones, and pods that the puts place. */
function worldOf(puts: readonly Put[], change: Partial<Problem> = {}): Problem {
  return { ...emptyProblem, nodes: [aNode("n1", "a"), aNode("n2", "b")], pods: puts.map(([pod]) => pod), ...change };
}

const brokenRules = (puts: readonly Put[], change: Partial<Problem> = {}, rest: Partial<Answer> = {}) => [
  ...new Set(verify(worldOf(puts, change), answerOf(puts, rest)).map(({ rule }) => rule)),
];

const near = (topologyKey: string, app = "web"): PodAffinityTerm => ({
  topologyKey,
  labelSelector: { matchLabels: { app } },
});
const together = (...terms: PodAffinityTerm[]): Partial<PodSpec> => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const apart = (...terms: PodAffinityTerm[]): Partial<PodSpec> => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const spread = (change: Partial<TopologySpreadConstraint> = {}): Partial<PodSpec> => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: zoneKey,
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector: { matchLabels: { app: "web" } },
      ...change,
    },
  ],
});
const bound = (pod: Pod, nodeName: string): Pod => ({ ...pod, spec: { ...pod.spec, nodeName } });
const port = (hostPort: number, hostIP?: string): Partial<PodSpec> => ({
  containers: [{ name: "main", ports: [{ containerPort: 80, hostPort, ...(hostIP && { hostIP }) }] }],
});

describe("an answer that keeps all rules", () => {
  test("has no breach", () => {
    const pods = [aPod("p1", apart(near(hostnameKey))), aPod("p2", spread()), aPod("p3", cpu("2"))];
    const [p1, p2, p3] = pods as [Pod, Pod, Pod];
    const puts: Put[] = [
      [p1, on("n1")],
      [p2, on("n2")],
      [p3, onNew(0)],
    ];
    expect(verify(worldOf(puts, { pools: [aPool()] }), answerOf(puts, { newNodes: [aNewNode([p3])] }))).toEqual([]);
  });
});

type Case = { rule: string; what: string; puts: readonly Put[]; change?: Partial<Problem> };

const aCase = (rule: string, what: string, puts: readonly Put[], change: Partial<Problem> = {}): Case => ({
  rule,
  what,
  puts,
  change,
});

describe("a placement on a node that exists", () => {
  const tainted = aNode("n1", "a", { spec: { taints: [{ key: "own", effect: "NoExecute" }] } });
  const claim = { metadata: { name: "c" }, spec: { volumeName: "v", accessModes: ["ReadWriteOncePod"] } };
  const volume = {
    metadata: { name: "v", labels: { [zoneKey]: "b" } },
    spec: { csi: { driver: "d", volumeHandle: "h" } },
  };
  const withClaim = { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "c" } }] };
  const cases: readonly Case[] = [
    aCase("cordon", "on an unschedulable node", [[aPod("p"), on("n1")]], {
      nodes: [aNode("n1", "a", { spec: { unschedulable: true } })],
    }),
    aCase("taints", "that does not tolerate a taint", [[aPod("p"), on("n1")]], { nodes: [tainted] }),
    aCase(
      "taints",
      "whose toleration has another value",
      [[aPod("p", { tolerations: [{ key: "own", value: "x" }] }), on("n1")]],
      { nodes: [tainted] },
    ),
    aCase("node affinity", "with a node selector for another zone", [
      [aPod("p", { nodeSelector: { [zoneKey]: "b" } }), on("n1")],
    ]),
    aCase("resources", "one thousandth of a cpu too large", [[aPod("p", cpu("4001m")), on("n1")]]),
    aCase("resources", "that is too much beside one placed before", [
      [aPod("p", cpu("3")), on("n1")],
      [aPod("q", cpu("2")), on("n1")],
    ]),
    aCase("resources", "too large while its init container runs beside a sidecar", [
      [
        aPod("p", {
          initContainers: [
            { name: "side", restartPolicy: "Always", ...cpu("2").containers[0] },
            { ...cpu("3").containers[0], name: "init" },
          ],
        }),
        on("n1"),
      ],
    ]),
    aCase("host ports", "whose host port is taken on all addresses", [
      [aPod("p", port(80)), on("n1")],
      [aPod("q", port(80, "10.0.0.1")), on("n1")],
    ]),
    aCase(
      "pod affinity",
      "far from those it wants to be with",
      [[aPod("p", together(near(zoneKey)), { app: "db" }), on("n1")]],
      { bound: [bound(aPod("b"), "n2")] },
    ),
    aCase("pod anti-affinity", "beside those it keeps away from", [[aPod("p", apart(near(zoneKey))), on("n1")]], {
      bound: [bound(aPod("b"), "n1")],
    }),
    aCase("anti-affinity of others", "beside those who keep away from it", [[aPod("p"), on("n1")]], {
      bound: [bound(aPod("b", apart(near(zoneKey))), "n1")],
    }),
    aCase("topology spread", "that makes a zone lead by two", [[aPod("p", spread()), on("n1")]], {
      bound: [bound(aPod("b"), "n1")],
    }),
    aCase("topology spread", "with fewer zones than minDomains", [[aPod("p", spread({ minDomains: 3 })), on("n1")]], {
      bound: [bound(aPod("b"), "n1"), bound(aPod("c"), "n2")],
    }),
    aCase("volume place", "away from its volume's zone", [[aPod("p", withClaim), on("n1")]], {
      claims: [claim],
      volumes: [volume],
    }),
    aCase("volume place", "whose claim is not there", [[aPod("p", withClaim), on("n1")]]),
    aCase("volume in use", "that shares a claim for one pod", [[aPod("p", withClaim), on("n2")]], {
      claims: [claim],
      volumes: [volume],
      bound: [bound(aPod("b", withClaim), "n2")],
    }),
    aCase("volume limit", "with one volume more than its driver attaches", [[aPod("p", withClaim), on("n2")]], {
      claims: [claim],
      volumes: [volume],
      csiNodes: [{ metadata: { name: "n2" }, spec: { drivers: [{ name: "d", allocatable: { count: 0 } }] } }],
    }),
  ];
  test.each(cases)("breaks the rule of $rule: a pod $what", ({ rule, puts, change }) => {
    expect(brokenRules(puts, change)).toEqual([rule]);
  });
});

describe("a placement that a rule just allows", () => {
  const cases: readonly Case[] = [
    aCase("resources", "that fills the node to the last thousandth", [
      [aPod("p", cpu("3")), on("n1")],
      [aPod("q", cpu("1")), on("n1")],
    ]),
    aCase("taints", "before a taint that only prefers", [[aPod("p"), on("n1")]], {
      nodes: [aNode("n1", "a", { spec: { taints: [{ key: "own", effect: "PreferNoSchedule" }] } })],
    }),
    aCase("host ports", "with the same port on another address", [
      [aPod("p", port(80, "10.0.0.2")), on("n1")],
      [aPod("q", port(80, "10.0.0.1")), on("n1")],
    ]),
    aCase("pod affinity", "that is the first of its group", [[aPod("p", together(near(zoneKey))), on("n1")]]),
    aCase("topology spread", "beside one that is on its way out", [[aPod("p", spread()), on("n1")]], {
      bound: [
        bound({ ...aPod("b"), metadata: { ...aPod("b").metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }, "n1"),
      ],
    }),
    aCase("anti-affinity of others", "of another namespace", [[aPod("p"), on("n1")]], {
      bound: [bound({ ...aPod("b", apart(near(zoneKey))), metadata: { name: "b", namespace: "other" } }, "n1")],
    }),
  ];
  test.each(cases)("is no breach of $rule: a pod $what", ({ puts, change }) => {
    expect(brokenRules(puts, change)).toEqual([]);
  });
});

describe("a new node", () => {
  const pools = [aPool()];
  const p = aPod("p");
  const put: Put[] = [[p, onNew(0)]];
  const judged = (node: Partial<NewNode>, change: Partial<Problem> = {}, pod = p) =>
    brokenRules([[pod, onNew(0)]], { nodes: [], pools, ...change }, { newNodes: [aNewNode([pod], node)] });

  test("that may become a type too small for its pods breaks resources", () => {
    expect(judged({}, {}, aPod("p", cpu("3")))).toEqual(["resources"]);
  });

  test("is judged with the daemons it is going to get", () => {
    const daemon = aPod("agent", cpu("1500m"));
    expect(judged({}, { daemons: [daemon] })).toEqual(["resources"]);
    expect(judged({ instanceTypes: ["large"], price: 0.8 }, { daemons: [daemon] })).toEqual([]);
  });

  test("that may still come up in a zone its pod does not want breaks node affinity", () => {
    const choosy = aPod("p", { nodeSelector: { [zoneKey]: "a" } });
    expect(judged({}, {}, choosy)).toEqual(["node affinity"]);
    expect(judged({ requirements: [isIn(zoneKey, "a")] }, {}, choosy)).toEqual([]);
  });

  test("whose zone is open may not hold a pod that must keep its zone to itself", () => {
    const alone = aPod("p", apart(near(zoneKey)));
    const change = { nodes: [aNode("n1", "a")], bound: [bound(aPod("b"), "n1")] };
    expect(judged({}, change, alone)).toEqual(["pod anti-affinity"]);
    expect(judged({ requirements: [isIn(zoneKey, "b")] }, change, alone)).toEqual([]);
  });

  test("is narrower than need be if it leaves out a type that would do", () => {
    expect(judged({ instanceTypes: ["small"] })).toEqual(["new node"]);
  });

  test.each<[string, Partial<NewNode>, Partial<Problem>]>([
    ["a type that is not the pool's", { instanceTypes: ["small", "large", "huge"] }, {}],
    ["no type at all", { instanceTypes: [] }, {}],
    ["a price that is not the cheapest", { price: 0.1 }, {}],
    [
      "fewer types than minValues",
      {},
      { pools: [aPool({ requirements: [{ key: instanceTypeKey, operator: "Exists", minValues: 3 }] })] },
    ],
  ])("must not have %s", (_what, node, change) => {
    expect(judged(node, change)).toContain("new node");
  });

  test("counts against the pool's limits as the largest it may become", () => {
    expect(judged({}, { pools: [aPool({ limits: { cpu: "7" } })] })).toEqual(["limits"]);
    expect(judged({}, { pools: [aPool({ limits: { cpu: "8" } })] })).toEqual([]);
    expect(judged({}, { pools: [aPool({ limits: { nodes: "2" }, usage: { nodes: "2" } })] })).toEqual(["limits"]);
  });

  test("must list the pods that were placed on it", () => {
    expect(brokenRules(put, { pools }, { newNodes: [aNewNode([])] })).toEqual(["bookkeeping"]);
  });
});

describe("a pod that was left out", () => {
  const p = aPod("p", cpu("3"));
  const leftOut = (change: Partial<Problem>) =>
    verify(
      { ...emptyProblem, pods: [p], ...change },
      answerOf([], { unplaced: [{ pod: p, reason: { what: "no room" } }] }),
    );

  test("and would fit on a node is a breach", () => {
    expect(leftOut({ nodes: [aNode("n1", "a")] }).map(({ says }) => says)).toEqual(["default/p would fit on n1"]);
  });

  test("and would fit on a node to be made is a breach", () => {
    expect(leftOut({ pools: [aPool()] }).map(({ says }) => says)).toEqual([
      "default/p would fit on one more node of pool general, as large",
    ]);
  });

  test("is right where nothing takes it", () => {
    expect(leftOut({ nodes: [aNode("n1", "a")], bound: [bound(aPod("b", cpu("2")), "n1")] })).toEqual([]);
    expect(leftOut({ pools: [aPool({ limits: { cpu: "2" } })] })).toEqual([]);
  });

  test("and was forgotten altogether is a breach", () => {
    expect(verify({ ...emptyProblem, pods: [p] }, answerOf([])).map(({ rule }) => rule)).toEqual(["bookkeeping"]);
  });
});
