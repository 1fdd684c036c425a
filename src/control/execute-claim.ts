// Commands on claims: create, update, delete, and the launch of their instance.

import type { KubeObject } from "../api/meta.ts";
import { type NodeClaim, nodeClaims } from "../api/node-claim.ts";
import { nodePools } from "../api/node-pool.ts";
import { type Millis, secondMs } from "../api/time.ts";
import { terminationFinalizer } from "../api/well-known.ts";
import type { Command, Outcome, Target } from "../decide/decision.ts";
import { afterLaunch } from "../decide/launch.ts";
import { servedClass } from "../decide/node-class.ts";
import { projectClaim } from "../snapshot/project-claim.ts";
import type { ClaimView } from "../snapshot/views.ts";
import { alreadySo, assertSame, done, type Execution, sawDeletion, sawGone } from "./execution.ts";
import { isAlreadyExists, isNotFound, outcomeOf, outcomeOfProvider, Stale } from "./outcome.ts";
import { assertNodeless } from "./live-nodes.ts";
import { keyOf, metadataBody, patchBound, statusBody } from "./patch.ts";

type Of<K extends Command["kind"]> = Extract<Command, { kind: K }>;
type Changes = Pick<Of<"update-claim">, "metadata" | "status">;

const { resource } = nodeClaims;
/** Claims that are made one after the other look at their pool once: the watch tells of its end long before that is over. */
const poolLookMs: Millis = 10 * secondMs;
const claimLookMs: Millis = 10 * secondMs;

/** The pool is read live first: garbage collection takes the claims of one that is gone, and each would be made anew. */
export async function createClaim({ manifest }: Of<"create-claim">, execution: Execution): Promise<Outcome> {
  const { api } = execution;
  const owner = manifest.metadata.ownerReferences?.find(({ kind }) => kind === nodePools.resource.kind);
  if (owner !== undefined) await assertStays(owner, execution);
  try {
    const made = await api.create(resource, {}, manifest);
    execution.picture.answered("claim", made);
    void execution.recentReads.share(made.metadata.uid, Promise.resolve(made));
    return done;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    // By us, in an answer that did not come, or by somebody: then a rule that sees it picks another name.
    execution.picture.answered("claim", await api.get(resource, { name: manifest.metadata.name }));
    return alreadySo;
  }
}

async function assertStays({ name, uid }: Target, { api, picture, recentReads }: Execution): Promise<void> {
  try {
    const look = recentReads.recent(uid, poolLookMs) ?? recentReads.share(uid, api.get(nodePools.resource, { name }));
    const pool = assertSame(await look, { name, uid });
    if (pool.metadata.deletionTimestamp === undefined) return;
    recentReads.forget(uid);
    picture.answered("pool", pool);
  } catch (error) {
    recentReads.forget(uid);
    if (!isNotFound(error)) throw error;
    sawGone(picture, "pool", { name, uid });
  }
  throw new Stale(`NodePool ${name} is going or gone.`);
}

export async function updateClaim(command: Of<"update-claim">, execution: Execution): Promise<Outcome> {
  const view = execution.picture.claim(command.claim.name);
  if (view?.uid !== command.claim.uid || view.resourceVersion !== command.resourceVersion) {
    throw new Stale(`NodeClaim ${command.claim.name} has changed.`);
  }
  await writeClaim(view, command, execution);
  return done;
}

/**
 * Metadata first, then status: each only over the version that the one before has left. What a launch has found goes along
 * with the first status, whatever it is about: who comes after us knows the instance by that.
 */
async function writeClaim(claim: ClaimView, { metadata, status }: Changes, execution: Execution): Promise<void> {
  const { api, clock } = execution;
  let bound = { name: claim.name, uid: claim.uid, resourceVersion: claim.resourceVersion };
  const wrote = (raw: KubeObject) => {
    execution.picture.answered("claim", raw);
    bound = { ...bound, resourceVersion: raw.metadata.resourceVersion };
  };
  const change = metadata && metadataBody(metadata, claim.finalizers);
  if (change !== undefined) wrote(await patchBound(api, resource, { bound, body: { metadata: change } }));
  if (status === undefined) return;
  const body = { status: { ...claim.unwritten?.status, ...statusBody(claim.status, status, clock.now()) } };
  wrote(await patchBound(api, resource, { bound, body, subresource: "status" }));
}

/** Without an action a claim goes only as long as it has no node: that is read live first. */
export async function deleteClaim(command: Of<"delete-claim">, execution: Execution): Promise<Outcome> {
  const { claim, resourceVersion } = command;
  const view = execution.picture.claim(claim.name);
  if (view?.uid === claim.uid && view.providerID !== undefined) await assertNodeless(view, execution);
  try {
    const answer = await execution.api.delete(resource, keyOf(claim), {
      preconditions: { uid: claim.uid, resourceVersion },
    });
    sawDeletion(execution.picture, { kind: "claim", target: claim, answer });
    return done;
  } catch (error) {
    if (isNotFound(error)) sawGone(execution.picture, "claim", claim);
    throw error;
  }
}

// As we made it, if nobody has changed it since: with our finalizer on it, it does not go before we have looked again.
async function madeOrLive(claim: Target, { api, picture, recentReads }: Execution): Promise<NodeClaim & KubeObject> {
  const made = await recentReads.recent(claim.uid, claimLookMs);
  // A claim is launched once: the next try reads it.
  recentReads.forget(claim.uid);
  const view = picture.claim(claim.name);
  const isAsMade = made !== undefined && view?.resourceVersion === made.metadata.resourceVersion;
  if (isAsMade && view.finalizers.includes(terminationFinalizer)) return made as NodeClaim & KubeObject;
  const raw = await api.get<NodeClaim & KubeObject>(resource, keyOf(claim));
  picture.answered("claim", raw);
  return raw;
}

/**
 * The claim is read live first, unless we have only just made it: an instance for a claim that is gone would be nobody's.
 * If the answer of the provider is lost, or the write of it, the next launch finds the same instance by the claim's uid.
 */
export async function launchInstance({ claim }: Of<"launch-instance">, execution: Execution): Promise<Outcome> {
  const { provider, picture, settings, clock } = execution;
  const known = picture.claim(claim.name);
  if (known?.uid === claim.uid && known.unwritten !== undefined) return alreadySo;
  const raw = assertSame(await madeOrLive(claim, execution), claim);
  if (raw.metadata.deletionTimestamp !== undefined) throw new Stale(`NodeClaim ${claim.name} is being deleted.`);
  const view = projectClaim(raw, undefined);
  if (view.providerID !== undefined) return alreadySo;
  const nodeClass = servedClass(view.spec.nodeClassRef, picture.provider);
  if (nodeClass === undefined) throw new Stale(`No provider serves the class of NodeClaim ${claim.name}.`);

  const answer = await provider
    .create({ claim: raw, nodeClass, cluster: settings.cluster })
    .catch((error: unknown) => ({ error: "Unknown" as const, message: messageOf(error) }));
  const { metadata, status } = afterLaunch(view, answer);
  if ("error" in answer) {
    await writeClaim(view, { status }, execution);
    return outcomeOfProvider(answer);
  }
  await writeClaim(view, metadata ? { metadata } : {}, execution);
  // Its status is the lifecycle's to write: with that of its node, if that joins soon.
  const now = clock.now();
  picture.expect({ kind: "launched", claim, status: statusBody({}, status, now) }, now);
  return done;
}

function messageOf(error: unknown): string {
  const outcome = outcomeOf(error);
  return "message" in outcome ? outcome.message : String(error);
}
