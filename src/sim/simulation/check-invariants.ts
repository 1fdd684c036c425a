// What a health check holds back, at the write that makes a remediation: it stands in the ledger first (H1), and nothing
// new is made while its check is paused or only shows, nor on a node that is excluded (H2). A step after another is no
// news. And an entry does not outlive for long what was made for it (H3).

import type { KubeObject, Manifest } from "../../api/meta.ts";
import { excludedKey, nodeNameKey } from "../../api/node-health-check-contract.ts";
import type { NodeHealthCheckSpec } from "../../api/node-health-check.ts";
import type { Action } from "./ledger.ts";
import type { ClusterObjects } from "./objects.ts";
import { isUnseen, silentMs, type WriteContext } from "./write-context.ts";

type StoredCheck = KubeObject & { readonly spec: NodeHealthCheckSpec };

const checks = "nodehealthchecks.remediation.medik8s.io";
/** How the plurals end of what health checks make, of whatever kind. */
export const remediations = "remediations";

export function remediationViolations(context: WriteContext, { kind, metadata }: Manifest): string[] {
  const { ledger, objects } = context;
  const owner = metadata.ownerReferences?.find(one => one.kind === "NodeHealthCheck");
  const nodeName = metadata.annotations?.[nodeNameKey] ?? metadata.name ?? "";
  const node = ledger.nodeByName.get(nodeName);
  if (owner === undefined || node === undefined) return [];
  const what = `${kind} of node ${nodeName}`;
  const unwritten =
    ledger.openOn(node.metadata.uid).length === 0 ? [`H1 ${what} is made without an open action that says why`] : [];
  const check = objects.get(checks, owner.name) as StoredCheck | undefined;
  if (check?.metadata.uid !== owner.uid || isStep(context, { nodeName, uid: owner.uid })) return unwritten;
  const { pauseRequests = [], dryRun = false } = check.spec;
  const isNewCheck = isUnseen(context, `${checks} ${owner.name}`, silentMs);
  const isExcluded =
    node.metadata.labels?.[excludedKey] === "true" && !isUnseen(context, `nodes ${nodeName}`, silentMs);
  return [
    ...unwritten,
    ...(pauseRequests.length > 0 && !isNewCheck ? [`H2 ${what} is made while its check is paused`] : []),
    ...(dryRun && !isNewCheck ? [`H2 ${what} is made while its check only shows`] : []),
    ...(isExcluded ? [`H2 ${what} is made although the node is excluded`] : []),
  ];
}

/** Of an entry that has not moved for long, whatever it says that it waits for. */
export function forgottenRemediation(objects: ClusterObjects, { metadata, spec, status }: Action): string[] {
  const { node, method, askedBy } = spec;
  const isBegun = method === "Remediate" && status?.startedAt !== undefined;
  if (!isBegun || isStep({ objects }, { nodeName: node.name, uid: askedBy.uid ?? "" })) return [];
  return [`H3 action ${metadata.name} goes on, and nothing is left of what was made for node ${node.name}`];
}

/** The check has another one for the node. */
function isStep(
  { objects }: Pick<WriteContext, "objects">,
  { nodeName, uid }: { nodeName: string; uid: string },
): boolean {
  const made = [...objects.ofPlural(remediations)];
  return made.some(({ metadata }) => {
    const isOurs = metadata.ownerReferences?.some(owner => owner.uid === uid) ?? false;
    return isOurs && (metadata.annotations?.[nodeNameKey] ?? metadata.name) === nodeName;
  });
}
