// One run of a story with a controller in which something may be wrong, and what was found.

import { startController } from "../../../src/control/controller.ts";
import { simulate } from "../../../src/sim/simulation/run.ts";
import { ClusterPicture } from "../../../src/snapshot/cluster-picture.ts";
import { parts } from "../parts.ts";
import type { Mutant } from "./mutant.ts";
import { storyOf, type StoryName } from "./stories.ts";

/** `at`: how long after the start of the story. */
export type Problem = { readonly at: string; readonly by: string; readonly message: string };

export async function trial(name: StoryName, mutant?: Mutant): Promise<Problem[]> {
  const { scenario, outside = options => options } = storyOf(name);
  const wrong = mutant !== undefined && "wrong" in mutant ? mutant.wrong : undefined;
  const { verdict } = await simulate(scenario, {
    ...parts,
    start: options => {
      const controller = startController(wrong === undefined ? outside(options) : wrong(outside(options)));
      const { picture } = controller;
      if (mutant !== undefined && "blind" in mutant && picture instanceof ClusterPicture) {
        Object.assign(picture, mutant.blind(picture));
      }
      return controller;
    },
  });
  return verdict.problems.map(problemOf);
}

/** "+00:10:00 I5 node …", "+00:10:00 incremental: …", or the words of an expectation. */
function problemOf(text: string): Problem {
  const [, at = "", message = text] = /^(\S+) (.*)$/s.exec(text) ?? [];
  const [, by] = /^([A-Z]\d+|incremental|storm|the program broke)\b/.exec(message) ?? [];
  return { at, by: by ?? "expected", message };
}

const messageMax = 100;

export function told(rows: readonly (readonly string[])[]): string {
  const all = [["deliberate bug", "in the story", "at", "caught by", "because"], ...rows].map(row => {
    return row.map(cell => cell.replaceAll(/\s+/g, " ").slice(0, messageMax));
  });
  const widths = [0, 1, 2, 3].map(column => Math.max(...all.map(row => row[column]?.length ?? 0)));
  return all
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
