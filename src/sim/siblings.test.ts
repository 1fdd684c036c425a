import { expect, test } from "vitest";
import { Box, pod } from "../../test/sim/box.ts";
import { deepFreeze } from "./json-value.ts";

const pods = { resource: "pods", namespace: "default" };
const named = (name: string) => ({ ...pods, name });
const owned = (uid: string, metadata: object = {}) => ({
  labels: { app: "web" },
  ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid, controller: true }],
  ...metadata,
});

test("what siblings have in common is kept once", () => {
  const box = new Box();
  const [first, second] = ["a", "b"].map(name => box.create(pods, pod(name, owned("u"))));
  expect(second?.spec).toBe(first?.spec);
  expect(second?.metadata.labels).toBe(first?.metadata.labels);
  expect(second?.metadata.ownerReferences).toBe(first?.metadata.ownerReferences);
  expect(second?.metadata.name).toBe("b");
});

test("what differs is each one's own", () => {
  const box = new Box();
  box.create(pods, pod("a", owned("u")));
  const other = box.create(pods, pod("b", owned("u", { labels: { app: "web", canary: "yes" } })));
  expect(other.metadata.labels).toEqual({ app: "web", canary: "yes" });
  const bound = box.create(pods, pod("c", { ...owned("u"), nodeName: "n" }));
  expect(bound.spec).toMatchObject({ nodeName: "n" });
});

test("pods of two owners, or of none, have nothing in common", () => {
  const box = new Box();
  const [a, b, c, d] = [owned("u"), owned("v"), {}, {}].map((metadata, i) => box.create(pods, pod(`p${i}`, metadata)));
  expect(b?.spec).not.toBe(a?.spec);
  expect(d?.spec).not.toBe(c?.spec);
});

test("a dry run leaves no sibling behind", () => {
  const box = new Box();
  const dry = box.create(pods, pod("a", owned("u")), { dryRun: true });
  expect(box.create(pods, pod("a", owned("u"))).spec).not.toBe(dry.spec);
});

test("what is written to one leaves the others as they are", () => {
  const box = new Box();
  const [first, second] = ["a", "b"].map(name => deepFreeze(box.create(pods, pod(name, owned("u")))));
  const body = { metadata: { name: "a" }, target: { kind: "Node", name: "n" } };
  box.send("create", { ...named("a"), subresource: "binding" }, { body });
  box.patch(named("a"), { metadata: { labels: { app: "other" } }, spec: { activeDeadlineSeconds: 60 } });
  expect(box.get(named("a"))).toMatchObject({
    metadata: { labels: { app: "other" } },
    spec: { activeDeadlineSeconds: 60, nodeName: "n" },
  });
  expect(box.get(named("b"))).toEqual(second);
  expect(first?.spec).toEqual(second?.spec);
});
