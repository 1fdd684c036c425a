// The lease on a node by which those who remediate keep out of one another's way: taken, renewed or taken over only over
// the version that was seen, and given back only if it is still that one.

import { apiVersionOf, type Manifest } from "../api/meta.ts";
import { formatMicroTime } from "../api/time.ts";
import type { Command, LeaseTaking, Outcome } from "../decide/decision.ts";
import { nodeOfLease } from "../api/node-health-check-contract.ts";
import { done, type Execution } from "./execution.ts";
import { isAlreadyExists, isNotFound } from "./outcome.ts";
import { keyOf, patchBound } from "./patch.ts";
import { leases, namespaces } from "./resources.ts";

type Of<K extends Command["kind"]> = Extract<Command, { kind: K }>;

export async function takeNodeLease(taking: LeaseTaking, execution: Execution): Promise<Outcome> {
  const { over } = taking;
  return over === undefined ? create(taking, execution) : renew({ ...taking, over }, execution);
}

async function create({ lease, node, ...taking }: LeaseTaking, execution: Execution): Promise<Outcome> {
  const { api, picture, clock } = execution;
  const now = formatMicroTime(clock.now());
  const { holder: holderIdentity, durationSeconds: leaseDurationSeconds } = taking;
  const manifest: Manifest = {
    apiVersion: apiVersionOf(leases),
    kind: leases.kind,
    metadata: { ...lease, ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node.name, uid: node.uid }] },
    spec: { holderIdentity, leaseDurationSeconds, acquireTime: now, renewTime: now, leaseTransitions: 0 },
  };
  const { namespace } = lease;
  try {
    const made = await api.create(leases, { namespace }, manifest).catch(async (error: unknown) => {
      if (!isNotFound(error)) throw error;
      await createNamespace(namespace, execution);
      return api.create(leases, { namespace }, manifest);
    });
    picture.checkFeeds.leases.answered(made);
    return done;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    // Whoever was quicker: the rule judges it.
    picture.checkFeeds.leases.answered(await api.get(leases, lease));
    return { result: "stale" };
  }
}

async function createNamespace(name: string, { api }: Execution): Promise<void> {
  const { kind } = namespaces;
  await api.create(namespaces, {}, { apiVersion: "v1", kind, metadata: { name } }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

type Renewal = LeaseTaking & { over: NonNullable<LeaseTaking["over"]> };

async function renew({ lease, over, holder, durationSeconds }: Renewal, execution: Execution): Promise<Outcome> {
  const { api, picture, clock } = execution;
  const nodeName = nodeOfLease(lease.name) ?? "";
  const now = formatMicroTime(clock.now());
  const isTakenOver = picture.checks.lease(nodeName)?.holder !== holder;
  const spec = {
    holderIdentity: holder,
    leaseDurationSeconds: durationSeconds,
    renewTime: now,
    ...(isTakenOver ? { acquireTime: now } : {}),
  };
  try {
    const bound = { ...lease, ...over };
    picture.checkFeeds.leases.answered(await patchBound(api, leases, { bound, body: { spec } }));
    return done;
  } catch (error) {
    if (isNotFound(error)) picture.checkFeeds.leases.wroteGone({ name: nodeName, uid: over.uid });
    throw error;
  }
}

export async function releaseNodeLease(
  { lease, resourceVersion }: Of<"release-node-lease">,
  execution: Execution,
): Promise<Outcome> {
  const { api, picture } = execution;
  const gone = () => picture.checkFeeds.leases.wroteGone({ name: nodeOfLease(lease.name) ?? "", uid: lease.uid });
  try {
    await api.delete(leases, keyOf(lease), { preconditions: { uid: lease.uid, resourceVersion } });
    gone();
    return done;
  } catch (error) {
    if (isNotFound(error)) gone();
    throw error;
  }
}
