// Lease: a claim on a name that lapses unless it is renewed. The server keeps it; holders watch the time.

import type { KubeObject } from "../../api/meta.ts";
import { invalid } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { builtIn } from "./built-in.ts";
import { ageColumn, nameColumn, text } from "./column.ts";

type Lease = KubeObject & {
  spec: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    leaseTransitions?: number;
    strategy?: string;
    preferredHolder?: string;
  };
};

export const lease = builtIn({
  group: "coordination.k8s.io",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
  definition: "io.k8s.api.coordination.v1.Lease",
  createsOnUpdate: true,
  unconditionalUpdate: false,
  columns: [
    nameColumn,
    text("Holder", "Who holds the lease.", object => (object as Lease).spec.holderIdentity ?? ""),
    ageColumn,
  ],
  rules: {
    prepare: object => {
      // Coordinated leader election is behind a feature gate that is off.
      delete (object as Lease).spec.strategy;
      delete (object as Lease).spec.preferredHolder;
    },
    validate: object => errors(object as Lease),
  },
});

function errors({ spec }: Lease): FieldError[] {
  const { leaseDurationSeconds, leaseTransitions } = spec;
  const found: FieldError[] = [];
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    found.push(invalid("spec.leaseDurationSeconds", leaseDurationSeconds, "must be greater than 0"));
  }
  if (leaseTransitions !== undefined && leaseTransitions < 0) {
    found.push(invalid("spec.leaseTransitions", leaseTransitions, "must be greater than or equal to 0"));
  }
  return found;
}
