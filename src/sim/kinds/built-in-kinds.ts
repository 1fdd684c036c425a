// Every built-in kind that the embedded API serves, in the order of discovery.

import type { ServedKind } from "../kind.ts";
import { csiNode, volumeAttachment } from "./attachment.ts";
import { configMap, secret, serviceAccount } from "./configuration.ts";
import { customResourceDefinition } from "./custom-resource-definition.ts";
import { daemonSet } from "./daemon-set.ts";
import { deployment } from "./deployment.ts";
import { podDisruptionBudget } from "./disruption-budget.ts";
import { coreEvent, event } from "./event.ts";
import { job } from "./job.ts";
import { lease } from "./lease.ts";
import { namespace } from "./namespace.ts";
import { node } from "./node.ts";
import { persistentVolume } from "./persistent-volume.ts";
import { persistentVolumeClaim } from "./persistent-volume-claim.ts";
import { pod } from "./pod.ts";
import { priorityClass } from "./priority-class.ts";
import { replicaSet } from "./replica-set.ts";
import { statefulSet } from "./stateful-set.ts";
import { storageClass } from "./storage-class.ts";

export const builtInKinds: readonly ServedKind[] = [
  configMap,
  coreEvent,
  namespace,
  node,
  persistentVolumeClaim,
  persistentVolume,
  pod,
  secret,
  serviceAccount,
  event,
  daemonSet,
  deployment,
  replicaSet,
  statefulSet,
  job,
  lease,
  podDisruptionBudget,
  priorityClass,
  csiNode,
  storageClass,
  volumeAttachment,
  customResourceDefinition,
];
