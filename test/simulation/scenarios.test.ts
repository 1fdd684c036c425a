// The stories of scenarios/, told again: with their own seed the journal is the same line by line; with others, where the
// order of events is another one, what must hold still holds. FETTLE_UPDATE=1 writes the journals anew.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseScenario } from "../../src/cli/scenario-file.ts";
import { simulate } from "../../src/sim/simulation/run.ts";
import { noticing } from "./parts.ts";

const folder = join(import.meta.dirname, "../../scenarios");
const files = readdirSync(folder).filter(name => name.endsWith(".yaml"));
/** With so many nodes that a look from scratch after every turn would take minutes, and the whole journal megabytes. */
const large = ["disruption-image-roll-out.yaml"];
const ledgerLine =
  /^\S+ {2}(person|crash|\S+ {2}(open-action|start-action|create-claim|update-action {2}(Done|Abandoned)))/;

function scenarioIn(file: string) {
  const parsed = parseScenario(file, readFileSync(join(folder, file)));
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  return parsed.scenario;
}

describe.each(large)("%s", file => {
  test("is told as it was, as far as the ledger goes", async () => {
    const { journal, verdict } = await simulate(scenarioIn(file), { ...noticing, verifyEvery: 500 });
    expect(verdict.problems).toEqual([]);
    toldAs(
      file,
      journal.filter(line => ledgerLine.test(line)),
    );
  });
});

function toldAs(file: string, lines: readonly string[]): void {
  const journalFile = join(folder, file.replace(/\.yaml$/, ".journal"));
  if (process.env["FETTLE_UPDATE"] === "1") writeFileSync(journalFile, `${lines.join("\n")}\n`);
  expect(`${lines.join("\n")}\n`).toBe(readFileSync(journalFile, "utf8"));
}

describe.each(files.filter(file => !large.includes(file)))("%s", file => {
  const scenario = scenarioIn(file);

  // As the command plays it: who is asked first at an instant depends on when what stands is compared.
  test("is told as it was", async () => {
    const { journal, verdict } = await simulate(scenario, { ...noticing, verifyEvery: "in proportion" });
    expect(verdict.problems).toEqual([]);
    toldAs(file, journal);
  });

  test("decides with each turn what a look from scratch decides", async () => {
    const { verdict } = await simulate(scenario, noticing);
    expect(verdict.problems).toEqual([]);
  });

  // There after every turn; here, where that would be most of the work, after every tenth.
  test("holds in another order of events", async () => {
    const { verdict } = await simulate(scenario, { ...noticing, seed: 2, verifyEvery: 10 });
    expect(verdict.problems).toEqual([]);
  });
});
