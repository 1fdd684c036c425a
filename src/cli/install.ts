// fettle install: prints everything that a cluster needs to run Fettle, for `kubectl apply -f -`.

import { Command, InvalidArgumentError } from "commander";
import { stringify } from "yaml";
import { customResourceDefinition } from "../api/crd.ts";
import { kinds } from "../api/kinds.ts";
import { choiceOf } from "./flags.ts";
import { type InstallationOptions, installation } from "./installation.ts";
import type { Io } from "./io.ts";
import { providers } from "./wire.ts";

type Flags = InstallationOptions & { output: "yaml" | "json" };

const defaults = { namespace: "fettle-system", provider: "none", replicas: 2 } as const;
const imageOf = (version: string) => `fettle:${version}`;

/** deploy/fettle.yaml: all but the CRDs, which lie beside it. */
export function installationYaml(version: string): string {
  const head =
    "# Printed by fettle install, without the CRDs: they are in deploy/crds. npm run generate writes it anew.\n";
  return head + printed(installation({ ...defaults, image: imageOf(version) }), "yaml");
}

export function installCommand(io: Io, version: string): Command {
  const { namespace, provider, replicas } = defaults;
  return new Command("install")
    .description("print what a cluster needs to run it: CRDs, roles, a Deployment")
    .option("--namespace <name>", "where the controller runs", namespaceOf, namespace)
    .option("--provider <name>", `who has the machines: ${providers.join(" or ")}`, choiceOf(...providers), provider)
    .option("--image <reference>", "the controller's image: none is published", imageReference, imageOf(version))
    .option("--replicas <number>", "how many run; one leads, the others are ready to", replicasOf, replicas)
    .option("-o, --output <format>", "yaml or json", choiceOf("yaml", "json"), "yaml")
    .addHelpText("after", help)
    .action((flags: Flags) => {
      io.out(printed([...kinds.map(customResourceDefinition), ...installation(flags)], flags.output));
      if (flags.image === imageOf(version)) io.err(`fettle: ${unpublished(version)}\n`);
    });
}

function unpublished(version: string): string {
  return `no registry has ${imageOf(version)}: build it (docs/install.md) and name it with --image`;
}

const help = `
There is no published image. From a checkout: docker build -t registry.example/fettle:1 . && docker push
registry.example/fettle:1, and then name it with --image. docs/install.md says more.

The roles hold exactly what the controller does with that provider: no wildcard, no Secret, no node status.

Examples:
  fettle install --image registry.example/fettle:1 | kubectl apply --server-side -f -
  fettle install --image registry.example/fettle:1 --provider simulated -o json`;

function printed(objects: readonly object[], output: "yaml" | "json"): string {
  if (output === "json") return `${JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }, undefined, 2)}\n`;
  // As crdYaml: for people and for kubectl, the same to readers of YAML 1.1 and 1.2.
  return objects
    .map(object => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0, version: "1.1" }))
    .join("---\n");
}

function namespaceOf(text: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) return text;
  throw new InvalidArgumentError("it must be a name of small letters, digits and hyphens.");
}

/** As a container runtime reads it: host and path, then a tag or a digest. */
function imageReference(text: string): string {
  if (/^[a-zA-Z0-9][\w.-]*(:\d+)?(\/[a-z0-9][\w.-]*)*(:[\w][\w.-]{0,127})?(@[a-z0-9]+:[0-9a-f]{32,})?$/.test(text))
    return text;
  throw new InvalidArgumentError("it must name an image, such as registry.example/fettle:1.");
}

function replicasOf(text: string): number {
  const replicas = Number(text);
  if (!/^\d{1,2}$/.test(text) || replicas < 1) throw new InvalidArgumentError("it must be a number from 1 to 99.");
  return replicas;
}
