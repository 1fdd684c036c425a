// One thing that only we can know about an object: the codes, and what each stands for.

type Severity = "error" | "warning";

/** An error fails closed at run time; a warning says that a legal object may not mean what was meant. */
export const offlineCodes = {
  "bad-schedule": { severity: "error", when: "a cron field is out of range or unreadable" },
  "bad-time-zone": { severity: "error", when: "a time zone is not in the IANA database" },
  "bad-duration": { severity: "error", when: "a duration is longer than Go can hold, about 292 years" },
  "bad-quantity": { severity: "error", when: "a quantity has the right characters in the wrong order" },
  "bad-key": { severity: "error", when: "a label, annotation or taint key is too long or malformed" },
  "bad-selector": { severity: "error", when: "a label selector cannot be read" },
  "bad-deadline": { severity: "error", when: "the annotation fettle.dev/cluster-upgrade is no RFC 3339 time" },
  "duplicate-taint": { severity: "error", when: "a key and effect occur twice over taints and startupTaints" },
  "unknown-capacity-type": { severity: "error", when: "no value demanded of karpenter.sh/capacity-type exists" },
  "unlimited-at-times": {
    severity: "warning",
    when: "all budgets of an action have schedules: outside them nothing limits it",
  },
  "never-active": { severity: "error", when: "a schedule names a day that never comes" },
  "seconds-dropped": { severity: "warning", when: "the duration of a budget or window has seconds" },
  "without-effect": { severity: "warning", when: "a policy, requirement or check does nothing" },
  shadowed: { severity: "warning", when: "an earlier repair policy matches whatever this one would" },
  "values-ignored": { severity: "warning", when: "Exists or DoesNotExist stands beside values" },
  ignored: { severity: "warning", when: "consolidation is set on a pool with replicas" },
  "template-twice": { severity: "error", when: "two steps of a health check use the same template" },
  "kind-twice": {
    severity: "warning",
    when: "two steps use templates of one kind, which needs multiple-templates-support on each of them",
  },
  "selects-all": { severity: "warning", when: "a health check has no selector" },
} as const satisfies Record<string, { severity: Severity; when: string }>;

export type OfflineCode = keyof typeof offlineCodes;

export type OfflineFinding = {
  severity: Severity;
  /** The server's spelling of the field; empty for the object as a whole. */
  path: string;
  code: OfflineCode;
  message: string;
};

export function finding(path: string, code: OfflineCode, message: string): OfflineFinding {
  return { severity: offlineCodes[code].severity, path, code, message };
}
