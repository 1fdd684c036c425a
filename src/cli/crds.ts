// fettle crds: prints the CustomResourceDefinitions, for `kubectl apply -f -`.

import { Command, Option } from "commander";
import { crdName, crdYaml, customResourceDefinition } from "../api/crd.ts";
import type { KindDefinition } from "../api/kind-definition.ts";
import { kinds } from "../api/kinds.ts";
import { nearest } from "../api/nearest.ts";
import { Failure, type Io } from "./io.ts";

export function crdsCommand(io: Io): Command {
  return new Command("crds")
    .description("print the CustomResourceDefinitions")
    .argument("[name...]", "only these: a kind, its plural, a short name or the CRD's full name (default: all)")
    .addOption(new Option("-o, --output <format>", "how to print them").choices(["yaml", "json"]).default("yaml"))
    .addHelpText("after", help)
    .action((names: string[], { output }: { output: "yaml" | "json" }) => {
      io.out(printed(names.length === 0 ? kinds : named(names), output));
    });
}

const help = `
Examples:
  fettle crds | kubectl apply --server-side -f -
  fettle crds nodepools nodeclaims -o json`;

function printed(definitions: readonly KindDefinition[], output: "yaml" | "json"): string {
  const crds = definitions.map(customResourceDefinition);
  if (output === "yaml") return crds.map(crdYaml).join("---\n");
  return `${JSON.stringify({ apiVersion: "v1", kind: "List", items: crds }, undefined, 2)}\n`;
}

// In the order of the list, each once, however often and by whichever name it was asked for.
function named(names: readonly string[]): KindDefinition[] {
  const wanted = new Set(names.map(definitionOf));
  return kinds.filter(definition => wanted.has(definition));
}

function definitionOf(name: string): KindDefinition {
  const found = kinds.find(definition => namesOf(definition).includes(name.toLowerCase()));
  if (found !== undefined) return found;
  const meant = nearest(name.toLowerCase(), kinds.flatMap(namesOf));
  const known = kinds.map(({ resource }) => resource.plural).join(", ");
  throw new Failure(
    `there is no kind "${name}"; ${meant === undefined ? `there are ${known}` : `did you mean ${meant}?`}`,
    {
      exitCode: 2,
    },
  );
}

function namesOf(definition: KindDefinition): string[] {
  return [definition.resource.plural, definition.singular, crdName(definition), ...definition.shortNames];
}
