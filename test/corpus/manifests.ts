// Where the corpus gets its objects from: the YAML files of this folder, and the least that each kind needs.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "../../src/api/meta.ts";
import { parseManifests } from "../../src/cli/manifest-text.ts";

type Folder = "seeds" | "samples" | "whole";

/** A document of a file, with its text: the server is sent the text, so that it reads the YAML itself. */
export type Document = { file: string; yaml: string; manifest: Manifest };

export function documents(folder: Folder): Document[] {
  const path = join(import.meta.dirname, folder);
  return readdirSync(path)
    .filter(file => file.endsWith(".yaml"))
    .sort()
    .flatMap(file => documentsOf(file, readFileSync(join(path, file), "utf8")));
}

function documentsOf(file: string, text: string): Document[] {
  return text.split(/^---\n/m).map(yaml => ({ file, yaml, manifest: read(yaml) }));
}

/** The one object of a YAML text, as kubectl would read it. */
export function read(yaml: string): Manifest {
  const [object] = parseManifests("corpus", new TextEncoder().encode(yaml));
  if (object === undefined || "problem" in object) throw new Error(`cannot be read: ${object?.problem}\n${yaml}`);
  return object.value as Manifest;
}

const wholeByFile = new Map(documents("whole").map(({ file, manifest }) => [file, manifest]));

/** An object with every field set that can stand beside the others; "-other-names" has those that cannot. */
export function whole(file: string): Manifest {
  const manifest = wholeByFile.get(`${file}.yaml`);
  if (manifest === undefined) throw new Error(`there is no whole/${file}.yaml`);
  return manifest;
}

const object = (apiVersion: string, kind: string, spec: unknown): Manifest => ({
  apiVersion,
  kind,
  metadata: { name: "least" },
  spec,
});

const fettle = "fettle.dev/v1alpha1";

/** The least of each kind that a server takes. */
export const least = {
  nodePool: (spec: unknown = {}) => object("karpenter.sh/v1", "NodePool", spec),
  nodeClaim: (spec: unknown = {}) => object("karpenter.sh/v1", "NodeClaim", spec),
  nodeHealthCheck: (spec: object = {}) =>
    object("remediation.medik8s.io/v1alpha1", "NodeHealthCheck", {
      remediationTemplate: { apiVersion: fettle, kind: "RebootRemediationTemplate", name: "default" },
      ...spec,
    }),
  nodeAction: (spec: object = {}) =>
    object(fettle, "NodeAction", {
      node: { name: "worker-3", uid: "7a11" },
      action: "Repair",
      method: "Terminate",
      askedBy: { kind: "NodePool", name: "default" },
      message: "Ready has been False for 30m",
      evidence: [{ kind: "Condition", seenAt: "2026-01-01T00:00:00Z" }],
      decidedAt: "2026-01-01T00:00:00Z",
      epoch: 1,
      ...spec,
    }),
  safetyPolicy: (spec: unknown = {}): Manifest => ({
    ...object(fettle, "SafetyPolicy", spec),
    metadata: { name: "default" },
  }),
  simulatedNodeClass: (spec: unknown = {}) => object(fettle, "SimulatedNodeClass", spec),
  replaceRemediation: (spec: unknown = {}) => object(fettle, "ReplaceRemediation", spec),
  replaceRemediationTemplate: (spec: unknown = { template: {} }) => object(fettle, "ReplaceRemediationTemplate", spec),
  rebootRemediation: (spec: unknown = {}) => object(fettle, "RebootRemediation", spec),
  rebootRemediationTemplate: (spec: unknown = { template: {} }) => object(fettle, "RebootRemediationTemplate", spec),
};
