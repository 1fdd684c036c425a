// The box says what a real API server says: random sequences of requests go to both, and every answer and every watch
// must agree but for what accepted-differences.ts lists. The same sequences each time, so that a change is judged by what
// it changed; FETTLE_SEED=… tries others, and `npm run soak` new ones every time.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isUnavailable } from "../control-plane/binaries.ts";
import { sharedControlPlane } from "../control-plane/shared.ts";
import type { Running } from "./backends.ts";
import { compareMany, seedFrom, startServers } from "./differential/compare-many.ts";
import type { Servers } from "./differential/run.ts";

const sequenceCount = 500;
const usualSeed = 1_635_769_302;

describe.skipIf(isUnavailable("etcd", "kube-apiserver"))("the box and a real API server", () => {
  let servers: Running<Servers>;
  beforeAll(async () => {
    servers = await startServers(await sharedControlPlane());
  });
  afterAll(() => servers?.close());

  test(`agree on ${sequenceCount} random sequences`, { timeout: 600_000 }, async () => {
    const seed = seedFrom(process.env["FETTLE_SEED"], usualSeed);
    process.stderr.write(`differential: seed ${seed.seed}\n`);
    await expect(compareMany(servers, seed, sequenceCount)).resolves.toBeUndefined();
  });
});
