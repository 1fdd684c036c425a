// How health checks and what they work with come into the picture, by watches and by answers to our own writes: checks,
// leases on nodes, and remediations and templates of whatever kinds the checks name.

import type { KubeObject } from "../api/meta.ts";
import type { CheckIndex } from "./check-index.ts";
import {
  type CheckView,
  keyOfKind,
  type KindName,
  type NodeLeaseView,
  type RemediationView,
  type TemplateView,
} from "./check-views.ts";
import { KeptKind } from "./kept-kind.ts";
import { projectCheck, projectNodeLease, projectRemediation, projectTemplate } from "./project-check.ts";

type KeptObjects = KeptKind<RemediationView> | KeptKind<TemplateView>;

export class CheckFeeds {
  readonly checks: KeptKind<CheckView>;
  /** Told apart by the name of their node. */
  readonly leases: KeptKind<NodeLeaseView>;
  readonly #index: CheckIndex;
  readonly #kinds = new Map<string, KeptObjects>();

  constructor(index: CheckIndex) {
    this.#index = index;
    this.checks = new KeptKind(projectCheck, change => index.replaceCheck(change));
    this.leases = new KeptKind(
      (raw, previous) => projectNodeLease(raw, previous) ?? ofNoNode(raw),
      ({ before, after }) => {
        const nodeName = (after ?? before)?.nodeName ?? "";
        if (nodeName !== "") index.replaceLease(nodeName, after);
      },
    );
  }

  /** A kind whose name ends in Template is one of templates. */
  kind(name: KindName): KeptObjects {
    const key = keyOfKind(name);
    const kept = this.#kinds.get(key) ?? this.#made(name);
    this.#kinds.set(key, kept);
    return kept;
  }

  /** Forgets all of it: nobody uses it any more. */
  drop(name: KindName): void {
    this.#kinds.get(keyOfKind(name))?.drop();
    this.#kinds.delete(keyOfKind(name));
    this.#index.setKind(name, { state: "Listing" });
  }

  #made({ kind }: KindName): KeptObjects {
    const index = this.#index;
    return kind.endsWith("Template")
      ? new KeptKind(projectTemplate, change => index.replaceTemplate(change))
      : new KeptKind(projectRemediation, change => index.replaceRemediation(change));
  }
}

/** Something else that lies in the same namespace. */
function ofNoNode({ metadata: { uid, resourceVersion } }: KubeObject): NodeLeaseView {
  return { nodeName: "", uid, resourceVersion, holder: "", durationMs: 0, renewedAt: 0 };
}
