// How long ago something was, as `kubectl get` writes it: two or three significant figures.

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** "<unknown>" without a timestamp, "<invalid>" if it lies more than a second ahead of `now` or is none. */
export function age(timestamp: string | null | undefined, now: number): string {
  if (timestamp === undefined || timestamp === null) return "<unknown>";
  const at = Date.parse(timestamp);
  return Number.isNaN(at) ? "<invalid>" : humanDuration(now - at);
}

/** Kubernetes' HumanDuration (1.36): each step is cut off, never rounded up. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / secondMs);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(ms / minuteMs);
  if (minutes < 10) return twoUnits([minutes, "m"], [seconds % 60, "s"]);
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(ms / hourMs);
  if (hours < 8) return twoUnits([hours, "h"], [minutes % 60, "m"]);
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (days < 8) return twoUnits([days, "d"], [hours % 24, "h"]);
  if (days < 2 * 365) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? twoUnits([years, "y"], [days % 365, "d"]) : `${years}y`;
}

function twoUnits([large, largeUnit]: [number, string], [small, smallUnit]: [number, string]): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
