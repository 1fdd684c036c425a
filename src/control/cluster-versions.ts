// Whether an OpenShift cluster is being upgraded, as its ClusterVersions say. Where the kind is served and cannot be
// read, that is said: nobody takes an unknown for a no.

import type { KubeObject } from "../api/meta.ts";
import { isEqual } from "../api/schema/correlate.ts";
import type { UpgradeView } from "../snapshot/check-views.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import { noUpgrade, upgradeOf } from "../snapshot/project-check.ts";
import type { Definitions } from "./definitions.ts";
import type { Fed, Feed } from "./ports.ts";
import { isSilent } from "./staleness.ts";

const clusterVersions = { apiVersion: "config.openshift.io/v1", kind: "ClusterVersion" };

export class ClusterVersions {
  readonly #feed: Feed;
  readonly #changed: () => void;
  readonly #byName = new Map<string, KubeObject>();
  #fed: Fed | undefined;
  #told: UpgradeView = noUpgrade;

  constructor(feed: Feed, changed: () => void) {
    this.#feed = feed;
    this.#changed = changed;
  }

  look(definitions: Definitions, picture: ClusterPicture): void {
    const resource = definitions.resourceOf(clusterVersions);
    if (resource === undefined) this.stop();
    else this.#fed ??= this.#start(resource);
    const view = this.#view();
    if (isEqual(view, this.#told)) return;
    this.#told = view;
    picture.checks.setUpgrade(view);
  }

  stop(): void {
    this.#fed?.stop();
    this.#fed = undefined;
    this.#byName.clear();
  }

  #view(): UpgradeView {
    if (this.#fed === undefined) return noUpgrade;
    const view = upgradeOf([...this.#byName.values()]);
    if (this.#fed.synced && !isSilent(this.#fed)) return view;
    const why = this.#fed.lastError?.message ?? "they have not been listed yet.";
    return { ...view, failure: `ClusterVersions cannot be read: ${why}` };
  }

  #start(resource: Parameters<Feed>[0]["resource"]): Fed {
    const put = (raw: KubeObject) => {
      this.#byName.set(raw.metadata.name, raw);
      this.#changed();
    };
    return this.#feed<KubeObject>({
      resource,
      isOptional: true,
      project: raw => raw,
      handlers: {
        added: put,
        updated: put,
        deleted: raw => {
          this.#byName.delete(raw.metadata.name);
          this.#changed();
        },
        synced: this.#changed,
      },
    });
  }
}
