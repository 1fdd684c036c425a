// More is to go than may go, while something hangs: tight caps, then calls, deletes or watches that take their time, then
// every pool is scaled down at once. Where a cap is counted wrongly, it is here that too many go.

import type { Manifest } from "../../api/meta.ts";
import type { Dice } from "./dice.ts";
import type { RandomPool } from "./random-pools.ts";
import type { Act, Entry } from "./scenario.ts";

export function squeeze(dice: Dice, pools: readonly RandomPool[], minute: number): Entry[] {
  const acts: Act[] = [
    { apply: tightPolicy(dice) },
    hangs(dice),
    ...pools.map(({ name }) => {
      return { patch: { kind: "NodePool", name, merge: { spec: { replicas: dice.whole(0, 2) } } } };
    }),
  ];
  return acts.map((act, index) => ({ at: `${minute + index}m`, do: act }));
}

function tightPolicy(dice: Dice): Manifest {
  const window = { nodes: dice.whole(1, 3), duration: dice.one(["10m", "1h"]) };
  const all = dice.one([
    { cluster: dice.whole(1, 2) },
    { cluster: "10%", zone: 1 },
    { cluster: 4, perWindow: window },
    { zone: 1, perWindow: window },
  ]);
  return {
    apiVersion: "fettle.dev/v1alpha1",
    kind: "SafetyPolicy",
    metadata: { name: "default" },
    spec: { caps: { all } },
  };
}

function hangs(dice: Dice): Act {
  const length = `${dice.one([10, 30, 60])}m`;
  const resources = [dice.one(["nodes", "nodeclaims", "nodeactions"])];
  return dice.one<Act>([
    { provider: { fault: dice.one(["Hang", "Throttled"]), calls: ["delete"], for: length } },
    { watch: { fault: "Delay", delay: dice.one(["20s", "50s"]), for: length, resources } },
    { api: { fault: "Slow", delay: "15s", for: length, resources } },
    { api: { fault: "LostAnswer", share: "50%", for: length, resources } },
  ]);
}
