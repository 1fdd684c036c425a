// Every built-in kind, held against a real API server: the same manifests, changes and statuses go to both, and the
// stored objects, the refusals and the rows of `kubectl get` must agree.

import { beforeAll, describe, expect, test } from "vitest";
import type { KubeObject } from "../../src/api/meta.ts";
import { builtInKinds } from "../../src/sim/kinds/built-in-kinds.ts";
import { isUnavailable } from "./binaries.ts";
import type { Change, Corpus } from "./builtin-kinds/case.ts";
import {
  type Answer,
  type Call,
  comparable,
  embeddedServer,
  type RealServer,
  realServer,
  type Server,
  tableCell,
  withoutWords,
} from "./builtin-kinds/both-servers.ts";
import { nodes } from "./builtin-kinds/nodes.ts";
import { others } from "./builtin-kinds/others.ts";
import { pods } from "./builtin-kinds/pods.ts";
import { workloads } from "./builtin-kinds/workloads.ts";
import { sharedControlPlane } from "./shared.ts";

const corpora: readonly Corpus[] = [...others, nodes, pods, ...workloads];

describe.skipIf(isUnavailable("etcd", "kube-apiserver"))("the built-in kinds of the embedded API", () => {
  let real: RealServer;
  let embedded: Server;

  beforeAll(async () => {
    real = realServer(await sharedControlPlane());
    embedded = await embeddedServer();
    const ours = {
      verb: "create",
      group: "",
      plural: "namespaces",
      body: { metadata: { name: "builtin-kinds" } },
    } as const;
    await Promise.all([real.send(ours), embedded.send(ours)]);
  });

  describe.each(corpora.map(corpus => ({ ...corpus, title: `${corpus.plural}.${corpus.group}` })))("$title", corpus => {
    test.each(corpus.cases)("$name", async ({ object, changes = [], otherWords }) => {
      const { group, plural } = corpus;
      const name = object.metadata.name ?? "";
      const told = (answer: Answer) => (otherWords ? withoutWords(comparable(answer)) : comparable(answer));
      const create: Call = { verb: "create", group, plural, body: object };
      let [theirs, ours] = await Promise.all([real.send(create), embedded.send(create)]);
      expect(told(ours)).toEqual(told(theirs));
      for (const change of changes) {
        [theirs, ours] = await Promise.all([
          real.send(callOf(change, corpus, theirs)),
          embedded.send(callOf(change, corpus, ours)),
        ]);
        expect(told(ours)).toEqual(told(theirs));
      }
      if (theirs.code < 300) expect(cells(corpus, theirs)).toEqual(await real.table({ group, plural, name }));
      const remove: Call = { verb: "delete", group, plural, name, body: { gracePeriodSeconds: 0 } };
      await Promise.all([real.send(remove), embedded.send(remove)]);
    });
  });
});

function callOf(change: Change, { group, plural }: Corpus, { body }: Answer): Call {
  const object = structuredClone(body) as KubeObject;
  const at = { group, plural, name: object.metadata.name };
  if ("status" in change) return { verb: "merge", ...at, subresource: "status", body: { status: change.status } };
  if ("patch" in change) return { verb: "strategic", ...at, body: change.patch };
  change.put(object);
  return { verb: "update", ...at, body: object };
}

/** Our columns, of the real server's object. */
function cells({ group, plural }: Corpus, { body }: Answer): unknown[] {
  const kind = builtInKinds.find(({ resource }) => resource.group === group && resource.plural === plural);
  return (kind?.columns ?? []).map(column => tableCell(column, column.cell(body as KubeObject, Date.now())));
}
