// Who owns which field (metadata.managedFields) is cut out of an event before it is parsed. Nobody here reads it, it is up to
// half of the event, and its keys, one for each field, condition and owner, are what costs the parser most.

const begin = '"managedFields":[{';

/**
 * The first end of an array of objects that is no part of a text, with the name of a field behind it: in a text a quote is
 * escaped, or ends it, and what comes next then is no name. The records hold no arrays of their own; if they did, what is
 * left would be no JSON.
 */
const end = /\}\](?=\}*,"[^:,}\]])/g;

/** Only what says itself that it is such a record: elsewhere in an object the name is somebody's own. */
const itself = '"fieldsType":"FieldsV1"';

export function withoutFieldOwners(json: string): string {
  const start = json.indexOf(begin) + begin.length - 1;
  if (start < begin.length - 1) return json;
  end.lastIndex = start;
  const { index } = end.exec(json) ?? { index: start };
  const isRecord = json.slice(start, index).includes(itself);
  return isRecord ? json.slice(0, start) + json.slice(index + 1) : json;
}
