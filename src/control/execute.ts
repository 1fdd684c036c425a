// Carries one command out: one case a command, and every error an outcome.

import type { Command, Outcome } from "../decide/decision.ts";
import { deleteAction, openAction, updateAction } from "./execute-action.ts";
import { createClaim, deleteClaim, launchInstance, updateClaim } from "./execute-claim.ts";
import { deleteInstance, listInstances, lookUpInstance } from "./execute-instance.ts";
import { deleteNode, deletePod, evictPod, nominatePod, updateNode } from "./execute-node.ts";
import { updatePool, updateSafetyPolicy } from "./execute-pool.ts";
import { createDefaultCheck, noteDefaultCheck, updateCheck } from "./execute-check.ts";
import { releaseNodeLease, takeNodeLease } from "./execute-node-lease.ts";
import { annotateRemediation, createRemediation, deleteRemediation, updateRemediation } from "./execute-remediation.ts";
import { joinAction } from "./execute-join.ts";
import { rebootInstance } from "./execute-reboot.ts";
import { startAction } from "./execute-start.ts";
import type { Execution } from "./execution.ts";
import { outcomeOf } from "./outcome.ts";
import { search } from "./search.ts";

export async function execute(command: Command, execution: Execution): Promise<Outcome> {
  try {
    return await carriedOut(command, execution);
  } catch (error) {
    return outcomeOf(error);
  }
}

function carriedOut(command: Command, execution: Execution): Promise<Outcome> {
  switch (command.kind) {
    case "create-claim":
      return createClaim(command, execution);
    case "update-claim":
      return updateClaim(command, execution);
    case "delete-claim":
      return deleteClaim(command, execution);
    case "launch-instance":
      return launchInstance(command, execution);
    case "delete-instance":
      return deleteInstance(command, execution);
    case "look-up-instance":
      return lookUpInstance(command, execution);
    case "reboot-instance":
      return rebootInstance(command, execution);
    case "list-instances":
      return listInstances(execution);
    case "search":
      return search(command, execution);
    case "update-node":
      return updateNode(command, execution);
    case "delete-node":
      return deleteNode(command, execution);
    case "nominate-pod":
      return nominatePod(command, execution);
    case "evict-pod":
      return evictPod(command, execution);
    case "delete-pod":
      return deletePod(command, execution);
    case "open-action":
      return openAction(command, execution);
    case "update-action":
      return command.looksFirst ? joinAction(command, execution) : updateAction(command, execution);
    case "start-action":
      return startAction(command, execution);
    case "delete-action":
      return deleteAction(command, execution);
    case "update-pool":
      return updatePool(command, execution);
    case "update-safety-policy":
      return updateSafetyPolicy(command, execution);
    case "create-remediation":
      return createRemediation(command, execution);
    case "delete-remediation":
      return deleteRemediation(command, execution);
    case "annotate-remediation":
      return annotateRemediation(command, execution);
    case "update-remediation":
      return updateRemediation(command, execution);
    case "take-node-lease":
      return takeNodeLease(command, execution);
    case "release-node-lease":
      return releaseNodeLease(command, execution);
    case "update-check":
      return updateCheck(command, execution);
    case "create-default-check":
      return createDefaultCheck(command, execution);
    case "note-default-check":
      return noteDefaultCheck(execution);
  }
}
