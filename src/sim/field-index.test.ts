import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Box } from "../../test/sim/box.ts";
import type { RequestOptions } from "./request.ts";

const pods = { resource: "pods", namespace: "default" };
const onA = { fieldSelector: "spec.nodeName=a" };

/** The label says the same as the field, for what is asked without the index. */
const pod = (name: string, nodeName: string) => ({
  metadata: { name, labels: { node: nodeName } },
  spec: { ...(nodeName && { nodeName }), containers: [{ name: "main", image: "a" }] },
});

const bind = (box: Box, name: string, node: string) => {
  const body = { metadata: { name }, target: { kind: "Node", name: node } };
  const { message } = box.status("create", { ...pods, name, subresource: "binding" }, { body });
  expect(message).toBeUndefined();
  box.patch({ ...pods, name }, { metadata: { labels: { node } } });
};

function pages(box: Box, options: RequestOptions): string[][] {
  const found: string[][] = [];
  for (let token: string | undefined = ""; token !== undefined; ) {
    const page = box.list(pods, { ...options, ...(token && { continue: token }) });
    found.push(page.names);
    token = page.continue;
  }
  return found;
}

describe("the pods of a node", () => {
  test("are found in the order of their names, in all namespaces or one", () => {
    const box = new Box();
    box.create({ resource: "namespaces" }, { metadata: { name: "other" } });
    for (const name of ["c", "a", "b"]) box.create(pods, pod(name, name === "b" ? "b" : "a"));
    box.create({ ...pods, namespace: "other" }, pod("d", "a"));
    expect(box.list({ resource: "pods" }, onA).names).toEqual(["a", "c", "d"]);
    expect(box.list(pods, onA).names).toEqual(["a", "c"]);
    expect(box.list(pods, { fieldSelector: "spec.nodeName=a,metadata.name=c" }).names).toEqual(["c"]);
    expect(box.list(pods, { fieldSelector: "spec.nodeName=a,spec.nodeName=b" }).names).toEqual([]);
    expect(box.list(pods, { fieldSelector: "spec.nodeName!=a" }).names).toEqual(["b"]);
  });

  test("are as they were, in a list that began before one of them went", () => {
    const box = new Box();
    for (const name of ["a", "b", "c", "d"]) box.create(pods, pod(name, "a"));
    const first = box.list(pods, { ...onA, limit: 2 });
    box.send("delete", { ...pods, name: "c" }, { options: { gracePeriodSeconds: 0 } });
    box.create(pods, pod("e", "a"));
    expect(box.list(pods, { ...onA, limit: 2, continue: first.continue ?? "" }).names).toEqual(["c", "d"]);
    expect(box.list(pods, onA).names).toEqual(["a", "b", "d", "e"]);
  });

  test("are told to who watches them from when they are bound, and nobody else's are", () => {
    const box = new Box({ store: { parsedObjectCountMax: 1 } });
    for (const [name, node] of Object.entries({ here: "a", there: "b", later: "" })) box.create(pods, pod(name, node));
    const watched = box.watch(pods, onA);
    bind(box, "later", "a");
    for (const name of ["there", "later"]) {
      box.patch({ ...pods, name, subresource: "status" }, { status: { phase: "Running" } });
    }
    box.send("delete", { ...pods, name: "here" }, { options: { gracePeriodSeconds: 0 } });
    expect(watched.seen()).toEqual([
      "ADDED here",
      "ADDED later",
      "MODIFIED later",
      "MODIFIED later",
      "MODIFIED here",
      "DELETED here",
    ]);
  });

  test("are those that a look at all pods finds, page by page, whatever happened", () => {
    const name = fc.constantFrom("p", "q", "r", "s", "t", "u");
    const node = fc.constantFrom("", "a", "b");
    const act = fc.oneof(
      fc.record({ act: fc.constant("create" as const), name, node }),
      fc.record({ act: fc.constantFrom("bind" as const, "status" as const, "delete" as const), name, node }),
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), fc.integer({ min: 1, max: 4 }), (acts, limit) => {
        const box = new Box({ store: { parsedObjectCountMax: 2 } });
        for (const { act, name, node } of acts) {
          if (act === "create") box.send("create", pods, { body: pod(name, node) });
          else if (!box.has({ ...pods, name })) continue;
          else if (act === "bind" && !box.list(pods, { labelSelector: "node=" }).names.includes(name)) continue;
          else if (act === "bind" && node !== "") bind(box, name, node);
          else if (act === "status") {
            box.patch({ ...pods, name, subresource: "status" }, { status: { message: `${node}!` } });
          } else if (act === "delete") {
            box.send("delete", { ...pods, name }, { options: { gracePeriodSeconds: 0 } });
          }
        }
        for (const node of ["", "a", "b"]) {
          const [byField, byLabel] = [{ fieldSelector: `spec.nodeName=${node}` }, { labelSelector: `node=${node}` }];
          expect(box.list(pods, byField).names).toEqual(box.list(pods, byLabel).names);
          expect(pages(box, { ...byField, limit })).toEqual(pages(box, { ...byLabel, limit }));
        }
      }),
    );
  });
});
