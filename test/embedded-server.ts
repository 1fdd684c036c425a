// An embedded API server with the built-in kinds and a namespace to work in, for tests that write an object and look
// at what became of it.

import type { KubeObject } from "../src/api/meta.ts";
import { ApiError, type Status } from "../src/api/status.ts";
import { ApiServer } from "../src/sim/api-server.ts";
import { VirtualClock } from "../src/sim/clock.ts";
import { builtInKinds } from "../src/sim/kinds/built-in-kinds.ts";
import { systemPriorityClasses } from "../src/sim/kinds/priority-class.ts";
import { seededRandom } from "../src/sim/random.ts";
import type { ApiRequest } from "../src/sim/request.ts";

export const namespace = "builtin-kinds";

export type Call = {
  verb: "create" | "update" | "merge" | "strategic" | "delete";
  group: string;
  plural: string;
  name?: string;
  subresource?: "status";
  body: unknown;
};

export type Answer = { code: number; body: KubeObject | Status };

/** Undefined for what lies in no namespace. */
export function namespaceOf({ group, plural }: Pick<Call, "group" | "plural">): string | undefined {
  const kind = builtInKinds.find(({ resource }) => resource.group === group && resource.plural === plural);
  return kind?.resource.namespaced === true ? namespace : undefined;
}

export class EmbeddedServer {
  readonly #server = new ApiServer({
    clock: new VirtualClock(Date.parse("2026-01-01T00:00:00Z")),
    random: seededRandom(1),
    kinds: builtInKinds,
  });

  constructor() {
    this.send({ verb: "create", group: "", plural: "namespaces", body: { metadata: { name: namespace } } });
    for (const { name, value } of systemPriorityClasses) {
      const body = { metadata: { name }, value };
      this.send({ verb: "create", group: "scheduling.k8s.io", plural: "priorityclasses", body });
    }
  }

  send(call: Call): Answer {
    const answer = this.#server.handle(requestOf(call));
    if (answer.kind === "object") return { code: answer.code, body: structuredClone(answer.stored.object) };
    if (answer.kind === "status") return { code: answer.code, body: answer.status };
    throw new Error(`${call.verb} was answered by a ${answer.kind}`);
  }

  /** The object as stored; a refusal is thrown. */
  written(call: Call): KubeObject {
    const { code, body } = this.send(call);
    if (code >= 300) throw new ApiError(body as Status);
    return body as KubeObject;
  }
}

function requestOf({ verb, group, plural, name, subresource, body }: Call): ApiRequest {
  const isPatch = verb === "merge" || verb === "strategic";
  const scope = namespaceOf({ group, plural });
  return {
    verb: isPatch ? "patch" : verb,
    group,
    version: "v1",
    plural,
    options: {},
    // As it would come over the wire: nothing in it is shared.
    body: JSON.parse(JSON.stringify(body)),
    ...(scope !== undefined && { namespace: scope }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
    ...(isPatch && { patchType: verb }),
  };
}
