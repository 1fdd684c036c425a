// What one event costs the controller, from the bytes' arrival as an object to the decision: reflector, projection,
// picture, rules and arbiter, on clusters of growing size with 30 pods a node and one pool. It should not grow.
//   node scripts/run.mjs --expose-gc bench/turn.ts [nodes …]

import { loadavg } from "node:os";
import type { KubeObject, Resource } from "../src/api/meta.ts";
import { formatTime } from "../src/api/time.ts";
import { startController } from "../src/control/controller.ts";
import type { Clock, Feed, KubeApi, WatchHandlers, WatchOptions } from "../src/control/ports.ts";
import { controllers } from "../src/decide/decision.ts";
import { rules } from "../src/decide/rules.ts";
import { Reflector } from "../src/kube/reflector.ts";
import { simulatedProvider } from "../src/provider/simulated.ts";
import { VirtualClock } from "../src/sim/clock.ts";
import { clusterInTheBox } from "../src/sim/cluster-in-the-box.ts";
import { InProcessApi } from "../src/sim/in-process.ts";
import { seededRandom } from "../src/sim/random.ts";
import { ageMs, claimName, clusterName, nodeConditions, nodeName, settle } from "./settled-cluster.ts";

const podsPerNode = 30;
const eventCount = 400;
const warmUpCount = 200;
const given = process.argv.slice(2).map(Number);
const sizes = given.length > 0 ? given : [100, 1_000, 5_000];
const startedAt = Date.parse("2026-01-01T00:00:00Z");

/** Time that passes in the controller, and nowhere else. */
class StopWatch {
  wallMs = 0;
  cpuMs = 0;
  #depth = 0;

  run<T>(part: () => T): T {
    if (this.#depth > 0) return part();
    this.#depth++;
    const from = performance.now();
    const used = process.cpuUsage();
    try {
      return part();
    } finally {
      const { user, system } = process.cpuUsage(used);
      this.cpuMs += (user + system) / 1000;
      this.wallMs += performance.now() - from;
      this.#depth--;
    }
  }

  reset(): void {
    this.wallMs = 0;
    this.cpuMs = 0;
  }
}

type Calls = { reads: number; writes: number };

/** The API as the controller sees it: its events are timed, its calls counted. */
function counted(api: KubeApi, stopWatch: StopWatch, calls: Calls): KubeApi {
  return {
    get: (...call) => (calls.reads++, api.get(...call)),
    list: (...call) => (calls.reads++, api.list(...call)),
    create: (...call) => (calls.writes++, api.create(...call)),
    update: (...call) => (calls.writes++, api.update(...call)),
    patch: (...call) => (calls.writes++, api.patch(...call)),
    delete: (...call) => (calls.writes++, api.delete(...call)),
    deleteCollection: (...call) => (calls.writes++, api.deleteCollection(...call)),
    watch: <T extends KubeObject>(resource: Resource, options: WatchOptions, handlers: WatchHandlers<T>) =>
      api.watch<T>(resource, options, {
        event: event => stopWatch.run(() => handlers.event(event)),
        end: error => handlers.end(error),
      }),
  };
}

/** What happens to the object of this number; `round` is even and odd in turn. */
type Happening = (index: number, round: number) => void;

class Bench {
  readonly nodeCount: number;
  readonly clock = new VirtualClock(startedAt);
  // Alone: its garbage collector would end every pod, for their owners are only named.
  readonly server = clusterInTheBox({ clock: this.clock, random: seededRandom(1), controllers: false });
  readonly stopWatch = new StopWatch();
  readonly calls: Calls = { reads: 0, writes: 0 };
  readonly api = counted(new InProcessApi(this.server, this.clock), this.stopWatch, this.calls);

  constructor(nodeCount: number) {
    this.nodeCount = nodeCount;
    settle(this.server, { nodes: nodeCount, podsPerNode }, startedAt);
    this.server.store.compact();
  }

  async start(): Promise<void> {
    const { api, stopWatch } = this;
    const clock: Clock = {
      now: () => this.clock.now(),
      monotonic: () => this.clock.monotonic(),
      after: (delayMs, run) => this.clock.after(delayMs, () => stopWatch.run(run)),
    };
    const feed: Feed = request => new Reflector({ api, clock, random: () => 0.5, ...request });
    startController({
      api,
      clock,
      feed,
      provider: simulatedProvider({ api, clock, feed }),
      rules,
      settings: { cluster: clusterName, dryRun: false, foreignClaims: "ignore" },
      controllers: new Set(controllers),
      leadership: { epoch: 1, onChange: () => {} },
      journal: () => {},
    });
    await this.clock.runFor(30_000);
  }

  async measure(name: string, happens: Happening): Promise<Row> {
    const wall: number[] = [];
    const cpu: number[] = [];
    const { reads, writes } = this.calls;
    for (let round = 0; round < warmUpCount + eventCount; round++) {
      this.stopWatch.reset();
      happens((round * 7_919) % this.nodeCount, Math.floor(round / this.nodeCount));
      await this.clock.runFor(50);
      if (round < warmUpCount) continue;
      wall.push(this.stopWatch.wallMs);
      cpu.push(this.stopWatch.cpuMs);
    }
    const events = warmUpCount + eventCount;
    return {
      nodes: this.nodeCount,
      event: name,
      "CPU p50 ms": quantile(cpu, 0.5),
      "CPU p99 ms": quantile(cpu, 0.99),
      "p50 ms": quantile(wall, 0.5),
      "p99 ms": quantile(wall, 0.99),
      "reads an event": Number(((this.calls.reads - reads) / events).toFixed(3)),
      "writes an event": Number(((this.calls.writes - writes) / events).toFixed(3)),
    };
  }

  send(plural: string, name: string, body: object): void {
    const group = plural === "nodeclaims" ? "karpenter.sh" : "";
    const request = { group, version: "v1", plural, name, subresource: "status", body } as const;
    const answer = this.server.handle({ ...request, verb: "patch", patchType: "merge", options: {} });
    if (answer.kind === "status") throw new Error(answer.status.message);
  }

  /** With conditions as given on odd rounds, and well again on even ones. */
  conditions(sick: Readonly<Record<string, string>>): Happening {
    return (index, round) => {
      const conditions = nodeConditions(formatTime(this.clock.now()), round % 2 === 0 ? sick : {});
      this.send("nodes", nodeName(index), { status: { conditions } });
    };
  }
}

type Row = Record<string, string | number>;

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Number((sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(2));
}

const rows: Row[] = [];
for (const nodeCount of sizes) {
  const bench = new Bench(nodeCount);
  await bench.start();
  globalThis.gc?.();
  const heartbeat: Happening = index => {
    const at = formatTime(bench.clock.now());
    const conditions = nodeConditions(formatTime(startedAt - ageMs)).map(one => ({ ...one, lastHeartbeatTime: at }));
    bench.send("nodes", nodeName(index), { status: { conditions } });
  };
  const claimChange: Happening = (index, round) => {
    const lastPodEventTime = formatTime(bench.clock.now() + round);
    bench.send("nodeclaims", claimName(index), { status: { lastPodEventTime } });
  };
  rows.push(await bench.measure("a heartbeat", heartbeat));
  rows.push(await bench.measure("a condition of a node", bench.conditions({ MemoryPressure: "True" })));
  rows.push(await bench.measure("a node gets or loses Ready", bench.conditions({ Ready: "False" })));
  rows.push(await bench.measure("a claim's status", claimChange));
}
console.log(`One event to its decision, ${podsPerNode} pods a node; load ${loadavg()[0]?.toFixed(1)}`);
console.table(rows);
