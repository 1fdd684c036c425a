import { describe, expect, test } from "vitest";
import { Box, configMap } from "../../test/sim/box.ts";
import type { RequestOptions } from "./request.ts";

const maps = { resource: "configmaps", namespace: "default" };

function boxWith(names: readonly string[], history = {}): Box {
  const box = new Box({ store: { history } });
  for (const name of names) box.create(maps, configMap(name, { labels: { first: name.slice(0, 1) } }));
  return box;
}

function pages(box: Box, options: RequestOptions): string[][] {
  const found: string[][] = [];
  for (let token: string | undefined = ""; token !== undefined; ) {
    const page = box.list(maps, { ...options, ...(token && { continue: token }) });
    found.push(page.names);
    token = page.continue;
  }
  return found;
}

describe("a list", () => {
  test("comes in the order of names and says as of which version", () => {
    const box = boxWith(["b", "a", "c"]);
    expect(box.list(maps).names).toEqual(["a", "b", "c"]);
    expect(box.list(maps).resourceVersion).toBe(box.get({ ...maps, name: "c" }).metadata.resourceVersion);
  });

  test("crosses namespaces in the order of etcd's keys", () => {
    const box = new Box();
    for (const name of ["a", "a-b"]) box.create({ resource: "namespaces" }, { metadata: { name } });
    for (const namespace of ["a", "a-b"]) box.create({ resource: "configmaps", namespace }, configMap("x"));
    const { items } = box.list({ resource: "configmaps" });
    expect(items.map(({ object }) => object.metadata.namespace)).toEqual(["a-b", "a"]);
  });

  test("in a namespace that does not exist is empty", () => {
    expect(new Box().list({ resource: "configmaps", namespace: "nowhere" }).names).toEqual([]);
  });

  test("comes in pages that say how many remain", () => {
    const box = boxWith(["a", "b", "c", "d", "e"]);
    const first = box.list(maps, { limit: 2 });
    expect([first.names, first.remainingItemCount]).toEqual([["a", "b"], 3]);
    expect(pages(box, { limit: 2 })).toEqual([["a", "b"], ["c", "d"], ["e"]]);
    expect(pages(box, { limit: 5 })).toEqual([["a", "b", "c", "d", "e"]]);
  });

  test("with selectors does not say how many remain, and may end with an empty page", () => {
    const box = boxWith(["a1", "a2", "b1"]);
    const first = box.list(maps, { limit: 2, labelSelector: "first=a" });
    expect([first.names, first.remainingItemCount]).toEqual([["a1", "a2"], undefined]);
    expect(pages(box, { limit: 2, labelSelector: "first=a" })).toEqual([["a1", "a2"], []]);
  });

  test("goes on as of its first page, whatever was written since", () => {
    const box = boxWith(["a", "b", "c", "d"]);
    const first = box.list(maps, { limit: 2 });
    box.send("delete", { ...maps, name: "c" });
    box.create(maps, configMap("bb"));
    box.patch({ ...maps, name: "d" }, { data: { changed: "yes" } });
    const second = box.list(maps, { limit: 1, continue: first.continue as string });
    expect([second.names, second.resourceVersion, second.remainingItemCount]).toEqual([
      ["c"],
      first.resourceVersion,
      1,
    ]);
    const third = box.list(maps, { limit: 9, continue: second.continue as string });
    expect(third.items.map(({ object }) => [object.metadata.name, object.data])).toEqual([["d", undefined]]);
    expect(box.list(maps).names).toEqual(["a", "b", "bb", "d"]);
  });

  test("whose token is too old is refused, with a token for the rest as of now", () => {
    const box = boxWith(["a", "b", "c"]);
    const { continue: token = "" } = box.list(maps, { limit: 1 });
    box.create(maps, configMap("bb"));
    box.server.store.compact();
    const refused = box.status("list", maps, { options: { limit: 1, continue: token } });
    expect([refused.code, refused.reason]).toEqual([410, "Expired"]);
    const rest = box.list(maps, { continue: String(refused.metadata["continue"]) });
    expect(rest.names).toEqual(["b", "bb", "c"]);
    expect(rest.resourceVersion).toBe(String(box.server.store.revision));
  });

  test("whose token fell out of the window is refused, too", () => {
    const box = boxWith(["a", "b", "c"], { changeCountMax: 2 });
    const { continue: token = "" } = box.list(maps, { limit: 1 });
    for (const value of ["1", "2", "3"]) box.patch({ ...maps, name: "c" }, { data: { value } });
    expect(box.status("list", maps, { options: { continue: token } }).code).toBe(410);
  });

  test("can be asked for at an exact version, by match or by limit", () => {
    const box = boxWith(["a", "b"]);
    const { resourceVersion } = box.list(maps);
    box.send("delete", { ...maps, name: "a" });
    expect(box.list(maps, { resourceVersion, resourceVersionMatch: "Exact" }).names).toEqual(["a", "b"]);
    expect(box.list(maps, { resourceVersion, limit: 5 }).names).toEqual(["a", "b"]);
    expect(box.list(maps, { resourceVersion, resourceVersionMatch: "NotOlderThan" }).names).toEqual(["b"]);
    expect(box.list(maps, { resourceVersion }).names).toEqual(["b"]);
    box.server.store.compact();
    expect(box.status("list", maps, { options: { resourceVersion, resourceVersionMatch: "Exact" } }).message).toBe(
      "The resourceVersion for the provided list is too old.",
    );
  });

  test("from the cache (version 0) ignores the limit", () => {
    expect(boxWith(["a", "b"]).list(maps, { resourceVersion: "0", limit: 1 }).names).toEqual(["a", "b"]);
  });

  test.each<[string, RequestOptions, number, string]>([
    [
      "a version from the future",
      { resourceVersion: "999" },
      504,
      "Timeout: Too large resource version: 999, current: 2",
    ],
    [
      "a version that is none",
      { resourceVersion: "x" },
      400,
      'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    ],
    [
      "a token that is none",
      { continue: "xx" },
      400,
      "invalid continue token: continue key is not valid: it is not a token of this server",
    ],
    [
      "a token that climbs",
      { continue: token({ v: "meta.k8s.io/v1", rv: 2, start: "/../a" }) },
      400,
      "invalid continue token: continue key is not valid: /../a",
    ],
    [
      "a token with a version",
      { continue: token({ v: "meta.k8s.io/v1", rv: 2, start: "/a" }), resourceVersion: "2" },
      400,
      "specifying resource version is not allowed when using continue",
    ],
    [
      "a match without a version",
      { resourceVersionMatch: "Exact" },
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    [
      "an unknown match",
      { resourceVersionMatch: "Near", resourceVersion: "2" },
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Near": supported values: "Exact", "NotOlderThan", ""',
    ],
    [
      "initial events",
      { sendInitialEvents: true },
      422,
      'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    ],
    ["a broken label selector", { labelSelector: "a=b=c" }, 400, "found '=', expected: ',' or 'end of string'"],
    [
      "a field that cannot be selected",
      { fieldSelector: "data.x=1" },
      400,
      '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
  ])("refuses %s", (_, options, code, message) => {
    const status = new Box().status("list", maps, { options });
    expect([status.code, status.message]).toEqual([code, message]);
  });

  test("selects by fields of the kind, by name, and by namespace across namespaces", () => {
    const box = new Box();
    for (const name of ["p1", "p2"]) {
      const nodeName = name === "p1" ? "n1" : "n2";
      const spec = { nodeName, containers: [{ name: "c", image: "i" }] };
      box.create({ resource: "pods", namespace: "default" }, { metadata: { name }, spec });
    }
    const pods = (fieldSelector: string) => box.list({ resource: "pods" }, { fieldSelector }).names;
    expect(pods("spec.nodeName=n2")).toEqual(["p2"]);
    expect(pods("spec.nodeName!=n2,status.phase=Pending")).toEqual(["p1"]);
    expect(pods("metadata.name=p1,metadata.namespace=default")).toEqual(["p1"]);
    expect(pods("metadata.namespace=other")).toEqual([]);
    expect(box.status("list", { resource: "pods" }, { options: { fieldSelector: "spec.foo=1" } }).message).toBe(
      "field label not supported: spec.foo",
    );
  });

  test("finds a name and not those that begin with it", () => {
    const box = boxWith(["a", "a1"]);
    expect(box.list(maps, { fieldSelector: "metadata.name=a" }).names).toEqual(["a"]);
  });

  test("reads selected objects the same after they have cooled", () => {
    const box = new Box({ store: { parsedObjectCountMax: 1 } });
    for (const name of ["a", "b", "c"]) box.create(maps, configMap(name, { labels: { app: name } }));
    expect(box.list(maps, { labelSelector: "app in (a,c)" }).names).toEqual(["a", "c"]);
    expect(box.list(maps, { labelSelector: "app in (a,c)" }).names).toEqual(["a", "c"]);
  });
});

function token(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString("base64url");
}
