// What a real API server answered, kept in a file: so that the unit tests can hold the engine against it where there
// is no server. The control-plane suite asks the server again and fails when it answers otherwise.

import { readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import type { Schema } from "../../../src/api/schema/schema.ts";
import { brokenSchemas } from "./broken.ts";
import { settled } from "./differences.ts";
import { brokenExpressions, data, expressions, schemaWith, shown } from "./expressions.ts";
import { objectFor } from "./objects.ts";
import { manifest, type SchemaServer, type Verdict } from "./server.ts";
import { shapes } from "./shapes.ts";

export type RecordedObject = {
  shape: string;
  fields: Record<string, unknown>;
  findings: string[];
  unknown: string[];
  object?: Record<string, unknown>;
};
export type Recorded = {
  /** One finding for each rule, in order. */
  expressions: string[];
  brokenExpressions: string[];
  brokenSchemas: Record<string, string[]>;
  objects: RecordedObject[];
};

const file = new URL("../../schema-recorded.json", import.meta.url);
const objectsPerShape = 40;
const sampleSeed = 1;
export const rulesPerSchema = 60;

export function readRecorded(): Recorded {
  return JSON.parse(readFileSync(file, "utf8")) as Recorded;
}

export function writeRecorded(recorded: Recorded): void {
  const lines = Object.entries(recorded).map(([key, value]) => {
    const entries = Array.isArray(value)
      ? `[\n${value.map(entry => JSON.stringify(entry)).join(",\n")}\n]`
      : `{\n${Object.entries(value)
          .map(([name, entry]) => `${JSON.stringify(name)}:${JSON.stringify(entry)}`)
          .join(",\n")}\n}`;
    return `${JSON.stringify(key)}:${entries}`;
  });
  writeFileSync(file, `{${lines.join(",\n")}}\n`);
}

export async function record(server: SchemaServer): Promise<Recorded> {
  return {
    expressions: await expressionAnswers(server),
    brokenExpressions: settled(await server.judgeSchema(brokenExpressionSchema())),
    brokenSchemas: await brokenAnswers(server),
    objects: await objectAnswers(server),
  };
}

export const brokenExpressionSchema = (): Schema => schemaWith(brokenExpressions.map(rule => ({ rule })));

/** Several rules a schema, since each CRD costs the server more than a rule. */
export function expressionSchemas(): Schema[] {
  const slices = Math.ceil(expressions.length / rulesPerSchema);
  return Array.from({ length: slices }, (_, i) =>
    schemaWith(expressions.slice(i * rulesPerSchema, (i + 1) * rulesPerSchema).map(shown)),
  );
}

async function expressionAnswers(server: SchemaServer): Promise<string[]> {
  const answers: string[] = [];
  for (const [i, schema] of expressionSchemas().entries()) {
    const kind = `Expressions${i}`;
    await server.serve(kind, schema);
    const object = manifest(kind, { spec: data });
    answers.push(...settled((await server.create(kind, object)).findings));
  }
  return answers;
}

async function brokenAnswers(server: SchemaServer): Promise<Record<string, string[]>> {
  const answers: Record<string, string[]> = {};
  for (const [name, schema] of Object.entries(brokenSchemas)) answers[name] = settled(await server.judgeSchema(schema));
  return answers;
}

async function objectAnswers(server: SchemaServer): Promise<RecordedObject[]> {
  const answers: RecordedObject[] = [];
  for (const [shape, schema] of Object.entries(shapes)) {
    await server.serve(shape, schema);
    for (const fields of fc.sample(objectFor(schema), { numRuns: objectsPerShape, seed: sampleSeed }))
      answers.push({ shape, fields, ...answerOf(await server.create(shape, manifest(shape, fields))) });
  }
  return answers;
}

export function answerOf({ findings, unknown, object }: Verdict): Omit<RecordedObject, "shape" | "fields"> {
  return { findings: settled(findings), unknown, ...(object && { object }) };
}
