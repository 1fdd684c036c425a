import { describe, expect, test } from "vitest";
import { aClaim, aCondition, aNode, aPool, aProvider, at, t0 } from "../../../test/builders.ts";
import {
  aCheck,
  aCheckContext,
  aLease,
  aRemediation,
  aTemplate,
  type CheckWorld,
  decideOn,
  resourceOf,
  running,
  someNodes,
  templateRef,
} from "../../../test/check-builders.ts";
import type { TemplateReference } from "../../api/node-health-check.ts";
import type { NodePoolSpec } from "../../api/node-pool.ts";
import { formatTime, minuteMs } from "../../api/time.ts";
import type { CheckView } from "../../snapshot/check-views.ts";
import type { ActionView } from "../../snapshot/views.ts";
import type { Settings } from "../decision.ts";
import { decideCheckedNode } from "./node.ts";

const apiVersion = "fettle.dev/v1alpha1";
type Remediator = "Replace" | "Reboot";

function checkBy(remediator: Remediator, types: readonly string[]) {
  const remediationTemplate = { apiVersion, kind: `${remediator}RemediationTemplate`, name: "ours" };
  const unhealthyConditions = types.map(type => ({
    type,
    status: type === "Ready" ? "False" : "True",
    duration: "5m",
  }));
  return aCheck("web", { spec: { remediationTemplate, unhealthyConditions } });
}

type Scene = {
  readonly repair?: NonNullable<NodePoolSpec["repair"]>;
  readonly by?: Remediator;
  readonly types?: readonly string[];
  /** Of node n0, all since t0 unless a test says otherwise. */
  readonly conditions?: ReturnType<typeof aNode>["conditions"];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly settings?: Partial<Settings>;
  readonly hasBeenReady?: boolean;
  /** Absent: one with a single step. */
  readonly check?: CheckView;
  readonly world?: CheckWorld;
};

const notReady = aCondition("Ready", "False", { since: t0 });
const deadlock = aCondition("KernelDeadlock", "True", { since: t0 });

function decide(scene: Scene = {}) {
  const { repair = { mode: "Enabled" }, by = "Replace", types = ["Ready", "KernelDeadlock"] } = scene;
  const { conditions = [notReady], annotations = {}, settings = {}, hasBeenReady = true, world = {} } = scene;
  const { check = checkBy(by, types) } = scene;
  const nodes = [{ ...aNode("n0", { annotations }), conditions }, ...someNodes(3, 0).slice(1)];
  const stage = hasBeenReady ? "initialized" : "registered";
  const claims = nodes.map(({ name }) => aClaim(name, { pool: "web", stage }));
  const provider = aProvider({
    repairStatements: [{ conditionType: "Ready", conditionStatus: "False", toleration: 30 * minuteMs }],
  });
  const pools = [aPool("web", { spec: { repair } })];
  const context = aCheckContext({ checks: [check], nodes, claims, pools, provider, ...world });
  const remediators: readonly Remediator[] = ["Replace", "Reboot"];
  for (const kind of remediators.flatMap(one => [`${one}Remediation`, `${one}RemediationTemplate`])) {
    const resource = { ...resourceOf(kind), namespaced: false };
    context.checks.setKind({ apiVersion, kind }, { state: "Served", resource });
  }
  const view = aTemplate("ours", { apiVersion, kind: `${by}RemediationTemplate`, namespace: "" });
  context.checks.replaceTemplate({ before: undefined, after: view });
  return decideCheckedNode("n0", { ...context, settings: { ...context.settings, ...settings } });
}

const codes = (scene: Scene) => decide(scene).refusals.map(({ code }) => code);

describe("a node that a check would replace is left to the repair of its pool", () => {
  test.each<[string, Scene]>([
    ["by the provider's statement", {}],
    ["by a policy", { repair: { mode: "Enabled", policies: [{ conditionType: "Ready", toleration: "2h" }] } }],
    [
      "by a policy on a condition of its own",
      {
        repair: {
          policies: [{ conditionType: "KernelDeadlock", conditionStatus: "True", toleration: "2h", mode: "Enabled" }],
        },
        conditions: [deadlock],
      },
    ],
    ["by its readinessTTL, if it was never Ready", { conditions: [deadlock], hasBeenReady: false }],
  ])("%s", (_how, scene) => {
    const { refusals, proposals } = decide(scene);
    expect(refusals).toMatchObject([{ code: "left-to-repair" }]);
    expect(proposals).toEqual([]);
  });
});

describe("after another's step has failed, a node that would be replaced next is left to repair", () => {
  const step = (order: number, remediationTemplate: TemplateReference) => ({
    order,
    timeout: "5m",
    remediationTemplate,
  });
  const ours = { apiVersion, kind: "ReplaceRemediationTemplate", name: "ours" };
  const escalatingRemediations = [step(1, templateRef()), step(2, ours)];
  const unhealthyConditions = [{ type: "Ready", status: "False", duration: "5m" }];
  const check = aCheck("web", { spec: { escalatingRemediations, unhealthyConditions } });
  const failed = aRemediation({ of: check, on: "n0", createdAt: at("10m"), timedOut: formatTime(at("15m")) });
  const leases = [aLease("n0", { renewedAt: at("10m") })];
  const scene = (actions: readonly ActionView[], more: Scene = {}): Scene => {
    return { check, ...more, world: { actions, leases, remediations: [failed], now: at("20m") } };
  };

  test("and its entry ends, for repair waits for that", () => {
    const { commands, proposals } = decide(scene([running(check)]));
    const [told] = commands.flatMap(one => (one.kind === "update-action" ? (one.progress ?? []) : []));
    expect(told).toMatchObject({
      phase: "Failed",
      outcome: expect.stringContaining("left to the repair of NodePool web"),
    });
    expect(proposals).toEqual([]);
  });

  test("and is not asked for again; the lease on it is given back", () => {
    const { commands, refusals, proposals } = decide(scene([]));
    expect(refusals).toMatchObject([{ code: "left-to-repair" }]);
    expect(commands.map(({ kind }) => kind)).toEqual(["release-node-lease"]);
    expect(proposals).toEqual([]);
  });

  test("but is asked for where its pool repairs nothing by now", () => {
    expect(decide(scene([], { repair: { mode: "Disabled" } })).proposals).toHaveLength(1);
  });
});

describe("nobody else would act, so the check does", () => {
  test.each<[string, Scene]>([
    ["repair is disabled", { repair: { mode: "Disabled" } }],
    ["repair is only shown", { repair: { mode: "DryRun" } }],
    ["no policy and no statement names the condition", { conditions: [deadlock] }],
    [
      "the policy of the condition is disabled",
      { repair: { policies: [{ conditionType: "Ready", toleration: "10m", mode: "Disabled" }] } },
    ],
    [
      "the policy is for another reason",
      {
        repair: {
          policies: [
            {
              conditionType: "KernelDeadlock",
              conditionStatus: "True",
              conditionReasons: ["Docker*"],
              toleration: "1m",
            },
          ],
        },
        conditions: [deadlock],
      },
    ],
    ["a second condition is not repaired", { conditions: [notReady, deadlock] }],
    ["repair is not among the controllers", { settings: { repairs: false } }],
    ["it is to be rebooted, not replaced", { by: "Reboot" }],
  ])("%s", (_why, scene) => {
    const { refusals, proposals } = decide(scene);
    expect(refusals).toEqual([]);
    expect(proposals.length).toBe(1);
  });

  test("by a stranger's template, whatever the pool says", () => {
    const nodes = someNodes(3, 1);
    const claims = nodes.map(({ name }) => aClaim(name, { pool: "web" }));
    const pools = [aPool("web", { spec: { repair: { mode: "Enabled" } } })];
    expect(decideOn({ nodes, claims, pools }).proposals[0]?.claim).toEqual({ name: "n0", uid: "n0-claim-uid" });
  });

  test("from the instant at which the condition that is not repaired is due", () => {
    const later = { ...deadlock, since: at("55m") + 1 };
    const scene = (now: number): Scene => ({ conditions: [notReady, later], world: { now } });
    const early = decide(scene(at("1h")));
    expect(early.refusals).toMatchObject([{ code: "left-to-repair", until: at("1h") + 1 }]);
    expect(early.wakeAt).toBe(at("1h") + 1);
    expect(codes(scene(at("1h") + 1))).toEqual([]);
  });
});

describe("karpenter.sh/do-not-repair", () => {
  const annotations = { "karpenter.sh/do-not-repair": "true" };

  test.each<[string, Scene]>([
    ["Replace", { annotations }],
    ["Reboot", { annotations, by: "Reboot" }],
    ["Replace where the pool repairs nothing", { annotations, repair: { mode: "Disabled" } }],
  ])("holds our own %s", (_what, scene) => {
    expect(decide(scene).refusals).toMatchObject([
      { code: "do-not-repair", message: expect.stringContaining("NodeHealthCheck web") as string },
    ]);
  });

  test("until its time", () => {
    const until = at("1h") + 1000;
    const scene = (now: number): Scene => ({
      annotations: { "karpenter.sh/do-not-repair": formatTime(until) },
      repair: { mode: "Disabled" },
      world: { now },
    });
    expect(decide(scene(until - 1))).toMatchObject({ refusals: [{ code: "do-not-repair", until }], wakeAt: until });
    expect(codes(scene(until))).toEqual([]);
  });
});

describe("edited to one that is left to repair, while something of it runs", () => {
  const remediationTemplate = { apiVersion, kind: "ReplaceRemediationTemplate", name: "ours" };
  const edited = aCheck("web", { spec: { remediationTemplate }, generation: 2 });
  const toldBy = (world: CheckWorld) =>
    decide({ check: edited, world }).commands.map(command =>
      command.kind === "update-action" ? `${command.kind} ${command.progress?.phase ?? ""}` : command.kind,
    );

  test.each([true, false])("that is not given up for it, known to the ledger: %s", isInLedger => {
    const before = aCheck("web", { spec: { remediationTemplate: templateRef("fence") } });
    const remediations = [aRemediation({ of: before, on: "n0", createdAt: at("58m") })];
    const actions = isInLedger ? [running(edited)] : [];
    const commands = toldBy({ remediations, actions, leases: [aLease("n0")], templates: [aTemplate()] });
    expect(commands).not.toContain("release-node-lease");
    expect(commands).not.toContain("update-action Failed");
  });

  test.each([true, false])("no lease is taken and given back for what is done, ours before: %s", hasLease => {
    const done = aRemediation({
      of: checkBy("Reboot", ["Ready"]),
      on: "n0",
      apiVersion,
      kind: "RebootRemediation",
      namespace: "",
      templateName: "ours",
      createdAt: at("45m"),
      own: { spec: {}, status: {}, conditions: [] },
      succeeded: aCondition("Succeeded", "True"),
    });
    expect(toldBy({ remediations: [done], leases: hasLease ? [aLease("n0")] : [] })).toEqual([]);
  });
});
