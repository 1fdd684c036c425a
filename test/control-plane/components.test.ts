import { expect, test } from "vitest";
import { apiServerArgs, controllerManagerArgs, etcdArgs, layout, recipes, schedulerArgs } from "./components.ts";

const at = layout("/tmp/plane");
const settings = { port: 20_001, authorization: "AlwaysAllow", audit: false, flags: [] } as const;

test("two control planes share neither file nor socket nor port", () => {
  const argsIn = (dir: string, port: number) => {
    const place = layout(dir);
    return [
      ...etcdArgs(place),
      ...apiServerArgs(place, { ...settings, audit: true, port }),
      ...controllerManagerArgs(place),
      ...schedulerArgs(place),
    ];
  };
  const first = argsIn("/tmp/first", 1);
  const second = new Set(argsIn("/tmp/second", 2));
  const shared = first.filter(arg => second.has(arg) && /(\/tmp|port=[1-9]|:[1-9]\d*$)/.test(arg));
  expect(shared).toEqual([]);
});

test("the audit log is written only when it is asked for", () => {
  const withAudit = apiServerArgs(at, { ...settings, audit: true });
  expect(withAudit.filter(arg => arg.startsWith("--audit"))).toEqual([
    "--audit-policy-file=/tmp/plane/audit-policy.json",
    "--audit-log-path=/tmp/plane/audit.log",
  ]);
  expect(apiServerArgs(at, settings).some(arg => arg.startsWith("--audit"))).toBe(false);
});

test("flags of a suite come last, so that they win over ours", () => {
  const args = apiServerArgs(at, { ...settings, flags: ["--authorization-mode=RBAC"] });
  expect(args.at(-1)).toBe("--authorization-mode=RBAC");
});

test("every Kubernetes program is told its version, etcd keeps its own", () => {
  const untold = Object.entries(recipes).filter(([, { flags }]) => !flags.join(" ").includes("gitVersion=v1.36.3"));
  expect(untold.map(([component]) => component)).toEqual(["etcd"]);
});
