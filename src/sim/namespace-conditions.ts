// What a namespace that is being deleted says of its content, in the words of kube-controller-manager (1.36). Pure.

export type NamespaceCondition = {
  type: string;
  status: "True" | "False";
  lastTransitionTime: string;
  reason: string;
  message: string;
};

/** How many objects are left, by resource ("pods", "deployments.apps") and by the finalizer that holds them. */
export type Remaining = {
  countByResource: ReadonlyMap<string, number>;
  countByFinalizer: ReadonlyMap<string, number>;
};

type Finding = Pick<NamespaceCondition, "status" | "reason" | "message">;

const fine = (reason: string, message: string): Finding => ({ status: "False", reason, message });

/** The conditions as they are now; one that says what it said before keeps its time. */
export function namespaceConditions(
  before: readonly NamespaceCondition[],
  remaining: Remaining,
  now: string,
): NamespaceCondition[] {
  const findings: Readonly<Record<string, Finding>> = {
    NamespaceDeletionDiscoveryFailure: fine("ResourcesDiscovered", "All resources successfully discovered"),
    NamespaceDeletionGroupVersionParsingFailure: fine(
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    NamespaceDeletionContentFailure: fine(
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ),
    NamespaceContentRemaining: contentFinding(remaining),
    NamespaceFinalizersRemaining: finalizerFinding(remaining),
  };
  return Object.entries(findings).map(([type, finding]) => {
    const known = before.find(condition => condition.type === type);
    const isSame =
      known?.status === finding.status && known.reason === finding.reason && known.message === finding.message;
    return isSame ? known : { type, ...finding, lastTransitionTime: now };
  });
}

function contentFinding({ countByResource }: Remaining): Finding {
  if (countByResource.size === 0) return fine("ContentRemoved", "All content successfully removed");
  // The core group's name is empty, the dot stays.
  const counts = [...countByResource].map(([resource, count]) => {
    return `${resource.includes(".") ? resource : `${resource}.`} has ${count} resource instances`;
  });
  const message = `Some resources are remaining: ${counts.sort().join(", ")}`;
  return { status: "True", reason: "SomeResourcesRemain", message };
}

function finalizerFinding({ countByFinalizer }: Remaining): Finding {
  if (countByFinalizer.size === 0) return fine("ContentHasNoFinalizers", "All content-preserving finalizers finished");
  const counts = [...countByFinalizer].map(([name, count]) => `${name} in ${count} resource instances`);
  const message = `Some content in the namespace has finalizers remaining: ${counts.sort().join(", ")}`;
  return { status: "True", reason: "SomeFinalizersRemain", message };
}
