// The provider of clusters whose machines are not ours: nodes are seen and remediated, none is launched or ended.

import type { InstanceProvider } from "../control/ports.ts";
import type { RepairStatement } from "../snapshot/picture.ts";
import type { ProviderError } from "../snapshot/instance.ts";
import { repairStatements as statements } from "./repair-statements.ts";

export function noProvider({
  repairStatements = statements(),
}: {
  repairStatements?: readonly RepairStatement[];
} = {}): InstanceProvider {
  return {
    view: {
      name: "none",
      serves: () => false,
      defaultClass: undefined,
      nodeClass: ({ kind }) => ({ state: "NotFound", message: `${kind} is served by no provider here.` }),
      instanceTypes: () => [],
      repairStatements,
      canReboot: false,
    },
    // Nothing in the view ever changes.
    onChange: () => {},
    create: () => notSupported("launch"),
    get: () => notSupported("look up"),
    list: () => notSupported("list"),
    delete: () => notSupported("end"),
    reboot: () => notSupported("reboot"),
    stop: () => {},
  };
}

function notSupported(verb: string): Promise<ProviderError> {
  const message = `The provider none cannot ${verb} instances: start with --provider=simulated, or leave them to others.`;
  return Promise.resolve({ error: "NotSupported", message });
}
