// What the shell does: who leads, which commands run and how they ended, what was refused and said.

import type { Asked, Of } from "./measured.ts";
import { type Family, labelled, tally } from "./family.ts";

export function shellFamilies(of: Of): Family[] {
  const single = (name: string, help: string, read: (asked: Asked) => number): Family => ({
    name,
    help,
    type: name.endsWith("_total") ? "counter" : "gauge",
    samples: of(asked => [{ value: read(asked) }]),
  });
  const counted = (
    name: string,
    help: string,
    { labels, read }: { labels: readonly string[]; read: (asked: Asked) => Iterable<readonly [string, number]> },
  ): Family => ({ name, help, type: "counter", labels, samples: of(asked => labelled(read(asked), labels)) });
  return [
    single("fettle_leader", "1 while this process leads.", ({ epoch }) => Number(epoch !== undefined)),
    single("fettle_commands_running", "Commands that run now.", ({ runningCount }) => runningCount),
    single(
      "fettle_commands_waiting",
      "Subjects that wait because so many commands run.",
      ({ waitingCount }) => waitingCount,
    ),
    single("fettle_commands_withheld_total", "Commands decided anew later.", ({ counts }) => counts.withheld),
    single("fettle_subjects_asked_total", "Subjects that rules were asked about.", ({ counts }) => counts.asked),
    single("fettle_rule_failures_total", "Turns given up because a rule failed.", ({ counts }) => counts.ruleFailures),
    counted("fettle_commands_total", "Commands by kind and result.", {
      labels: ["kind", "result"],
      read: ({ counts }) => counts.commands,
    }),
    counted("fettle_refusals_total", "Each time something newly stood in the way, by code.", {
      labels: ["code"],
      read: ({ counts }) => counts.refusals,
    }),
    counted("fettle_events_total", "Events by what became of them.", {
      labels: ["result"],
      read: ({ counts }) => Object.entries(counts.events),
    }),
    {
      name: "fettle_refusals",
      help: "What stands in the way now, by code and by what it holds back.",
      type: "gauge",
      labels: ["code", "kind"],
      samples: of(asked => tally(codes(asked.refusals()), ["code", "kind"])),
    },
  ];
}

function* codes(refusals: ReturnType<Asked["refusals"]>): Iterable<string> {
  for (const { code, subject } of refusals) yield `${code} ${subject.split("/")[0]}`;
}
