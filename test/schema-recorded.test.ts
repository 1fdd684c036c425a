// Our schema engine against the recorded answers of a real API server (test/control-plane/schema/recorded.ts).

import { describe, expect, test } from "vitest";
import type { Schema } from "../src/api/schema/schema.ts";
import { brokenSchemas } from "./control-plane/schema/broken.ts";
import { settled } from "./control-plane/schema/differences.ts";
import { judge, judgeSchema } from "./control-plane/schema/engine.ts";
import { data, expressions } from "./control-plane/schema/expressions.ts";
import { manifest } from "./control-plane/schema/server.ts";
import { answerOf, brokenExpressionSchema, expressionSchemas, readRecorded } from "./control-plane/schema/recorded.ts";
import { shapes } from "./control-plane/schema/shapes.ts";

const recorded = readRecorded();

describe("as a real API server answered", () => {
  test("expressions have these values and errors", () => {
    const ours = expressionSchemas().flatMap(schema =>
      settled(judge(schema, manifest("Expressions", { spec: data })).findings),
    );
    expect(ours).toHaveLength(expressions.length);
    expect(ours).toEqual(recorded.expressions);
  });

  test("expressions that do not compile are refused in these words", () => {
    expect(settled(judgeSchema(brokenExpressionSchema()))).toEqual(recorded.brokenExpressions);
  });

  test.each(Object.entries(recorded.brokenSchemas))("a CRD is refused: %s", (name, answer) => {
    const plain = JSON.parse(JSON.stringify(brokenSchemas[name])) as Schema;
    expect(settled(judgeSchema(plain))).toEqual(answer);
  });

  test.each(Object.keys(shapes))("objects of %s are pruned, defaulted and judged so", shape => {
    const answers = recorded.objects.filter(answer => answer.shape === shape);
    expect(answers.length).toBeGreaterThan(0);
    const ours = answers.map(({ fields }) => answerOf(judge(shapes[shape] ?? {}, manifest(shape, fields))));
    const theirs = answers.map(({ findings, unknown, object }) => ({ findings, unknown, ...(object && { object }) }));
    expect(ours).toEqual(theirs);
  });
});
