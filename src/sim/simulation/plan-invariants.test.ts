import { describe, expect, test } from "vitest";
import type { Manifest } from "../../api/meta.ts";
import type { NodeActionSpec } from "../../api/node-action.ts";
import type { NodePoolSpec } from "../../api/node-pool.ts";
import { replacementForKey } from "../../api/well-known.ts";
import { VirtualClock } from "../clock.ts";
import { clusterInTheBox } from "../cluster-in-the-box.ts";
import { seededRandom } from "../random.ts";
import { type Action, Ledger } from "./ledger.ts";
import { ClusterObjects } from "./objects.ts";
import { budgetViolations, planViolations, replacementViolations } from "./plan-invariants.ts";
import { Process } from "./process.ts";
import type { WriteContext } from "./write-context.ts";

const startedAt = Date.parse("2026-01-01T12:00:00Z");
const time = "2026-01-01T12:00:00Z";

/** Nodes n0, n1 … of pool web with their claims, each with four cpu; n0 runs a pod that wants two. */
function scene({
  nodes = 3,
  disruption = {},
}: {
  nodes?: number;
  disruption?: NonNullable<NodePoolSpec["disruption"]>;
} = {}) {
  const clock = new VirtualClock(startedAt);
  const server = clusterInTheBox({ clock, random: seededRandom(1) });
  const objects = new ClusterObjects(server);
  const ledger = new Ledger();
  server.store.onChange(({ name }, change) => ledger.changed(name, change));
  objects.apply({
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: "web" },
    spec: { disruption },
  });
  for (let index = 0; index < nodes; index++) machine(objects, `n${index}`);
  const containers = [{ name: "c", image: "c", resources: { requests: { cpu: "2" } } }];
  objects.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "default" },
    spec: { nodeName: "n0", containers },
  });
  const context: WriteContext = { ledger, objects, clock, process: new Process(clock, 1), changedAt: new Map() };
  const open = (node: string, more: Partial<NodeActionSpec> = {}): Action => {
    const name = `drift-${node}`;
    const { uid } = ledger.nodeByName.get(node)?.metadata ?? { uid: "" };
    objects.apply({
      apiVersion: "fettle.dev/v1alpha1",
      kind: "NodeAction",
      metadata: { name },
      spec: { ...drift, node: { name: node, uid }, ...more },
    });
    return ledger.actionByName.get(name) as Action;
  };
  return { clock, context, objects, open };
}

const drift = {
  nodePool: "web",
  action: "Drift",
  method: "Terminate",
  askedBy: { kind: "NodePool", name: "web" },
  message: "m",
  evidence: [],
  decidedAt: time,
  epoch: 1,
};

function machine(objects: ClusterObjects, name: string, initialized = "True"): void {
  const claim = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name, labels: { "karpenter.sh/nodepool": "web" } },
    spec: { requirements: [] },
  } as Manifest;
  objects.apply(claim);
  const condition = { reason: "r", message: "", lastTransitionTime: time };
  objects.patch(
    claim,
    { status: { conditions: [{ type: "Initialized", status: initialized, ...condition }] } },
    "status",
  );
  const node = { apiVersion: "v1", kind: "Node", metadata: { name } } as Manifest;
  objects.apply(node);
  const allocatable = { cpu: "4", pods: "10" };
  objects.patch(node, { status: { allocatable, conditions: [{ type: "Ready", status: "True" }] } }, "status");
}

const marks = (messages: readonly string[]) => messages.map(message => message.split(" ")[0]);

describe("when an action is stored", () => {
  test("the pool's budget has room for it", () => {
    const { context, open } = scene({ disruption: { budgets: [{ nodes: 1 }] } });
    expect(marks(budgetViolations(context, open("n0")))).toEqual([]);
    expect(marks(budgetViolations(context, open("n1")))).toEqual(["I1"]);
  });

  test.each<[string, NonNullable<NodePoolSpec["disruption"]>, string[]]>([
    ["its budget is for another action", { budgets: [{ nodes: 0, action: "Emptiness" }, { nodes: 1 }] }, []],
    [
      "its own overrides that for all",
      { budgetPrecedence: "ActionOverridesAll", budgets: [{ nodes: 0 }, { nodes: 1, action: "Drift" }] },
      [],
    ],
    ["the smallest counts", { budgets: [{ nodes: 0 }, { nodes: 1, action: "Drift" }] }, ["I1"]],
    ["not in a freeze", { budgets: [{ nodes: 0, schedule: "0 9 * * *", duration: "8h" }] }, ["I1"]],
    ["after it", { budgets: [{ nodes: 0, schedule: "0 3 * * *", duration: "8h" }] }, []],
    ["not outside the windows", { windows: [{ schedule: "0 3 * * *", duration: "8h" }] }, ["I1"]],
    ["inside them", { windows: [{ schedule: "0 9 * * *", duration: "8h" }] }, []],
  ])("%s", (_, disruption, expected) => {
    const { context, open } = scene({ disruption });
    expect(marks(budgetViolations(context, open("n0")))).toEqual(expected);
  });
});

describe("when a node is taken away by a plan", () => {
  test("its replacements are initialized", () => {
    const { context, objects, open } = scene();
    const action = open("n0", { batch: "b", replacements: [{ name: "r" }] });
    expect(marks(planViolations(context, action))).toEqual(["I7"]);
    machine(objects, "r", "False");
    expect(marks(planViolations(context, action))).toEqual(["I7"]);
    machine(objects, "r", "True");
    expect(planViolations(context, action)).toEqual([]);
  });

  test("its pods have room elsewhere; what is going or tainted is none", () => {
    const alone = scene({ nodes: 1 });
    expect(marks(planViolations(alone.context, alone.open("n0")))).toEqual(["I7"]);
    const pair = scene({ nodes: 2 });
    expect(planViolations(pair.context, pair.open("n0"))).toEqual([]);
    const going = scene({ nodes: 2 });
    going.open("n1");
    expect(marks(planViolations(going.context, going.open("n0")))).toEqual(["I7"]);
  });

  test("its pool lets nodes go", () => {
    const { context, open } = scene({ disruption: { budgets: [{ nodes: 0, schedule: "0 9 * * *", duration: "8h" }] } });
    expect(marks(planViolations(context, open("n0")))).toEqual(["I1"]);
  });

  test("but not when something else takes it", () => {
    const { context, open } = scene({ nodes: 1 });
    const joined = [
      {
        action: "Repair" as const,
        askedBy: { kind: "NodePool" as const, name: "web" },
        at: time,
        message: "m",
        evidence: [],
      },
    ];
    expect(planViolations(context, open("n0", { joined }))).toEqual([]);
  });
});

test("a replacement is made for an action that names it", () => {
  const { context, open } = scene();
  const claim = { metadata: { name: "r", annotations: { [replacementForKey]: "b" } } } as unknown as Manifest;
  expect(marks(replacementViolations(context, claim))).toEqual(["I5"]);
  open("n0", { batch: "b", replacements: [{ name: "r" }] });
  expect(replacementViolations(context, claim)).toEqual([]);
  expect(replacementViolations(context, { metadata: { name: "s" } } as Manifest)).toEqual([]);
});
