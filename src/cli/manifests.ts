// The manifests that a command line names: files, folders and standard input.

import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { type Io, systemSentence } from "./io.ts";
import { type ManifestObject, megabytes, parseManifests } from "./manifest-text.ts";

/** How findings name it. */
export const standardInput = "<stdin>";
const largestFileBytes = 64 * 1024 * 1024;
const manifestSuffixes = new Set([".yaml", ".yml", ".json"]);

/** A path that cannot be read is a problem of its own and hides no other. */
export async function readManifests(paths: readonly string[], recursive: boolean, io: Io): Promise<ManifestObject[]> {
  const objects: ManifestObject[] = [];
  for (const path of paths) {
    const found = path === "-" ? parseManifests(standardInput, await io.stdin()) : await manifestsAt(path, recursive);
    objects.push(...found);
  }
  return objects;
}

async function manifestsAt(path: string, recursive: boolean): Promise<ManifestObject[]> {
  const files = await attempt(path, () => filesAt(path, recursive));
  if ("problem" in files) return [files];
  if (files.length === 0) {
    return [
      unreadable(path, `holds no .yaml, .yml or .json file${recursive ? "" : " (add -R to look into its folders)"}`),
    ];
  }
  const objects: ManifestObject[] = [];
  for (const file of files) {
    const bytes = await attempt(file, () => bytesOf(file));
    if ("problem" in bytes) objects.push(bytes);
    else objects.push(...parseManifests(file, bytes));
  }
  return objects;
}

async function filesAt(path: string, recursive: boolean): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { withFileTypes: true, recursive });
  return entries
    .filter(entry => !entry.isDirectory() && manifestSuffixes.has(extname(entry.name)))
    .map(entry => join(entry.parentPath, entry.name))
    .sort();
}

async function bytesOf(file: string): Promise<Uint8Array> {
  const { size } = await stat(file);
  if (size > largestFileBytes) {
    throw new Error(`it is ${megabytes(size)}; split it into files of at most ${megabytes(largestFileBytes)}`);
  }
  return readFile(file);
}

type Unreadable = Extract<ManifestObject, { problem: string }>;

async function attempt<T>(path: string, read: () => Promise<T>): Promise<T | Unreadable> {
  try {
    return await read();
  } catch (error) {
    return unreadable(path, `cannot be read: ${systemSentence(error)}`);
  }
}

function unreadable(file: string, problem: string): Unreadable {
  return { file, problem, at: { line: 1, column: 1 } };
}
