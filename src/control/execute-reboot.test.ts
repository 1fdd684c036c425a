import { describe, expect, test } from "vitest";
import { EmbeddedExecution, resources, targetOf } from "../../test/embedded-execution.ts";
import type { KubeObject } from "../api/meta.ts";
import type { NodeAction } from "../api/node-action.ts";
import type { NodeClaim } from "../api/node-claim.ts";
import type { Command } from "../decide/decision.ts";
import type { InstanceProvider } from "./ports.ts";

const { actions, claims, nodes } = resources;
type Action = NodeAction & KubeObject;
type Answer = Awaited<ReturnType<InstanceProvider["reboot"]>>;
const time = "2026-01-01T00:00:00Z";
const providerID = "test:///n";

/** A provider that notes down for whom it was asked, and answers as it is told. */
class Notes {
  readonly tokens: string[] = [];
  answer: Answer = "rebooting";

  readonly reboot: InstanceProvider["reboot"] = (_id, token) => {
    this.tokens.push(token);
    return Promise.resolve(this.answer);
  };
}

type Scene = { bootID?: string; claim?: boolean };

/** A sick node that says its boot id, its claim, and a reboot that is written down. */
async function aScene({ bootID = "1", claim: hasClaim = true }: Scene = {}) {
  const provider = new Notes();
  const execution = new EmbeddedExecution({ reboot: provider.reboot });
  const node = await execution.create(nodes, { metadata: { name: "n" }, spec: { providerID } });
  await says(execution, { bootID, ready: "False" });
  const claim = hasClaim
    ? await execution.create<NodeClaim & KubeObject>(claims, {
        metadata: { name: "c", finalizers: ["karpenter.sh/termination"] },
        spec: {},
      })
    : undefined;
  const action = await execution.create<Action>(actions, {
    metadata: { name: "repair-n" },
    spec: {
      node: targetOf(node),
      ...(claim && { claim: targetOf(claim) }),
      action: "Repair",
      method: "Reboot",
      askedBy: { kind: "NodePool", name: "p" },
      message: "sick",
      evidence: [
        {
          kind: "Condition",
          conditionType: "Ready",
          conditionStatus: "False",
          toleration: "30m",
          since: time,
          seenAt: time,
        },
      ],
      decidedAt: time,
      epoch: 1,
    },
  });
  const start: Command = { kind: "start-action", action: targetOf(action), why: "" };
  const reboot: Command = {
    kind: "reboot-instance",
    action: targetOf(action),
    node: targetOf(node),
    providerID,
    bootID: "1",
    why: "",
  };
  return { execution, provider, start, reboot, action };
}

async function says(execution: EmbeddedExecution, { bootID, ready }: { bootID: string; ready: string }): Promise<void> {
  const none = {
    machineID: "",
    systemUUID: "",
    kernelVersion: "",
    osImage: "",
    containerRuntimeVersion: "",
    kubeletVersion: "",
    kubeProxyVersion: "",
    operatingSystem: "",
    architecture: "",
  };
  const conditions = [{ type: "Ready", status: ready, lastTransitionTime: time, lastHeartbeatTime: time }];
  const body = { type: "merge", body: { status: { conditions, nodeInfo: { ...none, bootID } } } } as const;
  await execution.settle(execution.server.patch(nodes, { name: "n" }, body, { subresource: "status" }));
}

const statusOf = async (execution: EmbeddedExecution) => (await execution.get<Action>(actions, "repair-n"))?.status;

describe("the start of a reboot", () => {
  test("writes the boot id before anything is asked of the provider, and leaves the claim alone", async () => {
    const { execution, provider, start } = await aScene();
    execution.writes.length = 0;
    expect(await execution.execute(start)).toEqual({ result: "done" });
    expect(execution.writes).toEqual(["patch-status nodeactions"]);
    expect(await statusOf(execution)).toMatchObject({ phase: "Running", startedAt: time, bootID: "1" });
    expect(provider.tokens).toEqual([]);
  });

  test("of a node without a claim needs none", async () => {
    const { execution, start } = await aScene({ claim: false });
    await execution.execute(start);
    expect(await statusOf(execution)).toMatchObject({ phase: "Running", bootID: "1" });
  });

  test("sent twice keeps the first boot id: the machine may have come back in between", async () => {
    const { execution, start } = await aScene();
    await execution.execute(start);
    await says(execution, { bootID: "2", ready: "False" });
    expect(await execution.execute(start)).toEqual({ result: "done" });
    expect(await statusOf(execution)).toMatchObject({ bootID: "1" });
  });

  test.each<[string, (execution: EmbeddedExecution) => Promise<unknown>, RegExp]>([
    ["the node is well again", execution => says(execution, { bootID: "1", ready: "True" }), /Ready is True now/],
    [
      "its claim is being deleted",
      async execution => {
        await execution.remove(claims, "c");
        execution.see(claims, (await execution.get(claims, "c")) as KubeObject);
      },
      /NodeClaim c is being deleted/,
    ],
    ["the node says no boot id", execution => says(execution, { bootID: "", ready: "False" }), /says no boot id/],
    ["the node is gone", execution => execution.remove(nodes, "n"), /node n .* is gone/],
  ])("is given up when %s", async (_, meanwhile, why) => {
    const { execution, start } = await aScene();
    await meanwhile(execution);
    expect(await execution.execute(start)).toMatchObject({ result: "done", note: expect.stringMatching(why) });
    expect(await statusOf(execution)).toMatchObject({ phase: "Abandoned", outcome: expect.stringMatching(why) });
    expect(await statusOf(execution)).not.toHaveProperty("startedAt");
  });
});

describe("reboot-instance", () => {
  const begun = async () => {
    const scene = await aScene();
    await scene.execution.execute(scene.start);
    scene.execution.writes.length = 0;
    return scene;
  };

  test("asks the provider for this action, and writes down that it has taken it", async () => {
    const { execution, provider, reboot, action } = await begun();
    expect(await execution.execute(reboot)).toEqual({ result: "done" });
    expect(provider.tokens).toEqual([action.metadata.uid]);
    expect((await statusOf(execution))?.steps).toEqual([{ name: "reboot", startedAt: time, finishedAt: time }]);
    expect(execution.picture.action("repair-n")?.status.steps).toHaveLength(1);
  });

  test("keeps the steps before it", async () => {
    const { execution, reboot } = await begun();
    const steps = [
      { name: "cordon", startedAt: time, finishedAt: time },
      { name: "reboot", startedAt: time },
    ];
    await execution.patch(actions, "repair-n", { status: { steps } });
    await execution.execute(reboot);
    expect((await statusOf(execution))?.steps?.map(({ name }) => name)).toEqual(["cordon", "reboot"]);
  });

  test("killed between the call and the record is asked for again in the name of the same action", async () => {
    const { execution, provider, reboot, action } = await begun();
    execution.interfere = call => {
      if (call === "patch-status nodeactions") throw new Error("killed");
    };
    expect(await execution.execute(reboot)).toMatchObject({ result: "retry", unknown: true });
    execution.interfere = () => {};
    expect(await execution.execute(reboot)).toEqual({ result: "done" });
    expect(provider.tokens).toEqual([action.metadata.uid, action.metadata.uid]);
  });

  test("does not ask again once the machine has come back, and the picture learns it", async () => {
    const { execution, provider, reboot } = await begun();
    await says(execution, { bootID: "2", ready: "False" });
    expect(await execution.execute(reboot)).toEqual({ result: "already-so" });
    expect(provider.tokens).toEqual([]);
    expect(execution.picture.node("n")?.bootID).toBe("2");
  });

  test("asks nothing for a node that is well as it is read now, and the picture learns it", async () => {
    const { execution, provider, reboot } = await begun();
    await says(execution, { bootID: "1", ready: "True" });
    expect(await execution.execute(reboot)).toEqual({ result: "stale" });
    expect(provider.tokens).toEqual([]);
    expect(execution.picture.node("n")?.conditions).toMatchObject([{ type: "Ready", status: "True" }]);
  });

  test.each<[string, (execution: EmbeddedExecution) => Promise<unknown>]>([
    ["the action is over", execution => execution.patch(actions, "repair-n", { status: { phase: "Failed" } })],
    [
      "the node is another one",
      async execution => {
        await execution.remove(nodes, "n");
        await execution.create(nodes, { metadata: { name: "n" } });
      },
    ],
  ])("asks nothing when %s", async (_, meanwhile) => {
    const { execution, provider, reboot } = await begun();
    await meanwhile(execution);
    expect(await execution.execute(reboot)).toEqual({ result: "stale" });
    expect(provider.tokens).toEqual([]);
  });

  test("that has not begun is not carried out: its boot id is not written yet", async () => {
    const { execution, provider, reboot } = await aScene();
    expect(await execution.execute(reboot)).toEqual({ result: "stale" });
    expect(provider.tokens).toEqual([]);
  });

  test("of an instance that is gone says so in the picture, for the rule to judge", async () => {
    const { execution, provider, reboot } = await begun();
    provider.answer = "gone";
    expect(await execution.execute(reboot)).toEqual({ result: "done" });
    expect(execution.picture.instance(providerID)).toMatchObject({ state: "gone" });
    expect(execution.writes).toEqual([]);
  });

  test.each([
    ["Throttled", "retry"],
    ["Unknown", "retry"],
    ["NotSupported", "refused"],
  ] as const)("that the provider answers with %s is a %s", async (error, result) => {
    const { execution, provider, reboot } = await begun();
    provider.answer = { error, message: "not now" };
    expect(await execution.execute(reboot)).toMatchObject({ result, reason: error, message: "not now" });
  });

  test("asks nothing once its time is up or its term is over", async () => {
    for (const stop of [
      (execution: EmbeddedExecution) => execution.abort.abort(),
      (execution: EmbeddedExecution) => {
        execution.isInTerm = false;
      },
    ]) {
      const { execution, provider, reboot } = await begun();
      stop(execution);
      await execution.execute(reboot);
      expect(provider.tokens).toEqual([]);
    }
  });
});
