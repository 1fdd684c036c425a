// A real API server asked about schemas: scratch CRDs made on it, and its verdict on an object in comparable form.

import { Agent, request } from "undici";
import type { Schema } from "../../../src/api/schema/schema.ts";
import type { ControlPlaneAddress } from "../start.ts";

export type Finding = { reason: string; field: string; message: string };
export type Verdict = {
  findings: Finding[];
  /** Paths that strict field validation would refuse. */
  unknown: string[];
  /** As the server would store it, without what only it fills in; undefined when it refuses. */
  object: Record<string, unknown> | undefined;
  /** What a refusal says that is not about fields. */
  refusal: string | undefined;
};

type Body = Record<string, unknown>;
type Column = { name: string; type: string; jsonPath: string };
type Answer = { status: number; body: Body; warnings: string[] };
type Status = { message?: string; details?: { causes?: Partial<Finding>[] } };

const group = "schema-test.fettle.dev";
const establishedWithinMs = 30_000;

export class SchemaServer {
  readonly #address: ControlPlaneAddress;
  readonly #agent: Agent;
  #changes = 0;

  constructor(address: ControlPlaneAddress) {
    this.#address = address;
    this.#agent = new Agent({ connect: { ca: Buffer.from(address.caData, "base64").toString() } });
  }

  async send(
    method: "GET" | "POST" | "PUT" | "DELETE",
    path: string,
    body?: unknown,
    accept = "application/json",
  ): Promise<Answer> {
    const response = await request(`${this.#address.url}${path}`, {
      method,
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${this.#address.token}`, "content-type": "application/json", accept },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const warning = response.headers["warning"] ?? [];
    const warnings = [warning].flat().flatMap(header => [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)]);
    return {
      status: response.statusCode,
      body: jsonOrEmpty(await response.body.text()),
      warnings: warnings.map(([, text = ""]) => text.replace(/\\(.)/g, "$1")),
    };
  }

  /**
   * Creates the CRD, or gives an existing one this schema, and waits until it is what objects are judged by: the server
   * takes a change up a moment after it has answered. A column of this change's own, served along with its schema, tells.
   */
  async serve(kind: string, schema: Schema): Promise<void> {
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    this.#changes += 1;
    const column = `change-${this.#changes}`;
    const crd = crdOf(kind, schema, [{ name: column, type: "string", jsonPath: ".metadata.name" }]);
    const made = await this.send("POST", crds, crd);
    if (made.status === 409) {
      const { body } = await this.send("GET", `${crds}/${crd.metadata.name}`);
      const put = await this.send("PUT", `${crds}/${crd.metadata.name}`, { ...body, spec: crd.spec });
      if (put.status !== 200) throw new Error(JSON.stringify(put.body));
    } else if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    await this.#until(async () => (await this.#columns(kind)).includes(column), `${kind} is served as it was changed`);
  }

  async #columns(kind: string): Promise<string[]> {
    const { body } = await this.send("GET", pathOf(kind), undefined, "application/json;as=Table;v=v1;g=meta.k8s.io");
    return ((body["columnDefinitions"] ?? []) as { name: string }[]).map(({ name }) => name);
  }

  async #until(holds: () => Promise<boolean>, what: string): Promise<void> {
    for (let waited = 0; !(await holds()); waited += 50) {
      if (waited > establishedWithinMs) throw new Error(`the server never got to: ${what}`);
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }

  /** The verdict on a new object; nothing is stored. */
  async create(kind: string, object: unknown): Promise<Verdict> {
    return verdictOf(await this.send("POST", `${pathOf(kind)}?dryRun=All&fieldValidation=Warn`, object));
  }

  async store(kind: string, object: unknown): Promise<Body> {
    const { status, body } = await this.send("POST", pathOf(kind), object);
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body;
  }

  async read(kind: string, name: string): Promise<Body> {
    const { status, body } = await this.send("GET", `${pathOf(kind)}/${name}`);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body;
  }

  /** The verdict on an update of a stored object; nothing is stored. */
  async update(kind: string, object: Body, subresource = ""): Promise<Verdict> {
    const { name } = object["metadata"] as { name: string };
    return verdictOf(
      await this.send("PUT", `${pathOf(kind)}/${name}${subresource}?dryRun=All&fieldValidation=Warn`, object),
    );
  }

  /** The verdict on a CRD with this schema. */
  async judgeSchema(schema: unknown): Promise<Finding[]> {
    const crd = crdOf("Broken", schema as Schema);
    const answer = await this.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All", crd);
    if (answer.status < 300) return [];
    return verdictOf(answer).findings;
  }
}

/** A path that is not served yet is answered in plain text. */
function jsonOrEmpty(text: string): Body {
  return text.startsWith("{") ? (JSON.parse(text) as Body) : {};
}

export function manifest(kind: string, fields: Body, name = "probe"): Body {
  return { apiVersion: `${group}/v1`, kind, metadata: { name }, ...fields };
}

function pathOf(kind: string): string {
  return `/apis/${group}/v1/${kind.toLowerCase()}s`;
}

function crdOf(kind: string, schema: Schema, additionalPrinterColumns: readonly Column[] = []) {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Cluster",
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [
        { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, additionalPrinterColumns },
      ],
    },
  };
}

function verdictOf({ status, body, warnings }: Answer): Verdict {
  const unknown = warnings.flatMap(text => /^unknown field "(.*)"$/.exec(text)?.[1] ?? []).sort();
  if (status < 300) return { findings: [], unknown, object: withoutServerFields(body), refusal: undefined };
  const { message = "", details } = body as Status;
  const findings = (details?.causes ?? []).map(({ reason = "", field = "", message: text = "" }) => ({
    reason,
    field: field === "<nil>" ? "" : field,
    message: text,
  }));
  return { findings, unknown, object: undefined, refusal: message };
}

/** Without what only the server fills in. */
export function withoutServerFields(object: Body): Body {
  const metadata = { ...(object["metadata"] as Body) };
  for (const field of ["uid", "creationTimestamp", "managedFields", "resourceVersion", "generation"])
    delete metadata[field];
  return { ...object, metadata };
}
