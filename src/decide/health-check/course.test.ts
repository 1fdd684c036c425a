import { describe, expect, test } from "vitest";
import { aClaim, aCondition, anAction, aNode, aPool, at, t0 } from "../../../test/builders.ts";
import type { NodeHealthCheckSpec } from "../../api/node-health-check.ts";
import { leaseHolder } from "../../api/node-health-check-contract.ts";
import { laneOfRemediation } from "../lane.ts";
import { formatTime, minuteMs } from "../../api/time.ts";
import type { RemediationView } from "../../snapshot/check-views.ts";
import type { Decision } from "../decision.ts";
import {
  aCheck,
  aLease,
  apiVersion,
  aRemediation,
  aTemplate,
  type CheckWorld,
  commandsOf,
  resourceOf,
  someNodes,
  templateRef,
  remediating,
  running,
  web,
  decideOn as decide,
  codesOn as codes,
} from "../../../test/check-builders.ts";

/** Why the entry waits, if nothing else is asked for. */
const waitsOf = ({ commands }: Decision) =>
  commands.map(command => (command.kind === "update-action" && command.progress?.waitingFor?.reason) || command.kind);

describe("a start", () => {
  test("takes the lease with it, for the time of the step and a minute", () => {
    const { commands } = decide({ actions: [remediating(web)] });
    expect(commands).toMatchObject([
      {
        kind: "create-remediation",
        takes: {
          lease: { name: "node-n0", namespace: "medik8s-leases" },
          node: { name: "n0", uid: "n0-uid" },
          holder: leaseHolder("web"),
          durationSeconds: 660,
        },
      },
    ]);
  });

  test("takes none that it holds", () => {
    const [command] = commandsOf(decide({ actions: [remediating(web)], leases: [aLease("n0")] }), "create-remediation");
    expect(command).toBeDefined();
    expect(command?.takes).toBeUndefined();
  });

  test("takes over a lease that has run out, by its version", () => {
    const lease = aLease("n0", { holder: "gone", renewedAt: t0, resourceVersion: "7" });
    const [command] = commandsOf(decide({ actions: [remediating(web)], leases: [lease] }), "create-remediation");
    expect(command?.takes?.over).toEqual({ uid: lease.uid, resourceVersion: "7" });
  });

  test("makes the object of the template, as the contract says", () => {
    const labels = { "node-role.kubernetes.io/control-plane": "" };
    const world = { nodes: someNodes(3, 1, { labels }), actions: [remediating(web)], leases: [aLease("n0")] };
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
      actions: [remediating(web)],
      leases: [aLease("n0")],
      remediations: [aRemediation({ of: web, on: "n0", createdAt: at("50m") })],
    };
    expect(decide(world).commands).toMatchObject([
      { kind: "update-action", progress: { phase: "Running", steps: [{ name: "remediation-1", isFinished: false }] } },
    ]);
  });

  test("stays written down for each step, also when the later one's object goes first", () => {
    const step = (kind: string, order: number) => ({
      remediationTemplate: templateRef("x", kind),
      order,
      timeout: "1m",
    });
    const spec = { escalatingRemediations: [step("FenceRemediationTemplate", 1), step("WipeRemediationTemplate", 2)] };
    const check = aCheck("web", { spec });
    const startedAt = formatTime(t0);
    const steps = [
      { name: "remediation-1", startedAt, finishedAt: startedAt },
      { name: "remediation-2", startedAt, finishedAt: startedAt },
    ];
    const left = aRemediation({ of: check, on: "n0", templateName: "x", deletingSince: at("50m") });
    const world = { checks: [check], nodes: someNodes(3, 0), remediations: [left], leases: [aLease("n0")] };
    const entry = remediating(check, { phase: "Running", status: { startedAt, steps } });
    const { commands } = decide({ ...world, actions: [entry] });
    expect(commands).toMatchObject([{ progress: { waitingFor: { reason: "RemediationFinishing" } } }]);
    expect(commands[0]).not.toHaveProperty("progress.steps");
    const over = decide({ ...world, remediations: [], actions: [entry] });
    expect(over.commands).toMatchObject([{ progress: { steps: [{}, { name: "remediation-2" }, { name: "ended" }] } }]);
  });

  test("waits for an older leader's entry to be adopted, and for a provisional one to be real", () => {
    expect(decide({ actions: [remediating(web)], epoch: 2 }).commands).toEqual([]);
    expect(decide({ actions: [remediating(web, { isProvisional: true })] }).commands).toEqual([]);
  });

  test("is given up when the node has recovered before anything was done", () => {
    const world = { nodes: someNodes(3, 0), actions: [remediating(web)], leases: [aLease("n0")] };
    expect(decide(world).commands).toMatchObject([{ kind: "update-action", progress: { phase: "Abandoned" } }]);
  });

  test("waits while an older object of the name is being deleted", () => {
    const going = aRemediation({ on: "n0", deletingSince: at("50m"), finalizers: ["fence.example.org"] });
    const world = { actions: [remediating(web)], leases: [aLease("n0")], remediations: [going] };
    expect(decide(world).refusals).toMatchObject([
      { code: "still-being-removed", message: expect.stringContaining("fence.example.org") as string },
    ]);
  });

  test("leaves an object of the name that is another's alone, and names the owner", () => {
    const world = {
      actions: [remediating(web)],
      leases: [aLease("n0")],
      remediations: [aRemediation({ of: aCheck("other"), on: "n0" })],
    };
    const found = decide(world);
    expect(found.refusals).toMatchObject([
      { code: "remediation-of-another", message: expect.stringContaining("NodeHealthCheck other") as string },
    ]);
    expect(waitsOf(found)).toEqual(["RemediationOfAnother"]);
  });

  test("that the server refused is tried again at its time", () => {
    const lane = `remediation/${apiVersion} FenceRemediation fencing/n0`;
    const failure = { at: at("59m"), retryAt: at("61m"), count: 1, reason: "", message: "quota" };
    const found = decide({ actions: [remediating(web)], leases: [aLease("n0")], failures: { [lane]: failure } });
    expect(found.refusals).toMatchObject([{ code: "create-failed", until: at("61m") }]);
    expect(waitsOf(found)).toEqual(["CreateFailed"]);
    const waitingFor = { reason: "CreateFailed", message: "FenceRemediation n0 could not be created: quota" };
    expect(found.commands).toMatchObject([{ progress: { waitingFor } }]);
    const told = remediating(web);
    const status = { ...told.status, waitingFor: { ...waitingFor, since: formatTime(at("59m")) } };
    const again = decide({ actions: [{ ...told, status }], leases: [aLease("n0")], failures: { [lane]: failure } });
    expect(again.commands).toEqual([]);
  });

  test("is not made on a node that is being deleted", () => {
    const world = {
      nodes: someNodes(3, 1, { deletingSince: t0 }),
      actions: [remediating(web)],
      leases: [aLease("n0")],
    };
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

/** What is to be said on the entry; undefined: nothing new. */
function waitsFor(world: CheckWorld) {
  const told = decide(world).commands.find(command => command.kind === "update-action");
  return told?.progress?.waitingFor;
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

  test("a step whose object somebody removed is not begun again beside a later one that runs", () => {
    const runs = step("Reboot", { createdAt: at("58m") });
    const found = decide(world([runs], { leases: [aLease("n0", { renewedAt: at("50m") })] }));
    expect(commandsOf(found, "create-remediation")).toEqual([]);
    // It is the later one that is kept up.
    expect(commandsOf(found, "take-node-lease")).toHaveLength(1);
    const adopted = Object.fromEntries(Object.entries(runs).filter(([key]) => key !== "madeUnder"));
    expect(commandsOf(decide(world([adopted as RemediationView])), "create-remediation")).toEqual([]);
    const over = { ...runs, timedOut: formatTime(at("59m")) };
    const again = commandsOf(decide(world([over])), "create-remediation");
    expect(again.map(({ manifest }) => manifest.kind)).toEqual(["FenceRemediation"]);
  });

  test("of a check that names none by now nothing was tried in vain: what was made stays, under its lease", () => {
    const none = {
      ...escalating,
      steps: [],
      invalid: "spec: set either remediationTemplate or escalatingRemediations",
    };
    const found = decide(world([step("Fence", { createdAt: at("58m") })], { checks: [none], actions: [] }));
    expect(found.refusals.map(({ code }) => code)).toEqual(["check-disabled"]);
    expect(found.notices.map(({ reason }) => reason)).not.toContain("NoTemplateLeft");
    expect(found.commands).toEqual([]);
  });

  test("after the last one nothing is left, and that is said", () => {
    const over = { createdAt: t0, timedOut: formatTime(at("20m")) };
    const found = decide(world([step("Fence", over), step("Reboot", over), step("Wipe", over)]));
    expect(found.refusals.map(({ code }) => code)).toEqual(["no-template-left"]);
    expect(found.notices.map(({ reason }) => reason)).toContain("NoTemplateLeft");
    expect(commandsOf(found, "create-remediation")).toEqual([]);
  });

  describe("with nothing left to try", () => {
    const over = { createdAt: t0, timedOut: formatTime(at("20m")) };
    const spent = [step("Fence", over), step("Reboot", over), step("Wipe", over)];

    test("the entry ends as failed, with the node still there", () => {
      const [command, ...others] = decide(world(spent)).commands;
      expect(others).toEqual([]);
      expect(command).toMatchObject({
        kind: "update-action",
        progress: {
          phase: "Failed",
          outcome: expect.stringContaining("Every remediation of NodeHealthCheck web was tried") as string,
          steps: ["remediation-1", "remediation-2", "remediation-3", "ended"].map(name => ({ name, isFinished: true })),
        },
      });
    });

    test("no other is asked for, and the lease is given back", () => {
      const found = decide(world(spent, { actions: [] }));
      expect(found.proposals).toEqual([]);
      expect(found.refusals.map(({ code }) => code)).toEqual(["no-template-left"]);
      expect(found.commands.map(({ kind }) => kind)).toEqual(["release-node-lease"]);
      expect(decide(world(spent, { actions: [], leases: [] })).commands).toEqual([]);
    });

    test("another check may take the node, under a name that is free", () => {
      const zoo = aCheck("zoo", { spec: { remediationTemplate: templateRef("other") } });
      const asked = (supportsMultiple: boolean) => {
        const more = { templates: [...templates, aTemplate("other", { supportsMultiple })] };
        return decide(world(spent, { checks: [escalating, zoo], actions: [], leases: [], ...more }));
      };
      expect(asked(true).proposals.map(({ askedBy }) => askedBy.name)).toEqual(["zoo"]);
      const { proposals, refusals } = asked(false);
      expect(proposals).toEqual([]);
      expect(refusals.map(({ code }) => code)).toEqual(["no-template-left", "remediation-of-another"]);
    });

    test("the lease is kept while a reboot of ours that had its time still runs", () => {
      const reboot = remediating(escalating, { phase: "Running", spec: { method: "Reboot" } });
      expect(decide(world(spent, { actions: [reboot] })).commands).toEqual([]);
    });

    test("a node that recovers is let go as any other", () => {
      const nodes = someNodes(3, 0);
      const found = decide(world(spent, { nodes, actions: [], leases: [] }));
      expect(commandsOf(found, "delete-remediation").length).toBe(3);
    });
  });

  test("the entry says for whom it waits, and until when if that has an end", () => {
    expect(waitsFor(world([step("Fence", { createdAt: at("58m") })]))).toEqual({
      reason: "RemediationRunning",
      message: `FenceRemediation n0, made at ${formatTime(at("58m"))}, has not said that it has succeeded or failed.`,
      until: at("63m"),
    });
    const entry = remediating(web, { phase: "Running", status: { startedAt: formatTime(t0) } });
    const succeeded = aCondition("Succeeded", "True");
    const fenced = aRemediation({ of: web, on: "n0", createdAt: at("58m"), succeeded });
    const found = decide({ actions: [entry], leases: [aLease("n0")], remediations: [fenced] });
    expect(found.commands).toMatchObject([
      {
        progress: {
          waitingFor: { message: expect.stringContaining("says that it has succeeded, and node n0") as string },
        },
      },
    ]);
  });

  test("a node that fails again while its remediation is still being undone: that is said", () => {
    const going = { createdAt: at("58m"), deletingSince: at("59m"), finalizers: ["fence.example.org/undo"] };
    const found = decide(world([step("Fence", going)]));
    expect(found.refusals).toMatchObject([
      { code: "still-being-removed", message: expect.stringContaining("fence.example.org/undo") as string },
    ]);
  });

  test.each<[string, Partial<RemediationView>]>([
    ["was told that its time is up", { timedOut: formatTime(at("5m")) }],
    ["had its time while it was being undone", {}],
  ])("nor does a later step begin then, though the one before %s: it is a new failure", (_how, more) => {
    const going = { createdAt: t0, deletingSince: at("20m"), finalizers: ["fence.example.org/undo"], ...more };
    const found = decide(world([step("Fence", going)]));
    expect(commandsOf(found, "create-remediation")).toEqual([]);
    expect(found.refusals.map(({ code }) => code)).toEqual(["still-being-removed"]);
    const later = decide(world([step("Fence", going)], { actions: [] }));
    expect([later.proposals, later.refusals.map(({ code }) => code)]).toEqual([[], ["still-being-removed"]]);
    // Where somebody takes back only what was tried first, those after it go on.
    const stands = step("Reboot", { createdAt: at("20m"), timedOut: formatTime(at("25m")) });
    const [made] = commandsOf(decide(world([step("Fence", going), stands])), "create-remediation");
    expect(made?.manifest.kind).toBe("WipeRemediation");
  });

  test("what holds the next step is said on the entry, once", () => {
    const nodes = someNodes(3, 1, { labels: { "remediation.medik8s.io/exclude-from-remediation": "true" } });
    const tried = [step("Fence", { timedOut: formatTime(at("55m")) })];
    const { reason = "", message = "" } = waitsFor(world(tried, { nodes })) ?? {};
    expect(reason).toBe("Excluded");
    const since = formatTime(at("5m"));
    const steps = [{ name: "remediation-1", startedAt: since, finishedAt: since }];
    const status = { startedAt: since, steps, waitingFor: { reason, message, since } };
    const entry = remediating(escalating, { phase: "Running", status });
    expect(decide(world(tried, { nodes, actions: [entry] })).commands).toEqual([]);
    expect(waitsFor(world(tried, { actions: [entry] }))).toBeNull();
  });

  describe("with a next step that cannot begin", () => {
    const nodes = someNodes(3, 1, { labels: { "remediation.medik8s.io/exclude-from-remediation": "true" } });
    const tried = [step("Fence", { timedOut: formatTime(at("50m")) })];
    const ends = (more: CheckWorld) =>
      decide(world(tried, { nodes, ...more })).commands.flatMap(command =>
        command.kind === "update-action" ? (command.progress?.phase ?? []) : [],
      );

    test("the entry ends ten minutes after the last one: others could be helped in its place", () => {
      const early = decide(world(tried, { nodes, now: at("60m") - 1 }));
      expect(early.wakeAt).toBe(at("60m"));
      expect(ends({ now: at("60m") - 1 })).not.toContain("Failed");
      expect(ends({ now: at("60m") })).toEqual(["Failed"]);
    });

    test("not while one runs, nor while a kind has not been listed again yet", () => {
      const remediations = [...tried, step("Wipe", { createdAt: at("58m") })];
      expect(ends({ remediations, now: at("60m") })).not.toContain("Failed");
      const kinds = { RebootRemediationTemplate: { state: "Listing" } } as const;
      expect(ends({ kinds, now: at("60m") })).not.toContain("Failed");
    });

    test("nor that of one opened just now, or not begun: those have their own ten minutes", () => {
      const status = { startedAt: formatTime(at("55m")) };
      const anew = remediating(escalating, { phase: "Running", createdAt: at("55m"), status });
      expect(ends({ actions: [anew], now: at("60m") })).not.toContain("Failed");
      expect(ends({ actions: [remediating(escalating)], now: at("60m") })).not.toContain("Failed");
    });

    test("so too where the one before cannot be told that its time is up: none begins beside it", () => {
      const untold = step("Fence", { createdAt: at("45m") });
      const message = "webhook says no";
      const failure = { at: at("59m"), retryAt: at("61m"), count: 9, reason: "Forbidden", message };
      const failing = { remediations: [untold], failures: { [laneOfRemediation(untold)]: failure } };
      const well = { nodes: someNodes(3, 1) };
      expect(ends({ ...well, ...failing, now: at("60m") - 1 })).not.toContain("Failed");
      expect(ends({ ...well, ...failing, now: at("60m") })).toEqual(["Failed"]);
      const found = decide(world([untold], { ...failing, actions: [] }));
      expect(found.refusals.map(({ code }) => code)).toEqual(["write-failed"]);
      expect(found.commands.map(({ kind }) => kind)).toEqual(["annotate-remediation", "release-node-lease"]);
    });

    test("then the lease is given back, and it is asked for again once nothing holds the step", () => {
      const found = decide(world(tried, { nodes, actions: [] }));
      expect(found.refusals.map(({ code }) => code)).toEqual(["excluded"]);
      expect(commandsOf(found, "release-node-lease")).toHaveLength(1);
      expect(found.proposals).toEqual([]);
      expect(decide(world(tried, { actions: [] })).proposals).toHaveLength(1);
    });
  });

  describe("of ours", () => {
    const tried = step("Fence", { createdAt: t0, timedOut: formatTime(at("5m")) });
    const ours = (nodeAction?: string) => {
      const status = nodeAction === undefined ? {} : { nodeAction };
      return [tried, step("Reboot", { createdAt: at("5m"), own: { spec: {}, status, conditions: [] } })];
    };
    const rebooting = (phase: "Pending" | "Running", status = {}) => {
      const { uid, name } = escalating;
      const askedBy = { kind: "NodeHealthCheck", name, uid } as const;
      const spec = { action: "Remediation", method: "Reboot", askedBy } as const;
      return anAction("remediation-n0-uid", { node: "n0", createdAt: at("5m"), phase, spec, status });
    };

    test("a step that was never let begin is not tried, however long that lasts", () => {
      for (const actions of [[], [rebooting("Pending")]]) {
        const found = decide(
          world(ours(), { actions, now: at("24h"), leases: [aLease("n0", { renewedAt: at("24h") })] }),
        );
        expect([...found.commands, ...found.refusals]).toEqual([]);
      }
    });

    test("a step that nobody serves, since remediators were taken out of --controllers, has its time all the same", () => {
      const settings = { remediates: false };
      const found = (now: number) => decide(world(ours(), { actions: [], now, settings }));
      expect(commandsOf(found(at("10m") - 1), "annotate-remediation")).toHaveLength(0);
      expect(commandsOf(found(at("24h")), "annotate-remediation")).toHaveLength(1);
    });

    test.each([
      { now: at("63m") - 1, stamped: 0, wakeAt: at("63m") },
      { now: at("63m"), stamped: 1, wakeAt: undefined },
    ])("its time runs from its start, and is up at $now: $stamped", ({ now, stamped, wakeAt }) => {
      const actions = [rebooting("Running", { startedAt: formatTime(at("58m")) })];
      const found = decide(world(ours("remediation-n0-uid"), { actions, now }));
      expect(commandsOf(found, "annotate-remediation").length).toBe(stamped);
      if (wakeAt !== undefined) expect(found.wakeAt).toBe(wakeAt);
    });

    test("one whose entry is no longer kept had its time", () => {
      const found = decide(world(ours("remediation-n0-uid"), { actions: [] }));
      expect(commandsOf(found, "annotate-remediation").length).toBe(1);
    });
  });

  test("goes on while the check is paused", () => {
    const check = aCheck("web", { spec: { ...steps, pauseRequests: ["maintenance"] } });
    const remediations = [aRemediation({ of: check, on: "n0", timedOut: formatTime(at("5m")) })];
    const found = decide({ ...world(remediations), checks: [check], actions: [running(check)] });
    expect(commandsOf(found, "create-remediation").length).toBe(1);
  });

  test.each([
    { who: "the check", dry: { dryRun: true }, pool: {} },
    { who: "the pool", dry: {}, pool: { dryRun: true } },
  ])("begins no further step once $who is in dry run, and says so", ({ dry, pool }) => {
    const check = aCheck("web", { spec: { ...steps, ...dry } });
    const nodes = someNodes(3, 1);
    const remediations = [aRemediation({ of: check, on: "n0", timedOut: formatTime(at("5m")) })];
    const claims = nodes.map(({ name }) => aClaim(name, { pool: "web" }));
    const pools = [aPool("web", { spec: pool })];
    const more = { checks: [check], nodes, claims, pools, actions: [running(check)] };
    const found = decide({ ...world(remediations), ...more });
    expect(found.refusals.map(({ code }) => code)).toEqual(["dry-run"]);
    expect(found.commands.filter(({ kind }) => kind !== "update-action")).toEqual([]);
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
    // Also while the node has another unhealthy condition that is not due yet.
    const nodes = [aNode("n0", { ready: "Unknown", since: at("58m") }), aNode("b"), aNode("c")];
    const soon = decide(world(remediations, { leases: [lease], nodes, now: at("1h") }));
    expect(commandsOf(soon, "take-node-lease")).toHaveLength(1);
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

test("of two steps with templates of one name in two namespaces each has its own object", () => {
  const places = ["east", "west"];
  const check = aCheck("web", {
    spec: {
      escalatingRemediations: places.map((namespace, order) => ({
        remediationTemplate: { ...templateRef("one"), namespace },
        order,
        timeout: "1m",
      })),
    },
  });
  const templates = places.map(namespace => aTemplate("one", { supportsMultiple: true, namespace }));
  const timedOut = formatTime(at("2m"));
  const first = aRemediation({ of: check, on: "n0", namespace: "east", templateName: "one", timedOut });
  const world = { checks: [check], templates, actions: [running(check)], leases: [aLease("n0")] };
  const made = commandsOf(decide({ ...world, remediations: [first] }), "create-remediation");
  expect(made.map(({ manifest }) => manifest.metadata.namespace)).toEqual(["west"]);
});
