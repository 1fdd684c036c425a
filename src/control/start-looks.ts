// The node of an action that starts, read live after its entry was stored. One start asks for its own node. Where many
// stand in line, the nodes of the next ones are read together, by their hostname label: the server has a good deal to do for
// each request and little for each node.

import { hostnameKey } from "../api/node.ts";
import { isOlder } from "../api/resource-version.ts";
import type { Millis } from "../api/time.ts";
import type { Command, Target } from "../decide/decision.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import { projectNode } from "../snapshot/project-node.ts";
import type { ActionView, NodeView } from "../snapshot/views.ts";
import type { GuardedApi } from "./guard.ts";
import { isNotFound } from "./outcome.ts";
import type { Clock } from "./ports.ts";
import { nodes } from "./resources.ts";

/**
 * So many are looked at together, and this far ahead: they are there when the first of them begins, though a server takes up
 * to a tenth of a second to be sure of a list, and the last begins before they are old. A label has 63 characters at most, so
 * their names fit into the 8 KB of an address that everybody takes.
 */
const togetherMin = 32;
export const aheadMax = 96;
/** What was read longer ago says nothing of now. Far longer than those wait that are read ahead. */
const lookMaxMs: Millis = 1_000;

type Look = { readonly at: Millis; readonly nodes: Promise<ReadonlyMap<string, NodeView>> };

type StartLooksOptions = {
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly picture: Pick<ClusterPicture, "action" | "node">;
  /** What will begin next: its entries are stored. */
  readonly next: () => readonly Command[];
};

export class StartLooks {
  readonly #options: StartLooksOptions;
  /** By the uid of the entry, so that none is older than that. */
  #lookByAction = new Map<string, Look>();

  constructor(options: StartLooksOptions) {
    this.#options = options;
  }

  /** Undefined: there is no node of this name. */
  async node({ uid, spec }: Pick<ActionView, "uid" | "spec">, api: GuardedApi): Promise<NodeView | undefined> {
    this.#lookAhead(api);
    const { name } = spec.node;
    const look = this.#lookByAction.get(uid);
    this.#lookByAction.delete(uid);
    const node = look && (await look.nodes).get(name);
    if (look && node && this.#stillCounts(look, node)) return node;
    try {
      return projectNode(await api.get(nodes, { name }), undefined);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return undefined;
    }
  }

  /** Not if it has grown old, nor if the watch has been quicker: then something has happened to the node since. */
  #stillCounts({ at }: Look, { name, resourceVersion }: NodeView): boolean {
    const { clock, picture } = this.#options;
    const shown = picture.node(name)?.resourceVersion;
    return clock.monotonic() - at <= lookMaxMs && (shown === undefined || !isOlder(resourceVersion, shown));
  }

  #lookAhead(api: GuardedApi): void {
    const wanted = this.#options.next().flatMap(command => this.#wanted(command));
    if (wanted.length < togetherMin) return;
    const look: Look = { at: this.#options.clock.monotonic(), nodes: this.#inTime(readTogether(wanted, api)) };
    this.#lookByAction = new Map([...this.#lookByAction].filter(([, { at }]) => look.at - at <= lookMaxMs));
    for (const { action } of wanted) this.#lookByAction.set(action.uid, look);
  }

  /** One request that hangs would stop all who wait for it; once it is old it is of use to nobody. */
  async #inTime(nodes: Promise<ReadonlyMap<string, NodeView>>): Promise<ReadonlyMap<string, NodeView>> {
    let cancel = (): void => {};
    const late = new Promise<ReadonlyMap<string, NodeView>>(resolve => {
      cancel = this.#options.clock.after(lookMaxMs, () => resolve(new Map()));
    });
    const found = await Promise.race([nodes, late]);
    cancel();
    return found;
  }

  #wanted(command: Command): Wanted[] {
    if (command.kind !== "create-remediation" && command.kind !== "start-action") return [];
    const { action } = command;
    const { picture } = this.#options;
    const entry = this.#lookByAction.has(action.uid) ? undefined : picture.action(action.name);
    const node = entry && picture.node(entry.spec.node.name);
    return node?.labels[hostnameKey] ? [{ action, node }] : [];
  }
}

type Wanted = { readonly action: Target; readonly node: NodeView };

/** By name. Whoever is not among them, or all if it fails, is read alone: that is the start's own affair. */
async function readTogether(wanted: readonly Wanted[], api: GuardedApi): Promise<ReadonlyMap<string, NodeView>> {
  const hostnames = wanted.map(({ node }) => node.labels[hostnameKey]);
  try {
    const { items } = await api.list(nodes, { labelSelector: `${hostnameKey} in (${hostnames.join(",")})` });
    return new Map(items.map(node => [node.metadata.name, projectNode(node, undefined)]));
  } catch {
    return new Map();
  }
}
