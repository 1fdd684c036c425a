// The health check that a cluster without one gets on the first start: workers, all defaults, and a remediation that works
// out of the box. Made once: where there is or ever was a check, none is made, whoever deleted it.

import { apiVersionOf, type Manifest } from "../../api/meta.ts";
import { nodeHealthChecks, type TemplateReference } from "../../api/node-health-check.ts";
import { workerKey } from "../../api/node-health-check-contract.ts";
import { replaceRemediationTemplates } from "../../api/remediation.ts";
import type { KindName } from "../../snapshot/check-views.ts";
import { type Context, nothing, type Decision } from "../decision.ts";

export const defaultCheckName = "nhc-worker-default";

/** Others' templates by which medik8s remediates by default, the older name first. */
const otherDefaults = [
  {
    apiVersion: "poison-pill.medik8s.io/v1alpha1",
    kind: "PoisonPillRemediationTemplate",
    names: ["poison-pill-default-template"],
  },
  {
    apiVersion: "self-node-remediation.medik8s.io/v1alpha1",
    kind: "SelfNodeRemediationTemplate",
    names: ["self-node-remediation-automatic-strategy-template", "self-node-remediation-resource-deletion-template"],
  },
] as const;

/** What has to be looked for before the check is made. */
export const defaultKinds: readonly KindName[] = otherDefaults.map(({ apiVersion, kind }) => ({ apiVersion, kind }));

/** `isWanted`: --default-health-check is not off. Judges the cluster as a whole. */
export function decideDefaultCheck({ picture }: Context, isWanted: boolean): Decision {
  const { checks } = picture;
  if (!checks.isListed || checks.hadDefault !== false) return nothing;
  if (checks.all().length > 0) {
    return { ...nothing, commands: [{ kind: "note-default-check", why: "The cluster has a health check." }] };
  }
  if (!isWanted) return nothing;
  if (otherDefaults.some(kind => checks.kind(kind).state === "Listing")) return nothing;
  const other = otherTemplate({ picture });
  const why = "The cluster has no health check yet.";
  return {
    ...nothing,
    commands: [
      {
        kind: "create-default-check",
        why,
        check: checkWith(other ?? ourTemplate),
        ...(other === undefined ? { template: templateManifest } : {}),
      },
    ],
  };
}

function otherTemplate({ picture: { checks } }: Pick<Context, "picture">): TemplateReference | undefined {
  for (const { apiVersion, kind, names } of otherDefaults) {
    const found = checks
      .templates({ apiVersion, kind })
      .find(one => one.body !== undefined && (one.isDefault || (names as readonly string[]).includes(one.name)));
    if (found === undefined) continue;
    return { apiVersion, kind, name: found.name, ...(found.namespace === "" ? {} : { namespace: found.namespace }) };
  }
  return undefined;
}

const { resource } = replaceRemediationTemplates;
const ourTemplate: TemplateReference = {
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  name: defaultCheckName,
};

const templateManifest: Manifest = {
  apiVersion: ourTemplate.apiVersion,
  kind: ourTemplate.kind,
  metadata: { name: ourTemplate.name },
  spec: { template: { spec: {} } },
};

function checkWith(remediationTemplate: TemplateReference): Manifest {
  return {
    apiVersion: apiVersionOf(nodeHealthChecks.resource),
    kind: nodeHealthChecks.resource.kind,
    metadata: { name: defaultCheckName },
    spec: { selector: { matchExpressions: [{ key: workerKey, operator: "Exists" }] }, remediationTemplate },
  };
}
