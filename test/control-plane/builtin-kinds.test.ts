// Every built-in kind, held against a real API server: the same manifests, changes and statuses go to both, and the
// stored objects, the refusals and the rows of `kubectl get` must agree.

import { beforeAll, describe, expect, test } from "vitest";
import type { KubeObject } from "../../src/api/meta.ts";
import { builtInKinds } from "../../src/sim/kinds/built-in-kinds.ts";
import { type Answer, type Call, EmbeddedServer, namespace } from "../embedded-server.ts";
import { isUnavailable } from "./binaries.ts";
import type { Change, Corpus } from "./builtin-kinds/case.ts";
import { comparable, type RealServer, realServer, tableCell, withoutWords } from "./builtin-kinds/real-server.ts";
import { nodes } from "./builtin-kinds/nodes.ts";
import { others } from "./builtin-kinds/others.ts";
import { nodeInZone, pods } from "./builtin-kinds/pods.ts";
import { workloads } from "./builtin-kinds/workloads.ts";
import { sharedControlPlane } from "./shared.ts";

const corpora: readonly Corpus[] = [...others, nodes, pods, ...workloads];

describe.skipIf(isUnavailable("etcd", "kube-apiserver"))("the built-in kinds of the embedded API", () => {
  let real: RealServer;
  const embedded = new EmbeddedServer();

  beforeAll(async () => {
    real = realServer(await sharedControlPlane());
    await real.send({ verb: "create", group: "", plural: "namespaces", body: { metadata: { name: namespace } } });
    for (const server of [real, embedded])
      await server.send({ verb: "create", group: "", plural: "nodes", body: nodeInZone });
  });

  describe.each(corpora.map(corpus => ({ ...corpus, title: `${corpus.plural}.${corpus.group}` })))("$title", corpus => {
    test.each(corpus.cases)("$name", async ({ object, changes = [], otherWords }) => {
      const { group, plural } = corpus;
      const name = object.metadata.name ?? "";
      const told = (answer: Answer) => (otherWords ? withoutWords(comparable(answer)) : comparable(answer));
      const create: Call = { verb: "create", group, plural, body: object };
      let theirs = await real.send(create);
      let ours = embedded.send(create);
      expect(told(ours)).toEqual(told(theirs));
      for (const change of changes) {
        theirs = await real.send(callOf(change, corpus, theirs));
        ours = embedded.send(callOf(change, corpus, ours));
        expect(told(ours)).toEqual(told(theirs));
      }
      if (theirs.code < 300) expect(cells(corpus, theirs)).toEqual(await real.table({ group, plural, name }));
      const remove: Call = { verb: "delete", group, plural, name, body: { gracePeriodSeconds: 0 } };
      await real.send(remove);
      embedded.send(remove);
    });
  });

  test("CustomResourceDefinition is shown alike", async () => {
    const group = "apiextensions.k8s.io";
    const plural = "customresourcedefinitions";
    const theirs = await real.send({ verb: "create", group, plural, body: widgets });
    expect(theirs.code).toBe(201);
    const shown = await real.table({ group, plural, name: widgets.metadata.name });
    expect(cells({ group, plural }, theirs)).toEqual(shown);
  });
});

test("every built-in kind has ten objects or more to be held against", () => {
  const counts = new Map(corpora.map(({ group, plural, cases }) => [`${plural}.${group}`, cases.length]));
  const poor = builtInKinds.filter(({ resource }) => (counts.get(`${resource.plural}.${resource.group}`) ?? 0) < 10);
  // What a definition means is tested where custom kinds are.
  expect(poor.map(({ resource }) => resource.kind)).toEqual(["CustomResourceDefinition"]);
});

const widgets = {
  metadata: { name: "widgets.builtin-kinds.example" },
  spec: {
    group: "builtin-kinds.example",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};

function callOf(change: Change, { group, plural }: Corpus, { body }: Answer): Call {
  const object = structuredClone(body) as KubeObject;
  const at = { group, plural, name: object.metadata.name };
  if ("status" in change) return { verb: "merge", ...at, subresource: "status", body: change };
  if ("patch" in change) return { verb: "strategic", ...at, body: change.patch };
  change.put(object);
  return { verb: "update", ...at, body: object };
}

/** Our columns, of the real server's object. */
function cells({ group, plural }: Pick<Corpus, "group" | "plural">, { body }: Answer): unknown[] {
  const kind = builtInKinds.find(({ resource }) => resource.group === group && resource.plural === plural);
  return (kind?.columns ?? []).map(column => tableCell(column, column.cell(body as KubeObject, Date.now())));
}
