// What a simulation is given from outside: the reflector that production runs, and the provider of simulated machines.

import { Reflector } from "../../src/kube/reflector.ts";
import { simulatedProvider } from "../../src/provider/simulated.ts";
import type { SimulateOptions } from "../../src/sim/simulation/run.ts";

export const parts: Pick<SimulateOptions, "feed" | "provider"> = {
  feed: outside => options => new Reflector({ ...outside, ...options }),
  provider: simulatedProvider,
};
