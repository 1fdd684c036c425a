// An entry of the ledger: who, what and to which node, fixed once it is written; its course in the status.

import { at, bad, change, type Entry, needed, type Table } from "./entry.ts";
import { absent } from "./field.ts";
import { least, whole } from "./manifests.ts";
import * as words from "./words.ts";

const action = least.nodeAction();
const full = whole("node-action");

const actions = words.oneOf(
  "Consolidation",
  "Emptiness",
  "Expiration",
  "Drift",
  "Repair",
  "Remediation",
  "Deletion",
  "ScaleDown",
  "GarbageCollection",
);
const evidenceKinds = words.oneOf(
  "Condition",
  "NeverReady",
  "Flapping",
  "Age",
  "Drift",
  "Empty",
  "Cheaper",
  "DeletionTimestamp",
  "InstanceGone",
  "SurplusReplica",
  "RemediationObject",
);

const reference = (path: string): Entry[] => [
  ...at(full, `${path}.name`, [...needed, ...words.name]),
  ...at(full, `${path}.uid`, [...needed, ...words.uid]),
];

const asker = (path: string): Entry[] => [
  ...at(full, path, needed),
  ...at(full, `${path}.kind`, [...needed, ...words.oneOf("NodePool", "NodeHealthCheck", "Person", "Controller")]),
  ...at(full, `${path}.name`, [...needed, ...words.name]),
  ...at(full, `${path}.uid`, words.uid),
];

const seen = { kind: "Condition", seenAt: "2026-01-01T00:00:00Z" };

const evidence = (path: string): Entry[] => [
  ...at(full, path, [...needed, ...words.list({ max: 100 }, () => seen)]),
  ...at(full, `${path}[0].kind`, [...needed, ...evidenceKinds]),
  ...at(full, `${path}[0].conditionType`, words.nodeConditionType),
  ...at(full, `${path}[0].conditionStatus`, words.nodeConditionStatus),
  ...at(full, `${path}[0].conditionReason`, words.text({ max: 1024 })),
  ...at(full, `${path}[0].message`, words.text({ max: 4096 })),
  ...at(full, `${path}[0].since`, words.time),
  ...at(full, `${path}[0].reportedSince`, words.time),
  ...at(full, `${path}[0].clock`, words.oneOf("Reporter", "Observer", "Creation")),
  ...at(full, `${path}[0].toleration`, words.duration),
  ...at(full, `${path}[0].dueAt`, words.time),
  ...at(full, `${path}[0].seenAt`, [...needed, ...words.time]),
  ...at(full, `${path}[0].resourceVersion`, words.text({ max: 64 })),
];

const place = (path: string): Entry[] => [
  ...at(full, `${path}.kind`, [...needed, ...words.kind]),
  ...at(full, `${path}.name`, words.text()),
  ...at(full, `${path}.path`, words.text({ max: 512 })),
  ...at(full, `${path}.generation`, words.whole({ min: 0 })),
];

const limit = (path: string): Entry[] => [
  ...place(path),
  ...at(full, `${path}.allowed`, [...needed, ...words.whole({ min: 0 })]),
  ...at(full, `${path}.counted`, [...needed, ...words.whole({ min: 0 })]),
];

const cap = { kind: "SafetyPolicy", allowed: 1, counted: 0 };
const joining = { action: "Deletion", askedBy: { kind: "Person", name: "alice" }, at: "2026-01-01T00:00:00Z" };

const what: Table = {
  title: "what an action is",
  entries: [
    ...at(full, "spec", [bad("left out", absent)]),
    ...at(full, "spec.node", needed),
    ...reference("spec.node"),
    ...reference("spec.claim"),
    ...at(full, "spec.machine.namespace", [...needed, ...words.text({ min: 1, max: 63 })]),
    ...at(full, "spec.machine.name", [...needed, ...words.name]),
    ...at(full, "spec.nodePool", words.text({ max: 63 })),
    ...at(full, "spec.zone", words.text()),
    ...at(full, "spec.action", [...needed, ...actions]),
    ...at(full, "spec.method", [...needed, ...words.oneOf("Terminate", "Reboot", "Remediate")]),
    ...at(full, "spec.termination", words.oneOf("Forceful", "Graceful")),
    ...asker("spec.askedBy"),
    ...at(full, "spec.message", [...needed, ...words.text({ max: 4096 })]),
    ...at(full, "spec.batch", words.text({ max: 63 })),
    ...at(full, "spec.deadline", words.time),
    ...at(full, "spec.timeout", words.duration),
    ...at(full, "spec.decidedAt", [...needed, ...words.time]),
    ...at(full, "spec.dryRun", words.flag),
    ...at(full, "spec.epoch", [...needed, ...words.whole({ min: 0 })]),
  ],
};

const why: Table = {
  title: "why an action is taken, and what allowed it",
  entries: [
    ...evidence("spec.evidence"),
    ...place("spec.policy"),
    ...limit("spec.budget"),
    ...at(
      full,
      "spec.caps",
      words.list({ max: 20 }, () => cap),
    ),
    ...limit("spec.caps[0]"),
    ...at(
      full,
      "spec.joined",
      words.list({ max: 20 }, () => ({ ...joining, message: "", evidence: [] })),
    ),
    ...at(full, "spec.joined[0].action", [...needed, ...actions]),
    ...asker("spec.joined[0].askedBy"),
    ...at(full, "spec.joined[0].at", [...needed, ...words.time]),
    ...at(full, "spec.joined[0].message", [...needed, ...words.text({ max: 4096 })]),
    ...evidence("spec.joined[0].evidence"),
  ],
};

const remediation = "spec.remediation";

const which: Table = {
  title: "which objects an action makes",
  entries: [
    ...at(full, "spec.replacements", [
      ...words.list({ max: 100 }, index => ({ name: `claim-${index}` })),
      bad("a name twice", [{ name: "a" }, { name: "a", uid: "1" }], "[1]"),
    ]),
    ...at(full, "spec.replacements[0].name", [...needed, ...words.name]),
    ...at(full, "spec.replacements[0].uid", words.uid),
    ...at(full, `${remediation}.apiVersion`, [...needed, ...words.name]),
    ...at(full, `${remediation}.kind`, [...needed, ...words.kind]),
    ...at(full, `${remediation}.namespace`, words.text({ max: 63 })),
    ...at(full, `${remediation}.name`, [...needed, ...words.name]),
    ...at(full, `${remediation}.uid`, words.uid),
  ],
};

const status: Table = {
  title: "course of an action",
  entries: [
    ...at(full, "status.observedGeneration", words.whole({ min: 0 })),
    ...at(
      full,
      "status.phase",
      words.oneOf("Pending", "WaitingForReplacement", "Running", "Done", "Failed", "Abandoned", "DryRun"),
    ),
    ...at(full, "status.startedAt", words.time),
    ...at(full, "status.finishedAt", words.time),
    ...at(full, "status.steps", [
      ...words.list({ max: 100 }, index => ({ name: `step-${index}`, startedAt: "2026-01-01T00:00:00Z" })),
      bad(
        "a step twice",
        [
          { name: "drain", startedAt: "2026-01-01T00:00:00Z" },
          { name: "drain", startedAt: "2026-01-01T00:01:00Z" },
        ],
        "[1]",
      ),
    ]),
    ...at(full, "status.steps[0].name", [...needed, ...words.kind]),
    ...at(full, "status.steps[0].startedAt", [...needed, ...words.time]),
    ...at(full, "status.steps[0].finishedAt", words.time),
    ...at(full, "status.steps[0].attempts", words.whole({ min: 0 })),
    ...at(full, "status.steps[0].message", words.text({ max: 4096 })),
    ...at(full, "status.waitingFor.reason", [...needed, ...words.kind]),
    ...at(full, "status.waitingFor.message", [...needed, ...words.text({ max: 4096 })]),
    ...at(full, "status.waitingFor.since", [...needed, ...words.time]),
    ...at(full, "status.waitingFor.until", words.time),
    ...at(full, "status.bootID", words.text({ max: 128 })),
    ...at(full, "status.outcome", words.text({ max: 4096 })),
    ...at(full, "status.error", words.text({ max: 4096 })),
  ],
};

const withDeadline = (minute: string) => least.nodeAction({ deadline: `2026-01-01T00:${minute}:00Z` });
const pair = (spec: object) => [action, least.nodeAction(spec)] as const;

const changes: Table = {
  title: "changes to an action",
  entries: [
    change("more evidence", pair({ evidence: [seen, { ...seen, kind: "Age" }] })),
    change("a stronger reason joins", pair({ joined: [{ ...joining, message: "", evidence: [] }] })),
    change("another node", pair({ node: { name: "worker-4", uid: "7a11" } }), "spec"),
    change("a node of the same name", pair({ node: { name: "worker-3", uid: "7a12" } }), "spec"),
    change("another action", pair({ action: "Drift" }), "spec"),
    change("another method", pair({ method: "Reboot" }), "spec"),
    change("a newer leader adopts it", pair({ epoch: 2 })),
    change("an older leader writes again", pair({ epoch: 0 }), "spec"),
    change("a deadline where there was none", [action, withDeadline("30")]),
    change("the same deadline", [withDeadline("30"), withDeadline("30")]),
    change("a nearer deadline", [withDeadline("30"), withDeadline("29")]),
    change("a later deadline", [withDeadline("30"), withDeadline("31")], "spec"),
    change("no deadline any more", [withDeadline("30"), action], "spec"),
    change("two rules broken at once", pair({ epoch: 0, method: "Reboot" }), "spec"),
  ],
};

const inPhase = (phase: string | undefined, more: object = {}) => ({
  ...action,
  status: { ...(phase ? { phase } : {}), ...more },
});
const turn = (title: string, [from, to]: readonly [string, string | undefined], ...refusedAt: string[]): Entry => ({
  ...change(title, [inPhase(from), inPhase(to)], ...refusedAt),
  subresource: "status",
});

const turns: Table = {
  title: "phases of an action, one after the other",
  entries: [
    turn("from waiting to running", ["Pending", "Running"]),
    turn("back again, which nobody forbids", ["Running", "Pending"]),
    turn("from running to done", ["Running", "Done"]),
    turn("a dry run is no end", ["DryRun", "Pending"]),
    ...["Done", "Failed", "Abandoned"].flatMap(end => [
      turn(`${end} stays`, [end, end]),
      turn(`from ${end} to running`, [end, "Running"], "status"),
      turn(`from ${end} to nothing`, [end, undefined], "status"),
    ]),
    turn("from one end to another", ["Done", "Failed"], "status"),
    {
      ...change("a word more about the end", [inPhase("Done"), inPhase("Done", { outcome: "gone" })]),
      subresource: "status",
    },
  ],
};

export const nodeAction: readonly Table[] = [what, why, which, status, changes, turns];
