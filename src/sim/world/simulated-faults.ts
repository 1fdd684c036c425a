// What a person makes of a node or a pod with the annotation fettle.dev/simulate: comma-separated words, each
// `name` or `name=value`. Words that mean nothing are left out: a typing error is no fault.

import type { KubeObject } from "../../api/meta.ts";
import { parseDurationOrNever } from "../../api/time.ts";

export const simulateAnnotation = "fettle.dev/simulate";

export type NodeFaults = {
  /** No lease, no status, no pods started or stopped: a machine that hangs or is cut off. */
  isSilent: boolean;
  /** The kubelet reports, but its pods neither start nor stop: a container runtime that hangs. */
  isStuck: boolean;
  /** Conditions as they are to be reported, by type. */
  statusByCondition: ReadonlyMap<string, string>;
};

export type PodBehaviour = {
  startMs?: number;
  readyMs?: number;
  stopMs?: number;
  end?: { afterMs: number; exitCode: number };
};

const healthy: NodeFaults = { isSilent: false, isStuck: false, statusByCondition: new Map() };

/** Unknown is what others make of silence: a kubelet cannot say it of itself. */
export function nodeFaults(node: KubeObject): NodeFaults {
  const words = wordsOf(node);
  if (words.size === 0) return healthy;
  const isSilent = words.has("silent") || words.get("Ready") === "Unknown";
  const statusByCondition = new Map([...words].filter(([, status]) => ["True", "False", "Unknown"].includes(status)));
  if (isSilent) statusByCondition.delete("Ready");
  return { isSilent, isStuck: words.has("stuck"), statusByCondition };
}

export function podBehaviour(pod: KubeObject): PodBehaviour {
  const words = wordsOf(pod);
  if (words.size === 0) return {};
  const [startMs, readyMs, stopMs] = ["start", "ready", "stop"].map(word => durationOf(words.get(word)));
  const succeedMs = durationOf(words.get("succeed"));
  const failMs = durationOf(words.get("fail"));
  return {
    ...(startMs !== undefined && { startMs }),
    ...(readyMs !== undefined && { readyMs }),
    ...(stopMs !== undefined && { stopMs }),
    ...(succeedMs !== undefined && { end: { afterMs: succeedMs, exitCode: 0 } }),
    ...(failMs !== undefined && { end: { afterMs: failMs, exitCode: 1 } }),
  };
}

function wordsOf({ metadata }: KubeObject): ReadonlyMap<string, string> {
  const text = metadata.annotations?.[simulateAnnotation] ?? "";
  const words = text.split(",").map(word => word.split("=", 2).map(part => part.trim()));
  return new Map(words.flatMap(([name = "", value = ""]) => (name === "" ? [] : [[name, value] as const])));
}

/** `Never` is for ever. */
function durationOf(text: string | undefined): number | undefined {
  const parsed = text === undefined ? undefined : parseDurationOrNever(text);
  if (!parsed?.ok) return undefined;
  return parsed.value === "Never" ? Number.POSITIVE_INFINITY : Math.max(0, parsed.value);
}
