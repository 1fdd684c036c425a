import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatIp, isIpv4InIpv6, maskedPrefix, parseIp, parsePrefix, prefixContains } from "./ip-address.ts";

const ip = (text: string) => parseIp(text) ?? expect.fail(`${text} is no address`);
const prefix = (text: string) => parsePrefix(text) ?? expect.fail(`${text} is no prefix`);

describe("addresses", () => {
  test.each(["1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1..2.3", "a.b.c.d", ""])("%j is none", text => {
    expect(parseIp(text)).toBeUndefined();
  });

  test.each([":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "g::", "::1%eth0", "1:2:3:4:5:6:7::8"])(
    "%j is none of IPv6",
    text => {
      expect(parseIp(text)).toBeUndefined();
    },
  );

  test("leading zeros are let through where Kubernetes always has", () => {
    expect(parseIp("01.02.003.4", { sloppy: true })?.bytes).toEqual([1, 2, 3, 4]);
  });

  test.each([
    ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["0:0:0:0:0:0:0:0", "::"],
    ["1:0:2:0:0:0:0:3", "1:0:2::3"],
    ["1:2:3:4:5:6:0:8", "1:2:3:4:5:6:0:8"],
    ["::1.2.3.4", "::102:304"],
  ])("%s is written %s", (text, canonical) => {
    expect(formatIp(ip(text))).toBe(canonical);
  });

  test("an IPv4 address inside IPv6 is recognised", () => {
    expect(isIpv4InIpv6(ip("::ffff:1.2.3.4"))).toBe(true);
    expect(isIpv4InIpv6(ip("::1.2.3.4"))).toBe(false);
  });

  test("what is written reads back the same", () => {
    const bytes = (length: number) => fc.array(fc.nat(255), { minLength: length, maxLength: length });
    fc.assert(
      fc.property(fc.oneof(bytes(4), bytes(16)), some => {
        const text = formatIp({ family: some.length === 4 ? 4 : 6, bytes: some });
        expect(ip(text).bytes).toEqual(some);
      }),
    );
  });
});

describe("prefixes", () => {
  test.each(["10.0.0.0", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/-1", "::/129", "x/8"])("%s is none", text => {
    expect(parsePrefix(text)).toBeUndefined();
  });

  test("contain what shares their first bits, of the same family only", () => {
    expect(prefixContains(prefix("10.0.0.0/9"), ip("10.127.0.1"))).toBe(true);
    expect(prefixContains(prefix("10.0.0.0/9"), ip("10.128.0.1"))).toBe(false);
    expect(prefixContains(prefix("::/0"), ip("10.0.0.1"))).toBe(false);
    expect(prefixContains(prefix("0.0.0.0/0"), ip("10.0.0.1"))).toBe(true);
  });

  test("lose the bits beyond their length when masked", () => {
    expect(formatIp(maskedPrefix(prefix("10.255.255.255/12")).address)).toBe("10.240.0.0");
  });
});
