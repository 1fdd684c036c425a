// Makes a ServedKind of what is special about a built-in kind: the schema and the decoding come from its definition.

import { apiVersionOf, type Resource } from "../../api/meta.ts";
import type { Column, KindRules, ServedKind } from "../kind.ts";
import { badRequest } from "../refusal.ts";
import { decode } from "./decode.ts";
import { DecodingError } from "./decode-scalar.ts";
import { schemaOf } from "./definitions.ts";

type Description = Omit<Partial<ServedKind>, "resource" | "singular" | "schema" | "strategic" | "columns" | "rules"> & {
  group?: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  /** OpenAPI name of the definition. */
  definition: string;
  columns: readonly Column[];
  rules?: Omit<KindRules, "decode">;
};

export function builtIn(description: Description): ServedKind {
  const { group = "", kind, plural, namespaced, definition, rules, ...rest } = description;
  const resource: Resource = { group, version: "v1", plural, kind, namespaced };
  return {
    shortNames: [],
    categories: [],
    subresources: [],
    ...rest,
    resource,
    singular: kind.toLowerCase(),
    strategic: true,
    // Made when it is first read: most runs touch a few kinds.
    get schema() {
      return schemaOf(definition);
    },
    rules: { ...rules, decode: decoderOf(resource, definition) },
  };
}

/** What cannot be read is refused in the decoder's words; the server puts the kind in front of them. */
function decoderOf(resource: Resource, definition: string): NonNullable<KindRules["decode"]> {
  const apiVersion = apiVersionOf(resource);
  return object => {
    let metUnknown: boolean;
    try {
      metUnknown = decode(object, definition);
    } catch (error) {
      throw error instanceof DecodingError ? badRequest(error.message) : error;
    }
    object.apiVersion = apiVersion;
    object.kind = resource.kind;
    return metUnknown;
  };
}
