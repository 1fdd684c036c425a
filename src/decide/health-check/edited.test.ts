import { describe, expect, test } from "vitest";
import { aCondition, at } from "../../../test/builders.ts";
import {
  aCheck,
  aCheckContext,
  aLease,
  aRemediation,
  aTemplate,
  type CheckWorld,
  commandsOf,
  decideOn as decide,
  remediating,
  running,
  templateRef,
} from "../../../test/check-builders.ts";
import { formatTime } from "../../api/time.ts";
import type { RemediationView } from "../../snapshot/check-views.ts";
import type { Decision } from "../decision.ts";
import { edited } from "./holds.ts";

describe("a check that is edited while a node is unhealthy", () => {
  const before = aCheck("web", { spec: { remediationTemplate: templateRef("fence") } });
  const escalatingRemediations = ["Fence", "Reboot"].map((kind, order) => ({
    remediationTemplate: templateRef(kind.toLowerCase(), `${kind}RemediationTemplate`),
    order,
    timeout: "5m",
  }));
  const after = aCheck("web", { spec: { escalatingRemediations }, generation: 2 });
  const templates = [aTemplate(), aTemplate("reboot", { kind: "RebootRemediationTemplate" })];
  const stamp = formatTime(at("20m"));
  const world = (more: Partial<RemediationView>, rest: CheckWorld = {}): CheckWorld => ({
    checks: [after],
    templates,
    remediations: [aRemediation({ of: before, on: "n0", ...more })],
    ...rest,
  });
  const failed = { succeeded: aCondition("Succeeded", "False"), timedOut: stamp };

  test.each<[string, Partial<RemediationView>]>([
    ["has failed", failed],
    ["had its time", { timedOut: stamp }],
    ["has succeeded, and its step had its time", { succeeded: aCondition("Succeeded", "True") }],
  ])("asks for the step that was added, if the one before %s", (_how, more) => {
    const found = decide(world(more));
    expect(found.refusals.map(({ code }) => code)).toEqual([]);
    expect(found.proposals.length).toBe(1);
  });

  test("holds as it is written now where nothing was made yet, also for an entry that has not begun", () => {
    const spec = { remediationTemplate: templateRef("reboot", "RebootRemediationTemplate") };
    const now = aCheck("web", { spec, generation: 2 });
    const found = decide({ checks: [now], templates, actions: [remediating(before)] });
    expect(commandsOf(found, "create-remediation").map(({ manifest }) => manifest.kind)).toEqual(["RebootRemediation"]);
  });

  test("while it runs, a step that is put before it is not begun and the node is not let go", () => {
    const spec = { escalatingRemediations: escalatingRemediations.map(step => ({ ...step, order: 1 - step.order })) };
    const other = aCheck("web", { spec: { ...spec, selector: { matchLabels: { no: "node" } } } });
    const found = decide(world({ createdAt: at("59m") }, { checks: [other], actions: [running(other)] }));
    expect(found.refusals.map(({ code }) => code)).toEqual(["edited-while-remediating"]);
    expect(commandsOf(found, "delete-remediation")).toEqual([]);
  });

  test("while its second step runs, one that is put between them is not begun beside it", () => {
    const [first, second] = escalatingRemediations;
    const wipe = { remediationTemplate: templateRef("wipe", "WipeRemediationTemplate"), order: 5, timeout: "5m" };
    const steps = [first, wipe, { ...second, order: 9 }] as typeof escalatingRemediations;
    const other = aCheck("web", { spec: { escalatingRemediations: steps }, generation: 3 });
    const runs = { kind: "RebootRemediation", templateName: "reboot", createdAt: at("59m") };
    const found = decide({
      checks: [other],
      templates: [...templates, aTemplate("wipe", { kind: "WipeRemediationTemplate" })],
      remediations: [aRemediation({ of: after, on: "n0", ...failed }), aRemediation({ of: after, on: "n0", ...runs })],
      actions: [running(other)],
      leases: [aLease("n0")],
    });
    expect(found.refusals.map(({ code }) => code)).toEqual(["edited-while-remediating"]);
    expect(commandsOf(found, "create-remediation")).toEqual([]);
  });

  test("holds no other start once what was made before has succeeded and its step is still there", () => {
    const held = (more: Partial<RemediationView>) =>
      edited(after, aCheckContext(world({ createdAt: at("59m"), ...more })));
    expect(held({})?.code).toBe("edited-while-remediating");
    expect(held({ succeeded: aCondition("Succeeded", "True") })).toBeUndefined();
  });

  describe("and names the template of what runs no longer", () => {
    const other = aCheck("web", { spec: { escalatingRemediations: escalatingRemediations.slice(1) } });
    const found = (more: Partial<RemediationView>, now = at("60m")) =>
      decide(world({ createdAt: at("30m"), ...more }, { checks: [other], actions: [running(other)], now }));
    const codesOf = ({ refusals }: Decision) => refusals.map(({ code }) => code);
    const succeeded = aCondition("Succeeded", "True");

    test("what was written before holds, for half an hour if nobody says anything", () => {
      const held = found({}, at("60m") - 1);
      expect(held.refusals).toMatchObject([{ code: "edited-while-remediating", until: at("60m") }]);
      expect(commandsOf(held, "annotate-remediation")).toEqual([]);
      expect(Math.min(held.wakeAt ?? 0, at("60m"))).toBe(held.wakeAt);
      // Whoever carries it out is told to stop, and then the new step begins.
      expect(commandsOf(found({}), "annotate-remediation")).toHaveLength(1);
      expect(codesOf(found({ timedOut: stamp }))).toEqual([]);
    });

    test("so too where it has succeeded; what has failed holds nothing", () => {
      expect(codesOf(found({ succeeded }, at("60m") - 1))).toEqual(["edited-while-remediating"]);
      expect(codesOf(found({ succeeded }))).toEqual([]);
      expect(codesOf(found({ succeeded: aCondition("Succeeded", "False") }))).toEqual([]);
    });

    test("the lease is kept for as long as it runs, for no step's time", () => {
      const leases = (renewedAt: string) => ({ leases: [aLease("n0", { renewedAt: at(renewedAt) })] });
      const kept = (renewedAt: string, more: Partial<RemediationView> = {}) => {
        const rest = { checks: [other], actions: [running(other)], now: at("50m"), ...leases(renewedAt) };
        return commandsOf(decide(world({ createdAt: at("30m"), ...more }, rest)), "take-node-lease");
      };
      expect(kept("44m")).toMatchObject([{ durationSeconds: 660 }]);
      expect(kept("45m")).toEqual([]);
      expect(kept("44m", { deletingSince: at("49m") })).toEqual([]);
      expect(kept("44m", { timedOut: stamp })).toEqual([]);
    });

    test("one of ours has all the time it wants", () => {
      const own = { spec: {}, status: {}, conditions: [] };
      expect(codesOf(found({ own }, at("24h")))).toEqual(["edited-while-remediating"]);
    });
  });

  test("begins the step like any other start: what holds starts holds it", () => {
    const actions = [remediating(after)];
    const leases = [aLease("n0")];
    const made = commandsOf(decide(world(failed, { actions, leases })), "create-remediation");
    expect(made.map(({ manifest }) => manifest.kind)).toEqual(["RebootRemediation"]);
    const pauseRequests = ["stop"];
    const paused = aCheck("web", { spec: { escalatingRemediations, pauseRequests }, generation: 2 });
    const held = decide(world(failed, { checks: [paused], actions, leases }));
    expect(held.refusals.map(({ code }) => code)).toEqual(["paused"]);
    expect(held.commands).toMatchObject([{ kind: "update-action", progress: { waitingFor: { reason: "Paused" } } }]);
  });

  test("is no edit by a pause: the next step has an entry of its own and goes on all the same", () => {
    const spec = { escalatingRemediations, pauseRequests: ["stop"] };
    const paused = aCheck("web", { spec, generation: 3 });
    const remediations = [aRemediation({ of: after, on: "n0", ...failed })];
    const found = decide({
      ...world({}),
      checks: [paused],
      remediations,
      actions: [remediating(paused)],
      leases: [aLease("n0")],
    });
    expect(commandsOf(found, "create-remediation").length).toBe(1);
  });

  test("asks once: not while its entry is on its way", () => {
    const { uid: _uid, ...written } = remediating(after);
    const entry = { ...written, uid: "", resourceVersion: "", isProvisional: true } as const;
    expect(decide(world(failed, { actions: [entry] })).proposals).toEqual([]);
  });

  test("lets the node go, if it is no longer selected", () => {
    const selector = { matchLabels: { no: "node" } };
    const unselecting = aCheck("web", { spec: { escalatingRemediations, selector }, generation: 2 });
    const found = decide(world(failed, { checks: [unselecting] }));
    expect(commandsOf(found, "delete-remediation").length).toBe(1);
  });
});
