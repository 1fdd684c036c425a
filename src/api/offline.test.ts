import { describe, expect, test } from "vitest";
import type { NodePoolSpec } from "./node-pool.ts";
import { offlineFindings } from "./offline.ts";
import { offlineCodes } from "./offline-finding.ts";
import type { Repair } from "./repair.ts";

const told = (kind: string, spec: unknown, annotations = {}) =>
  offlineFindings(kind, { spec, metadata: { annotations } }).map(
    ({ severity, path, code }) => `${severity} ${code} ${path}`,
  );
const pool = (spec: NodePoolSpec) => told("NodePool", spec);

const always = { nodes: "10%" };

test("a pool in order has nothing to be told", () => {
  expect(pool({})).toEqual([]);
  expect(
    pool({
      template: {
        metadata: { labels: { "example.com/team": "a" }, annotations: { "Example.com/Note": "b" } },
        spec: {
          taints: [{ key: "a", effect: "NoSchedule" }],
          startupTaints: [{ key: "a", effect: "NoExecute" }],
          requirements: [
            { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot", "cheap"] },
            { key: "a", operator: "Exists" },
          ],
          readinessTTL: "1.5h",
          expireAfter: "Never",
        },
      },
      limits: { cpu: "1e3", memory: "1.5Gi", nodes: 10 },
      disruption: {
        budgets: [{ nodes: 0, schedule: "0 9 * * mon-fri", duration: "8h", timeZone: "Europe/Berlin" }, always],
      },
      repair: { policies: [{ conditionType: "Ready", toleration: "0s" }] },
    }),
  ).toEqual([]);
});

describe("texts that their pattern lets through", () => {
  test.each([
    ["60 9 * * *", "error bad-schedule"],
    ["0 9 * * 7", "error bad-schedule"],
    ["0 9 31-1 * *", "error bad-schedule"],
    ["0 9 * * frid", "error bad-schedule"],
    ["1,,2 9 * * *", "error bad-schedule"],
    ["0 0 30 2 *", "error never-active"],
  ])("schedule %s", (schedule, finding) => {
    const window = { schedule, duration: "1h" };
    expect(pool({ disruption: { budgets: [{ ...window, nodes: 1 }, always], windows: [window] } })).toEqual([
      `${finding} spec.disruption.budgets[0].schedule`,
      `${finding} spec.disruption.windows[0].schedule`,
    ]);
  });

  test("schedules under an action and by their other name are read too", () => {
    const budget = { crontab: "61 * * * *", duration: "1h" };
    expect(
      pool({ disruption: { genericPerActionControls: { Drift: { budgets: [budget] }, All: { budgets: [always] } } } }),
    ).toEqual(["error bad-schedule spec.disruption.genericPerActionControls.Drift.budgets[0].crontab"]);
  });

  test("time zones that do not exist", () => {
    const budget = { schedule: "@daily", duration: "1h", timeZone: "Europe/Atlantis", nodes: 1 };
    expect(pool({ disruption: { budgets: [budget, always] } })).toEqual([
      "error bad-time-zone spec.disruption.budgets[0].timeZone",
    ]);
  });

  test("durations beyond what Go can hold, wherever they stand", () => {
    const long = "2562048h";
    expect(
      pool({
        template: { spec: { expireAfter: long, terminationGracePeriod: long } },
        repair: { defaultTolerationDuration: long, policies: [{ conditionType: "Ready", toleration: "2562047h" }] },
      }),
    ).toEqual([
      "error bad-duration spec.template.spec.expireAfter",
      "error bad-duration spec.template.spec.terminationGracePeriod",
      "error bad-duration spec.repair.defaultTolerationDuration",
    ]);
  });

  test("quantities that only look like some", () => {
    expect(pool({ limits: { cpu: "1e1.5", memory: "10Gi" } })).toEqual(["error bad-quantity spec.limits.cpu"]);
    expect(told("NodeClaim", { resources: { requests: { cpu: "1e.5" } } })).toEqual([
      "error bad-quantity spec.resources.requests.cpu",
    ]);
  });

  test("keys whose domain is too long, and annotation keys that are none", () => {
    const domain = `${"a".repeat(61)}.`.repeat(5);
    const key = `${domain}io/b`;
    expect(
      pool({
        template: {
          metadata: { labels: { [key]: "" }, annotations: { "a b": "" } },
          spec: { taints: [{ key, effect: "NoSchedule" }], requirements: [{ key, operator: "Exists" }] },
        },
      }),
    ).toEqual([
      "error bad-key spec.template.spec.taints[0].key",
      "error bad-key spec.template.spec.requirements[0].key",
      `error bad-key spec.template.metadata.labels.${key}`,
      "error bad-key spec.template.metadata.annotations.a b",
    ]);
  });
});

describe("a template", () => {
  test("with a taint twice, over both lists", () => {
    const taint = { key: "a", effect: "NoSchedule" } as const;
    const spec = { taints: [taint, { ...taint, value: "other" }], startupTaints: [taint] };
    expect(pool({ template: { spec } })).toEqual([
      "error duplicate-taint spec.template.spec.taints[1]",
      "error duplicate-taint spec.template.spec.startupTaints[0]",
    ]);
    expect(told("NodeClaim", spec)).toEqual([
      "error duplicate-taint spec.taints[1]",
      "error duplicate-taint spec.startupTaints[0]",
    ]);
  });

  test("with requirements that cannot be met or demand nothing", () => {
    const requirements: NonNullable<NonNullable<NodePoolSpec["template"]>["spec"]>["requirements"] = [
      { key: "karpenter.sh/capacity-type", operator: "In", values: ["on_demand"] },
      { key: "a", operator: "DoesNotExist", values: ["b"] },
      { key: "a", operator: "NotIn", values: [] },
    ];
    expect(pool({ template: { spec: { requirements } } })).toEqual([
      "error unknown-capacity-type spec.template.spec.requirements[0].values",
      "warning values-ignored spec.template.spec.requirements[1].values",
      "warning without-effect spec.template.spec.requirements[2]",
    ]);
  });
});

describe("the trap of decision 4", () => {
  const nightly = { schedule: "0 22 * * *", duration: "8h", nodes: 5 };
  const daily = { schedule: "0 6 * * *", duration: "16h", nodes: 0 };
  const trapped = ["warning unlimited-at-times spec.disruption"];

  test.each<[string, NonNullable<NodePoolSpec["disruption"]>, string[]]>([
    ["only budgets with a schedule", { budgets: [nightly] }, trapped],
    ["for one action alone", { budgets: [{ ...nightly, action: "Drift" }] }, trapped],
    ["also for repair", { budgets: [always, { ...nightly, action: "Repair" }] }, trapped],
    ["under an action", { actionControls: { Drift: { budgets: [nightly] } } }, trapped],
    ["but not beside one that is always active", { budgets: [nightly, always] }, []],
    ["nor where windows cover the whole day", { budgets: [nightly, daily] }, []],
    [
      "nor where one window reaches to its next hit",
      { budgets: [{ schedule: "@hourly", duration: "1h", nodes: 1 }] },
      [],
    ],
    ["a minute between them is enough", { budgets: [nightly, { ...daily, duration: "15h59m" }] }, trapped],
    [
      "an hour that the clocks insert too",
      { budgets: [nightly, daily].map(budget => ({ ...budget, timeZone: "Europe/Berlin" })) },
      trapped,
    ],
  ])("%s", (_, disruption, expected) => {
    expect(pool({ disruption })).toEqual(expected);
  });

  test("names the actions and the way out", () => {
    const [finding] = offlineFindings("NodePool", {
      spec: { disruption: { actionControls: { Drift: { budgets: [nightly] } } } },
    });
    expect(finding?.message).toBe("nothing limits Drift while no budget for it is active; add one without a schedule");
  });
});

test("seconds in the duration of a budget or window are dropped, and that is said", () => {
  const budget = { schedule: "@daily", duration: "1h0m30s", nodes: 1 };
  expect(
    pool({
      disruption: {
        budgets: [budget, always, { ...budget, duration: "144h0m0s" }],
        windows: [{ schedule: "@daily", duration: "90s" }],
        actionControls: { Drift: { budgets: [budget] } },
      },
    }),
  ).toEqual([
    "warning seconds-dropped spec.disruption.budgets[0].duration",
    "warning seconds-dropped spec.disruption.windows[0].duration",
    "warning seconds-dropped spec.disruption.actionControls.Drift.budgets[0].duration",
  ]);
});

describe("a repair policy", () => {
  const policies = (...list: { conditionType: string; conditionStatus?: string; conditionReasons?: string[] }[]) =>
    pool({ repair: { policies: list.map(policy => ({ toleration: "5m", ...policy })) } });

  test("for a type that no provider states needs a status, else it does nothing (decision 6)", () => {
    expect(policies({ conditionType: "KernelDeadlock" })).toEqual(["warning without-effect spec.repair.policies[0]"]);
    expect(
      policies({ conditionType: "KernelDeadlock", conditionStatus: "True" }, { conditionType: "NetworkUnavailable" }),
    ).toEqual([]);
  });

  test.each([
    ["the same again", { conditionType: "Ready" }, { conditionType: "Ready" }, true],
    ["any status before one", { conditionType: "Ready" }, { conditionType: "Ready", conditionStatus: "False" }, true],
    ["one status before any", { conditionType: "Ready", conditionStatus: "False" }, { conditionType: "Ready" }, false],
    [
      "one status before the other",
      { conditionType: "Ready", conditionStatus: "False" },
      { conditionType: "Ready", conditionStatus: "Unknown" },
      false,
    ],
    ["some reasons before any", { conditionType: "Ready", conditionReasons: ["A"] }, { conditionType: "Ready" }, false],
    [
      "reasons before a part of them",
      { conditionType: "Ready", conditionReasons: ["A", "B"] },
      { conditionType: "Ready", conditionReasons: ["B"] },
      true,
    ],
    [
      "reasons before others",
      { conditionType: "Ready", conditionReasons: ["A"] },
      { conditionType: "Ready", conditionReasons: ["B"] },
      false,
    ],
    ["another type", { conditionType: "NetworkUnavailable" }, { conditionType: "Ready" }, false],
  ])("is never used behind one that matches first: %s", (_, first, later, shadowed) => {
    expect(policies(first, later)).toEqual(shadowed ? ["warning shadowed spec.repair.policies[1]"] : []);
  });
});

test.each<[string, Repair, string[]]>([
  ["as long as what is borne", { flappingWindow: "10m", defaultTolerationDuration: "10m" }, []],
  [
    "a second shorter",
    { flappingWindow: "599s", defaultTolerationDuration: "10m" },
    ["warning without-effect spec.repair.flappingWindow"],
  ],
  [
    "shorter than one policy bears",
    { flappingWindow: "10m", policies: [{ conditionType: "Ready", toleration: "1h" }] },
    ["warning without-effect spec.repair.flappingWindow"],
  ],
  ["switched off", { flappingWindow: "0s", defaultTolerationDuration: "10m" }, []],
  ["not written", { defaultTolerationDuration: "10m" }, []],
])("a flapping window %s", (_, repair, found) => {
  expect(pool({ repair })).toEqual(found);
});

test("consolidation of a pool with replicas is ignored", () => {
  expect(pool({ replicas: 3, consolidateAfter: "1m", disruption: { consolidationPolicy: "WhenEmpty" } })).toEqual([
    "warning ignored spec.disruption.consolidationPolicy",
    "warning ignored spec.consolidateAfter",
  ]);
});

describe("a health check", () => {
  const workers = { matchExpressions: [{ key: "node-role.kubernetes.io/worker", operator: "Exists" }] };
  const all = "warning selects-all spec.selector";
  const shut = "warning without-effect spec.maxUnhealthy";
  const second = "spec.escalatingRemediations[1].remediationTemplate";
  const fence = { apiVersion: "fence.example.org/v1", kind: "FenceRemediationTemplate", name: "a" };
  const steps = (...templates: readonly object[]) => ({
    escalatingRemediations: templates.map((remediationTemplate, order) => ({
      remediationTemplate,
      order,
      timeout: "5m",
    })),
  });

  test.each<[string, Record<string, unknown>, string[]]>([
    ["in order", { selector: workers, maxUnhealthy: "49%" }, []],
    ["without a selector", {}, [all]],
    ["with an empty one", { selector: { matchLabels: {}, matchExpressions: [] } }, [all]],
    [
      "with a label that cannot be",
      { selector: { matchLabels: { "a b": "c" } } },
      ["error bad-selector spec.selector"],
    ],
    [
      "with no unhealthy condition",
      { selector: workers, unhealthyConditions: [] },
      ["warning without-effect spec.unhealthyConditions"],
    ],
    [
      "with a status that no condition has",
      { selector: workers, unhealthyConditions: [{ type: "Ready", status: "false", duration: "300s" }] },
      ["warning without-effect spec.unhealthyConditions[0].status"],
    ],
    ["that allows no unhealthy node", { selector: workers, maxUnhealthy: "0" }, [shut]],
    ["that allows none of a hundred", { selector: workers, maxUnhealthy: "0%" }, [shut]],
    ["that allows at least one, as percentages do", { selector: workers, maxUnhealthy: "1%" }, []],
    [
      "with a template of no group",
      { selector: workers, remediationTemplate: { ...fence, apiVersion: "v1" } },
      ["warning without-effect spec.remediationTemplate.apiVersion"],
    ],
    [
      "with a template of no kind",
      { selector: workers, remediationTemplate: { ...fence, kind: "Template" } },
      ["warning without-effect spec.remediationTemplate.kind"],
    ],
    ["with the same template twice", { selector: workers, ...steps(fence, fence) }, [`error template-twice ${second}`]],
    [
      "with two of one kind",
      { selector: workers, ...steps(fence, { ...fence, name: "b" }) },
      [`warning kind-twice ${second}`],
    ],
    [
      "with two of one name in two namespaces",
      { selector: workers, ...steps(fence, { ...fence, namespace: "b" }) },
      [`warning kind-twice ${second}`],
    ],
    ["with two kinds", { selector: workers, ...steps(fence, { ...fence, kind: "BootRemediationTemplate" }) }, []],
    ["that wants all healthy", { selector: workers, minHealthy: "100%" }, ["warning without-effect spec.minHealthy"]],
  ])("%s", (_, spec, expected) => {
    expect(told("NodeHealthCheck", spec)).toEqual(expected);
  });
});

test("a safety policy's upgrade deadline and selector must be readable", () => {
  const annotation = (value: string) => ({ "fettle.dev/cluster-upgrade": value });
  expect(told("SafetyPolicy", {}, annotation("2026-11-15T22:00:00Z"))).toEqual([]);
  expect(told("SafetyPolicy", {}, annotation("tomorrow"))).toEqual([
    "error bad-deadline metadata.annotations.fettle.dev/cluster-upgrade",
  ]);
  expect(told("SafetyPolicy", { untouchable: { matchLabels: { "a/b/c": "" } } })).toEqual([
    "error bad-selector spec.untouchable",
  ]);
});

test("kinds with nothing of their own to say have their texts read", () => {
  expect(told("RebootRemediation", { timeout: "9999999h" })).toEqual(["error bad-duration spec.timeout"]);
  expect(told("SimulatedNodeClass", { overhead: { cpu: "1e.5" } })).toEqual(["error bad-quantity spec.overhead.cpu"]);
  expect(told("Unknown", {})).toEqual([]);
});

test("each code says when it is given", () => {
  expect(Object.values(offlineCodes).filter(({ when }) => when.length < 20)).toEqual([]);
});
