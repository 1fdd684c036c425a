// What the writer of a CustomResourceDefinition should know although it is accepted: formats that nothing checks.

import type { Schema } from "../api/schema/schema.ts";
import type { Crd } from "./crd.ts";

// Without dashes, which the server's library does not look at.
const textFormats = new Set(
  (
    "bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn " +
    "hexcolor rgbcolor byte password date duration datetime k8sshortname k8slongname"
  ).split(" "),
);
const numberFormats: Readonly<Record<string, readonly string[]>> = {
  integer: ["int32", "int64"],
  number: ["float", "double"],
};

/** Those that the old definition had too were told then. */
export function crdWarnings(crd: Crd, old: Crd | undefined): string[] {
  const told = unrecognizedFormats(old);
  const formats = [...unrecognizedFormats(crd)].filter(format => !told.has(format));
  return formats.map(format => `unrecognized format ${JSON.stringify(format)}`);
}

function unrecognizedFormats(crd: Crd | undefined): Set<string> {
  const schemas = (crd?.spec?.versions ?? []).map(version => version.schema?.openAPIV3Schema);
  return new Set(schemas.flatMap(schema => (schema === undefined ? [] : formatsOf(schema))));
}

function formatsOf(schema: Schema): string[] {
  const { items, allOf = [], anyOf = [], oneOf = [], not, properties = {}, additionalProperties } = schema;
  const inner = [items, ...allOf, ...anyOf, ...oneOf, not, ...Object.values(properties), additionalProperties];
  const found = inner.flatMap(child => (typeof child === "object" ? formatsOf(child) : []));
  return isRecognized(schema) ? found : [schema.format ?? "", ...found];
}

function isRecognized({ type = "", format = "" }: Schema): boolean {
  if (format === "") return true;
  if (type === "" || type === "string") return textFormats.has(format.replaceAll("-", ""));
  return numberFormats[type]?.includes(format) === true;
}
