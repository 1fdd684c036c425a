// One control plane for all test files of a run: the first that asks has it started, in the process of the test
// runner, which stops it at the end.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inject } from "vitest";
import type { TestProject } from "vitest/node";
import { whyUnavailable } from "./binaries.ts";
import {
  attach,
  type ControlPlane,
  type ControlPlaneAddress,
  type ControlPlaneOptions,
  controlPlane,
} from "./start.ts";

declare module "vitest" {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- an interface is the only thing that merges
  export interface ProvidedContext {
    controlPlaneBroker: string;
  }
}

/** For test files: use names of your own, others are working on the same server. `stop` does nothing here. */
export async function sharedControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const response = await fetch(inject("controlPlaneBroker"), { method: "POST", body: JSON.stringify(options) });
  const answer = (await response.json()) as { address: ControlPlaneAddress } | { error: string };
  if ("error" in answer) throw new Error(answer.error);
  return attach(answer.address);
}

/** Vitest's globalSetup. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  sayOnceIfUnavailable();
  const started = new Map<string, Promise<ControlPlane>>();
  const broker = createServer((incoming, outgoing) => {
    let text = "";
    incoming.on("data", chunk => (text += chunk));
    incoming.on("end", () => {
      const running = started.get(text) ?? controlPlane(JSON.parse(text) as ControlPlaneOptions);
      started.set(text, running);
      running.then(
        address => outgoing.end(JSON.stringify({ address })), // Its functions stay behind; `attach` makes new ones.
        (error: Error) => outgoing.end(JSON.stringify({ error: error.message })),
      );
    });
  });
  await new Promise<void>(resolve => broker.listen(0, "127.0.0.1", resolve));
  project.provide("controlPlaneBroker", `http://127.0.0.1:${(broker.address() as AddressInfo).port}/`);
  return async () => {
    broker.closeAllConnections();
    broker.close();
    await Promise.allSettled([...started.values()].map(async running => (await running).stop()));
  };
}

// Two projects use this set-up; one line is enough.
function sayOnceIfUnavailable(): void {
  const reason = whyUnavailable(["etcd", "kube-apiserver"]);
  const said = Symbol.for("fettle.control-plane.said");
  // Where it is required every suite fails with the same sentence.
  const isRequired = process.env["FETTLE_REQUIRE_CONTROL_PLANE"] === "1";
  if (reason === undefined || isRequired || Reflect.has(globalThis, said)) return;
  Reflect.set(globalThis, said, true);
  process.stderr.write(`control-plane: suites skipped. ${reason}\n`);
}
