// Remediations as commands name them.

import type { RemediationView } from "../../snapshot/check-views.ts";
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
