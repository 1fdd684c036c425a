import { describe, expect, test } from "vitest";
import { Box, configMap, pod, startAt } from "../../test/sim/box.ts";
import type { KubeObject } from "../api/meta.ts";
import type { JsonPatchOperation } from "../control/ports.ts";
import { deepFreeze } from "./json-value.ts";
import type { PatchType } from "./request.ts";

const maps = { resource: "configmaps", namespace: "default" };
const named = (name: string) => ({ ...maps, name });
const refusal = (box: Box, ...request: Parameters<Box["send"]>) => {
  const { code, reason, message } = box.status(...request);
  return { code, reason, message };
};

describe("create", () => {
  test("fills in what only the server knows, and drops what a client may not set", () => {
    const box = new Box();
    const sent = { uid: "mine", deletionTimestamp: "2020-01-01T00:00:00Z", selfLink: "/x", labels: {} };
    const { metadata } = box.create(maps, configMap("a", sent));
    expect(metadata).toEqual({
      name: "a",
      namespace: "default",
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      creationTimestamp: "2026-01-01T00:00:00Z",
      resourceVersion: "3",
    });
  });

  test("generates a name, and another when the first is taken", () => {
    const box = new Box();
    const names = new Set<string>();
    for (let i = 0; i < 20; i++) names.add(box.create(maps, { metadata: { generateName: "web-" } }).metadata.name);
    expect(names.size).toBe(20);
    for (const name of names) expect(name).toMatch(/^web-[a-z0-9]{5}$/);
  });

  test("gives up when eight generated names are all taken", () => {
    // A source of chance that has only one thing to say.
    const box = new Box({ random: () => 0 });
    box.create(maps, { metadata: { generateName: "web-" } });
    const again = box.status("create", maps, { body: { metadata: { generateName: "web-" } } });
    expect(again).toMatchObject({
      code: 409,
      reason: "AlreadyExists",
      details: { name: "web-bbbbb", retryAfterSeconds: 1 },
    });
  });

  test.each<[string, Parameters<Box["send"]>[1], unknown, object]>([
    [
      "a name that is taken",
      maps,
      configMap("a"),
      { code: 409, reason: "AlreadyExists", message: 'configmaps "a" already exists' },
    ],
    [
      "no name",
      maps,
      { metadata: {} },
      {
        code: 422,
        message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
      },
    ],
    [
      "a version",
      maps,
      configMap("b", { resourceVersion: "7" }),
      { code: 500, message: "resourceVersion should not be set on objects to be created" },
    ],
    [
      "another namespace than the path's",
      maps,
      configMap("b", { namespace: "x" }),
      { code: 400, message: "the namespace of the provided object does not match the namespace sent on the request" },
    ],
    [
      "a namespace that does not exist",
      { ...maps, namespace: "x" },
      configMap("b"),
      { code: 404, message: 'namespaces "x" not found' },
    ],
    ["another kind", maps, { kind: "Pod", metadata: { name: "b" } }, { code: 400, reason: "BadRequest" }],
    ["a list", maps, [], { code: 400 }],
    [
      "a kind that nobody serves",
      { resource: "things.example.com" },
      configMap("b"),
      { code: 404, message: "the server could not find the requested resource" },
    ],
    ["a namespaced kind without a namespace", { resource: "configmaps" }, configMap("b"), { code: 404 }],
    ["a name in the path", named("a"), configMap("a"), { code: 405 }],
  ])("refuses %s", (_, where, body, expected) => {
    const box = new Box();
    box.create(maps, configMap("a"));
    expect(refusal(box, "create", where, { body })).toMatchObject(expected);
  });

  test("keeps one of equal owners and says so", () => {
    const box = new Box();
    const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" };
    const answer = box.send("create", maps, { body: configMap("a", { ownerReferences: [owner, { ...owner }] }) });
    expect(answer).toMatchObject({ warnings: [expect.stringContaining("duplicate UID(s) observed: u")] });
    expect(box.get(named("a")).metadata.ownerReferences).toHaveLength(1);
  });

  test("as a dry run judges everything and keeps nothing", () => {
    const box = new Box();
    const before = box.server.store.revision;
    const object = box.create(maps, configMap("a"), { dryRun: true });
    expect(object.metadata.uid).toBeTruthy();
    expect(object.metadata.resourceVersion).toBeUndefined();
    expect([box.has(named("a")), box.server.store.revision]).toEqual([false, before]);
    expect(box.status("create", maps, { body: { metadata: {} }, options: { dryRun: true } }).code).toBe(422);
  });

  test("refuses to add to a namespace that is being deleted, and says which", () => {
    const box = new Box({ controllers: false });
    box.create({ resource: "namespaces" }, { metadata: { name: "going" } });
    box.send("delete", { resource: "namespaces", name: "going" });
    const status = box.status("create", { resource: "configmaps", namespace: "going" }, { body: configMap("a") });
    expect(status).toMatchObject({
      code: 403,
      message:
        'configmaps "a" is forbidden: unable to create new content in namespace going because it is being terminated',
      details: { causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }] },
    });
  });
});

describe("update", () => {
  const replace = (box: Box, name: string, change: (object: KubeObject) => void) => {
    const body = structuredClone(box.get(named(name)));
    change(body);
    return box.send("update", named(name), { body });
  };

  test("moves the version when something changed, and not when nothing did", () => {
    const box = new Box();
    box.create(maps, configMap("a"));
    const revision = box.server.store.revision;
    replace(box, "a", () => {});
    expect(box.server.store.revision).toBe(revision);
    replace(box, "a", object => (object.data = { k: "v" }));
    expect(box.get(named("a")).metadata.resourceVersion).toBe(String(revision + 1));
  });

  test("of an old version is a conflict; without a version it replaces what is there", () => {
    const box = new Box();
    box.create(maps, configMap("a"));
    const stale = box.get(named("a"));
    box.patch(named("a"), { data: { k: "1" } });
    expect(refusal(box, "update", named("a"), { body: stale })).toEqual({
      code: 409,
      reason: "Conflict",
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    });
    expect(box.object("update", named("a"), { body: configMap("a") })).not.toHaveProperty("data");
  });

  test("of another object with the same name is a conflict", () => {
    const box = new Box();
    box.create(maps, configMap("a"));
    expect(refusal(box, "update", named("a"), { body: configMap("a", { uid: "old" }) })).toMatchObject({
      code: 409,
      message: expect.stringContaining("Precondition failed: UID in precondition: old, UID in object meta: "),
    });
  });

  test("cannot change identity or times, nor forget them", () => {
    const box = new Box();
    const { metadata } = box.create(maps, configMap("a"));
    const kept = box.object("update", named("a"), { body: { metadata: { name: "a" }, data: { k: "1" } } });
    expect(kept.metadata).toMatchObject({ uid: metadata.uid, creationTimestamp: metadata.creationTimestamp });
    expect(refusal(box, "patch", named("a"), { patchType: "merge", body: { metadata: { uid: "x" } } })).toMatchObject({
      code: 422,
      message: 'ConfigMap "a" is invalid: metadata.uid: Invalid value: "x": field is immutable',
    });
    expect(refusal(box, "update", named("a"), { body: configMap("b") })).toMatchObject({
      code: 400,
      message: "the name of the object (b) does not match the name on the URL (a)",
    });
  });

  test("creates what does not exist only where the kind allows it, and then may carry a version", () => {
    const box = new Box();
    expect(refusal(box, "update", named("a"), { body: configMap("a") }).code).toBe(404);
    const lease = { resource: "leases.coordination.k8s.io", namespace: "default", name: "l" };
    const put = { body: { metadata: { name: "l", resourceVersion: "5" }, spec: { holderIdentity: "me" } } };
    expect(box.send("update", lease, put)).toMatchObject({ kind: "object", code: 201 });
    expect(refusal(box, "update", lease, { body: { metadata: { name: "l" }, spec: {} } })).toMatchObject({
      code: 422,
      message: expect.stringContaining("metadata.resourceVersion: Invalid value: 0: must be specified for an update"),
    });
  });

  test("by a PUT an object may come that is going already, as the client says", () => {
    const lease = { resource: "leases.coordination.k8s.io", namespace: "default", name: "l" };
    const going = { deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 };
    const body = { metadata: { name: "l", ...going }, spec: {} };
    const box = new Box();
    expect(box.send("update", lease, { body })).toMatchObject({ code: 201 });
    expect(box.get(lease).metadata).toMatchObject(going);
  });

  test("counts a generation for each change of what is wanted, and for nothing else", () => {
    const box = new Box();
    const deployments = { resource: "deployments.apps", namespace: "default" };
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    const where = { ...deployments, name: "d" };
    box.create(deployments, {
      metadata: { name: "d", generation: 9 },
      spec: { selector: { matchLabels: { a: "b" } }, template },
    });
    const generation = () => box.get(where).metadata.generation;
    expect(generation()).toBe(1);
    box.patch(where, { metadata: { labels: { x: "y" }, generation: 77 } });
    expect(generation()).toBe(1);
    box.patch(where, { spec: { replicas: 3 } });
    expect(generation()).toBe(2);
    box.object("patch", { ...where, subresource: "status" }, { patchType: "merge", body: { status: { replicas: 3 } } });
    expect(generation()).toBe(2);
  });

  test("leaves the status alone, and a write to the status leaves the rest alone", () => {
    const box = new Box();
    const where = { resource: "pods", namespace: "default", name: "p" };
    box.create({ resource: "pods", namespace: "default" }, pod("p"));
    const main = box.patch(where, { status: { phase: "Running" }, metadata: { labels: { a: "b" } } });
    expect(main).toMatchObject({ status: { phase: "Pending" }, metadata: { labels: { a: "b" } } });
    const body = { status: { phase: "Running" }, spec: { nodeName: "n" } };
    const status = box.object("patch", { ...where, subresource: "status" }, { patchType: "merge", body });
    expect(status).toMatchObject({ status: { phase: "Running" } });
    expect(status.spec).not.toHaveProperty("nodeName");
  });

  test("as a dry run shows the outcome and keeps what was there", () => {
    const box = new Box();
    box.create(maps, configMap("a"));
    expect(box.patch(named("a"), { data: { k: "1" } }, { dryRun: true })).toMatchObject({ data: { k: "1" } });
    expect(box.get(named("a"))).not.toHaveProperty("data");
  });

  test("never changes an object that somebody else may be reading", async () => {
    const box = new Box();
    box.create({ resource: "pods", namespace: "default" }, pod("p", { nodeName: "n" }));
    const where = { resource: "pods", namespace: "default", name: "p" };
    const before = box.get(where);
    const copy = structuredClone(before);
    box.patch(where, { metadata: { labels: { a: "b" } } });
    box.object("patch", where, { patchType: "strategic", body: { metadata: { annotations: { c: "d" } } } });
    box.object(
      "patch",
      { ...where, subresource: "status" },
      { patchType: "merge", body: { status: { phase: "Running" } } },
    );
    box.send("delete", where);
    await box.clock.runFor(1_000);
    expect(before).toEqual(copy);
  });

  test.each(["merge", "strategic"] as const)(
    "by a %s patch hands on the metadata that it does not touch",
    patchType => {
      const box = new Box();
      const metadata = { labels: { a: "b" }, annotations: { c: "d" }, finalizers: ["example.com/f"] };
      box.create({ resource: "pods", namespace: "default" }, pod("p", { nodeName: "n", ...metadata }));
      const where = { resource: "pods", namespace: "default", name: "p" };
      const before = deepFreeze(box.get(where));
      const body = { status: { phase: "Running" } };
      const after = box.object("patch", { ...where, subresource: "status" }, { patchType, body });
      expect(after.metadata).toEqual({ ...before.metadata, resourceVersion: "4" });
      expect(before.metadata.resourceVersion).toBe("3");
      expect(after.metadata.labels).toBe(before.metadata.labels);
      expect(after.metadata.annotations).toBe(before.metadata.annotations);
    },
  );
});

describe("patch", () => {
  test("that only names the object which it means leaves all of its metadata as it is", () => {
    const box = new Box();
    const pods = { resource: "pods", namespace: "default" };
    const { metadata } = box.create(pods, pod("a", { labels: { app: "web" }, annotations: { note: "x" } }));
    const body = { metadata: { uid: metadata.uid, labels: { app: "web" } }, status: { phase: "Running" } };
    const status = { ...pods, name: "a", subresource: "status" };
    const { metadata: after } = box.object("patch", status, { body, patchType: "strategic" });
    expect(after.resourceVersion).not.toBe(metadata.resourceVersion);
    expect(after).toEqual({ ...metadata, resourceVersion: after.resourceVersion });
    expect(after.labels).toBe(metadata.labels);
    const stale = { ...body, metadata: { resourceVersion: metadata.resourceVersion } };
    expect(box.status("patch", status, { body: stale, patchType: "strategic" }).code).toBe(409);
  });

  const cases: [PatchType, unknown][] = [
    ["merge", { data: { k: "2" } }],
    ["strategic", { data: { k: "2" } }],
    ["json", [{ op: "replace", path: "/data/k", value: "2" } satisfies JsonPatchOperation]],
  ];
  test.each(cases)("%s changes the object as it is now", (patchType, body) => {
    const box = new Box();
    box.create(maps, { ...configMap("a"), data: { k: "1", other: "x" } });
    expect(box.object("patch", named("a"), { patchType, body }).data).toEqual({ k: "2", other: "x" });
  });

  test.each<[PatchType, unknown, number, string]>([
    [
      "merge",
      [],
      400,
      "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
    ],
    ["merge", null, 400, "Invalid JSON Patch"],
    ["strategic", [], 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"],
    [
      "json",
      {},
      400,
      "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    ],
    [
      "json",
      [{ op: "test", path: "/data/k", value: "no" }],
      422,
      "the server rejected our request due to an error in our request",
    ],
    ["merge", { metadata: { name: "b" } }, 400, "the name of the object (b) does not match the name on the URL (a)"],
    ["merge", { metadata: { resourceVersion: "1" } }, 409, expect.stringContaining("the object has been modified")],
    [
      "json",
      [{ op: "remove", path: "/metadata" }],
      400,
      "the name of the object (a based on URL) was undeterminable: name must be provided",
    ],
  ])("%s with %j is refused", (patchType, body, code, message) => {
    const box = new Box();
    box.create(maps, { ...configMap("a"), data: { k: "1" } });
    expect(refusal(box, "patch", named("a"), { patchType, body })).toMatchObject({ code, message });
  });

  test("of what does not exist is 404, also where an update would create", () => {
    const lease = { resource: "leases.coordination.k8s.io", namespace: "default", name: "l" };
    expect(refusal(new Box(), "patch", lease, { patchType: "merge", body: {} }).code).toBe(404);
  });

  test("with too many operations is refused before it is applied", () => {
    const box = new Box();
    box.create(maps, configMap("a"));
    const body = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/kind", value: "ConfigMap" }));
    expect(refusal(box, "patch", named("a"), { patchType: "json", body })).toMatchObject({ code: 413 });
  });
});

describe("field validation", () => {
  const body = { ...configMap("a", { foo: 1 }), extra: true };

  test("warns of unknown fields by default, refuses them when strict, is silent when told to ignore", () => {
    const box = new Box();
    const create = (fieldValidation?: "Ignore" | "Warn" | "Strict") =>
      box.send("create", maps, { body, options: { dryRun: true, ...(fieldValidation && { fieldValidation }) } });
    expect(create()).toMatchObject({
      warnings: ['unknown field "extra"', 'unknown field "metadata.foo"'],
    });
    expect(create("Ignore")).toMatchObject({ kind: "object", warnings: [] });
    expect(create("Strict")).toMatchObject({
      kind: "status",
      code: 400,
      status: {
        message: expect.stringMatching(/cannot be handled as a ConfigMap: strict decoding error: unknown field/),
      },
    });
  });

  test("judges the outcome of a patch", () => {
    const box = new Box();
    box.create(maps, configMap("a"));
    const patch = { patchType: "merge" as const, body: { extra: true } };
    expect(box.send("patch", named("a"), patch)).toMatchObject({ warnings: ['unknown field "extra"'] });
    const strict = box.status("patch", named("a"), { ...patch, options: { fieldValidation: "Strict" } });
    expect(strict).toMatchObject({ code: 422, details: { causes: [{ field: "patch" }] } });
    expect(strict.message).toContain('strict decoding error: unknown field "extra"');
  });

  test("warns also of what is refused in the end", () => {
    const box = new Box();
    box.create(maps, configMap("a"));
    expect(box.send("create", maps, { body: { ...configMap("a"), extra: 1 } })).toMatchObject({
      code: 409,
      warnings: ['unknown field "extra"'],
    });
  });
});

test("time is the clock's", async () => {
  const box = new Box();
  await box.clock.runUntil(startAt + 61_500);
  expect(box.create(maps, configMap("a")).metadata.creationTimestamp).toBe("2026-01-01T00:01:01Z");
});
