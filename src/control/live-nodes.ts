// Whether a claim, or an instance without one, still has no node: read live before it goes for having none. A node that joins changes
// nothing of its claim, so no version tells, and its watch may be late. Who joins after the read cannot be told.

import type { KubeObject } from "../api/meta.ts";
import { registeredKey } from "../api/well-known.ts";
import { isTrue } from "../decide/conditions.ts";
import { projectNode } from "../snapshot/project-node.ts";
import type { ClaimView } from "../snapshot/views.ts";
import type { Execution } from "./execution.ts";
import { isNotFound, Stale } from "./outcome.ts";
import type { List } from "./ports.ts";
import { nodes } from "./resources.ts";

type LiveNode = KubeObject & { spec?: { providerID?: string } };

const pageItemsMax = 500;

/** One that is found is in the picture from then on: the rules look again. */
export async function assertNodeless({ name, providerID, status }: ClaimView, execution: Execution): Promise<void> {
  if (providerID === undefined) return;
  const found = [...(await nodeNamed(status.nodeName, execution)), ...(await unregisteredNodes(execution))];
  const own = found.filter(({ spec }) => spec?.providerID === providerID);
  for (const node of own) execution.picture.answered("node", node);
  const [first] = own;
  if (first !== undefined) throw new Stale(`Node ${first.metadata.name} has joined for NodeClaim ${name}.`);
}

/** A kubelet that was started again has only just come back as a node: by no claim, and perhaps not by the watch yet. */
export async function assertUnused(providerID: string, execution: Execution): Promise<void> {
  const own = (await unregisteredNodes(execution)).filter(({ spec }) => spec?.providerID === providerID);
  for (const node of own) execution.picture.answered("node", node);
  const ready = own.find(node => isTrue(projectNode(node, undefined).conditions, "Ready"));
  if (ready !== undefined) throw new Stale(`Node ${ready.metadata.name} runs on instance ${providerID}.`);
}

/** One that had vanished comes back under its name, and perhaps with all that was on it. */
async function nodeNamed(name: string | undefined, { api }: Execution): Promise<LiveNode[]> {
  if (name === undefined) return [];
  try {
    return [await api.get<LiveNode>(nodes, { name })];
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return [];
  }
}

/** Nobody can ask for nodes by their providerID; those that no claim has taken are few. */
async function unregisteredNodes({ api }: Execution): Promise<LiveNode[]> {
  const found: LiveNode[] = [];
  for (let next: string | undefined = ""; next !== undefined; ) {
    const page = {
      labelSelector: `${registeredKey}!=true`,
      limit: pageItemsMax,
      ...(next !== "" && { continue: next }),
    };
    const list: List<LiveNode> = await api.list<LiveNode>(nodes, page);
    found.push(...list.items);
    next = list.continue;
  }
  return found;
}
