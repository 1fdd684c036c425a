// What could not be written for a node under remediation, and so holds it up: the stamp on an object, its removal, the
// lease. Without a word of it the entry would tell of a remediator who does not answer.

import type { Command, Context } from "../decision.ts";
import { laneOf } from "../lane.ts";
import type { Objection } from "../safety.ts";

/** Of a create that failed its plan speaks (course.ts). */
const whatByKind: Partial<Record<Command["kind"], (command: Command) => string>> = {
  "annotate-remediation": command => `${objectOf(command)} could not be written`,
  "delete-remediation": command => `${objectOf(command)} could not be deleted`,
  "take-node-lease": command => `${objectOf(command)} could not be taken`,
};

/** Undefined: nothing failed, or it has been done since. */
export function failedWrite(
  commands: readonly Command[],
  { picture }: Pick<Context, "picture">,
): Objection | undefined {
  for (const command of commands) {
    const what = whatByKind[command.kind]?.(command);
    const failure = what === undefined ? undefined : picture.failure(laneOf(command));
    if (failure === undefined) continue;
    const message = `${what}: ${failure.message}`;
    return { code: "write-failed", message, until: failure.retryAt, liftedBy: "another answer of the server" };
  }
  return undefined;
}

function objectOf(command: Command): string {
  if ("remediation" in command) return `${command.remediation.resource.kind} ${command.remediation.name}`;
  return command.kind === "take-node-lease" ? `Lease ${command.lease.namespace}/${command.lease.name}` : command.kind;
}
