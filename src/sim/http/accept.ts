// Which form of an answer a client asked for: JSON or YAML, the object itself, a table of it or its metadata alone.
// Protobuf is never offered; a client that lists JSON after it gets JSON.

import { notAcceptable } from "./refusal.ts";

export type Format = "json" | "yaml";

/** What an object or a list is turned into before it is written. */
export type Shape = "object" | { as: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList"; version: string };

export type Accepted = { format: Format; shape: Shape; pretty: boolean };

type Clause = { type: string; parameters: Map<string, string>; quality: number };

export const mediaTypes = ["application/json", "application/yaml"] as const;

/** Throws ApiError 406 if nothing in the header fits. */
export function accepted(header: string | undefined): Accepted {
  for (const clause of clauses(header)) {
    const format = formatOf(clause.type);
    const shape = shapeOf(clause.parameters);
    if (format !== undefined && shape !== undefined) {
      return { format, shape, pretty: clause.parameters.get("pretty") === "1" };
    }
  }
  throw notAcceptable(mediaTypes);
}

/** Discovery has a form of its own, in which all groups come in one document. */
export function acceptsAggregatedDiscovery(header: string | undefined): "v2" | "v2beta1" | undefined {
  const wanted = clauses(header).find(
    ({ type, parameters }) => formatOf(type) === "json" && parameters.get("as") === "APIGroupDiscoveryList",
  );
  const version = wanted?.parameters.get("v");
  return version === "v2" || version === "v2beta1" ? version : undefined;
}

function clauses(header: string | undefined): Clause[] {
  if (header === undefined || header.trim() === "") return [{ type: "*/*", parameters: new Map(), quality: 1 }];
  // Best first; the sort is stable, so that of equal quality the first named wins.
  return header
    .split(",")
    .map(clauseOf)
    .filter(clause => clause.quality > 0)
    .sort((a, b) => b.quality - a.quality);
}

function clauseOf(text: string): Clause {
  const [type = "", ...rest] = text.split(";").map(part => part.trim());
  const parameters = new Map(
    rest.map(part => {
      const equals = part.indexOf("=");
      return equals < 0 ? ([part, ""] as const) : ([part.slice(0, equals), part.slice(equals + 1)] as const);
    }),
  );
  const quality = Number(parameters.get("q") ?? 1);
  return { type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 0 : quality };
}

function formatOf(type: string): Format | undefined {
  if (type === "*/*" || type === "application/*" || type === "application/json") return "json";
  return type === "application/yaml" ? "yaml" : undefined;
}

function shapeOf(parameters: ReadonlyMap<string, string>): Shape | undefined {
  const as = parameters.get("as");
  if (as === undefined) return "object";
  const version = parameters.get("v") ?? "";
  if (parameters.get("g") !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return undefined;
  if (as === "Table" || as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return { as, version };
  return undefined;
}
