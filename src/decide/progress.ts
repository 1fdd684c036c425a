// What the ledger says of an action while it runs: its steps so far and whoever holds it up. Written when that
// changes, never for the sake of the time.

import { formatTime } from "../api/time.ts";
import type { ActionView } from "../snapshot/views.ts";
import { reasonOf } from "./conditions.ts";
import type { ActionProgress, Command } from "./decision.ts";
import type { Departing, Step, Wait } from "./termination-step.ts";

type Course = {
  /** The steps that have begun; the last one runs. */
  readonly names: readonly Step["name"][];
  readonly wait: Wait | undefined;
};

export function progress(departing: Departing, { names, wait }: Course): Command[] {
  const message = unneeded(departing);
  const steps = names.map((name, index) => ({
    name,
    isFinished: index < names.length - 1,
    ...(message !== undefined && spared.has(name) ? { message } : {}),
  }));
  return departing.actions.flatMap(action => told(action, { steps, wait, why: departing.why }));
}

type Told = {
  readonly steps: NonNullable<ActionProgress["steps"]>;
  readonly wait: Pick<Wait, "code" | "message" | "until"> | undefined;
  readonly why: string;
};

/** Nothing if the action says so already. */
export function told(action: ActionView, { steps, wait, why }: Told): Command[] {
  const waitingFor = wait === undefined ? null : waiting(wait);
  if (saysSteps(action, steps) && saysWait(action, waitingFor)) return [];
  const { name, uid, resourceVersion } = action;
  return [{ kind: "update-action", action: { name, uid }, resourceVersion, progress: { steps, waitingFor }, why }];
}

const spared: ReadonlySet<Step["name"]> = new Set(["taint", "drain", "volumes"]);

function unneeded({ drained, isDead }: Departing): string | undefined {
  if (drained.length === 0) return "Not needed: the node had not registered.";
  return isDead ? "Not needed: the node is not Ready and its instance is gone." : undefined;
}

function waiting({ code, message, until }: NonNullable<Told["wait"]>): NonNullable<ActionProgress["waitingFor"]> {
  return { reason: reasonOf(code), message, ...(until === undefined ? {} : { until }) };
}

function saysSteps({ status }: ActionView, steps: NonNullable<ActionProgress["steps"]>): boolean {
  const written = status.steps ?? [];
  if (written.length !== steps.length) return false;
  return steps.every(({ name, isFinished, message }, index) => {
    const said = written[index];
    return said?.name === name && (said.finishedAt !== undefined) === isFinished && said.message === message;
  });
}

export function saysWait({ status }: ActionView, wait: ActionProgress["waitingFor"]): boolean {
  const said = status.waitingFor;
  if (wait === null || wait === undefined || said === undefined) return !wait && said === undefined;
  const until = wait.until === undefined ? undefined : formatTime(wait.until);
  return said.reason === wait.reason && said.message === wait.message && said.until === until;
}
