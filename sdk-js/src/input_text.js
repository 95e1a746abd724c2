// input_text - the handoffs to a phase as text for a prompt: a map by channel and a text in one.
//
//     ctx.input_text['architect--developer']      the text of one channel
//     `Review this:\n\n${ctx.input_text}`         the text of all, each below a heading
//     JSON.stringify({ content: ctx.input_text }) the same
//     ctx.input_text || ctx.req_spec              without a handoff it is '', which is false
//
// Object.keys, for…in and Object.entries see the channels alone. It inherits the methods of strings,
// which work on its text.

// A text, be it a string or an input_text; other values as they are.
export function plain(value) {
  return value instanceof String ? value.toString() : value;
}

export function make_input_text(texts) {
  const whole = Object.entries(texts).map(([channel, text]) => `## ${channel}\n\n${text}`).join('\n');
  if (whole === '') return '';
  const hidden = (value) => ({ value, enumerable: false });
  const as_text = hidden(() => whole);
  const properties = {
    toString: as_text, valueOf: as_text, toJSON: as_text, [Symbol.toPrimitive]: as_text, length: hidden(whole.length),
  };
  for (const [channel, value] of Object.entries(texts)) properties[channel] = { value, enumerable: true };
  return Object.freeze(Object.create(String.prototype, properties));
}
