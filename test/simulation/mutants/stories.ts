// The stories in which deliberate bugs must show: those of scenarios/, and some that look closely at one thing. Each holds
// for the controller as it is.

import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { disruptionStories } from "./disruption-stories.ts";
import { drainStories } from "./drain-stories.ts";
import { instanceStories } from "./instance-stories.ts";
import { limitStories } from "./limit-stories.ts";
import { repairStories } from "./repair-stories.ts";
import { checked, type Story } from "./story.ts";

const scenarios = [
  "claim-life",
  "disruption-batch-whole",
  "disruption-budget",
  "disruption-second-look",
  "dry-run",
  "grace-period",
  "node-deleted-by-hand",
  "reboot-does-not-heal",
  "reboot-fails-restarted",
  "reboot-heals",
  "repair-agent-roll-out",
  "repair-do-not-repair",
  "repair-zone-outage",
  "replicas",
  "stalled-watch",
  "vanished-instance",
] as const;

const close = { ...disruptionStories, ...limitStories, ...drainStories, ...instanceStories, ...repairStories };

export type StoryName = (typeof scenarios)[number] | keyof typeof close;

export function storyOf(name: StoryName): Story {
  return name in close ? close[name as keyof typeof close]() : { scenario: fromFile(name) };
}

function fromFile(name: string): Story["scenario"] {
  const text = readFileSync(new URL(`../../../scenarios/${name}.yaml`, import.meta.url), "utf8");
  return checked(parse(text));
}
