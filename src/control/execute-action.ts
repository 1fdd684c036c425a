// Commands on the ledger's entries. Opening one is what comes before anything destructive; the start of one is in
// execute-start.ts.

import type { KubeObject } from "../api/meta.ts";
import { apiVersionOf } from "../api/meta.ts";
import { type NodeAction, type NodeActionStatus, nodeActions } from "../api/node-action.ts";
import type { ActionProgress, Command, Outcome, Target } from "../decide/decision.ts";
import { stampedSpec, statusAfter } from "./action-status.ts";
import { alreadySo, assertSame, done, type Execution, sawDeletion, sawGone } from "./execution.ts";
import { isAlreadyExists, isNotFound, Stale } from "./outcome.ts";
import { type Bound, keyOf, patchBound, replacing } from "./patch.ts";

type Of<K extends Command["kind"]> = Extract<Command, { kind: K }>;
export type LiveAction = NodeAction & KubeObject;

const { resource } = nodeActions;

/** The name says which action on which node it is: one that is there already is this one. */
export async function openAction(command: Of<"open-action">, execution: Execution): Promise<Outcome> {
  const { api, clock } = execution;
  const { name, phase } = command;
  const spec = stampedSpec(command.spec, clock.now());
  const manifest = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name }, spec };
  let action: LiveAction;
  let outcome = done;
  try {
    action = await api.create<LiveAction>(resource, {}, manifest);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    action = await api.get<LiveAction>(resource, { name });
    outcome = alreadySo;
  }
  execution.picture.answered("action", action);
  if (action.spec.node.uid !== spec.node.uid) throw new Stale(`NodeAction ${name} is about another node.`);
  const { metadata, status = {} } = action;
  // A status cannot be written with the object itself. Without one it is pending.
  if (phase === "DryRun" && status.phase === undefined)
    await writeProgress({ ...metadata, status }, { phase }, execution);
  return outcome;
}

export async function updateAction(command: Of<"update-action">, execution: Execution): Promise<Outcome> {
  const { api, picture, clock } = execution;
  const { action, resourceVersion, spec, progress } = command;
  const view = picture.action(action.name);
  if (view?.uid !== action.uid || view.resourceVersion !== resourceVersion) {
    throw new Stale(`NodeAction ${action.name} has changed.`);
  }
  let bound: Bound = { ...action, resourceVersion };
  if (spec !== undefined) {
    const body = { spec: stampedSpec(spec, clock.now()) };
    const raw = await patchBound<LiveAction>(api, resource, { bound, body });
    execution.picture.answered("action", raw);
    bound = { ...action, resourceVersion: raw.metadata.resourceVersion };
  }
  if (progress !== undefined) await writeProgress({ ...bound, status: view.status }, progress, execution);
  return done;
}

/** As it was seen or read. */
type Entry = Bound & { readonly status?: NodeActionStatus };

/** Over the version that was seen, read or written last. */
export async function writeProgress(entry: Entry, progress: ActionProgress, execution: Execution): Promise<void> {
  const { api, clock, picture } = execution;
  const { status: before = {}, name, uid, resourceVersion } = entry;
  const status = replacing(before, statusAfter(before, progress, clock.now()));
  const bound: Bound = { name, uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  picture.answered("action", await patchBound(api, resource, { bound, body: { status }, subresource: "status" }));
}

export async function readAction(target: Target, execution: Execution): Promise<LiveAction> {
  try {
    const action = assertSame(await execution.api.get<LiveAction>(resource, keyOf(target)), target);
    execution.picture.answered("action", action);
    return action;
  } catch (error) {
    if (isNotFound(error)) sawGone(execution.picture, "action", target);
    throw error;
  }
}

export async function deleteAction({ action }: Of<"delete-action">, execution: Execution): Promise<Outcome> {
  try {
    const answer = await execution.api.delete(resource, keyOf(action), { preconditions: { uid: action.uid } });
    sawDeletion(execution.picture, { kind: "action", target: action, answer });
    return done;
  } catch (error) {
    if (isNotFound(error)) sawGone(execution.picture, "action", action);
    throw error;
  }
}
