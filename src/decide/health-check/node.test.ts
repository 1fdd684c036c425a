import { describe, expect, test } from "vitest";
import { aClaim, aCondition, aNode, anAction, aPool, at, t0 } from "../../../test/builders.ts";
import type { NodeHealthCheckSpec } from "../../api/node-health-check.ts";
import { leaseHolder } from "../../api/node-health-check-contract.ts";
import { formatTime, type Instant, minuteMs, secondMs } from "../../api/time.ts";
import type { CheckView, RemediationView } from "../../snapshot/check-views.ts";
import type { ActionView, NodeView } from "../../snapshot/views.ts";
import { HealthCounts } from "../brake-counts.ts";
import { ConditionMemory } from "../sickness-history.ts";
import { decideCheckedNode } from "./node.ts";
import {
  aCheck,
  aCheckContext,
  aLease,
  apiVersion,
  aRemediation,
  aTemplate,
  type CheckWorld,
  commandsOf,
  resourceOf,
  someNodes,
  templateRef,
} from "../../../test/check-builders.ts";

const web = aCheck("web");

function decide(world: CheckWorld, node = "n0") {
  return decideCheckedNode(node, aCheckContext({ checks: [web], nodes: someNodes(3, 1), ...world }));
}

function codes(world: CheckWorld, node = "n0") {
  return decide(world, node).refusals.map(({ code }) => code);
}

function remediating(check: CheckView = web, more: Parameters<typeof anAction>[1] = {}): ActionView {
  return anAction("remediation-n0", {
    node: "n0",
    phase: "Pending",
    ...more,
    spec: {
      action: "Remediation",
      method: "Remediate",
      askedBy: { kind: "NodeHealthCheck", name: check.name, uid: check.uid },
      ...more.spec,
    },
  });
}

const running = (check = web) => remediating(check, { phase: "Running", status: { startedAt: formatTime(t0) } });

describe("when a node is unhealthy", () => {
  const since = at("1h");
  const world = (now: Instant): CheckWorld => ({
    nodes: [aNode("n0", { ready: "False", since }), aNode("b"), aNode("c")],
    now,
  });

  test.each([
    { at: "one ms before its duration has passed", now: since + 5 * minuteMs - 1, asked: 0, code: "soon-unhealthy" },
    { at: "when it has passed", now: since + 5 * minuteMs, asked: 1, code: undefined },
    { at: "one ms after", now: since + 5 * minuteMs + 1, asked: 1, code: undefined },
  ])("$at", ({ now, asked, code }) => {
    const { proposals, refusals, wakeAt } = decide(world(now));
    expect(proposals.length).toBe(asked);
    expect(refusals[0]?.code).toBe(code);
    expect(wakeAt).toBe(code === undefined ? undefined : since + 5 * minuteMs);
  });

  test("it is asked for with what was seen, for whom, and since when it is due", () => {
    const [proposal] = decide(world(at("2h"))).proposals;
    expect(proposal).toMatchObject({
      node: { name: "n0", uid: "n0-uid" },
      action: "Remediation",
      method: "Remediate",
      askedBy: { kind: "NodeHealthCheck", name: "web", uid: web.uid },
      policy: { kind: "NodeHealthCheck", name: "web", path: "spec.unhealthyConditions[0]", generation: 1 },
      dueAt: since + 5 * minuteMs,
    });
    expect(proposal?.evidence).toMatchObject([
      { kind: "Condition", conditionType: "Ready", conditionStatus: "False", clock: "Reporter", toleration: "5m0s" },
    ]);
  });

  test("of several conditions one is enough, and the first that is due counts", () => {
    const spec: NodeHealthCheckSpec = {
      unhealthyConditions: [
        { type: "Ready", status: "False", duration: "300s" },
        { type: "DiskBroken", status: "True", duration: "10s" },
      ],
    };
    const node = aNode("n0", {
      conditions: [aCondition("Ready", "False", { since }), aCondition("DiskBroken", "True", { since })],
    });
    const asked = (now: Instant) => decide({ checks: [aCheck("web", { spec })], nodes: [node, aNode("b")], now });
    expect(asked(since + 10 * secondMs - 1).proposals).toEqual([]);
    const first = asked(since + 10 * secondMs);
    expect(first.proposals[0]?.evidence.map(({ conditionType }) => conditionType)).toEqual(["DiskBroken"]);
    expect(first.wakeAt).toBe(since + 5 * minuteMs);
    expect(asked(since + 5 * minuteMs).proposals[0]?.evidence.length).toBe(2);
  });

  test("a condition that is not there never matches", () => {
    const spec = { unhealthyConditions: [{ type: "DiskBroken", status: "True", duration: "0s" }] };
    const found = decide({ checks: [aCheck("web", { spec })] });
    expect([...found.proposals, ...found.refusals, ...found.commands]).toEqual([]);
  });

  test("a back-dated condition gains nothing on a young node", () => {
    const node = aNode("n0", { ready: "False", since: t0, createdAt: at("58m") });
    expect(decide({ nodes: [node, aNode("b")] }).wakeAt).toBe(at("63m"));
  });

  test("a back-dated condition gains nothing where we were watching", () => {
    const memory = new ConditionMemory();
    const before = aNode("n0");
    const after = aNode("n0", { ready: "False", since: t0 });
    memory.observe({ after: before }, at("50m"));
    memory.observe({ before, after }, at("59m"));
    const context = aCheckContext({ checks: [web], nodes: [after, aNode("b")] });
    const remembered = { sight: memory, health: new HealthCounts() };
    const found = decideCheckedNode("n0", { ...context, remembered });
    expect(found.refusals).toMatchObject([{ code: "soon-unhealthy", until: at("64m") }]);
    expect(decideCheckedNode("n0", context).proposals.length).toBe(1);
  });

  test("a condition without a time is never due, and says so", () => {
    const { since: _, ...timeless } = aCondition("Ready", "False");
    expect(codes({ nodes: [aNode("n0", { conditions: [timeless] }), aNode("b")] })).toEqual(["due-time-unknown"]);
  });

  test("nodes created already unhealthy are seen at once", () => {
    const context = aCheckContext({ checks: [web] });
    context.checks.replaceNode({ before: undefined, after: aNode("n0", { ready: "False" }) });
    expect([...context.checks.takeDirty()].sort()).toEqual(["check/web", "cluster", "node/n0"]);
  });
});

describe("what is not asked for", () => {
  test("an excluded node", () => {
    const excluded = (value: string) => ({
      nodes: someNodes(3, 1, { labels: { "remediation.medik8s.io/exclude-from-remediation": value } }),
    });
    expect(codes(excluded("true"))).toEqual(["excluded"]);
    expect(decide(excluded("false")).proposals.length).toBe(1);
    const empty = decide(excluded(""));
    expect(empty.proposals.length).toBe(1);
    expect(empty.notices.map(({ reason }) => reason)).toContain("InvalidNodeLabel");
  });

  test("a node whose lease another holds, until it runs out", () => {
    const lease = aLease("n0", { holder: "node-maintenance", durationMs: 3600 * secondMs, renewedAt: at("30m") });
    const held = decide({ leases: [lease] });
    expect(held.refusals).toMatchObject([{ code: "lease-held", until: at("90m") }]);
    expect(held.wakeAt).toBe(at("90m"));
    expect(decide({ leases: [lease], now: at("90m") }).proposals.length).toBe(1);
  });

  test("a node left to its pool's repair, only by our own Replace", () => {
    const template = { apiVersion: "fettle.dev/v1alpha1", kind: "ReplaceRemediationTemplate", name: "replace" };
    const check = aCheck("web", { spec: { remediationTemplate: template } });
    const nodes = someNodes(3, 1);
    const claims = nodes.map(({ name }) => aClaim(name, { pool: "web" }));
    const replaced = (mode: "Enabled" | "Disabled") => {
      const pools = [aPool("web", { spec: { repair: { mode } } })];
      const context = aCheckContext({ checks: [check], nodes, claims, pools });
      for (const kind of ["ReplaceRemediation", "ReplaceRemediationTemplate"]) {
        const resource = { ...resourceOf(kind), namespaced: false };
        context.checks.setKind({ apiVersion: template.apiVersion, kind }, { state: "Served", resource });
      }
      const view = aTemplate("replace", { ...template, namespace: "" });
      context.checks.replaceTemplate({ before: undefined, after: view });
      return decideCheckedNode("n0", context);
    };
    expect(replaced("Enabled").refusals.map(({ code }) => code)).toEqual(["left-to-repair"]);
    expect(replaced("Disabled").proposals.length).toBe(1);
    const fenced = decide({ nodes, claims, pools: [aPool("web", { spec: { repair: { mode: "Enabled" } } })] });
    expect(fenced.proposals[0]?.claim).toEqual({ name: "n0", uid: "n0-claim-uid" });
  });

  test("anything of a check that is disabled or being deleted", () => {
    expect(codes({ templates: [] })).toEqual(["check-disabled"]);
    expect(codes({ checks: [aCheck("web", { deletingSince: t0 })] })).toEqual([]);
  });

  test("anything by a check that cannot be understood", () => {
    const check = aCheck("web", { spec: { remediationTemplate: { ...templateRef(), kind: "Nonsense" } } });
    expect(decide({ checks: [check] }).proposals).toEqual([]);
    expect(check.selector).toBeUndefined();
  });

  test("anything that is only shown", () => {
    const [proposal] = decide({ checks: [aCheck("web", { spec: { dryRun: true } })] }).proposals;
    expect(proposal?.dryRun).toBe(true);
  });
});

describe("a start", () => {
  test("takes the lease first, for the time of the step and a minute", () => {
    const { commands } = decide({ actions: [remediating()] });
    expect(commands).toMatchObject([
      {
        kind: "take-node-lease",
        lease: { name: "node-n0", namespace: "medik8s-leases" },
        node: { name: "n0", uid: "n0-uid" },
        holder: leaseHolder("web"),
        durationSeconds: 660,
      },
    ]);
  });

  test("takes over a lease that has run out, by its version", () => {
    const lease = aLease("n0", { holder: "gone", renewedAt: t0, resourceVersion: "7" });
    const [command] = commandsOf(decide({ actions: [remediating()], leases: [lease] }), "take-node-lease");
    expect(command?.over).toEqual({ uid: lease.uid, resourceVersion: "7" });
  });

  test("then makes the object of the template, as the contract says", () => {
    const labels = { "node-role.kubernetes.io/control-plane": "" };
    const world = { nodes: someNodes(3, 1, { labels }), actions: [remediating()], leases: [aLease("n0")] };
    const [command] = commandsOf(decide(world), "create-remediation");
    expect(command?.manifest).toEqual({
      apiVersion,
      kind: "FenceRemediation",
      metadata: {
        name: "n0",
        namespace: "fencing",
        labels: {
          "app.kubernetes.io/part-of": "node-healthcheck-controller",
          "remediation.medik8s.io/isControlPlaneNode": "",
        },
        annotations: {
          "remediation.medik8s.io/node-name": "n0",
          "remediation.medik8s.io/template-name": "fence",
          "fettle.dev/made-under": web.madeUnder,
        },
        ownerReferences: [
          {
            apiVersion: "remediation.medik8s.io/v1alpha1",
            kind: "NodeHealthCheck",
            name: "web",
            uid: web.uid,
            controller: false,
          },
        ],
      },
      spec: { strategy: "fence" },
    });
    expect(command?.action).toEqual({ name: "remediation-n0", uid: "remediation-n0-action-uid" });
    expect(command?.resource).toEqual(resourceOf("FenceRemediation"));
  });

  test("is written down when the object is there", () => {
    const world = {
      actions: [remediating()],
      leases: [aLease("n0")],
      remediations: [aRemediation({ of: web, on: "n0" })],
    };
    expect(decide(world).commands).toMatchObject([
      { kind: "update-action", progress: { phase: "Running", steps: [{ name: "remediation-1", isFinished: false }] } },
    ]);
  });

  test("waits for an older leader's entry to be adopted, and for a provisional one to be real", () => {
    expect(decide({ actions: [remediating()], epoch: 2 }).commands).toEqual([]);
    expect(decide({ actions: [remediating(web, { isProvisional: true })] }).commands).toEqual([]);
  });

  test("is given up when the node has recovered before anything was done", () => {
    const world = { nodes: someNodes(3, 0), actions: [remediating()], leases: [aLease("n0")] };
    expect(decide(world).commands).toMatchObject([{ kind: "update-action", progress: { phase: "Abandoned" } }]);
  });

  test("waits while an older object of the name is being deleted", () => {
    const going = aRemediation({ on: "n0", deletingSince: at("50m"), finalizers: ["fence.example.org"] });
    const world = { actions: [remediating()], leases: [aLease("n0")], remediations: [going] };
    expect(decide(world).refusals).toMatchObject([
      { code: "still-being-removed", message: expect.stringContaining("fence.example.org") as string },
    ]);
  });

  test("leaves an object of the name that is another's alone, and names the owner", () => {
    const world = {
      actions: [remediating()],
      leases: [aLease("n0")],
      remediations: [aRemediation({ of: aCheck("other"), on: "n0" })],
    };
    const found = decide(world);
    expect(found.refusals).toMatchObject([
      { code: "remediation-of-another", message: expect.stringContaining("NodeHealthCheck other") as string },
    ]);
    expect(found.commands).toEqual([]);
  });

  test("that the server refused is tried again at its time", () => {
    const lane = `remediation/${apiVersion} FenceRemediation fencing/n0`;
    const failure = { at: at("59m"), retryAt: at("61m"), count: 1, reason: "", message: "quota" };
    const found = decide({ actions: [remediating()], leases: [aLease("n0")], failures: { [lane]: failure } });
    expect(found.refusals).toMatchObject([{ code: "create-failed", until: at("61m") }]);
    expect(found.commands).toEqual([]);
  });

  test("is not made on a node that is being deleted", () => {
    const world = { nodes: someNodes(3, 1, { deletingSince: t0 }), actions: [remediating()], leases: [aLease("n0")] };
    expect(codes(world)).toEqual(["node-going"]);
  });
});

const steps: NodeHealthCheckSpec = {
  escalatingRemediations: [
    { remediationTemplate: templateRef("wipe", "WipeRemediationTemplate"), order: 30, timeout: "10m" },
    { remediationTemplate: templateRef("fence"), order: 10, timeout: "5m" },
    { remediationTemplate: templateRef("reboot", "RebootRemediationTemplate"), order: 20, timeout: "5m" },
  ],
};
const escalating = aCheck("web", { spec: steps });
const templates = [
  aTemplate("fence"),
  aTemplate("reboot", { kind: "RebootRemediationTemplate" }),
  aTemplate("wipe", { kind: "WipeRemediationTemplate" }),
];

function step(kind: "Fence" | "Reboot" | "Wipe", views: Partial<RemediationView> = {}): RemediationView {
  return aRemediation({
    of: escalating,
    on: "n0",
    kind: `${kind}Remediation`,
    templateName: kind.toLowerCase(),
    ...views,
  });
}

describe("escalation", () => {
  const world = (remediations: readonly RemediationView[], more: CheckWorld = {}): CheckWorld => ({
    checks: [escalating],
    templates,
    actions: [running(escalating)],
    leases: [aLease("n0")],
    remediations,
    ...more,
  });
  const started = at("58m");

  test("unsorted steps run in their order, whatever the list says", () => {
    const [command] = commandsOf(decide(world([], { actions: [remediating(escalating)] })), "create-remediation");
    expect(command?.manifest.kind).toBe("FenceRemediation");
  });

  test.each([
    { now: started + 5 * minuteMs - 1, stamped: 0, wakeAt: started + 5 * minuteMs },
    { now: started + 5 * minuteMs, stamped: 1, wakeAt: undefined },
  ])("a step that has had its time is stamped at $now", ({ now, stamped, wakeAt }) => {
    const found = decide(world([step("Fence", { createdAt: started })], { now }));
    const stamps = commandsOf(found, "annotate-remediation");
    expect(stamps.length).toBe(stamped);
    if (stamped === 1) expect(stamps[0]?.annotations).toEqual({ "remediation.medik8s.io/nhc-timed-out": "" });
    if (wakeAt !== undefined) expect(found.wakeAt).toBe(wakeAt);
    expect(commandsOf(found, "create-remediation")).toEqual([]);
  });

  test("the next step is made once the stamp is seen", () => {
    const found = decide(world([step("Fence", { createdAt: t0, timedOut: formatTime(at("5m")) })]));
    expect(commandsOf(found, "create-remediation").map(({ manifest }) => manifest.kind)).toEqual(["RebootRemediation"]);
  });

  test("Succeeded=False ends a step before its time", () => {
    const succeeded = aCondition("Succeeded", "False", { message: "no power" });
    const found = decide(world([step("Fence", { createdAt: at("59m"), succeeded })]));
    expect(commandsOf(found, "annotate-remediation").length).toBe(1);
  });

  test("Succeeded=True and still unhealthy: the next step without a stamp, when its time is up", () => {
    const fenced = step("Fence", { createdAt: at("58m"), succeeded: aCondition("Succeeded", "True") });
    expect(decide(world([fenced])).commands.map(({ kind }) => kind)).not.toContain("create-remediation");
    const found = decide(world([fenced], { now: at("63m") }));
    expect(commandsOf(found, "annotate-remediation")).toEqual([]);
    expect(commandsOf(found, "create-remediation").length).toBe(1);
  });

  test("another unhealthy condition that is not due yet holds the next step back", () => {
    const nodes = [aNode("n0", { ready: "Unknown", since: at("58m") }), aNode("b"), aNode("c")];
    const remediations = [step("Fence", { createdAt: t0, timedOut: formatTime(at("5m")) })];
    const early = decide(world(remediations, { nodes }));
    expect(early.commands.filter(({ kind }) => kind !== "update-action")).toEqual([]);
    expect(early.wakeAt).toBe(at("63m"));
    expect(commandsOf(decide(world(remediations, { nodes, now: at("63m") })), "create-remediation").length).toBe(1);
  });

  test("after the last one nothing is left, and that is said", () => {
    const over = { createdAt: t0, timedOut: formatTime(at("20m")) };
    const found = decide(world([step("Fence", over), step("Reboot", over), step("Wipe", over)]));
    expect(found.refusals.map(({ code }) => code)).toEqual(["no-template-left"]);
    expect(found.notices.map(({ reason }) => reason)).toContain("NoTemplateLeft");
    expect(commandsOf(found, "create-remediation")).toEqual([]);
  });

  test("goes on while the check is paused", () => {
    const check = aCheck("web", { spec: { ...steps, pauseRequests: ["maintenance"] } });
    const remediations = [aRemediation({ of: check, on: "n0", timedOut: formatTime(at("5m")) })];
    const found = decide({ ...world(remediations), checks: [check], actions: [running(check)] });
    expect(commandsOf(found, "create-remediation").length).toBe(1);
  });

  test("stops for an excluded node and leaves what is there", () => {
    const nodes = someNodes(3, 1, { labels: { "remediation.medik8s.io/exclude-from-remediation": "true" } });
    const found = decide(world([step("Fence", { timedOut: formatTime(at("5m")) })], { nodes }));
    expect(found.refusals.map(({ code }) => code)).toEqual(["excluded"]);
    expect(commandsOf(found, "delete-remediation")).toEqual([]);
  });

  test("the lease is renewed at half its time, for the step that runs", () => {
    const remediations = [step("Fence", { createdAt: at("59m") })];
    const lease = aLease("n0", { durationMs: 360_000, renewedAt: at("57m") });
    const [renewed] = commandsOf(decide(world(remediations, { leases: [lease], now: at("1h") })), "take-node-lease");
    expect(renewed).toMatchObject({ durationSeconds: 360, over: { uid: lease.uid } });
    const early = decide(world(remediations, { leases: [lease], now: at("1h") - 1 }));
    expect(commandsOf(early, "take-node-lease")).toEqual([]);
    expect(early.wakeAt).toBe(at("1h"));
  });

  test("is not begun by an edit while it runs: what was written before holds", () => {
    const edited = aCheck("web", { spec: { ...steps, selector: { matchLabels: { no: "node" } } } });
    const remediations = [aRemediation({ of: escalating, on: "n0", timedOut: formatTime(at("5m")) })];
    const found = decide({ ...world(remediations), checks: [edited] });
    expect(found.refusals.map(({ code }) => code)).toEqual(["edited-while-remediating"]);
    expect(commandsOf(found, "delete-remediation")).toEqual([]);
  });
});

test("a third template of the same kind is reached, and each is named apart", () => {
  const names = ["one", "two", "three"];
  const check = aCheck("web", {
    spec: {
      escalatingRemediations: names.map((name, order) => ({
        remediationTemplate: templateRef(name),
        order,
        timeout: "1m",
      })),
    },
  });
  const same = names.map(name => aTemplate(name, { supportsMultiple: true }));
  const world = { checks: [check], templates: same, actions: [remediating(check)], leases: [aLease("n0")] };
  const seen: RemediationView[] = [];
  for (const name of names) {
    const [command] = commandsOf(decide({ ...world, remediations: seen }), "create-remediation");
    expect(command?.manifest.metadata.annotations?.["remediation.medik8s.io/template-name"]).toBe(name);
    const made = command?.manifest.metadata.name ?? "";
    seen.push(aRemediation({ of: check, on: "n0", name: made, templateName: name, timedOut: formatTime(at("2m")) }));
  }
  expect(new Set(seen.map(({ name }) => name)).size).toBe(3);
  expect(codes({ ...world, remediations: seen })).toEqual(["no-template-left"]);
});

describe("recovery", () => {
  const well = someNodes(3, 0);
  const made = aRemediation({ of: web, on: "n0", createdAt: at("30m") });
  const world = (more: CheckWorld = {}): CheckWorld => ({
    nodes: well,
    actions: [running()],
    leases: [aLease("n0")],
    remediations: [made],
    ...more,
  });

  test("removes the remediation at once, by its uid", () => {
    const [command] = commandsOf(decide(world()), "delete-remediation");
    expect(command?.remediation).toEqual({
      resource: resourceOf("FenceRemediation"),
      name: "n0",
      namespace: "fencing",
      uid: made.uid,
    });
  });

  test("waits for finalizers, then ends the action and gives the lease back", () => {
    const going = { ...made, deletingSince: at("50m"), finalizers: ["fence.example.org"] };
    expect(codes(world({ remediations: [going] }))).toEqual(["remediation-finishing"]);
    const ended = decide(world({ remediations: [] })).commands;
    expect(ended).toMatchObject([
      { kind: "update-action", progress: { phase: "Done", steps: [{ name: "ended", isFinished: true }] } },
    ]);
    expect(decide(world({ remediations: [], actions: [] })).commands).toMatchObject([{ kind: "release-node-lease" }]);
  });

  test("leaves a lease that is another's alone", () => {
    const lease = aLease("n0", { holder: "node-maintenance" });
    expect(decide({ nodes: well, leases: [lease] }).commands).toEqual([]);
  });

  test("happens under pause and upgrade too: a recovered node does not keep its remediation", () => {
    const check = aCheck("web", { spec: { pauseRequests: ["upgrade"] } });
    const upgrade = { isOpenShift: true, progressing: [{ name: "version", message: "working" }] };
    const remediations = [aRemediation({ of: check, on: "n0" })];
    const found = decide(world({ checks: [check], remediations, upgrade, actions: [running(check)] }));
    expect(commandsOf(found, "delete-remediation").length).toBe(1);
  });

  test("own remediations from before, which the ledger does not know, are removed; another's are not", () => {
    const remediations = [made, aRemediation({ of: aCheck("other"), on: "n1" })];
    expect(commandsOf(decide(world({ actions: [], remediations })), "delete-remediation").length).toBe(1);
    expect(decide(world({ actions: [], remediations }), "n1").commands).toEqual([]);
  });

  test("a node that leaves the selection by its labels is let go at once", () => {
    const check = aCheck("web", { spec: { selector: { matchLabels: { role: "worker" } } } });
    const remediations = [aRemediation({ of: check, on: "n0" })];
    const found = decide({ checks: [check], nodes: someNodes(3, 1), remediations });
    expect(commandsOf(found, "delete-remediation").length).toBe(1);
    expect(found.proposals).toEqual([]);
  });

  test("a remediation that somebody removed from an unhealthy node is asked for anew", () => {
    const found = decide(world({ nodes: someNodes(3, 1), remediations: [] }));
    expect(found.commands).toMatchObject([{ kind: "update-action", progress: { phase: "Done" } }]);
    expect(decide({ actions: [] }).proposals.length).toBe(1);
  });
});

describe("healthyDelay", () => {
  const check = aCheck("web", { spec: { healthyDelay: "6s" } });
  const recovered = at("1h");
  const node = aNode("n0", { since: recovered });
  const made = (views: Partial<RemediationView> = {}) => aRemediation({ of: check, on: "n0", ...views });
  const world = (remediation: RemediationView, now: Instant, more: CheckWorld = {}): CheckWorld => ({
    checks: [check],
    nodes: [node, aNode("b")],
    actions: [running(check)],
    remediations: [remediation],
    leases: [aLease("n0")],
    now,
    ...more,
  });

  test("the first sight of a healthy node is stamped", () => {
    const [command] = commandsOf(decide(world(made(), recovered)), "annotate-remediation");
    expect(command?.annotations).toEqual({ "remediation.medik8s.io/healthy-delay": "" });
  });

  test.each([
    { after: 6 * secondMs - 1, removed: 0 },
    { after: 6 * secondMs, removed: 1 },
  ])("the remediation goes $after ms after it", ({ after, removed }) => {
    const found = decide(world(made({ healthySince: recovered }), recovered + after));
    expect(commandsOf(found, "delete-remediation").length).toBe(removed);
    if (removed === 0) {
      expect(found.refusals).toMatchObject([{ code: "healthy-delay", until: recovered + 6 * secondMs }]);
      expect(found.wakeAt).toBe(recovered + 6 * secondMs);
    }
  });

  test("a node that fails again during the delay begins it anew", () => {
    const sick = [aNode("n0", { ready: "False", since: recovered + secondMs }), aNode("b")];
    const stamped = made({ healthySince: recovered });
    const failed = decide(world(stamped, recovered + 2 * secondMs, { nodes: sick }));
    expect(commandsOf(failed, "annotate-remediation")[0]?.annotations).toEqual({
      "remediation.medik8s.io/healthy-delay": null,
    });
    // Even if nobody saw it fail: its condition says that it is healthy only since then.
    const again = [aNode("n0", { since: recovered + 5 * secondMs }), aNode("b")];
    const unseen = decide(world(stamped, recovered + 6 * secondMs, { nodes: again }));
    expect(commandsOf(unseen, "delete-remediation")).toEqual([]);
    expect(unseen.wakeAt).toBe(recovered + 11 * secondMs);
  });

  const forEver = aCheck("web", { spec: { healthyDelay: "-1s" } });
  const confirmed = { annotations: { "remediation.medik8s.io/manually-confirmed-healthy": "yes" } };
  const negative = (nodes: readonly NodeView[], remediations: readonly RemediationView[]): CheckWorld => ({
    checks: [forEver],
    nodes,
    remediations,
    now: at("100h"),
  });

  test("negative, it lasts until somebody confirms", () => {
    const kept = aRemediation({ of: forEver, on: "n0" });
    expect(codes(negative([aNode("n0"), aNode("b")], [kept]))).toEqual(["awaits-confirmation"]);
    const found = decide(negative([aNode("n0", confirmed), aNode("b")], [kept]));
    expect(commandsOf(found, "delete-remediation").length).toBe(1);
  });

  test("a confirmation is taken off the node once it is used up, by a write that our own role allows", () => {
    const kept = aRemediation({ of: forEver, on: "n0", deletingSince: at("99h") });
    const early = decide(negative([aNode("n0", confirmed), aNode("b")], [kept]));
    expect(early.commands).toEqual([]);
    const found = decide(negative([aNode("n0", confirmed), aNode("b")], []));
    expect(found.commands).toMatchObject([
      {
        kind: "update-node",
        node: { name: "n0", uid: "n0-uid" },
        change: { annotations: { "remediation.medik8s.io/manually-confirmed-healthy": null } },
      },
    ]);
  });
});

describe("one owner at a time", () => {
  test("two checks on one node both ask; the arbiter gives it to one", () => {
    const found = decide({ checks: [web, aCheck("zoo")] });
    expect(found.proposals.map(({ askedBy }) => askedBy.name)).toEqual(["web", "zoo"]);
  });

  test("the other check does not touch what the first one runs", () => {
    const zoo = aCheck("zoo");
    const world = {
      checks: [web, zoo],
      actions: [running()],
      remediations: [aRemediation({ of: web, on: "n0" })],
      leases: [aLease("n0")],
    };
    const found = decide(world);
    expect(found.commands.filter(({ kind }) => kind !== "update-action")).toEqual([]);
    expect(found.refusals).toMatchObject([
      { code: "lease-held", message: expect.stringContaining("NodeHealthCheck-web") as string },
    ]);
  });
});

describe("what is not seen whole", () => {
  test("is not taken for gone: after a restart nothing ends because its kind is not listed yet", () => {
    const world: CheckWorld = {
      actions: [running()],
      leases: [aLease("n0")],
      kinds: { FenceRemediation: { state: "Listing" } },
    };
    const found = decide(world);
    expect(found.commands).toEqual([]);
    expect(found.refusals.map(({ code }) => code)).toEqual(["check-disabled"]);
  });

  test("leaves the remediations of a check that cannot be understood as they are", () => {
    const broken = aCheck("web", { spec: { remediationTemplate: { ...templateRef(), kind: "Nonsense" } } });
    const { madeUnder: _, ...made } = aRemediation({ of: broken, on: "n0" });
    expect(decide({ checks: [broken], nodes: someNodes(3, 0), remediations: [made] }).commands).toEqual([]);
  });
});

test("a remediation that is two days old is worth a word", () => {
  const remediations = [aRemediation({ of: web, on: "n0" })];
  const world = { actions: [running()], leases: [aLease("n0", { renewedAt: at("48h") })], remediations };
  const reasons = (now: Instant) => decide({ ...world, now }).notices.map(({ reason }) => reason);
  expect(reasons(at("48h") - 1)).not.toContain("OldRemediation");
  expect(reasons(at("48h"))).toContain("OldRemediation");
});

test("a node that nobody checks is nobody's", () => {
  expect(decide({ checks: [] })).toEqual({ commands: [], proposals: [], refusals: [], notices: [], wakeAt: undefined });
  expect(decide({}, "nobody").commands).toEqual([]);
});
