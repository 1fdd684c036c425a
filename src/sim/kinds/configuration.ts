// ConfigMap, Secret and ServiceAccount: what pods are given to read. Keys, sizes, and that an immutable one stays so.

import type { KubeObject } from "../../api/meta.ts";
import { forbidden, invalid, required, tooLong } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { deepEqual } from "../json-value.ts";
import { builtIn } from "./built-in.ts";
import { ageColumn, nameColumn, text } from "./column.ts";
import { immutable } from "./field-rules.ts";

type Data = Record<string, string>;
type ConfigMap = KubeObject & { data: Data | undefined; binaryData?: Data; immutable?: boolean };
type Secret = KubeObject & { data: Data | undefined; stringData?: Data; type?: string; immutable?: boolean };

const sizeMax = 1024 * 1024;

export const configMap = builtIn({
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
  definition: "io.k8s.api.core.v1.ConfigMap",
  shortNames: ["cm"],
  columns: [
    nameColumn,
    text("Data", "How many entries it has.", object => {
      const { data, binaryData } = object as ConfigMap;
      return Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length;
    }),
    ageColumn,
  ],
  rules: {
    validate: (object, { old }) => configMapErrors(object as ConfigMap, old as ConfigMap | undefined),
  },
});

function configMapErrors({ data = {}, binaryData = {}, ...rest }: ConfigMap, old: ConfigMap | undefined): FieldError[] {
  const found = [
    ...Object.keys(data).flatMap(key => [
      ...keyErrors(`data[${key}]`, key),
      ...(Object.hasOwn(binaryData, key)
        ? [invalid(`data[${key}]`, key, `duplicate of key present in binaryData`)]
        : []),
    ]),
    ...Object.keys(binaryData).flatMap(key => keyErrors(`binaryData[${key}]`, key)),
  ];
  const size = sum(Object.values(data).map(byteLength)) + sum(Object.values(binaryData).map(decodedLength));
  if (size > sizeMax) found.push(tooLong("[]", sizeMax));
  if (!old?.immutable) return found;
  return [
    ...found,
    ...keepImmutable(rest.immutable),
    ...keepField("data", data, old.data ?? {}),
    ...keepField("binaryData", binaryData, old.binaryData ?? {}),
  ];
}

export const secret = builtIn({
  kind: "Secret",
  plural: "secrets",
  namespaced: true,
  definition: "io.k8s.api.core.v1.Secret",
  columns: [
    nameColumn,
    text("Type", "What the secret is for.", object => (object as Secret).type ?? ""),
    text("Data", "How many entries it has.", object => Object.keys((object as Secret).data ?? {}).length),
    ageColumn,
  ],
  rules: {
    defaults: object => {
      (object as Secret).type ??= "Opaque";
    },
    // Not before: until then data is only there if this write changes it.
    prepare: object => mergeStringData(object as Secret),
    validate: (object, { old }) => secretErrors(object as Secret, old as Secret | undefined),
    selectableFields: object => ({ type: (object as Secret).type ?? "" }),
  },
});

/** Plain text may be written for the writer's comfort; it is never read back. */
function mergeStringData(secret: Secret): void {
  const entries = Object.entries(secret.stringData ?? {});
  const added = entries.map(([key, value]) => [key, Buffer.from(value, "utf8").toString("base64")] as const);
  if (added.length > 0) secret.data = { ...secret.data, ...Object.fromEntries(added) };
  delete secret.stringData;
}

/** Entries without which a secret of that type is of no use. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};

function secretErrors({ metadata, data = {}, type = "", ...rest }: Secret, old: Secret | undefined): FieldError[] {
  const found = Object.keys(data).flatMap(key => keyErrors(`data[${key}]`, key));
  if (sum(Object.values(data).map(decodedLength)) > sizeMax) found.push(tooLong("data", sizeMax));
  for (const key of requiredKeys[type] ?? []) if (!Object.hasOwn(data, key)) found.push(required(`data[${key}]`, ""));
  const account = "kubernetes.io/service-account.name";
  if (type === "kubernetes.io/service-account-token" && !metadata.annotations?.[account]) {
    found.push(required(`metadata.annotations[${account}]`, ""));
  }
  if (type === "kubernetes.io/basic-auth" && !("username" in data) && !("password" in data)) {
    found.push(required("data[username]", ""), required("data[password]", ""));
  }
  if (old === undefined) return found;
  found.push(...immutable("type", type, old.type));
  if (!old.immutable) return found;
  return [...found, ...keepImmutable(rest.immutable), ...keepField("data", data, old.data ?? {})];
}

export const serviceAccount = builtIn({
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
  definition: "io.k8s.api.core.v1.ServiceAccount",
  shortNames: ["sa"],
  columns: [nameColumn, ageColumn],
  rules: {
    prepare: object => {
      // Of a reference to a secret only the name is kept.
      const account = object as KubeObject & { secrets?: { name?: string }[] };
      account.secrets = account.secrets?.map(({ name }) => (name === undefined ? {} : { name })) as never;
      if (account.secrets === undefined) delete account.secrets;
    },
  },
});

const keyRule =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or " +
  "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

export function keyErrors(path: string, key: string): FieldError[] {
  const found = key.length > 253 ? [invalid(path, key, "must be no more than 253 characters")] : [];
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) found.push(invalid(path, key, keyRule));
  if (key === ".") found.push(invalid(path, key, "must not be '.'"));
  else if (key === "..") found.push(invalid(path, key, "must not be '..'"));
  else if (key.startsWith("..")) found.push(invalid(path, key, "must not start with '..'"));
  return found;
}

function keepImmutable(value: boolean | undefined): FieldError[] {
  return value ? [] : [forbidden("immutable", "field is immutable when `immutable` is set")];
}

function keepField(path: string, value: Data, old: Data): FieldError[] {
  if (deepEqual(value, old)) return [];
  return [forbidden(path, "field is immutable when `immutable` is set")];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Bytes behind a text in base64. */
function decodedLength(text: string): number {
  return (text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
}
