// IP addresses, prefixes and URLs in CEL, as Kubernetes' own libraries give them to rules.

import {
  formatIp,
  type IpAddress,
  type IpPrefix,
  isIpv4InIpv6,
  maskedPrefix,
  parseIp,
  parsePrefix,
  prefixContains,
  sameBytes,
} from "../ip-address.ts";
import { quoted } from "../parsed.ts";
import { escapedPath, type GoUrl, hostnameOf, parseUrl, portOf, queryValues, requestUriError } from "../url.ts";
import { CelError } from "./error.ts";
import { method, type Overload, overload } from "./function.ts";
import { boolType, intType, listOf, mapOf, stringType, type Type } from "./types.ts";
import { Dictionary, List, Opaque } from "./values.ts";

type Library = Readonly<Record<string, readonly Overload[]>>;

const ipType: Type = { kind: "opaque", name: "net.IP" };
const cidrType: Type = { kind: "opaque", name: "net.CIDR" };
const urlType: Type = { kind: "opaque", name: "kubernetes.URL" };

const ipOf = (value: Opaque): IpAddress => value.data as IpAddress;
const cidrOf = (value: Opaque): IpPrefix => value.data as IpPrefix;
const urlOf = (value: Opaque): GoUrl => value.data as GoUrl;

function ipValue(address: IpAddress): Opaque {
  return new Opaque("net.IP", address, other => sameBytes(address, other as IpAddress));
}

function cidrValue(prefix: IpPrefix): Opaque {
  return new Opaque("net.CIDR", prefix, other => {
    const { address, length } = other as IpPrefix;
    return length === prefix.length && sameBytes(address, prefix.address);
  });
}

function ipComplaint(text: string): string | undefined {
  const address = parseIp(text);
  if (address === undefined)
    return /%/.test(text) && parseIp(text.replace(/%.*$/, ""))?.family === 6
      ? `IP address ${quoted(text)} with zone value is not allowed`
      : `IP Address ${quoted(text)} parse error during conversion from string: ParseAddr(${quoted(text)}): unable to parse IP`;
  return isIpv4InIpv6(address) ? `IPv4-mapped IPv6 address ${quoted(text)} is not allowed` : undefined;
}

function toIp(text: string): Opaque {
  const complaint = ipComplaint(text);
  if (complaint !== undefined) throw new CelError(complaint);
  return ipValue(parseIp(text) as IpAddress); // parsed by the complaint already
}

function readCidr(text: string): IpPrefix | undefined {
  const prefix = parsePrefix(text);
  return prefix === undefined || isIpv4InIpv6(prefix.address) ? undefined : prefix;
}

function toCidr(text: string): Opaque {
  const prefix = readCidr(text);
  const where = "network address parse error during conversion from string";
  if (prefix === undefined)
    throw new CelError(`${where}: ${where}: netip.ParsePrefix(${quoted(text)}): invalid prefix`);
  return cidrValue(prefix);
}

function containsCidr(own: IpPrefix, other: IpPrefix): boolean {
  return own.length <= other.length && prefixContains(own, other.address);
}

const startsWith = ({ bytes }: IpAddress, ...head: number[]): boolean => head.every((byte, i) => bytes[i] === byte);
const isUnspecified = ({ bytes }: IpAddress): boolean => bytes.every(byte => byte === 0);
const isLoopback = (ip: IpAddress): boolean =>
  ip.family === 4 ? startsWith(ip, 127) : ip.bytes.every((byte, i) => byte === (i === 15 ? 1 : 0));
const isMulticast = (ip: IpAddress): boolean =>
  ip.family === 4 ? ((ip.bytes[0] ?? 0) & 0xf0) === 0xe0 : startsWith(ip, 0xff);
const isLinkLocalMulticast = (ip: IpAddress): boolean =>
  ip.family === 4 ? startsWith(ip, 224, 0, 0) : startsWith(ip, 0xff) && ((ip.bytes[1] ?? 0) & 0x0f) === 2;
const isLinkLocalUnicast = (ip: IpAddress): boolean =>
  ip.family === 4 ? startsWith(ip, 169, 254) : startsWith(ip, 0xfe) && ((ip.bytes[1] ?? 0) & 0xc0) === 0x80;
const isBroadcast = (ip: IpAddress): boolean => ip.family === 4 && startsWith(ip, 255, 255, 255, 255);
const isGlobalUnicast = (ip: IpAddress): boolean =>
  ![isUnspecified, isLoopback, isMulticast, isLinkLocalUnicast, isBroadcast].some(is => is(ip));

const ipTest = (test: (ip: IpAddress) => boolean): Overload[] => [
  method([ipType], boolType, (ip: Opaque) => test(ipOf(ip))),
];

export const ipLibrary: Library = {
  family: [method([ipType], intType, (ip: Opaque) => BigInt(ipOf(ip).family))],
  ip: [
    overload([stringType], ipType, toIp),
    method([cidrType], ipType, (cidr: Opaque) => ipValue(cidrOf(cidr).address)),
  ],
  "ip.isCanonical": [overload([stringType], boolType, (text: string) => formatIp(ipOf(toIp(text))) === text)],
  isGlobalUnicast: ipTest(isGlobalUnicast),
  isIP: [overload([stringType], boolType, (text: string) => ipComplaint(text) === undefined)],
  isLinkLocalMulticast: ipTest(isLinkLocalMulticast),
  isLinkLocalUnicast: ipTest(isLinkLocalUnicast),
  isLoopback: ipTest(isLoopback),
  isUnspecified: ipTest(isUnspecified),
  string: [
    overload([ipType], stringType, (ip: Opaque) => formatIp(ipOf(ip))),
    overload([cidrType], stringType, (cidr: Opaque) => `${formatIp(cidrOf(cidr).address)}/${cidrOf(cidr).length}`),
  ],
};

export const cidrLibrary: Library = {
  cidr: [overload([stringType], cidrType, toCidr)],
  containsCIDR: [
    method([cidrType, stringType], boolType, (own: Opaque, text: string) =>
      containsCidr(cidrOf(own), cidrOf(toCidr(text))),
    ),
    method([cidrType, cidrType], boolType, (own: Opaque, other: Opaque) => containsCidr(cidrOf(own), cidrOf(other))),
  ],
  containsIP: [
    method([cidrType, stringType], boolType, (own: Opaque, text: string) =>
      prefixContains(cidrOf(own), ipOf(toIp(text))),
    ),
    method([cidrType, ipType], boolType, (own: Opaque, ip: Opaque) => prefixContains(cidrOf(own), ipOf(ip))),
  ],
  isCIDR: [overload([stringType], boolType, (text: string) => readCidr(text) !== undefined)],
  masked: [method([cidrType], cidrType, (cidr: Opaque) => cidrValue(maskedPrefix(cidrOf(cidr))))],
  prefixLength: [method([cidrType], intType, (cidr: Opaque) => BigInt(cidrOf(cidr).length))],
};

function toUrl(text: string): Opaque {
  const url = parseUrl(text);
  if (typeof url === "string")
    throw new CelError(`URL parse error during conversion from string: ${requestUriError(text)}`);
  return new Opaque("kubernetes.URL", url, other => JSON.stringify(other) === JSON.stringify(url));
}

const urlPart = (part: (url: GoUrl) => string): Overload[] => [
  method([urlType], stringType, (url: Opaque) => part(urlOf(url))),
];

function queryMap(url: Opaque): Dictionary {
  return new Dictionary(new Map([...queryValues(urlOf(url))].map(([key, values]) => [key, new List(values)])));
}

export const urlLibrary: Library = {
  getEscapedPath: urlPart(escapedPath),
  getHost: urlPart(({ host }) => host),
  getHostname: urlPart(hostnameOf),
  getPort: urlPart(portOf),
  getQuery: [method([urlType], mapOf(stringType, listOf(stringType)), queryMap)],
  getScheme: urlPart(({ scheme }) => scheme),
  isURL: [overload([stringType], boolType, (text: string) => requestUriError(text) === undefined)],
  url: [overload([stringType], urlType, toUrl)],
};
