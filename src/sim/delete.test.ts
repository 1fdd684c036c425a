import { describe, expect, test } from "vitest";
import { Box, configMap, pod } from "../../test/sim/box.ts";

const maps = { resource: "configmaps", namespace: "default" };
const pods = { resource: "pods", namespace: "default" };
const one = { ...maps, name: "a" };
const p = { ...pods, name: "p" };

describe("delete", () => {
  test("removes at once and answers with a Status that names what went", () => {
    const box = new Box();
    const { uid } = box.create(maps, configMap("a")).metadata;
    expect(box.status("delete", one)).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "a", kind: "configmaps", uid },
    });
    expect(box.status("delete", one)).toMatchObject({ code: 404, message: 'configmaps "a" not found' });
  });

  test("of another uid or version than asked for is a conflict, in the words of the kind", () => {
    const box = new Box();
    const { uid, resourceVersion } = box.create(maps, configMap("a")).metadata;
    expect(box.status("delete", one, { body: { preconditions: { uid: "x" } } })).toMatchObject({
      code: 409,
      details: { name: "a", kind: "ConfigMap" },
      message: `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    });
    expect(box.status("delete", one, { body: { preconditions: { resourceVersion: "1" } } }).message).toContain(
      `the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${resourceVersion})`,
    );
    expect(box.status("delete", one, { body: { preconditions: { uid, resourceVersion } } }).status).toBe("Success");
  });

  test("as a dry run removes nothing, and shows the mark that it would have set", () => {
    const box = new Box();
    box.create(maps, configMap("a"));
    expect(box.status("delete", one, { options: { dryRun: true } }).status).toBe("Success");
    const foreground = box.object("delete", one, { body: { dryRun: ["All"], propagationPolicy: "Foreground" } });
    expect(foreground.metadata).toMatchObject({ finalizers: ["foregroundDeletion"], deletionGracePeriodSeconds: 0 });
    expect(box.get(one).metadata.deletionTimestamp).toBeUndefined();
  });

  test.each([
    [
      { propagationPolicy: "Sideways" },
      'propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
    [
      { propagationPolicy: "Orphan", orphanDependents: true },
      'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
    ],
    [{ dryRun: ["Some"] }, 'dryRun: Unsupported value: ["Some"]: supported values: "All"'],
  ])("with %j is refused", (body, why) => {
    const box = new Box();
    box.create(maps, configMap("a"));
    expect(box.status("delete", one, { body })).toMatchObject({
      code: 422,
      message: `DeleteOptions.meta.k8s.io "" is invalid: ${why}`,
    });
  });

  test.each([
    ["a list", []],
    ["another object", { kind: "Pod" }],
    ["grace in words", { gracePeriodSeconds: "long" }],
  ])("with %s for its options is refused", (_, body) => {
    const box = new Box();
    box.create(maps, configMap("a"));
    expect(box.status("delete", one, { body }).code).toBe(400);
  });
});

describe("finalizers", () => {
  test("keep an object, marked, until the last of them is taken away", () => {
    const box = new Box();
    box.create(maps, configMap("a", { finalizers: ["x.io/1", "x.io/2"], generation: 4 }));
    const marked = box.object("delete", one);
    expect(marked.metadata).toMatchObject({
      deletionTimestamp: "2026-01-01T00:00:00Z",
      deletionGracePeriodSeconds: 0,
      generation: 5,
    });
    const revision = box.server.store.revision;
    expect(box.object("delete", one)).toEqual(marked);
    expect(box.server.store.revision).toBe(revision);
    box.patch(one, { metadata: { finalizers: ["x.io/2"] } });
    expect(box.has(one)).toBe(true);
    const watched = box.watch(maps, { resourceVersion: String(box.server.store.revision) });
    expect(box.patch(one, { metadata: { finalizers: null } }).metadata).not.toHaveProperty("finalizers");
    expect(box.has(one)).toBe(false);
    // What watchers see last is what was stored last.
    expect(watched.events[0]?.stored.object.metadata.finalizers).toEqual(["x.io/2"]);
  });

  test("cannot be added to what is being deleted, and a new object cannot take its name", () => {
    const box = new Box();
    box.create(maps, configMap("a", { finalizers: ["x.io/1"] }));
    box.send("delete", one);
    const add = { patchType: "merge" as const, body: { metadata: { finalizers: ["x.io/1", "x.io/2"] } } };
    expect(box.status("patch", one, add)).toMatchObject({
      code: 422,
      message: expect.stringContaining(
        'no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/2"}',
      ),
    });
    expect(box.status("create", maps, { body: configMap("a") }).message).toBe(
      'object is being deleted: configmaps "a" already exists',
    );
  });

  test("of the collector are set as the deletion wants it", () => {
    const box = new Box({ controllers: false });
    const finalizersAfter = (name: string, body: object) => {
      box.create(maps, configMap(name));
      const answer = box.send("delete", { ...maps, name }, { body });
      return answer.kind === "object" ? [answer.code, answer.stored.object.metadata.finalizers] : answer.kind;
    };
    expect(finalizersAfter("b", { propagationPolicy: "Foreground" })).toEqual([200, ["foregroundDeletion"]]);
    expect(finalizersAfter("c", { propagationPolicy: "Orphan" })).toEqual([200, ["orphan"]]);
    expect(finalizersAfter("d", { propagationPolicy: "Background" })).toBe("status");
    expect(finalizersAfter("e", { orphanDependents: true })).toEqual([200, ["orphan"]]);
    box.create(maps, configMap("f", { finalizers: ["x.io/1"] }));
    expect(box.send("delete", { ...maps, name: "f" }, { body: { orphanDependents: false } })).toMatchObject({
      code: 202,
    });
    // A second deletion takes the collector's finalizer away again.
    expect(box.send("delete", { ...maps, name: "b" }, { body: { propagationPolicy: "Background" } }).kind).toBe(
      "status",
    );
  });
});

describe("grace", () => {
  const running = () => {
    const box = new Box();
    box.create(pods, pod("p", { nodeName: "n" }));
    return box;
  };

  test("keeps a pod that a kubelet may run, with the time by which it must be gone", () => {
    const box = running();
    expect(box.object("delete", p).metadata).toMatchObject({
      deletionTimestamp: "2026-01-01T00:00:30Z",
      deletionGracePeriodSeconds: 30,
      generation: 2,
    });
    expect(box.has(p)).toBe(true);
  });

  test("may be shortened by a second deletion, never lengthened", () => {
    const box = running();
    box.object("delete", p);
    const revision = box.server.store.revision;
    for (const options of [{ gracePeriodSeconds: 60 }, { gracePeriodSeconds: 30 }, {}])
      box.object("delete", p, { options });
    expect(box.server.store.revision).toBe(revision);
    expect(box.object("delete", p, { options: { gracePeriodSeconds: 5 } }).metadata).toMatchObject({
      deletionTimestamp: "2026-01-01T00:00:05Z",
      deletionGracePeriodSeconds: 5,
      generation: 2,
    });
  });

  test("shortened when it is nearly over ends now, but not in the past", async () => {
    const box = running();
    box.object("delete", p);
    await box.clock.runFor(20_000);
    expect(box.object("delete", p, { options: { gracePeriodSeconds: 10 } }).metadata).toMatchObject({
      deletionTimestamp: "2026-01-01T00:00:20Z",
      deletionGracePeriodSeconds: 1,
    });
  });

  test("of zero removes at once, after it has been seen marked", () => {
    const box = running();
    const watched = box.watch(pods, { resourceVersion: String(box.server.store.revision) });
    expect(box.object("delete", p, { options: { gracePeriodSeconds: 0 } }).metadata.name).toBe("p");
    expect(watched.seen()).toEqual(["MODIFIED p", "DELETED p"]);
    expect(box.has(p)).toBe(false);
  });

  test("is not given to a pod that nobody runs", () => {
    const box = new Box();
    box.create(pods, pod("p"));
    box.send("delete", p);
    expect(box.has(p)).toBe(false);
  });

  test("and finalizers both hold a pod: its kubelet's last word is not enough", () => {
    const box = new Box();
    box.create(pods, pod("p", { nodeName: "n", finalizers: ["x.io/1"] }));
    box.object("delete", p);
    box.object("delete", p, { options: { gracePeriodSeconds: 0 } });
    expect(box.get(p).metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: ["x.io/1"] });
    box.patch(p, { metadata: { finalizers: null } });
    expect(box.has(p)).toBe(false);
  });

  test("holds a pod without finalizers although somebody updates it", () => {
    const box = running();
    box.object("delete", p);
    box.patch(p, { metadata: { labels: { a: "b" } } });
    expect(box.has(p)).toBe(true);
  });
});

describe("deletion of a collection", () => {
  test("removes what is selected and answers with it as it was", () => {
    const box = new Box();
    for (const name of ["a", "b", "c"]) box.create(maps, configMap(name, { labels: { keep: String(name === "b") } }));
    const answer = box.send("deletecollection", maps, { options: { labelSelector: "keep=false" } });
    expect(answer).toMatchObject({ kind: "list" });
    expect(answer.kind === "list" && answer.items.map(({ object }) => object.metadata.name)).toEqual(["a", "c"]);
    expect(box.list(maps).names).toEqual(["b"]);
  });

  test("as a dry run removes nothing", () => {
    const box = new Box();
    box.create(maps, configMap("a"));
    box.send("deletecollection", maps, { body: { dryRun: ["All"] } });
    expect(box.list(maps).names).toEqual(["a"]);
  });
});
