// Who may write what in a kind with a status subresource: the main resource everything but status, the subresource
// status alone. Nothing a person writes into the status of a new object is kept.

import type { KubeObject } from "../../api/meta.ts";
import type { KindRules } from "../kind.ts";
import { decode } from "./decode.ts";

type Prepare = NonNullable<KindRules["prepare"]>;

/** `definition` is the OpenAPI name of the status, from which its zero value is made. */
export function separateStatus(definition: string): Prepare {
  return (object, { old, subresource }) => {
    if (old === undefined) object.status = emptyStatus(definition);
    else if (subresource === "status") keepField(object, old, "spec");
    else keepField(object, old, "status");
  };
}

function keepField(object: KubeObject, old: KubeObject, field: string): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}

export function emptyStatus(definition: string): Record<string, unknown> {
  const status = {};
  decode(status, definition);
  return status;
}
