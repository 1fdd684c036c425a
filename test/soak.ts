// npm run soak [-- sequences]: what takes too long for every change. Random sequences on a real API server and
// the box, with a new seed and a new pair of servers for every thousand.

import { compareMany, seedFrom, startServers } from "./contract/differential/compare-many.ts";
import { controlPlane } from "./control-plane/start.ts";

const sequenceCount = Number(process.argv[2] ?? 10_000);
const atOnce = 1000;
const { seed, path } = seedFrom(process.env["FETTLE_SEED"], Date.now() % 2 ** 31);

for (let done = 0; done < sequenceCount; done += atOnce) {
  const own = { seed: seed + done, ...(path === undefined ? {} : { path }) };
  const count = Math.min(atOnce, sequenceCount - done);
  const plane = await controlPlane();
  const servers = await startServers(plane);
  try {
    await compareMany(servers, own, count);
    console.log(`soak: seed ${own.seed}: ${done + count} of ${sequenceCount} sequences agree`);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
    break;
  } finally {
    await servers.close();
    await plane.stop();
  }
}
