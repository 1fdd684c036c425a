// A controller that is killed at the writes of a burst, before the server sees them and after: whoever comes next makes
// what is missing, and nothing twice.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Stage } from "../../spine/world.ts";
import { type Installed, installed, isMissing } from "../spine/installed.ts";
import { KilledReplicas, type Moment } from "../spine/killed-replicas.ts";
import { podsMade } from "../spine/requests.ts";
import { allRunning, aPool, deploy } from "./waiting.ts";

const nodeCount = 12;
/** At the third of its kind, so that some are made and some are not. */
const deaths: readonly { write: string; moment: Moment }[] = [
  { write: "POST nodeclaims", moment: "before" },
  { write: "POST nodeclaims", moment: "after" },
  { write: "POST configmaps", moment: "before" },
  { write: "POST configmaps", moment: "after" },
];

describe.skipIf(isMissing)("a controller that is killed while it makes nodes for pods", () => {
  let cluster: Installed;
  let replicas: KilledReplicas;
  let stage: Stage;
  const due = [...deaths];
  let count = 0;

  const fate = (write: string): Moment | undefined => {
    if (write !== due[0]?.write || ++count % 3 !== 0) return undefined;
    return due.shift()?.moment;
  };

  beforeAll(async () => {
    cluster = await installed();
    replicas = await KilledReplicas.start(cluster);
    replicas.fate = fate;
    stage = new Stage(replicas.world(), "killed");
    await stage.open();
  });
  afterAll(async () => {
    await replicas?.stop();
    await cluster?.stop();
  });

  test("makes one node for each pod that wants one of its own", async () => {
    await aPool(stage);
    await deploy(stage, "apart", { replicas: nodeCount, cpu: "500m", isApart: true });
    const claims = await allRunning(stage, nodeCount);
    expect(replicas.deaths).toEqual(deaths);
    expect(claims.length).toBeGreaterThanOrEqual(nodeCount);
    expect(claims.length).toBeLessThanOrEqual(podsMade(await cluster.requests()));
    expect(await stage.instances(...claims)).toHaveLength(claims.length);
    expect(await stage.nodes()).toHaveLength(claims.length);
  });
});
