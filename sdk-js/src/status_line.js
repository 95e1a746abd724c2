// status_line - the lines that an agent appends to <signal_dir>/<phase>.jsonl.
//
//     {"ts":"2026-05-29T06:04:14.222Z","version":1,"type":"phase","status":"ok"}
//     {"ts":"…","version":1,"type":"phase","status":"progress","message":"half way"}
//     {"ts":"…","version":1,"type":"phase","status":"complete","result":{…}}
//
// One ok, then any number of progress and notify, then one complete or error; the first of those counts.
// For a notification or a test the file is _notify-<agent>-<id>.jsonl or _test-<agent>-<id>.jsonl.

import fs from 'node:fs';
import { cut_text, to_json } from './json.js';
import { Mask } from './mask.js';
import { append_line } from './state_dir.js';

const LINE_BYTES = 1 << 20;
const TEXT_BYTES = 64 * 1024; // of a progress note or an error, which people read

function name_without_phase(read) {
  const { id } = read.payload;
  const own = typeof id === 'string' && id !== '' ? id : read.instance_id || '0';
  const bytes = Buffer.from(own).subarray(0, 64).toString('latin1');
  return `_${read.type}-${read.agent}-${bytes.replace(/[^A-Za-z0-9._-]/g, '_')}`;
}

export class StatusFile {
  constructor(read) {
    fs.mkdirSync(read.signal_dir, { recursive: true, mode: 0o700 });
    this.path = `${read.signal_dir}/${read.phase ?? name_without_phase(read)}.jsonl`;
    this.type = read.type;
    this.attempt_id = read.attempt_id;
    this.mask = new Mask(read.settings, read.agent, process.env);
    this.is_done = false;
  }

  #append(status, { message, error, result } = {}) {
    const line = to_json({
      ts: new Date().toISOString(), version: 1, type: this.type, status, attempt_id: this.attempt_id,
      message: message === undefined ? undefined : cut_text(this.mask.text(message), TEXT_BYTES),
      error: error === undefined ? undefined : cut_text(this.mask.text(error), TEXT_BYTES),
      result: this.mask.json(result),
    });
    if (Buffer.byteLength(line) >= LINE_BYTES)
      throw new Error(`the ${status} line is larger than a line of a log may be (${LINE_BYTES} bytes): put large results into a file`);
    append_line(this.path, line);
  }

  ok() {
    this.#append('ok');
  }
  progress(message) {
    this.#append('progress', { message });
  }
  notify(result) {
    this.#append('notify', { result });
  }

  // The end: only the first of these counts, later ones do nothing.
  complete(result) {
    if (!this.is_done) this.#append('complete', { result });
    this.is_done = true;
  }
  error(error) {
    if (!this.is_done) this.#append('error', { error });
    this.is_done = true;
  }
}
