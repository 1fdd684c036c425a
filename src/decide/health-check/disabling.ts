// Why a check cannot remediate at all, as a value.

/** Reasons of the condition Disabled; medik8s' own where it has one. */
export type Disabling = {
  readonly reason:
    | "RemediationTemplateNotFound"
    | "RemediationTemplateInvalid"
    | "RemediationTemplateForbidden"
    | "RemediationTemplatePending"
    | "RemediatorsOff"
    | "ConflictingMachineHealthCheckDetected"
    | "UnsupportedControlPlaneTopology"
    | "InvalidNodeHealthCheck";
  readonly message: string;
  readonly liftedBy: string;
};

/** That will be known soon: no news of the check. */
export function pending(message: string): Disabling {
  return { reason: "RemediationTemplatePending", message, liftedBy: "the answer of the server" };
}
