// A claim: the template's words, immutable once written.

import { at, change, good, type Table } from "./entry.ts";
import { least, whole } from "./manifests.ts";
import { nodeTemplate } from "./node-template.ts";
import { conditions, resources } from "./shapes.ts";
import * as words from "./words.ts";

const claim = least.nodeClaim();
const full = whole("node-claim");

const spec: Table = {
  title: "spec of a claim",
  entries: [
    ...nodeTemplate(claim, "spec", { mayNameItsPool: true }),
    ...at(claim, "spec.expireAfter", words.durationOrNever),
    ...at(claim, "spec.resources", [good("without requests", {})]),
    ...at(claim, "spec.resources.requests", resources),
  ],
};

const status: Table = {
  title: "status of a claim",
  entries: [
    ...at(full, "status.nodeName", words.text()),
    ...at(full, "status.providerID", words.text({ max: 1024 })),
    ...at(full, "status.imageID", words.text({ max: 1024 })),
    ...at(full, "status.capacity", resources),
    ...at(full, "status.allocatable", resources),
    ...at(full, "status.firstReadyTime", words.time),
    ...at(full, "status.lastPodEventTime", words.time),
    ...at(full, "status.conditions", conditions),
  ],
};

const changes: Table = {
  title: "changes to a claim",
  entries: [
    change("a label", [claim, { ...claim, metadata: { ...claim.metadata, labels: { team: "a" } } }]),
    change("a default written out", [claim, least.nodeClaim({ readinessTTL: "15m", expireAfter: "720h" })]),
    change("another readiness time", [claim, least.nodeClaim({ readinessTTL: "16m" })], "spec"),
    change("a taint more", [claim, least.nodeClaim({ taints: [{ key: "a", effect: "NoSchedule" }] })], "spec"),
    change("from v1 to v1beta1", [claim, { ...claim, apiVersion: "karpenter.sh/v1beta1" }]),
  ],
};

export const nodeClaim: readonly Table[] = [spec, status, changes];
