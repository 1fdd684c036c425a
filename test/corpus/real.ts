// A real API server, asked over HTTP with nothing of ours in between.

import { Agent, request } from "undici";
import { apiVersionOf } from "../../src/api/meta.ts";
import type { ControlPlane } from "../control-plane/start.ts";
import type { Answer, Call, Server } from "./judge.ts";

const methods = { create: "POST", update: "PUT", delete: "DELETE" } as const;

export function realServer({ url, token, caData }: Pick<ControlPlane, "url" | "token" | "caData">): Server {
  const dispatcher = new Agent({ connections: 8, connect: { ca: Buffer.from(caData, "base64").toString() } });
  return {
    async send(call: Call): Promise<Answer> {
      const { statusCode, body } = await request(`${url}${pathOf(call)}`, {
        dispatcher,
        method: methods[call.verb],
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": typeof call.body === "string" ? "application/yaml" : "application/json",
        },
        body: typeof call.body === "object" ? JSON.stringify(call.body) : (call.body ?? null),
      });
      return { code: statusCode, body: (await body.json()) as Answer["body"] };
    },
  };
}

function pathOf({ verb, resource, name, subresource, dryRun }: Call): string {
  const parts = [resource.plural, ...(name ? [name] : []), ...(subresource ? [subresource] : [])];
  const query = verb === "delete" ? "" : `?fieldValidation=Strict${dryRun ? "&dryRun=All" : ""}`;
  return `/apis/${apiVersionOf(resource)}/${parts.join("/")}${query}`;
}
