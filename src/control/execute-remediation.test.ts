import { beforeEach, describe, expect, test } from "vitest";
import { EmbeddedExecution, resources, targetOf } from "../../test/embedded-execution.ts";
import { apiVersionOf, type KubeObject } from "../api/meta.ts";
import type { NodeAction, NodeActionSpec } from "../api/node-action.ts";
import { nodeHealthChecks } from "../api/node-health-check.ts";
import { replaceRemediations } from "../api/remediation.ts";
import { formatMicroTime, formatTime } from "../api/time.ts";
import { HealthCounts } from "../decide/brake-counts.ts";
import type { Command } from "../decide/decision.ts";
import { unstamped } from "../decide/ledger.ts";
import { ApiError, type Status } from "../api/status.ts";
import { leases, namespaces } from "./resources.ts";

const { actions, nodes } = resources;
const time = "2026-01-01T00:00:00Z";
const { resource } = replaceRemediations;
const kind = { apiVersion: apiVersionOf(resource), kind: resource.kind };
const timedOutKey = "remediation.medik8s.io/nhc-timed-out";

const aNamespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "medik8s-leases" } };
const forbidden: Status = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  code: 403,
  reason: "Forbidden",
  message: "not for you",
};

/** A sick node, the check that asks for it, and the entry in the ledger that allows it. */
class Case {
  readonly execution = new EmbeddedExecution({}, [nodeHealthChecks, replaceRemediations]);
  check = { uid: "" };
  node = { name: "n", uid: "" };
  action = { name: "remediation-n", uid: "" };

  async open(ready = "False"): Promise<this> {
    const { execution } = this;
    const made = await execution.create(nodes, { metadata: { name: "n" }, status: { conditions: [readyIs(ready)] } });
    this.node = targetOf(made);
    await this.see({});
    const spec = this.spec();
    const entry = await execution.create(actions, { metadata: { name: "remediation-n" }, spec });
    this.action = targetOf(entry);
    await this.progress({ phase: "Pending" });
    return this;
  }

  /** The check as it is now. */
  async see(spec: object): Promise<void> {
    const { execution } = this;
    const body = {
      apiVersion: apiVersionOf(nodeHealthChecks.resource),
      kind: nodeHealthChecks.resource.kind,
      metadata: { name: "web" },
      spec: {
        maxUnhealthy: "100%",
        remediationTemplate: { ...kind, kind: `${kind.kind}Template`, name: "t" },
        ...spec,
      },
    };
    const key = { name: "web" };
    const raw =
      this.check.uid === ""
        ? await execution.settle(execution.server.create(nodeHealthChecks.resource, {}, body))
        : await execution.settle(
            execution.server.patch(nodeHealthChecks.resource, key, { type: "merge", body: { spec } }),
          );
    this.check = raw.metadata;
    execution.picture.checkFeeds.checks.answered(raw);
  }

  spec(more: Partial<NodeActionSpec> = {}): NodeActionSpec {
    return {
      node: this.node,
      action: "Remediation",
      method: "Remediate",
      askedBy: { kind: "NodeHealthCheck", name: "web", uid: this.check.uid },
      message: "sick",
      evidence: [{ kind: "Condition", conditionType: "Ready", conditionStatus: "False", since: time, seenAt: time }],
      decidedAt: time,
      epoch: 1,
      ...more,
    };
  }

  get creation(): Extract<Command, { kind: "create-remediation" }> {
    const owner = { apiVersion: "remediation.medik8s.io/v1alpha1", kind: "NodeHealthCheck", name: "web" };
    const annotations = { "remediation.medik8s.io/node-name": "n" };
    const metadata = { name: "n", annotations, ownerReferences: [{ ...owner, uid: this.check.uid }] };
    const { node, action } = this;
    return { kind: "create-remediation", resource, manifest: { ...kind, metadata, spec: {} }, node, action, why: "" };
  }

  /** Made by somebody, and seen. */
  async remediation(metadata: object = {}): Promise<KubeObject> {
    const { execution } = this;
    const manifest = { ...kind, metadata: { name: "n", ...metadata }, spec: {} };
    const made = await execution.settle(execution.server.create(resource, {}, manifest));
    execution.picture.checkFeeds.kind(kind).answered(made);
    return made;
  }

  get found(): Promise<KubeObject | undefined> {
    return this.execution.get(resource, "n");
  }

  /** What the ledger says by now, and the picture shows. */
  async progress(status: object): Promise<void> {
    const { execution } = this;
    execution.see(actions, await execution.patch<KubeObject>(actions, "remediation-n", { status }));
  }

  async phase(): Promise<string | undefined> {
    return (await this.execution.get<NodeAction & KubeObject>(actions, "remediation-n"))?.status?.phase;
  }

  async heal(): Promise<void> {
    const body = { status: { conditions: [readyIs("True")] } };
    const { execution } = this;
    const options = { subresource: "status" } as const;
    await execution.settle(execution.server.patch(nodes, { name: "n" }, { type: "merge", body }, options));
  }
}

const readyIs = (status: string) => ({ type: "Ready", status, reason: "Test", message: "", lastTransitionTime: time });

describe("create-remediation", () => {
  let one: Case;
  let execution: EmbeddedExecution;
  beforeEach(async () => {
    one = await new Case().open();
    ({ execution } = one);
    await execution.clock.runFor(600_000);
    execution.writes.length = 0;
  });

  test("makes it after one look at the node, and no list", async () => {
    const calls: string[] = [];
    execution.interfere = call => void calls.push(call);
    expect(await execution.execute(one.creation)).toEqual({ result: "done" });
    expect(calls).toEqual(["get nodes n", "create replaceremediations"]);
    expect(execution.picture.checks.remediation({ ...kind, name: "n" })?.nodeName).toBe("n");
  });

  describe("with the lease on the node", () => {
    const taking = () => {
      const lease = { name: "node-n", namespace: "medik8s-leases" };
      return { ...one.creation, takes: { lease, node: one.node, holder: "web", durationSeconds: 660 } };
    };

    test("takes it after the judgement and before the object is made", async () => {
      const calls: string[] = [];
      await execution.settle(execution.server.create(namespaces, {}, aNamespace));
      execution.interfere = call => void calls.push(call);
      expect(await execution.execute(taking())).toEqual({ result: "done" });
      expect(calls).toEqual(["get nodes n", "create leases", "create replaceremediations"]);
      expect(execution.picture.checks.lease("n")).toMatchObject({ holder: "web", durationMs: 660_000 });
    });

    test("makes nothing where somebody was quicker, and sees who", async () => {
      await execution.execute({ ...taking(), takes: { ...taking().takes, holder: "another" } });
      await execution.settle(execution.server.delete(resource, { name: "n" }));
      expect(await execution.execute(taking())).toEqual({ result: "stale" });
      expect(await one.found).toBeUndefined();
      expect(execution.picture.checks.lease("n")).toMatchObject({ holder: "another" });
    });

    test("makes nothing where it may not be taken, and says so", async () => {
      execution.interfere = call => {
        if (call === "create leases") throw new ApiError(forbidden);
      };
      expect(await execution.execute(taking())).toMatchObject({
        result: "refused",
        reason: "Forbidden",
        message: "Lease medik8s-leases/node-n could not be taken: not for you",
      });
      expect(await one.found).toBeUndefined();
    });

    test("makes nothing under one that has gone since it was seen", async () => {
      const takes = { ...taking().takes, over: { uid: "gone", resourceVersion: "7" } };
      expect(await execution.execute({ ...taking(), takes })).toEqual({ result: "stale" });
      expect(await one.found).toBeUndefined();
    });

    test("leaves it where the node is well by now", async () => {
      await one.heal();
      await execution.execute(taking());
      expect(execution.picture.checks.lease("n")).toBeUndefined();
    });
  });

  test("sent twice is one object; one whose answer was lost is found", async () => {
    await execution.execute(one.creation);
    expect(await execution.execute(one.creation)).toEqual({ result: "already-so" });
  });

  test("leaves what has the name and is somebody else's, and says so", async () => {
    await one.remediation();
    expect(await execution.execute(one.creation)).toMatchObject({
      result: "refused",
      reason: "AlreadyExists",
      message: "ReplaceRemediation n is there already and is somebody else's.",
    });
  });

  test("does not take one that is being deleted for its own", async () => {
    const { metadata } = one.creation.manifest;
    await one.remediation({ ...metadata, finalizers: ["stranger.example.org/undo"] });
    await execution.remove(resource, "n");
    expect(await execution.execute(one.creation)).toMatchObject({ result: "refused" });
  });

  test("of a node that is well as it is read now ends the action, and nothing is made", async () => {
    await one.heal();
    const outcome = { result: "stale", note: "NodeAction remediation-n is given up" };
    expect(await execution.execute(one.creation)).toEqual(outcome);
    expect(execution.writes).toEqual(["patch-status nodeactions"]);
    expect([await one.phase(), await one.found]).toEqual(["Abandoned", undefined]);
    // The watch may be late: from now on the rules see what was read.
    expect(execution.picture.node("n")?.conditions).toMatchObject([{ type: "Ready", status: "True" }]);
  });

  describe("of a node that is excluded as it is read now", () => {
    const labels = { "remediation.medik8s.io/exclude-from-remediation": "true" };
    beforeEach(async () => void (await execution.patch(nodes, "n", { metadata: { labels } })));

    test("is not made, and the action ends", async () => {
      await execution.execute(one.creation);
      expect([await one.phase(), await one.found]).toEqual(["Abandoned", undefined]);
    });

    test("is not made as the next step either", async () => {
      await one.progress({ phase: "Running", startedAt: time });
      const message = expect.stringContaining("exclude-from-remediation") as string;
      expect(await execution.execute(one.creation)).toMatchObject({ result: "retry", reason: "Doubtful", message });
      expect(await one.found).toBeUndefined();
    });
  });

  test("of a node with the same name and another uid ends the action", async () => {
    await execution.remove(nodes, "n");
    await execution.create(nodes, { metadata: { name: "n" }, status: { conditions: [readyIs("False")] } });
    await execution.execute(one.creation);
    expect([await one.phase(), await one.found]).toEqual(["Abandoned", undefined]);
  });

  test.each([
    { what: "paused", spec: { pauseRequests: ["moving house"] }, word: "moving house" },
    { what: "set to dry run", spec: { dryRun: true }, word: "asks for a dry run" },
  ])("waits where the check was $what between the entry in the ledger and now", async ({ spec, word }) => {
    await one.see(spec);
    const outcome = await execution.execute(one.creation);
    expect(outcome).toMatchObject({ result: "stale", note: expect.stringContaining(word) });
    expect(execution.writes).toEqual([]);
  });

  test("waits while what the turns remember speaks against it: settling, one cause for many, the brake", async () => {
    const objection = { code: "settling", message: "a failure still spreads", liftedBy: "time" };
    execution.remembering = context => ({ ...context, vetoes: [() => objection] });
    expect(await execution.execute(one.creation)).toEqual({ result: "stale", note: objection.message });
    expect(execution.writes).toEqual([]);
    await one.progress({ phase: "Running", startedAt: time });
    expect(await execution.execute(one.creation)).toEqual({ result: "done" });
  });

  test("of the next step for a node that is False and Unknown in turn, as the turns remember it", async () => {
    const now = execution.clock.now();
    const turned = { ...readyIs("False"), lastTransitionTime: formatTime(now) };
    const body = { status: { conditions: [turned] } };
    await execution.settle(
      execution.server.patch(nodes, { name: "n" }, { type: "merge", body }, { subresource: "status" }),
    );
    await one.progress({ phase: "Running", startedAt: time });
    expect(await execution.execute(one.creation)).toMatchObject({ result: "retry", reason: "Doubtful" });
    const stretches = ["Unknown", "False"].map((status, index) => ({ status, reason: "", from: index * now }));
    const remembered = { sight: { history: () => ({ stretches, since: now }) }, health: new HealthCounts() };
    execution.remembering = context => ({ ...context, remembered });
    expect(await execution.execute(one.creation)).toEqual({ result: "done" });
  });

  test.each(["Done", "Failed", "Abandoned"])("does nothing once the action is %s", async phase => {
    await one.progress({ phase });
    expect(await execution.execute(one.creation)).toEqual({ result: "already-so" });
    expect(execution.writes).toEqual([]);
  });

  test("does nothing for an entry that is gone, or another one", async () => {
    const action = { ...one.action, uid: "another" };
    expect(await execution.execute({ ...one.creation, action })).toEqual({ result: "stale" });
    expect(execution.writes).toEqual([]);
  });

  test("of the next step goes on under a pause, for it has begun", async () => {
    await one.see({ pauseRequests: ["moving house"] });
    await one.progress({ phase: "Running", startedAt: time });
    expect(await execution.execute(one.creation)).toEqual({ result: "done" });
    expect(await one.found).toBeDefined();
  });

  test("of the next step waits while the node looks well: the watch will say so", async () => {
    await one.heal();
    await one.progress({ phase: "Running", startedAt: time });
    expect(await execution.execute(one.creation)).toMatchObject({ result: "retry", reason: "Doubtful" });
    expect([execution.writes, await one.phase()]).toEqual([[], "Running"]);
  });

  test("of the next step makes nothing on another node of the name", async () => {
    await one.progress({ phase: "Running", startedAt: time });
    await execution.remove(nodes, "n");
    await execution.create(nodes, { metadata: { name: "n" }, status: { conditions: [readyIs("False")] } });
    const message = `Node n (${one.node.uid}) is gone.`;
    expect(await execution.execute(one.creation)).toMatchObject({ result: "retry", reason: "Doubtful", message });
    expect(await one.found).toBeUndefined();
  });

  test("of a kind that is not served any more is no success", async () => {
    const gone = { ...resource, plural: "wiperemediations", kind: "WipeRemediation" };
    const outcome = await execution.execute({ ...one.creation, resource: gone });
    expect(outcome).toMatchObject({ result: "retry", message: expect.stringContaining("could not be created") });
  });

  test("for silence is not made while the kubelet renews its lease", async () => {
    const silent = await new Case().open("Unknown");
    const evidence = [
      { kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown", since: time, seenAt: time } as const,
    ];
    const spec = silent.spec({ evidence });
    silent.execution.see(actions, await silent.execution.patch<KubeObject>(actions, "remediation-n", { spec }));
    await silent.execution.clock.runFor(600_000);
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "n" } };
    const renewed = { ...lease, spec: { renewTime: formatMicroTime(silent.execution.clock.now()) } };
    const key = { namespace: "kube-node-lease" };
    await silent.execution.settle(silent.execution.server.create(leases, key, renewed));
    await silent.execution.execute(silent.creation);
    expect([await silent.phase(), await silent.found]).toEqual(["Abandoned", undefined]);
  });
});

describe("what becomes of a remediation", () => {
  let one: Case;
  let execution: EmbeddedExecution;
  let target: { name: string; uid: string };
  beforeEach(async () => {
    one = await new Case().open();
    ({ execution } = one);
    target = targetOf(await one.remediation({ finalizers: ["stranger.example.org/undo"] }));
    execution.writes.length = 0;
  });
  const shown = () => execution.picture.checks.remediation({ ...kind, name: "n" });

  test("delete-remediation: it is seen to go until its finalizers are gone, then it is gone", async () => {
    const command: Command = { kind: "delete-remediation", remediation: { resource, ...target }, why: "" };
    expect(await execution.execute(command)).toEqual({ result: "done" });
    expect(shown()?.deletingSince).toBeDefined();
    await execution.patch(resource, "n", { metadata: { finalizers: null } });
    expect(await execution.execute(command)).toEqual({ result: "already-so" });
    expect(shown()).toBeUndefined();
  });

  test("delete-remediation: another one of the same name stays", async () => {
    const remediation = { resource, ...target, uid: "another" };
    expect(await execution.execute({ kind: "delete-remediation", remediation, why: "" })).toEqual({ result: "stale" });
    expect((await one.found)?.metadata.deletionTimestamp).toBeUndefined();
  });

  test("annotate-remediation: an empty text becomes the time of writing, null takes it away", async () => {
    const command = (value: string | null): Command => {
      return {
        kind: "annotate-remediation",
        remediation: { resource, ...target },
        annotations: { [timedOutKey]: value },
        why: "",
      };
    };
    await execution.clock.runFor(60_000);
    expect(await execution.execute(command(unstamped))).toEqual({ result: "done" });
    expect((await one.found)?.metadata.annotations).toEqual({ [timedOutKey]: "2026-01-01T00:01:00Z" });
    expect(shown()?.timedOut).toBe("2026-01-01T00:01:00Z");
    expect(await execution.execute(command(null))).toEqual({ result: "done" });
    expect(shown()?.timedOut).toBeUndefined();
    target = { ...target, uid: "another" };
    expect(await execution.execute(command(unstamped))).toEqual({ result: "stale" });
  });

  test("annotate-remediation: one that is gone is forgotten", async () => {
    await execution.patch(resource, "n", { metadata: { finalizers: null } });
    await execution.remove(resource, "n");
    const remediation = { resource, ...target };
    const command: Command = { kind: "annotate-remediation", remediation, annotations: { [timedOutKey]: "" }, why: "" };
    expect(await execution.execute(command)).toEqual({ result: "already-so" });
    expect(shown()).toBeUndefined();
  });

  test("update-remediation: our finalizer beside the others, then what we say, stamped", async () => {
    const conditions = [{ type: "Succeeded", status: "Unknown", reason: "Replacing", message: "" } as const];
    const command: Command = {
      kind: "update-remediation",
      remediation: { resource, ...target },
      metadata: { addFinalizers: ["fettle.dev/remediation"] },
      status: { nodeUID: "u", conditions },
      why: "",
    };
    expect(await execution.execute(command)).toEqual({ result: "done" });
    expect(execution.writes).toEqual(["patch replaceremediations", "patch-status replaceremediations"]);
    expect(await one.found).toMatchObject({
      metadata: { finalizers: ["stranger.example.org/undo", "fettle.dev/remediation"] },
      status: { nodeUID: "u", conditions: [{ type: "Succeeded", lastTransitionTime: time }] },
    });
    execution.writes.length = 0;
    expect(await execution.execute(command)).toEqual({ result: "done" });
    expect(execution.writes).toEqual(["patch-status replaceremediations"]);
  });

  test("update-remediation: what somebody writes in between is not lost", async () => {
    let isFirst = true;
    execution.interfere = async call => {
      if (call !== "patch replaceremediations" || !isFirst) return;
      isFirst = false;
      await execution.server.patch(
        resource,
        { name: "n" },
        { type: "merge", body: { metadata: { labels: { by: "x" } } } },
      );
    };
    const metadata = { addFinalizers: ["fettle.dev/remediation"] };
    const command: Command = { kind: "update-remediation", remediation: { resource, ...target }, metadata, why: "" };
    expect(await execution.execute(command)).toEqual({ result: "done" });
    expect((await one.found)?.metadata).toMatchObject({
      labels: { by: "x" },
      finalizers: ["stranger.example.org/undo", "fettle.dev/remediation"],
    });
  });
});
