// Every verb of kubectl that we promise, against the embedded API and a real kube-apiserver: what a person reads and
// the exit code are the same, but for what accepted-differences.ts lists.

import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { customResourceDefinition } from "../../src/api/crd.ts";
import { kinds } from "../../src/api/kinds.ts";
import { systemClock } from "../../src/kube/system-clock.ts";
import { clusterInTheBox } from "../../src/sim/cluster-in-the-box.ts";
import { kubeconfig } from "../../src/sim/http/kubeconfig.ts";
import { listen } from "../../src/sim/http/listener.ts";
import { seededRandom } from "../../src/sim/random.ts";
import { binary, isUnavailable } from "../control-plane/binaries.ts";
import { controlPlane } from "../control-plane/start.ts";
import { type AcceptedDifference, acceptedDifferences } from "./kubectl/accepted-differences.ts";
import { normalised } from "./kubectl/normalise.ts";
import { type Kubectl, kubectlFor, type Outcome } from "./kubectl/run.ts";
import { type Scenario, type Step, scenarios, scenariosWithControllers } from "./kubectl/scenarios.ts";

const seenDifferences = new Set<AcceptedDifference>();

// An API server alone does neither garbage collection nor disruption budgets, and neither does the box beside it.
describe.skipIf(isUnavailable("etcd", "kube-apiserver", "kubectl"))("kubectl", () => {
  const pair = started({ controllers: false });
  test.each(named(scenarios))("%s", async (_, steps) => {
    for (const { box, real } of await pair.run(steps)) expect.soft(box).toEqual(real);
  });
});

describe.skipIf(isUnavailable("etcd", "kube-apiserver", "kube-controller-manager", "kubectl"))(
  "with controllers",
  () => {
    const pair = started({ controllers: true });
    test.each(named(scenariosWithControllers))("%s", async (_, steps) => {
      for (const { box, real } of await pair.run(steps)) expect.soft(box).toEqual(real);
    });

    test("every accepted difference is still one", () => {
      const gone = acceptedDifferences.filter(difference => !seenDifferences.has(difference));
      expect(gone.map(({ step }) => String(step))).toEqual([]);
    });
  },
);

const named = (all: readonly Scenario[]) => all.map(({ verb, steps }) => [verb, steps] as const);

function started({ controllers }: { controllers: boolean }) {
  let servers: readonly [box: Kubectl, real: Kubectl];
  const ends: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    const real = await controlPlane(controllers ? { components: ["kube-controller-manager"] } : {});
    ends.push(() => real.stop());
    const api = clusterInTheBox({ clock: systemClock, random: seededRandom(1), controllers });
    const box = await listen({ api, clock: systemClock, now: systemClock.now(), token: "token" });
    ends.push(() => box.close());
    const program = await binary("kubectl");
    const ca = Buffer.from(real.caData, "base64").toString();
    servers = [
      await kubectlFor(program, kubeconfig(box)),
      await kubectlFor(program, kubeconfig({ url: real.url, token: real.token, ca })),
    ];
    ends.push(...servers.map(server => () => server.remove()));
    await installKinds(servers[1]);
  });

  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  return {
    /** Both sides of every step, to be equal. */
    async run(steps: readonly Step[]): Promise<Sides[]> {
      const sides: Sides[] = [];
      for (const step of steps) {
        const [inTheBox, onTheRealOne] = await Promise.all([
          outcomesOf(servers[0], step),
          outcomesOf(servers[1], step),
        ]);
        sides.push(...inTheBox.map((ran, index) => compared(ran, onTheRealOne[index]!))); // the same steps on both
      }
      return sides;
    },
  };
}

/** A definition is usable once the server says that it is established. */
async function installKinds(server: Kubectl): Promise<void> {
  const definitions = { apiVersion: "v1", kind: "List", items: kinds.map(customResourceDefinition) };
  const crds = kinds.map(({ resource }) => `crd/${resource.plural}.${resource.group}`);
  for (const call of [
    { args: ["create", "-f", "-"], input: JSON.stringify(definitions) },
    { args: ["wait", "--for=condition=Established", ...crds] },
  ]) {
    const { code, stderr } = await server.run(call).outcome;
    if (code !== 0) throw new Error(stderr);
  }
}

type Sides = { box: unknown; real: unknown };
type Ran = { command: string } & Outcome;

/** The step itself last, after what was done while it went on. */
async function outcomesOf(server: Kubectl, step: Step): Promise<Ran[]> {
  const running = server.run(step);
  const ran: Ran[] = [];
  if (step.during !== undefined) {
    await running.firstLine;
    for (const inner of step.during) ran.push(...(await outcomesOf(server, inner)));
  }
  ran.push({ command: `kubectl ${step.args.join(" ")}`, ...normalised(await running.outcome, step) });
  return ran;
}

/** What must be equal: all of it, or what an accepted difference leaves. */
function compared(box: Ran, real: Ran): Sides {
  const { command } = box;
  const accepted = acceptedDifferences.find(({ step }) => step.test(command));
  if (accepted === undefined || isDeepStrictEqual(box, real)) return { box, real };
  seenDifferences.add(accepted);
  if ("same" in accepted) return { box: { command, ...accepted.same(box) }, real: { command, ...accepted.same(real) } };
  const said = box.stdout + box.stderr;
  const { refusedWith } = accepted;
  return {
    box: { command, code: box.code, said },
    real: { command, code: 1, said: expect.stringMatching(refusedWith) },
  };
}
