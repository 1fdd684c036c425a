// The shapes of the built-in kinds are facts about Kubernetes 1.36: what lies in the repository must be what a real
// server and its Go types say. FETTLE_UPDATE=1 writes the file anew.

import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { Agent, request } from "undici";
import { describe, expect, test } from "vitest";
import { isUnavailable } from "./binaries.ts";
import { builtInDefinitions, type GoFacts } from "./builtin-definitions.ts";
import { sharedControlPlane } from "./shared.ts";

const file = new URL("../../src/sim/kinds/definitions.json", import.meta.url);

describe.skipIf(isUnavailable("etcd", "kube-apiserver"))("the shapes of the built-in kinds", () => {
  test("are those of the real API server", async () => {
    const fresh = await builtInDefinitions(await openApi(), await goFacts());
    if (process.env["FETTLE_UPDATE"]) await writeFile(file, fresh);
    const committed = await readFile(file, "utf8");
    expect(JSON.parse(committed)).toEqual(JSON.parse(fresh));
    expect(committed).toBe(fresh);
  });
});

async function openApi(): Promise<(path: string) => Promise<unknown>> {
  const { url, token, caData } = await sharedControlPlane();
  const dispatcher = new Agent({ connect: { ca: Buffer.from(caData, "base64").toString() } });
  return async path => {
    const headers = { authorization: `Bearer ${token}` };
    return (await request(`${url}/openapi/v3/${path}`, { dispatcher, headers })).body.json();
  };
}

/** Without Go, those in the repository are believed: the server's part is still compared. */
async function goFacts(): Promise<GoFacts> {
  try {
    const { stdout } = await promisify(execFile)("go", ["run", "./cmd/gofacts"], {
      cwd: new URL(".", import.meta.url),
      maxBuffer: 2 ** 24,
    });
    return JSON.parse(stdout) as GoFacts;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return JSON.parse(await readFile(file, "utf8")) as GoFacts;
  }
}
