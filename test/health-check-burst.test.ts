// Many nodes that fail at once, in the box: what is asked of the server for them, and that each is still judged by what is
// read live.

import { expect, test } from "vitest";
import type { KubeObject } from "../src/api/meta.ts";
import { hostnameKey } from "../src/api/node.ts";
import type { KubeApi, ListOptions } from "../src/control/ports.ts";
import { nodes } from "../src/control/resources.ts";
import { ControlledBox } from "./controlled-box.ts";
import { Ward } from "./ward.ts";

const nodeCount = 150;
const nameOf = (index: number) => `other-${index}`;
const brokenIs = (status: string) => ({ conditions: [{ type: "Broken", status, reason: "Test", message: "" }] });

/** Of the live reads of nodes; the watch knows nothing yet of the recovery of one of them. */
function behind(api: KubeApi, recovered: string, reads: string[]): KubeApi {
  const asIs = <T extends KubeObject>(node: T): T =>
    node.metadata.name === recovered ? { ...node, status: brokenIs("False") } : node;
  return new Proxy(api, {
    get: (target, key: keyof KubeApi) => {
      if (key === "get") {
        return async (...[resource, name, options]: Parameters<KubeApi["get"]>) => {
          const found = await target.get(resource, name, options);
          if (resource !== nodes) return found;
          reads.push("get");
          return asIs(found);
        };
      }
      if (key === "list") {
        return async (resource: typeof nodes, options: ListOptions = {}) => {
          const list = await target.list(resource, options);
          if (resource !== nodes || !options.labelSelector?.startsWith(hostnameKey)) return list;
          reads.push("list");
          return { ...list, items: list.items.map(asIs) };
        };
      }
      return target[key].bind(target);
    },
  });
}

test("nodes of many that fail at once are read together, and one that is well again is left alone", async () => {
  const reads: string[] = [];
  const box = new ControlledBox();
  const recovered = nameOf(140);
  const ward = new Ward({ box, api: behind(box.api, recovered, reads) });
  await ward.open(1);
  await ward.unbounded();
  for (let index = 0; index < nodeCount; index++) {
    const name = nameOf(index);
    const labels = { [hostnameKey]: name, other: "yes" };
    await box.create(nodes, { metadata: { name, labels }, status: brokenIs("True") });
  }
  await ward.check({
    selector: { matchLabels: { other: "yes" } },
    maxUnhealthy: "100%",
    unhealthyConditions: [{ type: "Broken", status: "True", duration: "1m" }],
  });
  reads.length = 0;
  await box.run(90);
  const fenced = (await ward.fences()).map(({ metadata }) => metadata.name);
  expect(fenced).toHaveLength(nodeCount - 1);
  expect(fenced).not.toContain(recovered);
  expect((await ward.actions()).filter(({ status }) => status?.phase === "Abandoned")).toMatchObject([
    { spec: { node: { name: recovered } } },
  ]);
  expect(reads.filter(read => read === "list").length).toBeGreaterThan(0);
  expect(reads.length).toBeLessThan(nodeCount / 2);
});
