import type { MachineChecksView, TopologyView } from "../../snapshot/check-views.ts";
import { noMachineChecks } from "../../snapshot/project-openshift.ts";
import { describe, expect, test } from "vitest";
import { aCondition, aNode, at, t0 } from "../../../test/builders.ts";
import type { NodeHealthCheckSpec, NodeHealthCheckStatus } from "../../api/node-health-check.ts";
import { formatTime, type Instant } from "../../api/time.ts";
import type { CheckView } from "../../snapshot/check-views.ts";
import { decideCheck } from "./check.ts";
import { checkHold } from "./holds.ts";
import { StormMemory } from "./storm.ts";
import { disablingOf, wantedKinds } from "./templates.ts";
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
  served,
  someNodes,
  templateRef,
} from "../../../test/check-builders.ts";

const web = aCheck("web", { spec: { maxUnhealthy: 3 } });

function decide(world: CheckWorld) {
  const [check = web] = world.checks ?? [];
  return decideCheck(check.name, aCheckContext({ checks: [check], nodes: someNodes(3, 1), ...world }));
}

function statusOf(world: CheckWorld) {
  return commandsOf(decide(world), "update-check")[0]?.status;
}

function conditionOf(world: CheckWorld, type: string) {
  const found = statusOf(world)?.conditions?.find(condition => condition.type === type);
  return found && [found.status, found.reason];
}

describe("the status", () => {
  test("of a check with all nodes healthy", () => {
    expect(statusOf({ nodes: someNodes(3, 0) })).toMatchObject({
      observedGeneration: 1,
      observedNodes: 3,
      healthyNodes: 3,
      unhealthyNodes: [],
      phase: "Enabled",
    });
    expect(conditionOf({ nodes: someNodes(3, 0) }, "Disabled")).toEqual(["False", "NodeHealthCheckEnabled"]);
    expect(conditionOf({ nodes: someNodes(3, 0) }, "RemediationAllowed")).toEqual(["True", "RemediationAllowed"]);
  });

  test("of one node that is remediated, and of one on which everything was tried", () => {
    const [running, ended] = [{}, { timedOut: formatTime(at("20m")) }].map(more => [
      aRemediation({ of: web, on: "n0", createdAt: at("10m"), ...more }),
    ]);
    const reason = "1 node is being remediated.";
    const now = at("39m");
    expect(statusOf({ remediations: running ?? [], now })).toMatchObject({ phase: "Remediating", reason });
    expect(statusOf({ remediations: ended ?? [] })).toMatchObject({
      observedNodes: 3,
      healthyNodes: 2,
      phase: "Enabled",
      reason: "Nothing is being remediated. Every remediation was tried in vain on n0.",
      unhealthyNodes: [
        {
          name: "n0",
          remediations: [
            {
              resource: {
                apiVersion,
                kind: "FenceRemediation",
                name: "n0",
                namespace: "fencing",
                uid: "FenceRemediation-n0-uid",
              },
              started: formatTime(at("10m")),
              timedOut: formatTime(at("20m")),
              templateName: "fence",
            },
          ],
        },
      ],
    });
  });

  test("lists what is unhealthy without a remediation, and not what is so only soon", () => {
    const nodes = [...someNodes(3, 1), aNode("soon", { ready: "False", since: at("1h") })];
    const found = statusOf({ nodes });
    expect(found?.unhealthyNodes).toEqual([{ name: "n0" }]);
    expect(found).toMatchObject({ observedNodes: 4, healthyNodes: 2, phase: "Enabled" });
    expect(decide({ nodes }).wakeAt).toBe(at("65m"));
  });

  test("4 of 7 at 3: four entries without remediations, and what holds", () => {
    const world = { nodes: someNodes(7, 4) };
    expect(statusOf(world)?.unhealthyNodes?.map(({ remediations }) => remediations)).toEqual(Array(4).fill(undefined));
    expect(statusOf(world)?.reason).toContain("4 of 7 nodes of NodeHealthCheck web are not healthy");
    expect(conditionOf(world, "RemediationAllowed")).toEqual(["False", "TooManyUnhealthy"]);
    expect(decide(world).refusals).toMatchObject([{ subject: "check/web", code: "too-many-unhealthy" }]);
  });

  test("of a recovered node whose remediation is held by a finalizer: still counted, with the time of its recovery", () => {
    const nodes = [aNode("n0", { since: at("50m") }), aNode("b")];
    const remediations = [aRemediation({ of: web, on: "n0", deletingSince: at("51m"), finalizers: ["x"] })];
    const found = statusOf({ nodes, remediations });
    expect(found?.healthyNodes).toBe(1);
    expect(found?.unhealthyNodes?.[0]).toMatchObject({ conditionsHealthyTimestamp: formatTime(at("50m")) });
    expect(found?.unhealthyNodes?.[0]?.healthyDelayed).toBeUndefined();
  });

  test.each(["10s", "-1s"])("says that healthyDelay %s keeps a remediation", healthyDelay => {
    const check = aCheck("web", { spec: { healthyDelay } });
    const remediations = [aRemediation({ of: check, on: "n0" })];
    const found = statusOf({ checks: [check], nodes: someNodes(3, 0), remediations });
    expect(found?.unhealthyNodes?.[0]?.healthyDelayed).toBe(true);
  });

  test("paused, it still counts", () => {
    const check = aCheck("web", { spec: { pauseRequests: ["me"] } });
    expect(statusOf({ checks: [check] })).toMatchObject({
      phase: "Paused",
      reason: "me",
      observedNodes: 3,
      healthyNodes: 2,
    });
  });

  test("while the cluster is upgraded, counters do not read 0/0", () => {
    const upgrade = { isOpenShift: true, progressing: [{ name: "version", message: "" }] };
    expect(statusOf({ upgrade })).toMatchObject({ phase: "Enabled", observedNodes: 3, healthyNodes: 2 });
    expect(conditionOf({ upgrade }, "RemediationAllowed")).toEqual(["False", "ClusterUpgrading"]);
  });

  describe("where an upgrade cannot be told and shall hold nothing", () => {
    const upgrade = { isOpenShift: true, progressing: [], failure: "ClusterVersions cannot be read: no." };
    const settings = { upgradeUnknown: "proceed" } as const;
    const lastTransitionTime = formatTime(t0);
    const said = (world: CheckWorld) => {
      const { notices } = decide({ upgrade, settings, ...world });
      return notices.filter(({ reason }) => reason === "UpgradeUnknown").length;
    };
    const allowed = statusOf({ upgrade, settings })?.conditions?.find(({ type }) => type === "RemediationAllowed");

    test("says so with leave to start", () => {
      const message = expect.stringContaining(upgrade.failure) as string;
      expect(allowed).toMatchObject({ status: "True", reason: "RemediationAllowed", message });
    });

    test("and what was seen last", () => {
      const progressing = [{ name: "version", message: "Working towards 4.20" }];
      const { conditions } = statusOf({ upgrade: { ...upgrade, progressing }, settings }) ?? {};
      const message = expect.stringContaining("ClusterVersion version was progressing") as string;
      expect(conditions).toContainEqual(
        expect.objectContaining({ type: "RemediationAllowed", status: "True", message }),
      );
    });

    test("and in an event, once: not while something else holds", () => {
      expect(said({})).toBe(1);
      const { since: _since, ...written } = { lastTransitionTime, ...allowed!, status: "True" as const };
      expect(said({ checks: [aCheck("web", { status: { conditions: [written] } })] })).toBe(0);
      expect(said({ checks: [aCheck("web", { spec: { pauseRequests: ["me"] } })] })).toBe(0);
      expect(said({ upgrade: { isOpenShift: true, progressing: [] } })).toBe(0);
    });
  });

  test("a deleted unhealthy node that was never remediated leaves no entry behind", () => {
    const unhealthyNodes = [{ name: "gone" }];
    const check = aCheck("web", { status: { unhealthyNodes } });
    expect(statusOf({ checks: [check], nodes: someNodes(3, 0) })?.unhealthyNodes).toEqual([]);
  });

  test("unsorted escalations write no status on every look: what is written stands", () => {
    const spec: NodeHealthCheckSpec = {
      maxUnhealthy: 3,
      escalatingRemediations: [
        { remediationTemplate: templateRef("reboot", "RebootRemediationTemplate"), order: 2, timeout: "1m" },
        { remediationTemplate: templateRef(), order: 1, timeout: "1m" },
      ],
    };
    const templates = [aTemplate(), aTemplate("reboot", { kind: "RebootRemediationTemplate" })];
    const first = statusOf({ checks: [aCheck("web", { spec })], templates });
    const lastTransitionTime = formatTime(t0);
    const conditions = (first?.conditions ?? []).map(({ type, status, reason, message }) => ({
      type,
      status,
      reason,
      message,
      lastTransitionTime,
    }));
    const written = { ...first, conditions } as NodeHealthCheckStatus;
    expect(statusOf({ checks: [aCheck("web", { spec, status: written })], templates })).toBeUndefined();
    // By a server whose definition of the kind is medik8s' own.
    const { observedGeneration: _pruned, ...kept } = { ...written, lastUpdateTime: formatTime(t0) };
    expect(statusOf({ checks: [aCheck("web", { spec, status: kept })], templates })).toBeUndefined();
    const older = { ...written, observedGeneration: 0, lastUpdateTime: formatTime(t0) };
    expect(statusOf({ checks: [aCheck("web", { spec, status: older })], templates })).toBeDefined();
  });

  test("lists at most 2,000 nodes and counts beyond", () => {
    const check = aCheck("web", { spec: { maxUnhealthy: "100%" } });
    const found = statusOf({ checks: [check], nodes: someNodes(2_001, 2_001) });
    expect(found?.unhealthyNodes?.length).toBe(2_000);
    expect(found?.healthyNodes).toBe(0);
  });

  test("no template left is a condition with the nodes' names", () => {
    const remediations = [aRemediation({ of: web, on: "n0", succeeded: aCondition("Succeeded", "False") })];
    const found = statusOf({ remediations })?.conditions?.find(({ type }) => type === "NoTemplateLeft");
    expect(found).toMatchObject({
      status: "True",
      reason: "AllTried",
      message: expect.stringContaining("n0") as string,
    });
    expect(conditionOf({}, "NoTemplateLeft")).toEqual(["False", "TemplatesLeft"]);
  });

  test("a check that is being deleted says nothing more", () => {
    expect(decide({ checks: [aCheck("web", { deletingSince: t0 })] }).commands).toEqual([]);
  });
});

describe("a storm", () => {
  const spec: NodeHealthCheckSpec = { minHealthy: 4, stormCooldownDuration: "10m" };
  const written = (active: boolean, cooling: boolean, since: Instant): NodeHealthCheckStatus => ({
    conditions: [active, cooling].map((is, index) => ({
      type: index === 0 ? "StormActive" : "StormCooldownActive",
      status: is ? "True" : "False",
      reason: "HealthyNodeThresholdChange",
      message: "",
      lastTransitionTime: formatTime(since),
    })),
  });
  const told = (status: NodeHealthCheckStatus | undefined, sick: number, now: Instant = at("1h")) => {
    const check: CheckView = aCheck("web", { spec, ...(status === undefined ? {} : { status }) });
    const world = { checks: [check], nodes: someNodes(7, sick), now };
    const { notices, wakeAt } = decide(world);
    const reasons = notices.map(({ reason }) => reason).filter(reason => reason.startsWith("Storm"));
    return {
      active: conditionOf(world, "StormActive")?.[0],
      cooling: conditionOf(world, "StormCooldownActive")?.[0],
      reasons,
      wakeAt,
    };
  };

  test("begins when one more fails than the check bears", () => {
    expect(told(undefined, 3)).toMatchObject({ active: "False", cooling: "False", reasons: [] });
    expect(told(undefined, 4)).toMatchObject({ active: "True", cooling: "False", reasons: ["StormRecoveryStarted"] });
  });

  test("cools down once enough are healthy again", () => {
    const found = told(written(true, false, t0), 3);
    expect(found).toMatchObject({ active: "True", cooling: "True", reasons: ["StormRecoveryCooldownStarted"] });
  });

  test.each([
    { now: at("20m") - 1, active: "True", reasons: [] },
    { now: at("20m"), active: "False", reasons: ["StormRecoveryEnded"] },
  ])("is over when the cooldown is: $now", ({ now, active, reasons }) => {
    const found = told(written(true, true, at("10m")), 3, now);
    expect(found).toMatchObject({ active, reasons });
    if (active === "True") expect(found.wakeAt).toBe(at("20m"));
  });

  test("a new failure takes the cooldown back", () => {
    expect(told(written(true, true, at("59m")), 4)).toMatchObject({ active: "True", cooling: "False" });
  });

  test("after full recovery it ends too: the next single failure does not wait for it", () => {
    expect(told(written(true, false, t0), 0)).toMatchObject({ active: "True", cooling: "True" });
    expect(told(written(true, true, at("10m")), 0)).toMatchObject({ active: "False", cooling: "False" });
  });

  describe("shorter than the time between two writes of the status", () => {
    const closed = aCheck("web", { spec });
    /** As whoever looked at it before remembers it. */
    function after(status: NodeHealthCheckStatus | undefined, ...sickness: readonly number[]) {
      const check = aCheck("web", { spec, ...(status === undefined ? {} : { status }) });
      const storms = new StormMemory();
      const contexts = sickness.map(sick => ({
        ...aCheckContext({ checks: [check], nodes: someNodes(7, sick) }),
        storms,
      }));
      for (const context of contexts) storms.look("web", context);
      const last = contexts.at(-1)!; // at least one is given
      const { commands } = decideCheck("web", last);
      const conditions = commandsOf({ commands }, "update-check")[0]?.status.conditions ?? [];
      const word = (type: string) => conditions.find(condition => condition.type === type)?.status;
      return {
        active: word("StormActive"),
        cooling: word("StormCooldownActive"),
        hold: checkHold(check, last)?.code,
        storms,
      };
    }

    test("is told although it is over, and holds what would start", () => {
      expect(after(undefined, 4, 3)).toMatchObject({ active: "True", cooling: "False", hold: "storm-cooldown" });
      expect(after(undefined, 3)).toMatchObject({ active: "False", cooling: "False", hold: undefined });
    });

    test("in the cooldown of another begins the cooldown anew", () => {
      expect(after(written(true, true, at("59m")), 4, 3)).toMatchObject({ active: "True", cooling: "False" });
    });

    test("is forgotten once it is written, and so cools down from then on", () => {
      expect(after(written(true, false, t0), 4, 3)).toMatchObject({ active: "True", cooling: "True" });
    });

    test("of a check that is gone, that asks for none, or of another of the same name is forgotten", () => {
      const { storms } = after(undefined, 4);
      expect(storms.wasClosed(closed)).toBe(true);
      expect(storms.wasClosed({ ...closed, uid: "another" })).toBe(false);
      storms.look(
        "web",
        aCheckContext({ checks: [aCheck("web", { spec: { minHealthy: 4 } })], nodes: someNodes(7, 4) }),
      );
      expect(storms.wasClosed(closed)).toBe(false);
      const again = after(undefined, 4).storms;
      again.look("web", aCheckContext({}));
      expect(again.wasClosed(closed)).toBe(false);
    });
  });

  test("is not told of where no cooldown is asked for", () => {
    const nodes = someNodes(7, 6);
    expect(conditionOf({ nodes }, "StormActive")).toBeUndefined();
    expect(decide({ nodes }).notices.filter(({ reason }) => reason.startsWith("Storm"))).toEqual([]);
  });
});

describe("a node that is gone", () => {
  const nodes = someNodes(3, 0);
  const made = (more: Parameters<typeof aRemediation>[0] | object = {}) =>
    aRemediation({ of: web, on: "gone", ...more });

  test("its remediation is deleted at once, and the lease given back", () => {
    const found = decide({ nodes, remediations: [made()], leases: [aLease("gone")] });
    expect(commandsOf(found, "delete-remediation").length).toBe(1);
    expect(commandsOf(found, "release-node-lease")).toMatchObject([
      { lease: { name: "node-gone", namespace: "medik8s-leases", uid: "gone-lease-uid" }, resourceVersion: "1" },
    ]);
  });

  test("is kept while the remediation that took it away has not succeeded", () => {
    const found = decide({ nodes, remediations: [made({ takesNodeAway: true })] });
    expect(commandsOf(found, "delete-remediation")).toEqual([]);
    expect(found.refusals).toMatchObject([{ code: "waits-for-remediator" }]);
    const succeeded = aCondition("Succeeded", "True");
    const after = decide({ nodes, remediations: [made({ takesNodeAway: true, succeeded })] });
    expect(commandsOf(after, "delete-remediation").length).toBe(1);
  });

  test("is in the status for as long as its remediation is", () => {
    const found = statusOf({ nodes, remediations: [made({ takesNodeAway: true })] });
    expect(found?.unhealthyNodes?.map(({ name }) => name)).toEqual(["gone"]);
    expect(found?.phase).toBe("Remediating");
  });
});

describe("what disables a check", () => {
  const reason = (world: CheckWorld) => {
    const [check = web] = world.checks ?? [];
    return disablingOf(check, aCheckContext({ checks: [check], ...world }))?.reason;
  };

  test("nothing, as a rule", () => expect(reason({})).toBeUndefined());

  test("a kind that nobody serves", () => {
    expect(reason({ kinds: { FenceRemediationTemplate: { state: "NotFound" } } })).toBe("RemediationTemplateNotFound");
    expect(reason({ kinds: { FenceRemediation: { state: "NotFound" } } })).toBe("RemediationTemplateNotFound");
  });

  test("a template that is not there, or not any more, until it is there again", () => {
    expect(reason({ templates: [] })).toBe("RemediationTemplateNotFound");
    const context = aCheckContext({ checks: [web], nodes: someNodes(3, 1) });
    context.checks.replaceTemplate({ before: aTemplate(), after: undefined });
    expect(disablingOf(web, context)?.reason).toBe("RemediationTemplateNotFound");
    expect([...context.checks.takeDirty()].sort()).toEqual(["check/web", "cluster", "node/n0"]);
    context.checks.replaceTemplate({ before: undefined, after: aTemplate() });
    expect(disablingOf(web, context)).toBeUndefined();
  });

  test("a template of a namespaced kind without a namespace", () => {
    const { namespace: _, ...remediationTemplate } = templateRef();
    expect(reason({ checks: [aCheck("web", { spec: { remediationTemplate } })] })).toBe("RemediationTemplateNotFound");
  });

  test("not a namespace for a kind that has none: it means nothing", () => {
    const resource = { ...resourceOf("FenceRemediationTemplate"), namespaced: false };
    const kinds = { FenceRemediationTemplate: { state: "Served", resource } } as const;
    const templates = [aTemplate("fence", { namespace: "" })];
    expect(reason({ kinds, templates })).toBeUndefined();
    expect(reason({ templates })).toBe("RemediationTemplateNotFound");
  });

  test("a template without spec.template", () => {
    expect(reason({ templates: [aTemplate("fence", { body: undefined })] })).toBe("RemediationTemplateInvalid");
  });

  test("a Metal3 template outside of its namespace, on OpenShift alone", () => {
    const kind = "Metal3RemediationTemplate";
    const check = aCheck("web", { spec: { remediationTemplate: templateRef("fence", kind) } });
    const world = {
      checks: [check],
      templates: [aTemplate("fence", { kind })],
      kinds: { [kind]: served(kind), Metal3Remediation: served("Metal3Remediation") },
    };
    expect(reason(world)).toBeUndefined();
    expect(reason({ ...world, upgrade: { isOpenShift: true, progressing: [] } })).toBe("RemediationTemplateInvalid");
  });

  describe("several templates of a kind", () => {
    const twice = (names: readonly string[]) =>
      aCheck("web", {
        spec: {
          escalatingRemediations: names.map((name, order) => ({
            remediationTemplate: templateRef(name),
            order,
            timeout: "1m",
          })),
        },
      });
    const checks = [twice(["one", "two"])];

    test("where each says that it supports that: none", () => {
      const templates = ["one", "two"].map(name => aTemplate(name, { supportsMultiple: true }));
      expect(reason({ checks, templates })).toBeUndefined();
    });

    test("where one does not", () => {
      const templates = [aTemplate("one", { supportsMultiple: true }), aTemplate("two")];
      expect(reason({ checks, templates })).toBe("RemediationTemplateInvalid");
    });

    test("where one is not there, which says nothing of itself", () => {
      const templates = [aTemplate("one", { supportsMultiple: true })];
      expect(reason({ checks, templates })).toBe("RemediationTemplateNotFound");
    });

    test("or one is used twice, whatever it says", () => {
      const templates = [aTemplate("one", { supportsMultiple: true })];
      expect(reason({ checks: [twice(["one", "one"])], templates })).toBe("InvalidNodeHealthCheck");
    });
  });

  describe("OpenShift's own MachineHealthChecks", () => {
    const found = (view: MachineChecksView) => {
      const context = aCheckContext({ checks: [web], nodes: someNodes(3, 1) });
      context.checks.setMachineChecks(view);
      return disablingOf(web, context);
    };
    const reason = "ConflictingMachineHealthCheckDetected";

    test("any of them, by name", () => {
      expect(found({ conflicting: ["m/a", "m/b"], mindsTerminating: false })).toMatchObject({
        reason,
        message: "OpenShift's MachineHealthCheck m/a and 1 more looks after machines, too.",
      });
      expect(found({ conflicting: [], mindsTerminating: true })).toBeUndefined();
    });

    test("that cannot be read; such that are not listed yet are no news", () => {
      expect(found({ ...noMachineChecks, failure: "no leave" })).toMatchObject({ reason });
      expect(found({ ...noMachineChecks, isPending: true })?.reason).toBe("RemediationTemplatePending");
    });
  });

  describe("the layout of OpenShift's control plane", () => {
    const found = (view: TopologyView) => {
      const context = aCheckContext({ checks: [web], nodes: someNodes(3, 1) });
      context.checks.setTopology(view);
      return disablingOf(web, context);
    };
    const reason = "UnsupportedControlPlaneTopology";

    test.each(["HighlyAvailable", "HighlyAvailableArbiter", "SingleReplica", "External"])("not as %s", controlPlane => {
      expect(found({ controlPlane })).toBeUndefined();
    });

    test("as one whose nodes fence each other, or that nobody knows", () => {
      expect(found({ controlPlane: "DualReplica" })).toMatchObject({
        reason,
        message: expect.stringContaining("DualReplica") as string,
      });
      expect(found({ failure: "no leave" })).toMatchObject({ reason });
    });

    test("that is not listed yet is no news; where nothing is said of it there is none", () => {
      expect(found({ isPending: true })?.reason).toBe("RemediationTemplatePending");
      expect(found({})).toBeUndefined();
    });
  });

  test("a kind that we may not read: the verb and the YAML that grants it", () => {
    const kinds = {
      FenceRemediationTemplate: { state: "Forbidden", verb: "list", resource: resourceOf("FenceRemediationTemplate") },
    } as const;
    const found = disablingOf(web, aCheckContext({ checks: [web], kinds }));
    expect(found?.reason).toBe("RemediationTemplateForbidden");
    expect(found?.message).toContain("may not list fenceremediationtemplates");
    expect(found?.message).toContain('labels: {rbac.ext-remediation/aggregate-to-ext-remediation: "true"}');
    expect(found?.message).toContain(
      'apiGroups: ["test.example.org"], resources: ["fenceremediationtemplates"], verbs: [get, list, watch]',
    );
  });

  test("remediations that we may not read: it is told, and what was told of them before stays", () => {
    const resource = resourceOf("FenceRemediation");
    const kinds = { FenceRemediation: { state: "Forbidden", verb: "watch", resource } } as const;
    const status = statusOf({ kinds });
    expect(conditionOf({ kinds }, "Disabled")).toEqual(["True", "RemediationTemplateForbidden"]);
    expect(status).toMatchObject({ phase: "Disabled", observedNodes: 3 });
    expect(Object.keys(status ?? {})).not.toContain("unhealthyNodes");
    expect(Object.keys(status ?? {})).not.toContain("healthyNodes");
  });

  test("what cannot be understood; it can still be paused", () => {
    const spec = { remediationTemplate: { ...templateRef(), kind: "Nonsense" }, pauseRequests: ["me"] };
    const check = aCheck("web", { spec });
    expect(reason({ checks: [check] })).toBe("InvalidNodeHealthCheck");
    expect(statusOf({ checks: [check] })?.phase).toBe("Disabled");
  });

  test("is told once, in an event, and so is its end", () => {
    const reasons = (world: CheckWorld) => decide(world).notices.map(notice => notice.reason);
    expect(reasons({ templates: [] })).toEqual(["Disabled"]);
    const lastTransitionTime = formatTime(t0);
    const conditions = [{ type: "Disabled", status: "True" as const, reason: "x", message: "", lastTransitionTime }];
    expect(reasons({ checks: [aCheck("web", { status: { conditions } })] })).toEqual(["Enabled"]);
  });

  test("is not told while a kind has not been listed yet", () => {
    const found = decide({ kinds: { FenceRemediationTemplate: { state: "Listing" } } });
    expect([...found.commands, ...found.notices]).toEqual([]);
    expect(found.refusals.map(({ code }) => code)).toEqual(["check-disabled"]);
  });
});

test("the kinds to be watched are those of the steps, and those that a running remediation still has", () => {
  const unhealthyNodes = [
    { name: "n0", remediations: [{ resource: { apiVersion, kind: "OldRemediation" }, started: formatTime(t0) }] },
  ];
  const checks = [web, aCheck("other", { status: { unhealthyNodes } })];
  expect(wantedKinds(checks).map(({ kind }) => kind)).toEqual([
    "FenceRemediationTemplate",
    "FenceRemediation",
    "OldRemediation",
  ]);
});
