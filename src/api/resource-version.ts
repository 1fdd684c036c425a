// Which of two versions of an object is the older, where that can be known.

/**
 * Versions of one kind in one cluster are decimals that grow (promised by Kubernetes since 1.35, true before). Where
 * they are something else, no order is known and the stream's own order stands.
 */
export function isOlder(version: string, than: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return false;
  return version.length === than.length ? version < than : version.length < than.length;
}
