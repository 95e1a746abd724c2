// json - JSON text, byte for byte as cliq writes it.

// A text that UTF-8 can hold: half of a surrogate pair becomes U+FFFD.
export function well_formed(text) {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}

// The value as JSON; undefined when there is no JSON for it (a function, say). indent: 2 for files that
// people read. DEL is escaped, because a terminal may act on it.
export function to_json(value, indent = 0) {
  const text = JSON.stringify(value, (key, v) => (typeof v === 'string' ? well_formed(v) : v), indent);
  return text?.replaceAll('\x7f', '\\u007f');
}

export function is_object(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Parses the file's text; the error begins with file:line:column.
export function parse_file(path, text) {
  try {
    return JSON.parse(text);
  } catch (problem) {
    const at = /position (\d+)/.exec(problem.message);
    const before = at ? text.slice(0, Number(at[1])).split('\n') : [''];
    throw new Error(`${path}:${before.length}:${before.at(-1).length + 1}: not JSON: ${problem.message}`);
  }
}

// The beginning of a text, at most so many bytes of UTF-8, cut between characters.
export function cut_text(text, max) {
  if (text.length * 3 <= max || Buffer.byteLength(text) <= max) return text;
  const bytes = Buffer.from(text);
  let n = max;
  while (n > 0 && (bytes[n] & 0xc0) === 0x80) n--;
  return bytes.toString('utf8', 0, n);
}
