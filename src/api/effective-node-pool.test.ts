import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { actionByReason, budgetedActions, plannedActions, type Reason } from "./budget.ts";
import { nodePoolDefaults } from "./effective-defaults.ts";
import { effectiveNodeClaim, effectiveNodePool } from "./effective-node-pool.ts";
import type { NodePoolSpec } from "./node-pool.ts";

const disruption = (spec: NodePoolSpec) => effectiveNodePool(spec).disruption;
const budgets = (disruption: NonNullable<NodePoolSpec["disruption"]>) =>
  effectiveNodePool({ disruption }).disruption.budgets.map(
    ({ path, actions, nodes }) => `${path}: ${actions} ${nodes}`,
  );
const planned = "Consolidation,Emptiness,Expiration,Drift";
const pace = "default: Repair 10%";

test("a pool that says nothing has every default", () => {
  expect(effectiveNodePool({})).toEqual({
    template: {
      labels: {},
      annotations: {},
      taints: [],
      startupTaints: [],
      requirements: [],
      expireAfter: "720h",
      readinessTTL: "15m",
    },
    disruption: {
      consolidationPolicy: "WhenUnderutilized",
      disruptAfter: { Consolidation: "15s", Emptiness: "15s", Expiration: "0s", Drift: "0s" },
      budgets: [
        { path: "default", forAll: true, actions: ["Consolidation", "Emptiness", "Expiration", "Drift"], nodes: "10%" },
        { path: "default", forAll: false, actions: ["Repair"], nodes: "10%" },
      ],
      budgetPrecedence: "MostRestrictive",
      windows: [],
      minSavings: "0%",
    },
    repair: {
      mode: "Enabled",
      policies: [],
      maxUnhealthy: "20%",
      termination: "Forceful",
      action: "Replace",
      escalateAfter: "10m",
      attempts: 1,
    },
    limits: {},
    weight: 0,
    podPlacement: "Scheduler",
    dryRun: false,
  });
});

test("an empty disruption, template and repair mean the same as none", () => {
  expect(effectiveNodePool({ disruption: {}, template: { metadata: {}, spec: {} }, repair: {} })).toEqual(
    effectiveNodePool({}),
  );
});

test("the manifest stays as it was written", () => {
  const spec: NodePoolSpec = { repair: {}, disruption: { budgets: [] } };
  effectiveNodePool(spec);
  expect(spec).toEqual({ repair: {}, disruption: { budgets: [] } });
});

describe("budgets", () => {
  test.each<[string, NonNullable<NodePoolSpec["disruption"]>, string[]]>([
    ["an empty list is the default, never 'no limit'", { budgets: [] }, [`default: ${planned} 10%`, pace]],
    [
      "a budget for nobody in particular is for all planned actions",
      { budgets: [{ nodes: 3 }] },
      [`spec.disruption.budgets[0]: ${planned} 3`, pace],
    ],
    [
      "maxUnavailable is nodes, zero included",
      { budgets: [{ maxUnavailable: 0 }] },
      [`spec.disruption.budgets[0]: ${planned} 0`, pace],
    ],
    [
      "a budget without a number is 10 %",
      { budgets: [{ action: "All" }] },
      [`spec.disruption.budgets[0]: ${planned} 10%`, pace],
    ],
    [
      "an action with a budget of its own leaves the default to the others",
      { budgets: [{ action: "Drift", nodes: "15%" }] },
      ["spec.disruption.budgets[0]: Drift 15%", "default: Consolidation,Emptiness,Expiration 10%", pace],
    ],
    [
      "Karpenter's reasons are our actions",
      { budgets: [{ reasons: ["Unhealthy", "Underutilized", "Empty", "Drifted"], nodes: 1 }] },
      ["spec.disruption.budgets[0]: Consolidation,Emptiness,Drift,Repair 1", "default: Expiration 10%"],
    ],
    [
      "no reasons at all are every reason",
      { budgets: [{ reasons: [], nodes: 2 }] },
      [`spec.disruption.budgets[0]: ${planned} 2`, pace],
    ],
    [
      "All does not hold Repair, and Repair does not hold All",
      { budgets: [{ action: "Repair", nodes: 0 }] },
      ["spec.disruption.budgets[0]: Repair 0", `default: ${planned} 10%`],
    ],
    [
      "both approaches in one pool are pooled",
      { budgets: [{ action: "Drift", nodes: 1 }], actionControls: { All: { budgets: [{ nodes: 5 }] } } },
      ["spec.disruption.budgets[0]: Drift 1", `spec.disruption.actionControls.All.budgets[0]: ${planned} 5`, pace],
    ],
    [
      "an empty list under an action names nobody",
      { actionControls: { Drift: { budgets: [] } } },
      [`default: ${planned} 10%`, pace],
    ],
  ])("%s", (_, stated, expected) => {
    expect(budgets(stated)).toEqual(expected);
  });

  test("a window has its zone, UTC if none is named; crontab is schedule", () => {
    const { budgets } = disruption({
      disruption: {
        budgets: [
          { crontab: "0 9 * * mon-fri", duration: "8h", maxUnavailable: 0 },
          { schedule: "@daily", duration: "1h", timeZone: "Europe/Berlin", nodes: 1 },
          { maxUnavailable: 10 },
        ],
      },
    });
    expect(budgets.map(budget => budget.window)).toEqual([
      { schedule: "0 9 * * mon-fri", duration: "8h", timeZone: "UTC" },
      { schedule: "@daily", duration: "1h", timeZone: "Europe/Berlin" },
      undefined,
      undefined,
    ]);
  });

  test("whatever is written, each action is held by the budgets that name it, or else by the default alone", () => {
    const nodes = fc.constantFrom(0, 3, "20%");
    const named = fc.oneof(
      fc.record({ nodes, action: fc.constantFrom("All", ...budgetedActions) }),
      fc.record({ nodes, reasons: fc.uniqueArray(fc.constantFrom(...(Object.keys(actionByReason) as Reason[]))) }),
    );
    const controls = fc.record({ budgets: fc.array(fc.record({ nodes }), { maxLength: 2 }) });
    const byAction = fc.record({ All: controls, Drift: controls, Emptiness: controls }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.array(named, { maxLength: 4 }), byAction, (budgets, actionControls) => {
        const effective = disruption({ disruption: { budgets, actionControls } }).budgets;
        for (const action of budgetedActions) {
          const holding = effective.filter(budget => budget.actions.includes(action));
          const defaults = holding.filter(budget => budget.path === "default");
          expect(defaults).toHaveLength(holding.length === defaults.length ? 1 : 0);
        }
        const written = budgets.length + Object.values(actionControls).flatMap(({ budgets }) => budgets).length;
        expect(effective.filter(budget => budget.path !== "default")).toHaveLength(written);
        const forAll = effective.filter(budget => budget.forAll);
        expect(forAll.every(budget => budget.actions.length === plannedActions.length)).toBe(true);
      }),
    );
  });

  test("one for All is told from one that names every action: ActionOverridesAll asks", () => {
    const { budgets } = disruption({
      disruption: {
        budgets: [{ nodes: 1 }, { reasons: ["Empty"], nodes: 2 }],
        actionControls: { All: { budgets: [{ nodes: 3 }] } },
      },
    });
    expect(budgets.map(budget => budget.forAll)).toEqual([true, false, true, false]);
  });
});

test("seed 002, approach B: the default holds only what no budget names, and the names of the seed's YAML count", () => {
  const pool = disruption({
    disruption: {
      consolidationPolicy: "WhenUnderutilized",
      genericPerActionControls: {
        Consolidation: { disruptAfter: "30m", budgets: [{ nodes: "20%", schedule: "0 0 1 * *", duration: "1h" }] },
        Drift: { disruptAfter: "1h", budgets: [{ nodes: "10%", schedule: "0 0 * * 0", duration: "2h" }] },
        Expiration: { disruptAfter: "Never" },
      },
    },
  });
  expect(pool.disruptAfter).toEqual({ Consolidation: "30m", Emptiness: "15s", Expiration: "Never", Drift: "1h" });
  expect(pool.budgets.map(({ path, actions }) => [path, actions])).toEqual([
    ["spec.disruption.genericPerActionControls.Consolidation.budgets[0]", ["Consolidation"]],
    ["spec.disruption.genericPerActionControls.Drift.budgets[0]", ["Drift"]],
    ["default", ["Emptiness", "Expiration"]],
    ["default", ["Repair"]],
  ]);
});

test("seed 004: consolidation settings directly under spec count", () => {
  const pool = disruption({ consolidationPolicy: "WhenEmpty", consolidateAfter: "10m" });
  expect(pool.consolidationPolicy).toBe("WhenEmpty");
  expect(pool.disruptAfter).toMatchObject({ Consolidation: "10m", Emptiness: "10m", Drift: "0s" });
});

describe("how long an action waits", () => {
  test.each<[string, NodePoolSpec, string]>([
    ["nothing said", {}, "15s 15s 0s 0s"],
    ["consolidateAfter", { disruption: { consolidateAfter: "Never" } }, "Never Never 0s 0s"],
    ["a word for all", { disruption: { actionControls: { All: { disruptAfter: "1h" } } } }, "1h 1h 1h 1h"],
    [
      "consolidateAfter beats the word for all",
      { disruption: { consolidateAfter: "1m", actionControls: { All: { disruptAfter: "1h" } } } },
      "1m 1m 1h 1h",
    ],
    [
      "an action's own word beats both",
      {
        consolidateAfter: "1m",
        disruption: {
          actionControls: {
            All: { disruptAfter: "1h" },
            Emptiness: { disruptAfter: "5s" },
            Drift: { disruptAfter: "0s" },
          },
        },
      },
      "1m 5s 1h 0s",
    ],
  ])("%s", (_, spec, expected) => {
    const { Consolidation, Emptiness, Expiration, Drift } = disruption(spec).disruptAfter;
    expect([Consolidation, Emptiness, Expiration, Drift].join(" ")).toBe(expected);
  });
});

test("WhenEmptyOrUnderutilized is WhenUnderutilized", () => {
  expect(disruption({ disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized" } }).consolidationPolicy).toBe(
    "WhenUnderutilized",
  );
  expect(disruption({ disruption: { consolidationPolicy: "Balanced" } }).consolidationPolicy).toBe("Balanced");
});

test("expireAfter counts in v1beta1's place as well", () => {
  expect(effectiveNodePool({ disruption: { expireAfter: "Never" } }).template.expireAfter).toBe("Never");
  expect(effectiveNodePool({ template: { spec: { expireAfter: "1h" } } }).template.expireAfter).toBe("1h");
});

test("a class named by apiVersion is the class of that group", () => {
  const ref = { apiVersion: "karpenter.k8s.aws/v1beta1", kind: "EC2NodeClass", name: "default" };
  const group = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
  expect(effectiveNodePool({ template: { spec: { nodeClassRef: ref } } }).template.nodeClassRef).toEqual(group);
  expect(effectiveNodeClaim({ nodeClassRef: group }).nodeClassRef).toEqual(group);
});

describe("repair", () => {
  test("left out, it is on or off as the controller was told; an empty one is on (decision 5)", () => {
    expect(effectiveNodePool({}, { repairUnset: "off" }).repair.mode).toBe("Disabled");
    expect(effectiveNodePool({ repair: {} }, { repairUnset: "off" }).repair.mode).toBe("Enabled");
  });

  test("a policy has the pool's treatment where it has none of its own", () => {
    const { policies } = effectiveNodePool({
      repair: {
        action: "Reboot",
        escalateAfter: "5m",
        policies: [
          { conditionType: "Ready", toleration: "45m" },
          {
            conditionType: "Kernel",
            conditionStatus: "False",
            toleration: "0s",
            action: "Replace",
            termination: "Graceful",
            mode: "DryRun",
            maxUnhealthy: 2,
          },
        ],
      },
    }).repair;
    expect(policies).toEqual([
      {
        path: "spec.repair.policies[0]",
        conditionType: "Ready",
        conditionReasons: [],
        toleration: "45m",
        priority: 0,
        mode: "Enabled",
        termination: "Forceful",
        action: "Reboot",
        escalateAfter: "5m",
        attempts: 1,
      },
      {
        path: "spec.repair.policies[1]",
        conditionType: "Kernel",
        conditionStatus: "False",
        conditionReasons: [],
        toleration: "0s",
        priority: 0,
        mode: "DryRun",
        maxUnhealthy: "2",
        termination: "Graceful",
        action: "Replace",
        escalateAfter: "5m",
        attempts: 1,
      },
    ]);
  });
});

test("a claim that another controller wrote has the defaults of ours", () => {
  expect(effectiveNodeClaim({})).toEqual({
    taints: [],
    startupTaints: [],
    requirements: [],
    requests: {},
    expireAfter: "720h",
    readinessTTL: "15m",
  });
});

test("what the reference shows as a default is what an empty pool has", () => {
  const { template, disruption, weight, podPlacement, dryRun } = effectiveNodePool({
    disruption: { budgets: [{ schedule: "@daily", duration: "1h" }] },
  });
  const [budget] = disruption.budgets;
  expect(nodePoolDefaults).toEqual({
    "spec.template.spec.expireAfter": template.expireAfter,
    "spec.template.spec.readinessTTL": template.readinessTTL,
    "spec.disruption.consolidationPolicy": disruption.consolidationPolicy,
    "spec.disruption.consolidateAfter": disruption.disruptAfter.Consolidation,
    "spec.disruption.budgets[].action": budget?.forAll ? "All" : budget?.actions[0],
    "spec.disruption.budgets[].nodes": budget?.nodes,
    "spec.disruption.budgets[].timeZone": budget?.window?.timeZone,
    "spec.disruption.budgetPrecedence": disruption.budgetPrecedence,
    "spec.disruption.minSavings": disruption.minSavings,
    "spec.weight": weight,
    "spec.podPlacement": podPlacement,
    "spec.dryRun": dryRun,
  });
});
