import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isUnavailable } from "./binaries.ts";
import { sharedControlPlane } from "./shared.ts";
import { controlPlane } from "./start.ts";

const needed = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"] as const;

describe.skipIf(isUnavailable(...needed))("a real control plane", () => {
  test("several start side by side, each with its own data, and leave nothing behind", async () => {
    const planes = await Promise.all([controlPlane(), controlPlane({ audit: true, users: ["robot"] })]);
    const [first, second] = planes;
    await first.kubectl(["create", "configmap", "mark"]);
    const found = await Promise.all(planes.map(plane => plane.kubectl(["get", "configmap", "mark", "-o", "name"])));
    expect(found.map(result => result.code)).toEqual([0, 1]);
    expect(found[0]?.stdout).toBe("configmap/mark\n");

    const counts = await second.auditCounts();
    const gets = counts.filter(c => c.userAgent.startsWith("kubectl/") && c.resource === "configmaps");
    expect(gets).toMatchObject([{ user: "admin", verb: "get", code: 404, count: 1 }]);
    const asRobot = await second.kubectl(["--token", second.tokens["robot"] ?? "", "auth", "whoami"]);
    expect(asRobot.stdout).toContain("robot");

    await Promise.all(planes.map(plane => plane.stop()));
    expect(planes.filter(plane => existsSync(plane.dir))).toEqual([]);
  });

  test("RBAC refuses who has no role", async () => {
    const plane = await controlPlane({ authorization: "RBAC", users: ["stranger"] });
    try {
      const asStranger = await plane.kubectl(["--token", plane.tokens["stranger"] ?? "", "get", "nodes"]);
      expect(asStranger.stderr).toContain("Forbidden");
      expect((await plane.kubectl(["get", "nodes"])).code).toBe(0);
    } finally {
      await plane.stop();
    }
  });

  test("with controller-manager and scheduler a deployment becomes a pod on a node", async () => {
    const plane = await controlPlane({ components: ["kube-controller-manager", "kube-scheduler"] });
    try {
      const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } };
      const amounts = { cpu: "4", memory: "8Gi", pods: "10" };
      const status = { capacity: amounts, allocatable: amounts, conditions: [{ type: "Ready", status: "True" }] };
      await plane.kubectl(["create", "-f", "-"], JSON.stringify(node));
      await plane.kubectl(["patch", "node", "n1", "--subresource=status", "-p", JSON.stringify({ status })]);
      await plane.kubectl(["create", "deployment", "web", "--image=app:1"]);
      const nodesOfPods = async () =>
        (await plane.kubectl(["get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}"])).stdout;
      await expect.poll(nodesOfPods, { timeout: 60_000, interval: 250 }).toBe("n1");
    } finally {
      await plane.stop();
    }
  });

  test("whoever asks for the shared one gets the same", async () => {
    const [one, two] = await Promise.all([sharedControlPlane(), sharedControlPlane()]);
    expect(one.url).toBe(two.url);
    expect((await one.kubectl(["version"])).stdout).toContain("Server Version: v1.36.3");
  });
});
