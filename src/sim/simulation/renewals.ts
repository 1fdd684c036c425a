// How a process hears what time it is at the server when it asks for nothing else: by the Date of the answer to each
// renewal of its lease. Played only while the two may differ, since nobody else hears of it.

import type { Clock } from "../../control/ports.ts";
import type { Process } from "./process.ts";

/** Whoever judges the dates of answers (kube/server-clock.ts). */
export type DateReader = {
  /** The time as the process has it. */
  now(): number;
  answered(date: string | undefined, sentAt: number): void;
  onChange(changed: (aheadMs: number | undefined) => void): void;
};

/** The header of an answer. */
export function dateOf(writtenAt: number): string {
  return new Date(writtenAt).toUTCString();
}

/** As leader election has it. */
const renewEveryMs = 2_000;

/** `changed` hears by how much the process is ahead, undefined: not at all. */
export function playRenewals(
  reader: DateReader,
  { server, process }: { readonly server: Clock; readonly process: Process },
  changed: (aheadMs: number | undefined) => void,
): void {
  let isApart = false;
  let isRunning = false;
  reader.onChange(aheadMs => {
    isApart = aheadMs !== undefined;
    changed(aheadMs);
  });
  const renew = () => {
    reader.answered(dateOf(server.now()), process.now());
    isRunning = isApart;
    if (isApart) process.after(renewEveryMs, renew);
  };
  if (process.jumpMs !== 0) renew();
  process.onJump(() => {
    if (isRunning) return;
    isRunning = true;
    process.after(renewEveryMs, renew);
  });
}
