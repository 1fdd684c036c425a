// What a simulation is given from outside: the reflector that production runs, and the provider of simulated machines.

import { watchErrors } from "../../src/cli/simulate.ts";
import { Reflector } from "../../src/kube/reflector.ts";
import { ServerClock } from "../../src/kube/server-clock.ts";
import { simulatedProvider } from "../../src/provider/simulated.ts";
import type { SimulateOptions } from "../../src/sim/simulation/run.ts";

/** A clock that is wrong goes unnoticed: what is done by it must be harmless, too. */
export const parts: Pick<SimulateOptions, "feed" | "provider" | "watchErrors"> = {
  watchErrors,
  feed: outside => options => new Reflector({ ...outside, ...options }),
  provider: simulatedProvider,
};

/** As `fettle simulate` plays, but for how often it compares. */
export const noticing: SimulateOptions = { ...parts, dates: clock => new ServerClock(clock) };
