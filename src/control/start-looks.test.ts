import { beforeEach, describe, expect, test } from "vitest";
import { EmbeddedExecution, resources, targetOf } from "../../test/embedded-execution.ts";
import type { KubeObject } from "../api/meta.ts";
import { type NodeAction, nodeActions } from "../api/node-action.ts";
import type { Command, Target } from "../decide/decision.ts";
import type { NodeView } from "../snapshot/views.ts";
import { guardedApi } from "./guard.ts";

const { actions, nodes } = resources;
const time = "2026-01-01T00:00:00Z";
const count = 40;
const nameOf = (index: number) => `node-${index}`;

/** Forty entries of the ledger, each for a node; the nodes' hostnames are not their names. */
class Case {
  readonly execution = new EmbeddedExecution();
  readonly entries: Target[] = [];
  /** What the server was asked for. */
  calls: string[] = [];
  fails = false;
  hangs = false;

  async open(): Promise<this> {
    const { execution, entries } = this;
    for (let index = 0; index < count; index++) {
      const labels = { "kubernetes.io/hostname": `host-${index}` };
      const node = await execution.create(nodes, { metadata: { name: nameOf(index), labels } });
      const spec: NodeAction["spec"] = {
        node: targetOf(node),
        action: "Remediation",
        method: "Remediate",
        askedBy: { kind: "NodeHealthCheck", name: "web", uid: "web" },
        message: "sick",
        evidence: [{ kind: "Condition", conditionType: "Ready", conditionStatus: "False", since: time, seenAt: time }],
        decidedAt: time,
        epoch: 1,
      };
      entries.push(targetOf(await execution.create(actions, { metadata: { name: `remediation-${index}` }, spec })));
    }
    return this;
  }

  /** Those behind the first `from` wait to begin. */
  wait(from: number): void {
    this.execution.inLine = this.entries
      .slice(from)
      .map((action): Command => ({ kind: "start-action", action, why: "" }));
  }

  /** Its node, as it is read for its start. */
  async read(index: number): Promise<NodeView | undefined> {
    const { execution } = this;
    const action = execution.picture.action(this.entries[index]?.name ?? "");
    if (action === undefined) throw new Error(`There is no ${nodeActions.resource.kind} ${index}.`);
    const { server } = execution;
    const noting = {
      ...server,
      get: ((resource, key, options) => {
        this.calls.push(`get ${key.name}`);
        return server.get(resource, key, options);
      }) as typeof server.get,
      list: (async (resource, options) => {
        this.calls.push(`list ${resource.plural}`);
        if (this.fails) throw new Error("cut off");
        if (this.hangs) return new Promise(() => {});
        return server.list(resource, options);
      }) as typeof server.list,
    };
    const guard = { signal: execution.abort.signal, isInTerm: () => true };
    return execution.settle(execution.startLooks.node(action, guardedApi(noting, guard)));
  }

  /** Somebody changes it; the watch is behind unless it is seen. */
  async label(index: number): Promise<KubeObject> {
    return this.execution.patch<KubeObject>(nodes, nameOf(index), { metadata: { labels: { changed: "yes" } } });
  }
}

describe("the node of an action that starts", () => {
  let one: Case;
  beforeEach(async () => {
    one = await new Case().open();
  });

  test("is read alone where few wait", async () => {
    one.wait(count - 31);
    expect((await one.read(0))?.name).toBe("node-0");
    await one.read(count - 1);
    expect(one.calls).toEqual(["get node-0", `get node-${count - 1}`]);
  });

  test("is read with those of all who wait where they are many, once", async () => {
    one.wait(1);
    await one.read(0);
    for (let index = 1; index < count; index++) {
      one.wait(index + 1);
      expect((await one.read(index))?.name).toBe(nameOf(index));
    }
    expect(one.calls).toEqual(["list nodes", "get node-0"]);
  });

  test("is as it was when they were read, not as the watch still shows it", async () => {
    one.wait(1);
    await one.label(7);
    await one.read(0);
    expect((await one.read(7))?.labels).toMatchObject({ changed: "yes" });
    expect(one.calls).not.toContain("get node-7");
  });

  test("is read alone if that was long ago", async () => {
    one.wait(1);
    await one.read(0);
    await one.execution.clock.runFor(1_001);
    await one.label(7);
    expect((await one.read(7))?.labels).toMatchObject({ changed: "yes" });
    expect(one.calls).toContain("get node-7");
  });

  test("is read alone if the watch has shown something of it since", async () => {
    one.wait(1);
    await one.read(0);
    one.execution.see(nodes, await one.label(7));
    expect((await one.read(7))?.labels).toMatchObject({ changed: "yes" });
    expect(one.calls).toContain("get node-7");
  });

  test("is read anew when it starts once more", async () => {
    one.wait(1);
    await one.read(0);
    await one.read(7);
    await one.read(7);
    expect(one.calls).toEqual(["list nodes", "get node-0", "get node-7"]);
  });

  test("is read alone if it was not found with the others", async () => {
    one.wait(1);
    await one.execution.patch(nodes, "node-7", { metadata: { labels: { "kubernetes.io/hostname": "another" } } });
    await one.execution.remove(nodes, "node-8");
    await one.read(0);
    expect((await one.read(7))?.name).toBe("node-7");
    expect(await one.read(8)).toBeUndefined();
    expect(one.calls).toEqual(["list nodes", "get node-0", "get node-7", "get node-8"]);
  });

  test("is read alone a second later if the answer does not come: who hangs stops nobody else", async () => {
    one.wait(1);
    one.hangs = true;
    await one.read(0);
    const reading = one.read(7);
    await one.execution.clock.runFor(999);
    expect(one.calls).not.toContain("get node-7");
    await one.execution.clock.runFor(1);
    expect((await reading)?.name).toBe("node-7");
    expect(one.calls).toEqual(["list nodes", "get node-0", "get node-7"]);
  });

  test("is read alone if they could not be read", async () => {
    one.wait(1);
    one.fails = true;
    await one.read(0);
    expect((await one.read(7))?.name).toBe("node-7");
    expect(one.calls).toEqual(["list nodes", "get node-0", "get node-7"]);
  });
});
