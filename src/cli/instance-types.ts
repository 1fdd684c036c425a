// The catalogue of the simulated provider from a file: a list as in spec.instanceTypes of a SimulatedNodeClass, judged by
// the same schema.

import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { checkManifest } from "../api/check.ts";
import { apiVersionOf } from "../api/meta.ts";
import { simulatedNodeClasses } from "../api/simulated-node-class.ts";
import type { SimulatedProviderOptions } from "../provider/simulated.ts";
import { Failure, systemSentence } from "./io.ts";

type InstanceTypes = NonNullable<SimulatedProviderOptions["instanceTypes"]>;

export async function instanceTypesIn(file: string): Promise<InstanceTypes> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new Failure(`${told(file)} cannot be read: ${systemSentence(cause)}`, { cause });
  });
  const instanceTypes = parsed(file, text);
  if (!Array.isArray(instanceTypes)) throw new Failure(`${told(file)} is no list; ${shape}`);
  const { resource } = simulatedNodeClasses;
  const spec = { instanceTypes };
  const manifest = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name: "file" }, spec };
  const { findings, defaulted } = checkManifest(manifest);
  const problem = findings.find(({ severity }) => severity === "error");
  if (problem !== undefined) {
    throw new Failure(`${told(file)} cannot be used: ${placeOf(problem.path)}: ${problem.message}; ${shape}`);
  }
  // What has no finding has the schema's shape.
  return (defaulted as { spec: { instanceTypes: InstanceTypes } }).spec.instanceTypes;
}

function parsed(file: string, text: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new Failure(`${told(file)} is not valid YAML: ${(cause as Error).message.split("\n")[0]}`, { cause });
  }
}

const shape =
  "it must be a list as under spec.instanceTypes of a SimulatedNodeClass, such as [{name: small, capacity: {cpu: 2, memory: 4Gi}}]";

const told = (file: string) => `the file of --instance-types, ${file},`;

/** Entries are counted as people do. */
function placeOf(path: string): string {
  const [, index, rest = ""] = /^spec\.instanceTypes\[(\d+)\](.*)$/.exec(path) ?? [];
  return index === undefined ? path : `entry ${Number(index) + 1}${rest === "" ? "" : `, ${rest.replace(/^\./, "")}`}`;
}
