// Our schema engine beside a real API server: the same verdicts, about the same fields, in the same words.

import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { Schema } from "../../src/api/schema/schema.ts";
import { isUnavailable } from "./binaries.ts";
import { brokenSchemas } from "./schema/broken.ts";
import { settled } from "./schema/differences.ts";
import { judge, judgeSchema } from "./schema/engine.ts";
import { brokenExpressions, data, expressions, schemaWith, shown } from "./schema/expressions.ts";
import { objectFor } from "./schema/objects.ts";
import { manifest, SchemaServer, type Verdict } from "./schema/server.ts";
import { shapes } from "./schema/shapes.ts";
import { sharedControlPlane } from "./shared.ts";

const objectsPerShape = 150;
const storedPerShape = 12;
const updatesPerStored = 10;
const rulesPerSchema = 60;

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
      await server.settled(kind, manifest(kind, { spec: 1 }), true);
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

  const slices = Array.from({ length: Math.ceil(expressions.length / rulesPerSchema) }, (_, i) => i);

  test.each(slices)("expressions have the same values and errors (%i)", async slice => {
    const some = expressions.slice(slice * rulesPerSchema, (slice + 1) * rulesPerSchema);
    const schema = schemaWith(some.map(shown));
    const kind = `Expressions${slice}`;
    await server.serve(kind, schema);
    await server.settled(kind, manifest(kind, { spec: data }), true);
    const object = manifest(kind, { spec: data });
    const theirs = settled((await server.create(kind, object)).findings);
    expect(theirs).toHaveLength(some.length);
    expect(settled(judge(schema, object).findings)).toEqual(theirs);
  });

  test("expressions that do not compile are refused in the same words", async () => {
    const schema = schemaWith(brokenExpressions.map(rule => ({ rule })));
    const theirs = settled(await server.judgeSchema(schema));
    expect(theirs).toHaveLength(brokenExpressions.length);
    expect(settled(judgeSchema(schema))).toEqual(theirs);
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

  test.each(Object.entries(brokenSchemas))("a CRD is refused alike: %s", async (_, schema) => {
    const plain = JSON.parse(JSON.stringify(schema)) as Schema;
    const theirs = settled(await server.judgeSchema(plain));
    expect(theirs).not.toEqual([]);
    expect(settled(judgeSchema(plain))).toEqual(theirs);
  });
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
