// What the server refuses in an event. The core group is lenient for the sake of old clients; events.k8s.io is not.

import { invalid, required } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { deepEqual } from "../json-value.ts";
import type { Event } from "./event-types.ts";
import { immutable, qualifiedName, requiredText } from "./field-rules.ts";

type Context = { old: Event | undefined; group: "" | "events.k8s.io" };

/** `event` is in the core form, whichever group it was written to. */
export function eventErrors(event: Event, { old, group }: Context): FieldError[] {
  const found = event.eventTime === null ? namespaceErrors(event) : reportedErrors(event, group);
  if (group === "") return found;
  return [...found, ...(old ? changeErrors(event, old) : strictErrors(event))];
}

function namespaceErrors({ metadata, involvedObject }: Event): FieldError[] {
  const { namespace = "" } = involvedObject;
  const agrees = namespace === "" ? metadata.namespace === "default" : metadata.namespace === namespace;
  return agrees ? [] : [invalid("involvedObject.namespace", namespace, "does not match event.namespace")];
}

const lengthMax = 128;
const messageMax = 1024;

/** Events with an event time must say who reports them and what was done. */
function reportedErrors(event: Event, group: Context["group"]): FieldError[] {
  const { namespace = "" } = event.metadata;
  const reporter = group === "" ? "reportingComponent" : "reportingController";
  const found: FieldError[] = [];
  if (!event.involvedObject.namespace && namespace !== "default" && namespace !== "kube-system") {
    found.push(invalid("involvedObject.namespace", "", "does not match event.namespace"));
  }
  found.push(...requiredText(reporter, event.reportingComponent), ...qualifiedName(reporter, event.reportingComponent));
  for (const field of ["reportingInstance", "action", "reason"] as const) {
    found.push(...requiredText(field, event[field]), ...tooLong(field, event[field], lengthMax));
  }
  return [...found, ...tooLong("message", event.message, messageMax)];
}

function tooLong(path: string, value: string | undefined, max: number): FieldError[] {
  const isLong = new TextEncoder().encode(value ?? "").length > max;
  return isLong ? [invalid(path, "", `can have at most ${max} characters`)] : [];
}

function strictErrors(event: Event): FieldError[] {
  const found = seriesErrors(event);
  if (event.eventTime === null) found.push(required("eventTime", ""));
  const { type = "" } = event;
  if (type !== "Normal" && type !== "Warning") found.push(invalid("type", "", `has invalid value: ${type}`));
  if (event.firstTimestamp !== null) found.push(invalid("firstTimestamp", "", "needs to be unset"));
  if (event.lastTimestamp !== null) found.push(invalid("lastTimestamp", "", "needs to be unset"));
  if (event.count) found.push(invalid("count", "", "needs to be unset"));
  if (event.source.component || event.source.host) found.push(invalid("source", "", "needs to be unset"));
  return found;
}

function seriesErrors({ series }: Event): FieldError[] {
  if (series === undefined) return [];
  const found: FieldError[] = [];
  if ((series.count ?? 0) < 2) found.push(invalid("series.count", "", "should be at least 2"));
  if (series.lastObservedTime === null) found.push(required("series.lastObservedTime", ""));
  return found;
}

const fixed = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "type",
  "eventTime",
  "action",
  "related",
] as const;

function changeErrors(event: Event, old: Event): FieldError[] {
  return [
    ...(deepEqual(event.series, old.series) ? [] : seriesErrors(event)),
    ...fixed.flatMap(field => immutable(field, event[field], old[field])),
    ...immutable("reportingController", event.reportingComponent, old.reportingComponent),
    ...immutable("reportingInstance", event.reportingInstance, old.reportingInstance),
  ];
}
