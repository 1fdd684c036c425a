// Event, served in two groups: core, in whose form it is kept, and events.k8s.io. Both show the same objects.

import type { KubeObject } from "../../api/meta.ts";
import { age } from "../age.ts";
import type { Column } from "../kind.ts";
import { builtIn } from "./built-in.ts";
import { nameColumn, text, wide } from "./column.ts";
import type { Event } from "./event-types.ts";
import { eventErrors } from "./event-validation.ts";

/** Fields that have another name in events.k8s.io. */
const renamed = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
] as const;

const referenceFields = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

const columns: readonly Column[] = [
  text("Last Seen", "Time since it was last seen.", (object, now) => lastSeen(object as Event, now)),
  text("Type", "Normal or Warning.", object => (object as Event).type ?? ""),
  text("Reason", "Why it happened, in a word.", object => (object as Event).reason ?? ""),
  text("Object", "What it is about.", object => subject(object as Event)),
  wide(
    text("Subobject", "Which part of the object it is about.", object => {
      return (object as Event).involvedObject.fieldPath ?? "";
    }),
  ),
  wide(text("Source", "Who reported it.", object => source(object as Event))),
  text("Message", "What happened.", object => ((object as Event).message ?? "").trim()),
  wide(text("First Seen", "Time since it was first seen.", (object, now) => firstSeen(object as Event, now))),
  wide(text("Count", "How often it was seen.", object => seenCount(object as Event))),
  wide(nameColumn),
];

const coreResource = { group: "", version: "v1", plural: "events", kind: "Event", namespaced: true };

export const coreEvent = builtIn({
  kind: "Event",
  plural: "events",
  namespaced: true,
  definition: "io.k8s.api.core.v1.Event",
  shortNames: ["ev"],
  createsOnUpdate: true,
  columns,
  rules: {
    validate: (object, { old }) => eventErrors(object as Event, { old: old as Event | undefined, group: "" }),
    selectableFields: object => selectableFields(object, "involvedObject", "reportingComponent"),
  },
});

export const event = builtIn({
  group: "events.k8s.io",
  kind: "Event",
  plural: "events",
  namespaced: true,
  definition: "io.k8s.api.events.v1.Event",
  shortNames: ["ev"],
  createsOnUpdate: true,
  columns: columns.map(column => ({ ...column, cell: (object, now) => column.cell(toCore(object), now) })),
  storedAs: { resource: coreResource, toStored: toCore, fromStored: fromCore },
  rules: {
    validate: (object, { old }) =>
      eventErrors(toCore(object) as Event, { old: old && (toCore(old) as Event), group: "events.k8s.io" }),
    selectableFields: object => selectableFields(object, "regarding", "reportingController"),
  },
});

export function toCore(object: KubeObject): KubeObject {
  return rename(object, "v1", ([core, other]) => [other, core]);
}

export function fromCore(object: KubeObject): KubeObject {
  return rename(object, "events.k8s.io/v1", ([core, other]) => [core, other]);
}

function rename(
  object: KubeObject,
  apiVersion: string,
  direction: (pair: readonly [string, string]) => [string, string],
): KubeObject {
  const names = new Map(renamed.map(direction));
  const entries = Object.entries(object).map(([field, value]) => [names.get(field) ?? field, value]);
  return { ...(Object.fromEntries(entries) as KubeObject), apiVersion };
}

type OfEitherGroup = Record<"involvedObject" | "regarding", Event["involvedObject"]> &
  Record<"reportingComponent" | "reportingController", string>;

// Each read where it stands: toCore() would find none in an object of which only the names of fields are asked.
function selectableFields(
  object: KubeObject,
  reference: "involvedObject" | "regarding",
  reporter: "reportingComponent" | "reportingController",
): Record<string, string> {
  const { reason = "", type = "", source } = object as Event;
  const { [reference]: about, [reporter]: reportedBy } = object as unknown as OfEitherGroup;
  const fields: Record<string, string> = { reason, type, [reporter]: reportedBy };
  for (const field of referenceFields) fields[`${reference}.${field}`] = about[field] ?? "";
  if (reference === "involvedObject") fields.source = source.component || reportedBy;
  return fields;
}

function firstSeen({ firstTimestamp, eventTime }: Event, now: number): string {
  return age(firstTimestamp ?? eventTime, now);
}

function lastSeen(event: Event, now: number): string {
  if (event.series) return age(event.series.lastObservedTime, now);
  return event.lastTimestamp === null ? firstSeen(event, now) : age(event.lastTimestamp, now);
}

function seenCount({ series, count }: Event): number {
  return series ? (series.count ?? 0) : count || 1;
}

function subject({ involvedObject: { kind = "", name } }: Event): string {
  return name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase();
}

function source({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source.component || reportingComponent;
  const host = source.host || reportingInstance;
  return host ? `${component}, ${host}` : component;
}
