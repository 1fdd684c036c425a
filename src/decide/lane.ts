// On which object a command works: one at a time on each, and what last failed there is remembered by this name.

import { apiVersionOf } from "../api/meta.ts";
import { type KindName, keyOfObject } from "../snapshot/check-views.ts";
import type { Command, RemediationCommand } from "./decision.ts";

/** One command at a time in each lane; lanes run side by side. */
export function laneOf(command: Command): string {
  switch (command.kind) {
    case "create-claim":
      return `claim/${command.manifest.metadata.name}`;
    case "update-claim":
    case "delete-claim":
    case "launch-instance":
      return `claim/${command.claim.name}`;
    case "delete-instance":
    case "look-up-instance":
      return `instance/${command.providerID}`;
    case "list-instances":
      return "instances";
    case "search":
      return `search/${command.for}`;
    case "update-node":
    case "delete-node":
      return `node/${command.node.name}`;
    case "nominate-pod":
    case "evict-pod":
    case "delete-pod":
      return `pod/${command.pod.namespace}/${command.pod.name}`;
    case "open-action":
      return `action/${command.name}`;
    case "update-action":
    case "start-action":
    case "reboot-instance":
    case "delete-action":
      return `action/${command.action.name}`;
    case "update-pool":
      return `pool/${command.pool.name}`;
    case "update-safety-policy":
      return "safety-policy";
    default:
      return laneOfRemediationCommand(command);
  }
}

function laneOfRemediationCommand(command: RemediationCommand): string {
  switch (command.kind) {
    case "create-remediation": {
      const { apiVersion, kind, metadata } = command.manifest;
      return laneOfRemediation({ apiVersion, kind, namespace: metadata.namespace ?? "", name: metadata.name });
    }
    case "delete-remediation":
    case "update-remediation":
    case "annotate-remediation": {
      const { resource, name, namespace = "" } = command.remediation;
      return laneOfRemediation({ apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name });
    }
    case "take-node-lease":
    case "release-node-lease":
      return `node-lease/${command.lease.name}`;
    case "update-check":
      return `check/${command.check.name}`;
    case "create-default-check":
    case "note-default-check":
      return "default-check";
  }
}

/** One command at a time on an object of whatever kind. */
export function laneOfRemediation(object: KindName & { readonly namespace?: string; readonly name: string }): string {
  return `remediation/${keyOfObject(object)}`;
}
