// How many nodes of a pool may go at once, by which action and when: budgets, controls by action, windows.

import { at, bad, type Case, good, needed, type Table } from "./entry.ts";
import { least, whole } from "./manifests.ts";
import { field, item } from "./shapes.ts";
import * as words from "./words.ts";

const always = "0 22 * * *";
const nightly = { schedule: always, duration: "8h" };

const schedule: Case[] = [
  good("five fields", "0 9 * * mon-fri"),
  good("tabs between the fields", "0\t9\t*\t*\t*"),
  good("a line break between the fields", "0 9\n* * *"),
  good("spaces around it", " 0 9 * * * "),
  good("a macro with a space behind", "@daily "),
  good("steps, lists, names and a question mark", "*/15 8-18/2 ? JAN-MAR mon,FRI"),
  good("a macro", "@daily"),
  good("of 512 characters", `0 ${"1,".repeat(251)}10 * * *`),
  bad("of 513 characters", `0 ${"1,".repeat(251)}10  * * *`),
  bad("empty", ""),
  bad("four fields", "0 9 * *"),
  bad("six fields", "0 0 9 * * *"),
  bad("a macro and more", "@dailyx"),
  bad("a macro of no calendar", "@reboot"),
  bad("an interval", "@every 1h"),
  bad("a time zone in front", "TZ=UTC 0 9 * * *"),
  bad("a number", 9),
];

const activeFor: Case[] = [
  good("a minute", "1m"),
  good("a minute in seconds", "60s"),
  bad("a second less than a minute", "59s"),
  bad("nothing", "0s"),
  ...words.wholeDuration,
];

const timeZone: Case[] = [
  good("of one word", "UTC"),
  good("of an area and a city", "America/Argentina/Buenos_Aires"),
  good("with an offset", "Etc/GMT+5"),
  bad("of 65 characters", "A".repeat(65)),
  bad("empty", ""),
  bad("a slash at the end", "Europe/"),
  bad("an offset alone", "+01:00"),
  bad("a space", "Europe/New York"),
];

/** What a budget may say of amount and time, wherever it stands. */
const amountAndTime: Case[] = [
  good("that says nothing: 10 % at all times", {}),
  ...field({}, "nodes", words.amount),
  ...field({}, "maxUnavailable", words.amount),
  bad("with both names of the amount", { nodes: 1, maxUnavailable: 1 }),
  ...field({ duration: "8h" }, "schedule", schedule),
  ...field({ duration: "8h" }, "crontab", schedule),
  bad("with both names of the schedule", { schedule: always, crontab: always, duration: "8h" }),
  ...field({ schedule: always }, "duration", activeFor),
  bad("with a schedule and no end", { nodes: 0, schedule: always }),
  bad("with the other name of the schedule and no end", { nodes: 0, crontab: always }),
  bad("with a duration and no beginning", { nodes: 0, duration: "8h" }),
  ...field(nightly, "timeZone", timeZone),
  good("with a time zone beside the other name of the schedule", { crontab: always, duration: "8h", timeZone: "UTC" }),
  bad("with a time zone and no schedule", { nodes: 1, timeZone: "UTC" }),
  bad("that is no object", "10%"),
];

const reasons: Case[] = [
  ...item(words.oneOf("Underutilized", "Empty", "Drifted", "Unhealthy")),
  good("empty: all of them", []),
  good("all of them by name", ["Underutilized", "Empty", "Drifted", "Unhealthy"]),
  bad("a reason twice", ["Empty", "Drifted", "Empty"], "[2]"),
  bad("Karpenter's word for expiration, which has no reason", ["Expired"], "[0]"),
  bad("one alone, without a list", "Empty"),
  bad("a number", [1], "[0]"),
  bad("51, which cannot all differ", Array<string>(51).fill("Empty"), "", "[1]"),
];

const pool = least.nodePool();

const budgets: Table = {
  title: "budgets of a pool",
  entries: [
    ...at(
      pool,
      "spec.disruption.budgets",
      words.list({ max: 50 }, () => ({ nodes: 1 })),
    ),
    ...at(pool, "spec.disruption.budgets", [bad("an amount, without a list", "10%")]),
    ...at(pool, "spec.disruption.budgets[0]", amountAndTime),
    ...at(
      pool,
      "spec.disruption.budgets[0].action",
      words.oneOf("All", "Consolidation", "Emptiness", "Expiration", "Drift", "Repair"),
    ),
    ...at(pool, "spec.disruption.budgets[0].reasons", reasons),
    ...at(pool, "spec.disruption.budgets[0]", [
      bad("with an action and reasons", { action: "Drift", reasons: ["Drifted"] }),
    ]),
    ...at(pool, "spec.disruption.budgets", [
      bad("two with a fault each", [{ nodes: "101%" }, { nodes: 1 }, { action: "Sleep" }], "[0].nodes", "[2].action"),
    ]),
  ],
};

const actions = ["All", "Consolidation", "Emptiness", "Expiration", "Drift"];

/** The same shape in ten places: under each action by either name. */
const controls: Table[] = ["actionControls", "genericPerActionControls"].map(name => ({
  title: name === "actionControls" ? "controls by action" : "controls by action, under their other name",
  entries: [
    ...actions.flatMap(action => {
      const place = `spec.disruption.${name}.${action}`;
      return [
        ...at(pool, place, [good("with nothing to say", {})]),
        ...at(pool, `${place}.disruptAfter`, words.durationOrNever),
        ...at(
          pool,
          `${place}.budgets`,
          words.list({ max: 50 }, () => ({ nodes: 1 })),
        ),
        ...at(pool, `${place}.budgets[0]`, amountAndTime),
        ...at(pool, `${place}.budgets[0]`, [bad("that names an action of its own", { action: "Drift" }, "action")]),
      ];
    }),
    ...at(pool, `spec.disruption.${name}`, [
      bad("for an action that is not planned", { Repair: { disruptAfter: "1h" } }, "Repair"),
      bad("for an action in small letters", { drift: {} }, "drift"),
    ]),
  ],
}));

const bothNames: Table = {
  title: "controls by action under both names",
  entries: at(pool, "spec.disruption", [
    bad("for the same action", { actionControls: { Drift: {} }, genericPerActionControls: { Drift: {} } }),
    bad("for different actions", { actionControls: { Drift: {} }, genericPerActionControls: { All: {} } }),
    bad("even if one is empty", { actionControls: {}, genericPerActionControls: { Drift: {} } }),
  ]),
};

const windowsPath = "spec.disruption.windows";

const windows: Table = {
  title: "windows of a pool",
  entries: [
    ...at(
      pool,
      windowsPath,
      words.list({ max: 50 }, () => nightly),
    ),
    ...at(whole("node-pool"), `${windowsPath}[0].schedule`, [...needed, ...schedule]),
    ...at(whole("node-pool"), `${windowsPath}[0].duration`, [...needed, ...activeFor]),
    ...at(pool, `${windowsPath}[0]`, field(nightly, "timeZone", timeZone)),
    ...at(pool, `${windowsPath}[0]`, [
      bad("with an amount, which belongs into a budget", { ...nightly, nodes: 1 }, "nodes"),
    ]),
  ],
};

export const nodePoolBudgets: readonly Table[] = [budgets, ...controls, bothNames, windows];
