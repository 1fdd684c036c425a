// npm run soak [-- sequences | worlds [count] | disruption [count]]: what takes too long for every change. Random sequences
// on a real API server and the box, with a new seed and a new pair of servers for every thousand; or days in worlds by
// chance, also with planned disruption on.

import { compareMany, seedFrom, startServers } from "./contract/differential/compare-many.ts";
import { controlPlane } from "./control-plane/start.ts";
import { randomWorld } from "../src/sim/simulation/random-worlds.ts";
import { failureOf } from "./simulation/failing-world.ts";

const [what = "", count] = process.argv.slice(2);
const atOnce = 1000;
const { seed, path } = seedFrom(process.env["FETTLE_SEED"], Date.now() % 2 ** 31);

if (what === "worlds" || what === "disruption") await soakWorlds(Number(count ?? 2_000));
else await soakSequences(Number(what || 10_000));

async function soakWorlds(worldCount: number): Promise<void> {
  for (let done = 0; done < worldCount; done++) {
    const failure = await failureOf(seed + done, randomWorld(seed + done, { isDisrupted: what === "disruption" }));
    if (failure === undefined) continue;
    console.error(failure);
    process.exitCode = 1;
    return;
  }
  console.log(`soak: seed ${seed}: ${worldCount} worlds hold`);
}

async function soakSequences(sequenceCount: number): Promise<void> {
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
}
