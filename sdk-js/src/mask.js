// mask - the agent's secrets become *** in what it says and hands over.
//
// Secrets are the values of secret keys in its settings, and of environment variables with such names.
// Values under 6 bytes are not hidden, because ordinary text would be. The form that a value has inside
// a JSON string is hidden, too. src/base/mask.h and src/team/settings.c of cliq decide the same.

import { is_object } from './json.js';

const MIN_BYTES = 6;
const WORDS = ['key', 'token', 'secret', 'password', 'passwd', 'passphrase', 'credential', 'bearer', 'webhookurl',
  'cookie', 'authorization'];

function names_secret(part) {
  const plain = part.replace(/[^A-Za-z0-9]/g, '').slice(0, 63).toLowerCase();
  return WORDS.some((word) => plain.includes(word));
}

// path: agents.<name>.<key>… The agent's name itself makes no secret.
function is_secret(path) {
  if (/^agents\.webhook\.channels\.[^.]*\.url$/.test(path)) return true;
  return path.split('.').some((part, i) => i !== 1 && names_secret(part));
}

export class Mask {
  #values = new Set();

  constructor(settings, agent, environment) {
    this.#add_settings(settings, `agents.${agent}`);
    for (const [name, value] of Object.entries(environment)) {
      const is_count = /tokens/i.test(name) && /^[0-9]*$/.test(value);
      if (!is_count && names_secret(name)) this.#add(value);
    }
  }

  #add_settings(value, path) {
    if (Array.isArray(value)) {
      for (const element of value) this.#add_settings(element, path);
    } else if (is_object(value)) {
      for (const [key, member] of Object.entries(value)) this.#add_settings(member, `${path}.${key}`);
    } else if (typeof value === 'string' || (typeof value === 'number' && !path.includes('tokens'))) {
      if (is_secret(path)) this.#add(String(value));
    }
  }

  #add(value) {
    if (Buffer.byteLength(value) < MIN_BYTES) return;
    this.#values.add(value);
    this.#values.add(JSON.stringify(value).slice(1, -1));
  }

  // Hides every character of every occurrence, also where occurrences overlap; neighbours become one ***.
  text(text) {
    const hidden = [];
    for (const value of this.#values)
      for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) hidden.push([at, at + value.length]);
    if (!hidden.length) return text;
    hidden.sort((a, b) => a[0] - b[0]);
    let shown = '';
    let end = -1;
    for (const [from, to] of hidden) {
      if (from > end) shown += text.slice(Math.max(end, 0), from) + '***';
      end = Math.max(end, to);
    }
    return shown + text.slice(end);
  }

  // The value as JSON has it (a Date is a text there), without secrets in texts, keys and numbers.
  json(value) {
    const text = this.#values.size && value !== null ? JSON.stringify(value) : undefined;
    return text === undefined ? value : this.#json(JSON.parse(text));
  }
  #json(value) {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.text(String(value)) === String(value) ? value : this.text(String(value));
    if (Array.isArray(value)) return value.map((element) => this.#json(element));
    if (!is_object(value)) return value;
    const shown = {};
    for (const [before, member] of Object.entries(value)) {
      let key = this.text(before);
      for (let i = 2; key !== before && Object.hasOwn(shown, key); i++) key = `***${i}`;
      Object.defineProperty(shown, key, { value: this.#json(member), enumerable: true, configurable: true, writable: true });
    }
    return shown;
  }
}
