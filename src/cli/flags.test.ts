import { InvalidArgumentError } from "commander";
import { describe, expect, test } from "vitest";
import { controllers } from "../decide/decision.ts";
import { bindAddressOf, booleanOf, choiceOf, controllersOf, durationOf, labelOf, seedOf, someOf } from "./flags.ts";

const without = (...names: string[]) => controllers.filter(name => !names.includes(name));

describe("--controllers", () => {
  test.each([
    ["*", controllers],
    ["*,-disruption", without("disruption")],
    ["*,-health-checks", without("health-checks")],
    ["*,-garbage", without("garbage")],
    ["-garbage,*", without("garbage")],
    [" * , -garbage ", without("garbage")],
    ["lifecycle,termination", ["lifecycle", "termination"]],
    ["-garbage", []],
    // As in kube-controller-manager, what is said first of a name holds.
    ["garbage,-garbage", ["garbage"]],
    ["*,-garbage,garbage", without("garbage")],
  ])("%s", (text, names) => {
    expect([...controllersOf(text)]).toEqual(names);
  });

  test("an unknown name is refused with the one that was meant and with all there are", () => {
    expect(() => controllersOf("*,-garbge")).toThrow(
      `there is no controller "garbge", did you mean garbage?; there are ${controllers.join(", ")}.`,
    );
    expect(() => controllersOf("")).toThrow(InvalidArgumentError);
    expect(() => controllersOf("zzzzzzzzz")).toThrow(/"zzzzzzzzz"; there are lifecycle, /);
  });
});

test.each([
  [":8080", { port: 8080 }],
  ["127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
  ["[::1]:9090", { host: "::1", port: 9090 }],
  ["0", undefined],
])("--metrics-bind-address %s", (text, address) => {
  expect(bindAddressOf(text)).toEqual(address);
});

test.each(["", "8080", ":", ":x", ":65536", "host"])("--metrics-bind-address %j makes no sense", text => {
  expect(() => bindAddressOf(text)).toThrow("it must read :8080, 127.0.0.1:8080, or 0 for none.");
});

test("durations are Go's, and longer than nothing", () => {
  expect(durationOf("1m30s")).toBe(90_000);
  expect(() => durationOf("0s")).toThrow("it must be longer than nothing.");
  expect(() => durationOf("soon")).toThrow(InvalidArgumentError);
});

test("booleans are true or false", () => {
  expect([booleanOf("true"), booleanOf("false")]).toEqual([true, false]);
  expect(() => booleanOf("1")).toThrow("it must be true or false.");
});

test("choices are told when none was made", () => {
  const read = choiceOf("debug", "info", "warn");
  expect(read("info")).toBe("info");
  expect(() => read("INFO")).toThrow("it must be debug, info or warn.");
});

test("some of several are a list, and none of them has a word", () => {
  const read = someOf("a", "b");
  expect([read("none"), read("b"), read("a, b")]).toEqual([[], ["b"], ["a", "b"]]);
  expect(() => read("a,c")).toThrow("it must be none, a or b.");
  expect(() => read("")).toThrow(InvalidArgumentError);
});

test("the name of a cluster is one that an instance can bear as its label", () => {
  expect(labelOf("prod.eu-1")).toBe("prod.eu-1");
  for (const text of ["", "a b", "-a", "a".repeat(64)]) expect(() => labelOf(text)).toThrow(InvalidArgumentError);
});

test("seeds are whole numbers of 32 bits", () => {
  expect([seedOf("0"), seedOf("4294967295")]).toEqual([0, 4_294_967_295]);
  for (const text of ["-1", "4294967296", "1.5", "x"]) expect(() => seedOf(text)).toThrow(InvalidArgumentError);
});
