// What a SimulatedNodeClass means, also when there is none: its catalogue by rule, or its types one by one.

import { defaultedSpec } from "./kind-definition.ts";
import { simulatedNodeClasses, type SimulatedNodeClassSpec } from "./simulated-node-class.ts";

type Given<K extends keyof SimulatedNodeClassSpec> = NonNullable<SimulatedNodeClassSpec[K]>;
type Complete<T> = { [K in keyof T]-?: NonNullable<T[K]> };

export type EffectiveSimulatedNodeClass = Complete<
  Pick<SimulatedNodeClassSpec, "zones" | "capacityTypes" | "overhead" | "boot" | "join" | "stop">
> & {
  prices: Complete<Given<"prices">>;
  reboot: Complete<Given<"reboot">>;
  types: { catalogue: Complete<Given<"catalogue">> } | { instanceTypes: Given<"instanceTypes"> };
  faults: Given<"faults">;
  image?: string;
};

export function effectiveSimulatedNodeClass(written: SimulatedNodeClassSpec | undefined): EffectiveSimulatedNodeClass {
  const { instanceTypes } = written ?? {};
  // The catalogue has no default of its own, as it may not stand beside instanceTypes.
  const complete = instanceTypes === undefined ? { ...written, catalogue: written?.catalogue ?? {} } : written;
  const { catalogue, instanceTypes: listed, faults = [], ...rest } = defaultedSpec(simulatedNodeClasses, complete);
  return {
    ...(rest as Omit<EffectiveSimulatedNodeClass, "types" | "faults">),
    types: listed ? { instanceTypes: listed } : { catalogue: catalogue as Complete<Given<"catalogue">> },
    faults,
  };
}
