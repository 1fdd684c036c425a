// Whether a check can remediate at all: what it says can be understood, and each of its templates is there, may be read
// and is fit for use. What is wrong disables the check and is told with what mends it.

import { remediationKind } from "../../api/node-health-check-contract.ts";
import type { Resource } from "../../api/meta.ts";
import { ownRemediationKinds } from "../../api/remediation.ts";
import { type CheckView, keyOfKind, type KindName, type KindState, type StepView } from "../../snapshot/check-views.ts";
import type { Context } from "../decision.ts";
import { type Disabling, pending } from "./disabling.ts";
import { unfitOpenShift } from "./openshift.ts";

/** Undefined: nothing disables it. */
export function disablingOf(check: CheckView, context: Context): Disabling | undefined {
  const { name, invalid, steps } = check;
  if (invalid !== undefined) {
    const message = `NodeHealthCheck ${name} cannot be understood: ${invalid}`;
    return { reason: "InvalidNodeHealthCheck", message, liftedBy: `mending NodeHealthCheck ${name}` };
  }
  const unfit = unfitOpenShift(context);
  if (unfit !== undefined) return unfit;
  // What is not there says nothing of itself: all of them are looked for first.
  const found = firstOf(steps, step => stepProblem(step, context));
  return found ?? firstOf(steps, step => multiplicity(step, check, context));
}

function firstOf(steps: readonly StepView[], judge: (step: StepView) => Disabling | undefined): Disabling | undefined {
  for (const step of steps) {
    const found = judge(step);
    if (found !== undefined) return found;
  }
  return undefined;
}

function stepProblem({ template }: StepView, context: Context): Disabling | undefined {
  const { checks } = context.picture;
  const made = { apiVersion: template.apiVersion, kind: remediationKind(template.kind) };
  const unserved =
    unservedByUs(made, context) ?? kindProblem(template, checks.kind(template)) ?? kindProblem(made, checks.kind(made));
  if (unserved !== undefined) return unserved;
  const where = template.namespace === undefined ? "" : ` in namespace ${template.namespace}`;
  const who = `${template.kind} ${template.name}${where}`;
  const state = checks.kind(template);
  if (state.state === "Served" && state.resource.namespaced && !template.namespace) {
    return notFound(`${who} is looked for in no namespace, and its kind has one.`, "a namespace in the reference");
  }
  const view = checks.template(template);
  if (view === undefined) return notFound(`${who} is not there.`, `creating ${who}`);
  if (view.body === undefined) return invalid(`${who} has no spec.template.`, `a spec.template in ${who}`);
  if (template.kind === "Metal3RemediationTemplate" && checks.upgrade.isOpenShift && template.namespace !== machines) {
    return invalid(`${who} must be in namespace ${machines}.`, `a template in namespace ${machines}`);
  }
  return undefined;
}

/** What nobody carries out would keep the node from whoever could help it. */
function unservedByUs(made: KindName, { settings }: Context): Disabling | undefined {
  const isOurs = ownRemediationKinds.some(own => keyOfKind(own) === keyOfKind(made));
  if (settings.remediates !== false || !isOurs) return undefined;
  return {
    reason: "RemediatorsOff",
    message: `Nobody serves ${made.kind} (${made.apiVersion}): remediators is not among --controllers of fettle run.`,
    liftedBy: "remediators among --controllers, or a template that somebody else serves",
  };
}

const machines = "openshift-machine-api";

/** Of one kind several templates only where each of them says that it can be so. */
function multiplicity(
  { template }: StepView,
  { steps }: CheckView,
  { picture: { checks } }: Context,
): Disabling | undefined {
  const same = steps.filter(
    one => one.template.kind === template.kind && one.template.apiVersion === template.apiVersion,
  );
  if (same.length < 2) return undefined;
  const unfit = same.find(one => checks.template(one.template)?.supportsMultiple !== true);
  if (unfit === undefined) return undefined;
  const key = "remediation.medik8s.io/multiple-templates-support";
  const message = `Several templates are of the kind ${template.kind}, and ${unfit.template.name} does not say ${key}.`;
  return invalid(message, `the annotation ${key}, if whoever serves the kind supports it, or another kind`);
}

function kindProblem({ apiVersion, kind }: KindName, state: KindState): Disabling | undefined {
  switch (state.state) {
    case "Served":
      return state.lacking === undefined ? undefined : forbidden(apiVersion, state.lacking, state.resource);
    case "Listing":
      return pending(`${kind} (${apiVersion}) has not been listed yet.`);
    case "NotFound":
      return notFound(`No API serves ${kind} (${apiVersion}).`, `installing whoever serves ${kind}`);
    case "Forbidden":
      return forbidden(apiVersion, state.verb, state.resource);
  }
}

function forbidden(apiVersion: string, verb: string, resource: Resource): Disabling {
  return {
    reason: "RemediationTemplateForbidden",
    message: `We may not ${verb} ${resource.plural} of ${apiVersion}. This grants it: ${grantOf(resource)}`,
    liftedBy: `a ClusterRole with ${aggregationLabel}`,
  };
}

export const aggregationLabel = 'the label rbac.ext-remediation/aggregate-to-ext-remediation: "true"';

/** As one line of YAML, to be applied as it is. */
function grantOf({ group, plural, kind }: Resource): string {
  const verbs = kind.endsWith("Template")
    ? ["get", "list", "watch"]
    : ["get", "list", "watch", "create", "patch", "update", "delete"];
  return [
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, ",
    `metadata: {name: ext-remediation-${plural}, labels: {rbac.ext-remediation/aggregate-to-ext-remediation: "true"}}, `,
    `rules: [{apiGroups: ["${group}"], resources: ["${plural}"], verbs: [${verbs.join(", ")}]}]}`,
  ].join("");
}

function notFound(message: string, liftedBy: string): Disabling {
  return { reason: "RemediationTemplateNotFound", message, liftedBy };
}

function invalid(message: string, liftedBy: string): Disabling {
  return { reason: "RemediationTemplateInvalid", message, liftedBy };
}

/** The kinds that have to be watched for the checks there are, each once: also those that only a running remediation has. */
export function wantedKinds(checks: readonly CheckView[]): readonly KindName[] {
  const wanted = new Map<string, KindName>();
  for (const check of checks) {
    const templates = check.steps.map(({ template: { apiVersion, kind } }) => ({ apiVersion, kind }));
    for (const kind of [...templates, ...remediationKinds(check)]) wanted.set(keyOfKind(kind), kind);
  }
  return [...wanted.values()];
}

/** Those that the check makes now, and those that it made before it was edited, as its status says. */
function remediationKinds({ steps, toldKinds }: CheckView): readonly KindName[] {
  const made = steps.map(({ template: { apiVersion, kind } }) => ({ apiVersion, kind: remediationKind(kind) }));
  return [...made, ...toldKinds];
}

/**
 * Whether all of its remediations are in the picture: until then nothing is concluded from one that is missing. Pending:
 * that will be known soon; Hidden: not before somebody grants it.
 */
export function sightOf(check: CheckView, { picture: { checks } }: Pick<Context, "picture">): Sight {
  const states = remediationKinds(check).map(kind => checks.kind(kind).state);
  if (states.includes("Forbidden")) return "Hidden";
  return states.includes("Listing") ? "Pending" : "Whole";
}

export type Sight = "Whole" | "Pending" | "Hidden";
