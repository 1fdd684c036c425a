import { beforeEach, describe, expect, test } from "vitest";
import { EmbeddedExecution, targetOf } from "../../test/embedded-execution.ts";
import { apiVersionOf, type KubeObject, type Manifest } from "../api/meta.ts";
import { type NodeHealthCheck, nodeHealthChecks } from "../api/node-health-check.ts";
import { replaceRemediationTemplates } from "../api/remediation.ts";
import type { Command } from "../decide/decision.ts";
import { leases } from "./resources.ts";

type Check = NodeHealthCheck & KubeObject;
const { resource } = nodeHealthChecks;
const templates = replaceRemediationTemplates.resource;
const begun = "2026-01-01T00:00:00Z";
const mark = { name: "mark", namespace: "default" };

let execution: EmbeddedExecution;
beforeEach(() => {
  execution = new EmbeddedExecution({}, [nodeHealthChecks, replaceRemediationTemplates]);
  execution.settings = { ...execution.settings, defaultCheck: { isWanted: true, mark } };
});

const manifestOf = (name: string): Manifest => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  metadata: { name },
  spec: { remediationTemplate: { apiVersion: apiVersionOf(templates), kind: templates.kind, name } },
});
const seen = (name: string) => execution.picture.checks.check(name);

describe("update-check", () => {
  let check: Check;
  beforeEach(async () => {
    check = await execution.settle(execution.server.create<Check>(resource, {}, manifestOf("web")));
    execution.picture.checkFeeds.checks.answered(check);
  });

  const telling = (status: Extract<Command, { kind: "update-check" }>["status"]): Command => {
    return { kind: "update-check", check: targetOf(check), status, why: "" };
  };
  const read = async () => (await execution.get<Check>(resource, "web"))?.status;
  const condition = { type: "Disabled", status: "False", reason: "NodeHealthCheckEnabled", message: "" } as const;

  test("writes what it is told, stamped; what an older controller counted goes", async () => {
    const inFlightRemediations = { n: begun };
    await execution.patch(resource, "web", { status: { inFlightRemediations, observedNodes: 1 } });
    await execution.clock.runFor(60_000);
    const told = telling({ phase: "Enabled", observedNodes: 3, conditions: [condition] });
    expect(await execution.execute(told)).toEqual({ result: "done" });
    expect(execution.writes).toEqual(["patch-status nodehealthchecks"]);
    expect(await read()).toEqual({
      phase: "Enabled",
      observedNodes: 3,
      lastUpdateTime: "2026-01-01T00:01:00Z",
      conditions: [{ ...condition, lastTransitionTime: "2026-01-01T00:01:00Z" }],
    });
    expect(seen("web")?.status).toMatchObject({ phase: "Enabled" });
  });

  test("keeps the time of a condition that says the same", async () => {
    await execution.execute(telling({ conditions: [{ ...condition, since: execution.clock.now() }] }));
    await execution.clock.runFor(60_000);
    await execution.execute(telling({ conditions: [{ ...condition, since: execution.clock.now() - 60_000 }] }));
    expect(await read()).toMatchObject({ conditions: [{ lastTransitionTime: begun }] });
  });

  test("of what it does not name nothing is lost, and a list is replaced whole", async () => {
    const entry = (name: string) => ({ name });
    await execution.execute(telling({ healthyNodes: 2, unhealthyNodes: [entry("a"), entry("b")] }));
    await execution.execute(telling({ unhealthyNodes: [entry("b")] }));
    expect(await read()).toMatchObject({ healthyNodes: 2, unhealthyNodes: [{ name: "b" }] });
  });

  test("of another check with the name is not written; of one that is gone nothing is left in the picture", async () => {
    await execution.remove(resource, "web");
    const told = telling({ phase: "Enabled" });
    const other = await execution.settle(execution.server.create<Check>(resource, {}, manifestOf("web")));
    expect(await execution.execute(told)).toEqual({ result: "stale" });
    expect(await read()).toBeUndefined();
    await execution.remove(resource, "web");
    expect(await execution.execute(told)).toEqual({ result: "already-so" });
    expect(seen("web")).toBeUndefined();
    expect(other.metadata.uid).not.toBe(check.metadata.uid);
  });

  test("is written over what somebody else wrote in between", async () => {
    let isFirst = true;
    execution.interfere = async call => {
      if (call !== "patch-status nodehealthchecks" || !isFirst) return;
      isFirst = false;
      await execution.server.patch(
        resource,
        { name: "web" },
        { type: "merge", body: { metadata: { labels: { a: "b" } } } },
      );
    };
    expect(await execution.execute(telling({ phase: "Enabled" }))).toEqual({ result: "done" });
    expect(await read()).toMatchObject({ phase: "Enabled" });
  });
});

describe("the check by default", () => {
  const template: Manifest = {
    apiVersion: apiVersionOf(templates),
    kind: templates.kind,
    metadata: { name: "nhc" },
    spec: { template: { spec: {} } },
  };
  const making: Command = { kind: "create-default-check", check: manifestOf("nhc"), template, why: "" };
  const marked = () => execution.settle(execution.server.get(leases, mark).catch(() => undefined));

  test("comes after its template and before the mark that it was made", async () => {
    expect(await execution.execute(making)).toEqual({ result: "done" });
    expect(execution.writes).toEqual([
      "create replaceremediationtemplates",
      "create nodehealthchecks",
      "create leases",
    ]);
    expect(seen("nhc")).toBeDefined();
    expect(execution.picture.checks.hadDefault).toBe(true);
  });

  test.each(["create nodehealthchecks", "create leases"])("cut before %s is made whole by the next", async cut => {
    execution.interfere = call => {
      if (call === cut) throw new Error("killed");
    };
    expect(await execution.execute(making)).toMatchObject({ result: "retry" });
    expect(await marked()).toBeUndefined();
    execution.interfere = () => {};
    expect(await execution.execute(making)).toEqual({ result: "done" });
    expect(await marked()).toBeDefined();
    expect(await execution.get(resource, "nhc")).toBeDefined();
  });

  test("by somebody else's template needs none of ours", async () => {
    await execution.execute({ kind: "create-default-check", check: manifestOf("nhc"), why: "" });
    expect(execution.writes).toEqual(["create nodehealthchecks", "create leases"]);
  });

  test("note-default-check only leaves the mark, once", async () => {
    const noting: Command = { kind: "note-default-check", why: "" };
    expect(await execution.execute(noting)).toEqual({ result: "done" });
    expect(await execution.execute(noting)).toEqual({ result: "done" });
    expect(await execution.get(resource, "nhc")).toBeUndefined();
    expect(await marked()).toMatchObject({ metadata: mark });
    expect(execution.picture.checks.hadDefault).toBe(true);
  });

  test("without a place for the mark nothing is noted", async () => {
    const { defaultCheck: _, ...settings } = execution.settings;
    execution.settings = settings;
    expect(await execution.execute({ kind: "note-default-check", why: "" })).toEqual({ result: "already-so" });
  });
});
