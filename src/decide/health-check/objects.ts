// Remediations as commands and lanes name them.

import { type KindName, keyOfObject, type RemediationView } from "../../snapshot/check-views.ts";
import type { Context, ObjectTarget } from "../decision.ts";

/** Undefined: its kind is no longer served, so that nothing can be asked of it. */
export function targetOf(
  remediation: RemediationView,
  { picture: { checks } }: Pick<Context, "picture">,
): ObjectTarget | undefined {
  const state = checks.kind(remediation);
  if (state.state !== "Served") return undefined;
  const { name, uid, namespace } = remediation;
  return { resource: state.resource, name, uid, ...(namespace === "" ? {} : { namespace }) };
}

/** One command at a time on an object. */
export function laneOfRemediation(object: KindName & { readonly namespace?: string; readonly name: string }): string {
  return `remediation/${keyOfObject(object)}`;
}
