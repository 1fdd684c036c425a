// The object that a step would make, and who has its name already: what is not ours stays, and nothing is made beside it.

import type { Resource } from "../../api/meta.ts";
import type { RemediationView, StepView } from "../../snapshot/check-views.ts";
import type { Context } from "../decision.ts";
import type { Objection } from "../safety.ts";
import { remediationFor, type RemediationManifest } from "./manifest.ts";
import type { Patient } from "./words.ts";

export type Plan = { readonly resource: Resource; readonly manifest: RemediationManifest };

type Case = Pick<Patient, "node" | "check">;

/** Undefined: the template or its kind is not there, which disables the check. */
export function planOf({ node, check }: Case, step: StepView, { picture: { checks } }: Context): Plan | undefined {
  const template = checks.template(step.template);
  if (template === undefined) return undefined;
  const manifest = remediationFor(check, node, template);
  const state = checks.kind(manifest);
  return state.state === "Served" ? { resource: state.resource, manifest } : undefined;
}

/** What has the name of the plan's object, whoever made it. */
export function standingFor({ manifest }: Plan, { picture: { checks } }: Context): RemediationView | undefined {
  const { apiVersion, kind, metadata } = manifest;
  return checks.remediation({ apiVersion, kind, ...metadata });
}

/** Asked before the node is given to anybody: an entry that cannot begin would keep its place from others. */
export function takenByAnother(patient: Case, step: StepView, context: Context): Objection | undefined {
  const plan = planOf(patient, step, context);
  const found = plan && standingFor(plan, context);
  return found === undefined || found.checkUid === patient.check.uid ? undefined : nameTaken(patient, found);
}

/** The name is the node's: what has it must go first. */
export function nameTaken({ node, check }: Case, found: RemediationView): Objection {
  const who = `${found.kind} ${found.name}`;
  if (found.deletingSince !== undefined) {
    const by = found.finalizers.length === 0 ? "" : `, held by ${found.finalizers.join(", ")}`;
    const message = `${who} of node ${node.name} is still being deleted${by}.`;
    return { code: "still-being-removed", message, liftedBy: "whoever has to take the finalizers away" };
  }
  const message = `${who} is there already and belongs to ${found.owner ?? "nobody"}, not to NodeHealthCheck ${check.name}.`;
  return { code: "remediation-of-another", message, liftedBy: `the end of ${who}` };
}
