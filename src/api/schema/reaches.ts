// Whether anything in a schema concerns a check at all, remembered for each schema: most have no set, no map and no
// embedded resource, and then whole objects need not be walked for them.

import type { Schema } from "./schema.ts";

/** Makes a test of a schema and all that lies below it in the structure; junctors cannot say what it looks for. */
export function reaches(concerns: (schema: Schema) => boolean): (schema: Schema) => boolean {
  const known = new WeakMap<Schema, boolean>();
  const test = (schema: Schema): boolean => {
    let answer = known.get(schema);
    if (answer === undefined) {
      answer = concerns(schema) || below(schema).some(test);
      known.set(schema, answer);
    }
    return answer;
  };
  return test;
}

function below({ items, properties = {}, additionalProperties }: Schema): Schema[] {
  const further = [items, additionalProperties].filter(schema => typeof schema === "object");
  return [...Object.values(properties), ...further];
}
