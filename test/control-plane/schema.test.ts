// Our schema engine beside a real API server: the same verdicts, about the same fields, in the same words.

import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { isUnavailable } from "./binaries.ts";
import { judge } from "./schema/engine.ts";
import { objectFor } from "./schema/objects.ts";
import { manifest, SchemaServer, type Verdict } from "./schema/server.ts";
import { shapes } from "./schema/shapes.ts";
import { sharedControlPlane } from "./shared.ts";

let server: SchemaServer;

function comparable({ findings, unknown, object }: Verdict) {
  const sorted = findings.map(({ reason, field, message }) => `${reason} ${field}: ${message}`).sort();
  return { findings: sorted, unknown, object };
}

describe.skipIf(isUnavailable("etcd", "kube-apiserver"))("beside a real API server", () => {
  beforeAll(async () => {
    server = new SchemaServer(await sharedControlPlane());
  });

  test.each(Object.entries(shapes))("objects of %s are pruned, defaulted and judged alike", async (kind, schema) => {
    await server.serve(kind, schema);
    await fc.assert(
      fc.asyncProperty(objectFor(schema), async fields => {
        const object = manifest(kind, fields);
        const theirs = await server.create(kind, object);
        expect(comparable(judge(schema, object))).toEqual(comparable(theirs));
      }),
      { numRuns: 150 },
    );
  });
});
