import { expect, test } from "vitest";
import { minuteMs } from "../api/time.ts";
import { repairStatements } from "./repair-statements.ts";

const said = (...args: Parameters<typeof repairStatements>) =>
  repairStatements(...args).map(
    ({ conditionType, conditionStatus, toleration }) => `${conditionType}=${conditionStatus} ${toleration / minuteMs}m`,
  );

test("in force by default: no answer, not ready and no network, half an hour each", () => {
  expect(said()).toEqual(["Ready=False 30m", "Ready=Unknown 30m", "NetworkUnavailable=True 30m"]);
});

test("the conditions of agents come when they are asked for, once", () => {
  const asked = said(["eks-node-monitoring-agent", "eks-node-monitoring-agent"]);
  expect(asked.slice(3)).toEqual([
    "AcceleratedHardwareReady=False 10m",
    "StorageReady=False 30m",
    "NetworkingReady=False 30m",
    "KernelReady=False 30m",
    "ContainerRuntimeReady=False 30m",
  ]);
  const both = said(["node-problem-detector", "eks-node-monitoring-agent"]);
  expect(both).toContain("KernelDeadlock=True 5m");
  expect(both).toHaveLength(3 + 14 + 5);
});

test("no pair of condition and status is stated twice", () => {
  const all = said(["node-problem-detector", "eks-node-monitoring-agent"]).map(text => text.split(" ")[0]);
  expect(new Set(all).size).toBe(all.length);
});
