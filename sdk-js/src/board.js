// board - the task board, task_board.md: "# Task Board", then one "- [ ] <phase>" line for each phase,
// with its notes as indented "  - note" lines below it.
//
// A board is text in memory, written back only when it is dirty. Phases that run in parallel share the
// file: write_board takes the lock, reads the file again and applies this board's edits to its new text.

import { plain } from './input_text.js';

const ENTRY = /^[-*] \[[ xX]\] +/;

function check_text(what, value) {
  const text = plain(value);
  if (typeof text !== 'string') throw new Error(`the ${what} of the task board: it must be a text`);
  return text;
}

export class TaskBoard {
  #text;
  #edits = []; // [method, ...arguments] since the file was read

  constructor(text = '') {
    this.#text = text;
  }

  get content() {
    return this.#text;
  }
  get dirty() {
    return this.#edits.length > 0;
  }

  // Where the line of the phase's entry begins; -1: there is none. Other text may follow its name.
  #find(phase) {
    let at = 0;
    for (const line of this.#text.split('\n')) {
      const entry = ENTRY.exec(line);
      const rest = entry && line.slice(entry[0].length);
      if (phase && rest?.startsWith(phase) && /^(?:$|[\r\t :,.;])/.test(rest.slice(phase.length))) return at;
      at += line.length + 1;
    }
    return -1;
  }

  #mark(phase, is_complete) {
    const at = this.#find(phase);
    if (at < 0 || (this.#text[at + 3] !== ' ') === is_complete) return;
    this.#text = this.#text.slice(0, at + 3) + (is_complete ? 'x' : ' ') + this.#text.slice(at + 4);
    this.#edits.push([is_complete ? 'mark_complete' : 'mark_incomplete', phase]);
  }
  mark_complete(phase) {
    this.#mark(phase, true);
  }
  mark_incomplete(phase) {
    this.#mark(phase, false);
  }

  // After the notes that are there. Further lines of a note are indented, so that none looks like an entry.
  add_note(phase, given) {
    const note = check_text('note', given);
    let at = this.#find(phase);
    if (at < 0 || !/[^ \t\r\n]/.test(note)) return;
    const text = this.#text;
    const next_line = (from) => (text.indexOf('\n', from) + 1 || text.length);
    do at = next_line(at);
    while (text[at] === ' ' || text[at] === '\t');
    const is_open = at === text.length && !text.endsWith('\n'); // the last line has no end
    const lines = note.replace(/[\n\r ]+$/, '').replaceAll('\r', '').replaceAll('\n', '\n    ');
    this.#text = `${text.slice(0, at)}${is_open ? '\n' : ''}  - ${lines}\n${text.slice(at)}`;
    this.#edits.push(['add_note', phase, note]);
  }

  replace(content) {
    this.#text = check_text('content', content);
    this.#edits = [['replace', this.#text]];
  }

  // A board with the file's present text and the edits of this one.
  rebased(text) {
    const board = new TaskBoard(text);
    for (const [method, ...words] of this.#edits) board[method](...words);
    return board;
  }
  saved(text) {
    this.#text = text;
    this.#edits = [];
  }
}

// Writes a dirty board into the state directory.
export function write_board(state, board) {
  if (!board.dirty) return;
  state.locked(() => {
    const now = state.read('task_board.md');
    const text = now === undefined ? board.content : board.rebased(now).content;
    state.replace('task_board.md', text);
    board.saved(text);
  });
}
