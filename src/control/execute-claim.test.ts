import { describe, expect, test } from "vitest";
import { EmbeddedExecution, resources, targetOf } from "../../test/embedded-execution.ts";
import { hung } from "../../test/scripted-shell.ts";
import type { KubeObject } from "../api/meta.ts";
import type { NodeClaim } from "../api/node-claim.ts";
import type { Command } from "../decide/decision.ts";
import type { Instance } from "../snapshot/instance.ts";

type Claim = NodeClaim & KubeObject;
const { claims, pools, policies } = resources;

const anInstance: Instance = {
  providerID: "test:///i-1",
  createdAt: 0,
  labels: { "topology.kubernetes.io/zone": "z1" },
  capacity: { cpu: "4" },
  allocatable: { cpu: "3" },
  state: "running",
};

async function aClaim(execution: EmbeddedExecution, more: object = {}): Promise<Claim> {
  return execution.create<Claim>(claims, { metadata: { name: "a", ...more }, spec: {} });
}

const creating = (name: string): Command => ({
  kind: "create-claim",
  manifest: { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name }, spec: {} },
  why: "",
});

const launching = (claim: Claim): Command => ({ kind: "launch-instance", claim: targetOf(claim), why: "" });

describe("create-claim", () => {
  test("writes it, and the picture has it before any watch", async () => {
    const execution = new EmbeddedExecution();
    expect(await execution.execute(creating("a"))).toEqual({ result: "done" });
    const claim = await execution.get<Claim>(claims, "a");
    expect(execution.picture.claim("a")?.uid).toBe(claim?.metadata.uid);
  });

  test("of one that is there already shows that one", async () => {
    const execution = new EmbeddedExecution();
    const manifest = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name: "a" }, spec: {} };
    await execution.settle(execution.server.create(claims, {}, manifest));
    expect(await execution.execute(creating("a"))).toEqual({ result: "already-so" });
    expect(execution.picture.claim("a")?.uid).toBe((await execution.get(claims, "a"))?.metadata.uid);
  });
});

describe("create-claim of a pool", () => {
  type Pool = KubeObject;

  async function aPool(execution: EmbeddedExecution): Promise<Pool> {
    const metadata = { name: "web", finalizers: ["test/held"] };
    return execution.create<Pool>(pools, { metadata, spec: { replicas: 1, template: { spec: {} } } });
  }

  function creatingOf({ metadata: { name, uid } }: Pool): Command {
    const ownerReferences = [{ apiVersion: "karpenter.sh/v1", kind: "NodePool", name, uid }];
    const metadata = { name: "a", ownerReferences };
    return {
      kind: "create-claim",
      manifest: { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata, spec: {} },
      why: "",
    };
  }

  test("writes it while the pool is there", async () => {
    const execution = new EmbeddedExecution();
    expect(await execution.execute(creatingOf(await aPool(execution)))).toEqual({ result: "done" });
  });

  test("of many looks at the pool once; after ten seconds it looks again", async () => {
    const execution = new EmbeddedExecution();
    const pool = await aPool(execution);
    const looks: string[] = [];
    execution.interfere = call => void (call.startsWith("get") && looks.push(call));
    const named = (name: string): Command => {
      const create = creatingOf(pool) as Extract<Command, { kind: "create-claim" }>;
      return { ...create, manifest: { ...create.manifest, metadata: { ...create.manifest.metadata, name } } };
    };
    await execution.execute(named("a"));
    await execution.clock.runFor(10_000);
    await execution.execute(named("b"));
    expect(looks).toHaveLength(1);
    await execution.clock.runFor(1);
    await execution.execute(named("c"));
    expect(looks).toHaveLength(2);
  });

  test("writes nothing once the pool is being deleted, is gone or is another one, whatever the watch shows", async () => {
    const execution = new EmbeddedExecution();
    const pool = await aPool(execution);
    const create = creatingOf(pool);
    await execution.remove(pools, "web");
    expect(await execution.execute(create)).toEqual({ result: "stale" });
    expect(execution.picture.pool("web")?.deletingSince).toBeDefined();

    await execution.patch(pools, "web", { metadata: { finalizers: null } });
    expect(await execution.execute(create)).toEqual({ result: "stale" });
    expect(execution.picture.pool("web")).toBeUndefined();

    await aPool(execution);
    expect(await execution.execute(create)).toEqual({ result: "stale" });
    expect(await execution.get(claims, "a")).toBeUndefined();
  });
});

describe("update-claim", () => {
  const update = (claim: Claim, more: object = {}): Command => ({
    kind: "update-claim",
    claim: targetOf(claim),
    resourceVersion: claim.metadata.resourceVersion,
    metadata: { addFinalizers: ["karpenter.sh/termination"], annotations: { gone: null } },
    status: { nodeName: "n", conditions: [{ type: "Ready", status: "True", reason: "Ready", message: "" }] },
    why: "",
    ...more,
  });

  test("writes metadata, then status, over the version that each has left", async () => {
    const execution = new EmbeddedExecution();
    const claim = await aClaim(execution, { finalizers: ["test/theirs"], annotations: { gone: "1", kept: "1" } });
    expect(await execution.execute(update(claim))).toEqual({ result: "done" });
    expect(execution.writes).toEqual(["patch nodeclaims", "patch-status nodeclaims"]);
    const written = await execution.get<Claim>(claims, "a");
    expect(written?.metadata.finalizers).toEqual(["test/theirs", "karpenter.sh/termination"]);
    expect(written?.metadata.annotations).toEqual({ kept: "1" });
    expect(written?.status).toEqual({
      nodeName: "n",
      conditions: [
        { type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
      ],
    });
    expect(execution.picture.claim("a")?.resourceVersion).toBe(written?.metadata.resourceVersion);
  });

  test("is stale when somebody has written since, before and between its writes", async () => {
    const execution = new EmbeddedExecution();
    const claim = await aClaim(execution);
    await execution.patch(claims, "a", { metadata: { labels: { theirs: "1" } } });
    expect(await execution.execute(update(claim))).toEqual({ result: "stale" });

    const seen = execution.see(claims, (await execution.get<Claim>(claims, "a")) as Claim);
    execution.interfere = async call => {
      if (call === "patch-status nodeclaims")
        await execution.patch(claims, "a", { metadata: { labels: { theirs: "2" } } });
    };
    expect(await execution.execute(update(seen))).toEqual({ result: "stale" });
    const written = await execution.get<Claim>(claims, "a");
    expect([written?.metadata.finalizers, written?.status]).toEqual([["karpenter.sh/termination"], undefined]);
  });

  test("is stale, and sends nothing, when the picture has moved on", async () => {
    const execution = new EmbeddedExecution();
    const claim = await aClaim(execution);
    execution.see(claims, await execution.patch(claims, "a", { metadata: { labels: { theirs: "1" } } }));
    execution.writes.length = 0;
    expect(await execution.execute(update(claim))).toEqual({ result: "stale" });
    expect(execution.writes).toEqual([]);
  });

  test("takes what is released for gone", async () => {
    const execution = new EmbeddedExecution();
    await aClaim(execution, { finalizers: ["karpenter.sh/termination"] });
    await execution.remove(claims, "a");
    const claim = execution.see(claims, (await execution.get<Claim>(claims, "a")) as Claim);
    const metadata = { removeFinalizers: ["karpenter.sh/termination"] };
    const { status: _, ...command } = update(claim, { metadata }) as Extract<Command, { kind: "update-claim" }>;
    expect(await execution.execute(command)).toEqual({ result: "done" });
    expect([await execution.get(claims, "a"), execution.picture.claim("a")]).toEqual([undefined, undefined]);
  });
});

describe("delete-claim", () => {
  const removal = (claim: Claim): Command => {
    const { resourceVersion } = claim.metadata;
    return { kind: "delete-claim", claim: targetOf(claim), resourceVersion, why: "" };
  };

  test("deletes the one that was decided on: at once, or as far as its finalizers let it", async () => {
    const execution = new EmbeddedExecution();
    expect(await execution.execute(removal(await aClaim(execution)))).toEqual({ result: "done" });
    expect(execution.picture.claim("a")).toBeUndefined();
    const held = await aClaim(execution, { finalizers: ["test/theirs"] });
    expect(await execution.execute(removal(held))).toEqual({ result: "done" });
    expect(execution.picture.claim("a")?.deletingSince).toBe(execution.clock.now());
  });

  test("touches neither a newer version nor another one of the same name", async () => {
    const execution = new EmbeddedExecution();
    const claim = await aClaim(execution);
    await execution.patch(claims, "a", { metadata: { labels: { theirs: "1" } } });
    expect(await execution.execute(removal(claim))).toEqual({ result: "stale" });
    await execution.remove(claims, "a");
    const other = await aClaim(execution);
    expect(await execution.execute(removal(claim))).toEqual({ result: "stale" });
    expect((await execution.get(claims, "a"))?.metadata.uid).toBe(other.metadata.uid);
  });

  test("of one that is gone is already so, and the picture knows", async () => {
    const execution = new EmbeddedExecution();
    const claim = await aClaim(execution);
    await execution.remove(claims, "a");
    expect(await execution.execute(removal(claim))).toEqual({ result: "already-so" });
    expect(execution.picture.claim("a")).toBeUndefined();
  });
});

describe("delete-claim of one that was launched", () => {
  const providerID = "test:///i-1";
  const registeredNode = { "karpenter.sh/registered": "true" };
  const moments = ["before", "at the read", "after the read"] as const;
  type Moment = (typeof moments)[number];
  type Join = { readonly moment: Moment; readonly labels?: Record<string, string>; readonly providerID?: string };

  /** A node joins for it at that moment, and no watch has shown it. */
  async function deletedWhile({ moment, labels = {}, providerID: id = providerID }: Join, nodeName?: string) {
    const execution = new EmbeddedExecution();
    await aClaim(execution, { finalizers: ["karpenter.sh/termination"] });
    const status = { providerID, ...(nodeName && { nodeName }) };
    const claim = execution.see(claims, await execution.patch<Claim>(claims, "a", { status }));
    const manifest = { apiVersion: "v1", kind: "Node", metadata: { name: "n", labels }, spec: { providerID: id } };
    const join = async () => void (await execution.server.create(resources.nodes, {}, manifest));
    const isAt = (call: string) => call.startsWith(moment === "after the read" ? "delete" : "list");
    if (moment === "before") await execution.settle(join());
    else execution.interfere = async call => (isAt(call) ? join() : undefined);
    const { resourceVersion } = claim.metadata;
    const outcome = await execution.execute({ kind: "delete-claim", claim: targetOf(claim), resourceVersion, why: "" });
    const isDeleted = (await execution.get(claims, "a"))?.metadata.deletionTimestamp !== undefined;
    return { result: outcome.result, isDeleted, seen: execution.picture.node("n")?.name };
  }

  const spared = { result: "stale", isDeleted: false, seen: "n" };
  const gone = { result: "done", isDeleted: true, seen: undefined };

  test.each<[string, Join, string | undefined, object]>([
    ["leaves it when its node has joined, which no watch has shown", { moment: "before" }, undefined, spared],
    ["leaves it when its node joins as nodes are read", { moment: "at the read" }, undefined, spared],
    ["cannot tell of one that joins later", { moment: "after the read" }, undefined, gone],
    ["ends it when only others have joined", { moment: "before", providerID: "test:///i-2" }, undefined, gone],
    ["leaves it when its vanished node came back", { moment: "before" }, "n", spared],
    ["leaves it when that came back as it was", { moment: "before", labels: registeredNode }, "n", spared],
    ["ends it when its vanished node did not", { moment: "before", providerID: "test:///i-2" }, "m", gone],
  ])("%s", async (_, join, nodeName, expected) => {
    expect(await deletedWhile(join, nodeName)).toEqual(expected);
  });

  test("sees a node among many, a page after another", async () => {
    const execution = new EmbeddedExecution();
    await aClaim(execution);
    const claim = execution.see(claims, await execution.patch<Claim>(claims, "a", { status: { providerID } }));
    for (let index = 0; index < 501; index++) {
      const spec = { providerID: index === 500 ? providerID : `test:///other-${index}` };
      const metadata = { name: `n${String(index).padStart(3, "0")}` };
      const manifest = { apiVersion: "v1", kind: "Node", metadata, spec };
      await execution.settle(execution.server.create(resources.nodes, {}, manifest));
    }
    const { resourceVersion } = claim.metadata;
    const command: Command = { kind: "delete-claim", claim: targetOf(claim), resourceVersion, why: "" };
    expect(await execution.execute(command)).toEqual({ result: "stale" });
  });
});

describe("launch-instance", () => {
  const finalizers = ["karpenter.sh/termination"];
  const creatingWith = (metadata: object): Command => ({
    kind: "create-claim",
    manifest: { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name: "a", ...metadata }, spec: {} },
    why: "",
  });

  test.each([
    ["as we have just made it", { finalizers }, 10_000, 0],
    ["that we made longer ago", { finalizers }, 10_001, 1],
    ["without our finalizer, which could be gone", {}, 0, 1],
  ])("of a claim %s: how often it is read", async (_, metadata, laterMs, reads) => {
    const execution = new EmbeddedExecution({ create: async () => anInstance });
    await execution.execute(creatingWith(metadata));
    await execution.clock.runFor(laterMs);
    const claim = (await execution.get<Claim>(claims, "a")) as Claim;
    let looks = 0;
    execution.interfere = call => void (call.startsWith("get") && looks++);
    expect(await execution.execute(launching(claim))).toEqual({ result: "done" });
    expect(looks).toBe(reads);
    expect(execution.picture.claim("a")?.providerID).toBe("test:///i-1");
  });

  test("of a claim that somebody has changed since we made it reads it", async () => {
    const execution = new EmbeddedExecution({ create: () => Promise.reject(new Error("was asked")) });
    await execution.execute(creatingWith({ finalizers }));
    const claim = (await execution.get<Claim>(claims, "a")) as Claim;
    await execution.remove(claims, "a");
    execution.see(claims, (await execution.get<Claim>(claims, "a")) as Claim);
    expect(await execution.execute(launching(claim))).toEqual({ result: "stale" });
  });

  test("asks the provider for the live claim, by its class and our cluster, and labels the claim with what it answers", async () => {
    const asked: unknown[] = [];
    const create = async (request: object) => (asked.push(request), anInstance);
    const execution = new EmbeddedExecution({ create });
    const claim = await aClaim(execution);
    expect(await execution.execute(launching(claim))).toEqual({ result: "done" });
    const nodeClass = { group: "fettle.dev", kind: "SimulatedNodeClass", name: "default" };
    expect(asked).toMatchObject([{ claim: { metadata: { uid: claim.metadata.uid } }, nodeClass, cluster: "blue" }]);
    const written = await execution.get<Claim>(claims, "a");
    expect(written?.metadata.labels).toMatchObject({ "topology.kubernetes.io/zone": "z1" });
    // Asked once more, it has nothing to do.
    expect(await execution.execute(launching(claim))).toEqual({ result: "already-so" });
    expect(asked).toHaveLength(1);
  });

  test("leaves the status to be written with that of the node: the picture has it until the claim does", async () => {
    const execution = new EmbeddedExecution({ create: async () => anInstance });
    const claim = await aClaim(execution);
    await execution.execute(launching(claim));
    expect((await execution.get<Claim>(claims, "a"))?.status?.providerID).toBeUndefined();
    const launched = execution.picture.claim("a");
    const status = { providerID: "test:///i-1", capacity: { cpu: "4" } };
    expect(launched).toMatchObject({ providerID: "test:///i-1", status, unwritten: { status } });
    expect(launched?.conditions).toContainEqual(
      expect.objectContaining({ type: "Launched", status: "True", since: execution.clock.now() }),
    );
    const change = { ...launched?.unwritten?.status, conditions: launched?.conditions ?? [] };
    const { resourceVersion = "" } = launched ?? {};
    const command = { kind: "update-claim", claim: targetOf(claim), resourceVersion, status: change, why: "" } as const;
    expect(await execution.execute(command)).toEqual({ result: "done" });
    expect((await execution.get<Claim>(claims, "a"))?.status).toMatchObject(status);
    expect(execution.picture.claim("a")?.unwritten).toBeUndefined();
  });

  test("of a claim that is deleted before its status is written: what its end says of it has the instance with it", async () => {
    const execution = new EmbeddedExecution({ create: async () => anInstance });
    const claim = await aClaim(execution);
    await execution.execute(launching(claim));
    const { resourceVersion = "", conditions = [] } = execution.picture.claim("a") ?? {};
    const going = { type: "InstanceTerminating", status: "True", reason: "InstanceTerminating", message: "" };
    const status = { conditions: [...conditions, going] };
    const command = { kind: "update-claim", claim: targetOf(claim), resourceVersion, status, why: "" } as const;
    expect(await execution.execute(command)).toEqual({ result: "done" });
    expect((await execution.get<Claim>(claims, "a"))?.status).toMatchObject({ providerID: "test:///i-1" });
    const seen = execution.picture.claim("a");
    expect(seen?.unwritten).toBeUndefined();
    expect(seen?.conditions).toContainEqual(expect.objectContaining(going));
  });

  test("stands beside what others have said of the claim since then", async () => {
    const execution = new EmbeddedExecution({ create: async () => anInstance });
    const claim = await aClaim(execution);
    await execution.execute(launching(claim));
    const said = {
      type: "Examined",
      status: "True",
      reason: "ByHand",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const current = await execution.get<Claim>(claims, "a");
    const status = { conditions: [...(current?.status?.conditions ?? []), said] };
    execution.see(claims, await execution.patch(claims, "a", { status }));
    expect(execution.picture.claim("a")).toMatchObject({ providerID: "test:///i-1" });
    expect(execution.picture.claim("a")?.conditions.map(({ type }) => type)).toContain("Examined");
  });

  test("whose labels cannot be written is asked for again, and so is its instance", async () => {
    const asked: unknown[] = [];
    const execution = new EmbeddedExecution({ create: async request => (asked.push(request), anInstance) });
    const claim = await aClaim(execution);
    execution.interfere = call => {
      if (call.startsWith("patch")) throw new Error("cut off");
    };
    expect(await execution.execute(launching(claim))).toMatchObject({ result: "retry" });
    expect(execution.picture.claim("a")?.providerID).toBeUndefined();
    execution.interfere = () => {};
    expect(await execution.execute(launching(claim))).toEqual({ result: "done" });
    expect(asked).toHaveLength(2);
  });

  test.each([
    ["being deleted", async (execution: EmbeddedExecution) => execution.remove(claims, "a"), "stale"],
    [
      "another one by now",
      async (execution: EmbeddedExecution) => {
        await execution.patch(claims, "a", { metadata: { finalizers: null } });
        await execution.remove(claims, "a");
        await execution.create(claims, { metadata: { name: "a" }, spec: {} });
      },
      "stale",
    ],
    [
      "gone",
      async (execution: EmbeddedExecution) => {
        await execution.patch(claims, "a", { metadata: { finalizers: null } });
        await execution.remove(claims, "a");
      },
      "already-so",
    ],
  ] as const)("launches nothing for a claim that is %s, whatever the picture shows", async (_, meanwhile, result) => {
    const execution = new EmbeddedExecution({ create: () => Promise.reject(new Error("was asked")) });
    const claim = await aClaim(execution, { finalizers: ["karpenter.sh/termination"] });
    await meanwhile(execution);
    expect(await execution.execute(launching(claim))).toEqual({ result });
  });

  test.each([
    ["InsufficientCapacity", "False", "refused"],
    ["QuotaExceeded", "False", "refused"],
  ] as const)("writes %s as Launched=%s", async (error, status, result) => {
    const create = async () => ({ error, message: "none left" });
    const execution = new EmbeddedExecution({ create });
    const claim = await aClaim(execution);
    expect(await execution.execute(launching(claim))).toMatchObject({ result, reason: error, message: "none left" });
    const written = await execution.get<Claim>(claims, "a");
    const launched = written?.status?.conditions?.find(({ type }) => type === "Launched");
    expect(launched).toMatchObject({ status });
  });

  test("a provider that broke off may have launched: Unknown, and to be tried again", async () => {
    const execution = new EmbeddedExecution({ create: () => Promise.reject(new Error("reset")) });
    const claim = await aClaim(execution);
    expect(await execution.execute(launching(claim))).toEqual({
      result: "retry",
      reason: "Unknown",
      message: "reset",
      unknown: true,
    });
  });

  test("writes nothing once its term or its time is over, though the provider has answered", async () => {
    const execution = new EmbeddedExecution();
    execution.provider.create = async () => {
      execution.isInTerm = false;
      return anInstance;
    };
    const claim = await aClaim(execution);
    expect(await execution.execute(launching(claim))).toMatchObject({ result: "retry", unknown: true });
    expect(execution.writes).toEqual([]);
    execution.isInTerm = true;
    execution.abort.abort(new Error("late"));
    execution.provider.create = hung;
    expect(await execution.execute(launching(claim))).toMatchObject({ result: "retry", unknown: true });
  });
});

describe("instances", () => {
  const lookUp: Command = { kind: "look-up-instance", providerID: "i", why: "" };

  test("are remembered as the provider last said, and since when they are gone", async () => {
    const said = ["running", "gone", "gone", "terminating", "gone"] as const;
    const answers = [...said];
    const get = async () => {
      const next = answers.shift();
      return next === "gone" || next === undefined ? "gone" : { ...anInstance, state: next };
    };
    const execution = new EmbeddedExecution({ get });
    const seen = [];
    for (const _ of said) {
      await execution.clock.runFor(1000);
      expect(await execution.execute(lookUp)).toEqual({ result: "done" });
      const view = execution.picture.instance("i");
      const goneSince = view?.goneSince;
      seen.push([view?.state, view && view.seenAt % 10_000, goneSince && goneSince % 10_000]);
    }
    expect(seen).toEqual([
      ["running", 1000, undefined],
      ["gone", 2000, 2000],
      ["gone", 3000, 2000],
      ["terminating", 4000, undefined],
      ["gone", 5000, 5000],
    ]);
  });

  test("that a list has had since are not gone any more: the next word of it is the first", async () => {
    const list = async () => [{ ...anInstance, providerID: "i" }];
    const execution = new EmbeddedExecution({ get: async () => "gone", list });
    const { clock, picture } = execution;
    expect(await execution.execute(lookUp)).toEqual({ result: "done" });
    await clock.runFor(1000);
    expect(await execution.execute({ kind: "list-instances", why: "" })).toEqual({ result: "done" });
    expect(picture.instance("i")).toBeUndefined();
    await clock.runFor(3_600_000);
    expect(await execution.execute(lookUp)).toEqual({ result: "done" });
    expect(picture.instance("i")).toMatchObject({ state: "gone", goneSince: clock.now() });
  });

  test("of which the provider cannot tell stay as they were", async () => {
    const get = async () => ({ error: "Throttled", message: "slowly", retryAfterMs: 3000 }) as const;
    const execution = new EmbeddedExecution({ get });
    expect(await execution.execute(lookUp)).toEqual({
      result: "retry",
      reason: "Throttled",
      message: "slowly",
      afterMs: 3000,
    });
    expect(execution.picture.instance("i")).toBeUndefined();
  });

  test("are deleted as often as asked", async () => {
    const answers = ["terminating", "gone"] as const;
    let index = 0;
    const execution = new EmbeddedExecution({ delete: async () => answers[index++] ?? "gone" });
    const command: Command = { kind: "delete-instance", providerID: "i", why: "" };
    for (const state of answers) {
      expect(await execution.execute(command)).toEqual({ result: "done" });
      expect(execution.picture.instance("i")?.state).toBe(state);
    }
  });

  test("are not ended under a node that has joined for their claim, which no watch has shown", async () => {
    const execution = new EmbeddedExecution({ delete: async () => "terminating" });
    await aClaim(execution);
    const claim = execution.see(claims, await execution.patch<Claim>(claims, "a", { status: { providerID: "i" } }));
    const manifest = { apiVersion: "v1", kind: "Node", metadata: { name: "n" }, spec: { providerID: "i" } };
    await execution.settle(execution.server.create(resources.nodes, {}, manifest));
    const command: Command = { kind: "delete-instance", providerID: "i", claim: targetOf(claim), why: "" };
    expect(await execution.execute(command)).toEqual({ result: "stale" });
    expect(execution.picture.instance("i")).toBeUndefined();
    // Now that it is seen, whoever asks again knows what of it is in the ledger.
    expect(execution.picture.node("n")?.providerID).toBe("i");
    expect(await execution.execute(command)).toEqual({ result: "done" });
  });

  test.each([
    ["True", "stale", undefined],
    ["False", "done", "terminating"],
  ])(
    "without a claim, with a node that no watch has shown and that says Ready=%s: %s",
    async (status, result, state) => {
      const execution = new EmbeddedExecution({ delete: async () => "terminating" });
      const manifest = { apiVersion: "v1", kind: "Node", metadata: { name: "n" }, spec: { providerID: "i" } };
      await execution.settle(execution.server.create(resources.nodes, {}, manifest));
      const time = "2026-01-01T00:00:00Z";
      const conditions = [{ type: "Ready", status, lastTransitionTime: time, lastHeartbeatTime: time }];
      const body = { type: "merge", body: { status: { conditions } } } as const;
      await execution.settle(execution.server.patch(resources.nodes, { name: "n" }, body, { subresource: "status" }));
      const command: Command = { kind: "delete-instance", providerID: "i", why: "" };
      expect(await execution.execute(command)).toEqual({ result });
      expect(execution.picture.instance("i")?.state).toBe(state);
      expect(execution.picture.node("n")?.providerID).toBe("i");
    },
  );

  test("are listed as of the moment of asking, all or none", async () => {
    const listed = { providerID: "i", createdAt: 0 };
    const execution = new EmbeddedExecution();
    execution.provider.list = async () => {
      await execution.clock.runFor(5000);
      return [listed];
    };
    const command: Command = { kind: "list-instances", why: "" };
    const at = execution.clock.now();
    expect(await execution.execute(command)).toEqual({ result: "done" });
    expect(execution.picture.instanceList).toEqual({ at, instances: [listed] });
    execution.provider.list = async () => ({ error: "Unknown", message: "reset" });
    expect(await execution.execute(command)).toMatchObject({ result: "retry", unknown: true });
    expect(execution.picture.instanceList?.at).toBe(at);
  });
});

describe("what the controller tells the owners of policies", () => {
  test("update-pool writes annotations and status; resources that no node has any more are taken away", async () => {
    const execution = new EmbeddedExecution();
    const pool = await execution.create(pools, { metadata: { name: "p" }, spec: {} });
    const update = (resourceList: Record<string, string>): Command => ({
      kind: "update-pool",
      pool: targetOf(pool),
      metadata: { annotations: { note: "1" } },
      status: { resources: resourceList },
      why: "",
    });
    expect(await execution.execute(update({ cpu: "8", gpu: "1" }))).toEqual({ result: "done" });
    expect(await execution.execute(update({ cpu: "4" }))).toEqual({ result: "done" });
    const written = await execution.get(pools, "p");
    expect(written?.metadata.annotations).toEqual({ note: "1" });
    expect(written?.["status"]).toHaveProperty("resources", { cpu: "4" });
    expect(execution.picture.pool("p")?.status.resources).toEqual({ cpu: "4" });
  });

  test("another pool of the same name is left alone", async () => {
    const execution = new EmbeddedExecution();
    const pool = await execution.create(pools, { metadata: { name: "p" }, spec: {} });
    await execution.remove(pools, "p");
    await execution.create(pools, { metadata: { name: "p" }, spec: {} });
    const target = targetOf(pool);
    const metadata = { annotations: { note: "1" } };
    expect(await execution.execute({ kind: "update-pool", pool: target, metadata, why: "" })).toEqual({
      result: "stale",
    });
    expect(await execution.execute({ kind: "update-pool", pool: target, status: { nodes: 1 }, why: "" })).toEqual({
      result: "stale",
    });
    const finalizers = { addFinalizers: ["test/ours"] };
    expect(await execution.execute({ kind: "update-pool", pool: target, metadata: finalizers, why: "" })).toEqual({
      result: "stale",
    });
    expect((await execution.get(pools, "p"))?.metadata).not.toHaveProperty("annotations");
  });

  test("update-pool reads a pool only if somebody was quicker, and leaves what they wrote", async () => {
    const execution = new EmbeddedExecution();
    const pool = await execution.create(pools, { metadata: { name: "p" }, spec: {} });
    const looks: string[] = [];
    execution.interfere = call => void (call.startsWith("get") && looks.push(call));
    const update = (nodes: number): Command => ({
      kind: "update-pool",
      pool: targetOf(pool),
      metadata: { addFinalizers: ["test/ours"] },
      status: { nodes },
      why: "",
    });
    expect(await execution.execute(update(1))).toEqual({ result: "done" });
    expect(looks).toEqual([]);
    await execution.patch(pools, "p", { metadata: { finalizers: ["test/ours", "test/theirs"] } });
    looks.length = 0;
    expect(await execution.execute(update(2))).toEqual({ result: "done" });
    expect(looks).toEqual(["get nodepools p"]);
    const written = await execution.get(pools, "p");
    expect(written?.metadata.finalizers).toEqual(["test/ours", "test/theirs"]);
    expect(written?.["status"]).toMatchObject({ nodes: 2 });
  });

  test("update-pool adds a finalizer beside those of others", async () => {
    const execution = new EmbeddedExecution();
    const pool = await execution.create(pools, { metadata: { name: "p", finalizers: ["test/theirs"] }, spec: {} });
    const metadata = { addFinalizers: ["test/ours"] };
    expect(await execution.execute({ kind: "update-pool", pool: targetOf(pool), metadata, why: "" })).toEqual({
      result: "done",
    });
    expect((await execution.get(pools, "p"))?.metadata.finalizers).toEqual(["test/theirs", "test/ours"]);
  });

  test("update-safety-policy writes its status", async () => {
    const execution = new EmbeddedExecution();
    const policy = await execution.create(policies, { metadata: { name: "default" }, spec: {} });
    const command: Command = { kind: "update-safety-policy", policy: targetOf(policy), status: { nodes: 7 }, why: "" };
    expect(await execution.execute(command)).toEqual({ result: "done" });
    expect(await execution.get(policies, "default")).toMatchObject({ status: { nodes: 7 } });
    expect(execution.picture.safety.status?.nodes).toBe(7);
  });
});
