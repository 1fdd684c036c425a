import { describe, expect, test } from "vitest";
import { formatCheck, parseDurationFormat } from "./formats.ts";

test("names are compared without dashes; unknown ones are no formats", () => {
  expect(formatCheck("date-time")).toBe(formatCheck("datetime"));
  expect(formatCheck("nope")).toBeUndefined();
  expect(formatCheck("constructor")).toBeUndefined();
});

describe.each<[string, string[], string[]]>([
  ["date", ["2024-02-29"], ["2023-02-29", "2024-2-9", "2024-13-01", "24-01-01"]],
  [
    "date-time",
    ["2024-02-29T23:59:59Z", "2024-02-29t00:00:00.5z", "2024-02-29T00:00:00+99:99"],
    ["2024-02-29T24:00:00Z", "2024-02-29 00:00:00Z", "2024-02-29T00:00:00", "2024-02-30T00:00:00Z"],
  ],
  ["duration", ["1h30m", "3 days", "2 weeks ago", "-5m", "5MINUTES"], ["", "soon", "1 fortnight"]],
  ["email", ["a@b.co", "Joe <joe@b.co>", '"a b"@c', "é@x"], ["a", "a@", "@b", "a@@b", "a.@b", "a b@c", "<a@b"]],
  ["hostname", ["a", "a-b.example.com", "1a", "a-"], ["-a", "a-b-", "a_b", "a..b", `${"a".repeat(64)}.com`]],
  ["ipv4", ["1.2.3.4", "01.2.3.4"], ["1.2.3", "::1", "1.2.3.256"]],
  ["ipv6", ["::1", "::ffff:1.2.3.4"], ["1.2.3.4", ":::"]],
  ["cidr", ["10.0.0.0/8", "::/0"], ["10.0.0.0", "10.0.0.0/33"]],
  ["mac", ["00:1b:44:11:3a:b7", "001b.4411.3ab7", "001b44113ab7"], ["00:1b:44:11:3a", "00:1b-44:11:3a:b7", "x"]],
  ["byte", ["aGk=", "aGkh"], ["", "aGk", "aGk==", "a-b_"]],
  ["uuid4", ["123e4567-e89b-42d3-a456-426614174000"], ["123e4567-e89b-12d3-a456-426614174000"]],
  ["isbn", ["3836221195", "978-3-8362-2119-1", "3 401 01319 X"], ["3836221194", "978-3-8362-2119-2"]],
  ["creditcard", ["4220-8554-2622-2389"], ["4220855426213389", "1"]],
  ["k8s-short-name", ["a-1"], ["a-", "A", "a.b", "a".repeat(64)]],
  ["k8s-long-name", ["a.b-1"], ["a..b", ".a"]],
])("%s", (name, good, bad) => {
  const accepts = formatCheck(name) ?? expect.fail(`${name} is no format`);
  test.each(good)("%j fits", text => expect(accepts(text)).toBe(true));
  test.each(bad)("%j does not", text => expect(accepts(text)).toBe(false));
});

test("a duration in words is summed over all its parts", () => {
  expect(parseDurationFormat("1 hour and 2 min")).toBe(3_720_000_000_000n);
});
