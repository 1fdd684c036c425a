// Volumes of a pod: each has a name and one source.

import { duplicate, forbidden, invalid, required } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { dnsLabel, oneOf, requiredText } from "./field-rules.ts";
import type { Volume } from "./pod-types.ts";

const modeMax = 0o777;
const modeRule = "must be a number between 0 and 0777 (octal), both inclusive";
const hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

/** In the order in which the server looks: the first one given is the volume's. */
const sourceTypes = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "flocker",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "quobyte",
  "downwardAPI",
  "fc",
  "flexVolume",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "portworxVolume",
  "azureDisk",
  "storageos",
  "photonPersistentDisk",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image",
];

/** `names` are those of the volumes that a container may mount: the good ones. */
export function volumesErrors(volumes: readonly Volume[], path: string): { errors: FieldError[]; names: Set<string> } {
  const names = new Set<string>();
  const errors = volumes.flatMap((volume, i) => {
    const at = `${path}[${i}]`;
    const found = [
      ...sourceErrors(volume, at),
      ...(volume.name === "" ? [required(`${at}.name`, "")] : dnsLabel(`${at}.name`, volume.name)),
    ];
    if (names.has(volume.name)) found.push(duplicate(`${at}.name`, volume.name));
    if (found.length === 0) names.add(volume.name);
    return found;
  });
  return { errors, names };
}

function sourceErrors(volume: Volume, path: string): FieldError[] {
  const given = sourceTypes.filter(type => type in volume);
  if (given.length === 0) return [required(path, "must specify a volume type")];
  const found = given.slice(1).map(field => forbidden(`${path}.${field}`, "may not specify more than 1 volume type"));
  return [...found, ...knownSourceErrors(volume, path)];
}

function knownSourceErrors(volume: Volume, path: string): FieldError[] {
  const { secret, configMap, downwardAPI, projected, hostPath, persistentVolumeClaim } = volume;
  const found: FieldError[] = [];
  if (secret) found.push(...requiredText(`${path}.secret.secretName`, secret.secretName));
  if (configMap) found.push(...requiredText(`${path}.configMap.name`, configMap.name));
  for (const [field, source] of Object.entries({ secret, configMap, downwardAPI, projected })) {
    found.push(...modeErrors(source?.defaultMode, `${path}.${field}.defaultMode`));
  }
  for (const [field, source] of Object.entries({ secret, configMap })) {
    for (const [i, { key, path: target }] of (source?.items ?? []).entries()) {
      const at = `${path}.${field}.items[${i}]`;
      found.push(...requiredText(`${at}.key`, key), ...requiredText(`${at}.path`, target));
      if (target !== "") found.push(...relativePathErrors(target, `${at}.path`));
    }
  }
  if (hostPath) {
    found.push(
      ...requiredText(`${path}.hostPath.path`, hostPath.path),
      ...backstepErrors(hostPath.path, `${path}.hostPath.path`),
    );
    found.push(...oneOf(`${path}.hostPath.type`, hostPath.type, hostPathTypes));
  }
  const claim = persistentVolumeClaim;
  if (claim) found.push(...requiredText(`${path}.persistentVolumeClaim.claimName`, claim.claimName));
  return found;
}

function modeErrors(mode: number | undefined, path: string): FieldError[] {
  return mode !== undefined && (mode < 0 || mode > modeMax) ? [invalid(path, mode, modeRule)] : [];
}

export function backstepErrors(target: string, path: string): FieldError[] {
  return target.split("/").includes("..") ? [invalid(path, target, "must not contain '..'")] : [];
}

/** A path below the mount, which must not climb out of it. */
export function relativePathErrors(target: string, path: string): FieldError[] {
  const absolute = target.startsWith("/") ? [invalid(path, target, "must be a relative path")] : [];
  return [...absolute, ...backstepErrors(target, path)];
}
