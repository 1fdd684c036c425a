// Random sequences on a real API server and on the box, until one makes them disagree: then the shortest such sequence
// that fast-check finds is reported, with how to run it again.

import fc from "fast-check";
import type { ControlPlaneAddress } from "../../control-plane/start.ts";
import { addressOf, install, ourDefinitions, type Running, startBox } from "../backends.ts";
import { gadgetDefinition, widgetDefinition } from "./custom-habits.ts";
import type { Operation, Sequence } from "./operation.ts";
import { type Disagreement, described, disagreement, type Servers } from "./run.ts";
import { sequences } from "./sequences.ts";
import { HttpApi } from "./server.ts";

export type Seed = { seed: number; path?: string };

/** FETTLE_SEED is "123" or "123:4:0:2", as a failure prints it. */
export function seedFrom(text: string | undefined, fallback: number): Seed {
  if (text === undefined || text === "") return { seed: fallback };
  const [seed = "", ...path] = text.split(":");
  if (!/^-?\d+$/.test(seed)) throw new Error(`FETTLE_SEED=${text}: it must begin with a whole number.`);
  return path.length === 0 ? { seed: Number(seed) } : { seed: Number(seed), path: path.join(":") };
}

/** Both servers with the same kinds. */
export async function startServers(real: ControlPlaneAddress): Promise<Running<Servers>> {
  const box = await startBox({ controllers: false });
  const definitions = [...ourDefinitions(), widgetDefinition, gadgetDefinition];
  await Promise.all([install(addressOf(real), definitions), install(box, definitions)]);
  const servers = { real: new HttpApi(addressOf(real)), box: new HttpApi(box) };
  return {
    ...servers,
    close: async () => void (await Promise.all([servers.real.close(), servers.box.close(), box.close()])),
  };
}

/** Rejects with a report for a person when the servers disagree. */
export async function compareMany(servers: Servers, { seed, path }: Seed, count: number): Promise<void> {
  // Each run has names of its own, also when fast-check runs the same sequence again to shrink it.
  let runs = 0;
  const prefix = `d${seed < 0 ? "n" : ""}${Math.abs(seed) % 10_000}`;
  const agree = fc.asyncProperty(sequences(), async sequence => {
    const name = `${prefix}-${++runs}`;
    const found = await disagreement(servers, { prefix: name, namespace: name }, sequence);
    if (found !== undefined) throw new Disagreed(found);
  });
  const outcome = await fc.check(agree, { seed, numRuns: count, ...(path === undefined ? {} : { path }) });
  if (!outcome.failed) return;
  const again = `FETTLE_SEED=${outcome.seed}:${outcome.counterexamplePath}`;
  const { errorInstance, counterexample } = outcome;
  const head = `The servers disagree after ${outcome.numRuns} sequences; run it again with ${again}`;
  if (!(errorInstance instanceof Disagreed) || counterexample === null) throw new Error(head, { cause: errorInstance });
  const steps = stepsOf(counterexample[0], errorInstance.found.at);
  throw new Error([head, ...steps, errorInstance.message].join("\n"));
}

class Disagreed extends Error {
  readonly found: Disagreement;

  constructor(found: Disagreement) {
    super(described(found));
    this.found = found;
  }
}

/** Up to the one at which they part. */
function stepsOf({ operations }: Sequence, last: number): string[] {
  return operations.slice(0, last + 1).map((operation, index) => `  ${index}. ${stepOf(operation)}`);
}

function stepOf({ kind, subject, ...rest }: Operation): string {
  return `${kind} ${subject.resource.plural} ${JSON.stringify(rest)}`;
}
