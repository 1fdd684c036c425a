import { describe, expect, test } from "vitest";
import { Box, pod } from "../../test/sim/box.ts";

const pods = { resource: "pods", namespace: "default" };
const budgets = { resource: "poddisruptionbudgets.policy", namespace: "default" };
const eviction = (name: string, more: object = {}) => ({
  apiVersion: "policy/v1",
  kind: "Eviction",
  metadata: { name },
  ...more,
});

function evict(box: Box, name: string, { options = {}, ...more }: { options?: object; deleteOptions?: object } = {}) {
  return box.status("create", { ...pods, name, subresource: "eviction" }, { body: eviction(name, more), options });
}

type Running = { ready?: boolean; labels?: Record<string, string> };

function run(box: Box, name: string, { ready = true, labels = { app: "web" } }: Running = {}): void {
  box.create(pods, pod(name, { nodeName: "n", labels }));
  const status = { phase: "Running", conditions: [{ type: "Ready", status: ready ? "True" : "False" }] };
  box.object("patch", { ...pods, name, subresource: "status" }, { patchType: "merge", body: { status } });
}

/** Pods w1…wn, and a budget over them whose status is computed. */
async function budgeted(count: number, spec: object, more: Running[] = []): Promise<Box> {
  const box = new Box();
  for (let i = 1; i <= count; i++) run(box, `w${i}`, more[i - 1]);
  box.create(budgets, { metadata: { name: "b" }, spec: { selector: { matchLabels: { app: "web" } }, ...spec } });
  await box.clock.runFor(1_000);
  return box;
}

const deleted = (box: Box, name: string) => box.get({ ...pods, name }).metadata.deletionTimestamp !== undefined;
const allowed = (box: Box) =>
  (box.get({ ...budgets, name: "b" }).status as { disruptionsAllowed: number }).disruptionsAllowed;

describe("eviction", () => {
  test("of a pod without a budget deletes it gracefully and says who it was", () => {
    const box = new Box();
    run(box, "w1");
    expect(evict(box, "w1")).toEqual({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 });
    const { metadata, status } = box.get({ ...pods, name: "w1" });
    expect(metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
    expect((status as { conditions: object[] }).conditions).toContainEqual(
      expect.objectContaining({ type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" }),
    );
  });

  test("spends the budget, and is refused when it is spent", async () => {
    const box = await budgeted(3, { minAvailable: 2 });
    expect(evict(box, "w1").code).toBe(201);
    expect(allowed(box)).toBe(0);
    expect(box.get({ ...budgets, name: "b" }).status).toMatchObject({ disruptedPods: { w1: "2026-01-01T00:00:01Z" } });
    expect(evict(box, "w2")).toMatchObject({
      code: 429,
      reason: "TooManyRequests",
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: { causes: [{ reason: "DisruptionBudget" }] },
    });
    await box.clock.runFor(1_000);
    expect(evict(box, "w2").details?.causes?.[0]?.message).toBe(
      "The disruption budget b needs 2 healthy pods and has 2 currently",
    );
    expect(deleted(box, "w2")).toBe(false);
  });

  test("as a dry run is judged and changes nothing", async () => {
    const box = await budgeted(2, { minAvailable: 1 });
    const revision = box.server.store.revision;
    expect(evict(box, "w1", { options: { dryRun: true } }).code).toBe(201);
    expect(evict(box, "w1", { deleteOptions: { dryRun: ["All"] } }).code).toBe(201);
    expect(box.server.store.revision).toBe(revision);
  });

  test("is refused, to be tried again, while the budget has not been looked at", () => {
    const box = new Box();
    run(box, "w1");
    box.create(budgets, { metadata: { name: "b" }, spec: { minAvailable: 0, selector: {} } });
    expect(evict(box, "w1")).toMatchObject({
      code: 429,
      details: {
        retryAfterSeconds: 10,
        causes: [{ message: "The disruption budget b is still being processed by the server." }],
      },
    });
  });

  test("is refused when two budgets hold the pod", async () => {
    const box = await budgeted(2, { minAvailable: 0 });
    box.create(budgets, { metadata: { name: "b2" }, spec: { minAvailable: 0, selector: {} } });
    await box.clock.runFor(1_000);
    expect(evict(box, "w1")).toMatchObject({
      code: 500,
      message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    });
  });

  test("of a pod that is not ready costs nothing while enough others are, or always if the policy says so", async () => {
    const healthy = [{ ready: true }, { ready: true }, { ready: false }];
    const enough = await budgeted(3, { minAvailable: 2 }, healthy);
    expect(evict(enough, "w1").code).toBe(429);
    expect(evict(enough, "w3").code).toBe(201);
    const short = [{ ready: true }, { ready: false }];
    expect(evict(await budgeted(2, { minAvailable: 2 }, short), "w2").code).toBe(429);
    const always = { minAvailable: 2, unhealthyPodEvictionPolicy: "AlwaysAllow" };
    expect(evict(await budgeted(2, always, short), "w2").code).toBe(201);
  });

  test("of a pod that runs nothing does not ask the budget", async () => {
    const box = await budgeted(1, { minAvailable: 1 });
    box.create(pods, pod("pending", { labels: { app: "web" } }));
    expect(evict(box, "pending").code).toBe(201);
    expect(box.has({ ...pods, name: "pending" })).toBe(false);
  });

  test("honours grace and preconditions of the deletion", () => {
    const box = new Box();
    run(box, "w1");
    expect(evict(box, "w1", { deleteOptions: { preconditions: { uid: "x" } } })).toMatchObject({
      code: 409,
      message: expect.stringContaining('Operation cannot be fulfilled on Pod "w1": the UID in the precondition (x)'),
    });
    const { resourceVersion } = box.get({ ...pods, name: "w1" }).metadata;
    expect(
      evict(box, "w1", { deleteOptions: { gracePeriodSeconds: 3, preconditions: { resourceVersion } } }).code,
    ).toBe(201);
    expect(box.get({ ...pods, name: "w1" }).metadata.deletionGracePeriodSeconds).toBe(3);
  });

  test.each([
    ["another name", eviction("other"), 400, "name in URL does not match name in Eviction object"],
    [
      "another kind",
      { kind: "Pod", metadata: { name: "w1" } },
      400,
      "the object provided is unrecognized (must be of type Eviction)",
    ],
  ])("with %s is refused", (_, body, code, message) => {
    const box = new Box();
    run(box, "w1");
    expect(box.status("create", { ...pods, name: "w1", subresource: "eviction" }, { body })).toMatchObject({
      code,
      message,
    });
  });

  test("of a pod that does not exist is 404; reading an eviction is not a thing", () => {
    const box = new Box();
    expect(evict(box, "nobody")).toMatchObject({ code: 404, message: 'pods "nobody" not found' });
    run(box, "w1");
    expect(box.status("get", { ...pods, name: "w1", subresource: "eviction" }).code).toBe(405);
  });
});

describe("binding", () => {
  const bind = (box: Box, body: object, options = {}) =>
    box.status("create", { ...pods, name: "p", subresource: "binding" }, { body, options });
  const binding = { kind: "Binding", metadata: { name: "p" }, target: { kind: "Node", name: "n" } };

  test("assigns the pod, once, with the binding's labels and annotations", () => {
    const box = new Box();
    box.create(pods, pod("p", { labels: { a: "1" } }));
    const metadata = { name: "p", labels: { b: "2" }, annotations: { c: "3" } };
    expect(bind(box, { ...binding, metadata }).code).toBe(201);
    expect(box.get({ ...pods, name: "p" })).toMatchObject({
      metadata: { labels: { a: "1", b: "2" }, annotations: { c: "3" } },
      spec: { nodeName: "n" },
      status: { conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }] },
    });
    expect(bind(box, binding)).toMatchObject({
      code: 409,
      message: 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"',
    });
  });

  test("as a dry run assigns nothing", () => {
    const box = new Box();
    box.create(pods, pod("p"));
    expect(bind(box, binding, { dryRun: true }).code).toBe(201);
    expect(box.get({ ...pods, name: "p" }).spec).not.toHaveProperty("nodeName");
  });

  test.each<[string, object, number, string]>([
    ["another name", { ...binding, metadata: { name: "q" } }, 400, "name in URL does not match name in Binding object"],
    ["no node", { ...binding, target: {} }, 500, "target.name: Required value"],
    [
      "something that is no node",
      { ...binding, target: { kind: "Pod", name: "x" } },
      500,
      'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
    ],
    ["another pod's uid", { ...binding, metadata: { name: "p", uid: "x" } }, 409, "UID in precondition: x"],
  ])("to %s is refused", (_, body, code, message) => {
    const box = new Box();
    box.create(pods, pod("p"));
    expect(bind(box, body)).toMatchObject({ code, message: expect.stringContaining(message) });
  });
});
