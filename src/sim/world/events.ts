// Events that the controllers of the box record: few, and each about something that a person would ask about. Where nobody
// can ask, in a simulation, they are not recorded at all: those of the scheduler would be one write in eight.

import type { KubeObject, Manifest } from "../../api/meta.ts";
import { ApiError } from "../../api/status.ts";
import type { Clock, KubeApi } from "../../control/ports.ts";
import { timestamp } from "../object-meta.ts";
import { eventResource } from "./resources.ts";

export type Told = { type: "Normal" | "Warning"; reason: string; message: string; component: string };

export type RecordEvent = (about: KubeObject, told: Told) => Promise<void>;

/** Best effort, as everywhere in Kubernetes: an event that cannot be written keeps nobody from its work. */
export function recorder(api: KubeApi, clock: Clock): RecordEvent {
  return async (about, told) => {
    const event = eventOf(about, told, clock.now());
    const { namespace = "" } = event.metadata;
    try {
      await api.create(eventResource, { namespace }, event);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  };
}

export const unrecorded: RecordEvent = async () => {};

function eventOf(about: KubeObject, { type, reason, message, component }: Told, now: number): Manifest {
  const { apiVersion, kind, metadata } = about;
  const { name, namespace, uid, resourceVersion } = metadata;
  const at = timestamp(now);
  return {
    apiVersion: "v1",
    kind: "Event",
    // Events about what lies in no namespace are kept in the default one.
    metadata: { name: `${name}.${suffix(reason, now)}`, namespace: namespace ?? "default" },
    involvedObject: { apiVersion, kind, name, ...(namespace && { namespace }), uid, resourceVersion },
    reason,
    message,
    type,
    source: { component },
    reportingComponent: component,
    reportingInstance: component,
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
}

/** The instant in nanoseconds, as client-go has it; what is below a millisecond tells the reasons of one apart. */
function suffix(reason: string, now: number): string {
  let hash = 0;
  for (const letter of reason) hash = (hash * 31 + letter.charCodeAt(0)) % 1_000_000;
  return (BigInt(now) * 1_000_000n + BigInt(hash)).toString(16);
}
