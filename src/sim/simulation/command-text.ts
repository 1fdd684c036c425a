// What a command changes, in a few words for the journal: its reason alone would read the same for every step.

import type { ActionProgress, Command, ConditionChange, MetadataChange, NodeChange } from "../../decide/decision.ts";

/** Empty: its kind says it all. */
export function commandText(command: Command): string {
  switch (command.kind) {
    case "update-claim":
      return words(metadataText(command.metadata), conditionText(command.status?.conditions));
    case "update-pool":
      return words(metadataText(command.metadata), conditionText(command.status?.conditions));
    case "update-node":
      return nodeText(command.change);
    case "update-action": {
      const { epoch, deadline, joined } = command.spec ?? {};
      return words(
        epoch === undefined ? "" : `epoch ${epoch}`,
        deadline === undefined ? "" : `deadline ${deadline}`,
        joined === undefined ? "" : `joined by ${joined.at(-1)?.action}`,
        command.progress ? progressText(command.progress) : "",
      );
    }
    case "open-action":
      return `${command.spec.action} of ${command.spec.node.name}${command.phase === "DryRun" ? ", in dry run" : ""}`;
    default:
      return "";
  }
}

function progressText({ phase, steps, waitingFor, outcome }: ActionProgress): string {
  const step = steps?.at(-1);
  return words(
    phase ?? "",
    step === undefined ? "" : `${step.name}${step.isFinished ? " finished" : ""}`,
    waitingFor ? `waits for ${waitingFor.reason}` : "",
    outcome ?? "",
  );
}

function nodeText({ addTaints = [], removeTaints = [], owner, isCordoned, ...metadata }: NodeChange): string {
  return words(
    isCordoned === undefined ? "" : `${isCordoned ? "" : "un"}cordon`,
    ...addTaints.map(({ key, effect }) => `+taint ${key}:${effect}`),
    ...removeTaints.map(({ key, effect }) => `-taint ${key}:${effect}`),
    owner === undefined ? "" : `owner ${owner.name}`,
    metadataText(metadata),
  );
}

function metadataText({ labels, annotations, addFinalizers = [], removeFinalizers = [] }: MetadataChange = {}): string {
  return words(
    ...changes("label", labels),
    ...changes("annotation", annotations),
    ...addFinalizers.map(name => `+finalizer ${name}`),
    ...removeFinalizers.map(name => `-finalizer ${name}`),
  );
}

/** Of many only how many: a node takes over all that its claim says. */
function changes(what: string, values: Readonly<Record<string, string | null>> = {}): string[] {
  const entries = Object.entries(values);
  if (entries.length > 3) return [`${entries.length} ${what}s`];
  return entries.map(([key, value]) => (value === null ? `-${what} ${key}` : `+${what} ${key}=${short(value)}`));
}

function short(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40)}…` : value;
}

function conditionText(conditions: readonly ConditionChange[] = []): string {
  return conditions
    .map(({ type, status, reason }) => (status === "True" ? type : `${type}=${status}(${reason})`))
    .join(" ");
}

function words(...parts: readonly string[]): string {
  return parts.filter(part => part !== "").join(", ");
}
