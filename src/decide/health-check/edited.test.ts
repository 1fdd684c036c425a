import { describe, expect, test } from "vitest";
import { aCondition, at } from "../../../test/builders.ts";
import {
  aCheck,
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
    const edited = aCheck("web", { spec: { ...spec, selector: { matchLabels: { no: "node" } } } });
    const found = decide(world({ createdAt: at("59m") }, { checks: [edited], actions: [running(edited)] }));
    expect(found.refusals.map(({ code }) => code)).toEqual(["edited-while-remediating"]);
    expect(commandsOf(found, "delete-remediation")).toEqual([]);
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
