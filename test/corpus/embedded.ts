// The embedded API with our kinds, asked in process.

import { VirtualClock } from "../../src/sim/clock.ts";
import { clusterInTheBox } from "../../src/sim/cluster-in-the-box.ts";
import { seededRandom } from "../../src/sim/random.ts";
import type { Answer, Call, Server } from "./judge.ts";
import { read } from "./manifests.ts";

export function embeddedServer(): Server {
  const clock = new VirtualClock(Date.parse("2026-01-01T00:00:00Z"));
  const server = clusterInTheBox({ clock, random: seededRandom(1) });
  return {
    async send({ verb, resource, name, subresource, dryRun, body }: Call): Promise<Answer> {
      const answer = server.handle({
        verb,
        group: resource.group,
        version: resource.version,
        plural: resource.plural,
        ...(name === undefined ? {} : { name }),
        ...(subresource === undefined ? {} : { subresource }),
        options: { dryRun, ...(verb === "delete" ? {} : { fieldValidation: "Strict" }) },
        ...(body === undefined ? {} : { body: structuredClone(typeof body === "string" ? read(body) : body) }),
      });
      if (answer.kind === "object") return { code: answer.code, body: structuredClone(answer.stored.object) };
      if (answer.kind === "status") return { code: answer.code, body: answer.status };
      throw new Error(`${verb} was answered by a ${answer.kind}`);
    },
  };
}
