/*
 * kept - what a review keeps of the work, as it was: its files, and what changed; each loaded when it is opened.
 *
 * Characters that hide or turn others are told (clean), so that what is approved is what was read.
 */
import { at, blob } from './api.js';
import { button, chip, h, put } from './dom.js';
import { clean, markdown, patchOf, plain, showPatch, size } from './text.js';

const TEXT_MAX = 2 << 20, OPEN_LINES = 400;
const PICTURES = { png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp', avif: 'image/avif' };

/* A card whose body is made when it is opened first. */
function card(summary, make, isOpen = false) {
  const place = h('div', {}, h('p', { class: 'quiet' }, 'Loading…'));
  let isMade = false;
  const el = h('details', {
    class: 'card', open: isOpen,
    ontoggle: async () => {
      if (!el.open || isMade) return;
      isMade = true;
      try { put(place, await make()); } catch (e) {
        isMade = false;
        put(place, h('p', { class: 'problem', role: 'alert' }, e.message));
      }
    },
  }, h('summary', {}, summary), place);
  return el;
}

/* ---- files ---- */

export function keptFiles(id, files) {
  return files.map((f) => {
    const words = [h('code', { dir: 'auto' }, clean(f.path)), ' ', h('span', { class: 'quiet' }, size(f.size)), f.change ? [' ', chip(f.change === 'gone' ? 'gone since' : 'changed since')] : null];
    return f.sha256 ? card(words, () => file(id, f.path)) : h('p', { class: 'card' }, words, ' ', chip('too large: not kept'));
  });
}

async function file(id, path) {
  const bytes = await blob(at('reviews', id, 'file'), { path });
  const ending = /\.(\w+)$/.exec(path)?.[1].toLowerCase() ?? '', head = h('div', { class: 'buttons' }), place = h('div', {});
  const address = (type) => URL.createObjectURL(new Blob([bytes], { type }));
  const save = button('Download', () => {
    const href = address('application/octet-stream');
    h('a', { href, download: path.split('/').pop() }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60000);
  }, { class: 'small' });
  put(head, save);
  if (PICTURES[ending]) {
    const src = address(PICTURES[ending]), forget = () => URL.revokeObjectURL(src);
    put(place, h('img', { src, alt: clean(path), onload: forget, onerror: () => { forget(); put(place, h('p', { class: 'quiet' }, 'This is no picture that the browser can show.')); } }));
    return [head, place];
  }
  let text = null;
  if (bytes.size <= TEXT_MAX) try { text = new TextDecoder('utf-8', { fatal: true }).decode(await bytes.arrayBuffer()); } catch { /* no text */ }
  if (text === null || text.includes('\0')) {
    put(place, h('p', { class: 'quiet' }, bytes.size > TEXT_MAX ? 'The file is too long to be shown.' : 'The file is no text.'));
  } else {
    const shown = clean(text.replace(/\r\n/g, '\n'));
    let isRaw = !/^(md|markdown)$/.test(ending);
    const show = () => put(place, !shown ? h('p', { class: 'quiet' }, 'It is empty.') : isRaw ? plain(shown) : markdown(shown));
    if (!isRaw) {
      const flip = button('Raw', () => { isRaw = !isRaw; flip.setAttribute('aria-pressed', isRaw); show(); }, { class: 'small', 'aria-pressed': 'false' });
      head.prepend(flip);
    }
    show();
  }
  return [head, place];
}

/* ---- what changed ---- */

/* A card for each file; the first ones are open. */
export async function keptDiff(id, diff) {
  const parts = patchOf(await (await blob(at('reviews', id, 'diff'))).text());
  let lines = 0;
  return [parts.map((p) => {
    lines += p.body.split('\n').length;
    return card([h('code', { dir: 'auto' }, clean(p.name)), ' ', p.kind ? chip(clean(p.kind)) : null, ' ', p.plus ? h('span', { class: 'plus' }, '+' + p.plus) : null, ' ', p.minus ? h('span', { class: 'minus' }, '−' + p.minus) : null],
      () => (p.body ? showPatch(p.body) : h('p', { class: 'quiet' }, 'No line of it changed.')), lines <= OPEN_LINES);
  }), diff.is_cut ? h('p', { class: 'banner' }, 'More changed: only the first ', size(diff.size), ' are kept.') : null];
}
