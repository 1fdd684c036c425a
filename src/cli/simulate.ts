// fettle simulate: plays a scenario on virtual time and says whether everything held.

import { readFile } from "node:fs/promises";
import { Command, Option } from "commander";
import pc from "picocolors";
import { ConnectionError, DecodeError } from "../kube/errors.ts";
import { Reflector } from "../kube/reflector.ts";
import { ServerClock } from "../kube/server-clock.ts";
import { simulatedProvider } from "../provider/simulated.ts";
import { type Simulation, simulate } from "../sim/simulation/run.ts";
import type { Scenario } from "../sim/simulation/scenario.ts";
import type { WatchErrors } from "../sim/simulation/watch-lines.ts";
import { compileLess } from "./compile-less.ts";
import { choiceOf, durationOf, flag, seedOf } from "./flags.ts";
import { Failure, type Io, systemSentence } from "./io.ts";
import { parseScenario } from "./scenario-file.ts";

type Flags = { seed?: number; until?: number; output: "text" | "json" };

export function simulateCommand(io: Io): Command {
  return new Command("simulate")
    .description("play a scenario on virtual time and judge it")
    .argument("<file>", "the scenario")
    .addOption(new Option("--seed <number>", "where chance begins; by default the scenario's").argParser(seedOf))
    .addOption(new Option("--until <duration>", "how long; by default the scenario's").argParser(durationOf))
    .addOption(flag("-o, --output <format>", "text or json", { read: choiceOf("text", "json"), or: "text" }))
    .addHelpText("after", help)
    .action(async (file: string, flags: Flags) => play(file, flags, io));
}

const help = `
The same code, scenario and seed give the same journal. How scenarios are written: docs/scenarios.md. Exit code: 0 all
held, 1 something did not, 2 wrong usage.

Examples:
  fettle simulate scenarios/disruption-budget.yaml
  fettle simulate scenarios/crash.yaml --seed 7 --until 24h -o json`;

/** Those of a client on the network: the reflector goes on from its place after both, and lists anew after others. */
export const watchErrors: WatchErrors = {
  cut: message => new ConnectionError(message, { sent: true }),
  garbled: message => new DecodeError(message),
};

async function play(file: string, { seed, until, output }: Flags, io: Io): Promise<void> {
  const scenario = await scenarioIn(file);
  compileLess("brief");
  const simulation = await simulate(scenario, {
    watchErrors,
    feed: parts => options => new Reflector({ ...parts, ...options }),
    provider: simulatedProvider,
    dates: clock => new ServerClock(clock),
    verifyEvery: "in proportion",
    ...(seed === undefined ? {} : { seed }),
    ...(until === undefined ? {} : { until }),
  });
  const ran = { title: scenario.title, seed: seed ?? scenario.seed ?? 1 };
  io.out(output === "json" ? asJson(ran, simulation) : asText(ran, simulation, io.colour));
  if (!simulation.verdict.ok) throw new Failure("");
}

export async function scenarioIn(file: string): Promise<Scenario> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new Failure(`cannot read the scenario ${file}: ${systemSentence(cause)}`, { cause });
  });
  const parsed = parseScenario(file, bytes);
  if (!parsed.ok) throw new Failure(parsed.problems.join("\n"), { exitCode: 2 });
  return parsed.scenario;
}

type Ran = { title: string; seed: number };

function asJson(ran: Ran, { entries, verdict }: Simulation): string {
  return `${JSON.stringify({ ...ran, verdict, entries }, undefined, 2)}\n`;
}

function asText({ title, seed }: Ran, { journal, verdict }: Simulation, colour: boolean): string {
  const { bold, green, red } = pc.createColors(colour);
  const judged = verdict.ok ? [green("All held.")] : verdict.problems.map(problem => red(`Failed: ${problem}`));
  return `${[bold(title), `seed ${seed}`, "", ...journal, "", ...judged].join("\n")}\n`;
}
