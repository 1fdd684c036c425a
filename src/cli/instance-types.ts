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
    throw new Failure(`cannot read the instance types ${file}: ${systemSentence(cause)}`, { cause });
  });
  const instanceTypes = parsed(file, text);
  if (!Array.isArray(instanceTypes)) throw new Failure(`${file}: a list of instance types is expected`);
  const { resource } = simulatedNodeClasses;
  const spec = { instanceTypes };
  const manifest = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name: "file" }, spec };
  const { findings, defaulted } = checkManifest(manifest);
  const problem = findings.find(({ severity }) => severity === "error");
  if (problem !== undefined) throw new Failure(`${file}: ${problem.path.replace(/^spec\./, "")}: ${problem.message}`);
  // What has no finding has the schema's shape.
  return (defaulted as { spec: { instanceTypes: InstanceTypes } }).spec.instanceTypes;
}

function parsed(file: string, text: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new Failure(`${file} is not valid YAML: ${(cause as Error).message.split("\n")[0]}`, { cause });
  }
}
