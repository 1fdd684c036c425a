// Our schema engine beside a real API server: the same verdicts, about the same fields, in the same words.

import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { Schema } from "../../src/api/schema/schema.ts";
import { isUnavailable } from "./binaries.ts";
import { settled } from "./schema/differences.ts";
import { judge, judgeSchema } from "./schema/engine.ts";
import { schemaWith } from "./schema/expressions.ts";
import { objectFor } from "./schema/objects.ts";
import { readRecorded, record, writeRecorded } from "./schema/recorded.ts";
import { manifest, SchemaServer, type Verdict } from "./schema/server.ts";
import { shapes } from "./schema/shapes.ts";
import { sharedControlPlane } from "./shared.ts";

const objectsPerShape = 150;
const storedPerShape = 12;
const updatesPerStored = 10;

let server: SchemaServer;

const comparable = ({ findings, unknown, object }: Verdict) => ({ findings: settled(findings), unknown, object });

/** Takes anything, so that objects can be stored which the real schema would refuse. */
const anything: Schema = {
  type: "object",
  properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
};

describe.skipIf(isUnavailable("etcd", "kube-apiserver"))("beside a real API server", () => {
  beforeAll(async () => {
    server = new SchemaServer(await sharedControlPlane());
  });

  test.each(Object.entries(shapes))("objects of %s are pruned, defaulted and judged alike", async (kind, schema) => {
    await server.serve(kind, schema);
    await fc.assert(
      fc.asyncProperty(objectFor(schema), async fields => {
        const object = manifest(kind, fields);
        const theirs = comparable(await server.create(kind, object));
        expect(comparable(judge(schema, object))).toEqual(theirs);
      }),
      { numRuns: objectsPerShape },
    );
  });

  test.each(Object.entries(shapes))(
    "what was wrong before and has not changed is tolerated alike: %s",
    async (shape, schema) => {
      const kind = `Old${shape}`;
      await server.serve(kind, anything);
      const specs = fc.sample(objectFor(schema), storedPerShape).map(({ spec }) => (isObject(spec) ? spec : {}));
      for (const [i, spec] of specs.entries()) await server.store(kind, manifest(kind, { spec }, `o${i}`));
      await server.serve(kind, schema);
      const update = fc.tuple(fc.nat(storedPerShape - 1), objectFor(schema), fc.nat(), fc.boolean());
      await fc.assert(
        fc.asyncProperty(update, async ([i, { spec }, pick, whole]) => {
          const old = await server.read(kind, `o${i}`);
          const object = { ...old, spec: whole ? spec : oneFieldOf(spec, old["spec"], pick) };
          const theirs = comparable(await server.update(kind, object));
          expect(comparable(judge(schema, object, old))).toEqual(theirs);
        }),
        { numRuns: storedPerShape * updatesPerStored },
      );
    },
  );

  // FETTLE_RECORD=1 writes the file anew, for a newer server or more cases.
  test("the recorded answers are what the server answers", async () => {
    const answers = await record(server);
    if (process.env["FETTLE_RECORD"] === "1") writeRecorded(answers);
    expect(answers).toEqual(readRecorded());
  });

  test.each(["self.a ==", "1 +", "(true", "self.", "[1, 2", "'open", "a b", "true &&", "@"])(
    "so is what is no expression: %s",
    async rule => {
      const schema = schemaWith([{ rule }]);
      const places = (findings: readonly { field: string; reason: string }[]) =>
        findings.map(({ field, reason }) => `${reason} ${field}`);
      const theirs = places(await server.judgeSchema(schema));
      expect(theirs).toHaveLength(1);
      expect(places(judgeSchema(schema))).toEqual(theirs);
    },
  );
});

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The old spec with one field as in the new one: most of an update leaves most alone. */
function oneFieldOf(spec: unknown, old: unknown, pick: number): unknown {
  if (!isObject(spec) || !isObject(old)) return spec;
  const keys = Object.keys({ ...spec, ...old });
  const key = keys[pick % Math.max(1, keys.length)] ?? "unknown";
  const { [key]: _, ...rest } = old;
  return key in spec ? { ...rest, [key]: spec[key] } : rest;
}
