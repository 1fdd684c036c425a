// Whether the cluster is being upgraded, as far as that can be seen: nodes that are restarted on purpose look sick. What
// cannot be seen is said, and holds too unless the operator wants it otherwise: then what was seen last holds no longer
// either, for nobody could see it end.

import { clusterUpgradeAnnotation } from "../../api/safety-policy.ts";
import { currentConfigKey, desiredConfigKey } from "../../api/node-health-check-contract.ts";
import { formatTime, parseTime } from "../../api/time.ts";
import type { CheckView } from "../../snapshot/check-views.ts";
import type { Context } from "../decision.ts";
import type { Objection } from "../safety.ts";

const code = "cluster-upgrading";

/** Of the whole cluster. */
export function clusterUpgrade(context: Context): Objection | undefined {
  return announced(context) ?? seen(context);
}

function seen(context: Context): Objection | undefined {
  const unknown = undetected(context);
  if (unknown === undefined) return progressing(context);
  return context.settings.upgradeUnknown === "proceed" ? undefined : unknown;
}

/** What cannot be told and yet holds nothing, as --upgrade-unknown=proceed wants it. */
export function unheededDoubt(context: Context): string | undefined {
  if (context.settings.upgradeUnknown !== "proceed") return undefined;
  const found = undetected(context);
  if (found === undefined) return undefined;
  const [last] = context.picture.checks.upgrade.progressing;
  const before = last === undefined ? "" : ` When it was last seen, ClusterVersion ${last.name} was progressing.`;
  return `${found.message}${before} Starts go on all the same (--upgrade-unknown=proceed).`;
}

/** The deadline that somebody, or the upgrade's own pipeline, has written. */
function announced({ picture: { safety }, now }: Context): Objection | undefined {
  const written = safety.meta?.annotations[clusterUpgradeAnnotation];
  if (written === undefined) return undefined;
  const deadline = parseTime(written);
  const liftedBy = `taking ${clusterUpgradeAnnotation} off SafetyPolicy default`;
  if (!deadline.ok) {
    const message = `SafetyPolicy default says ${clusterUpgradeAnnotation}, and until when cannot be read: ${deadline.error}.`;
    return { code, message, liftedBy };
  }
  if (deadline.value <= now) return undefined;
  const message = `The cluster is being upgraded until ${formatTime(deadline.value)}, says SafetyPolicy default.`;
  return { code, message, until: deadline.value, liftedBy };
}

function undetected({ picture: { checks } }: Context): Objection | undefined {
  const { upgrade } = checks;
  if (upgrade.failure === undefined) return undefined;
  const message = `Whether the cluster is being upgraded cannot be told: ${upgrade.failure}`;
  const liftedBy = "leave to read ClusterVersions, or --upgrade-unknown=proceed";
  return { code: "upgrade-unknown", message, liftedBy };
}

function progressing({ picture: { checks } }: Context): Objection | undefined {
  const [first] = checks.upgrade.progressing;
  if (first === undefined) return undefined;
  const message = `ClusterVersion ${first.name} is progressing: ${first.message}`;
  return { code, message, liftedBy: "the end of the upgrade" };
}

/**
 * The machine-config operator is at work on a node that is not healthy: what else fails may be its doing. Where there is
 * no OpenShift nobody is: a node that writes this on itself must not keep the others from help.
 */
export function configuring(check: CheckView, { picture: { checks } }: Context): Objection | undefined {
  if (!checks.upgrade.isOpenShift) return undefined;
  const node = checks.notHealthy(check).find(({ annotations }) => {
    const desired = annotations[desiredConfigKey];
    return desired !== undefined && desired !== annotations[currentConfigKey];
  });
  if (node === undefined) return undefined;
  const shall = node.annotations[desiredConfigKey];
  const message = `Node ${node.name} of NodeHealthCheck ${check.name} is being configured anew, to ${shall}.`;
  return { code, message, liftedBy: `the end of the configuration of node ${node.name}` };
}
