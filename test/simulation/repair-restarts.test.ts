// Every story of repair, reboots too, with a controller that dies in the middle of it: while something is borne or held, as an action
// is written, and while a node goes. Whoever comes next finishes it: what the story says of its end, and of what must not
// have happened before, still holds, and so does all that must hold in every run.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { formatDuration, secondMs } from "../../src/api/time.ts";
import { parseScenario } from "../../src/cli/scenario-file.ts";
import { type Random, seededRandom } from "../../src/sim/random.ts";
import { simulate } from "../../src/sim/simulation/run.ts";
import { durationMs, type Entry, type Expectation, type Scenario } from "../../src/sim/simulation/scenario.ts";
import { parts } from "./parts.ts";

const folder = join(import.meta.dirname, "../../scenarios");
const stories = readdirSync(folder).filter(name => /^(repair|reboot)-.*\.yaml$/.test(name));
const deathsAStory = 4;
/** After the moment that was chosen. */
const writesMax = 4;
/** From scratch is looked now and then: the stories themselves look after every turn. */
const verifyEvery = 20;

function storyIn(file: string): Scenario {
  const parsed = parseScenario(file, readFileSync(join(folder, file)));
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  return parsed.scenario;
}

function journalOf(file: string): string[] {
  return readFileSync(join(folder, file.replace(/\.yaml$/, ".journal")), "utf8").split("\n");
}

/** When something of a node's end was decided, written or refused in the story as it was told; in milliseconds. */
function momentsIn(file: string): number[] {
  const lines = journalOf(file);
  const telling = /(open|start|update)-action|delete-(claim|instance|node)|refused/;
  // It dies at a write: so many must be left.
  const writes = lines.flatMap((line, at) => (/ done: /.test(line) ? [at] : []));
  const lastAt = writes.at(-writesMax) ?? 0;
  const times = lines
    .filter((line, at) => at < lastAt && telling.test(line))
    .map(line => /^\+(\d+):(\d+):(\d+) /.exec(line) ?? []);
  const seconds = times.map(([, hours, minutes, rest]) => Number(hours) * 3600 + Number(minutes) * 60 + Number(rest));
  return [...new Set(seconds)].map(second => second * secondMs);
}

/** At a write of one of those moments, made or not; the last one of a story dies at any time. */
function deathOf(file: string, { until }: Scenario, index: number): Entry {
  const random: Random = seededRandom(index * 1000 + stories.indexOf(file));
  const moments = momentsIn(file);
  if (index === deathsAStory) return { at: formatDuration(random() % durationMs(until)), do: { crash: {} } };
  const atMs = moments[random() % moments.length] ?? 0;
  return {
    at: formatDuration(atMs),
    do: { crash: { atWrite: 1 + (random() % writesMax), committed: random() % 2 === 0 } },
  };
}

/** Whoever dies is late, and says some things twice: what is left is the end, and what must not have come too early. */
function holdsAnyhow(file: string, { at, count, journal }: Expectation): boolean {
  if (journal?.has.includes("controller") || (journal !== undefined && isToldByEvents(file, journal.has))) return false;
  return at === undefined || count?.is === 0 || journal?.is === 0;
}

/** An Event is lost with whoever was about to write it. */
function isToldByEvents(file: string, has: string): boolean {
  const lines = journalOf(file).filter(line => line.includes(has));
  return lines.length > 0 && lines.every(line => line.includes("  event "));
}

describe.each(stories)("%s", file => {
  const story = storyIn(file);

  test.each(Array.from({ length: deathsAStory }, (_, index) => index + 1))(
    "is told to its end when the controller dies (death %i)",
    async index => {
      const death = deathOf(file, story, index);
      const timeline = [...(story.timeline ?? []), death];
      const told = { ...story, timeline, expect: (story.expect ?? []).filter(one => holdsAnyhow(file, one)) };
      const { journal, verdict } = await simulate(told, { ...parts, verifyEvery });
      expect({ death, problems: verdict.problems }).toEqual({ death, problems: [] });
      expect(journal.some(line => line.includes("the controller dies"))).toBe(true);
    },
  );
});
