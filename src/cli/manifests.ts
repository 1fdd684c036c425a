// The manifests that a command line names: files, folders and standard input.

import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { Failure, type Io } from "./io.ts";
import { type ManifestObject, megabytes, parseManifests } from "./manifest-text.ts";

const largestFileBytes = 64 * 1024 * 1024;
const manifestSuffixes = new Set([".yaml", ".yml", ".json"]);

export async function readManifests(paths: readonly string[], recursive: boolean, io: Io): Promise<ManifestObject[]> {
  const objects: ManifestObject[] = [];
  for (const path of paths) {
    if (path === "-") objects.push(...parseManifests("<stdin>", await io.stdin()));
    else for (const file of await filesAt(path, recursive)) objects.push(...parseManifests(file, await bytesOf(file)));
  }
  return objects;
}

async function filesAt(path: string, recursive: boolean): Promise<string[]> {
  const found = await attempt(path, () => stat(path));
  if (!found.isDirectory()) return [path];
  const entries = await attempt(path, () => readdir(path, { withFileTypes: true, recursive }));
  const files = entries
    .filter(entry => !entry.isDirectory() && manifestSuffixes.has(extname(entry.name)))
    .map(entry => join(entry.parentPath, entry.name))
    .sort();
  if (files.length > 0) return files;
  const hint = recursive ? "" : " (add -R to look into its folders)";
  throw new Failure(`${path} holds no .yaml, .yml or .json file${hint}`);
}

async function bytesOf(file: string): Promise<Uint8Array> {
  const { size } = await attempt(file, () => stat(file));
  if (size > largestFileBytes) {
    throw new Failure(`${file} is ${megabytes(size)}; split it into files of at most ${megabytes(largestFileBytes)}`);
  }
  return attempt(file, () => readFile(file));
}

async function attempt<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new Failure(`cannot read ${path}: ${systemSentence(error)}`, { cause: error });
  }
}

function systemSentence(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT") return "there is no such file or directory";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  return (error as Error).message;
}
