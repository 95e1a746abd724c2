// state_dir - the files of a run, below .cliq/ (or frames/<phase>/ of a team phase).
//
// Files are replaced by a temporary file and a rename, so that a reader sees the old or the new one,
// whole. Below the state directory no symbolic link is followed: an agent or a cloned repository could
// have put it there. Directories are made 0700, files 0600.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = fs.constants;
const LOCK_SECONDS = 10;

// "developer" of "architect--developer"; the whole name when there are no dashes.
export function reader_of(channel) {
  const at = channel.indexOf('--');
  return at < 0 ? channel : channel.slice(at + 2);
}

export function is_phase_name(name) {
  return /^[a-z][a-z0-9-]{0,63}$/.test(name) && !name.includes('--');
}

// The name of an agent, a signal, a role …
export function is_name(name) {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/.test(name);
}

export function check_name(what, name) {
  if (is_name(name)) return;
  if (name === '') throw new Error(`the ${what} is empty`);
  throw new Error(`bad ${what} "${name}": use 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter, a digit or _`);
}

function check_parts(file) {
  const parts = file.split('/');
  for (const part of parts)
    if (part === '' || part === '.' || part === '..' || part.includes('\0') || Buffer.byteLength(part) > 255)
      throw new Error(`bad path "${file.slice(0, 200)}": use names separated by single slashes, no . or ..`);
  return parts;
}

function refuse_link(where) {
  throw new Error(`${where} is a symbolic link, which is not followed`);
}

// Opens the directory `where`, or makes it when `create`; false: there is none.
function enter(where, create) {
  const found = fs.lstatSync(where, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) refuse_link(where);
  if (found) {
    if (!found.isDirectory()) throw new Error(`${where} is not a directory`);
    return true;
  }
  if (create) fs.mkdirSync(where, { recursive: true, mode: 0o700 });
  return create;
}

// Replaces the file `name` in the directory `dir`.
function replace_in(dir, name, content) {
  const random = Array.from({ length: 6 }, () => Math.floor(Math.random() * 65536).toString(16).padStart(4, '0'));
  const temporary = path.join(dir, `.tmp-${random.join('')}`);
  const fd = fs.openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    try {
      fs.writeFileSync(fd, content);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(temporary, path.join(dir, name));
  } catch (problem) {
    fs.rmSync(temporary, { force: true });
    throw problem;
  }
}

// The bytes of a regular file; undefined: there is none.
function read_in(file) {
  let fd;
  try {
    fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (problem) {
    if (problem.code === 'ENOENT') return undefined;
    if (problem.code === 'ELOOP') refuse_link(file);
    throw problem;
  }
  try {
    if (!fs.fstatSync(fd).isFile()) throw new Error(`${file} is not a regular file`);
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

// Replaces a file of the channel `dir`, an absolute path. Only the channel itself may not be a link.
export function replace_in_channel(dir, name, content) {
  enter(dir, true);
  replace_in(dir, name, content);
}

// Appends a line in one write. If the file ends in the middle of a line (an agent was killed), that line
// is ended first. Node has no flock; one write in append mode needs none.
export function append_line(file, line) {
  const fd = fs.openSync(file, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    const last = Buffer.alloc(1, '\n');
    const { size } = fs.fstatSync(fd);
    if (size > 0) fs.readSync(fd, last, 0, 1, size - 1);
    fs.writeSync(fd, (last.toString() === '\n' ? '' : '\n') + line + '\n');
  } finally {
    fs.closeSync(fd);
  }
}

export class StateDir {
  constructor(dir) {
    this.dir = dir.replace(/(?<=.)\/+$/, '');
    if (!fs.statSync(this.dir, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`no directory ${this.dir}`);
  }

  // The absolute path of a file, each directory on the way checked; undefined: one is missing.
  #reach(file, create) {
    const parts = check_parts(file);
    let at = this.dir;
    for (const part of parts.slice(0, -1)) {
      at = `${at}/${part}`;
      if (!enter(at, create)) return undefined;
    }
    return `${at}/${parts.at(-1)}`;
  }

  read_bytes(file) {
    const at = this.#reach(file, false);
    return at && read_in(at);
  }

  // The file's text; undefined: there is no such file.
  read(file) {
    return this.read_bytes(file)?.toString('utf8');
  }

  replace(file, content) {
    const at = this.#reach(file, true);
    replace_in(path.dirname(at), path.basename(at), content);
  }

  // The names in a directory, sorted; none when it does not exist.
  list(dir) {
    const at = this.#reach(dir, false);
    if (!at || !enter(at, false)) return [];
    return fs.readdirSync(at).filter((name) => !name.startsWith('.')).sort();
  }

  is_file(file) {
    const at = this.#reach(file, false);
    return Boolean(at && fs.lstatSync(at, { throwIfNoEntry: false })?.isFile());
  }

  // Calls `change` while this process holds the directory's lock. Node has no flock: flock(1) takes the
  // lock on our own descriptor, and it stays ours when flock(1) has ended.
  locked(change) {
    const { spawnSync } = createRequire(import.meta.url)('node:child_process');
    const fd = fs.openSync(this.dir, O_RDONLY);
    try {
      const { error, status } = spawnSync('flock', ['-x', '-w', String(LOCK_SECONDS), '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
      if (error) throw new Error(`cannot lock ${this.dir}: the program flock (util-linux): ${error.message}`);
      if (status !== 0) throw new Error(`cannot lock ${this.dir}: another process held it for ${LOCK_SECONDS} s`);
      return change();
    } finally {
      fs.closeSync(fd);
    }
  }
}
