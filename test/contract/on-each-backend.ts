// Runs the same tests on every KubeApi, each test in a namespace of its own.

import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
import type { KubeObject, Manifest } from "../../src/api/meta.ts";
import { ApiError } from "../../src/api/status.ts";
import type { KubeApi, ObjectKey } from "../../src/control/ports.ts";
import { backends, type Running } from "./backends.ts";
import { configMap, configMaps, namespaces } from "./kinds.ts";

/** A ConfigMap, or anything with a spec and a status. */
export type Anything = KubeObject & {
  data?: Record<string, string>;
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
};

/** Where a test works; its values are those of the test that runs. */
export class World {
  api!: KubeApi; // set before the first test
  namespace = "";

  at(name: string): ObjectKey {
    return { name, namespace: this.namespace };
  }

  make(object: Manifest): Promise<Anything> {
    return this.api.create<Anything>(configMaps, { namespace: this.namespace }, object);
  }

  /** So many new versions of one ConfigMap. */
  async churn(writes: number): Promise<void> {
    await this.make(configMap("churn")).catch(() => undefined);
    for (let index = 0; index < writes; index++) {
      const body = { data: { at: `${performance.now()} ${index}` } };
      await this.api.patch(configMaps, this.at("churn"), { type: "merge", body });
    }
  }
}

export function onEachBackend(tests: (world: World) => void): void {
  for (const { name, skip, start } of backends) {
    describe.skipIf(skip)(`on ${name}`, () => {
      const world = new World();
      let backend: Running<{ api: KubeApi }> | undefined;
      let count = 0;
      beforeAll(async () => {
        backend = await start();
        world.api = backend.api;
      });
      afterAll(() => backend?.close());
      beforeEach(async () => {
        world.namespace = `test-${++count}`;
        const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: world.namespace } };
        await world.api.create(namespaces, {}, manifest);
      });
      tests(world);
    });
  }
}

/** The refusal, as a value; fails if there is none. */
export async function refusal(promise: Promise<unknown>): Promise<ApiError> {
  const outcome = await promise.then(
    value => value,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(ApiError);
  return outcome as ApiError;
}
