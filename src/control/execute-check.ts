// Commands on health checks: what they are told to say, and the one that a cluster without any gets.

import type { KubeObject } from "../api/meta.ts";
import { apiVersionOf, type Manifest, type Resource } from "../api/meta.ts";
import { nodeHealthChecks } from "../api/node-health-check.ts";
import { replaceRemediationTemplates } from "../api/remediation.ts";
import { formatTime } from "../api/time.ts";
import type { Command, Outcome } from "../decide/decision.ts";
import { alreadySo, done, type Execution, overLive } from "./execution.ts";
import { isAlreadyExists, isNotFound } from "./outcome.ts";
import { patchBound, statusBody } from "./patch.ts";
import { leases } from "./resources.ts";

type Of<K extends Command["kind"]> = Extract<Command, { kind: K }>;

const { resource } = nodeHealthChecks;

export async function updateCheck({ check, status }: Of<"update-check">, execution: Execution): Promise<Outcome> {
  const { api, picture, clock } = execution;
  const { checks } = picture.checkFeeds;
  try {
    return await overLive(execution, { resource, target: check }, async live => {
      const told = statusBody(live.status ?? {}, status, clock.now());
      // Of medik8s' older versions; unhealthyNodes says it now.
      const body = { status: { ...told, inFlightRemediations: null, lastUpdateTime: formatTime(clock.now()) } };
      checks.answered(await patchBound(api, resource, { bound: live.metadata, body, subresource: "status" }));
      return done;
    });
  } catch (error) {
    if (isNotFound(error)) checks.wroteGone(check);
    throw error;
  }
}

/** The template first: a check without its template would say that it is disabled. Then the mark, last of all. */
export async function createDefaultCheck(
  { check, template }: Of<"create-default-check">,
  execution: Execution,
): Promise<Outcome> {
  if (template !== undefined) await createOnce(replaceRemediationTemplates.resource, template, execution);
  const made = await createOnce(resource, check, execution);
  if (made !== undefined) execution.picture.checkFeeds.checks.answered(made);
  return noteDefaultCheck(execution);
}

async function createOnce(kind: Resource, manifest: Manifest, { api }: Execution): Promise<KubeObject | undefined> {
  return api.create(kind, {}, manifest).catch((error: unknown) => {
    if (isAlreadyExists(error)) return undefined;
    throw error;
  });
}

/** It outlives the check: a Lease that nobody holds. */
export async function noteDefaultCheck({ api, picture, settings }: Execution): Promise<Outcome> {
  const mark = settings.defaultCheck?.mark;
  if (mark === undefined) return alreadySo;
  const { name, namespace } = mark;
  const manifest = { apiVersion: apiVersionOf(leases), kind: leases.kind, metadata: { name }, spec: {} };
  await api.create(leases, { namespace }, manifest).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  picture.checks.setHadDefault(true);
  return done;
}
