import { describe, expect, test } from "vitest";
import { Box, configMap, pod } from "../../test/sim/box.ts";

const namespaces = { resource: "namespaces" };
const team = { ...namespaces, name: "team" };
const inTeam = (resource: string) => ({ resource, namespace: "team" });

function boxWithTeam(): Box {
  const box = new Box();
  box.create(namespaces, { metadata: { name: "team" } });
  return box;
}

describe("deleting a namespace", () => {
  test("marks it, empties it, and then it is gone", async () => {
    const box = boxWithTeam();
    for (const resource of ["configmaps", "secrets"]) box.create(inTeam(resource), configMap("x"));
    box.create({ resource: "configmaps", namespace: "default" }, configMap("x"));
    const marked = box.object("delete", team);
    expect(marked).toMatchObject({ status: { phase: "Terminating" }, spec: { finalizers: ["kubernetes"] } });
    expect(marked.metadata.deletionTimestamp).toBe("2026-01-01T00:00:00Z");
    await box.clock.runFor(1_000);
    expect(box.has(team)).toBe(false);
    expect(box.list({ resource: "configmaps" }).items).toHaveLength(1);
    expect(box.list({ resource: "secrets" }).items).toHaveLength(0);
  });

  test("waits for what finalizers and grace hold", async () => {
    const box = boxWithTeam();
    box.create(inTeam("configmaps"), configMap("held", { finalizers: ["x.io/hold"] }));
    box.create(inTeam("pods"), pod("p", { nodeName: "n" }));
    box.object("delete", team);
    await box.clock.runFor(60_000);
    expect(box.has(team)).toBe(true);
    box.patch({ ...inTeam("configmaps"), name: "held" }, { metadata: { finalizers: null } });
    box.send("delete", { ...inTeam("pods"), name: "p" }, { options: { gracePeriodSeconds: 0 } });
    await box.clock.runFor(1_000);
    expect(box.has(team)).toBe(false);
  });

  test("is asked for twice with the same answer while it goes on", () => {
    const box = boxWithTeam();
    const first = box.object("delete", team);
    expect(box.object("delete", team)).toEqual(first);
  });

  test("takes custom objects too", async () => {
    const box = boxWithTeam();
    const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema } };
    const spec = { group: "x.io", scope: "Namespaced", names: { plural: "foos", kind: "Foo" }, versions: [version] };
    const crds = { resource: "customresourcedefinitions.apiextensions.k8s.io" };
    box.create(crds, { metadata: { name: "foos.x.io" }, spec });
    box.create(inTeam("foos.x.io"), { apiVersion: "x.io/v1", kind: "Foo", metadata: { name: "f" } });
    box.object("delete", team);
    await box.clock.runFor(1_000);
    expect(box.list({ resource: "foos.x.io" }).items).toHaveLength(0);
    expect(box.has(team)).toBe(false);
  });

  test.each(["default", "kube-system", "kube-public"])("is refused for %s", name => {
    const box = new Box();
    if (name !== "default") box.create(namespaces, { metadata: { name } });
    expect(box.status("delete", { ...namespaces, name })).toMatchObject({
      code: 403,
      message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    });
  });

  test("checks preconditions in its own words", () => {
    const box = boxWithTeam();
    const { uid } = box.get(team).metadata;
    expect(box.status("delete", team, { body: { preconditions: { uid: "x" } } }).message).toBe(
      `Operation cannot be fulfilled on namespaces "team": Precondition failed: UID in precondition: x, UID in object meta: ${uid}`,
    );
  });
});
